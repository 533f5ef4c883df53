import { tableKey } from '../domain/datamart.js';
import type { Cell } from '../domain/ports.js';
import type { ForeignKey, SourceTable } from '../domain/source-schema.js';

type Ask = (text: string) => Promise<readonly (readonly Cell[])[]>;

const columnsQuery = `SELECT schema_name, table_name, column_name, data_type, is_nullable
FROM duckdb_columns() WHERE NOT internal AND database_name = current_database()
ORDER BY schema_name, table_name, column_index`;

/** Lists are answered as JSON text: an array is no cell. */
const keysQuery = `SELECT schema_name, table_name, constraint_type, to_json(constraint_column_names)::VARCHAR,
  referenced_table, to_json(referenced_column_names)::VARCHAR
FROM duckdb_constraints() WHERE database_name = current_database()
  AND constraint_type IN ('PRIMARY KEY', 'UNIQUE', 'FOREIGN KEY')
ORDER BY schema_name, table_name, constraint_index`;

type Draft = {
  -readonly [Name in keyof SourceTable]: SourceTable[Name] extends readonly (infer Item)[] ? Item[] : SourceTable[Name];
};

/** The tables of the open database, with columns and keys. */
export const readSourceTables = async (ask: Ask): Promise<readonly SourceTable[]> => {
  const tables = new Map<string, Draft>();
  for (const [schema, table, column, datatype, isNullable] of await ask(columnsQuery)) {
    const ref = { schemaName: String(schema), tableName: String(table) };
    const draft = tables.get(tableKey(ref)) ?? { ...ref, columns: [], primaryKey: [], uniqueKeys: [], foreignKeys: [] };
    draft.columns.push({ columnName: String(column), datatype: String(datatype), isNullable: isNullable === true });
    tables.set(tableKey(ref), draft);
  }
  for (const [schema, table, kind, columns, referenced, referencedColumns] of await ask(keysQuery)) {
    const draft = tables.get(tableKey({ schemaName: String(schema), tableName: String(table) }));
    if (draft === undefined) continue;
    const names = namesIn(columns);
    if (kind === 'PRIMARY KEY') draft.primaryKey = names;
    else if (kind === 'UNIQUE') draft.uniqueKeys.push(names);
    else draft.foreignKeys.push(foreignKey(draft.schemaName, names, referenced, referencedColumns));
  }
  return [...tables.values()];
};

/** DuckDB keeps foreign keys within one schema. */
const foreignKey = (schemaName: string, columns: string[], table: unknown, referencedColumns: unknown): ForeignKey => ({
  columns,
  references: { schemaName, tableName: String(table) },
  referencedColumns: namesIn(referencedColumns),
});

const namesIn = (json: unknown): string[] => {
  const names: unknown = JSON.parse(String(json));
  return Array.isArray(names) ? names.map(String) : [];
};
