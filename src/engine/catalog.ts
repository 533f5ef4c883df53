import type { ColumnRef, TableRef } from '../domain/datamart.js';
import { tableKey } from '../domain/datamart.js';

/** What the datasource really holds: the truth about names and types, whatever a datamart says of them. */
export type Catalog = {
  /** The database's own name: the first part of every table's full name. */
  readonly database: string;
  /** By `tableKey`, the datatype of each column by its exact name. */
  readonly tables: ReadonlyMap<string, ReadonlyMap<string, string>>;
};

/** Column names of the table with their datatypes; empty for a table that is not there. */
export const columnsOf = (catalog: Catalog, table: TableRef): ReadonlyMap<string, string> =>
  catalog.tables.get(tableKey(table)) ?? new Map();

/** The datasource's own name of the column's type, or undefined where there is no such column. */
export const datatypeOf = (catalog: Catalog, column: ColumnRef): string | undefined =>
  columnsOf(catalog, column).get(column.columnName);

/** `schema.table.column`, for messages. */
export const columnName = (column: ColumnRef): string =>
  `${column.schemaName}.${column.tableName}.${column.columnName}`;
