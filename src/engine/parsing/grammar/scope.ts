/** Resolves the names of a SELECT: tables, CTEs, aliases, variables and the columns of its result. */
import type { Reason } from '../../../model/reasons.js';
import type { Path } from '../sql-parser.js';
import { nodesOf } from '../sql-tree.js';
import type { Grammar } from './grammar.js';
import type { Cte, Item, Joined, Query, Select, Source } from './tree.js';

type Refuse = (what: string, reason: Reason, location: number) => never;

/** One relation of a FROM, by the alias that qualifies its columns. */
export type Known = {
  readonly alias: string;
  /** The path of a table without an alias, which qualifies its columns too; otherwise null. */
  readonly path: readonly string[] | null;
  readonly of:
    | { readonly kind: 'table'; readonly number: number }
    | { readonly kind: 'cte'; readonly number: number }
    | Query;
};

/** The FROM of a SELECT and those of the enclosing SELECTs. */
export type Scope = { readonly known: readonly Known[]; readonly outer: Scope | null };

/** The CTEs that are visible, nearest first. `number` is null for a CTE that is defined further down. */
export type Ctes = {
  readonly entries: readonly { readonly name: string; readonly number: number | null }[];
  readonly outer: Ctes | null;
};

/** The number of the CTE that the name refers to; undefined where it refers to a table. */
const findCte = ({ of, location }: Source, ctes: Ctes | null, grammar: Grammar, refuse: Refuse): number | undefined => {
  if (of.kind !== 'name' || of.path.length > 1) return undefined;
  for (let scope = ctes; scope !== null; scope = scope.outer) {
    const found = scope.entries.find(({ name }) => grammar.isSameName(name, of.path[0] ?? ''));
    // Some databases read the CTE here, others a table of the same name.
    if (found?.number === null) return refuse('the name of a CTE that is defined further down', 'sql-name', location);
    if (found !== undefined) return found.number;
  }
  return undefined;
};

/** The CTEs visible to the query of `ctes[index]`; without an index, those visible to the rest of the statement. */
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

/**
 * The alias that qualifies the column in the written SQL; undefined where no relation matches, or a nearer one has
 * the same alias.
 */
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

/** The numbers of the tables of FROM that may have the column. */
export const tablesFor = (path: readonly string[], scope: Scope | null, grammar: Grammar): readonly number[] => {
  const owner = path.length === 1 ? undefined : ownerOf(path, scope, grammar);
  let at = scope;
  while (owner !== undefined && at !== null && !at.known.some(({ alias }) => alias === owner)) at = at.outer;
  const among = at?.known.filter(({ alias }) => path.length === 1 || alias === owner) ?? [];
  return among.flatMap(({ of }) => (of.kind === 'table' ? [of.number] : []));
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

/**
 * Whether conditions can be ANDed to the outermost WHERE: one SELECT over tables, each read once in the whole
 * statement. Names are compared by their last part and case-insensitively, which refuses more than necessary and
 * never less.
 */
export const isBlock = ({ body, ctes }: Query, grammar: Grammar): boolean => {
  if (body.kind !== 'select' || body.from.length === 0) return false;
  const own = body.from.map(({ source }) => (source.of.kind === 'name' ? source.of.path : []));
  const isTable = (path: Path): boolean =>
    path.length > 1 || (path.length === 1 && !ctes.some(({ name }) => grammar.isSameName(name.text, path[0] ?? '')));
  const reads = new Map<string, number>();
  for (const { node } of nodesOf([body, ctes])) {
    if (node.kind !== 'name' || !Array.isArray(node.path)) continue;
    const name = String(node.path.at(-1)).toLowerCase();
    reads.set(name, (reads.get(name) ?? 0) + 1);
  }
  const isOnce = (path: Path): boolean => reads.get((path.at(-1) ?? '').toLowerCase()) === 1;
  return own.every((path) => isTable(path) && isOnce(path)) && !hidesTable(body, grammar);
};

/**
 * Where an alias of the SELECT list is visible in WHERE, a condition on a table of that name would compare the alias.
 */
const hidesTable = ({ items, from }: Select, grammar: Grammar): boolean => {
  if (!grammar.features.has('global-aliases')) return false;
  const names = items.flatMap((item) => nameOf(item) ?? []);
  const aliases = from.map(
    ({ source }) => source.alias?.text ?? (source.of.kind === 'name' ? source.of.path.at(-1) : ''),
  );
  return names.some((name) => aliases.includes(name));
};

/** The name of a column of the result; undefined where the database would choose one. */
export const nameOf = (item: Item): string | undefined => {
  if (item.kind === 'all') return undefined;
  if (item.alias !== null) return item.alias.text;
  const { expression } = item;
  return expression.kind === 'column' && variableOf(expression.path) === undefined ? expression.path.at(-1) : undefined;
};

type Naming = {
  readonly grammar: Grammar;
  readonly refuse: Refuse;
  readonly ctes: Ctes | null;
  readonly addTable: (path: Path) => number;
  readonly count: () => number;
};

const greatestWidth = 1000;

/** Columns of the outermost SELECT are read by name, so each needs its own. */
export const assertNames = ({ grammar, refuse }: Naming, items: readonly Item[]): void => {
  const seen: string[] = [];
  if (items.length > greatestWidth) refuse(`more than ${greatestWidth} columns in its result`, 'sql-too-long', 0);
  for (const item of items) {
    const name = nameOf(item);
    if (name === undefined) continue;
    if (seen.some((other) => grammar.isSameName(other, name)))
      refuse('two columns of one name in its result; give one another by AS', 'sql-columns-differ', item.location);
    seen.push(name);
  }
};

/** The relations of a FROM. */
export const knownOf = (names: Naming, from: readonly Joined[]): readonly Known[] => {
  const { grammar, refuse } = names;
  const known: Known[] = [];
  for (const { source } of from) {
    const { of, location } = source;
    const cte = findCte(source, names.ctes, grammar, refuse);
    const alias = source.alias?.text ?? (of.kind === 'name' ? (of.path.at(-1) ?? '') : `gl_rows_${names.count()}`);
    if (known.some((other) => grammar.isSameName(other.alias, alias)))
      refuse('a second table of one name in a FROM; give it an alias', 'sql-name', location);
    if (of.kind === 'query') known.push({ alias, path: null, of });
    else {
      const number = cte ?? names.addTable(of.path);
      const kind = cte === undefined ? 'table' : 'cte';
      known.push({ alias, path: source.alias === null && kind === 'table' ? of.path : null, of: { kind, number } });
    }
  }
  return known;
};
