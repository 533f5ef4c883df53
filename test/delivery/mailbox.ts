/** A mail server for tests: keeps what arrives, parsed, and answers as each test says. */
import { type ParsedMail, simpleParser } from 'mailparser';
import { SMTPServer } from 'smtp-server';

/** `silent`: takes the message and cuts the connection without an answer. `hang-up`: cuts it before the greeting. */
export type Behaviour =
  | 'take'
  | 'refuse-for-good'
  | 'refuse-for-now'
  | 'refuse-recipient'
  | 'refuse-login'
  | 'silent'
  | 'hang-up';

export type Received = { readonly mail: ParsedMail; readonly raw: string; readonly recipients: readonly string[] };

const refusal = (responseCode: number): Error => Object.assign(new Error('refused by the test'), { responseCode });

const readAll = async (stream: AsyncIterable<Buffer>): Promise<Buffer> => {
  const pieces: Buffer[] = [];
  for await (const piece of stream) pieces.push(piece);
  return Buffer.concat(pieces);
};

export const openMailbox = async () => {
  const received: Received[] = [];
  let behaviour: Behaviour = 'take';
  /** While messages are held: what ends the waiting of each. */
  let holding: (() => void)[] | null = null;
  const cutAll = (): void => {
    for (const connection of server.connections) connection.close();
  };
  const server = new SMTPServer({
    authOptional: true,
    allowInsecureAuth: true,
    disabledCommands: ['STARTTLS'],
    logger: false,
    onAuth: (_auth, _session, done) =>
      behaviour === 'refuse-login' ? done(refusal(535)) : done(null, { user: 'user' }),
    onConnect: (_session, done) => {
      if (behaviour === 'hang-up') cutAll();
      else done();
    },
    onRcptTo: (_address, _session, done) => done(behaviour === 'refuse-recipient' ? refusal(550) : null),
    onData: (stream, session, done) => {
      const keep = async (): Promise<void> => {
        const bytes = await readAll(stream);
        if (holding !== null) await new Promise<void>((resolve) => holding?.push(resolve));
        if (behaviour === 'refuse-for-good') return done(refusal(554));
        if (behaviour === 'refuse-for-now') return done(refusal(451));
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
