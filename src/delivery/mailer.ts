/** Hands messages to a mail server over SMTP, and says what the server answered. */
import { createTransport } from 'nodemailer';
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
  | { readonly kind: 'refused'; readonly isFinal: boolean; readonly status: number }
  | { readonly kind: 'unreachable' }
  | { readonly kind: 'unanswered' };

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

/** `hasBegun`: the connection and the login succeeded, and the message was being handed over. */
const outcomeOf = (error: unknown, hasBegun: boolean): MailOutcome => {
  if (!(error instanceof Error)) throw error;
  const { responseCode: status } = error as Error & Readonly<Record<string, unknown>>;
  if (typeof status === 'number' && status >= 400) {
    // A failed greeting or login is the operator's to mend: the message itself was not refused.
    return { kind: 'refused', isFinal: status >= 500 && hasBegun, status };
  }
  // nodemailer names the command CONN for every lost connection, so the error does not say how far it came.
  return { kind: hasBegun ? 'unanswered' : 'unreachable' };
};

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
