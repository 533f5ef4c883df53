import type { ColumnRef, TableRef } from '../../domain/datamart/datamart.js';
import { tableKey } from '../../domain/datamart/datamart.js';
import type { ClientDatabase } from '../../domain/datamart/tenant.js';
import type { SqlType } from './sql-type.js';

/** What the datasource really holds: the truth about names and types, whatever a datamart says of them. */
export type Catalog = {
  /** The database's own name. */
  readonly database: string;
  /** By `tableKey`, the type of each column by its exact name. */
  readonly tables: ReadonlyMap<string, ReadonlyMap<string, SqlType>>;
  /** By `tableKey`, the columns of each key that no two rows share. Left out: none is known. */
  readonly uniqueKeys?: ReadonlyMap<string, readonly (readonly string[])[]> | undefined;
  /** Operators, and casts (`::json`), that the database's owner made: what they do is no list's to say. Left out: there are none. */
  readonly ownOperators?: ReadonlySet<string> | undefined;
  /** Of a client's own database: which one, and the real table behind each table of the datamart. Absent: of the datasource's own. */
  readonly client?: { readonly database: ClientDatabase; readonly tables: ReadonlyMap<string, TableRef> } | undefined;
};

/** Column names of the table with their types; empty for a table that is not there. */
export const columnsOf = (catalog: Catalog, table: TableRef): ReadonlyMap<string, SqlType> =>
  catalog.tables.get(tableKey(table)) ?? new Map();

/** The column's type, or undefined where there is no such column. */
export const typeOf = (catalog: Catalog, column: ColumnRef): SqlType | undefined =>
  columnsOf(catalog, column).get(column.columnName);

/** `schema.table.column`, for messages. */
export const columnName = (column: ColumnRef): string =>
  `${column.schemaName}.${column.tableName}.${column.columnName}`;

export type CatalogColumn = ColumnRef & { readonly type: SqlType };

export type CatalogKey = TableRef & { readonly kind: string; readonly columns: readonly string[] };

export const createCatalog = (
  database: string,
  columns: readonly CatalogColumn[],
  keys: readonly CatalogKey[] = [],
): Catalog => {
  const tables = new Map<string, Map<string, SqlType>>();
  for (const { type, ...column } of columns) {
    const key = tableKey(column);
    const known = tables.get(key) ?? new Map<string, SqlType>();
    tables.set(key, known.set(column.columnName, type));
  }
  const uniqueKeys = new Map<string, readonly (readonly string[])[]>();
  for (const { kind, columns: names, ...table } of keys) {
    if (kind !== 'PRIMARY KEY' && kind !== 'UNIQUE') continue;
    uniqueKeys.set(tableKey(table), [...(uniqueKeys.get(tableKey(table)) ?? []), names]);
  }
  return { database, tables, uniqueKeys };
};
