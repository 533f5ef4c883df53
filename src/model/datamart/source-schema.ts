import type { TableRef, Tenancy } from './datamart.js';
import type { DatatypeKind } from './datatypes.js';

/** A table or view of a datasource, as the database's catalog describes it. */
export type SourceTable = TableRef & {
  readonly columns: readonly SourceColumn[];
  /** Column names of the primary key, in order; empty if there is none. */
  readonly primaryKey: readonly string[];
  /** Column names of each unique constraint or index, except the primary key. */
  readonly uniqueKeys: readonly (readonly string[])[];
  readonly foreignKeys: readonly ForeignKey[];
  /** Undefined: it is not known, since an earlier release stored the table. */
  readonly kind?: SourceTableKind | undefined;
  /** Number of rows as the database estimates it; null if it has no estimate. Tables stored by an earlier release lack it. */
  readonly estimatedRows?: number | null | undefined;
};

/** `partition`: its rows are also those of a partitioned table. */
export type SourceTableKind = 'table' | 'view' | 'partition';

export type SourceColumn = {
  readonly columnName: string;
  /** Datatype as the datasource names it: `VARCHAR`, `bigint`, `timestamp with time zone`. */
  readonly datatype: string;
  /** What its values are. Columns stored by an earlier release lack it. */
  readonly kind?: DatatypeKind | undefined;
  readonly isNullable: boolean;
};

/** `columns` and `referencedColumns` correspond by position. */
export type ForeignKey = {
  readonly columns: readonly string[];
  readonly references: TableRef;
  readonly referencedColumns: readonly string[];
};

/** Tenancy levels at which each client has its own database or schema. */
export type ClientLevel = Exclude<Tenancy['tenancyLevel'], 'TABLE'>;

/**
 * Names of databases that may belong to a client, by level, from the datasource's server. System databases, the
 * datasource's own database and the metadata database are left out. No other database is ever used as a client's
 * database.
 */
export type ClientDatabases = Readonly<Record<ClientLevel, readonly string[]>>;

/**
 * The tables that are offered for a datamart. A partition is left out, because its rows are those of the partitioned
 * table; a datamart that names one keeps it.
 */
export const offeredTables = (tables: readonly SourceTable[]): readonly SourceTable[] =>
  tables.filter(({ kind }) => kind !== 'partition');

/** The columns of which no two rows have the same values; empty if no key is known, as for most views. */
export const grainOf = ({
  primaryKey,
  uniqueKeys,
}: Pick<SourceTable, 'primaryKey' | 'uniqueKeys'>): readonly string[] =>
  primaryKey.length > 0 ? primaryKey : (uniqueKeys[0] ?? []);

/** The table for people who may not see data: an estimate counts rows. */
export const withoutEstimate = (table: SourceTable): SourceTable => ({ ...table, estimatedRows: null });
