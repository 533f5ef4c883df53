import type { DatabaseError } from 'pg';
import type { Datasource, ServerConnection } from '../../domain/organization.js';
import { Refusal } from '../../domain/refusal.js';
import { untilEnough } from '../batches.js';
import { refuseFault } from '../connection-faults.js';
import { createConnections, type Driver } from '../connections.js';
import { catalogTimeoutMs, connectionsPerDatabase, type Log, type OpenDatabase, runLogged } from '../database.js';
import { type BackendKey, cancelBackend } from './cancel.js';
import { postgresDialect } from './dialect.js';
import { createServer, runStatement, type Server, streamStatement } from './read.js';
import { readCatalog, readSourceTables } from './schema.js';

type PostgresSource = Datasource & ServerConnection;

export const openPostgres: OpenDatabase<PostgresSource> = async (datasource, options) => {
  const { log, timeoutMs, streamMs } = options;
  const connections = createConnections(createDriver(datasource, options), connectionsPerDatabase);
  const ask = (sql: string) =>
    connections.use(async (server) => (await runStatement(server, { sql, parameters: [] })).rows, {
      timeoutMs: catalogTimeoutMs,
    });
  try {
    return {
      catalog: await readCatalog(ask),
      dialect: postgresDialect,
      describe: () => readSourceTables(ask),
      run: (statement, running = {}) => {
        const use = { timeoutMs, signal: running.signal };
        const work = () => connections.use((server) => runStatement(server, statement, running), use);
        return runLogged(() => untilEnough(work), datasource, log);
      },
      stream: (statement, sink, running = {}) => {
        const use = { timeoutMs, totalMs: streamMs, signal: running.signal };
        const work = () => connections.use((server) => streamStatement(server, statement, sink, running), use);
        return runLogged(work, datasource, log);
      },
      close: connections.close,
    };
  } catch (cause) {
    await connections.close();
    return refuseFault(datasource.name, cause instanceof Refusal ? cause.cause : cause, faults);
  }
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
  begin: async ({ client }, timeoutMs) => {
    await client.query('BEGIN READ ONLY');
    await client.query(settings, [String(timeoutMs)]);
  },
  restore: async ({ client }) => {
    await client.query('ROLLBACK');
  },
  end: ({ client }) => client.end(),
  destroy: ({ client }) => {
    // Its socket is closed at once where a query runs; what that query is told is lend's to hear.
    client.end().catch(() => undefined);
  },
  cancel: async ({ client }) => {
    try {
      await cancelBackend(source, client as unknown as BackendKey, connectTimeoutMs);
    } catch (err) {
      log.warn({ err, datasource: source.name }, 'a query could not be cancelled; the server ends it when it is late');
    }
  },
  isAnswer: (cause) => isServerError(cause) && cause.severity === 'ERROR',
  isTimeout: (cause) => isServerError(cause) && cause.code === '57014',
});

/** For the transaction alone, so that neither a role's settings nor another question's reach this one. */
const settings = `SELECT set_config('statement_timeout', $1, true), set_config('timezone', 'UTC', true),
  set_config('datestyle', 'ISO, YMD', true), set_config('extra_float_digits', '1', true),
  set_config('standard_conforming_strings', 'on', true), set_config('bytea_output', 'hex', true)`;

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
