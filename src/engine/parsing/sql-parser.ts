/**
 * What an engine needs of a database's own grammar: a text the host wrote is parsed as that database would, checked node by node against lists of what is
 * allowed, and written anew from its tree. The text itself never reaches the database.
 */

/** SQL as it is written from the tree, with gaps; the engine fills them, and quotes what it puts there. */
export type Template<Hole> = readonly (string | Hole)[];

/** A name as it was written, part by part, folded as the database folds it: `['flights', 'delay']`. */
export type Path = readonly string[];

/** Those that it uses, and its casts (`::json`), where a database's owner may make others of these names. */
export type Operators = readonly string[] | undefined;

export type ExpressionHole = { readonly kind: 'column'; readonly path: Path };

/** One scalar expression over columns: parsed unwrapped, so that nothing can end it and begin another. */
export type ParsedExpression = {
  readonly template: Template<ExpressionHole>;
  /** Whether it aggregates; then every column stands within an aggregate. */
  readonly isAggregate: boolean;
  readonly operators?: Operators;
};

export type SelectHole =
  /** Where table `table` of `tables` is read: the engine puts the leaf there, with the alias. */
  | { readonly kind: 'table'; readonly table: number; readonly alias: string }
  /**
   * A bound value: `client_id_variable` (`client_id`), or `<name>_variable` by its name. As an item of IN (…) (`isItem`) it may be several, and
   * they are written with commas between them; anywhere else several are refused.
   */
  | { readonly kind: 'variable'; readonly name: string; readonly isItem: boolean }
  /** Stands in WHERE of the outermost block, where conditions can be ANDed: it is written as ` AND (…)`, or as nothing. */
  | { readonly kind: 'conditions' };

/** One SELECT that only reads. */
export type ParsedSelect = {
  readonly template: Template<SelectHole>;
  /** Every table that it reads, once each, as the FROM clauses name it; names of its own CTEs are not among them. */
  readonly tables: readonly Path[];
  /** Names of variables in it, `client_id` among them. */
  readonly variables: readonly string[];
  /**
   * The tables of the outermost block's FROM with the alias that columns are known by there; null where the outermost block is no plain SELECT over
   * tables alone, or where one of these tables is read anywhere else too. Then no condition can be added, and none is left out: the query is refused.
   */
  readonly block: readonly { readonly table: number; readonly alias: string }[] | null;
  readonly operators?: Operators;
  /** Those of `tables` whose values may be shown, and not only decide in the outermost WHERE which rows are; its FROM among them. */
  readonly shown: readonly Path[];
  /**
   * Columns that are named with an alias, and come from these tables: the engine refuses those that all of them lack. PostgreSQL reads `t.f` as the call
   * `f(t)` where there is no such column. Left out by databases that do not.
   */
  readonly columns?: readonly { readonly tables: readonly number[]; readonly name: string }[] | undefined;
};

/** Both refuse with METRIC_QUERY_ERROR, and repeat nothing of the text but names. */
export type SqlParser = {
  readonly expression: (text: string) => Promise<ParsedExpression>;
  readonly select: (text: string) => Promise<ParsedSelect>;
  /** Whether two names mean the same table or column to this database. */
  readonly isSameName: (a: string, b: string) => boolean;
};
