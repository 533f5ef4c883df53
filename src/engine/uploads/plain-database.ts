/**
 * Finds what an uploaded DuckDB file holds besides plain tables. Views, macros and generated columns contain SQL that the
 * maker of the file wrote. Such SQL could read the settings of this process, or replace a function that our queries call.
 *
 * The file is attached to an empty database, and inspected from there: in the file itself, a macro could replace the
 * functions that list its contents. The mark `internal` is ignored, because the file sets it itself.
 */
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { refuseConnection } from '../connections/database.js';

export const withInstance = async (
  path: string,
  settings: Readonly<Record<string, string>>,
  work: (connection: DuckDBConnection) => Promise<void>,
): Promise<void> => {
  const instance = await DuckDBInstance.create(path, { ...settings });
  try {
    const connection = await instance.connect();
    try {
      await work(connection);
    } finally {
      connection.closeSync();
    }
  } finally {
    instance.closeSync();
  }
};

export const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;

const looking: Readonly<Record<string, string>> = {
  threads: '1',
  memory_limit: '256MB',
  autoinstall_known_extensions: 'false',
  autoload_known_extensions: 'false',
  allow_community_extensions: 'false',
};

const others = `SELECT 'view', schema_name, view_name FROM duckdb_views() WHERE database_name = 'uploaded'
UNION ALL SELECT 'macro', schema_name, function_name FROM duckdb_functions() WHERE database_name = 'uploaded'
ORDER BY ALL LIMIT 1`;
const tablesQuery = `SELECT schema_name, table_name, sql FROM duckdb_tables() WHERE database_name = 'uploaded'`;

/** DuckDB writes the definition, so what is not in quotes is its own words. */
const isGenerating = (sql: string): boolean =>
  /\bGENERATED ALWAYS AS\b/i.test(sql.replaceAll(/"(?:[^"]|"")*"|'(?:[^']|'')*'/g, ' '));

const longestName = 100;
const named = (schema: unknown, name: unknown): string =>
  `${JSON.stringify(String(schema).slice(0, longestName))}.${JSON.stringify(String(name).slice(0, longestName))}`;

export type DatabaseFile = {
  readonly tables: number;
  /** The first thing that is no plain table, such as `the view "main"."v"`. Null: there is none. */
  readonly other: string | null;
};

/** Reads definitions only, never a row. Rejects where DuckDB cannot open the file. */
export const readDatabaseFile = async (path: string): Promise<DatabaseFile> => {
  let tables = 0;
  let other: string | null = null;
  await withInstance(':memory:', looking, async (connection) => {
    await connection.run(`ATTACH ${literal(path)} AS uploaded (READ_ONLY)`);
    await connection.run('SET enable_external_access = false');
    await connection.run('SET lock_configuration = true');
    const [found] = (await connection.runAndReadAll(others)).getRows();
    const defined = (await connection.runAndReadAll(tablesQuery)).getRows();
    const generating = defined.find(([, , sql]) => isGenerating(String(sql)));
    tables = defined.length;
    if (found !== undefined) other = `the ${String(found[0])} ${named(found[1], found[2])}`;
    else if (generating !== undefined) other = `a generated column in the table ${named(generating[0], generating[1])}`;
  });
  return { tables, other };
};

/** Throws DATASOURCE_CONNECTION_ERROR if the file at the path holds anything besides plain tables. */
export const assertPlainUpload = async (source: string, path: string): Promise<void> => {
  const { other } = await readDatabaseFile(path).catch((cause: unknown) =>
    refuseConnection(`Datasource ${source}: the uploaded file cannot be opened.`, 'datasource-unavailable', cause),
  );
  if (other === null) return;
  refuseConnection(
    `Datasource ${source}: the uploaded file has ${other}, and holds more than plain tables. Upload a file without it.`,
    'upload-not-plain',
    undefined,
  );
};
