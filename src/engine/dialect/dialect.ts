import { type CompiledQuery, type RawBuilder, sql } from 'kysely';
import type { Aggregate, TimeGrain } from '../../model/dashboard/metric.js';
import type { ColumnRef, TableRef } from '../../model/datamart/datamart.js';
import type { CompareOperator } from '../../model/filter/filter.js';
import type { Period } from '../../model/filter/period.js';
import { refuseUnknown } from './refuse.js';
import type { SqlType } from './sql-type.js';

export type Sql = RawBuilder<unknown>;
export type PlainAggregate = Exclude<Aggregate, 'MEDIAN' | 'PERCENTILE'>;
export type BoundList = { readonly texts: readonly string[]; readonly cast: string };
/** A value as it is bound: its text and the type that the database reads it as. */
export type Bound = { readonly text: string; readonly cast: string };

export type Column = {
  readonly ref: ColumnRef;
  readonly type: SqlType;
  /** IANA name of the zone in which the values are read as local time. */
  readonly zone: string | null;
  /**
   * The leaf's name for the stored values of a column that the token masks or hides. Only joins and the token's own
   * conditions have such a column. Left out: the column is read by its own name.
   */
  readonly stored?: string | undefined;
};

/** The name by which a leaf has the column's values. */
export const nameInLeaf = ({ ref, stored }: Pick<Column, 'ref' | 'stored'>): string => stored ?? ref.columnName;

export type Side = { readonly column: Sql; readonly type: SqlType; readonly ref: ColumnRef };

export type Statement = Pick<CompiledQuery, 'sql' | 'parameters'> & {
  /**
   * Columns that the text makes assumptions about. If one changed before the statement runs, its rows must not be
   * shown.
   */
  readonly assumed?: readonly AssumedColumn[] | undefined;
};

/** Writes a test of a table's own rows; `name` writes one of its columns as it is stored. */
export type RowTest = (dialect: Dialect, name: (columnName: string) => Sql) => Sql;

/** Null only where the table is shared by all tenants, or there are no tenants. */
export type TenantPredicate =
  | { readonly kind: 'column'; readonly columnName: string; readonly type: SqlType; readonly value: Bound }
  /**
   * A row is the tenant's if a row of the table of `far` is: its parent, or one of its rows in a bridge, which also
   * passes `tests`. A row without one belongs to no tenant.
   */
  | {
      readonly kind: 'parent';
      readonly near: TypedColumn;
      readonly far: TypedColumn;
      readonly tenant: TenantPredicate;
      readonly tests?: readonly RowTest[] | undefined;
    }
  | { readonly kind: 'all'; readonly items: readonly TenantPredicate[] };

/** A column of a base table. */
export type TypedColumn = { readonly ref: ColumnRef; readonly type: SqlType };

/** What a statement reads of one base table. */
export type ReadTable = { readonly table: TableRef; readonly tenant: TenantPredicate | null };

/** A column and its type and collation as the catalog had them, by the database's ids. */
export type AssumedColumn = ColumnRef & { readonly stored: string };

export type OrderedOutput = { readonly position: number; readonly name: string; readonly isFloat: boolean };

/** How one database writes its part of a statement. compile.ts writes everything that is common. */
export type Dialect = {
  readonly capabilities: Capabilities;
  /** Text and bound values. `leaves` are the tables that the text reads. */
  readonly compile: (query: Sql, leaves: readonly ReadTable[]) => Statement;
  readonly table: (database: string, table: TableRef) => Sql;
  /** `AS` of a leaf's CTE, with the keyword that lets the database use the table's indexes. */
  readonly asLeaf: Sql;
  /**
   * The CTE of a leaf that custom SQL or an expression reads: the database must not evaluate anything of it on rows
   * that the leaf excludes, or a cast could fail on another tenant's value. Null: the database has no such barrier,
   * and what needs one is refused.
   */
  readonly barrier: ((name: Sql, rows: Sql) => Sql) | null;
  /** A bound value with its type. Throws METRIC_QUERY_ERROR for a value outside the database's range. */
  readonly cast: (value: Bound) => Sql;
  /** True for this tenant's rows only. Text is compared byte by byte, whatever the column's collation. */
  readonly tenant: (column: Sql, type: SqlType, value: Bound) => Sql;
  /** Equality of two columns as they are stored. */
  readonly join: (near: Side, far: Side) => Sql;
  /** Both columns converted so that IN compares them exactly. Only for databases without correlated subqueries. */
  readonly keys?: (near: Side, far: Side) => readonly [Sql, Sql];
  /**
   * The column's values as they are answered: in local time of the zone, and text so that only equal bytes are equal.
   * Must never fail on a value: conditions on it may be evaluated on another tenant's row.
   */
  readonly field: (column: Sql, of: Column) => Sql;
  /**
   * Whether grouping by the stored column gives the same groups as grouping by the field. The field is then computed
   * once per group. Left out: never, or computing it costs nothing.
   */
  readonly isGroupedAsStored?: (of: Column) => boolean;
  /**
   * Whether the field is the stored value, or NULL where that is no value. A condition on it then also names the stored
   * column, whose index the database can use. Left out: never, or the field is the stored value itself.
   */
  readonly isStoredOrNull?: (of: Column) => boolean;
  /**
   * The field's values as a condition compares them, with values of the type `cast`. Must never fail on a value,
   * which may be another tenant's.
   */
  readonly comparable: (value: Sql, type: SqlType, cast: string | null) => Sql;
  /** A comparison where NaN equals NaN and is above all numbers. Left out where the database compares so itself. */
  readonly compare?: (value: Sql, operator: CompareOperator, bound: Bound, type: SqlType) => Sql | undefined;
  /** Whether the value is after the last date that the database holds. Left out where no such value is possible. */
  readonly isBeyond?: (value: Bound) => boolean;
  readonly list: (value: Sql, kind: 'oneOf' | 'noneOf', list: BoundList, type: SqlType) => Sql;
  /** LIKE with the backslash as escape character. Left out where standard ESCAPE does that. */
  readonly like?: (value: Sql, pattern: Bound) => Sql;
  /** Whether the text contains the search, case-insensitively. Wildcards are literal. */
  readonly contains: (value: Sql, type: SqlType, search: string) => Sql;
  /**
   * Truncates to a period. Days and longer periods are dates; weeks start on Monday; `dayOfWeek` is 1 (Monday) to 7
   * (Sunday).
   */
  readonly grain: (value: Sql, grain: TimeGrain, type: SqlType) => Sql;
  /**
   * The number of periods from 1970 (weeks: from its first Monday) to `start`. NULL for NULL and for infinite dates.
   */
  readonly period: (start: Sql, grain: Period) => Sql;
  /**
   * The greatest multiple of `width` that is not above the value, for types other than float. Left out where `%` is
   * exact for any two numbers.
   */
  readonly bucket?: (value: Sql, type: SqlType, width: Bound) => Sql;
  /** How a statement that explains another one begins. Left out: EXPLAIN. */
  readonly explain?: string;
  readonly aggregate: (aggregate: PlainAggregate, value: Sql, type: SqlType) => Sql;
  /**
   * The percentile `fraction` (0 to 1), interpolated linearly between two values. With infinite dates: the first
   * value that at least this fraction of the values does not exceed. Null: the database has no such aggregate, and
   * values are ranked instead.
   */
  readonly percentile: ((value: Sql, type: SqlType, fraction: number) => Sql) | null;
  /** Moments as a number and back, to the microsecond. Only for databases without percentiles. */
  readonly moments?: { readonly count: (value: Sql) => Sql; readonly at: (count: Sql) => Sql };
  readonly masks: Masks;
  /** As a 64-bit float. */
  readonly double: (value: Sql) => Sql;
  /**
   * The rows in a form that `order` can sort. MySQL cannot sort by an expression of an aggregate in the same SELECT.
   */
  readonly sortable: (rows: Sql) => Sql;
  /** Sorts NULL last in both directions, and NaN (`isFloat`) above all other numbers. */
  readonly order: (output: OrderedOutput, direction: 'ASC' | 'DESC') => Sql;
  readonly page: (limit: number | null, offset: number) => Sql;
};

/** What masks are made of. No function may fail on a value, and each answers NULL for NULL. */
export type Masks = {
  /** The value as text that is compared byte by byte. */
  readonly text: (value: Sql, type: SqlType) => Sql;
  /** The number of characters. */
  readonly length: (text: Sql) => Sql;
  readonly first: (text: Sql, count: number) => Sql;
  readonly last: (text: Sql, count: number) => Sql;
  /** SHA-256 of the two texts one after the other, in UTF-8, as lower-case hexadecimal digits. Null: the database has none. */
  readonly digest: ((key: Sql, text: Sql) => Sql) | null;
  /** The date of the first day that `grain` truncates, and of the first day after those; null: it truncates all. */
  readonly years: readonly [first: string, end: string] | null;
};

/** The origins from which periods are counted; weeks start on Monday. */
export const firstDay = '1970-01-01';
export const firstMonday = '1970-01-05';

/** What a database may lack. A feature that needs it is refused or written differently, never answered wrongly. */
export type Capabilities = {
  /** Display name of the database in error messages. */
  readonly databaseName: string;
  readonly hasFullJoin: boolean;
  /**
   * The database merges leaves into the statement and reads one again for each row of a RIGHT JOIN (15 s in place of
   * 0.15 s). Leaves of such joins are barriers.
   */
  readonly isRightJoinSlow: boolean;
  /** Subqueries may be correlated. Without them a semi-join is written with IN. */
  readonly hasCorrelatedSubqueries: boolean;
};

/** The value cast to the type; null: as it is. A dialect writes the cast around its argument, here in place of a bound text. */
export const castTo = (dialect: Pick<Dialect, 'cast'>, value: Sql, cast: string | null): Sql =>
  cast === null ? value : dialect.cast({ text: value as unknown as string, cast });

/** The database's own name of a type. */
export const castName = (cast: string, names: ReadonlyMap<string, string>): string => {
  const plain = names.get(cast);
  if (plain !== undefined) return plain;
  return cast.startsWith('DECIMAL(') ? cast : refuseUnknown('type', cast as never);
};

/** The spelling that most databases share. */
export const plainAggregate = (aggregate: PlainAggregate, value: Sql): Sql => {
  switch (aggregate) {
    case 'SUM':
      return sql`sum(${value})`;
    case 'AVG':
      return sql`avg(${value})`;
    case 'MIN':
      return sql`min(${value})`;
    case 'MAX':
      return sql`max(${value})`;
    case 'COUNT':
      return sql`count(${value})`;
    case 'COUNT_DISTINCT':
      return sql`count(DISTINCT ${value})`;
    default:
      return refuseUnknown('aggregate', aggregate);
  }
};
