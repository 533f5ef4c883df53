import type { TableRef, Tenancy } from './datamart.js';

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

/** Levels at which a client has a whole database, or schema, of its own. */
export type ClientLevel = Exclude<Tenancy['tenancyLevel'], 'TABLE'>;

/**
 * Names that may be a client's, by level, as a datasource's server has them: without the system's own, the datasource's own and the
 * metadata's. Nothing else is ever taken for a client's database.
 */
export type ClientDatabases = Readonly<Record<ClientLevel, readonly string[]>>;
