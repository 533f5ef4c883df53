/**
 * Why a mail server did not take a message: the cause in words, and which setting to change. The log, Studio and
 * `guestlist mail try` say the same. No text names an address, a server or a password.
 */

/** What happens between the process and the mail server, in this order. */
export const mailSteps = ['connection', 'tls', 'login', 'sender', 'recipient', 'message'] as const;
export type MailStep = (typeof mailSteps)[number];

type Row = {
  readonly step: MailStep;
  readonly cause: string;
  /** The setting or variable to change; null: none helps. */
  readonly setting: string | null;
  readonly mend: string;
};

const rows = {
  'mail-unreachable': {
    step: 'connection',
    cause: 'the mail server could not be reached',
    setting: 'GUESTLIST_SMTP_URL',
    mend: 'check its host and port, and that no firewall is in between',
  },
  'mail-host-refused': {
    step: 'connection',
    cause: 'the mail server refuses connections of this machine',
    setting: 'GUESTLIST_SMTP_URL',
    mend: 'have the address of this machine allowed at the mail server, or use another server',
  },
  'mail-no-tls': {
    step: 'tls',
    cause: 'the mail server offers no TLS, and TLS is required',
    setting: 'mail.isTlsRequired',
    mend: 'use a port with TLS in GUESTLIST_SMTP_URL, or set it to false for a server in your own network',
  },
  'mail-certificate': {
    step: 'tls',
    cause: 'TLS with the mail server failed, or its certificate is not trusted',
    setting: 'GUESTLIST_SMTP_URL',
    mend: 'use the host name of the certificate, smtps:// only for a port that begins with TLS (465), and NODE_EXTRA_CA_CERTS for a certificate authority of your own',
  },
  'mail-login-refused': {
    step: 'login',
    cause: 'the mail server refused the login, or requires one',
    setting: 'GUESTLIST_SMTP_URL',
    mend: 'check user and password; special characters in them are percent-encoded',
  },
  'mail-sender-refused': {
    step: 'sender',
    cause: 'the mail server does not accept the address of the sender',
    setting: 'mail.from',
    mend: 'use an address that this login may send for; a tenant may have its own in mail.tenants',
  },
  'mail-relay-refused': {
    step: 'recipient',
    cause: 'the mail server does not deliver to the domain of the recipient for this login',
    setting: 'GUESTLIST_SMTP_URL',
    mend: 'use a login or a server that may send to other domains (relay)',
  },
  'mail-recipient-refused': {
    step: 'recipient',
    cause: 'the mail server refused the address of the recipient',
    setting: null,
    mend: 'check that the address exists and that its mailbox is not full',
  },
  'mail-postponed': {
    step: 'message',
    cause: 'the mail server asks to try again later, as for greylisting or a busy mailbox',
    setting: 'mail.attempts',
    mend: 'nothing while a later attempt succeeds; otherwise allow more attempts, or fewer messages in a minute by mail.perTenantPerMinute',
  },
  'mail-too-large': {
    step: 'message',
    cause: 'the message is larger than the mail server accepts',
    setting: 'mail.megabytes',
    mend: 'set it below the limit of the mail server: files grow by a third in a message',
  },
  'mail-refused': {
    step: 'message',
    cause: 'the mail server refused the content of the message',
    setting: null,
    mend: "the mail server's own log says why; a message that looks forged may need mail.dkim",
  },
  'mail-unanswered': {
    step: 'message',
    cause: 'the mail server did not answer after the message was handed over',
    setting: null,
    mend: "the message may have arrived; the mail server's own log says why it did not answer",
  },
} as const satisfies Readonly<Record<string, Row>>;

export type MailFault = keyof typeof rows;
export const mailFaults: Readonly<Record<MailFault, Row>> = rows;
export const mailFaultNames = Object.keys(rows) as readonly MailFault[];

const isMailFault = (reason: string): reason is MailFault => Object.hasOwn(rows, reason);

/** What is known of the reason of a delivery; undefined: it is not about the mail server. */
export const findMailFault = (reason: string): Row | undefined => (isMailFault(reason) ? rows[reason] : undefined);

/** The cause and the mend as one text. */
export const mailFaultText = ({ cause, setting, mend }: Row): string =>
  `${cause}; ${setting === null ? '' : `${setting}: `}${mend}`;
