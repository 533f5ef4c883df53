import { access } from 'node:fs/promises';
import { type DuckDBConnection, DuckDBInstance, LIST, listValue, VARCHAR } from '@duckdb/node-api';
import type { CompiledQuery } from 'kysely';
import { tableKey } from '../domain/datamart.js';
import type { Datasource, DuckDbConnection } from '../domain/organization.js';
import type { AnswerColumn, Cell } from '../domain/ports.js';
import { Refusal } from '../domain/refusal.js';
import type { SourceTable } from '../domain/source-schema.js';
import type { Catalog } from './catalog.js';
import { readSourceTables } from './duckdb-schema.js';
import { cellOf, dataTypeOf } from './duckdb-values.js';
import { createLimiter } from './limiter.js';

export type Log = {
  readonly warn: (details: object, message: string) => void;
  readonly error: (details: object, message: string) => void;
};

/** Rows as a database answered them, in the order of the statement's columns. */
export type ResultTable = {
  readonly dataTypes: readonly AnswerColumn['dataType'][];
  readonly rows: readonly (readonly Cell[])[];
};

export type Database = {
  readonly catalog: Catalog;
  /** Runs one statement. Throws METRIC_QUERY_ERROR without the driver's text; that goes to the log. */
  readonly run: (query: Pick<CompiledQuery, 'sql' | 'parameters'>) => Promise<ResultTable>;
};

type DuckDbSource = Datasource & DuckDbConnection;

/** The datasource, where it is a file of DuckDB. */
const asFile = (datasource: Datasource): DuckDbSource => {
  if (datasource.datasourceType === 'DUCKDB') return datasource;
  throw new Refusal('METRIC_QUERY_ERROR', `Datasources of type ${datasource.datasourceType} cannot be queried yet.`);
};

/** Databases opened once each, however many ask at the same time; one that failed to open is tried again. */
export type Databases = {
  readonly open: (datasource: Datasource) => Promise<Database>;
  /** Its tables as they are now; a later question sees them too. */
  readonly introspect: (datasource: Datasource) => Promise<readonly SourceTable[]>;
  readonly forget: (datasourceId: string) => Promise<void>;
  /** Waits for what runs. */
  readonly close: () => Promise<void>;
};

/** Statements run on threads that the whole process shares with file access and DNS, so a few connections are enough. */
const connectionsPerDatabase = 3;

/** No statement can leave the file: no other file, no extension, no setting. */
const lockedDown: Readonly<Record<string, string>> = {
  access_mode: 'READ_ONLY',
  enable_external_access: 'false',
  autoinstall_known_extensions: 'false',
  autoload_known_extensions: 'false',
  allow_community_extensions: 'false',
  lock_configuration: 'true',
};

/** How long one statement may run. */
const statementTimeoutMs = 30_000;

type OpenDatabase = Database & {
  readonly describe: () => Promise<readonly SourceTable[]>;
  readonly close: () => Promise<void>;
};

export const createDuckDb = (log: Log, timeoutMs: number = statementTimeoutMs): Databases => {
  const opened = new Map<string, { readonly datasourceId: string; readonly database: Promise<OpenDatabase> }>();
  let isClosed = false;
  const open = async (datasource: Datasource): Promise<OpenDatabase> => {
    if (isClosed)
      throw new Refusal('METRIC_QUERY_ERROR', 'The service is shutting down; ask again.', { reason: 'engine-closed' });
    const key = keyOf(datasource);
    const known = opened.get(key);
    if (known !== undefined) return known.database;
    const database = openDatabase(asFile(datasource), log, timeoutMs);
    opened.set(key, { datasourceId: datasource.id, database });
    database.catch(() => opened.delete(key));
    return database;
  };
  const forget = async (datasourceId: string): Promise<void> => {
    const known = [...opened].filter(([, entry]) => entry.datasourceId === datasourceId);
    for (const [key] of known) opened.delete(key);
    await closeAll(known.map(([, entry]) => entry.database));
  };
  const introspect = async (datasource: Datasource): Promise<readonly SourceTable[]> => {
    await forget(datasource.id);
    const database = await open(datasource);
    return database.describe();
  };
  const close = async (): Promise<void> => {
    isClosed = true;
    const known = [...opened.values()];
    opened.clear();
    await closeAll(known.map(({ database }) => database));
  };
  return { open, introspect, forget, close };
};

/** Settings that changed are another database: no other process need tell this one. */
const keyOf = ({ syncedAt: _, ...datasource }: Datasource): string => JSON.stringify(datasource);

const closeAll = async (databases: readonly Promise<OpenDatabase>[]): Promise<void> => {
  const settled = await Promise.allSettled(databases);
  await Promise.all(settled.map((one) => (one.status === 'fulfilled' ? one.value.close() : undefined)));
};

const openDatabase = async (datasource: DuckDbSource, log: Log, timeoutMs: number): Promise<OpenDatabase> => {
  try {
    await access(datasource.path);
    const instance = await DuckDBInstance.create(datasource.path, { ...lockedDown });
    return await connect(instance, datasource, log, timeoutMs);
  } catch (cause) {
    log.error({ err: cause, datasource: datasource.name }, 'datasource could not be opened');
    throw new Refusal(
      'METRIC_QUERY_ERROR',
      `Datasource ${datasource.name} could not be opened; its operator finds the cause in the log.`,
      {
        reason: 'datasource-unavailable',
        cause,
      },
    );
  }
};

const connect = async (
  instance: DuckDBInstance,
  datasource: Datasource,
  log: Log,
  timeoutMs: number,
): Promise<OpenDatabase> => {
  try {
    const connections: DuckDBConnection[] = [];
    for (let count = 0; count < connectionsPerDatabase; count += 1) connections.push(await instance.connect());
    const pool = createLimiter(connections);
    const catalog = await pool.use(readCatalog);
    return {
      catalog,
      describe: () =>
        pool.use((connection) => readSourceTables(async (text) => (await runStatement(connection, text, [])).rows)),
      run: (query) =>
        pool.use((connection) => runLogged(() => runTimed(connection, query, timeoutMs), datasource, log)),
      close: async () => {
        await pool.drain();
        for (const connection of connections) connection.closeSync();
        instance.closeSync();
      },
    };
  } catch (cause) {
    instance.closeSync();
    throw cause;
  }
};

/** Stops a statement that runs too long, so that it does not keep its connection from everybody else. */
const runTimed = async (
  connection: DuckDBConnection,
  { sql, parameters }: Pick<CompiledQuery, 'sql' | 'parameters'>,
  timeoutMs: number,
): Promise<ResultTable> => {
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    connection.interrupt();
  }, timeoutMs);
  try {
    return await runStatement(connection, sql, parameters);
  } catch (cause) {
    if (!isLate) throw cause;
    throw new Refusal(
      'METRIC_QUERY_ERROR',
      `The query took longer than ${timeoutMs / 1000} seconds and was stopped; narrow it by a filter.`,
      { reason: 'datasource-timeout', cause },
    );
  } finally {
    clearTimeout(timer);
  }
};

const runLogged = async (work: () => Promise<ResultTable>, datasource: Datasource, log: Log): Promise<ResultTable> => {
  try {
    return await work();
  } catch (cause) {
    if (cause instanceof Refusal) {
      log.warn({ datasource: datasource.name, reason: cause.reason }, 'query was stopped at the datasource');
      throw cause;
    }
    log.error({ err: cause, datasource: datasource.name }, 'query failed at the datasource');
    throw new Refusal(
      'METRIC_QUERY_ERROR',
      'The query failed at the datasource; its operator finds the cause in the log.',
      {
        reason: 'datasource-failed',
        cause,
      },
    );
  }
};

const runStatement = async (
  connection: DuckDBConnection,
  text: string,
  parameters: readonly unknown[],
): Promise<ResultTable> => {
  const statement = await connection.prepare(text);
  try {
    statement.bind(parameters.map(bindableOf), parameters.map(typeOf));
    const reader = await statement.runAndReadAll();
    const rows = reader.getRows().map((row) => row.map(cellOf));
    return { dataTypes: reader.columnTypes().map(dataTypeOf), rows };
  } finally {
    statement.destroySync();
  }
};

/** The compiler binds text and lists of texts, nothing else: what it means is said by a cast in the statement. */
const bindableOf = (parameter: unknown): string | ReturnType<typeof listValue> =>
  Array.isArray(parameter) ? listValue(parameter.map(textOf)) : textOf(parameter);

const typeOf = (parameter: unknown): typeof VARCHAR | ReturnType<typeof LIST> =>
  Array.isArray(parameter) ? LIST(VARCHAR) : VARCHAR;

const textOf = (parameter: unknown): string => {
  if (typeof parameter !== 'string') throw new TypeError(`a ${typeof parameter} cannot be bound`);
  return parameter;
};

const catalogQuery = `SELECT current_database(), schema_name, table_name, column_name, data_type
FROM duckdb_columns() WHERE NOT internal AND database_name = current_database() ORDER BY table_name, column_index`;

const readCatalog = async (connection: DuckDBConnection): Promise<Catalog> => {
  const { rows } = await runStatement(connection, catalogQuery, []);
  const tables = new Map<string, Map<string, string>>();
  for (const [, schemaName, tableName, columnName, datatype] of rows) {
    const key = tableKey({ schemaName: String(schemaName), tableName: String(tableName) });
    const columns = tables.get(key) ?? new Map<string, string>();
    tables.set(key, columns.set(String(columnName), String(datatype)));
  }
  return { database: String(rows[0]?.[0] ?? ''), tables };
};
