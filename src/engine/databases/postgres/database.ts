import { createConnection, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import type { DatabaseError } from 'pg';
import { clientOf } from '../../../domain/datamart/tenant.js';
import type { Datasource, ServerConnection } from '../../../domain/organization.js';
import { untilReadLimit } from '../../connections/batches.js';
import { isNetworkFault, refuseFault } from '../../connections/connection-faults.js';
import { createConnections, type Driver } from '../../connections/connections.js';
import { forCatalog, type Log, type OpenDatabase, type ResultTable, runLogged } from '../../connections/database.js';
import type { Ask } from '../source-tables.js';
import { postgresDialect } from './dialect.js';
import { assertAssumed, createServer, runStatement, type Server, storable, streamStatement } from './read.js';
import { readCatalog, readClientDatabases, readSourceTables } from './schema.js';

type PostgresSource = Datasource & ServerConnection;

export const openPostgres: OpenDatabase<PostgresSource> = async (datasource, options) => {
  const { log, timeoutMs, streamMs } = options;
  const connections = createConnections(createDriver(datasource, options), options.connections, options.permits);
  const ask: Ask = (sql, parameters = []) =>
    connections.use(async (client) => (await runStatement(client, { sql, parameters })).rows, forCatalog);
  const told = <R>(work: Promise<R>): Promise<R> =>
    work.catch((cause: unknown) => refuseFault(datasource.name, cause, faults));
  try {
    await told(connections.use(async () => {}, forCatalog));
  } catch (cause) {
    await connections.close();
    throw cause;
  }
  return {
    dialect: postgresDialect,
    readCatalog: (schemas) => told(readCatalog(ask, schemas)),
    describe: () => readSourceTables(ask),
    listClientDatabases: () => readClientDatabases(ask, datasource),
    run: (statement, tenant, running = {}) => {
      const settings = { timeoutMs, client: clientOf(tenant), signal: running.signal, isRepeatable: true };
      const work = () => connections.use((server) => runStatement(server, statement, running), settings);
      const all = async (): Promise<ResultTable> => {
        const table = await untilReadLimit(work);
        // The transaction that read these rows was cut off with the rest of them.
        if (table.isCut === true) await connections.use((server) => assertAssumed(server, statement), settings);
        return table;
      };
      return runLogged(all, datasource, log, running.signal);
    },
    stream: (statement, tenant, sink, running = {}) => {
      const settings = { timeoutMs, totalMs: streamMs, client: clientOf(tenant), signal: running.signal };
      const work = () => connections.use((server) => streamStatement(server, statement, sink, running), settings);
      return runLogged(work, datasource, log, running.signal);
    },
    close: connections.close,
  };
};

const faults: Parameters<typeof refuseFault>[2] = new Map([
  ['28P01', 'credentials'],
  ['28000', 'credentials'],
  ['3D000', 'database'],
  ['42501', 'database'],
  ['57P03', 'network'],
]);

type DriverOptions = { readonly log: Log; readonly connectTimeoutMs: number };

const createDriver = (source: PostgresSource, { log, connectTimeoutMs }: DriverOptions): Driver<Server> => ({
  connect: (lost) => connect(source, lost, connectTimeoutMs),
  begin: async (server, { timeoutMs, client: clientId }) => {
    const { client } = server;
    const values = [String(timeoutMs), storable(clientId)];
    server.ended = null;
    server.begun = Promise.all([client.query('BEGIN READ ONLY'), client.query(settings, values)]);
    // Its fault is for who waits for it.
    server.begun.catch(() => undefined);
  },
  restore: async (server) => {
    await server.begun;
    await (server.ended ?? server.client.query('ROLLBACK'));
  },
  end: ({ client }) => client.end(),
  destroy: ({ client }) => {
    // What runs is told so by the driver, and is lend's to hear.
    (client.connection as unknown as { readonly stream: Duplex }).stream.destroy();
  },
  cancel: async ({ client }) => {
    try {
      await cancelBackend(source, client as unknown as BackendKey, connectTimeoutMs);
    } catch (err) {
      log.warn(
        { event: 'query.cancel_failed', err, datasource: source.name },
        'failed to cancel a query; the server ends it at its time limit',
      );
    }
  },
  isAnswer: (cause) => isServerError(cause) && cause.severity === 'ERROR',
  isTimeout: (cause) => isServerError(cause) && cause.code === '57014',
  isLost: (cause) => (isServerError(cause) ? shutdowns.has(cause.code ?? '') : isBroken(cause)),
});

/**
 * For the transaction alone, so that neither a role's settings nor another question's reach this one, also where a pooler gives each
 * transaction another connection. The client is told to row-level security policies of the database's own: the second wall. What PostgreSQL itself has
 * comes first on the path of names, whatever the role says: a `sum` or `=` of the database's own would see the rows of all clients. Nothing here can be
 * such a one already.
 */
const settings = `SELECT pg_catalog.set_config('statement_timeout', $1, true), pg_catalog.set_config('guestlist.client_id', $2, true),
  pg_catalog.set_config('timezone', 'UTC', true), pg_catalog.set_config('search_path', pg_catalog.concat_ws(', ', 'pg_catalog', (
    SELECT pg_catalog.string_agg(pg_catalog.quote_ident(name), ', ') FROM pg_catalog.unnest(pg_catalog.current_schemas(false)) AS name)), true),
  pg_catalog.set_config('datestyle', 'ISO, YMD', true), pg_catalog.set_config('extra_float_digits', '1', true),
  pg_catalog.set_config('standard_conforming_strings', 'on', true), pg_catalog.set_config('bytea_output', 'hex', true)`;

/** The server ends the session, or does not take one yet: an operator's word, a crash, a shutdown, a start. */
const shutdowns: ReadonlySet<string> = new Set(['57P01', '57P02', '57P03', '57P05']);

/** The driver has no code for a connection that the server closed: it is the only plain error without one. */
const isBroken = (cause: unknown): boolean =>
  isNetworkFault(cause) || (cause instanceof Error && cause.constructor === Error && !('code' in cause));

const isServerError = (cause: unknown): cause is DatabaseError => cause instanceof Error && 'severity' in cause;

const connect = async (source: PostgresSource, lost: () => void, connectTimeoutMs: number): Promise<Server> => {
  // A path would be a socket of this machine, whatever hosts the operator allows.
  if (source.host.startsWith('/')) throw Object.assign(new Error('the host is a path'), { code: 'ENOTFOUND' });
  // Loaded where it is used: its import would slow every start.
  const { default: pg } = await import('pg');
  const client = new pg.Client({
    host: source.host,
    port: source.port,
    user: source.username,
    // As a function: where it is empty, the driver would send this process's own PGPASSWORD instead.
    password: () => source.password,
    database: source.database,
    ssl: source.isSsl ? { rejectUnauthorized: true } : false,
    application_name: 'guestlist',
    client_encoding: 'UTF8',
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
    pipeline: true,
    types: { getTypeParser: () => (value: string) => value },
  });
  // Unheard, it would end the process.
  client.on('error', lost);
  const start = performance.now();
  try {
    await client.connect();
  } catch (cause) {
    throw withCode(cause, performance.now() - start >= connectTimeoutMs);
  }
  return createServer(client);
};

/** The driver gives no code to two failures of its own: one took too long, the other is a server without encryption. */
const withCode = (cause: unknown, isLate: boolean): unknown => {
  if (!(cause instanceof Error) || 'code' in cause) return cause;
  return Object.assign(cause, { code: isLate ? 'ETIMEDOUT' : 'ERR_TLS_REFUSED' });
};

/** What the server told of a connection when it began: who knows it may cancel what runs there. */
export type BackendKey = { readonly processID: number; readonly secretKey: number };

/** The protocol's numbers in the place of its version. */
const sslRequest = 80_877_103;
const cancelRequest = 80_877_102;

const message = (...numbers: readonly number[]): Buffer => {
  const bytes = Buffer.alloc(4 + 4 * numbers.length);
  [bytes.length, ...numbers].forEach((number, index) => {
    bytes.writeInt32BE(number, 4 * index);
  });
  return bytes;
};

const once = (socket: Socket, event: 'connect' | 'secureConnect' | 'data' | 'close'): Promise<unknown> =>
  new Promise((resolve, reject) => {
    socket.once(event, resolve);
    socket.once('error', reject);
    socket.once('timeout', () => socket.destroy(new Error('the server does not take the request to cancel')));
  });

/**
 * Has the server stop what runs on that connection, by the protocol's own request: unlike `pg_cancel_backend` it needs no login, and finds
 * its way through a pooler. Resolves when the server has taken it.
 */
export const cancelBackend = async (
  { host, port, isSsl }: ServerConnection,
  { processID, secretKey }: BackendKey,
  timeoutMs: number,
): Promise<void> => {
  const plain = createConnection({ host, port }).setTimeout(timeoutMs);
  try {
    await once(plain, 'connect');
    const socket = isSsl ? await encrypted(plain, host) : plain;
    const closed = once(socket, 'close');
    socket.resume().write(message(cancelRequest, processID, secretKey));
    // It says nothing, and hangs up when it is done.
    await closed;
  } finally {
    plain.destroy();
  }
};

const encrypted = async (plain: Socket, host: string): Promise<Socket> => {
  const answer = once(plain, 'data');
  plain.write(message(sslRequest));
  if (String(await answer) !== 'S') throw new Error('the server has no encryption for the request to cancel');
  const socket = connectTls({ socket: plain, host, rejectUnauthorized: true });
  await once(socket, 'secureConnect');
  return socket;
};
