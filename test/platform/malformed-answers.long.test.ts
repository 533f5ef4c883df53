/**
 * A server, or what stands between it and this process, answers with damaged bytes. Only the connection ends: nothing
 * is thrown where nobody catches it, the work fails as with a server that is away, memory stays bounded, and the next
 * connection works.
 */
import { createServer, type Socket } from 'node:net';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createMailer } from '../../src/delivery/mailer.js';
import { createConnectionBudget } from '../../src/engine/connections/budget.js';
import { openClickHouse } from '../../src/engine/databases/clickhouse/database.js';
import { openMysql } from '../../src/engine/databases/mysql/database.js';
import { openPostgres } from '../../src/engine/databases/postgres/database.js';
import { createHttpTransport } from '../../src/gateway/upstream/http-upstream.js';
import type { Datasource, ServerConnection } from '../../src/model/organization.js';
import { Refusal } from '../../src/model/refusal.js';
import { findUnavailable } from '../../src/model/unavailable.js';
import { openDatabase } from '../../src/platform/databases/database.js';
import { createRedisClient } from '../../src/platform/redis/redis.js';
import { type Relay, startRelay } from '../engine/relay.js';
import { damageOf, damages, type Endless } from '../fault/damages.js';
import { isMysqlThere, mysqlServer } from '../suites/mysql.js';
import { createOwnDatabase, isPostgresThere } from '../suites/postgres.js';
import { isRedisServerThere, startOwnRedis } from '../suites/redis.js';
import { createCertificate, isOpensslThere, startTlsFront, trust } from '../suites/tls.js';

type Target = { readonly host: string; readonly port: number };
type Opened = { readonly ask: () => Promise<unknown>; readonly close: () => Promise<unknown> };
type Protocol = {
  readonly isThere: boolean;
  readonly start: () => Promise<Target & { readonly stop: () => Promise<unknown> }>;
  readonly open: (target: Target, isTls: boolean) => Promise<Opened>;
  /** How TLS begins. Default: at once. */
  readonly tls?: 'PostgreSQL' | 'MySQL';
  readonly endless: Endless;
};

const quiet = { info: () => {}, warn: () => {}, error: () => {} };
const zeros = Buffer.alloc(262_144);
const options = () => ({
  log: quiet,
  timeoutMs: 300,
  streamMs: 300,
  connectTimeoutMs: 500,
  connections: 2,
  permits: createConnectionBudget({
    ...{ maxWaiting: 10, waitMs: 5_000, maxConnections: 4, maxConnectionsPerDatasource: 4 },
  }).permitsOf('one'),
});

const isRead = { sql: 'SELECT 1', parameters: [] } as const;
/** What gives up here would end at its time limit. */
const patienceMs = 1_500;
const untenanted = { kind: 'untenanted' } as const;
const asked = async (opened: ReturnType<typeof openPostgres | typeof openMysql | typeof openClickHouse>) => {
  const { run, close } = await opened;
  return { ask: () => run(isRead, untenanted, { signal: AbortSignal.timeout(patienceMs) }), close };
};

const sourceAt = <Type extends ServerConnection['datasourceType']>(
  datasourceType: Type,
  login: object,
  { host, port }: Target,
  isSsl: boolean,
) =>
  ({
    name: 'one',
    datasourceType,
    password: '',
    schema: null,
    isSsl,
    ...login,
    host,
    port,
  }) as unknown as Datasource & ServerConnection & { readonly datasourceType: Type };

/** A server that answers every piece that arrives by the next of these texts, the last again and again. */
const startSpeaker = async (greeting: string | null, answers: readonly string[]) => {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    let index = 0;
    if (greeting !== null) socket.write(greeting);
    socket.on('data', () => {
      socket.write(answers[Math.min(index, answers.length - 1)] ?? '');
      index += 1;
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const stop = async (): Promise<void> => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  };
  return { host: '127.0.0.1', port: address.port, stop };
};

const postgresServer = async () => {
  const own = await createOwnDatabase();
  const url = new URL(own.url);
  const login = { username: decodeURIComponent(url.username), database: url.pathname.slice(1) };
  return { url, login, host: url.hostname, port: Number(url.port || '5432'), stop: () => own.drop() };
};
let postgresUrl: URL;
let postgresLogin: object;
const startPostgres = async () => {
  const { url, login, ...target } = await postgresServer();
  postgresUrl = url;
  postgresLogin = login;
  return target;
};

const httpOf = (body: string): string =>
  `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: keep-alive\r\n\r\n${body}`;
const clickHouseRows = '["1"]\n["UInt8"]\n["0"]\n';
const endlessBody = Buffer.from('HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n["');
const isPostgres = await isPostgresThere();

const protocols: Readonly<Record<string, Protocol>> = {
  'PostgreSQL as metadata': {
    isThere: isPostgres,
    start: startPostgres,
    open: async ({ host, port }, isTls) => {
      const url = new URL(postgresUrl);
      url.hostname = host;
      url.port = String(port);
      if (isTls) url.searchParams.set('sslmode', 'verify-full');
      const database = await openDatabase({ databaseUrl: url.href, folder: null });
      return { ask: () => sql`select 1`.execute(database.connect()), close: () => database.close() };
    },
    endless: { first: Buffer.from([0x44, 0x7f, 0xff, 0xff, 0xff]), repeated: zeros },
    tls: 'PostgreSQL',
  },
  'PostgreSQL as a source': {
    isThere: isPostgres,
    start: startPostgres,
    open: (target, isTls) => asked(openPostgres(sourceAt('POSTGRES', postgresLogin, target, isTls), options())),
    endless: { first: Buffer.from([0x44, 0x7f, 0xff, 0xff, 0xff]), repeated: zeros },
    tls: 'PostgreSQL',
  },
  MariaDB: {
    isThere: await isMysqlThere(),
    start: async () => ({ ...mysqlServer, stop: async () => {} }),
    open: (target, isTls) => {
      const { username, password } = mysqlServer;
      return asked(openMysql(sourceAt('MYSQL', { username, password, database: 'mysql' }, target, isTls), options()));
    },
    tls: 'MySQL',
    endless: {
      first: Buffer.alloc(0),
      repeated: Buffer.concat([Buffer.from([0xff, 0xff, 0xff, 0]), Buffer.alloc(0xffffff)]),
    },
  },
  ClickHouse: {
    isThere: true,
    start: () => startSpeaker(null, [httpOf(clickHouseRows)]),
    open: (target, isTls) => {
      const login = { username: 'default', database: 'default' };
      return asked(openClickHouse(sourceAt('CLICKHOUSE', login, target, isTls), options()));
    },
    endless: { first: endlessBody, repeated: zeros },
  },
  Redis: {
    isThere: isRedisServerThere(),
    start: async () => {
      const redis = await startOwnRedis();
      return { host: '127.0.0.1', port: redis.port, stop: redis.stop };
    },
    open: async ({ host, port }, isTls) => {
      const url = `${isTls ? 'rediss' : 'redis'}://${host}:${port}`;
      const redis = createRedisClient({ url, log: quiet as never, commandTimeoutMs: 500 });
      redis.on('error', () => undefined);
      await redis.connect();
      return { ask: () => redis.get('one'), close: async () => redis.disconnect() };
    },
    endless: { first: Buffer.from('$2000000000\r\n'), repeated: zeros },
  },
  SMTP: {
    isThere: true,
    start: () =>
      startSpeaker('220 hello\r\n', [
        '250-hello\r\n250 8BITMIME\r\n',
        '250 ok\r\n',
        '250 ok\r\n',
        '354 go\r\n',
        '250 ok\r\n',
      ]),
    open: async ({ host, port }, isTls) => {
      const mailer = createMailer({
        smtpUrl: `${isTls ? 'smtps' : 'smtp'}://${host}:${port}`,
        dkim: null,
        timeoutMs: 500,
        isTlsRequired: false,
      });
      const mail = {
        ...{ to: 'a@example.com', from: { name: 'b', address: 'b@example.com' }, replyTo: null, messageId: '<1@b>' },
        ...{ subject: 'one', text: 'one', html: '<p>one</p>', attachments: [] },
      };
      const ask = async (): Promise<void> => {
        const outcome = await mailer.send(mail as never);
        if (outcome.kind !== 'taken') throw new Refusal('UPSTREAM_UNAVAILABLE', outcome.kind);
      };
      return { ask, close: async () => {} };
    },
    endless: { first: Buffer.from('250-'), repeated: zeros },
  },
  'HTTP upstream': {
    isThere: true,
    start: () => startSpeaker(null, [httpOf('{"data":1}')]),
    open: async ({ host, port }, isTls) => {
      const baseUrl = `${isTls ? 'https' : 'http'}://${host}:${port}`;
      const transport = createHttpTransport({ baseUrl, timeoutMs: 2_000 });
      const ask = () => transport({ method: 'GET', path: '/', query: {}, body: undefined, bearer: '' });
      return { ask, close: async () => {} };
    },
    endless: { first: endlessBody, repeated: zeros },
  },
};

const codeOf = (error: unknown): unknown => (error instanceof Error && 'code' in error ? error.code : undefined);

/** Whether the work failed as it does when the server is away. */
const isOrdinary = (error: unknown, name: string): boolean => {
  if (name === 'Redis') return error instanceof Error;
  if (findUnavailable(error) !== undefined) return true;
  // The damaged answer was a whole one by chance: a demand for another way to log in.
  if (error instanceof Refusal && codeOf(error.cause) === 'AUTH_SWITCH_PLUGIN_ERROR') return true;
  if (error instanceof DOMException) return error.name === 'TimeoutError';
  return error instanceof Refusal && (error.code === 'UPSTREAM_UNAVAILABLE' || error.reason === 'datasource-timeout');
};

const seeds = Array.from({ length: 6 }, (_, index) => index + 1);
const greatestBytes = 200_000_000;

const certificate = isOpensslThere() ? createCertificate() : null;
/** A record of TLS that says to be longer than any may be. */
const endlessRecord: Endless = { first: Buffer.from([0x17, 3, 3, 0xff, 0xff]), repeated: zeros };
const there = Object.entries(protocols).filter(([, { isThere }]) => isThere);
const ways = there.flatMap(([name, protocol]) => [
  { name, protocol, by: null },
  ...(certificate === null ? [] : [{ name, protocol, by: certificate }]),
]);

describe.each(ways)('$name, with TLS where a certificate is given', ({ name, protocol, by }) => {
  let stops: readonly (() => Promise<unknown>)[] = [];
  let relay: Relay;
  beforeAll(async () => {
    const server = await protocol.start();
    const front = by === null ? server : await startTlsFront(server, by, protocol.tls);
    relay = await startRelay(front);
    stops = [relay.close, ...(by === null ? [] : [front.stop]), server.stop];
  });
  afterAll(async () => {
    for (const stop of stops) await stop();
  });

  it.each(damages)(
    `malformed answers of a server fail as its absence does${by === null ? '' : ' over TLS'}: %s`,
    { timeout: 120_000 },
    async (damage) => {
      if (by !== null) trust(by);
      const uncaught: unknown[] = [];
      const note = (error: unknown): void => void uncaught.push(error);
      process.on('uncaughtException', note).on('unhandledRejection', note);
      onTestFinished(() => void process.off('uncaughtException', note).off('unhandledRejection', note));
      const odd: unknown[] = [];
      const opened = await protocol.open(relay, by !== null);
      onTestFinished(async () => void (await opened.close()));
      await opened.ask();
      for (const seed of seeds) {
        relay.alter(damageOf(damage, seed, by === null ? protocol.endless : endlessRecord));
        relay.cut();
        await opened.ask().catch((error: unknown) => {
          if (!isOrdinary(error, name)) odd.push(error);
        });
        expect(relay.repeatedBytes()).toBeLessThan(greatestBytes);
      }
      relay.alter(null);
      relay.cut();
      await vi.waitFor(() => opened.ask(), { timeout: 10_000 });
      expect({ uncaught, odd }).toEqual({ uncaught: [], odd: [] });
    },
  );
});

it.runIf(certificate !== null && protocols.Redis?.isThere === true)(
  'a client of Redis whose handshake is damaged, and is reset then, ends no process',
  { timeout: 60_000 },
  async () => {
    if (certificate === null) throw new Error('no certificate');
    trust(certificate);
    const uncaught: unknown[] = [];
    const note = (error: unknown): void => void uncaught.push(error);
    process.on('uncaughtException', note);
    onTestFinished(() => void process.off('uncaughtException', note));
    const redis = await startOwnRedis();
    onTestFinished(redis.stop);
    const front = await startTlsFront({ host: '127.0.0.1', port: redis.port }, certificate);
    onTestFinished(front.stop);
    const relay = await startRelay(front);
    onTestFinished(relay.close);
    const url = `rediss://127.0.0.1:${relay.port}`;
    const client = createRedisClient({ url, log: quiet as never, commandTimeoutMs: 500 });
    onTestFinished(() => client.disconnect());
    client.on('error', () => undefined);
    await client.connect();
    for (let seed = 1; seed <= 30; seed += 1) {
      const damage = damageOf('flipped bytes', seed, endlessRecord);
      let isDamaged = false;
      relay.alter((bytes, index) => {
        const altered = damage(bytes, index);
        isDamaged ||= altered.bytes !== bytes;
        return altered;
      });
      relay.cut();
      const ask = async (): Promise<void> => {
        await client.get('one').catch(() => undefined);
        expect(isDamaged).toBe(true);
      };
      await vi.waitFor(ask, { interval: 15, timeout: 10_000 });
      relay.alter(null);
      relay.cut();
      await vi.waitFor(() => client.get('one'), { interval: 5, timeout: 10_000 });
    }
    expect(uncaught).toEqual([]);
  },
);

const silentAfter = { 'PostgreSQL as a source': 1, MariaDB: 2 } as const;
it.each(Object.entries(silentAfter).filter(([name]) => protocols[name]?.isThere === true))(
  '%s: a server that says nothing after the login is given up as one that cannot be reached',
  // Reading a catalog may take longer than this.
  { timeout: 30_000 },
  async (name, chunks) => {
    const protocol = protocols[name];
    if (protocol === undefined) throw new Error(`no ${name}`);
    const server = await protocol.start();
    onTestFinished(async () => void (await server.stop()));
    const relay = await startRelay(server);
    onTestFinished(relay.close);
    relay.alter((bytes, index) => ({ bytes: index < chunks ? bytes : Buffer.alloc(0) }));
    const refused = await protocol.open(relay, false).catch((error: unknown) => error);
    expect(isOrdinary(refused, name), String(refused)).toBe(true);
  },
);
