import type { ColumnRef } from '../datamart/datamart.js';

export type Scalar = string | number | boolean;

/** A test of one column. NULL passes only `isNull`, and `recurring` without a value. */
export type Predicate =
  | { readonly kind: 'oneOf' | 'noneOf'; readonly values: readonly Scalar[] }
  | { readonly kind: 'compare'; readonly operator: CompareOperator; readonly value: Scalar }
  /** Date ranges are half-open (`toIsExclusive`); number ranges are closed. Null leaves that end unbounded. */
  | {
      readonly kind: 'range';
      readonly from: Scalar | null;
      readonly to: Scalar | null;
      readonly toIsExclusive: boolean;
    }
  /**
   * Passes dates in a period that is named by its distance from the reader's present day: `Last 30 Days`. relative.ts
   * reads the name. A question becomes a `range` by `datedQuestion` before the engine binds its values.
   */
  | { readonly kind: 'relative'; readonly period: string }
  /** `%` and `_` are wildcards; `\` escapes them. */
  | { readonly kind: 'like'; readonly pattern: string }
  /**
   * Passes values that column `columnName` of the query `sql` contains. `sql` is a SELECT over the datamart's tables in
   * the same tenant scope.
   */
  | { readonly kind: 'inQuery'; readonly sql: string; readonly columnName: string }
  /**
   * Passes dates of this hour of the day (0 to 23) or day of the week (1, Monday, to 7). Null: what has none, which are
   * NULL and the infinite dates. Only marks of charts are such.
   */
  | { readonly kind: 'recurring'; readonly grain: 'hourOfDay' | 'dayOfWeek'; readonly value: number | null }
  | { readonly kind: 'isNull' }
  | { readonly kind: 'isNotNull' };

export type CompareOperator = '=' | '<>' | '<' | '<=' | '>' | '>=';

/** A restriction of a metric's rows, applied to the joined rows before aggregation. */
export type Condition = {
  readonly column: ColumnRef;
  readonly predicate: Predicate;
  /** Whether the caller does not know of the condition. An error about it must not name it. */
  readonly isHidden?: boolean | undefined;
  /**
   * Set for the token's conditions; undefined for ordinary conditions. Rows that a restriction hides are excluded from
   * every question. `always`: applies to the metric's rows and to every chain of joins that reads or leads to its
   * table. `whereRead`: hides the rows of its table that do not pass wherever the table is read, but does not require
   * that a row exists.
   */
  readonly restriction?: 'always' | 'whereRead' | undefined;
  /**
   * Whether the policy made the condition: it reads the stored values of columns that the token masks or hides. What an
   * author or a guest chose reads what the token shows.
   */
  readonly isOfToken?: true | undefined;
  /**
   * All columns of the condition's filter, including its own; undefined if the filter has one column. See
   * `heldConditions`.
   */
  readonly mappedTo?: readonly ColumnRef[] | undefined;
};

export type FilterDataType = 'string' | 'number' | 'date' | 'boolean';

/** The kinds of value that the interface accepts for a filter. filter/value.ts has the meaning of each one. */
export type FilterValue =
  | Scalar
  | readonly string[]
  | { readonly startDate: string; readonly endDate: string }
  | { readonly start: string; readonly end: string }
  /** Text is exact if a JSON number would be rounded. */
  | { readonly min?: number | string | undefined; readonly max?: number | string | undefined }
  | { readonly sql: string; readonly columnName: string };
