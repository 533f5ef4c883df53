import { access } from 'node:fs/promises';
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import type { Datasource, FileConnection } from '../../../model/organization.js';
import { closeAll } from '../../../platform/work/close-all.js';
import {
  catalogTimeoutMs,
  type OpenDatabase,
  type OpenedDatabase,
  refuseConnection,
  refuseLate,
  runLogged,
  type Sink,
} from '../../connections/database.js';
import { listNeighbours } from '../../connections/neighbours.js';
import { createPool, type Pool } from '../../connections/pool.js';
import type { Ask } from '../../dialect/source-tables.js';
import { duckDbDialect } from './dialect.js';
import { faultOf } from './faults.js';
import { runStatement, streamStatement, type Watch, watch } from './read.js';
import { readCatalog, readClientSchemas, readSourceTables } from './schema.js';
import { dropStatements } from './statements.js';

type DuckDbSource = Datasource & FileConnection;

/** Confines statements to the file: no other file, no extension, no change of settings. */
const lockedDown: Readonly<Record<string, string>> = {
  access_mode: 'READ_ONLY',
  enable_external_access: 'false',
  autoinstall_known_extensions: 'false',
  autoload_known_extensions: 'false',
  allow_community_extensions: 'false',
  lock_configuration: 'true',
};

/** Per datasource, so one datasource leaves threads for others. */
export const connectionsPerFile = 3;

/** Statements run on the process's thread pool, which file access and DNS share, so a few connections are enough. */
export const openDuckDb: OpenDatabase<DuckDbSource> = async (datasource, options) => {
  let instance: DuckDBInstance | undefined;
  try {
    await access(datasource.path);
    instance = await DuckDBInstance.create(datasource.path, { ...lockedDown });
    return await connect(instance, datasource, options);
  } catch (cause) {
    instance?.closeSync();
    return refuseConnection(
      `Datasource ${datasource.name}: no DuckDB database could be opened at its path; check that the file exists and is complete.`,
      'datasource-unavailable',
      cause,
    );
  }
};

/** Lends a connection together with its time limit and signal. */
const lender =
  (pool: Pool<DuckDBConnection>, timeoutMs: number) =>
  <R>(
    work: (connection: DuckDBConnection, watched: Watch) => Promise<R>,
    signal: AbortSignal | undefined,
    ms = timeoutMs,
  ): Promise<R> =>
    pool.use((connection) => work(connection, watch(connection, ms, signal)), signal);

const connect = async (
  instance: DuckDBInstance,
  datasource: DuckDbSource,
  { log, timeoutMs, streamMs }: Parameters<typeof openDuckDb>[1],
): Promise<OpenedDatabase> => {
  const connections: DuckDBConnection[] = [];
  for (let count = 0; count < connectionsPerFile; count += 1) connections.push(await instance.connect());
  const pool = createPool(connections);
  const lend = lender(pool, timeoutMs);
  const ask: Ask = (sql, parameters = []) =>
    lend(
      async (connection, watched) => (await runStatement(connection, { sql, parameters }, watched)).rows,
      undefined,
      catalogTimeoutMs,
    );
  return {
    dialect: duckDbDialect,
    readCatalog: (schemas) => readCatalog(ask, schemas),
    listClientDatabases: async () => ({
      DATABASE: await listNeighbours(datasource.path),
      MULTI_DATABASE: await readClientSchemas(ask),
    }),
    describe: () => readSourceTables(ask),
    // A file is opened read-only, and has no users.
    readRights: async () => ({ version: String((await ask('SELECT version()'))[0]?.[0] ?? ''), excess: [] }),
    run: (statement, tenant, running = {}) => {
      const work = () => lend((own, watched) => runStatement(own, statement, watched, running), running.signal);
      return runLogged(work, log, { datasource, tenant, running, faultOf });
    },
    stream: (statement, tenant, sink, running = {}) => {
      const end = performance.now() + streamMs;
      const inTime: Sink = async (batch) => {
        if (performance.now() > end) refuseLate(streamMs, undefined);
        await sink(batch);
      };
      const work = () =>
        lend((own, watched) => streamStatement(own, statement, inTime, watched, running), running.signal);
      return runLogged(work, log, { datasource, tenant, running, faultOf });
    },
    count: () => ({ open: connections.length, ...pool.count() }),
    close: async () => {
      await pool.drain();
      const closings = connections.map((connection) => () => {
        dropStatements(connection);
        connection.closeSync();
      });
      await closeAll([...closings, () => instance.closeSync()]);
    },
  };
};
