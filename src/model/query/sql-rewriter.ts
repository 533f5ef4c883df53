import type { SchemaPair } from '../dashboard/content.js';
import type { DatasourceType } from '../organization.js';
import type { TextPlace } from '../text-place.js';

/** Reads and changes SQL with the grammar of its database, never as text. */
export type SqlRewriter = {
  /**
   * Returns the SELECT with the schemas of its tables renamed. Strings, comments, aliases, CTE names and columns with
   * the same name stay unchanged. If that is not possible, `expected` says what was expected: one SELECT that can be
   * parsed, in a dialect that can be written.
   */
  readonly renameSchemas: (
    dialect: DatasourceType,
    text: string,
    pairs: readonly SchemaPair[],
  ) => Promise<{ readonly sql: string } | { readonly expected: string }>;
  /**
   * Checks whether the engine will run the text as a SELECT or an expression. `fault` repeats nothing of the text
   * except names; `place` is null where the parser knows none. If no parser supports the database's SQL, the text is not checked.
   */
  readonly check: (
    dialect: DatasourceType,
    text: string,
    as: 'select' | 'expression',
  ) => Promise<CheckedSql | SqlFault>;
};

export type SqlFault = { readonly fault: string; readonly place: TextPlace | null };

/** The names that the text uses, each part folded as the database folds it. */
export type CheckedSql = {
  /** Names of variables, including `client_id`. */
  readonly variables: readonly string[];
  /** Tables of a SELECT, or columns of an expression. */
  readonly names: readonly (readonly string[])[];
  readonly isAggregate: boolean;
  /** Of a SELECT: the text as its tree has it, without comments, tables and variables. Else empty. */
  readonly written: string;
};
