/** Syntax trees as plain JSON, from any parser. */

/** An object of a tree. Its members are changed in place. */
export type TreeNode = { [name: string]: unknown };

/** Whether the value is an object of a tree. */
export const isNode = (value: unknown): value is TreeNode =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const listIn = (node: TreeNode, name: string): readonly unknown[] => {
  const value = node[name];
  return Array.isArray(value) ? value : [];
};

/** Every object of the tree with the name of its member. Iterative, so deep trees do not exhaust the stack. */
export function* nodesOf(tree: unknown): Generator<{ readonly node: TreeNode; readonly name: string }> {
  const open: { value: unknown; name: string }[] = [{ value: tree, name: '' }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { value, name } = next;
    if (Array.isArray(value)) for (const item of value) open.push({ value: item, name });
    if (!isNode(value)) continue;
    yield { node: value, name };
    for (const [key, inner] of Object.entries(value)) open.push({ value: inner, name: key });
  }
}

export const textIn = (node: TreeNode, name: string): string => {
  const value = node[name];
  return typeof value === 'string' ? value : '';
};

/** Positions in the text, which do not change the meaning. */
const isPosition = (name: string): boolean => /location$|^stmt_len$|list_(start|end)$/.test(name);

/** Whether two trees have the same meaning. */
export const sameTree = (a: unknown, b: unknown): boolean => written(a) === written(b);

const written = (tree: unknown): string =>
  JSON.stringify(tree, (name, value: unknown) => {
    if (isPosition(name)) return undefined;
    // Members in one order: rewriting appends members.
    return isNode(value) ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))) : value;
  });

const marker = '\u0001number:';

/** Parses JSON without rounding: every number becomes a text that `writeExact` turns back. */
export const readExact = (json: string): unknown =>
  JSON.parse(
    json.replaceAll(/"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g, (token) =>
      token.startsWith('"') ? token : JSON.stringify(marker + token),
    ),
  );

export const writeExact = (tree: unknown): string =>
  JSON.stringify(tree).replaceAll(/"\\u0001number:([^"\\]*)"/g, (_, number: string) => number);
