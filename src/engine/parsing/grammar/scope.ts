import type { Grammar } from './grammar.js';
import type { Cte, Query, Source } from './tree.js';

type Refuse = (what: string, reason: string, location: number) => never;

/** What stands in a FROM, under the name that columns know it by. */
export type Known = {
  readonly alias: string;
  /** As a table without alias is named; null: columns know it by its alias alone. */
  readonly path: readonly string[] | null;
  readonly of:
    | { readonly kind: 'table'; readonly number: number }
    | { readonly kind: 'cte'; readonly number: number }
    | Query;
};

/** The FROM of a SELECT, and those of the SELECTs around it. */
export type Scope = { readonly known: readonly Known[]; readonly outer: Scope | null };

/** The CTEs that a place can read, nearest first; null where the name is there, but not yet. */
export type Ctes = {
  readonly entries: readonly { readonly name: string; readonly number: number | null }[];
  readonly outer: Ctes | null;
};

/** The number of the CTE that this table's name means. Undefined: it means a table. */
export const findCte = (
  { of, location }: Source,
  ctes: Ctes | null,
  grammar: Grammar,
  refuse: Refuse,
): number | undefined => {
  if (of.kind !== 'name' || of.path.length > 1) return undefined;
  for (let scope = ctes; scope !== null; scope = scope.outer) {
    const found = scope.entries.find(({ name }) => grammar.isSameName(name, of.path[0] ?? ''));
    // Some databases read the CTE, others a table of that name.
    if (found?.number === null) return refuse('the name of a CTE that is defined further down', 'sql-name', location);
    if (found !== undefined) return found.number;
  }
  return undefined;
};

/** The CTEs that the query of `ctes[index]` can read; without an index, those that the rest of the statement can. */
export const ctesFor = (
  { ctes }: Pick<Query, 'ctes'>,
  numbers: readonly number[],
  outer: Ctes | null,
  index = ctes.length,
): Ctes => ({
  entries: ctes.flatMap(({ name }: Cte, other) => {
    if (other === index) return [];
    return [{ name: name.text, number: other > index ? null : (numbers[other] ?? null) }];
  }),
  outer,
});

/** The alias that a qualified column is written with; undefined where there is none, or a nearer table has the same. */
export const ownerOf = (path: readonly string[], scope: Scope | null, grammar: Grammar): string | undefined => {
  const owner = path.slice(0, -1);
  const isMeant = ({ alias, path: named }: Known): boolean =>
    owner.length === 1
      ? grammar.isSameName(alias, owner[0] ?? '')
      : named?.length === 2 && named.every((part, index) => grammar.isSameName(part, owner[index] ?? ''));
  for (let at = scope; at !== null; at = at.outer) {
    const found = at.known.find(isMeant);
    if (found !== undefined) return isHidden(found.alias, scope, at, grammar) ? undefined : found.alias;
  }
  return undefined;
};

const isHidden = (alias: string, from: Scope | null, to: Scope, grammar: Grammar): boolean => {
  for (let at = from; at !== null && at !== to; at = at.outer) {
    if (at.known.some((other) => grammar.isSameName(other.alias, alias))) return true;
  }
  return false;
};

/** The name of the variable that `<name>_variable` stands for. */
export const variableOf = (path: readonly string[]): string | undefined => {
  const name = path.length === 1 ? /^(.+)_variable$/i.exec(path[0] ?? '')?.[1] : undefined;
  return name?.toLowerCase() === 'client_id' ? 'client_id' : name;
};
