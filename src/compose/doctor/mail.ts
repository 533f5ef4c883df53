/** Looks at the mail server, and at what receivers of reports look at: whether DNS lets the sender's domain send, and holds the key of its signature. */
import { createPrivateKey, createPublicKey } from 'node:crypto';
import { mailSetupOf } from '../../delivery/mail-setup.js';
import type { MailerOptions } from '../../delivery/mailer.js';
import { type MailFault, mailFaults } from '../../model/schedule/mail-faults.js';
import type { Config } from '../../platform/config/config.js';
import { type Finding, finding, good } from './finding.js';

const area = 'mail';

/** The texts of a name in DNS, each of which may come in pieces. Rejects with the codes of `node:dns`. */
export type ReadTexts = (name: string) => Promise<readonly (readonly string[])[]>;

const textsAt = async (read: ReadTexts, name: string): Promise<readonly string[]> => {
  try {
    return (await read(name)).map((parts) => parts.join(''));
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOTFOUND' || error.code === 'ENODATA'))
      return [];
    throw error;
  }
};

const spfFindings = (texts: readonly string[], domain: string): readonly Finding[] => {
  const found = texts.filter((text) => /^v=spf1(?: |$)/i.test(text));
  const [record = ''] = found;
  if (found.length === 0)
    return [
      finding('warning', area, 'the domain of the sender has no SPF record', {
        subject: domain,
        mend: 'Add a TXT record "v=spf1 include:YOUR-MAIL-SERVER -all" to the domain.',
      }),
    ];
  if (found.length > 1)
    return [
      finding('fault', area, 'the domain of the sender has several SPF records, so none counts', {
        subject: domain,
        mend: 'Make one TXT record of them.',
      }),
    ];
  return /[ ]\+?all(?: |$)/i.test(record)
    ? [
        finding('fault', area, 'the SPF record lets everybody send for the domain of the sender', {
          subject: domain,
          mend: 'End it with -all or ~all.',
        }),
      ]
    : [good(area, 'the domain of the sender has an SPF record', domain)];
};

const dmarcFindings = (texts: readonly string[], domain: string): readonly Finding[] => {
  const record = texts.find((text) => /^v=DMARC1\s*;/i.test(text));
  if (record === undefined)
    return [
      finding('warning', area, 'the domain of the sender has no DMARC record', {
        subject: domain,
        mend: `Add a TXT record "v=DMARC1; p=quarantine; rua=mailto:ADDRESS" to _dmarc of the domain.`,
      }),
    ];
  return /;\s*p\s*=\s*none/i.test(record)
    ? [
        finding('warning', area, 'the DMARC record of the sender asks for nothing (p=none)', {
          subject: domain,
          mend: 'When its reports show no mail of yours that fails, set p=quarantine or p=reject.',
        }),
      ]
    : [good(area, 'the domain of the sender has a DMARC record', domain)];
};

const publicKeyOf = (privateKey: string): string =>
  createPublicKey(createPrivateKey(privateKey)).export({ type: 'spki', format: 'der' }).toString('base64');

const dkimFindings = async (
  read: ReadTexts,
  { dkim }: Pick<Config, 'dkim'>,
  sender: string,
): Promise<readonly Finding[]> => {
  if (dkim === null)
    return [
      finding('note', area, 'messages are not signed here (mail.dkim): the mail server must do it', {
        mend: 'Set mail.dkim, unless your mail server signs.',
      }),
    ];
  const { domainName, keySelector, privateKey } = dkim;
  const name = `${keySelector}._domainkey.${domainName}`;
  const key = /(?:^|;)\s*p=([^;]*)/.exec((await textsAt(read, name)).join('; '))?.[1]?.replaceAll(/\s/g, '');
  const expected = publicKeyOf(privateKey);
  const mend = `Add a TXT record to ${name}: "v=DKIM1; k=rsa; p=${expected}"`;
  const aligned = sender === domainName || sender.endsWith(`.${domainName}`);
  return [
    key === undefined
      ? finding('fault', area, 'the key of the signature (DKIM) is not in DNS', { subject: name, mend })
      : key === expected
        ? good(area, 'the key of the signature (DKIM) is in DNS', name)
        : finding('fault', area, 'DNS has another key of the signature (DKIM)', { subject: name, mend }),
    ...(aligned
      ? []
      : [
          finding('warning', area, 'the signature (DKIM) is of another domain than the sender', {
            subject: `${domainName}, ${sender}`,
            mend: 'Set mail.dkim.domain to the domain of mail.from, so that DMARC counts it.',
          }),
        ]),
  ];
};

/** Connects to the mail server and logs in, as `checkMailServer` does. */
export type ConnectMail = (options: MailerOptions) => Promise<MailFault | null>;

const timeoutMs = 10_000;

const serverFindings = async (
  { mail, sender, dkim }: NonNullable<ReturnType<typeof mailSetupOf>>,
  connect: ConnectMail,
): Promise<readonly Finding[]> => {
  if (sender === null) return [];
  const fault = await connect({ ...mail, ...sender, dkim, timeoutMs });
  if (fault === null) return [good(area, 'the mail server takes a connection and the login')];
  const { cause, mend, setting } = mailFaults[fault];
  const given = setting === null ? {} : { subject: setting };
  return [finding('fault', area, cause, { ...given, mend: `${mend.charAt(0).toUpperCase()}${mend.slice(1)}.` })];
};

/** Looks at the records of the sender, and of the senders that tenants have of their own, and at the mail server. */
export const examineMail = async (
  config: Config,
  read: ReadTexts,
  connect: ConnectMail,
): Promise<readonly Finding[]> => {
  const setup = mailSetupOf(config);
  if (setup === null || setup.sender === null)
    return [
      finding(
        'note',
        area,
        'no reports are sent by e-mail: mail.from, gateway.publicOrigin or GUESTLIST_SMTP_URL is not set',
      ),
    ];
  const tenants = Object.values(config.settings.mail.tenants).flatMap(({ from }) => from ?? []);
  const domains = new Set(
    [setup.sender.from, ...tenants].map((address) => address.slice(address.lastIndexOf('@') + 1)),
  );
  const found: Finding[] = [...(await serverFindings(setup, connect))];
  for (const domain of domains) {
    found.push(...spfFindings(await textsAt(read, domain), domain));
    found.push(...dmarcFindings(await textsAt(read, `_dmarc.${domain}`), domain));
    found.push(...(await dkimFindings(read, config, domain)));
  }
  const { protocol } = new URL(setup.sender.smtpUrl);
  const isEncrypted = protocol === 'smtps:' || setup.mail.isTlsRequired;
  return [
    ...found,
    isEncrypted
      ? good('TLS', 'messages go to the mail server by TLS')
      : finding('warning', 'TLS', 'messages may go to the mail server without TLS', {
          mend: 'Use smtps:// in GUESTLIST_SMTP_URL, or set mail.isTlsRequired.',
        }),
    finding('note', area, 'no message was sent: guestlist mail try ADDRESS sends one'),
  ];
};
