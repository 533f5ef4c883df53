import { clientOf } from '../../../model/datamart/tenant.js';
import { readHost } from '../../../model/host.js';
import type { Datasource, ServerConnection } from '../../../model/organization.js';
import { untilReadLimit } from '../../connections/batches.js';
import { refuseFault } from '../../connections/connection-faults.js';
import { createConnections, type Driver } from '../../connections/connections.js';
import { catalogTimeoutMs, forCatalog, type OpenDatabase, runLogged } from '../../connections/database.js';
import { codeOf } from '../../connections/driver-faults.js';
import type { Ask } from '../../dialect/source-tables.js';
import { createGuardedAgent, createProgress } from './agent.js';
import { clickHouseDialect } from './dialect.js';
import { faultOf } from './faults.js';
import { readTable, runStatement, type Server, streamStatement } from './read.js';
import { readRights } from './rights.js';
import { readCatalog, readClientDatabases, readSourceTables } from './schema.js';

type ClickHouseSource = Datasource & ServerConnection;

/** Opens ClickHouse over HTTP. Each statement is independent: no session exists that could keep state. */
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
    work.catch((cause: unknown) => refuseFault(datasource.name, cause, faultOf));
  return {
    dialect: clickHouseDialect,
    readCatalog: (schemas) => told(readCatalog(ask, schemas)),
    describe: (databases) => told(readSourceTables(ask, databases)),
    listClientDatabases: () => told(readClientDatabases(ask)),
    readRights: () => told(readRights(ask)),
    run: (statement, tenant, running = {}) => {
      const settings = { timeoutMs, client: clientOf(tenant), signal: running.signal, isRepeatable: true };
      const run = (server: Server) => runStatement(server, statement, timeoutMs, running);
      return runLogged(() => untilReadLimit(() => connections.use(run, settings)), log, {
        datasource,
        tenant,
        running,
        faultOf,
      });
    },
    stream: (statement, tenant, sink, running = {}) => {
      const settings = { timeoutMs: streamMs, client: clientOf(tenant), signal: running.signal };
      const stream = (server: Server) => streamStatement(server, statement, { sink, timeoutMs: streamMs }, running);
      return runLogged(() => connections.use(stream, settings), log, { datasource, tenant, running, faultOf });
    },
    close: connections.close,
  };
};

const createDriver = (source: ClickHouseSource, connectTimeoutMs: number): Driver<Server> => ({
  connect: () => connect(source, connectTimeoutMs),
  // Each statement carries all of its settings and leaves no state.
  begin: async () => undefined,
  restore: async () => undefined,
  end: ({ client }) => client.close(),
  destroy: ({ client, hangUp }) => {
    hangUp.abort();
    // The running statement reports the abort by its own error.
    client.close().catch(() => undefined);
  },
  // The server cancels queries of closed connections (`cancel_http_readonly_queries_on_client_close`).
  cancel: async () => undefined,
  isAnswer: (cause) => /^[0-9]+$/.test(codeOf(cause)),
  faultOf,
});

const connect = async (source: ClickHouseSource, connectTimeoutMs: number): Promise<Server> => {
  // A path in the host would become part of the URL and bypass the datasource allow-list.
  const host = readHost(source.host);
  if (host === undefined) throw Object.assign(new Error('the host is none'), { code: 'ENOTFOUND' });
  // Imported at first use, because the import would slow every start.
  const { createClient, ClickHouseLogLevel } = await import('@clickhouse/client');
  const progress = createProgress();
  const client = createClient({
    http_agent: createGuardedAgent(source.isSsl, progress),
    url: `${source.isSsl ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${source.port}`,
    username: source.username,
    password: source.password,
    database: source.database,
    application: 'guestlist',
    max_open_connections: 1,
    // Our own time limit is shorter.
    request_timeout: 2 * catalogTimeoutMs,
    // Parameters go in the body: URLs have a length limit and are logged by proxies.
    use_multipart_params: true,
    // The client would log to the console. Errors go to our log.
    log: { level: ClickHouseLogLevel.OFF },
  });
  try {
    const server = { client, progress, hangUp: new AbortController() };
    return { ...server, readonly: await findReadonly(server, connectTimeoutMs) };
  } catch (cause) {
    await client.close();
    throw cause;
  }
};

/**
 * Whether the user's profile is read-only. Asked without settings, because a user who may set none would get an error
 * about settings.
 */
const findReadonly = async (
  server: Pick<Server, 'client' | 'progress'>,
  connectTimeoutMs: number,
): Promise<Server['readonly']> => {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), connectTimeoutMs);
  try {
    const { rows } = await readTable(server, { query: "SELECT toString(getSetting('readonly'))" }, late.signal);
    const found = rows[0]?.[0];
    // The error that the server would give at the first query.
    if (found === '1') throw Object.assign(new Error('the user may set nothing'), { code: '164' });
    return found === '0' ? '1' : null;
  } catch (cause) {
    if (!late.signal.aborted) throw cause;
    throw Object.assign(new Error('no answer in time', { cause }), { code: 'ETIMEDOUT' });
  } finally {
    clearTimeout(timer);
  }
};
