/** Hands messages to a mail server over SMTP, and says what the server answered. */
import { createTransport } from 'nodemailer';
import type { MailFault } from '../model/schedule/mail-faults.js';
import type { Dkim } from '../platform/keys/dkim.js';
import type { Attachment, Message } from './message.js';
import { plainLine } from './plain-line.js';

export type Mail = Message & {
  readonly to: string;
  readonly from: { readonly name: string; readonly address: string };
  readonly replyTo: string | null;
  /** The same for every attempt, so that a mailbox can recognise a repeated message. */
  readonly messageId: string;
  readonly attachments: readonly Attachment[];
};

/**
 * `taken`: the server answered that it has the message. `refused`: it answered that it has not, for now or for good.
 * `unreachable`: the message was not handed over. `unanswered`: it may have the message.
 */
export type MailOutcome =
  | { readonly kind: 'taken' }
  | { readonly kind: 'refused'; readonly isFinal: boolean; readonly status: number; readonly fault: MailFault }
  | { readonly kind: 'unreachable'; readonly fault: MailFault }
  | { readonly kind: 'unanswered'; readonly fault: MailFault };

export type Mailer = {
  /** Never rejects for what the mail server does. */
  readonly send: (mail: Mail) => Promise<MailOutcome>;
};

export type MailerOptions = {
  /** `smtp://` or `smtps://`, with user and password. Never logged. */
  readonly smtpUrl: string;
  /** Signs each message; null: the server does, or nobody. */
  readonly dkim: Dkim | null;
  readonly timeoutMs: number;
  /** Whether a server without TLS is refused. */
  readonly isTlsRequired: boolean;
};

/** What nodemailer says of a failure. `response` may name addresses: it is read here and goes nowhere else. */
type Failure = Readonly<Record<'code' | 'originalCode' | 'command' | 'response', string>> & {
  readonly responseCode: number | null;
};

const readFailure = (error: Error): Failure => {
  const found = error as Error & Readonly<Record<string, unknown>>;
  const text = (name: string): string => {
    const value = found[name];
    return typeof value === 'string' ? value : '';
  };
  const { responseCode } = found;
  return {
    ...{ code: text('code'), originalCode: text('originalCode') },
    ...{ command: text('command'), response: text('response') },
    responseCode: typeof responseCode === 'number' ? responseCode : null,
  };
};

/** Codes of Node.js and OpenSSL for a certificate or a handshake that failed. */
const isOfTls = (code: string): boolean =>
  /^(ERR_TLS_|ERR_SSL_|CERT_|CRL_|SELF_SIGNED_|DEPTH_ZERO_|UNABLE_TO_|ERROR_IN_|INVALID_|PATH_LENGTH|HOSTNAME_|EPROTO$)/.test(
    code,
  );

/** Answers by which a server asks for a login or refuses one (RFC 4954), whatever it was asked. */
const loginStatuses: readonly number[] = [530, 534, 535, 538];

/** Servers may judge the sender when they are told the recipient (Postfix) or the content (Exchange). */
const isAboutSender = ({ command, response }: Failure): boolean =>
  command === 'MAIL FROM' || /\b5\.1\.[78]\b|\b5\.7\.60\b|\bsender address rejected|\bsend ?as\b/i.test(response);

/** 552 is also a full mailbox (5.2.2). */
const isAboutSize = ({ responseCode, response }: Failure): boolean =>
  (responseCode === 552 && !/\b5\.2\.2\b/.test(response)) || /\b5\.3\.4\b/.test(response);

const isAboutRelay = ({ responseCode, response }: Failure): boolean =>
  responseCode === 551 || /\brelay/i.test(response);

/** `hasBegun`: the connection and the login succeeded, and the message was being handed over. */
const faultOf = (seen: Failure, hasBegun: boolean): MailFault => {
  const { code, originalCode, command, responseCode } = seen;
  if (code === 'ETLS' || command === 'STARTTLS') return responseCode === null ? 'mail-certificate' : 'mail-no-tls';
  if (isOfTls(originalCode)) return 'mail-certificate';
  if (isAboutSize(seen)) return 'mail-too-large';
  if (responseCode !== null && responseCode < 500) return 'mail-postponed';
  if (code === 'EAUTH' || (responseCode !== null && loginStatuses.includes(responseCode))) return 'mail-login-refused';
  if (responseCode === null) return hasBegun ? 'mail-unanswered' : 'mail-unreachable';
  if (!hasBegun) return 'mail-host-refused';
  if (isAboutSender(seen)) return 'mail-sender-refused';
  if (command !== 'RCPT TO') return 'mail-refused';
  return isAboutRelay(seen) ? 'mail-relay-refused' : 'mail-recipient-refused';
};

const outcomeOf = (error: unknown, hasBegun: boolean): MailOutcome => {
  if (!(error instanceof Error)) throw error;
  const seen = readFailure(error);
  const { responseCode: status } = seen;
  const fault = faultOf(seen, hasBegun);
  // A failed greeting or login is the operator's to mend: the message itself was not refused.
  if (status !== null && status >= 400) return { kind: 'refused', isFinal: status >= 500 && hasBegun, status, fault };
  // nodemailer names the command CONN for every lost connection, so the error does not say how far it came.
  return { kind: fault === 'mail-unanswered' ? 'unanswered' : 'unreachable', fault };
};

const outcomeFault = (outcome: MailOutcome): MailFault | null => (outcome.kind === 'taken' ? null : outcome.fault);

/** A transport for one message, which notes when it begins to read that message for the server. */
const openTransport = ({ smtpUrl, timeoutMs, isTlsRequired, dkim }: MailerOptions, begin: () => void) => {
  const transport = createTransport({
    url: smtpUrl,
    requireTLS: isTlsRequired,
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    disableFileAccess: true,
    disableUrlAccess: true,
    ...(dkim === null ? {} : { dkim }),
  });
  transport.use('stream', ({ message }, done) => {
    const open = message.createReadStream.bind(message);
    message.createReadStream = (options) => {
      begin();
      return open(options);
    };
    done();
  });
  return transport;
};

const contentOf = ({ to, from, replyTo, attachments, ...mail }: Mail) => ({
  ...mail,
  from,
  ...(replyTo === null ? {} : { replyTo }),
  to: { name: '', address: to },
  envelope: { from: from.address, to: [to] },
  attachments: attachments.map(({ filename, contentType, content, cid }) => ({
    ...{ filename: plainLine(filename), contentType },
    content: Buffer.from(content),
    ...(cid === undefined ? {} : { cid, contentDisposition: 'inline' as const }),
  })),
});

export const createMailer = (options: MailerOptions): Mailer => ({
  send: async (mail) => {
    let hasBegun = false;
    const transport = openTransport(options, () => {
      hasBegun = true;
    });
    try {
      await transport.sendMail(contentOf(mail));
      return { kind: 'taken' };
    } catch (error) {
      return outcomeOf(error, hasBegun);
    } finally {
      transport.close();
    }
  },
});

/**
 * Connects to the mail server, with TLS and login as for a message, and sends none. Returns null if it would take one. Never
 * rejects for what the mail server does.
 */
export const checkMailServer = async (options: MailerOptions): Promise<MailFault | null> => {
  const transport = openTransport(options, () => {});
  try {
    await transport.verify();
    return null;
  } catch (error) {
    return outcomeFault(outcomeOf(error, false));
  } finally {
    transport.close();
  }
};
