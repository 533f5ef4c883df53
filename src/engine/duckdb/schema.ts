import type { SourceTable } from '../../domain/source-schema.js';
import { type Catalog, createCatalog } from '../catalog.js';
import { type Ask, buildSourceTables, namesIn, type SourceKey } from '../schema.js';
import { integerRanges, otherType, type SqlType } from '../sql-type.js';

const columnsQuery = (
  extra = '',
): string => `SELECT schema_name, table_name, column_name, data_type, is_nullable, current_database()
FROM duckdb_columns() WHERE NOT internal AND database_name = current_database() ${extra}
ORDER BY schema_name, table_name, column_index`;

/** Lists are answered as JSON text: an array is no cell. */
const keysQuery = (
  extra = '',
): string => `SELECT schema_name, table_name, constraint_type, to_json(constraint_column_names)::VARCHAR,
  referenced_table, to_json(referenced_column_names)::VARCHAR
FROM duckdb_constraints() WHERE database_name = current_database()
  AND constraint_type IN ('PRIMARY KEY', 'UNIQUE', 'FOREIGN KEY') ${extra}
ORDER BY schema_name, table_name, constraint_index`;

/** The types of the open database, by table and column: of these schemas; null: of all. */
export const readCatalog = async (ask: Ask, schemas: readonly string[] | null): Promise<Catalog> => {
  const within = schemas === null ? '' : 'AND schema_name IN (SELECT unnest(CAST($1 AS VARCHAR[])))';
  const values = schemas === null ? [] : [schemas];
  const rows = await ask(columnsQuery(within), values);
  const columns = rows.map(([schema, table, column, datatype]) => ({
    schemaName: String(schema),
    tableName: String(table),
    columnName: String(column),
    type: parseDuckDbType(String(datatype)),
  }));
  return createCatalog(String(rows[0]?.[5] ?? ''), columns, sourceKeys(await ask(keysQuery(within), values)));
};

/** The tables of the open database, with columns and keys. DuckDB keeps foreign keys within one schema. */
export const readSourceTables = async (ask: Ask): Promise<readonly SourceTable[]> => {
  const columns = await ask(columnsQuery());
  return buildSourceTables(columns, sourceKeys(await ask(keysQuery())));
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

const widest = 38;

const plainTypes: ReadonlyMap<string, SqlType> = new Map([
  ...[...integerRanges.keys()].map((name): [string, SqlType] => [name, { kind: 'integer', cast: name, widest }]),
  ['VARCHAR', { kind: 'text', cast: 'VARCHAR' }],
  ['FLOAT', { kind: 'float', cast: 'FLOAT' }],
  ['DOUBLE', { kind: 'float', cast: 'DOUBLE' }],
  ['BOOLEAN', { kind: 'boolean', cast: 'BOOLEAN' }],
  ['DATE', { kind: 'date', cast: 'DATE' }],
  ['TIMESTAMP', { kind: 'timestamp', cast: 'TIMESTAMP' }],
  ['TIMESTAMP_S', { kind: 'timestamp', cast: 'TIMESTAMP' }],
  ['TIMESTAMP_MS', { kind: 'timestamp', cast: 'TIMESTAMP' }],
  ['TIMESTAMP WITH TIME ZONE', { kind: 'instant', cast: 'TIMESTAMP' }],
  ['UUID', { kind: 'uuid', cast: 'UUID' }],
]);

/** The type of a column whose datatype DuckDB spells so. */
export const parseDuckDbType = (datatype: string): SqlType => {
  const plain = plainTypes.get(datatype);
  if (plain !== undefined) return plain;
  if (/^DECIMAL\([0-9]+,[0-9]+\)$/.test(datatype)) return { kind: 'decimal', cast: datatype, widest };
  return datatype.startsWith('ENUM(') ? { kind: 'enum', cast: 'VARCHAR' } : otherType;
};
