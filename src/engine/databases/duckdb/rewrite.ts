/**
 * Rewrites a checked tree of DuckDB in place: tables become holes, and CTEs get generated names. So a name that
 * remains in FROM can only be a CTE, even if a scoping rule here were wrong.
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
  type Relation,
  type Scope,
  type Tables,
} from '../../parsing/relations.js';
import type { ExpressionHole, ParsedSelect, SelectHole } from '../../parsing/sql-parser.js';
import { isNode, listIn, type TreeNode, textIn } from '../../parsing/sql-tree.js';
import {
  aggregateFunctions,
  operators,
  scalarFunctions,
  sessionNames,
  tableFunctions,
  windowFunctions,
} from './functions.js';

type Context = { readonly tables: Tables; readonly variables: Set<string>; readonly markers: Markers<SelectHole> };

const namesIn = (node: TreeNode, name: string): readonly string[] => listIn(node, name).map(String);
/** Names are case-insensitive. */
const keyOf = (name: string): string => name.toLowerCase();

const assertFunction = (call: TreeNode, isInFrom = false): string => {
  const name = keyOf(textIn(call, 'function_name'));
  const known = isInFrom
    ? [tableFunctions]
    : call.is_operator === true
      ? [operators]
      : [scalarFunctions, aggregateFunctions, windowFunctions, new Set(['unnest'])];
  const schema = textIn(call, 'schema');
  // The parser itself adds `main` before some functions.
  if (!known.some((names) => names.has(name)) || (schema !== '' && schema !== 'main')) {
    refuseSql(`a function that is not allowed: ${name}`);
  }
  return name;
};

/** Replaces a table by its hole, or a CTE by its new name. Returns the name and relation that the FROM exposes. */
const rewriteTable = (node: TreeNode, scope: Scope, { tables, markers }: Context): readonly [string, Relation] => {
  const [catalog, schema, name] = [
    textIn(node, 'catalog_name'),
    textIn(node, 'schema_name'),
    textIn(node, 'table_name'),
  ];
  const alias = textIn(node, 'alias');
  const cte = catalog === '' && schema === '' ? scope.ctes.get(keyOf(name)) : undefined;
  if (cte !== undefined) {
    node.table_name = cte;
    node.alias = alias || name;
    return [keyOf(alias || name), 'derived'];
  }
  if (listIn(node, 'column_name_alias').length > 0) refuseSql('column aliases of a table');
  const path = [catalog, schema, name].filter((part) => part !== '');
  const table = tables.numberOf(path.map(keyOf));
  Object.assign(node, { catalog_name: '', schema_name: '', alias: '' });
  node.table_name = markers.mark({ kind: 'table', table, alias: alias || name });
  return [keyOf(alias || name), { table, path: path.map(keyOf), isAliased: alias !== '' }];
};

type From = { readonly shown: (readonly [string, Relation])[]; readonly rest: TreeNode[]; isOfTables: boolean };

/** Tables first, so the relations of a FROM are known before its expressions are read. */
const readFrom = (node: TreeNode, scope: Scope, context: Context, from: From): void => {
  switch (node.type) {
    case 'EMPTY':
      return;
    case 'BASE_TABLE':
      from.shown.push(rewriteTable(node, scope, context));
      return;
    case 'JOIN':
      for (const side of [node.left, node.right]) if (isNode(side)) readFrom(side, scope, context, from);
      from.rest.push({ condition: node.condition });
      return;
    default: {
      if (textIn(node, 'alias') !== '') from.shown.push([keyOf(textIn(node, 'alias')), 'derived']);
      if (isNode(node.function)) assertFunction(node.function, true);
      from.rest.push(
        isNode(node.function) ? { children: node.function.children } : { subquery: node.subquery, values: node.values },
      );
      from.isOfTables = false;
    }
  }
};

const rewriteCtes = (node: TreeNode, scope: Scope, context: Context): Scope => {
  const ctes = new Map(scope.ctes);
  for (const entry of listIn(isNode(node.cte_map) ? node.cte_map : {}, 'map')) {
    if (!isNode(entry) || !isNode(entry.value) || !isNode(entry.value.query))
      return refuseSql('a WITH that is not allowed');
    // A CTE sees the earlier ones and not itself.
    rewriteQuery(entry.value.query, { ...scope, ctes: new Map(ctes) }, context);
    const name = textIn(entry, 'key');
    entry.key = context.tables.nextCte();
    ctes.set(keyOf(name), textIn(entry, 'key'));
  }
  return { ...scope, ctes };
};

const rewriteQuery = (query: TreeNode, scope: Scope, context: Context): Block =>
  isNode(query.node) ? rewriteNode(query.node, scope, context) : refuseSql('a query that is not allowed');

/** Rewrites a block. Returns the relations of its FROM; null where it is not a plain SELECT over tables. */
const rewriteNode = (node: TreeNode, outer: Scope, context: Context): Block => {
  const scope = rewriteCtes(node, outer, context);
  for (const side of [node.left, node.right]) if (isNode(side)) rewriteNode(side, scope, context);
  const from: From = { shown: [], rest: [], isOfTables: node.type === 'SELECT_NODE' };
  if (isNode(node.from_table)) readFrom(node.from_table, scope, context, from);
  const inner: Scope = { ...scope, blocks: [exposing(from.shown), ...scope.blocks] };
  for (const part of from.rest) rewrite(part, inner, context);
  const { cte_map: _ctes, left: _left, right: _right, from_table: _from, select_list: selected, ...rest } = node;
  for (const item of listIn({ selected }, 'selected')) {
    if (isNode(item) && item.class === 'STAR') assertPlainStar(item);
    else rewrite(item, inner, context);
  }
  rewrite(rest, inner, context);
  return from.isOfTables ? (inner.blocks[0] ?? null) : null;
};

const rewrite = (value: unknown, scope: Scope, context: Context, isItem = false): void => {
  if (Array.isArray(value)) {
    for (const item of value) rewrite(item, scope, context, isItem);
    return;
  }
  if (!isNode(value)) return;
  if (value.class === 'COLUMN_REF') {
    rewriteColumn(value, scope, context, isItem);
    return;
  }
  if (value.class === 'STAR') refuseSql('a * within an expression');
  if (value.class === 'FUNCTION' || value.class === 'WINDOW') assertFunction(value);
  const isList = value.type === 'COMPARE_IN' || value.type === 'COMPARE_NOT_IN';
  for (const [name, inner] of Object.entries(value)) {
    if (name === 'subquery' && isNode(inner)) rewriteQuery(inner, scope, context);
    else if (name === 'children' && isList) rewriteList(listIn(value, name), scope, context);
    else rewrite(inner, scope, context);
  }
};

/** The first argument is the searched value. */
const rewriteList = ([value, ...items]: readonly unknown[], scope: Scope, context: Context): void => {
  rewrite(value, scope, context);
  rewrite(items, scope, context, true);
};

/** DuckDB cannot print `main.flights.*` again, so the relation must be one name. */
const assertPlainStar = (star: TreeNode): void => {
  if (textIn(star, 'relation_name').includes('.')) refuseSql('a * of a qualified name');
};

const rewriteColumn = (column: TreeNode, scope: Scope, context: Context, isItem: boolean): void => {
  const names = namesIn(column, 'column_names');
  const [first = ''] = names;
  const variable = names.length === 1 ? variableOf(first) : undefined;
  if (variable !== undefined) {
    context.variables.add(variable);
    column.column_names = [context.markers.mark({ kind: 'variable', name: variable, isItem })];
    return;
  }
  if (names.length === 1 && sessionNames.has(keyOf(first))) refuseSql(`a name of the session: ${first}`);
  if (names.length < 3 || findRelation(scope, keyOf(first)) !== undefined) return;
  column.column_names = withoutSchema(names, scope);
};

/** Removes the schema from `schema.table.column`, which the leaf does not have. The table must have no alias. */
const withoutSchema = (names: readonly string[], scope: Scope): readonly string[] => {
  for (const depth of [1, 2]) {
    const relation = findRelation(scope, keyOf(names[depth] ?? ''));
    const qualifier = JSON.stringify(names.slice(0, depth + 1).map(keyOf));
    const isMeant = isTable(relation) && !relation.isAliased;
    if (isMeant && names.length > depth + 1 && JSON.stringify(relation.path) === qualifier) return names.slice(depth);
  }
  return refuseSql(`a column of ${names.slice(0, -1).join('.')}, which no FROM there names`);
};

export type Rewritten = {
  readonly tables: Tables;
  readonly variables: readonly string[];
  readonly block: ParsedSelect['block'];
};

export const rewriteStatement = (query: TreeNode, markers: Markers<SelectHole>): Rewritten => {
  const context: Context = { tables: createTables(), variables: new Set(), markers };
  const block = rewriteQuery(query, noScope, context);
  return { tables: context.tables, variables: [...context.variables], block: blockOf(block, context.tables) };
};

export type ExpressionFacts = { isAggregate: boolean; hasBareColumn: boolean };

/** Replaces the columns of one expression by holes. Refuses subqueries, windows and nested aggregates. */
export const rewriteExpression = (
  value: unknown,
  markers: Markers<ExpressionHole>,
  facts: ExpressionFacts,
  isWithin = false,
): void => {
  if (Array.isArray(value)) for (const item of value) rewriteExpression(item, markers, facts, isWithin);
  if (!isNode(value)) return;
  if (['SUBQUERY', 'WINDOW', 'STAR'].includes(String(value.class)))
    refuseSql('a subquery, a window or a * in an expression');
  if (value.class === 'COLUMN_REF') {
    const path = namesIn(value, 'column_names');
    if (path.length === 1 && sessionNames.has(keyOf(path[0] ?? ''))) refuseSql(`a name of the session: ${path[0]}`);
    facts.hasBareColumn ||= !isWithin;
    value.column_names = [markers.mark({ kind: 'column', path })];
    return;
  }
  const isAggregate = value.class === 'FUNCTION' && aggregateFunctions.has(assertFunction(value));
  if (isAggregate && isWithin) refuseSql('an aggregate within an aggregate');
  facts.isAggregate ||= isAggregate;
  for (const inner of Object.values(value)) rewriteExpression(inner, markers, facts, isWithin || isAggregate);
};
