/** The built product with a mail server, in this process: its demo allows reports to `customer.example`. */
import { createSecretKey } from 'node:crypto';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import jwt from 'jsonwebtoken';
import { loadConfig } from '../../src/platform/config/config.js';
import { openMailbox } from '../delivery/mailbox.js';
import { placeFlights } from '../suites/flights.js';
import { type EmbedToken, post } from './guest.js';

type Main = Pick<typeof import('../../src/main.js'), 'start'>;

const configuration = fileURLToPath(new URL('../../config', import.meta.url));
const built = new URL('../../dist/main.js', import.meta.url).href;
const origin = 'https://numbers.example.com';
/** Replaces a text that the file must hold. */
export const replaceIn = async (file: string, from: string, to: string): Promise<void> => {
  const text = await readFile(file, 'utf8');
  if (!text.includes(from)) throw new Error(`${file} must hold ${JSON.stringify(from)}`);
  await writeFile(file, text.replace(from, to));
};

/** Copies the configuration and the data of the demo into the folder, and returns the file of settings. */
export const copyDemo = async (folder: string): Promise<string> => {
  await cp(configuration, join(folder, 'config'), { recursive: true });
  await placeFlights(join(folder, 'data/demo/flights.duckdb'));
  return join(folder, 'config/guestlist.yaml');
};

/** Writes the demo's configuration with reports, and returns its file. */
export const configureMail = async (folder: string): Promise<string> => {
  const file = await copyDemo(folder);
  await replaceIn(file, 'allowedDomains: []', 'allowedDomains: [customer.example, partner.example]');
  await replaceIn(file, 'isTlsRequired: true', 'isTlsRequired: false');
  await replaceIn(file, '  from: null', '  from: reports@numbers.example.com');
  const allows = 'isAllowEmailReports: true\n      isAllowUnderlyingData: true';
  const policy = join(folder, 'config/policies/flights.yaml');
  await replaceIn(policy, 'isAllowUnderlyingData: true', allows);
  const admins = `  - name: admins send to others
    when: '"admin" in user.roles'
    grant: { templates: [delays], schedule: true, addressDomains: [partner.example] }

restrictions:
`;
  await replaceIn(policy, 'restrictions:\n', admins);
  return file;
};

/** Writes a program that starts the product with this configuration as the shipped one, so that the demo runs with mail. */
export const writeStarter = async (folder: string, config: string): Promise<void> => {
  const program = `import { start } from '${built}';
import { loadConfig } from '${new URL('platform/config/config.js', built).href}';
const halves = { gateway: true, service: true };
const config = loadConfig(process.env, ${JSON.stringify(config)}, { runsGateway: true, runsService: true });
console.log('Guestlist is up at ' + (await start(config, halves)).url);
`;
  await mkdir(join(folder, 'bin'));
  await writeFile(join(folder, 'bin/guestlist.mjs'), program);
};

/** The session of a manager of LAX, who has an address. */
export const signedManager = (demoJwtSecret: string, user: string, more: object = {}): string => {
  const now = Math.floor(Date.now() / 1000);
  const claims = { iss: 'guestlist-demo', sub: user, org_id: 'LAX', roles: ['manager'], iat: now, exp: now + 600 };
  const session = { ...claims, email: `${user}@customer.example`, ...more };
  return jwt.sign(session, createSecretKey(Buffer.from(demoJwtSecret)));
};

export type Mailing = Awaited<ReturnType<typeof startMailing>>;

/** A port that nothing listens to now. */
const freePort = async (): Promise<number> => {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  await new Promise((done) => server.close(done));
  return port;
};

/** `isOwnOrigin`: browsers reach the product at its own address, as Studio needs it. */
export const startMailing = async ({ isOwnOrigin = false } = {}) => {
  const folder = await mkdtemp(join(tmpdir(), 'guestlist-reports-'));
  const mailbox = await openMailbox();
  const file = await configureMail(folder);
  const port = isOwnOrigin ? await freePort() : 0;
  const env = {
    ...{ GUESTLIST_DATA_DIR: join(folder, 'data'), GUESTLIST_LOG_LEVEL: 'silent', PORT: String(port) },
    GUESTLIST_RENDERS_NICENESS: '0',
    GUESTLIST_SMTP_URL: mailbox.url,
    GUESTLIST_PUBLIC_ORIGIN: isOwnOrigin ? `http://127.0.0.1:${port}` : origin,
  };
  const { start }: Main = await import(built);
  const product = await start(loadConfig(env, file, { runsGateway: true, runsService: true }), {
    ...{ gateway: true, service: true },
  });
  const credentials: { readonly demoJwtSecret: string; readonly demoApiKey: string } = JSON.parse(
    await readFile(join(folder, 'data/credentials.json'), 'utf8'),
  );
  const logIn = async (user: string, more: object = {}): Promise<EmbedToken> => {
    const signed = signedManager(credentials.demoJwtSecret, user, more);
    return (await post<EmbedToken>(`${product.url}/embed-token`, {}, signed)).body;
  };
  const close = async (): Promise<void> => {
    await product.close();
    await mailbox.close();
    await rm(folder, { recursive: true, force: true });
  };
  return { product, mailbox, credentials, dataDir: join(folder, 'data'), logIn, close };
};
