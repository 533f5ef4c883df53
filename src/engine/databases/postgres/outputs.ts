/**
 * Names of a SELECT's columns. Where `d` has no column `f`, PostgreSQL reads `d.f` as the call `f(d)` of any
 * function, so unknown columns must be refused.
 */
import { variableOf } from '../../parsing/refusals.js';
import type { Outputs, Relation } from '../../parsing/relations.js';
import { isNode, type TreeNode } from '../../parsing/sql-tree.js';
import { namesOf } from './grammar.js';

type Mutable = Outputs & {
  readonly names: Set<string>;
  readonly tables: number[];
  readonly inOrder: (string | null)[];
};

const childOf = (value: unknown, kind: string): TreeNode | undefined =>
  isNode(value) && isNode(value[kind]) ? value[kind] : undefined;
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** The name that PostgreSQL derives for a column. Rare cases are unknown here and need AS. */
const nameOf = (value: unknown): string | null => {
  const cast = childOf(value, 'TypeCast');
  if (cast !== undefined) return nameOf(cast.arg);
  const names = namesOf(childOf(value, 'ColumnRef')?.fields ?? childOf(value, 'FuncCall')?.funcname);
  const isVariable = names.length === 1 && variableOf(names[0] ?? '') !== undefined;
  return isVariable ? null : (names.at(-1) ?? null);
};

const addAll = (found: Mutable, relations: Iterable<Relation>): void => {
  found.inOrder.push(null);
  for (const relation of relations) {
    if (relation === 'derived') continue;
    if ('table' in relation) found.tables.push(relation.table);
    else {
      for (const name of relation.columns.names) found.names.add(name);
      found.tables.push(...relation.columns.tables);
    }
  }
};

/**
 * The output names of a SELECT before it is rewritten. `block` are the relations of its FROM; `find` resolves a
 * qualifier.
 */
export const outputsOf = (
  select: TreeNode,
  block: ReadonlyMap<string, Relation>,
  find: (name: string) => Relation | undefined,
): Outputs => {
  const found: Mutable = { names: new Set(), tables: [], inOrder: [] };
  for (const target of listOf(select.targetList).map((item) => childOf(item, 'ResTarget') ?? {})) {
    const fields = listOf(childOf(target.val, 'ColumnRef')?.fields);
    const isStar = childOf(fields.at(-1), 'A_Star') !== undefined;
    if (isStar) addAll(found, fields.length === 1 ? block.values() : [find(namesOf(fields).at(-2) ?? '') ?? 'derived']);
    else found.inOrder.push(typeof target.name === 'string' ? target.name : nameOf(target.val));
  }
  const [row] = listOf(select.valuesLists);
  listOf(childOf(row, 'List')?.items).forEach((_, index) => {
    found.inOrder.push(`column${index + 1}`);
  });
  for (const name of found.inOrder) if (name !== null) found.names.add(name);
  return found;
};

/** The outputs renamed by `d(x, y)`. Columns after a `*` have no known position, so no name. */
export const renamed = (outputs: Outputs, names: readonly string[]): Outputs => {
  if (names.length === 0) return outputs;
  const rest = outputs.inOrder.slice(names.length);
  const inOrder = [...names, ...(outputs.inOrder.includes(null) ? [null] : rest)];
  return { names: new Set(inOrder.filter((name) => name !== null)), tables: [], inOrder };
};

/** The alias of a function in FROM is also its column's name. */
export const outputsOfFunction = (alias: string, names: readonly string[]): Outputs => {
  const inOrder = names.length > 0 ? names : [alias, 'ordinality'];
  return { names: new Set(inOrder), tables: [], inOrder };
};

/** The column names of `d(x, y)`. */
export const colnamesOf = ({ alias }: TreeNode): readonly string[] =>
  namesOf(isNode(alias) ? alias.colnames : undefined);
