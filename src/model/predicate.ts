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
   * Passes dates in a period that is named by its distance from the reader's present day: `Last 30 Days`.
   * filter/relative.ts reads the name. A question becomes a `range` by `datedQuestion` before the engine binds its
   * values.
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
