/**
 * Parses with PostgreSQL's own grammar (WebAssembly) and prints with pgsql-deparser. The printed SQL must parse to
 * the same tree again.
 */
import type { TextPlace } from '../../../model/text-place.js';
import { createMarkers, type Markers, withoutAnd } from '../../parsing/markers.js';
import { assertPlainExpression, placeAt, refuseSql, refuseSyntax } from '../../parsing/refusals.js';
import type { ExpressionHole, SelectHole, SqlParser } from '../../parsing/sql-parser.js';
import { isNode, nodesOf, sameTree, type TreeNode } from '../../parsing/sql-tree.js';
import { checkNodes, namesOf } from './grammar.js';
import { type ExpressionFacts, rewriteExpression, rewriteStatement } from './rewrite.js';

/** Where the text fails, by the error of PostgreSQL's parser. Nothing else of the error may be shown: it repeats the text. */
export const failureIn = (error: unknown): unknown => {
  const details = error instanceof Error ? Reflect.get(error, 'sqlDetails') : undefined;
  return isNode(details) ? details.cursorPosition : undefined;
};

/** Imported at first use, because few questions hold SQL. */
const openParser = async () => {
  const [{ parse }, { deparse }] = await Promise.all([import('libpg-query'), import('pgsql-deparser')]);
  return { parse, deparse };
};

const oneSelect = 'one SELECT in the SQL of PostgreSQL';
const oneExpression = 'one expression in the SQL of PostgreSQL';

type Statement = { readonly tree: TreeNode; readonly select: TreeNode };

/** `lead` stands before the author's text. */
const parseOne = async (author: string, expected: string, lead = ''): Promise<Statement> => {
  const { parse } = await openParser();
  const tree = (await parsed(
    () => parse(`${lead}${author}`),
    expected,
    (at) => placeAt(author, at, lead),
  )) as TreeNode;
  const statements = Array.isArray(tree.stmts) ? tree.stmts : [];
  const select = statements.length === 1 ? statements[0]?.stmt?.SelectStmt : undefined;
  return select === undefined ? refuseSyntax(expected) : { tree, select };
};

const parsed = async <Tree>(
  parse: () => Promise<Tree>,
  expected: string,
  placeOf: (at: unknown) => TextPlace | undefined = () => undefined,
): Promise<Tree> => {
  try {
    return await parse();
  } catch (error) {
    // The parser's message would repeat the text.
    return refuseSyntax(expected, placeOf(failureIn(error)));
  }
};

/**
 * Prints the tree and splits the text at its holes. Throws METRIC_QUERY_ERROR where the printer does not know a node.
 */
const print = async <Hole>(tree: TreeNode, markers: Markers<Hole>) => {
  const { parse, deparse } = await openParser();
  const printed = await parsed(async () => {
    const text = await deparse(tree as Parameters<typeof deparse>[0], { pretty: false });
    // A semicolon that ends the author's text would end the statement around it.
    return sameTree(tree, await parse(text)) ? text.replace(/;\s*$/, '') : undefined;
  }, oneSelect);
  return markers.split(printed ?? refuseSql('a construct that cannot be rewritten exactly'));
};

const markersFor = <Hole>(tree: TreeNode): Markers<Hole> => {
  const text = JSON.stringify(tree);
  return createMarkers((name) => text.includes(name));
};

/** Adds ` AND <hole>` to the outermost WHERE. */
const addConditions = (select: TreeNode, mark: string): void => {
  const hole = { ColumnRef: { fields: [{ String: { sval: mark } }] } };
  const where = (select.whereClause ?? { A_Const: { boolval: { boolval: true } } }) as TreeNode;
  const { boolop, args } = (where.BoolExpr ?? {}) as TreeNode;
  const all = boolop === 'AND_EXPR' && Array.isArray(args) ? args : [where];
  select.whereClause = { BoolExpr: { boolop: 'AND_EXPR', args: [...all, hole] } };
};

const select: SqlParser['select'] = async (text) => {
  if (text.includes('\0')) return refuseSyntax('SQL without NUL');
  const { tree, select } = await parseOne(text, oneSelect);
  checkNodes({ SelectStmt: select });
  const operators = operatorsIn(tree);
  const markers = markersFor<SelectHole>(tree);
  const { whereClause: _where, ...unfiltered } = structuredClone(select);
  const shown = rewriteStatement(unfiltered, markersFor<SelectHole>(tree)).tables.paths;
  const { tables, columns, variables, block } = rewriteStatement(select, markers);
  if (block !== null) addConditions(select, markers.mark({ kind: 'conditions' }));
  const template = await print(tree, markers);
  return { template: withoutAnd(template), tables: tables.paths, operators, shown, variables, columns, block };
};

const isPlain = (statement: TreeNode): boolean =>
  Object.keys(statement).every((name) => ['targetList', 'limitOption', 'op'].includes(name)) &&
  statement.limitOption === 'LIMIT_OPTION_DEFAULT' &&
  statement.op === 'SETOP_NONE';

const expression: SqlParser['expression'] = async (text) => {
  assertPlainExpression(text);
  const { tree, select: statement } = await parseOne(text, oneExpression, 'SELECT ');
  const targets = Array.isArray(statement.targetList) ? statement.targetList : [];
  const target: TreeNode = targets[0]?.ResTarget ?? {};
  const isOne = targets.length === 1 && isPlain(statement) && target.name === undefined && target.val !== undefined;
  if (!isOne) return refuseSyntax(oneExpression);
  checkNodes(target.val);
  const operators = operatorsIn(tree);
  const markers = markersFor<ExpressionHole>(tree);
  const facts: ExpressionFacts = { isAggregate: false, hasBareColumn: false };
  rewriteExpression(target.val, markers, facts);
  if (facts.isAggregate && facts.hasBareColumn) return refuseSql('a column outside of the aggregates');
  const [first = '', ...rest] = await print(tree, markers);
  const start = typeof first === 'string' ? first.replace(/^\s*SELECT\s+/, '') : first;
  return { template: [start, ...rest], isAggregate: facts.isAggregate, operators };
};

/** The parser has folded unquoted names to lower case already. */
export const postgresParser: SqlParser = { expression, select, isSameName: (a, b) => a === b };

/** The operators that BETWEEN uses. */
const comparisons = ['>=', '<=', '<', '>'];

const operatorsOf = (name: string, node: TreeNode): readonly string[] => {
  switch (name) {
    case 'A_Expr': {
      const [own = ''] = namesOf(node.name);
      return /BETWEEN/.test(own) ? comparisons : [own];
    }
    case 'SubLink': {
      const [own = '='] = namesOf(node.operName);
      return [own];
    }
    case 'CaseExpr':
      return node.arg === undefined ? [] : ['='];
    case 'JoinExpr':
      return node.usingClause === undefined && node.isNatural !== true ? [] : ['='];
    case 'TypeCast':
      return [`::${namesOf(isNode(node.typeName) ? node.typeName.names : undefined).at(-1) ?? ''}`];
    default:
      return [];
  }
};

/** All operators that the tree uses, also implicitly, and all types that it casts to. */
const operatorsIn = (tree: unknown): readonly string[] => {
  const found = new Set<string>();
  for (const { node, name } of nodesOf(tree)) for (const operator of operatorsOf(name, node)) found.add(operator);
  return [...found];
};
