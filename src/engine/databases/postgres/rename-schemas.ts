import { expectedAt, placeAt } from '../../parsing/refusals.js';
import { nodesOf, sameTree, type TreeNode, textIn } from '../../parsing/sql-tree.js';
import { failureIn } from './parser.js';

type Rename = (schemaName: string) => string | undefined;
type Rewritten = { readonly sql: string } | { readonly expected: string };

/** Imported at first use, because few imports hold SQL. */
const openParser = async () => {
  const [{ parse }, { deparse }] = await Promise.all([import('libpg-query'), import('pgsql-deparser')]);
  return { parse, deparse };
};

const fieldText = (field: unknown): string | undefined => {
  const text = typeof field === 'object' && field !== null ? Reflect.get(field, 'String') : undefined;
  return typeof text === 'object' && text !== null ? String(Reflect.get(text, 'sval')) : undefined;
};

/** A column reference of three parts is `schema.table.column`, of four `database.schema.table.column`. */
const renameColumn = (node: TreeNode, rename: Rename): void => {
  if (!Array.isArray(node.fields) || node.fields.length < 3) return;
  const at = node.fields.length - 3;
  const target = rename(fieldText(node.fields[at]) ?? '');
  if (target !== undefined) node.fields = node.fields.with(at, { String: { sval: target } });
};

const renameIn = (tree: unknown, rename: Rename): void => {
  for (const { node, name } of nodesOf(tree)) {
    if (name === 'RangeVar') {
      const target = rename(textIn(node, 'schemaname'));
      if (target !== undefined) node.schemaname = target;
    }
    if (name === 'ColumnRef') renameColumn(node, rename);
  }
};

/** Only SELECT at any depth: a CTE may hold DELETE, and INTO creates a table. */
const isOneSelect = (tree: { readonly stmts?: readonly unknown[] }): boolean => {
  if (tree.stmts?.length !== 1) return false;
  for (const { name } of nodesOf(tree)) {
    if ((/Stmt$/.test(name) && name !== 'SelectStmt') || name === 'intoClause') return false;
  }
  const [first] = tree.stmts;
  const statement = typeof first === 'object' && first !== null ? Reflect.get(first, 'stmt') : undefined;
  return typeof statement === 'object' && statement !== null && 'SelectStmt' in statement;
};

const expected = 'one SELECT in the SQL of PostgreSQL';
const oneSelect = { expected } as const;

/**
 * Renames the schemas of one SELECT with PostgreSQL's own parser. The printed SQL must parse to the same tree again.
 */
export const renamePostgresSchemas = async (text: string, rename: Rename): Promise<Rewritten> => {
  const { parse, deparse } = await openParser();
  try {
    const tree = await parse(text);
    if (!isOneSelect(tree)) return oneSelect;
    renameIn(tree, rename);
    const sql = await deparse(tree);
    return sameTree(tree, await parse(sql)) ? { sql } : oneSelect;
  } catch (error) {
    // The parser's message would repeat the text. Nesting beyond its stack also fails here.
    return { expected: expectedAt(expected, placeAt(text, failureIn(error))) };
  }
};
