import type { SchemaPair } from '../dashboard/content.js';
import type { DatasourceType } from '../organization.js';

/** Reads and changes SQL by the database's own grammar, never as text. */
export type SqlRewriter = {
  /**
   * The SELECT with its tables' schemas renamed; strings, comments, aliases, CTE names and columns that merely look like a schema stay.
   * Or what was expected instead: one SELECT that parses, in a dialect that can be written anew.
   */
  readonly renameSchemas: (
    dialect: DatasourceType,
    text: string,
    pairs: readonly SchemaPair[],
  ) => Promise<{ readonly sql: string } | { readonly expected: string }>;
  /**
   * Whether the engine will run the text: a SELECT, or an expression. What is wrong is said without repeating the text but for names. Where no grammar here
   * reads that database's SQL, nothing is known of it.
   */
  readonly check: (
    dialect: DatasourceType,
    text: string,
    as: 'select' | 'expression',
  ) => Promise<CheckedSql | { readonly fault: string }>;
};

/** What the text names, each part folded as the database folds it. */
export type CheckedSql = {
  /** Names of variables, `client_id` among them. */
  readonly variables: readonly string[];
  /** Tables of a SELECT, and columns of an expression. */
  readonly names: readonly (readonly string[])[];
  readonly isAggregate: boolean;
};
