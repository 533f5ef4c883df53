/**
 * Parses with DuckDB's own serializer, in a database that can reach nothing. The printed SQL must parse to the same
 * tree again.
 */
import { handled } from '../../../model/handled.js';
import { createMarkers, type Markers, withoutAnd } from '../../parsing/markers.js';
import { assertPlainExpression, placeAt, refuseSql, refuseSyntax } from '../../parsing/refusals.js';
import type { ExpressionHole, SelectHole, SqlParser } from '../../parsing/sql-parser.js';
import { isNode, sameTree, type TreeNode } from '../../parsing/sql-tree.js';
import { checkNodes } from './grammar.js';
import { type ExpressionFacts, rewriteExpression, rewriteStatement } from './rewrite.js';
import { type DuckDbTrees, failureIn, openTrees } from './tree.js';

const oneSelect = 'one SELECT in the SQL of DuckDB';
const oneExpression = 'one expression in the SQL of DuckDB';

let opening: Promise<DuckDbTrees> | undefined;

/** Shared by all callers, because it keeps nothing of the texts. */
const trees = (): Promise<DuckDbTrees> => {
  opening ??= handled(openTrees());
  opening.catch(() => {
    opening = undefined;
  });
  return opening;
};

type Statement = { readonly tree: TreeNode; readonly query: TreeNode; readonly node: TreeNode };

/** `lead` stands before the author's text. */
const parseOne = async (author: string, expected: string, lead = ''): Promise<Statement> => {
  const text = `${lead}${author}`;
  const { parse } = await trees();
  const tree = await parse(text).catch(() => undefined);
  const statements = tree?.error === false && Array.isArray(tree.statements) ? tree.statements : [];
  const [query] = statements;
  if (tree === undefined || statements.length !== 1 || !isNode(query) || !isNode(query.node))
    return refuseSyntax(expected, placeAt(author, failureIn(tree), lead));
  return { tree, query, node: query.node };
};

const print = async <Hole>(tree: TreeNode, markers: Markers<Hole>) => {
  const { parse, print } = await trees();
  const attempt = async () => {
    const text = await print(tree);
    return sameTree(tree, await parse(text)) ? text : undefined;
  };
  const text = await attempt().catch(() => undefined);
  return markers.split(text ?? refuseSql('a construct that cannot be rewritten exactly'));
};

const markersFor = <Hole>(tree: TreeNode): Markers<Hole> => {
  const text = JSON.stringify(tree).toLowerCase();
  return createMarkers((name) => text.includes(name));
};

/** Adds ` AND <hole>` to the outermost WHERE. */
const addConditions = async (node: TreeNode, mark: string): Promise<void> => {
  const pattern = (await parseOne(`SELECT 1 WHERE 1 = 1 AND ${mark}`, oneSelect)).node.where_clause;
  if (!isNode(pattern) || !Array.isArray(pattern.children)) return refuseSql('a WHERE that cannot be added to');
  const [always, hole] = pattern.children;
  const where = node.where_clause;
  const isAnd = isNode(where) && where.type === 'CONJUNCTION_AND' && Array.isArray(where.children);
  node.where_clause = {
    ...pattern,
    children: isAnd ? [...(where.children as unknown[]), hole] : [where ?? always, hole],
  };
};

const select: SqlParser['select'] = async (text) => {
  // The parser would end the text at a NUL.
  if (text.includes('\0')) return refuseSyntax('SQL without NUL');
  const { tree, query, node } = await parseOne(text, oneSelect);
  checkNodes(node);
  if (Array.isArray(query.named_param_map) && query.named_param_map.length > 0) return refuseSql('a parameter');
  const markers = markersFor<SelectHole>(tree);
  const unfiltered = { ...query, node: { ...structuredClone(node), where_clause: null } };
  const shown = rewriteStatement(unfiltered, markersFor<SelectHole>(tree)).tables.paths;
  const { tables, variables, block } = rewriteStatement(query, markers);
  if (block !== null) await addConditions(node, markers.mark({ kind: 'conditions' }));
  return { template: withoutAnd(await print(tree, markers)), tables: tables.paths, shown, variables, block };
};

/** Whether the statement is a single select item and nothing else. */
const isPlain = (node: TreeNode): boolean => {
  const { type, select_list: _list, cte_map: ctes, from_table: from, aggregate_handling: handling, ...rest } = node;
  const isBare = Object.values(rest).every((value) => value === null || (Array.isArray(value) && value.length === 0));
  const hasCtes = !isNode(ctes) || !Array.isArray(ctes.map) || ctes.map.length > 0;
  return (
    type === 'SELECT_NODE' &&
    isBare &&
    !hasCtes &&
    isNode(from) &&
    from.type === 'EMPTY' &&
    handling === 'STANDARD_HANDLING'
  );
};

const expression: SqlParser['expression'] = async (text) => {
  assertPlainExpression(text);
  const { tree, node } = await parseOne(text, oneExpression, 'SELECT ');
  const list = Array.isArray(node.select_list) ? node.select_list : [];
  const [target] = list;
  if (list.length !== 1 || !isPlain(node) || !isNode(target) || target.alias !== '') return refuseSyntax(oneExpression);
  checkNodes(target);
  const markers = markersFor<ExpressionHole>(tree);
  const facts: ExpressionFacts = { isAggregate: false, hasBareColumn: false };
  rewriteExpression(target, markers, facts);
  if (facts.isAggregate && facts.hasBareColumn) return refuseSql('a column outside of the aggregates');
  const [first = '', ...rest] = await print(tree, markers);
  const start = typeof first === 'string' ? first.replace(/^\s*SELECT\s+/, '') : first;
  return { template: [start, ...rest], isAggregate: facts.isAggregate };
};

export const duckDbParser: SqlParser = {
  expression,
  select,
  isSameName: (a, b) => a.toLowerCase() === b.toLowerCase(),
};
