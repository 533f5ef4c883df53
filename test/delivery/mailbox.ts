/** A mail server for tests: keeps what arrives, parsed, and answers as each test says. */
import { type ParsedMail, simpleParser } from 'mailparser';
import { SMTPServer } from 'smtp-server';
import type { Certificate } from '../suites/tls.js';

/** `silent`: takes the message and cuts the connection without an answer. `hang-up`: cuts it before the greeting. */
export type Behaviour =
  | 'take'
  | 'refuse-for-good'
  | 'refuse-for-now'
  | 'refuse-recipient'
  | 'refuse-login'
  | 'silent'
  | 'hang-up'
  | Reply;

/** What a server answers to one command, as it wrote it. */
export type Reply = {
  readonly to: 'connection' | 'login' | 'sender' | 'recipient' | 'content';
  readonly status: number;
  readonly text: string;
};

export type MailboxOptions = {
  /** Offers STARTTLS with this certificate. Left out: there is no TLS. */
  readonly certificate?: Certificate;
};

export type Received = { readonly mail: ParsedMail; readonly raw: string; readonly recipients: readonly string[] };

const refusal = (responseCode: number, text = 'refused by the test'): Error =>
  Object.assign(new Error(text), { responseCode });

const readAll = async (stream: AsyncIterable<Buffer>): Promise<Buffer> => {
  const pieces: Buffer[] = [];
  for await (const piece of stream) pieces.push(piece);
  return Buffer.concat(pieces);
};

export const openMailbox = async ({ certificate }: MailboxOptions = {}) => {
  const received: Received[] = [];
  let behaviour: Behaviour = 'take';
  /** While messages are held: what ends the waiting of each. */
  let holding: (() => void)[] | null = null;
  const cutAll = (): void => {
    for (const connection of server.connections) connection.close();
  };
  /** The refusal of one command, where the test wants one. */
  const refusalOf = (to: Reply['to']): Error | null =>
    typeof behaviour === 'object' && behaviour.to === to ? refusal(behaviour.status, behaviour.text) : null;
  const server = new SMTPServer({
    ...certificate,
    authOptional: true,
    allowInsecureAuth: true,
    disabledCommands: certificate === undefined ? ['STARTTLS'] : [],
    logger: false,
    onAuth: (_auth, _session, done) => {
      const refused = behaviour === 'refuse-login' ? refusal(535) : refusalOf('login');
      if (refused === null) done(null, { user: 'user' });
      else done(refused);
    },
    onConnect: (_session, done) => {
      if (behaviour === 'hang-up') cutAll();
      else done(refusalOf('connection'));
    },
    onMailFrom: (_address, _session, done) => done(refusalOf('sender')),
    onRcptTo: (_address, _session, done) =>
      done(behaviour === 'refuse-recipient' ? refusal(550) : refusalOf('recipient')),
    onData: (stream, session, done) => {
      const keep = async (): Promise<void> => {
        const bytes = await readAll(stream);
        if (holding !== null) await new Promise<void>((resolve) => holding?.push(resolve));
        if (behaviour === 'refuse-for-good') return done(refusal(554));
        if (behaviour === 'refuse-for-now') return done(refusal(451));
        const refused = refusalOf('content');
        if (refused !== null) return done(refused);
        const mail = await simpleParser(bytes);
        const recipients = session.envelope.rcptTo.map(({ address }) => address);
        received.push({ mail, raw: bytes.toString('latin1'), recipients });
        if (behaviour === 'silent') cutAll();
        else done();
      };
      keep().catch(done);
    },
  });
  server.on('error', () => {
    // A connection that a killed sender leaves behind.
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.server.address();
  if (address === null || typeof address === 'string') throw new Error('the mail server has no port');
  return {
    url: `smtp://127.0.0.1:${address.port}`,
    received,
    /** From now on, messages that arrived are not answered. */
    hold: (): void => {
      holding = [];
    },
    held: (): number => holding?.length ?? 0,
    letGo: (): void => {
      for (const end of holding ?? []) end();
      holding = null;
    },
    behave: (next: Behaviour): void => {
      behaviour = next;
    },
    close: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
};

export type Mailbox = Awaited<ReturnType<typeof openMailbox>>;
