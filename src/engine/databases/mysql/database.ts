import type { Duplex } from 'node:stream';
import type { Connection, ConnectionOptions, QueryError } from 'mysql2/promise';
import { clientOf } from '../../../model/datamart/tenant.js';
import type { Datasource, ServerConnection, VariantNames } from '../../../model/organization.js';
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
import { assertAurora, settingsOf } from './session.js';

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
