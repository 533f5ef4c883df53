/** The relations of FROM clauses and their scopes. Each table gets a number, each CTE a generated name. */

import { refuseSql } from './refusals.js';
import type { ParsedSelect, Path } from './sql-parser.js';

export type TableRelation = { readonly table: number; readonly path: Path; readonly isAliased: boolean };
export type Relation = TableRelation | 'derived' | { readonly columns: Outputs };

export const isTable = (relation: Relation | undefined): relation is TableRelation =>
  typeof relation === 'object' && 'table' in relation;

/** The names of a query's columns: known names, and the tables whose columns are all included. */
export type Outputs = {
  readonly names: ReadonlySet<string>;
  readonly tables: readonly number[];
  /** The names by position as far as they are known; null from the first unknown one. */
  readonly inOrder: readonly (string | null)[];
};

export type Scope = {
  /** The generated names of visible CTEs, by their own names. */
  readonly ctes: ReadonlyMap<string, string>;
  /** The relations that qualify columns, innermost block first. */
  readonly blocks: readonly ReadonlyMap<string, Relation>[];
};

export const noScope: Scope = { ctes: new Map(), blocks: [] };

export const findRelation = ({ blocks }: Scope, name: string): Relation | undefined =>
  blocks.find((block) => block.has(name))?.get(name);

/** Collects the relations of one FROM. Refuses duplicate names. */
export const exposing = (relations: readonly (readonly [string, Relation])[]): ReadonlyMap<string, Relation> => {
  const block = new Map<string, Relation>();
  for (const [name, relation] of relations) {
    if (block.has(name)) refuseSql(`two relations named ${name} in one FROM (give each an alias)`);
    block.set(name, relation);
  }
  return block;
};

export type Tables = {
  readonly paths: readonly Path[];
  readonly numberOf: (path: Path) => number;
  /** How often the table is read. */
  readonly uses: (table: number) => number;
  readonly nextCte: () => string;
};

export const createTables = (): Tables => {
  const paths: Path[] = [];
  const uses: number[] = [];
  let ctes = 0;
  return {
    paths,
    numberOf: (path) => {
      const known = paths.findIndex((other) => JSON.stringify(other) === JSON.stringify(path));
      const table = known >= 0 ? known : paths.push(path) - 1;
      uses[table] = (uses[table] ?? 0) + 1;
      return table;
    },
    uses: (table) => uses[table] ?? 0,
    nextCte: () => `gl_cte_${ctes++}`,
  };
};

/** The relations of a FROM; null where it is not that of a plain SELECT over tables. */
export type Block = ReadonlyMap<string, Relation> | null;

/** The outermost FROM, where it is a plain SELECT over tables that are read once each; otherwise null. */
export const blockOf = (block: Block, tables: Tables): ParsedSelect['block'] => {
  if (block === null || block.size === 0) return null;
  const shown = [...block].flatMap(([alias, relation]) =>
    !isTable(relation) || tables.uses(relation.table) > 1 ? [] : [{ table: relation.table, alias }],
  );
  return shown.length === block.size ? shown : null;
};
