import type { Brand } from '../../model/brand.js';
import type { Aggregate, TimeGrain } from '../../model/dashboard/metric.js';
import type { ColumnRef, JoinKind, TableRef } from '../../model/datamart/datamart.js';
import type { Period } from '../../model/filter/period.js';
import type { Bound, Column, Dialect, RowTest, Sql, TenantPredicate } from '../dialect/dialect.js';
import type { SqlType } from '../dialect/sql-type.js';
import type { Template } from '../parsing/sql-parser.js';
import type { BoundPredicate } from './values.js';

/**
 * What a query does, before it is SQL. Tables occur only as leaves, and everything else refers to leaves by position.
 * So replacing the leaves replaces every use of every table.
 */
export type Plan = {
  /** The first is the root. */
  readonly leaves: readonly Leaf[];
  readonly joins: readonly Join[];
  readonly tests: readonly Test[];
  readonly semiJoins: readonly SemiJoin[];
  /** The metric author's own filter, in addition to `tests` and `semiJoins`. */
  readonly where: Where | null;
  readonly output: Output;
  /** Which groups stay, by their aggregates. */
  readonly having: Having | null;
  readonly order: readonly { readonly output: number; readonly direction: 'ASC' | 'DESC' }[];
  readonly page: PageOfRows;
  readonly top?: Top | undefined;
};

/**
 * The groups that stand alone: the first `limit` values of the first column, in this order. All other rows are one group,
 * or one for each value of the other dimensions.
 */
export type Top = Pick<Plan, 'order'> & {
  readonly columns: readonly OutputColumn[];
  readonly limit: number;
};

/** One use of a base table. */
export type Leaf = {
  readonly table: TableRef;
  /** The leaf has a column that is never NULL. It distinguishes the leaf's rows from rows that an outer join padded. */
  readonly isMarked: boolean;
  /** The mark is also unique per row. */
  readonly isNumbered?: boolean | undefined;
  /** Custom SQL or a custom expression reads the leaf, and must never be evaluated on rows that the leaf excludes. */
  readonly isBarrier?: boolean | undefined;
  /** Custom columns, in addition to the table's own. */
  readonly computed?: readonly Computed[] | undefined;
  /** The token's conditions on this table. Rows that fail them do not exist for any question. */
  readonly tests?: readonly LeafTest[] | undefined;
  /** As `tests`, but applied before custom columns are computed, because an expression may fail on a value. */
  readonly testsBeneath?: readonly LeafTest[] | undefined;
  /** Left out: named by its position. */
  readonly name?: string | undefined;
  /** Read only by a condition that the caller may not know of. */
  readonly isHidden?: boolean | undefined;
  /** The host's own SQL may name any column of the leaf: it has no stored values beside masked ones. */
  readonly isNamedBySql?: true | undefined;
  /** A condition of the token's own SQL reads the leaf: it has all columns as they are stored. */
  readonly isStored?: boolean | undefined;
  /** The table's base filters hold also where the metric is without them. */
  readonly isAlwaysFiltered?: true | undefined;
};

/** A column of the leaf's table that the datamart gives a scale, or that the token masks or hides. */
export type RuledColumn = {
  readonly columnName: string;
  /** Writes what a question reads: the values with their scale, masked. Null: the column is hidden. */
  readonly shown: WriteColumn | null;
  /** The values without a mask, under a name of their own in the leaf. Null: the token neither masks nor hides them. */
  readonly stored: { readonly name: string; readonly write: WriteColumn } | null;
};

type WriteColumn = (dialect: Dialect, column: Sql) => Sql;

/**
 * Writes the test over the rows of the relation `from`. `condition`: what it tests, where that is one column of the leaf
 * itself.
 */
export type LeafTest = {
  readonly write: (dialect: Dialect, from: string) => Sql;
  readonly condition?: { readonly column: Column; readonly predicate: BoundPredicate } | undefined;
};

/** A custom column, written over the columns of the relation `from`. */
export type Computed = {
  readonly columnName: string;
  /** The columns of the datasource that it is computed from. */
  readonly reads: readonly string[];
  readonly write: (dialect: Dialect, from: string) => Sql;
};

/** A column of one leaf. */
export type Field = { readonly leaf: number; readonly column: Column };

/** Equality of a field of an earlier leaf (`near`) and one of a new leaf (`far`). */
export type Join = { readonly kind: JoinKind; readonly near: Field; readonly far: Field };

export type Test = { readonly field: Field; readonly predicate: BoundPredicate };

/** A row passes if a chain of matching rows exists that passes all tests. The first `near` is in the row set. */
export type SemiJoin = {
  readonly joins: readonly Omit<Join, 'kind'>[];
  readonly tests: readonly Test[];
  /** Further semi-joins that must hold. Each one starts at a table of this chain: its first `near` is a column there. */
  readonly nested: readonly SemiJoin[];
  readonly isHidden?: boolean | undefined;
};

/** A tree of tests. A test that is NULL does not pass. */
export type Where =
  | ({ readonly kind: 'test' } & Test)
  | ({ readonly kind: 'exists' } & SemiJoin)
  | { readonly kind: 'all' | 'any'; readonly items: readonly Where[] };

/** The same over output columns, by position. */
export type Having =
  | { readonly kind: 'test'; readonly output: number; readonly type: SqlType; readonly predicate: BoundPredicate }
  | { readonly kind: 'all' | 'any'; readonly items: readonly Having[] };

export type Output = {
  /** `group`: one row per combination of the columns that are not aggregated. `distinct`: the same without NULL. */
  readonly kind: 'group' | 'rows' | 'distinct';
  readonly columns: readonly OutputColumn[];
  /** A substring of the first column's text, case-insensitive. */
  readonly search: string | null;
};

export type OutputColumn = {
  readonly name: string;
  readonly expression: Expression;
  /** Of a measure or calculation: a row may count in several groups, so that its values do not add up. */
  readonly isOverlapping?: true | undefined;
  /** Other columns, conditions or the order read it, and the answer does not have it. */
  readonly isLeftOut?: true | undefined;
  /** Of amounts. */
  readonly currency?: OutputCurrency | undefined;
};

/** Of a column of the answer: a code, the column of the answer that has one in each row, or that of the tenant. */
export type OutputCurrency = { readonly code: string } | { readonly column: string } | { readonly tenant: ColumnRef };

export type Expression =
  | Dimensional
  /** The value if it is among the top groups, else NULL. */
  | { readonly kind: 'top'; readonly of: Dimensional }
  /** 1 for rows outside of the top groups, else 0. It tells them from the group of NULL. */
  | { readonly kind: 'isOther'; readonly of: Dimensional }
  | Aggregated
  | Calculated;

export type Dimensional =
  | { readonly kind: 'field'; readonly field: Field }
  | { readonly kind: 'grain'; readonly field: Field; readonly grain: TimeGrain }
  | { readonly kind: 'bucket'; readonly field: Field; readonly width: Bound };

export type Aggregated =
  | {
      readonly kind: 'aggregate';
      readonly aggregate: Aggregate;
      readonly field: Field;
      readonly indicator: BoundPredicate | null;
      /** Only values that pass are aggregated. */
      readonly among: BoundPredicate | null;
      /** The fraction of MEDIAN and PERCENTILE, from 0 to 1. */
      readonly fraction: number | null;
      /** Joins repeat the rows of this leaf, which is numbered: each row counts once per group. */
      readonly once: number | null;
    }
  /** The number of the leaf's own rows. */
  | { readonly kind: 'rowCount'; readonly leaf: number; readonly once: number | null }
  /** A custom expression of aggregates. `readCast`: the type that its values are cast to; null: none. */
  | {
      readonly kind: 'custom';
      readonly template: Template<Field>;
      readonly readCast: string | null;
      readonly once: null;
    };

/**
 * Computed from output columns, by position, over the groups that `having` left. Groups that differ in `within` are
 * computed separately.
 */
export type Calculated = {
  readonly of: number;
  readonly within: readonly number[];
  readonly isFloat: boolean;
  /** It would add up groups that share rows, so it has no value. */
  readonly isOverlapping?: true | undefined;
} & (
  | { readonly kind: 'share' }
  | { readonly kind: 'runningTotal'; readonly along: number }
  | {
      readonly kind: 'previous';
      readonly along: number;
      readonly grain: Period;
      readonly periods: number;
      readonly result: 'value' | 'change' | 'relativeChange';
    }
);

/** `cap` limits the rows of the whole result; `limit` and `offset` page within it. */
export type PageOfRows = { readonly cap: number | null; readonly limit: number | null; readonly offset: number };

export type TenantScopedLeaf = Leaf & {
  /** Those that a question may read: the table's columns without hidden ones. */
  readonly columns: readonly string[];
  readonly ruled: readonly RuledColumn[];
  readonly tenant: TenantPredicate | null;
  /** The base filters of the table. */
  readonly base: readonly RowTest[];
};

/** A plan whose leaves hold one tenant's rows. Only `scopeToTenant` makes it, and nothing else compiles. */
export type TenantScoped<P extends { readonly leaves: readonly Leaf[] }> = Brand<
  Omit<P, 'leaves'> & { readonly database: string; readonly leaves: readonly TenantScopedLeaf[] },
  'TenantScopedPlan'
>;
export type TenantScopedPlan = TenantScoped<Plan>;
