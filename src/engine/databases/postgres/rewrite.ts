/**
 * Rewrites a checked tree in place: tables become holes, CTEs get generated names, and functions are qualified by
 * pg_catalog. So a name that remains in FROM can only be a CTE, even if a scoping rule here were wrong.
 */
import type { Markers } from '../../parsing/markers.js';
import { refuseSql, variableOf } from '../../parsing/refusals.js';
import {
  type Block,
  blockOf,
  createTables,
  exposing,
  findRelation,
  isTable,
  noScope,
  type Outputs,
  type Relation,
  type Scope,
  type Tables,
} from '../../parsing/relations.js';
import type { ExpressionHole, ParsedSelect, SelectHole } from '../../parsing/sql-parser.js';
import { isNode, listIn, type TreeNode } from '../../parsing/sql-tree.js';
import { aggregateFunctions, scalarFunctions, tableFunctions, windowFunctions } from './functions.js';
import { namesOf } from './grammar.js';
import { colnamesOf, outputsOf, outputsOfFunction, renamed } from './outputs.js';

export type Columns = { readonly tables: readonly number[]; readonly name: string }[];

type Context = {
  readonly tables: Tables;
  readonly columns: Columns;
  readonly variables: Set<string>;
  readonly markers: Markers<SelectHole>;
  /** The output names of each SELECT. */
  readonly outputs: Map<unknown, Outputs>;
  /** The output names of each CTE, by its new name. */
  readonly ctes: Map<string, Outputs>;
};

const nodeIn = (value: unknown, kind: string): TreeNode | undefined =>
  isNode(value) && isNode(value[kind]) ? value[kind] : undefined;
const text = (value: unknown): string => (typeof value === 'string' ? value : '');

const noOutputs: Outputs = { names: new Set(), tables: [], inOrder: [null] };

const aliasOf = (node: TreeNode): string => text(isNode(node.alias) ? node.alias.aliasname : undefined);

/** Replaces a table by its hole, or a CTE by its new name. Returns the name and relation that the FROM exposes. */
const rewriteRange = (range: TreeNode, scope: Scope, context: Context): readonly [string, Relation] => {
  const { tables, markers, ctes } = context;
  const [schema, name] = [text(range.schemaname), text(range.relname)];
  const alias = aliasOf(range);
  if (range.inh !== true) refuseSql('ONLY');
  const cte = schema === '' ? scope.ctes.get(name) : undefined;
  if (cte !== undefined) {
    range.relname = cte;
    range.alias ??= { aliasname: name };
    return [alias || name, { columns: renamed(ctes.get(cte) ?? noOutputs, colnamesOf(range)) }];
  }
  if (isNode(range.alias) && range.alias.colnames !== undefined) refuseSql('column aliases of a table');
  const path = schema === '' ? [name] : [schema, name];
  const table = tables.numberOf(path);
  delete range.schemaname;
  delete range.alias;
  range.relname = markers.mark({ kind: 'table', table, alias: alias || name });
  return [alias || name, { table, path, isAliased: alias !== '' }];
};

type From = {
  readonly shown: (readonly [string, Relation])[];
  readonly derived: { readonly item: TreeNode; readonly relation: { columns: Outputs } }[];
};

/** Tables first, so the relations of a FROM are known before its expressions are read. */
const readFrom = (item: unknown, scope: Scope, context: Context, from: From): void => {
  const range = nodeIn(item, 'RangeVar');
  if (range !== undefined) {
    from.shown.push(rewriteRange(range, scope, context));
    return;
  }
  const join = nodeIn(item, 'JoinExpr');
  if (join !== undefined) {
    readFrom(join.larg, scope, context, from);
    readFrom(join.rarg, scope, context, from);
    from.derived.push({ item: { quals: join.quals }, relation: { columns: noOutputs } });
    return;
  }
  const derived = nodeIn(item, 'RangeSubselect') ?? nodeIn(item, 'RangeFunction');
  if (derived === undefined) refuseSql('a FROM that is not allowed');
  const relation = { columns: noOutputs };
  if (aliasOf(derived) !== '') from.shown.push([aliasOf(derived), relation]);
  from.derived.push({ item: derived, relation });
};

const rewriteCtes = (select: TreeNode, scope: Scope, context: Context): Scope => {
  const ctes = new Map(scope.ctes);
  for (const item of listIn(isNode(select.withClause) ? select.withClause : {}, 'ctes')) {
    const cte = nodeIn(item, 'CommonTableExpr') ?? refuseSql('a WITH that is not allowed');
    const query = nodeIn(cte.ctequery, 'SelectStmt') ?? refuseSql('a WITH that is no SELECT');
    // A CTE sees the earlier ones and not itself.
    rewriteSelect(query, { ...scope, ctes: new Map(ctes) }, context);
    const name = text(cte.ctename);
    cte.ctename = context.tables.nextCte();
    ctes.set(name, text(cte.ctename));
    context.ctes.set(text(cte.ctename), renamed(context.outputs.get(query) ?? noOutputs, namesOf(cte.aliascolnames)));
  }
  return { ...scope, ctes };
};

/** Rewrites a block. Returns the relations of its FROM; null where it is not a plain SELECT over tables. */
const rewriteSelect = (select: TreeNode, outer: Scope, context: Context): Block => {
  const scope = rewriteCtes(select, outer, context);
  for (const side of [select.larg, select.rarg]) if (isNode(side)) rewriteSelect(side, scope, context);
  const from: From = { shown: [], derived: [] };
  for (const item of listIn(select, 'fromClause')) readFrom(item, scope, context, from);
  const inner: Scope = { ...scope, blocks: [exposing(from.shown), ...scope.blocks] };
  for (const { item, relation } of from.derived) {
    rewriteDerived(item, inner, context);
    // Later relations and the SELECT list refer to its columns.
    relation.columns = derivedOutputs(item, context);
  }
  const find = (name: string): Relation | undefined => findRelation(inner, name);
  const outputs = context.outputs.get(select.larg) ?? outputsOf(select, exposing(from.shown), find);
  context.outputs.set(select, outputs);
  const { withClause: _with, larg: _larg, rarg: _rarg, fromClause: _from, ...rest } = select;
  rewrite(rest, inner, context, false);
  const isOfTables = select.op === 'SETOP_NONE' && from.derived.every(({ item }) => 'quals' in item);
  return isOfTables ? (inner.blocks[0] ?? null) : null;
};

const rewriteDerived = (item: TreeNode, scope: Scope, context: Context): void => {
  rewriteFunctions(item);
  const { alias: _alias, functions, ...rest } = item;
  rewrite(rest, scope, context, false);
  for (const each of listIn({ functions }, 'functions')) rewriteArguments(each, scope, context);
};

const derivedOutputs = (item: TreeNode, { outputs }: Context): Outputs => {
  if (item.functions !== undefined) return outputsOfFunction(aliasOf(item), colnamesOf(item));
  return renamed(outputs.get(nodeIn(item.subquery, 'SelectStmt')) ?? noOutputs, colnamesOf(item));
};

/** Each function in FROM is a list of the call and its column definitions. */
const rewriteFunctions = (item: TreeNode): void => {
  for (const each of listIn(item, 'functions')) {
    const [call, ...others] = listIn(nodeIn(each, 'List') ?? {}, 'items');
    const isPlain = others.every((other) => isNode(other) && Object.keys(other).length === 0);
    if (!isPlain) refuseSql('column definitions of a function');
    resolveFunction(nodeIn(call, 'FuncCall') ?? refuseSql('a FROM that is not allowed'), true);
  }
};

/** Rewrites everything of the call but its name, which is resolved. */
const rewriteArguments = (item: unknown, scope: Scope, context: Context): void => {
  const [call] = listIn(nodeIn(item, 'List') ?? {}, 'items');
  const { funcname: _name, ...rest } = nodeIn(call, 'FuncCall') ?? {};
  rewrite(rest, scope, context, false);
};

/** Rewrites everything but FROM. `isItem`: within a list of IN. */
const rewrite = (value: unknown, scope: Scope, context: Context, isItem: boolean): void => {
  if (Array.isArray(value)) {
    for (const item of value) rewrite(item, scope, context, isItem);
    return;
  }
  if (!isNode(value)) return;
  for (const [name, inner] of Object.entries(value)) {
    if (name === 'SelectStmt' && isNode(inner)) rewriteSelect(inner, scope, context);
    else if (name === 'ColumnRef' && isNode(inner)) rewriteColumn(inner, scope, context, isItem);
    else if (name === 'A_Expr' && isNode(inner)) rewriteComparison(inner, scope, context);
    else {
      if (name === 'FuncCall' && isNode(inner)) resolveFunction(inner);
      if (name === 'NullTest' && isNode(inner)) inner.arg = typed(inner.arg);
      rewrite(inner, scope, context, false);
    }
  }
};

/** A variable that is not compared has no type. */
const typed = (arg: unknown): unknown => {
  const [name = '', ...more] = namesOf(nodeIn(arg, 'ColumnRef')?.fields);
  if (more.length > 0 || variableOf(name) === undefined) return arg;
  return { TypeCast: { arg, typeName: { names: [textNode('text')], typemod: -1 } } };
};

const rewriteComparison = (node: TreeNode, scope: Scope, context: Context): void => {
  rewrite(node.lexpr, scope, context, false);
  const list = node.kind === 'AEXPR_IN' ? nodeIn(node.rexpr, 'List') : undefined;
  if (list === undefined) rewrite(node.rexpr, scope, context, false);
  else rewrite(list.items, scope, context, true);
};

const rewriteColumn = (column: TreeNode, scope: Scope, context: Context, isItem: boolean): void => {
  const fields = listIn(column, 'fields');
  const isStar = nodeIn(fields.at(-1), 'A_Star') !== undefined;
  const names = namesOf(isStar ? fields.slice(0, -1) : fields);
  const [first = ''] = names;
  const variable = !isStar && names.length === 1 ? variableOf(first) : undefined;
  if (variable !== undefined) {
    context.variables.add(variable);
    column.fields = [textNode(context.markers.mark({ kind: 'variable', name: variable, isItem }))];
    return;
  }
  const qualifier = isStar ? names : names.slice(0, -1);
  const relation = relationOf(qualifier, scope);
  if (relation === undefined) return;
  column.fields = [textNode(qualifier.at(-1) ?? ''), fields.at(-1)];
  const name = names.at(-1) ?? '';
  if (isStar || relation === 'derived') return;
  if (isTable(relation)) context.columns.push({ tables: [relation.table], name });
  else if (!relation.columns.names.has(name)) context.columns.push({ tables: relation.columns.tables, name });
};

/**
 * The relation of a qualified column; undefined for an unqualified one. A schema may qualify only a table without an
 * alias.
 */
const relationOf = (qualifier: readonly string[], scope: Scope): Relation | undefined => {
  const [name, schema, ...more] = qualifier.toReversed();
  if (name === undefined) return undefined;
  const relation = findRelation(scope, name);
  const isMeant = schema === undefined || (isTable(relation) && !relation.isAliased && relation.path.at(-2) === schema);
  if (relation === undefined || !isMeant || more.length > 0) {
    return refuseSql(`a column of ${qualifier.join('.')}, which no FROM there names`);
  }
  return relation;
};

export type Rewritten = {
  readonly tables: Tables;
  readonly columns: Columns;
  readonly variables: readonly string[];
  readonly block: ParsedSelect['block'];
};

export const rewriteStatement = (select: TreeNode, markers: Markers<SelectHole>): Rewritten => {
  const known = { outputs: new Map(), ctes: new Map() };
  const context: Context = { tables: createTables(), columns: [], variables: new Set(), markers, ...known };
  const block = blockOf(rewriteSelect(select, noScope, context), context.tables);
  const { tables, columns, variables } = context;
  return { tables, columns, variables: [...variables], block };
};

const textNode = (sval: string): TreeNode => ({ String: { sval } });

/** Resolves the name to the built-in function and qualifies it. `isInFrom`: a set-returning one. */
const resolveFunction = (call: TreeNode, isInFrom = false): string => {
  const [name = '', ...schema] = namesOf(call.funcname).toReversed();
  const isBuiltIn = schema.length === 0 || (schema.length === 1 && schema[0] === 'pg_catalog');
  const known = isInFrom ? [tableFunctions] : [scalarFunctions, aggregateFunctions, windowFunctions];
  if (!isBuiltIn || !known.some((names) => names.has(name)))
    return refuseSql(`a function that is not allowed: ${name}`);
  call.funcname = [textNode('pg_catalog'), textNode(name)];
  return name;
};

export type ExpressionFacts = { isAggregate: boolean; hasBareColumn: boolean };

/** Replaces the columns of one expression by holes. Refuses subqueries, windows and nested aggregates. */
export const rewriteExpression = (
  value: unknown,
  markers: Markers<ExpressionHole>,
  facts: ExpressionFacts,
  isWithin = false,
): void => {
  if (Array.isArray(value)) {
    for (const item of value) rewriteExpression(item, markers, facts, isWithin);
    return;
  }
  if (!isNode(value)) return;
  for (const [name, inner] of Object.entries(value)) {
    if (name === 'SubLink' || name === 'WindowDef' || name === 'over')
      refuseSql('a subquery or a window in an expression');
    if (name === 'ColumnRef' && isNode(inner)) {
      const path = namesOf(inner.fields);
      if (path.some((part) => part === '')) refuseSql('a * in an expression');
      facts.hasBareColumn ||= !isWithin;
      inner.fields = [textNode(markers.mark({ kind: 'column', path }))];
      continue;
    }
    const isAggregate = name === 'FuncCall' && isNode(inner) && aggregateFunctions.has(resolveFunction(inner));
    if (isAggregate && isWithin) refuseSql('an aggregate within an aggregate');
    facts.isAggregate ||= isAggregate;
    rewriteExpression(inner, markers, facts, isWithin || isAggregate);
  }
};
