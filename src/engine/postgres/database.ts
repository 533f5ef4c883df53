import type { Client, DatabaseError, QueryArrayResult } from 'pg';
import type { Datasource, ServerConnection } from '../../domain/organization.js';
import { clientOf } from '../../domain/tenant.js';
import { refuseFault } from '../connection-faults.js';
import { createConnections, type Driver } from '../connections.js';
import { forCatalog, type OpenDatabase, type ResultTable, runLogged, type Statement, textOf } from '../database.js';
import { refuseQuery } from '../refuse.js';
import type { Ask } from '../schema.js';
import { postgresDialect } from './dialect.js';
import { readCatalog, readClientDatabases, readSourceTables } from './schema.js';
import { cellOf, dataTypeOf } from './values.js';

type PostgresSource = Datasource & ServerConnection;

export const openPostgres: OpenDatabase<PostgresSource> = async (datasource, options) => {
  const { log, timeoutMs, connectTimeoutMs } = options;
  const connections = createConnections(createDriver(datasource, connectTimeoutMs), options.connections, options.seats);
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
    run: (statement, tenant) => {
      const settings = { timeoutMs, client: clientOf(tenant) };
      return runLogged(() => connections.use((client) => runStatement(client, statement), settings), datasource, log);
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

const createDriver = (source: PostgresSource, connectTimeoutMs: number): Driver<Client> => ({
  connect: (lost) => connect(source, lost, connectTimeoutMs),
  begin: async (client, { timeoutMs, client: clientId }) => {
    await client.query('BEGIN READ ONLY');
    await client.query(settings, [String(timeoutMs), storable(clientId)]);
  },
  restore: async (client) => {
    await client.query('ROLLBACK');
  },
  end: (client) => client.end(),
  destroy: (client) => {
    // Its socket is closed at once where a query runs; what that query is told is lend's to hear.
    client.end().catch(() => undefined);
  },
  isAnswer: (cause) => isServerError(cause) && cause.severity === 'ERROR',
  isTimeout: (cause) => isServerError(cause) && cause.code === '57014',
});

/**
 * For the transaction alone, so that neither a role's settings nor another question's reach this one, also where a pooler gives each
 * transaction another connection. The client is told to row-level security policies of the database's own: the second wall.
 */
const settings = `SELECT set_config('statement_timeout', $1, true), set_config('guestlist.client_id', $2, true),
  set_config('timezone', 'UTC', true),
  set_config('datestyle', 'ISO, YMD', true), set_config('extra_float_digits', '1', true),
  set_config('standard_conforming_strings', 'on', true), set_config('bytea_output', 'hex', true)`;

const isServerError = (cause: unknown): cause is DatabaseError => cause instanceof Error && 'severity' in cause;

const connect = async (source: PostgresSource, lost: () => void, connectTimeoutMs: number): Promise<Client> => {
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
  return client;
};

/** The driver gives no code to two failures of its own: one took too long, the other is a server without encryption. */
const withCode = (cause: unknown, isLate: boolean): unknown => {
  if (!(cause instanceof Error) || 'code' in cause) return cause;
  return Object.assign(cause, { code: isLate ? 'ETIMEDOUT' : 'ERR_TLS_REFUSED' });
};

/** One statement, by the extended protocol: a second one in its text is an error. */
const runStatement = async (client: Client, { sql, parameters }: Statement): Promise<ResultTable> => {
  const query = { text: sql, values: parameters.map(bindableOf), rowMode: 'array' as const, queryMode: 'extended' };
  const { rows, fields }: QueryArrayResult<(string | null)[]> = await client.query(query);
  const types = fields.map(({ dataTypeID }) => dataTypeID);
  return {
    names: fields.map(({ name }) => name),
    dataTypes: types.map(dataTypeOf),
    rows: rows.map((row) => row.map((text, index) => cellOf(text, types[index] ?? 0))),
  };
};

const bindableOf = (parameter: unknown): string | string[] =>
  Array.isArray(parameter) ? parameter.map(storable) : storable(parameter);

const storable = (parameter: unknown): string => {
  const text = textOf(parameter);
  return text.includes('\0')
    ? refuseQuery('A value holds the character NUL, which PostgreSQL cannot hold; leave it out.', 'value-with-nul')
    : text;
};
