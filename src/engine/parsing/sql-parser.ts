/**
 * The port of SQL parsers. Text of the host's is parsed as the database would parse it, checked node by node against
 * allow-lists, and written anew from its tree. The text itself never reaches the database.
 */

/** SQL written from a tree, with holes that the engine fills. */
export type Template<Hole> = readonly (string | Hole)[];

/** A name in parts, folded as the database folds it: `['flights', 'delay']`. */
export type Path = readonly string[];

/** The operators and casts (`::json`) in use, where a database's owner may define others of the same name. */
export type Operators = readonly string[] | undefined;

/** A column that is summed as it is: `SUM(x)`. Listed only where the database itself would sum anything. */
export type Summed = { readonly aggregate: string; readonly path: Path };

export type ExpressionHole = { readonly kind: 'column'; readonly path: Path };

/** One scalar expression over columns. Parsed without a wrapper, so it cannot close one and start another statement. */
export type ParsedExpression = {
  readonly template: Template<ExpressionHole>;
  /** Whether it aggregates; then every column is within an aggregate. */
  readonly isAggregate: boolean;
  readonly operators?: Operators;
  readonly sums?: readonly Summed[];
};

export type SelectHole =
  /** A use of table `table` of `tables`: the engine writes the leaf here, with the alias. */
  | { readonly kind: 'table'; readonly table: number; readonly alias: string }
  /**
   * A bound value: `client_id` for `client_id_variable`, or `<name>` for `<name>_variable`. An item of IN (…)
   * (`isItem`) may have several values, written with commas; elsewhere several are refused.
   */
  | { readonly kind: 'variable'; readonly name: string; readonly isItem: boolean }
  /** The end of the outermost WHERE, where conditions can be ANDed. Written as ` AND (…)`, or as nothing. */
  | { readonly kind: 'conditions' };

/** One read-only SELECT. */
export type ParsedSelect = {
  readonly template: Template<SelectHole>;
  /** Every table that it reads, once each, as FROM names it, without CTEs. */
  readonly tables: readonly Path[];
  /** Names of its variables, including `client_id`. */
  readonly variables: readonly string[];
  /**
   * The tables of the outermost FROM with their aliases. Null where the outermost block is not a plain SELECT over
   * tables, or reads one of them elsewhere too: conditions cannot be added then, and a query that has some is
   * refused.
   */
  readonly block: readonly { readonly table: number; readonly alias: string }[] | null;
  readonly operators?: Operators;
  /** The tables whose values may be shown; the others only decide in the outermost WHERE which rows result. */
  readonly shown: readonly Path[];
  /**
   * Qualified columns with the tables they may come from. The engine refuses columns that none of these has:
   * PostgreSQL would read `t.f` as the call `f(t)`. Left out by other databases.
   */
  readonly columns?: readonly { readonly tables: readonly number[]; readonly name: string }[] | undefined;
  /** With the tables that the column may come from; empty where none of `tables` has it. */
  readonly sums?: readonly (Summed & { readonly tables: readonly number[] })[];
};

/** Both throw METRIC_QUERY_ERROR, which repeats nothing of the text but names. */
export type SqlParser = {
  readonly expression: (text: string) => Promise<ParsedExpression>;
  readonly select: (text: string) => Promise<ParsedSelect>;
  /** Whether two names mean the same table or column to this database. */
  readonly isSameName: (a: string, b: string) => boolean;
};

/**
 * Stands for the client's database. The parsers read it as an ordinary name; it is resolved when tables are looked up, so
 * no client's name enters a cached text.
 */
export const databasePlaceholder = '{{DATABASE_NAME}}';

const mark = 'guestlist_database_name';

export const withoutPlaceholder = (text: string): string => text.replaceAll(databasePlaceholder, mark);

export const withPlaceholder = (text: string): string => text.replaceAll(mark, databasePlaceholder);

/** Table names as the author wrote them. */
export const writtenPath = (path: Path): Path => path.map((part) => (part === mark ? databasePlaceholder : part));
