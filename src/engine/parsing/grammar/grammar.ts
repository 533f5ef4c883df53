/**
 * A conservative grammar of SELECT, for databases whose own parser returns no tree (MySQL and ClickHouse). Refuses
 * everything it does not know. The SQL that runs is written from the tree, so text outside the tree never reaches the
 * database.
 */
import type { Lexis } from './lexer.js';

/** What differs between the databases; the rest of the grammar is common. */
export type Grammar = {
  /** Display name of the database in error messages. */
  readonly databaseName: string;
  readonly lexis: Lexis;
  readonly isSameName: (a: string, b: string) => boolean;
  /** By upper-case name. Functions that are not listed are refused. */
  readonly functions: ReadonlyMap<string, AllowedFunction>;
  /** Types that CAST accepts, by upper-case name, with the greatest number of integer parameters. */
  readonly casts: ReadonlyMap<string, { readonly name: string; readonly parameters: number }>;
  /** Units of INTERVAL, EXTRACT and similar functions. */
  readonly units: ReadonlySet<string>;
  /** Operators like LIKE, in upper case. */
  readonly likes: ReadonlySet<string>;
  readonly joins: ReadonlySet<string>;
  /** Words that are names only in quotes. */
  readonly reserved: ReadonlySet<string>;
  /** Words that can follow a table or a column in this database, so they are an alias only after AS. */
  readonly suffixes: ReadonlySet<string>;
  /** In upper case. */
  readonly systemSchemas: ReadonlySet<string>;
  readonly features: ReadonlySet<Feature>;
  readonly writeText: (value: string) => string;
};

export type AllowedFunction = {
  /** Spelling in the written SQL. */
  readonly name: string;
  readonly kind: 'scalar' | 'aggregate' | 'window';
  /**
   * `unit`: the first argument is a unit. `interval`: the second argument may be an INTERVAL. `bare`: may be called
   * without parentheses. `level`: has parameters before its arguments, as `quantile(0.5)(x)`.
   */
  readonly form?: 'unit' | 'interval' | 'bare' | 'level' | undefined;
};

export type Feature =
  /** `a || b` concatenates text. In databases without this feature, `||` is refused. */
  | 'concat'
  | 'collate'
  | 'json-arrows'
  | 'cast-colons'
  | 'is-truth'
  /** `SELECT x AS 'name'`. */
  | 'text-alias'
  /**
   * A CTE is written where it is read, because MariaDB does not see the statement's CTEs from the CTEs of a subquery.
   */
  | 'inline-ctes'
  | 'rollup'
  | 'nulls-order'
  | 'group-concat'
  /** UNION, EXCEPT and INTERSECT without ALL or DISTINCT remove duplicates. */
  | 'default-distinct'
  /** ORDER BY and LIMIT after UNION apply to the whole result; in other databases to the last SELECT. */
  | 'ordered-set'
  /** A lone name in IN (…) may be read as a table. */
  | 'constant-lists'
  /** An alias of the SELECT list is visible in WHERE, even where a table has the same name. */
  | 'global-aliases'
  /** SUM and AVG turn text and dates into numbers, which other databases refuse. */
  | 'sums-anything';

/** Builds the allow-list of functions from names separated by blanks. */
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

/** Reserved in every grammar. */
export const commonReserved =
  wordsOf(`ALL AND AS ASC BETWEEN BY CASE CAST CROSS CURRENT_CATALOG CURRENT_SCHEMA CURRENT_USER DEFAULT DELETE DESC DISTINCT DROP ELSE END EXCEPT EXISTS FALSE FETCH FOR
  FROM FULL GROUP HAVING IN INNER INSERT INTERSECT INTERVAL INTO IS JOIN LATERAL LEFT LIKE LIMIT LOCK NATURAL NOT NULL ON OR ORDER OUTER OVER
  PROCEDURE QUALIFY RECURSIVE RIGHT SELECT SESSION_USER SET SYSTEM_USER TABLE THEN TRUE UNION UPDATE USING VALUES WHEN WHERE WINDOW WITH`);

export const commonSuffixes = wordsOf(
  'OFFSET PARTITION TABLESAMPLE SEPARATOR ROWS RANGE GROUPS FILTER IGNORE RESPECT WITHIN',
);
