import type { ColumnRef } from '../datamart/datamart.js';

export type Scalar = string | number | boolean;

/** What is asked of one column. NULL passes `isNull` alone. */
export type Predicate =
  | { readonly kind: 'oneOf' | 'noneOf'; readonly values: readonly Scalar[] }
  | { readonly kind: 'compare'; readonly operator: CompareOperator; readonly value: Scalar }
  /** Dates are half-open (`toIsExclusive`), numbers closed; a missing end is open. */
  | {
      readonly kind: 'range';
      readonly from: Scalar | null;
      readonly to: Scalar | null;
      readonly toIsExclusive: boolean;
    }
  /** `%` and `_` are wildcards, `\` escapes them. */
  | { readonly kind: 'like'; readonly pattern: string }
  /** One of the values of `columnName` in the rows of `sql`, a SELECT over the datamart's tables in the same tenant scope. */
  | { readonly kind: 'inQuery'; readonly sql: string; readonly columnName: string }
  | { readonly kind: 'isNull' }
  | { readonly kind: 'isNotNull' };

export type CompareOperator = '=' | '<>' | '<' | '<=' | '>' | '>=';

/** A restriction of a metric's rows, applied to the joined rows before anything is aggregated. */
export type Condition = {
  readonly column: ColumnRef;
  readonly predicate: Predicate;
  /** Whoever asks does not know of it: what is wrong with it is not said in words that name it. */
  readonly isHidden?: boolean | undefined;
  /**
   * Set on the token's conditions; left out, the condition is an ordinary one. A row that they hide is not there for any question. `always`: it holds for the
   * metric's rows, and in every chain of rows that reads or leads to its table. `whereRead`: rows of its table that do not pass are hidden, and it asks for
   * no row of its own.
   */
  readonly restriction?: 'always' | 'whereRead' | undefined;
  /** All columns of the filter that the condition is of, its own among them; left out where there is one. See `heldConditions`. */
  readonly mappedTo?: readonly ColumnRef[] | undefined;
};

export type FilterDataType = 'string' | 'number' | 'date' | 'boolean';

/** The kinds of value the interface lets a filter take; see `predicateOf` for what each means. */
export type FilterValue =
  | Scalar
  | readonly string[]
  | { readonly startDate: string; readonly endDate: string }
  | { readonly start: string; readonly end: string }
  /** Text is exact where a JSON number would be rounded. */
  | { readonly min?: number | string | undefined; readonly max?: number | string | undefined }
  | { readonly sql: string; readonly columnName: string };
