/**
 * The allow-list of nodes in a tree of PostgreSQL's parser, with their fields. Everything else is refused, so new
 * kinds of nodes, locking clauses, INTO and parameters need not be named here.
 */
import { assertLiteral, assertName, greatestDepth, refuseSql } from '../../parsing/refusals.js';
import { isNode, type TreeNode } from '../../parsing/sql-tree.js';
import { clockFunctions, operators, types } from './functions.js';

/**
 * `nodes`: nodes or a list of them. A name in braces: a node whose kind follows from its position. `name` and
 * `plain`: no nodes.
 */
type Field = 'nodes' | 'name' | 'plain' | { readonly of: string } | { readonly oneOf: ReadonlySet<string> };

const oneOf = (...values: readonly string[]): Field => ({ oneOf: new Set(values) });
const select: Field = { of: 'SelectStmt' };
const alias: Field = { of: 'Alias' };

const kinds: Readonly<Record<string, Readonly<Record<string, Field>>>> = {
  SelectStmt: {
    ...{ targetList: 'nodes', fromClause: 'nodes', whereClause: 'nodes', groupClause: 'nodes', groupDistinct: 'plain' },
    ...{
      havingClause: 'nodes',
      windowClause: 'nodes',
      valuesLists: 'nodes',
      sortClause: 'nodes',
      distinctClause: 'nodes',
    },
    ...{ limitOffset: 'nodes', limitCount: 'nodes', limitOption: 'plain', withClause: { of: 'WithClause' } },
    ...{ op: 'plain', all: 'plain', larg: select, rarg: select },
  },
  WithClause: { ctes: 'nodes' },
  CommonTableExpr: { ctename: 'name', aliascolnames: 'nodes', ctematerialized: 'plain', ctequery: 'nodes' },
  ResTarget: { name: 'name', val: 'nodes' },
  RangeVar: { schemaname: 'name', relname: 'name', inh: 'plain', relpersistence: oneOf('p'), alias },
  RangeSubselect: { lateral: 'plain', subquery: 'nodes', alias },
  RangeFunction: { lateral: 'plain', ordinality: 'plain', functions: 'nodes', alias },
  JoinExpr: {
    ...{ jointype: oneOf('JOIN_INNER', 'JOIN_LEFT', 'JOIN_RIGHT', 'JOIN_FULL'), isNatural: 'plain' },
    ...{ larg: 'nodes', rarg: 'nodes', usingClause: 'nodes', quals: 'nodes' },
  },
  Alias: { aliasname: 'name', colnames: 'nodes' },
  ColumnRef: { fields: 'nodes' },
  A_Star: {},
  String: { sval: 'name' },
  Integer: { ival: 'plain' },
  List: { items: 'nodes' },
  A_Const: { ival: 'plain', fval: 'plain', boolval: 'plain', sval: { of: 'Literal' }, isnull: 'plain' },
  A_Expr: {
    kind: oneOf(
      ...[
        'AEXPR_OP',
        'AEXPR_OP_ANY',
        'AEXPR_OP_ALL',
        'AEXPR_DISTINCT',
        'AEXPR_NOT_DISTINCT',
        'AEXPR_NULLIF',
        'AEXPR_IN',
      ],
      ...[
        'AEXPR_LIKE',
        'AEXPR_ILIKE',
        'AEXPR_BETWEEN',
        'AEXPR_NOT_BETWEEN',
        'AEXPR_BETWEEN_SYM',
        'AEXPR_NOT_BETWEEN_SYM',
      ],
    ),
    ...{ name: { of: 'Operator' }, lexpr: 'nodes', rexpr: 'nodes', rexpr_list_start: 'plain', rexpr_list_end: 'plain' },
  },
  BoolExpr: { boolop: 'plain', args: 'nodes' },
  NullTest: { arg: 'nodes', nulltesttype: 'plain' },
  BooleanTest: { arg: 'nodes', booltesttype: 'plain' },
  CaseExpr: { arg: 'nodes', args: 'nodes', defresult: 'nodes' },
  CaseWhen: { expr: 'nodes', result: 'nodes' },
  CoalesceExpr: { args: 'nodes' },
  MinMaxExpr: { op: 'plain', args: 'nodes' },
  SQLValueFunction: { op: { oneOf: clockFunctions }, typmod: 'plain' },
  GroupingSet: { kind: 'plain', content: 'nodes' },
  GroupingFunc: { args: 'nodes' },
  RowExpr: { args: 'nodes', row_format: 'plain' },
  A_ArrayExpr: { elements: 'nodes' },
  // A field selection could call a function: `(path).pg_read_file`.
  A_Indirection: { arg: 'nodes', indirection: { of: 'Indices' } },
  A_Indices: { is_slice: 'plain', lidx: 'nodes', uidx: 'nodes' },
  TypeCast: { arg: 'nodes', typeName: { of: 'TypeName' } },
  CollateClause: { arg: 'nodes', collname: { of: 'Collation' } },
  SubLink: {
    subLinkType: oneOf('EXISTS_SUBLINK', 'ANY_SUBLINK', 'ALL_SUBLINK', 'EXPR_SUBLINK', 'ARRAY_SUBLINK'),
    ...{ testexpr: 'nodes', operName: { of: 'Operator' }, subselect: 'nodes' },
  },
  FuncCall: {
    ...{
      funcname: { of: 'Function' },
      args: 'nodes',
      agg_order: 'nodes',
      agg_filter: 'nodes',
      over: { of: 'WindowDef' },
    },
    ...{ agg_within_group: 'plain', agg_star: 'plain', agg_distinct: 'plain', funcformat: 'plain' },
  },
  WindowDef: {
    ...{ name: 'name', refname: 'name', partitionClause: 'nodes', orderClause: 'nodes', frameOptions: 'plain' },
    ...{ startOffset: 'nodes', endOffset: 'nodes' },
  },
  SortBy: { node: 'nodes', sortby_dir: oneOf('SORTBY_DEFAULT', 'SORTBY_ASC', 'SORTBY_DESC'), sortby_nulls: 'plain' },
};

/** The parts of a qualified name. */
export const namesOf = (list: unknown): readonly string[] =>
  Array.isArray(list) ? list.map((item) => String(item?.String?.sval ?? '')) : [];

const checkType = (value: unknown, depth: number): void => {
  const { names, typmods = [], typemod, arrayBounds, location, ...rest } = value as TreeNode;
  checkNodes(typmods, depth);
  const [name = '', ...schema] = namesOf(names).toReversed();
  const isKnown = types.has(name) && (schema.length === 0 || (schema.length === 1 && schema[0] === 'pg_catalog'));
  if (!isKnown || Object.keys(rest).length > 0) refuseSql(`a cast to a type that is not allowed: ${name}`);
};

const checkOperator = (value: unknown): void => {
  const [name = '', ...more] = namesOf(value);
  if (more.length > 0 || !operators.has(name)) refuseSql(`an operator that is not allowed: ${name}`);
};

/** Byte by byte. Any other collation may be the work of a user of the database. */
const checkCollation = (value: unknown): void => {
  if (namesOf(value).join('.') !== 'C') refuseSql('a collation that is not allowed (only "C" is)');
};

/** Kinds with a rule of their own. `Function` is resolved while rewriting. */
const rules: Readonly<Record<string, (value: unknown, depth: number) => void>> = {
  TypeName: checkType,
  Operator: checkOperator,
  Collation: checkCollation,
  Function: () => undefined,
  Literal: (value) => assertLiteral(String((value as TreeNode).sval ?? '')),
  Indices: (value, depth) => {
    const isIndexed = Array.isArray(value) && value.every((item) => 'A_Indices' in item);
    if (!isIndexed) refuseSql('a field of an expression; name the column by its table');
    checkNodes(value, depth);
  },
};

const checkField = (kind: string, name: string, field: Field, value: unknown, depth: number): void => {
  if (field === 'plain') return;
  if (field === 'name') assertName(String(value));
  else if (field === 'nodes') checkNodes(value, depth);
  else if ('oneOf' in field) {
    if (!field.oneOf.has(String(value))) refuseSql(`${kind} with a ${name} that is not allowed`);
  } else if (rules[field.of] !== undefined) rules[field.of]?.(value, depth);
  else checkKind(field.of, value, depth);
};

const checkKind = (kind: string, value: unknown, depth: number): void => {
  const fields = Object.hasOwn(kinds, kind) ? kinds[kind] : undefined;
  if (fields === undefined || !isNode(value)) refuseSql(`${kind}, which is not allowed`);
  if (depth > greatestDepth) refuseSql('nesting that is too deep');
  for (const [name, inner] of Object.entries(value)) {
    if (/location$|list_(start|end)$/.test(name)) continue;
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (field === undefined) refuseSql(`${kind} with ${name}, which is not allowed`);
    checkField(kind, name, field, inner, depth + 1);
  }
};

/** Refuses nodes and fields that are not on the list. */
export const checkNodes = (value: unknown, depth = 0): void => {
  if (Array.isArray(value)) {
    for (const item of value) checkNodes(item, depth);
    return;
  }
  if (!isNode(value)) refuseSql('something that is not allowed');
  const entries = Object.entries(value);
  // An empty node, as in a plain DISTINCT.
  if (entries.length === 0) return;
  const [first] = entries;
  if (entries.length > 1 || first === undefined) refuseSql('something that is not allowed');
  checkKind(first[0], first[1], depth);
};
