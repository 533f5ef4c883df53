import { pathToFileURL } from 'node:url';
import { clientOf } from '../../../model/datamart/tenant.js';
import type { Datasource, FileConnection } from '../../../model/organization.js';
import { untilReadLimit } from '../../connections/batches.js';
import { refuseFault } from '../../connections/connection-faults.js';
import { createConnections, type Driver } from '../../connections/connections.js';
import { forCatalog, forOpening, type OpenDatabase, refuseConnection, runLogged } from '../../connections/database.js';
import { listNeighbours } from '../../connections/neighbours.js';
import type { Ask } from '../../dialect/source-tables.js';
import { sqliteDialect } from './dialect.js';
import { faultOf, processEnded, SqliteError } from './faults.js';
import { openReader, type Reader, runStatement, streamStatement } from './read.js';
import { readCatalog, readSourceTables } from './schema.js';

/** Each is a process, so few serve one file. */
export const readersPerFile = 2;

/** How long a statement waits for a lock that another program holds. */
const busyMs = 2000;

/** Read only: SQLite refuses every write, and makes no file. */
const urlOf = (path: string): string => `${pathToFileURL(path).href}?mode=ro`;

const isMissing = (cause: unknown): boolean => cause instanceof SqliteError && /Cannot find module/.test(cause.message);

const createDriver = ({ path }: FileConnection): Driver<Reader> => {
  const timers = new WeakMap<Reader, NodeJS.Timeout>();
  const end = async (reader: Reader): Promise<void> => {
    clearTimeout(timers.get(reader));
    await reader.end(processEnded);
  };
  return {
    connect: (lost) => openReader(urlOf(path), busyMs, lost),
    // A statement of SQLite ends with its process, and in no other way.
    begin: async (reader, { timeoutMs }) => {
      timers.set(reader, setTimeout(() => void reader.end('SQLITE_LATE'), timeoutMs).unref());
    },
    restore: async (reader) => clearTimeout(timers.get(reader)),
    end,
    destroy: (reader) => void end(reader),
    cancel: end,
    isAnswer: (cause) => cause instanceof SqliteError && !['lost', 'late'].includes(faultOf(cause) ?? ''),
    faultOf,
  };
};

export const openSqlite: OpenDatabase<Datasource & FileConnection> = async (datasource, options) => {
  const { log, timeoutMs, streamMs } = options;
  const count = Math.min(readersPerFile, options.connections);
  const connections = createConnections(createDriver(datasource), count, options.permits);
  const ask: Ask = (sql, parameters = []) =>
    connections.use(async (reader) => (await runStatement(reader, { sql, parameters })).rows, forCatalog);
  try {
    await connections.use(async () => undefined, forOpening(options));
  } catch (cause) {
    await connections.close();
    const mend = isMissing(cause)
      ? 'the package "libsql", which reads SQLite, is not installed; install it beside Guestlist.'
      : 'no SQLite database could be opened at its path; check that the file exists and is complete, and that a database in WAL mode is in a folder that may be written to.';
    return refuseConnection(`Datasource ${datasource.name}: ${mend}`, 'datasource-unavailable', cause);
  }
  const told = <R>(work: Promise<R>): Promise<R> =>
    work.catch((cause: unknown) => refuseFault(datasource.name, cause, faultOf));
  return {
    dialect: sqliteDialect,
    readCatalog: () => told(readCatalog(ask)),
    describe: () => readSourceTables(ask),
    listClientDatabases: async () => ({ DATABASE: await listNeighbours(datasource.path), MULTI_DATABASE: [] }),
    // A file is opened read-only, and has no users.
    readRights: async () => ({ version: String((await ask('SELECT sqlite_version()'))[0]?.[0] ?? ''), excess: [] }),
    run: (statement, tenant, running = {}) => {
      const { signal, requestId } = running;
      const settings = { timeoutMs, client: clientOf(tenant), signal, requestId, isRepeatable: true };
      const work = () => connections.use((reader) => runStatement(reader, statement, running), settings);
      return runLogged(() => untilReadLimit(work), log, { datasource, tenant, running, faultOf });
    },
    stream: (statement, tenant, sink, running = {}) => {
      const { signal, requestId } = running;
      const settings = { timeoutMs: streamMs, client: clientOf(tenant), signal, requestId };
      const work = () => connections.use((reader) => streamStatement(reader, statement, sink, running), settings);
      return runLogged(work, log, { datasource, tenant, running, faultOf });
    },
    close: connections.close,
  };
};
