import { datatypeOf } from '../../../model/datamart/datatypes.js';
import type { SourceTable } from '../../../model/datamart/source-schema.js';
import { refuseConnection } from '../../connections/database.js';
import { type Catalog, createCatalog } from '../../dialect/catalog.js';
import { type Ask, buildSourceTables, namesIn, type SourceKey } from '../../dialect/source-tables.js';
import { otherType, type SqlType } from '../../dialect/sql-type.js';
import { unknownCollation } from './joins.js';

const columnsQuery = (
  extra = '',
): string => `SELECT schema_name, table_name, column_name, data_type, is_nullable, current_database()
FROM duckdb_columns() WHERE NOT internal AND database_name = current_database() ${extra}
ORDER BY schema_name, table_name, column_index`;

/** Lists are returned as JSON text, because cells hold no arrays. */
const keysQuery = (
  extra = '',
): string => `SELECT schema_name, table_name, constraint_type, to_json(constraint_column_names)::VARCHAR,
  referenced_table, to_json(referenced_column_names)::VARCHAR
FROM duckdb_constraints() WHERE database_name = current_database()
  AND constraint_type IN ('PRIMARY KEY', 'UNIQUE', 'FOREIGN KEY') ${extra}
ORDER BY schema_name, table_name, constraint_index`;

const describeQuery = `SELECT schema_name, table_name, CAST(estimated_size AS DOUBLE), 'table' FROM duckdb_tables()
WHERE NOT internal AND database_name = current_database()
UNION ALL SELECT schema_name, view_name, NULL, 'view' FROM duckdb_views()
WHERE NOT internal AND database_name = current_database()`;

/** DuckDB looks up macros of the file before built-in functions, also for operators and count(*). */
const hidingMacros = `SELECT DISTINCT function_name FROM duckdb_functions()
WHERE NOT internal AND database_name = current_database() AND schema_name = 'main'
  AND lower(function_name) IN (SELECT lower(function_name) FROM duckdb_functions() WHERE internal) ORDER BY 1`;

/** Whether any definition in the file declares a collation. Without one, no column has a collation. */
const collations = `SELECT count(*) > 0 FROM (SELECT sql FROM duckdb_tables() WHERE NOT internal
  UNION ALL SELECT sql FROM duckdb_views() WHERE NOT internal) AS defined WHERE sql ILIKE '%collate%'`;

const assertNoneHidden = async (ask: Ask): Promise<void> => {
  const [macro] = await ask(hidingMacros);
  if (macro === undefined) return;
  refuseConnection(
    `The DuckDB file has a macro ${String(macro[0])}, which replaces a built-in function of DuckDB and could read any row. Rename it.`,
    'duckdb-macro-hides-function',
    undefined,
  );
};

/** Column types of the open database, for these schemas; null: for all. */
export const readCatalog = async (ask: Ask, schemas: readonly string[] | null): Promise<Catalog> => {
  await assertNoneHidden(ask);
  const within = schemas === null ? '' : 'AND schema_name IN (SELECT unnest(CAST($1 AS VARCHAR[])))';
  const values = schemas === null ? [] : [schemas];
  const rows = await ask(columnsQuery(within), values);
  const isCollated = (await ask(collations))[0]?.[0] === true;
  const columns = rows.map(([schema, table, column, datatype]) => ({
    schemaName: String(schema),
    tableName: String(table),
    columnName: String(column),
    type: collated(parseDuckDbType(String(datatype)), isCollated),
  }));
  return createCatalog(String(rows[0]?.[5] ?? ''), columns, sourceKeys(await ask(keysQuery(within), values)));
};

const collated = (type: SqlType, isCollated: boolean): SqlType =>
  isCollated && type.kind === 'text' ? { ...type, collation: unknownCollation } : type;

/** Tables of the open database with columns and keys. DuckDB's foreign keys stay within one schema. */
export const readSourceTables = async (ask: Ask): Promise<readonly SourceTable[]> => {
  const columns = await ask(columnsQuery());
  return buildSourceTables('DUCKDB', columns, sourceKeys(await ask(keysQuery())), await ask(describeQuery));
};

const sourceKeys = (rows: Awaited<ReturnType<Ask>>): readonly SourceKey[] =>
  rows.map(([schema, table, kind, names, referenced, referencedNames]) => ({
    schemaName: String(schema),
    tableName: String(table),
    kind: String(kind),
    columns: namesIn(names),
    references: { schemaName: String(schema), tableName: String(referenced) },
    referencedColumns: namesIn(referencedNames),
  }));

/** Schemas of the file that may be a client's. */
export const readClientSchemas = async (ask: Ask): Promise<readonly string[]> => {
  const rows = await ask(`SELECT schema_name FROM duckdb_schemas() WHERE database_name = current_database()
    AND schema_name NOT IN ('main', 'information_schema', 'pg_catalog') ORDER BY 1`);
  return rows.map(([name]) => String(name));
};

/**
 * Translates a datatype as DuckDB spells it.
 *
 * @internal Tests only: they plan over a catalog without a database.
 */
export const parseDuckDbType = (datatype: string): SqlType => datatypeOf('DUCKDB', datatype) ?? otherType;
