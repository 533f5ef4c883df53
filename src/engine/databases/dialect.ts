import type { CompiledQuery, RawBuilder } from 'kysely';
import type { Aggregate, TimeGrain } from '../../domain/dashboard/metric.js';
import type { ColumnRef, TableRef } from '../../domain/datamart/datamart.js';
import type { CompareOperator } from '../../domain/filter/filter.js';
import type { Period } from '../../domain/filter/period.js';
import { refuseUnknown } from './refuse.js';
import type { SqlType } from './sql-type.js';

export type Sql = RawBuilder<unknown>;
export type PlainAggregate = Exclude<Aggregate, 'MEDIAN' | 'PERCENTILE'>;
export type BoundList = { readonly texts: readonly string[]; readonly cast: string };
/** A value as it is bound: its text, and the type that the database reads it as. */
export type Bound = { readonly text: string; readonly cast: string };

export type Column = {
  readonly ref: ColumnRef;
  readonly type: SqlType;
  /** IANA name; its values are read as this zone's local time. */
  readonly zone: string | null;
};

export type Side = { readonly column: Sql; readonly type: SqlType; readonly ref: ColumnRef };

export type Statement = Pick<CompiledQuery, 'sql' | 'parameters'> & {
  /** What the text relies on. Where one of these no longer holds when it runs, its rows must not be shown. */
  readonly assumed?: readonly AssumedColumn[] | undefined;
};

/** Null only where the table holds every tenant's rows, or there are no tenants. */
export type TenantPredicate =
  | { readonly kind: 'column'; readonly columnName: string; readonly type: SqlType; readonly value: Bound }
  /** A row is the tenant's if its parent row, in the table of `far`, is. A row without a parent belongs to nobody. */
  | { readonly kind: 'parent'; readonly near: TypedColumn; readonly far: TypedColumn; readonly tenant: TenantPredicate }
  | { readonly kind: 'all'; readonly items: readonly TenantPredicate[] };

/** A column of a base table. */
export type TypedColumn = { readonly ref: ColumnRef; readonly type: SqlType };

/** What a statement reads of one base table. */
export type ReadTable = { readonly table: TableRef; readonly tenant: TenantPredicate | null };

/** A column that still is what its catalog said, in the database's own words. */
export type AssumedColumn = ColumnRef & { readonly stored: string };

export type OrderedOutput = { readonly position: number; readonly name: string; readonly isFloat: boolean };

/** What one database writes in its own way; everything else of a statement is compile.ts's, and alike for all. */
export type Dialect = {
  readonly capabilities: Capabilities;
  /** The text and its bound values; `leaves` are those that the text reads. */
  readonly compile: (query: Sql, leaves: readonly ReadTable[]) => Statement;
  readonly table: (database: string, table: TableRef) => Sql;
  /** `AS`, with the word that lets the leaf be read by way of its table's indexes. */
  readonly asLeaf: Sql;
  /**
   * The same for a leaf that custom SQL or an expression reads: nothing from above it is evaluated on rows that it leaves out. Otherwise a cast could fail on
   * another tenant's value. Null: this database has no such thing, and what needs it is refused.
   */
  readonly barrier: ((name: Sql, rows: Sql) => Sql) | null;
  /** A bound value that says its type. Throws METRIC_QUERY_ERROR for one that the database does not hold. */
  readonly cast: (value: Bound) => Sql;
  /** True for the rows of this tenant alone: text byte by byte, whatever the column's collation. */
  readonly tenant: (column: Sql, type: SqlType, value: Bound) => Sql;
  /** Equality of two columns as they are stored. */
  readonly join: (near: Side, far: Side) => Sql;
  /** Both columns as IN compares them exactly; left out where a subquery may refer to what is around it. */
  readonly keys?: (near: Side, far: Side) => readonly [Sql, Sql];
  /**
   * The column's values as they are answered: as local time of its zone, text so that only equal bytes are equal. It never fails on a
   * value: conditions on it may be evaluated on another tenant's row.
   */
  readonly field: (column: Sql, of: Column) => Sql;
  /**
   * Whether groups of the column as it is stored are the same as those of the field: then the field is made of each group, and not of each row. Left out:
   * of no column, or a field costs nothing.
   */
  readonly isGroupedAsStored?: (of: Column) => boolean;
  /** A field's values as a condition compares them, with values of the type `cast`: no value may fail there, since it may be another tenant's. */
  readonly comparable: (value: Sql, type: SqlType, cast: string | null) => Sql;
  /** Left out where the database itself has NaN equal to NaN, and above all other numbers. */
  readonly compare?: (value: Sql, operator: CompareOperator, bound: Bound, type: SqlType) => Sql | undefined;
  /** A date after the last that the database holds: every row's is before it. Left out where no value of a condition is. */
  readonly isBeyond?: (value: Bound) => boolean;
  readonly list: (value: Sql, kind: 'oneOf' | 'noneOf', list: BoundList, type: SqlType) => Sql;
  /** LIKE with the backslash as its escape; left out where SQL's own ESCAPE says so. */
  readonly like?: (value: Sql, pattern: Bound) => Sql;
  /** Whether the text of the value holds the search, whatever the case; wildcards are plain text. */
  readonly contains: (value: Sql, type: SqlType, search: string) => Sql;
  /** Days and what is longer are dates; weeks start on Monday, `dayOfWeek` is 1 for Monday to 7 for Sunday. */
  readonly grain: (value: Sql, grain: TimeGrain, type: SqlType) => Sql;
  /**
   * How many of these periods lie between 1970 (weeks: the first Monday of it) and the start of one: a whole number; NULL for NULL and for the infinite.
   */
  readonly period: (start: Sql, grain: Period) => Sql;
  /** What is left of the value after whole widths, never below 0, for types other than float; left out where `%` is exact for any two numbers. */
  readonly rest?: (value: Sql, type: SqlType, width: Bound) => Sql;
  readonly aggregate: (aggregate: PlainAggregate, value: Sql, type: SqlType) => Sql;
  /**
   * The value that so many of the values lie below, from 0 to 1; between two values, on the line from one to the other. With an infinite date among
   * them there is no line: the first of the values that so many are not above. Null: there is no such aggregate, and the rows are ranked instead.
   */
  readonly percentile: ((value: Sql, type: SqlType, fraction: number) => Sql) | null;
  /** As a 64-bit floating-point number. */
  readonly double: (value: Sql) => Sql;
  /** The rows as `order` can sort them: MySQL sorts by an expression of an aggregate only from outside. */
  readonly sortable: (rows: Sql) => Sql;
  /** NULL is last either way; NaN, which `isFloat` says may be there, is above all other numbers. */
  readonly order: (output: OrderedOutput, direction: 'ASC' | 'DESC') => Sql;
  readonly page: (limit: number | null, offset: number) => Sql;
};

/** Where periods are counted from; a week starts on a Monday. */
export const firstDay = '1970-01-01';
export const firstMonday = '1970-01-05';

/** What a database may lack; whatever needs it is refused, or written in another way, but never answered wrongly. */
export type Capabilities = {
  /** As the reader of a refusal calls it. */
  readonly databaseName: string;
  readonly hasFullJoin: boolean;
  /**
   * It merges leaves into the statement around them, and then reads one anew for each row of a RIGHT JOIN: 15 s for what takes 0.15. Leaves of such
   * joins are barriers.
   */
  readonly isRightJoinSlow: boolean;
  /** A subquery may refer to what is around it; without that, a semi-join is written by IN. */
  readonly hasCorrelatedSubqueries: boolean;
};

/** The database's own name of a cast. */
export const castName = (cast: string, names: ReadonlyMap<string, string>): string => {
  const plain = names.get(cast);
  if (plain !== undefined) return plain;
  return cast.startsWith('DECIMAL(') ? cast : refuseUnknown('type', cast as never);
};
