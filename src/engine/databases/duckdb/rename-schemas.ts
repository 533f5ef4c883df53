import { expectedAt, placeAt } from '../../parsing/refusals.js';
import { nodesOf, sameTree, type TreeNode, textIn } from '../../parsing/sql-tree.js';
import { failureIn, openTrees } from './tree.js';

type Rename = (schemaName: string) => string | undefined;
type Rewritten = { readonly sql: string } | { readonly expected: string };

const isBaseTable = ({ type }: TreeNode): boolean => type === 'BASE_TABLE';

/** Names and aliases of relations. As the first part of a column they are not a schema. */
const relationNames = (tree: TreeNode): ReadonlySet<string> => {
  const names: string[] = [];
  for (const { node } of nodesOf(tree)) {
    const isRelation = 'sample' in node && 'alias' in node;
    if (isRelation) names.push(textIn(node, 'alias') || textIn(node, 'table_name'));
    if ('key' in node && 'value' in node) names.push(textIn(node, 'key'));
  }
  return new Set(names.map((name) => name.toLowerCase()));
};

/**
 * The schema.table pairs that the statement reads without an alias, in lower case: DuckDB's names are case-
 * insensitive.
 */
const bareTables = (tree: TreeNode): ReadonlySet<string> => {
  const tables: string[] = [];
  for (const { node } of nodesOf(tree)) {
    if (isBaseTable(node) && textIn(node, 'alias') === '') {
      tables.push(JSON.stringify([textIn(node, 'schema_name'), textIn(node, 'table_name')]).toLowerCase());
    }
  }
  return new Set(tables);
};

/** Renames the schema in `schema.table.column`, where that table is read. Returns the first ambiguous column. */
const renameColumns = (tree: TreeNode, rename: Rename): string | undefined => {
  const [relations, tables] = [relationNames(tree), bareTables(tree)];
  for (const { node } of nodesOf(tree)) {
    if (node.type !== 'COLUMN_REF' || !Array.isArray(node.column_names)) continue;
    const [schema, table, ...rest] = node.column_names.map(String);
    const target = schema === undefined ? undefined : rename(schema);
    if (schema === undefined || table === undefined || target === undefined || rest.length === 0) continue;
    if (!tables.has(JSON.stringify([schema, table]).toLowerCase())) continue;
    if (relations.has(schema.toLowerCase())) return [schema, table, ...rest].join('.');
    node.column_names = [target, table, ...rest];
  }
  return undefined;
};

const renameTables = (tree: TreeNode, rename: Rename): void => {
  for (const { node } of nodesOf(tree)) {
    const target = isBaseTable(node) ? rename(textIn(node, 'schema_name')) : undefined;
    if (target !== undefined) node.schema_name = target;
  }
};

const statementsIn = (tree: TreeNode): readonly unknown[] => (Array.isArray(tree.statements) ? tree.statements : []);

const holdsOtherThanSelect = (tree: TreeNode): boolean => {
  for (const { node } of nodesOf(tree)) if (node.type === 'SHOW_REF') return true;
  return false;
};

const expected = 'one SELECT in the SQL of DuckDB';
const oneSelect = { expected } as const;

/** Renames the schemas of one SELECT, with DuckDB's own parser and printer. */
export const renameDuckDbSchemas = async (text: string, rename: Rename): Promise<Rewritten> => {
  const parser = await openTrees();
  try {
    const tree = await parser.parse(text);
    if (tree.error === true) return { expected: expectedAt(expected, placeAt(text, failureIn(tree))) };
    if (tree.error !== false || statementsIn(tree).length !== 1 || holdsOtherThanSelect(tree)) return oneSelect;
    // Columns are renamed first, because they are found by the tables' old names.
    const ambiguous = renameColumns(tree, rename);
    if (ambiguous !== undefined) {
      return {
        expected: `column ${ambiguous} written by an alias of its table, since its first part also names a relation`,
      };
    }
    renameTables(tree, rename);
    const sql = await parser.print(tree);
    return sameTree(tree, await parser.parse(sql)) ? { sql } : oneSelect;
  } catch {
    return oneSelect;
  } finally {
    parser.close();
  }
};
