/**
 * Three gateway processes with one database and one Redis, in front of one service. A proxy in between counts requests
 * and can hold them.
 */
import { createSecretKey, randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { Agent, createServer, request as forward, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import jwt from 'jsonwebtoken';
import { createOwnDatabase } from '../suites/postgres.js';
import { startOwnRedis } from '../suites/redis.js';
import { type Product, startProduct } from './product.js';

export type Call = { readonly path: string; readonly body: string; status: number; answer: string };

const send = (to: URL, request: IncomingMessage, body: string): Promise<{ status: number; answer: string }> =>
  new Promise((resolve, reject) => {
    const { authorization, 'content-type': type = '' } = request.headers;
    const headers = {
      ...(authorization === undefined ? {} : { authorization }),
      ...(body === '' ? {} : { 'content-type': type, 'content-length': Buffer.byteLength(body) }),
    };
    const onward = forward(
      new URL(request.url ?? '', to),
      { method: request.method ?? 'GET', headers },
      async (response) => {
        resolve({ status: response.statusCode ?? 0, answer: await textOf(response) });
      },
    );
    onward.once('error', reject);
    onward.end(body);
  });

/**
 * Starts a proxy to the service. `hold` returns a promise for requests to hold: before they are forwarded, or before
 * they are answered.
 */
const startProxy = async (service: string) => {
  const calls: Call[] = [];
  const state = {
    before: (_: Call): Promise<void> | void => {},
    after: (_: Call): Promise<void> | void => {},
  };
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const call: Call = { path: request.url ?? '', body: await textOf(request), status: 0, answer: '' };
    calls.push(call);
    await state.before(call);
    Object.assign(call, await send(new URL(service), request, call.body));
    await state.after(call);
    response.writeHead(call.status, { 'content-type': 'application/json' }).end(call.answer);
  };
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  server.keepAliveTimeout = 120_000;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    state,
    to: (path: string) => calls.filter((call) => call.path === path),
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
};
export type Proxy = Awaited<ReturnType<typeof startProxy>>;

export const mintPath = '/api/v2/guest-token/create';
export const dashboardPath = '/api/v2/data-app/dashboard-embeds';

/** Returns the user of a mint. */
export const userOf = ({ body }: Call): string => JSON.parse(body).params.userIdentifier;

/** A promise that waits until the test opens it. */
export const createGate = () => {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open: () => open() };
};

export const hostSecret = randomBytes(32).toString('base64');

/** A session signed like the host's; `claims` replaces or adds claims. */
export const sessionOf = (claims: Readonly<Record<string, unknown>>): string => {
  const now = Math.floor(Date.now() / 1000);
  const key = createSecretKey(Buffer.from(hostSecret));
  return jwt.sign({ roles: ['analyst'], iat: now - 60, exp: now + 600, ...claims }, key, { algorithm: 'HS256' });
};

export type Reply = { readonly status: number; readonly code: string; readonly token: string };

/** Each request uses a new connection, since a kept one could be closed while many requests are running. */
const agent = new Agent({ keepAlive: false });

/** Requests a token from one gateway. */
export const askFor = async (gateway: Pick<Product, 'url'>, session: string): Promise<Reply> => {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const options = { agent, method: 'POST', headers: { authorization: `Bearer ${session}` } };
    forward(`${gateway.url}/embed-token`, options, resolve).once('error', reject).end();
  });
  const body = JSON.parse(await textOf(response)) as { token?: string; error?: { code: string } };
  return { status: response.statusCode ?? 0, code: body.error?.code ?? 'OK', token: body.token ?? '' };
};

export const gatewayToken = randomBytes(32).toString('hex');

/** A configuration with long time limits, since many processes share few cores. */
const patientConfig = async (folder: string): Promise<string> => {
  const file = join(folder, 'guestlist.yaml');
  const policies = fileURLToPath(new URL('../../config/policies/flights.yaml', import.meta.url));
  const gateway = { policies, session: { clockToleranceSeconds: 0 }, upstream: { timeoutMs: 60_000 } };
  await writeFile(file, JSON.stringify({ gateway }));
  return file;
};

/** Starts everything. `stop` ends it. */
export const startReplicas = async () => {
  const [redis, database, service] = await Promise.all([
    startOwnRedis(),
    createOwnDatabase(),
    startProduct({ args: ['--only', 'service'] }),
  ]);
  const proxy = await startProxy(service.url);
  const folder = await mkdtemp(join(tmpdir(), 'guestlist-replicas-'));
  const env = {
    GUESTLIST_CONFIG: await patientConfig(folder),
    REDIS_URL: redis.url,
    DATABASE_URL: database.url,
    GUESTLIST_SERVICE_URL: proxy.url,
    GUESTLIST_API_KEY: service.credentials.demoApiKey,
    GUESTLIST_HOST_JWT_SECRET: hostSecret,
    GUESTLIST_GATEWAY_TOKEN: gatewayToken,
    GUESTLIST_LOG_LEVEL: 'warn',
  };
  const startGateway = () => startProduct({ env, args: ['--only', 'gateway'] });
  const gateways = await Promise.all([startGateway(), startGateway(), startGateway()]);
  return {
    redis,
    proxy,
    service,
    gateways,
    startGateway,
    stop: async () => {
      proxy.close();
      await Promise.all([...gateways, service].map((product) => product.stop('SIGKILL')));
      await Promise.all([...gateways, service].map((product) => product.remove()));
      await redis.stop();
      await database.drop();
      await rm(folder, { recursive: true, force: true });
    },
  };
};
export type Replicas = Awaited<ReturnType<typeof startReplicas>>;
