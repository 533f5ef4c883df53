import type { ColumnRef, TableRef } from '../../model/datamart/datamart.js';
import { tableKey } from '../../model/datamart/datamart.js';
import type { ClientDatabase } from '../../model/datamart/tenant.js';
import type { SqlType } from './sql-type.js';

/** What the datasource holds: the authority on names and types, whatever a datamart declares. */
export type Catalog = {
  /** The database's own name. */
  readonly database: string;
  /** By `tableKey`: the type of each column by its exact name. */
  readonly tables: ReadonlyMap<string, ReadonlyMap<string, SqlType>>;
  /** By `tableKey`: the columns of each unique key. Left out: none is known. */
  readonly uniqueKeys?: ReadonlyMap<string, readonly (readonly string[])[]> | undefined;
  /**
   * Operators and casts (`::json`) that the database's owner defined, which no allow-list can vouch for. Left out:
   * none.
   */
  readonly ownOperators?: ReadonlySet<string> | undefined;
  /**
   * For a client's own database: its name, and the real table behind each table of the datamart. Absent for the
   * datasource's own database.
   */
  readonly client?: { readonly database: ClientDatabase; readonly tables: ReadonlyMap<string, TableRef> } | undefined;
};

/** Columns of the table with their types; empty for an unknown table. */
export const columnsOf = (catalog: Catalog, table: TableRef): ReadonlyMap<string, SqlType> =>
  catalog.tables.get(tableKey(table)) ?? new Map();

/** The column's type; undefined for an unknown column. */
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
