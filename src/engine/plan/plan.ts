import type { Brand } from '../../domain/brand.js';
import type { Aggregate, TimeGrain } from '../../domain/dashboard/metric.js';
import type { JoinKind, TableRef } from '../../domain/datamart/datamart.js';
import type { Period } from '../../domain/filter/period.js';
import type { Bound, Column, Dialect, Sql, TenantPredicate } from '../databases/dialect.js';
import type { SqlType } from '../databases/sql-type.js';
import type { Template } from '../parsing/sql-parser.js';
import type { BoundPredicate } from './values.js';

/**
 * What a query will do, before anything is SQL. A table occurs in it only as a leaf; everything else reads leaves, by
 * their position. So to replace the leaves is to replace every occurrence of every table.
 */
export type Plan = {
  /** The first is the root. */
  readonly leaves: readonly Leaf[];
  readonly joins: readonly Join[];
  readonly tests: readonly Test[];
  readonly semiJoins: readonly SemiJoin[];
  /** What the metric's author asks of the rows, beside `tests` and `semiJoins`. */
  readonly where: Where | null;
  readonly output: Output;
  /** Which groups stay, by what was aggregated. */
  readonly having: Having | null;
  readonly order: readonly { readonly output: number; readonly direction: 'ASC' | 'DESC' }[];
  readonly page: PageOfRows;
};

/** One use of a base table. */
export type Leaf = {
  readonly table: TableRef;
  /** It has a column that is never NULL, so that its own rows can be told from those an outer join padded. */
  readonly isMarked: boolean;
  /** The mark tells its rows from each other too: a number that each has for itself. */
  readonly isNumbered?: boolean | undefined;
  /** The host's own SQL or expression reads it: nothing of that is evaluated on rows that the leaf leaves out. */
  readonly isBarrier?: boolean | undefined;
  /** Custom columns, beside the table's own. */
  readonly computed?: readonly Computed[] | undefined;
  /** The token's, of its columns: rows that do not pass are not there for any question. */
  readonly tests?: readonly LeafTest[] | undefined;
  /** The same, asked before custom columns are computed: these may fail on a value. */
  readonly testsBeneath?: readonly LeafTest[] | undefined;
  /** Left out: by its position. */
  readonly name?: string | undefined;
  /** Only a condition that whoever asks may not know of reads it. */
  readonly isHidden?: boolean | undefined;
};

/** Written over the leaf's rows, in the relation that is named. */
export type LeafTest = (dialect: Dialect, from: string) => Sql;

/** A custom column: written over the columns of the relation that is named. */
export type Computed = { readonly columnName: string; readonly write: (dialect: Dialect, from: string) => Sql };

/** A column of one leaf. */
export type Field = { readonly leaf: number; readonly column: Column };

/** Equality of a field that is there already with one of a new leaf. */
export type Join = { readonly kind: JoinKind; readonly near: Field; readonly far: Field };

export type Test = { readonly field: Field; readonly predicate: BoundPredicate };

/** Rows pass for which a chain of matching rows exists that passes all tests. The first `near` is in the row set. */
export type SemiJoin = {
  readonly joins: readonly Omit<Join, 'kind'>[];
  readonly tests: readonly Test[];
  /** They must hold too. The first `near` of each is a leaf of this chain. */
  readonly nested: readonly SemiJoin[];
  readonly isHidden?: boolean | undefined;
};

/** Tests over each other; NULL never passes. */
export type Where =
  | ({ readonly kind: 'test' } & Test)
  | ({ readonly kind: 'exists' } & SemiJoin)
  | { readonly kind: 'all' | 'any'; readonly items: readonly Where[] };

/** The same over output columns, by position. */
export type Having =
  | { readonly kind: 'test'; readonly output: number; readonly type: SqlType; readonly predicate: BoundPredicate }
  | { readonly kind: 'all' | 'any'; readonly items: readonly Having[] };

export type Output = {
  /** `group`: one row for each combination of what is not aggregated. `distinct`: the same, NULL left out. */
  readonly kind: 'group' | 'rows' | 'distinct';
  readonly columns: readonly OutputColumn[];
  /** Part of the first column's text, whatever its case. */
  readonly search: string | null;
};

export type OutputColumn = { readonly name: string; readonly expression: Expression };

export type Expression =
  | { readonly kind: 'field'; readonly field: Field }
  | { readonly kind: 'grain'; readonly field: Field; readonly grain: TimeGrain }
  | { readonly kind: 'bucket'; readonly field: Field; readonly width: Bound }
  | Aggregated
  | Calculated;

export type Aggregated =
  | {
      readonly kind: 'aggregate';
      readonly aggregate: Aggregate;
      readonly field: Field;
      readonly indicator: BoundPredicate | null;
      /** Values that do not pass are passed over. */
      readonly among: BoundPredicate | null;
      /** Of MEDIAN and PERCENTILE, from 0 to 1. */
      readonly fraction: number | null;
      /** Joins repeat the rows of this leaf, which is numbered: each counts once in every group in which it appears. */
      readonly once: number | null;
    }
  /** The number of the leaf's own rows. */
  | { readonly kind: 'rowCount'; readonly leaf: number; readonly once: number | null }
  /** The host's own expression of aggregates. */
  | { readonly kind: 'custom'; readonly template: Template<Field>; readonly once: null };

/** Computed from output columns over the groups that `having` left; all of them are positions. Groups that differ in `within` are apart. */
export type Calculated = { readonly of: number; readonly within: readonly number[]; readonly isFloat: boolean } & (
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

/** `cap` bounds the rows there are at all; `limit` and `offset` page within it. */
export type PageOfRows = { readonly cap: number | null; readonly limit: number | null; readonly offset: number };

export type TenantScopedLeaf = Leaf & {
  readonly columns: readonly string[];
  readonly tenant: TenantPredicate | null;
};

/** A plan of any kind, whose leaves hold one tenant's rows. Made by `scopeToTenant` alone, and nothing else compiles. */
export type TenantScoped<P extends { readonly leaves: readonly Leaf[] }> = Brand<
  Omit<P, 'leaves'> & { readonly database: string; readonly leaves: readonly TenantScopedLeaf[] },
  'TenantScopedPlan'
>;
export type TenantScopedPlan = TenantScoped<Plan>;
