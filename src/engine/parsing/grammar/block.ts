import type { Path } from '../sql-parser.js';
import { nodesOf } from '../sql-tree.js';
import type { Grammar } from './grammar.js';
import { variableOf } from './scope.js';
import type { Item, Query, Select } from './tree.js';

/**
 * Whether conditions can be ANDed in the outermost WHERE: one SELECT over tables alone, none of which is read twice. Names are compared by their
 * last part and without case, so that rather too much counts as twice.
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

/** In some databases an alias of the SELECT list is known in WHERE, and may be taken for the table whose name it bears. */
const hidesTable = ({ items, from }: Select, grammar: Grammar): boolean => {
  if (!grammar.features.has('global-aliases')) return false;
  const names = items.flatMap((item) => nameOf(item) ?? []);
  const aliases = from.map(
    ({ source }) => source.alias?.text ?? (source.of.kind === 'name' ? source.of.path.at(-1) : ''),
  );
  return names.some((name) => aliases.includes(name));
};

/** The name of a column of the result, where it has one that is not the database's to give. */
export const nameOf = (item: Item): string | undefined => {
  if (item.kind === 'all') return undefined;
  if (item.alias !== null) return item.alias.text;
  const { expression } = item;
  return expression.kind === 'column' && variableOf(expression.path) === undefined ? expression.path.at(-1) : undefined;
};
