import type { TableRef } from './datamart.js';

/** A table (or view) that a datasource really holds, as its own catalog describes it. */
export type SourceTable = TableRef & {
  readonly columns: readonly SourceColumn[];
  /** Column names of the primary key, in its order; empty: none. */
  readonly primaryKey: readonly string[];
  /** Column names of each unique constraint or index, the primary key left out. */
  readonly uniqueKeys: readonly (readonly string[])[];
  readonly foreignKeys: readonly ForeignKey[];
};

export type SourceColumn = {
  readonly columnName: string;
  /** As the datasource names it: `VARCHAR`, `bigint`, `timestamp with time zone`. */
  readonly datatype: string;
  readonly isNullable: boolean;
};

/** `columns` and `referencedColumns` correspond by position. */
export type ForeignKey = {
  readonly columns: readonly string[];
  readonly references: TableRef;
  readonly referencedColumns: readonly string[];
};
