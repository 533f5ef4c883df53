/**
 * A conservative grammar of SELECT, for databases whose own parser gives no tree: what it does not know is refused, and what runs is written from
 * its own tree. So nothing that stands outside of the tree can reach the database, whatever the database would have made of the text.
 */
import type { Lexis } from './lexer.js';

/** What one database reads and writes in its own way; the rest of the grammar is alike for all. */
export type Grammar = {
  /** As the reader of a refusal calls it. */
  readonly databaseName: string;
  readonly lexis: Lexis;
  readonly isSameName: (a: string, b: string) => boolean;
  /** By upper-case name: whatever is not here cannot be called. */
  readonly functions: ReadonlyMap<string, AllowedFunction>;
  /** By upper-case name, as CAST takes them; each with the greatest number of parameters, which are whole numbers. */
  readonly casts: ReadonlyMap<string, { readonly name: string; readonly parameters: number }>;
  /** Of INTERVAL, EXTRACT and the like. */
  readonly units: ReadonlySet<string>;
  /** By upper-case words: `IS NULL` is for all. */
  readonly likes: ReadonlySet<string>;
  readonly joins: ReadonlySet<string>;
  /** Words that are no name unless they are quoted. */
  readonly reserved: ReadonlySet<string>;
  /** Words that follow a table or a column in this database's grammar, so that without AS they are no alias. */
  readonly suffixes: ReadonlySet<string>;
  /** Upper case. */
  readonly systemSchemas: ReadonlySet<string>;
  readonly features: ReadonlySet<Feature>;
  readonly writeText: (value: string) => string;
};

export type AllowedFunction = {
  /** As it is written. */
  readonly name: string;
  readonly kind: 'scalar' | 'aggregate' | 'window';
  /** `unit`: the first argument is a unit. `interval`: the second may be an INTERVAL. `bare`: called without parentheses, too. */
  readonly form?: 'unit' | 'interval' | 'bare' | 'level' | undefined;
};

export type Feature =
  /** `a || b` joins texts; elsewhere it is OR or refused. */
  | 'concat'
  | 'collate'
  | 'json-arrows'
  | 'cast-colons'
  | 'is-truth'
  /** `SELECT x AS 'name'`. */
  | 'text-alias'
  /** A CTE is written where it is read: MariaDB does not find the statement's CTEs within those of a subquery. */
  | 'inline-ctes'
  | 'rollup'
  | 'nulls-order'
  | 'group-concat'
  /** UNION, EXCEPT and INTERSECT without a word more leave out rows that come twice. */
  | 'default-distinct'
  /** ORDER BY and LIMIT after UNION are the whole's; elsewhere the last SELECT's. */
  | 'ordered-set'
  /** A lone name in IN (…) may be a table's. */
  | 'constant-lists'
  /** An alias in a SELECT list is known in WHERE, even where it is a table's name. */
  | 'global-aliases';

/** A list of functions from their names, with blanks between. */
export const functionsOf = (
  names: Readonly<Record<AllowedFunction['kind'], string>>,
  forms: Readonly<Record<NonNullable<AllowedFunction['form']>, string>>,
): ReadonlyMap<string, AllowedFunction> => {
  const formOf = new Map<string, AllowedFunction['form']>();
  for (const form of ['unit', 'interval', 'bare', 'level'] as const) {
    for (const name of wordsOf(forms[form])) formOf.set(name, form);
  }
  const allowed = new Map<string, AllowedFunction>();
  for (const kind of ['scalar', 'aggregate', 'window'] as const) {
    for (const name of wordsOf(names[kind])) allowed.set(name.toUpperCase(), { name, kind, form: formOf.get(name) });
  }
  return allowed;
};

export const wordsOf = (text: string): readonly string[] => text.split(/\s+/).filter((word) => word !== '');

/** Of every SELECT that is read here. */
export const commonReserved =
  wordsOf(`ALL AND AS ASC BETWEEN BY CASE CAST CROSS CURRENT_CATALOG CURRENT_SCHEMA CURRENT_USER DEFAULT DELETE DESC DISTINCT DROP ELSE END EXCEPT EXISTS FALSE FETCH FOR
  FROM FULL GROUP HAVING IN INNER INSERT INTERSECT INTERVAL INTO IS JOIN LATERAL LEFT LIKE LIMIT LOCK NATURAL NOT NULL ON OR ORDER OUTER OVER
  PROCEDURE QUALIFY RECURSIVE RIGHT SELECT SESSION_USER SET SYSTEM_USER TABLE THEN TRUE UNION UPDATE USING VALUES WHEN WHERE WINDOW WITH`);

export const commonSuffixes = wordsOf(
  'OFFSET PARTITION TABLESAMPLE SEPARATOR ROWS RANGE GROUPS FILTER IGNORE RESPECT WITHIN',
);
