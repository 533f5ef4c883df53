import { access, readdir } from 'node:fs/promises';
import { basename, dirname, extname } from 'node:path';
import { type DuckDBConnection, DuckDBInstance, LIST, listValue, VARCHAR } from '@duckdb/node-api';
import type { Datasource, DuckDbConnection } from '../../domain/organization.js';
import {
  catalogTimeoutMs,
  type OpenDatabase,
  type OpenedDatabase,
  type ResultTable,
  refuseConnection,
  refuseLate,
  runLogged,
  type Statement,
  textOf,
} from '../database.js';
import { createLimiter } from '../limiter.js';
import type { Ask } from '../schema.js';
import { duckDbDialect } from './dialect.js';
import { readCatalog, readClientSchemas, readSourceTables } from './schema.js';
import { cellOf, dataTypeOf } from './values.js';

type DuckDbSource = Datasource & DuckDbConnection;

/** No statement can leave the file: no other file, no extension, no setting. */
const lockedDown: Readonly<Record<string, string>> = {
  access_mode: 'READ_ONLY',
  enable_external_access: 'false',
  autoinstall_known_extensions: 'false',
  autoload_known_extensions: 'false',
  allow_community_extensions: 'false',
  lock_configuration: 'true',
};

/** Files beside the datasource's own that end as it does, by their names without that end. */
const listNeighbours = async (path: string): Promise<readonly string[]> => {
  const end = extname(path);
  if (end === '') return [];
  const files = (await readdir(dirname(path))).filter((file) => extname(file) === end && file !== basename(path));
  return files.map((file) => basename(file, end)).sort();
};

/** So that one datasource's questions leave room for another's. */
export const connectionsPerFile = 3;

/** Statements run on threads that the whole process shares with file access and DNS, so a few connections are enough. */
export const openDuckDb: OpenDatabase<DuckDbSource> = async (datasource, options) => {
  let instance: DuckDBInstance | undefined;
  try {
    await access(datasource.path);
    instance = await DuckDBInstance.create(datasource.path, { ...lockedDown });
    return await connect(instance, datasource, options);
  } catch (cause) {
    instance?.closeSync();
    return refuseConnection(
      `Datasource ${datasource.name}: no DuckDB database could be opened at its path; check that the file is there and whole.`,
      'datasource-unavailable',
      cause,
    );
  }
};

const connect = async (
  instance: DuckDBInstance,
  datasource: DuckDbSource,
  { log, timeoutMs }: Parameters<typeof openDuckDb>[1],
): Promise<OpenedDatabase> => {
  const connections: DuckDBConnection[] = [];
  for (let count = 0; count < connectionsPerFile; count += 1) connections.push(await instance.connect());
  const pool = createLimiter(connections);
  const ask: Ask = (sql, parameters = []) =>
    pool.use(async (connection) => (await runTimed(connection, { sql, parameters }, catalogTimeoutMs)).rows);
  return {
    dialect: duckDbDialect,
    readCatalog: (schemas) => readCatalog(ask, schemas),
    listClientDatabases: async () => ({
      DATABASE: await listNeighbours(datasource.path),
      MULTI_DATABASE: await readClientSchemas(ask),
    }),
    describe: () => readSourceTables(ask),
    run: (statement) =>
      runLogged(() => pool.use((connection) => runTimed(connection, statement, timeoutMs)), datasource, log),
    close: async () => {
      await pool.drain();
      for (const connection of connections) connection.closeSync();
      instance.closeSync();
    },
  };
};

const interruptAgainMs = 100;

/** Stops a statement that runs too long, so that it does not keep its connection from everybody else. */
const runTimed = async (
  connection: DuckDBConnection,
  statement: Statement,
  timeoutMs: number,
): Promise<ResultTable> => {
  let isLate = false;
  const stop = (): void => {
    isLate = true;
    connection.interrupt();
    // A statement that has not begun yet, on a busy machine, does not hear the first one.
    timer = setTimeout(stop, interruptAgainMs);
  };
  let timer = setTimeout(stop, timeoutMs);
  try {
    return await runStatement(connection, statement);
  } catch (cause) {
    if (!isLate) throw cause;
    return refuseLate(timeoutMs, cause);
  } finally {
    clearTimeout(timer);
  }
};

const runStatement = async (connection: DuckDBConnection, { sql, parameters }: Statement): Promise<ResultTable> => {
  const statement = await connection.prepare(sql);
  try {
    statement.bind(parameters.map(bindableOf), parameters.map(typeOf));
    const reader = await statement.runAndReadAll();
    const rows = reader.getRows().map((row) => row.map(cellOf));
    return { names: reader.columnNames(), dataTypes: reader.columnTypes().map(dataTypeOf), rows };
  } finally {
    statement.destroySync();
  }
};

const bindableOf = (parameter: unknown): string | ReturnType<typeof listValue> =>
  Array.isArray(parameter) ? listValue(parameter.map(textOf)) : textOf(parameter);

const typeOf = (parameter: unknown): typeof VARCHAR | ReturnType<typeof LIST> =>
  Array.isArray(parameter) ? LIST(VARCHAR) : VARCHAR;
