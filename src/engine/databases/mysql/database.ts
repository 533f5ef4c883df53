import type { Duplex } from 'node:stream';
import type { Connection, ConnectionOptions, QueryError } from 'mysql2/promise';
import { clientOf } from '../../../model/datamart/tenant.js';
import type { Datasource, ServerConnection, VariantNames } from '../../../model/organization.js';
import { Refusal } from '../../../model/refusal.js';
import { guardReads } from '../../../platform/addresses/answer-guard.js';
import { untilReadLimit } from '../../connections/batches.js';
import { refuseFault } from '../../connections/connection-faults.js';
import { createConnections, type Driver } from '../../connections/connections.js';
import { forCatalog, forOpening, type OpenDatabase, type OpenOptions, runLogged } from '../../connections/database.js';
import type { Ask } from '../../dialect/source-tables.js';
import { createMysqlDialect } from './dialect.js';
import { faultOf } from './faults.js';
import { createServer, runStatement, type Server, streamStatement } from './read.js';
import { readRights } from './rights.js';
import { readCatalog, readClientDatabases, readSourceTables } from './schema.js';

type MysqlSource = Datasource & ServerConnection & { readonly datasourceType: 'MYSQL' | VariantNames<'MYSQL'> };

/** Opens MySQL, MariaDB and each variant of MySQL. */
export const openMysql: OpenDatabase<MysqlSource> = async (datasource, options) => {
  const { log, timeoutMs, streamMs } = options;
  const connections = createConnections(createDriver(datasource, options), options.connections, options.permits);
  const ask: Ask = (sql, parameters = []) =>
    connections.use(async (server) => (await runStatement(server, { sql, parameters })).rows, forCatalog);
  const told = <R>(work: Promise<R>): Promise<R> =>
    work.catch((cause: unknown) => refuseFault(datasource.name, cause, faultOf));
  let isMariaDb: boolean;
  try {
    isMariaDb = await told(connections.use(async (server) => server.isMariaDb, forOpening(options)));
  } catch (cause) {
    await connections.close();
    throw cause;
  }
  return {
    dialect: createMysqlDialect({ isMariaDb, variant: datasource.datasourceType }),
    readCatalog: (schemas) => told(readCatalog(ask, schemas)),
    describe: (databases) => readSourceTables(ask, databases),
    listClientDatabases: () => readClientDatabases(ask),
    readRights: () => told(readRights(ask)),
    run: (statement, tenant, running = {}) => {
      const { signal, requestId } = running;
      const settings = { timeoutMs, client: clientOf(tenant), signal, requestId, isRepeatable: true };
      const work = () => connections.use((server) => runStatement(server, statement, running), settings);
      return runLogged(() => untilReadLimit(work), log, { datasource, tenant, running, faultOf });
    },
    stream: (statement, tenant, sink, running = {}) => {
      // For the server, a stream is one statement.
      const { signal, requestId } = running;
      const settings = { timeoutMs: streamMs, client: clientOf(tenant), signal, requestId };
      const work = () => connections.use((server) => streamStatement(server, statement, sink, running), settings);
      return runLogged(work, log, { datasource, tenant, running, faultOf });
    },
    close: connections.close,
  };
};

/**
 * Aurora MySQL 2 is MySQL 5.7, which has no collation that compares bytes without padding: two clients whose ids differ
 * by a trailing blank would be one.
 *
 * @internal Tests only: no server of it could be had.
 */
export const assertAurora = (name: string, version: string): void => {
  const [, major = '0', minor = '0', patch = '0'] = /^([0-9]+)\.([0-9]+)\.([0-9]+)/.exec(version) ?? [];
  const number = Number(major) * 1_000_000 + Number(minor) * 1_000 + Number(patch);
  if (number >= 8_000_017 && !version.includes('MariaDB')) return;
  throw new Refusal(
    'DATASOURCE_CONNECTION_ERROR',
    `Datasource ${name}: AURORA_MYSQL needs Aurora MySQL 3, which is MySQL 8.0.17 or later, and the server says version ${JSON.stringify(version.slice(0, 40))}. For MySQL and MariaDB the type is MYSQL.`,
    { reason: 'datasource-settings' },
  );
};

const createDriver = (source: MysqlSource, { log, connectTimeoutMs }: OpenOptions): Driver<Server> => ({
  connect: (lost) => connect(source, lost, connectTimeoutMs),
  begin: async ({ connection, isMariaDb }, { timeoutMs }) => {
    await connection.query(settingsOf(isMariaDb, timeoutMs));
    await connection.query('START TRANSACTION READ ONLY');
  },
  restore: ({ connection }) => connection.reset(),
  end: ({ connection }) => connection.end(),
  destroy: ({ connection }) => connection.destroy(),
  cancel: async ({ connection: { threadId } }, requestId) => {
    try {
      await kill(source, threadId, connectTimeoutMs);
    } catch (err) {
      log.warn(
        { event: 'query.cancel_failed', requestId, err, datasource: source.name },
        'failed to cancel a query; the server ends it at its time limit',
      );
    }
  },
  isAnswer: (cause) => isServerError(cause) && cause.fatal !== true,
  faultOf,
});

/**
 * MySQL has no settings per transaction, so these are the same for every question and are set before each. A
 * backslash in text is literal, CHAR has no trailing blanks, and instants are read in UTC. A DDL statement would end
 * the read-only transaction, so the session is read-only as well. MariaDB's subquery cache is off: it compares by the
 * outer column's collation, and would use the result for `acme` for `ACME`. MariaDB may hash joins: without an index
 * it would compare all pairs of rows (46 s in place of 0.3 s).
 */
const settings = `SET time_zone = '+00:00', sql_mode = 'STRICT_TRANS_TABLES,NO_BACKSLASH_ESCAPES,NO_ENGINE_SUBSTITUTION',
  lc_time_names = 'en_US', group_concat_max_len = 1048576, max_error_count = 64, div_precision_increment = 4, sql_select_limit = DEFAULT,
  character_set_client = utf8mb4, character_set_connection = utf8mb4, character_set_results = utf8mb4`;

/** @internal Tests record what is sent. */
export const settingsOf = (isMariaDb: boolean, timeoutMs: number): string => {
  const own = isMariaDb
    ? `tx_read_only = 1, max_statement_time = ${timeoutMs / 1000}, optimizer_switch = 'subquery_cache=off', join_cache_level = 4`
    : `transaction_read_only = 1, max_execution_time = ${timeoutMs}`;
  return `${settings}, ${own}`;
};

const isServerError = (cause: unknown): cause is QueryError =>
  cause instanceof Error && 'errno' in cause && 'sqlState' in cause;

const loginOf = (source: MysqlSource, connectTimeout: number): ConnectionOptions => ({
  host: source.host,
  port: source.port,
  user: source.username,
  password: source.password,
  ...(source.isSsl ? { ssl: { rejectUnauthorized: true, verifyIdentity: true } } : {}),
  charset: 'utf8mb4',
  connectTimeout,
  multipleStatements: false,
  // LOCAL INFILE is off: with it, a server may request any file of this machine.
  flags: ['-LOCAL_FILES'],
});

/** The parts of the driver's connection that its types leave out. */
type Parsing = {
  /** With TLS, another stream takes the place of the first. */
  readonly stream: Duplex;
  packetParser: { readonly execute: (chunk: Buffer) => void };
  readonly handlePacket: (packet: unknown) => void;
};

/** A malformed answer ends the connection, and fails its statements. */
const guard = (core: Parsing): void => {
  let packets = 0;
  const handle = core.handlePacket.bind(core);
  const { packetParser } = core;
  const read = guardReads({ destroy: (cause) => core.stream.destroy(cause), progressOf: () => packets });
  Object.assign(core, {
    handlePacket: (packet: unknown): void => {
      packets += 1;
      handle(packet);
    },
    packetParser: { execute: (chunk: Buffer): void => read(chunk, () => packetParser.execute(chunk)) },
  });
};

const openConnection = async (options: ConnectionOptions): Promise<Connection> => {
  // Imported at first use, because the import would slow every start.
  const { createConnection } = await import('mysql2');
  const core = createConnection(options);
  guard(core as unknown as Parsing);
  return new Promise((resolve, reject) => {
    core.once('error', reject);
    core.once('connect', () => {
      core.off('error', reject);
      resolve(core.promise());
    });
  });
};

/** Kills the connection and its statement. A user may kill its own connections without privileges. */
const kill = async (source: MysqlSource, threadId: number, connectTimeout: number): Promise<void> => {
  const connection = await openConnection(loginOf(source, connectTimeout));
  // Resolves at the server's answer or when the connection ends.
  connection.on('error', () => connection.destroy());
  try {
    await connection.query({ sql: `KILL ${Number(threadId)}`, timeout: connectTimeout });
  } catch (cause) {
    if (!(isServerError(cause) && cause.errno === unknownThread)) throw cause;
  } finally {
    connection.destroy();
  }
};

/** The connection had ended already. */
const unknownThread = 1094;

const connect = async (source: MysqlSource, lost: () => void, connectTimeout: number): Promise<Server> => {
  const connection = await openConnection({
    ...loginOf(source, connectTimeout),
    database: source.database,
    enableKeepAlive: true,
    // Without code generated at run time.
    disableEval: true,
    maxPreparedStatements: 8,
    rowsAsArray: true,
    dateStrings: true,
    supportBigNumbers: true,
    bigNumberStrings: true,
    jsonStrings: true,
  });
  // An unhandled error event would end the process.
  connection.on('error', lost);
  try {
    // The driver's own limit of connecting ends with the login.
    const [rows] = await connection.query<never[]>({ sql: 'SELECT VERSION()', timeout: connectTimeout });
    const version = String(rows[0]?.[0]);
    if (source.datasourceType === 'AURORA_MYSQL') assertAurora(source.name, version);
    return createServer(connection, version.includes('MariaDB'));
  } catch (cause) {
    connection.destroy();
    throw cause;
  }
};
