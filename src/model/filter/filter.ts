import type { ColumnRef } from '../datamart/datamart.js';
import type { Predicate, Scalar } from '../predicate.js';

export type { CompareOperator, Predicate, Scalar } from '../predicate.js';

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
