/** TLS before a server that has none: what ends the encryption stands between the server and its client. */
import { execFileSync, spawnSync } from 'node:child_process';
import { createConnection, createServer, type Socket } from 'node:net';
import tls, { createSecureContext, TLSSocket } from 'node:tls';
import { onTestFinished } from 'vitest';

/** Whether a certificate can be made. Otherwise warns and skips the tests; fails under CI. */
export const isOpensslThere = (): boolean => {
  if (spawnSync('openssl', ['version']).status === 0) return true;
  if (process.env.CI === 'true') throw new Error('NO openssl ON PATH');
  console.warn('NO openssl ON PATH: ITS TESTS ARE SKIPPED');
  return false;
};

export type Certificate = { readonly key: string; readonly cert: string };

/** A certificate of this machine that nobody signed but itself. */
export const createCertificate = (): Certificate => {
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1', '-days', '2'];
  const made = execFileSync('openssl', ['req', '-x509', ...curve, ...subject, '-keyout', '-'], {
    ...{ encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] },
  });
  const [key = '', cert = ''] = made.match(/-----BEGIN [\s\S]*?-----END [^-]*-----\n/g) ?? [];
  return { key, cert };
};

/** Lets this process trust the certificate until the test ends. Another process has NODE_EXTRA_CA_CERTS for that. */
export const trust = ({ cert }: Certificate): void => {
  const usual = tls.createSecureContext;
  tls.createSecureContext = (options = {}) => usual({ ...options, ca: [cert] });
  onTestFinished(() => {
    tls.createSecureContext = usual;
  });
};

type Encrypt = (socket: Socket) => Socket;
/** Connects a client with the server. `encrypt` ends the encryption of a client. */
type Begin = (client: Socket, server: Socket, encrypt: Encrypt) => void;

const join = (client: Socket, server: Socket): void => {
  client.pipe(server).pipe(client);
};

/** Redis, HTTP and SMTP (`smtps:`) begin with TLS. */
const atOnce: Begin = (client, server, encrypt) => join(encrypt(client), server);

/** A client of PostgreSQL asks whether there is TLS. */
const afterQuestion: Begin = (client, server, encrypt) => {
  client.once('data', () => {
    client.write('S');
    join(encrypt(client), server);
  });
};

/** A message of MySQL with another number: the request for TLS counts between client and front alone. */
const renumbered = (bytes: Buffer, by: number): Buffer => {
  const changed = Buffer.from(bytes);
  changed[3] = (changed[3] ?? 0) + by;
  return changed;
};
/** The bit of the lower capabilities that stands for TLS, in their second byte. */
const tlsBit = 0x08;

/** MySQL offers TLS in its greeting, and its client asks for it in place of the login. */
const afterGreeting: Begin = (client, server, encrypt) => {
  server.once('data', (greeting: Buffer) => {
    const offered = Buffer.from(greeting);
    // After the version, its end, the number of the thread, eight bytes of salt and a filler.
    const at = greeting.indexOf(0, 5) + 1 + 4 + 8 + 1 + 1;
    offered[at] = (offered[at] ?? 0) | tlsBit;
    client.write(offered);
    client.once('data', (request: Buffer) => {
      client.pause();
      // The first bytes of TLS may come with the request, whose length is in its first three bytes.
      client.unshift(request.subarray(4 + request.readUIntLE(0, 3)));
      logIn(encrypt(client), server);
    });
  });
};
const logIn = (client: Socket, server: Socket): void => {
  let isLoggedIn = false;
  client.once('data', (login: Buffer) => {
    const plain = renumbered(login, -1);
    plain[5] = (plain[5] ?? 0) & ~tlsBit;
    server.write(plain);
    client.on('data', (bytes: Buffer) => void server.write(isLoggedIn ? bytes : renumbered(bytes, -1)));
  });
  server.on('data', (bytes: Buffer) => {
    client.write(isLoggedIn ? bytes : renumbered(bytes, 1));
    isLoggedIn ||= bytes[4] === 0;
  });
};

const beginnings = { 'at once': atOnce, PostgreSQL: afterQuestion, MySQL: afterGreeting } as const;

export type TlsFront = { readonly host: string; readonly port: number; readonly stop: () => Promise<void> };

export const startTlsFront = async (
  target: { readonly host: string; readonly port: number },
  certificate: Certificate,
  beginning: keyof typeof beginnings = 'at once',
): Promise<TlsFront> => {
  const secureContext = createSecureContext(certificate);
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const onward = createConnection(target);
    const ended = (socket: Socket): Socket => {
      sockets.add(socket);
      const end = (): void => {
        sockets.delete(socket);
        client.destroy();
        onward.destroy();
      };
      return socket.on('close', end).on('error', end);
    };
    ended(client);
    ended(onward);
    beginnings[beginning](client, onward, (socket) => ended(new TLSSocket(socket, { isServer: true, secureContext })));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    ...{ host: '127.0.0.1', port: address.port },
    stop: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};
