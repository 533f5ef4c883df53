import type { ClickHouseClient } from '@clickhouse/client';
import { clientOf } from '../../../domain/datamart/tenant.js';
import { readHost } from '../../../domain/host.js';
import type { Datasource, ServerConnection } from '../../../domain/organization.js';
import { untilReadLimit } from '../../connections/batches.js';
import { isNetworkFault, refuseFault } from '../../connections/connection-faults.js';
import { createConnections, type Driver } from '../../connections/connections.js';
import { catalogTimeoutMs, forCatalog, type OpenDatabase, runLogged } from '../../connections/database.js';
import type { Ask } from '../source-tables.js';
import { clickHouseDialect } from './dialect.js';
import { readTable, runStatement, type Server, streamStatement } from './read.js';
import { readCatalog, readClientDatabases, readSourceTables } from './schema.js';

type ClickHouseSource = Datasource & ServerConnection;

/** By HTTP, each statement for itself: there is no session, and so nothing that could stay in one. */
export const openClickHouse: OpenDatabase<ClickHouseSource> = async (datasource, options) => {
  const { log, timeoutMs, streamMs, connectTimeoutMs } = options;
  const connections = createConnections(
    createDriver(datasource, connectTimeoutMs),
    options.connections,
    options.permits,
  );
  const ask: Ask = async (sql, parameters = []) => {
    const run = (server: Server) => runStatement(server, { sql, parameters }, catalogTimeoutMs);
    return (await connections.use(run, forCatalog)).rows;
  };
  const told = <R>(work: Promise<R>): Promise<R> =>
    work.catch((cause: unknown) => refuseFault(datasource.name, cause, faults));
  return {
    dialect: clickHouseDialect,
    readCatalog: (schemas) => told(readCatalog(ask, schemas)),
    describe: (databases) => told(readSourceTables(ask, databases)),
    listClientDatabases: () => told(readClientDatabases(ask)),
    run: (statement, tenant, running = {}) => {
      const settings = { timeoutMs, client: clientOf(tenant), signal: running.signal, isRepeatable: true };
      const run = (server: Server) => runStatement(server, statement, timeoutMs, running);
      return runLogged(() => untilReadLimit(() => connections.use(run, settings)), datasource, log, running.signal);
    },
    stream: (statement, tenant, sink, running = {}) => {
      const settings = { timeoutMs: streamMs, client: clientOf(tenant), signal: running.signal };
      const stream = (server: Server) => streamStatement(server, statement, { sink, timeoutMs: streamMs }, running);
      return runLogged(() => connections.use(stream, settings), datasource, log, running.signal);
    },
    close: connections.close,
  };
};

/** The server's numbers of errors. */
const faults: Parameters<typeof refuseFault>[2] = new Map([
  ['516', 'credentials'],
  ['192', 'credentials'],
  ['193', 'credentials'],
  ['194', 'credentials'],
  ['81', 'database'],
  ['291', 'database'],
  ['497', 'database'],
  ['115', 'settings'],
  ['164', 'settings'],
  ['452', 'settings'],
  // What answers is no HTTP: the port of ClickHouse's own protocol, say.
  ['HPE_INVALID_CONSTANT', 'network'],
]);

/** The server stopped the statement because it ran too long. */
const timeoutCode = '159';

const createDriver = (source: ClickHouseSource, connectTimeoutMs: number): Driver<Server> => ({
  connect: () => connect(source, connectTimeoutMs),
  // Each statement carries all of its settings, and leaves nothing.
  begin: async () => undefined,
  restore: async () => undefined,
  end: ({ client }) => client.close(),
  destroy: ({ client, hangUp }) => {
    hangUp.abort();
    // What ran hears of it by its own error.
    client.close().catch(() => undefined);
  },
  // It is told to stop what nobody waits for any more (`cancel_http_readonly_queries_on_client_close`).
  cancel: async () => undefined,
  isAnswer: (cause) => /^[0-9]+$/.test(codeOf(cause)),
  isTimeout: (cause) => codeOf(cause) === timeoutCode,
  isLost: isNetworkFault,
});

const connect = async (source: ClickHouseSource, connectTimeoutMs: number): Promise<Server> => {
  // A path would be part of the URL, whatever hosts the operator allows.
  const host = readHost(source.host);
  if (host === undefined) throw Object.assign(new Error('the host is none'), { code: 'ENOTFOUND' });
  // Loaded where it is used: its import would slow every start.
  const { createClient, ClickHouseLogLevel } = await import('@clickhouse/client');
  const client = createClient({
    url: `${source.isSsl ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${source.port}`,
    username: source.username,
    password: source.password,
    database: source.database,
    application: 'guestlist',
    max_open_connections: 1,
    // Ours ends sooner.
    request_timeout: 2 * catalogTimeoutMs,
    // Values are sent in the body: a URL has its limit, and is what proxies log.
    use_multipart_params: true,
    // It would tell the console what the log is told.
    log: { level: ClickHouseLogLevel.OFF },
  });
  try {
    return { client, readonly: await findReadonly(client, connectTimeoutMs), hangUp: new AbortController() };
  } catch (cause) {
    await client.close();
    throw cause;
  }
};

/** Asked without any setting: a user who may set none would hear of that, and not of what it means. */
const findReadonly = async (client: ClickHouseClient, connectTimeoutMs: number): Promise<Server['readonly']> => {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), connectTimeoutMs);
  try {
    const { rows } = await readTable(client, { query: "SELECT toString(getSetting('readonly'))" }, late.signal);
    const found = rows[0]?.[0];
    // As the server itself would say it, at the first question.
    if (found === '1') throw Object.assign(new Error('the user may set nothing'), { code: '164' });
    return found === '0' ? '1' : null;
  } catch (cause) {
    if (!late.signal.aborted) throw cause;
    throw Object.assign(new Error('no answer in time', { cause }), { code: 'ETIMEDOUT' });
  } finally {
    clearTimeout(timer);
  }
};

const codeOf = (cause: unknown): string =>
  typeof cause === 'object' && cause !== null && 'code' in cause ? String(cause.code) : '';
