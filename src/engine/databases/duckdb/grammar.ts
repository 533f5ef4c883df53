/**
 * The allow-list of nodes in a tree of DuckDB's serializer, with their fields. Fields that are not listed must be
 * empty, so unknown nodes, samples, lambdas and parameters are refused without being named here.
 */
import { assertLiteral, assertName, greatestDepth, refuseSql } from '../../parsing/refusals.js';
import { isNode, type TreeNode } from '../../parsing/sql-tree.js';
import { types } from './functions.js';

/** `nodes`: a node, a list of nodes, or nothing. A name in braces: a part whose kind follows from its position. */
type Field = 'nodes' | 'name' | 'plain' | { readonly of: string } | { readonly oneOf: ReadonlySet<string> };
type Fields = Readonly<Record<string, Field>>;

const oneOf = (values: string): Field => ({ oneOf: new Set(values.split(' ')) });
const query: Field = { of: 'query' };
const block: Fields = { type: 'plain', modifiers: 'nodes', cte_map: { of: 'ctes' } };
const shown: Fields = { type: 'plain', alias: 'name', column_name_alias: 'name' };
const expression: Fields = { class: 'plain', type: 'plain', alias: 'name' };

const kinds: Readonly<Record<string, Fields>> = {
  query: { node: 'nodes' },
  ctes: { map: { of: 'cte' } },
  cte: { key: 'name', value: { of: 'cteQuery' } },
  cteQuery: { aliases: 'name', query, materialized: 'plain' },
  SELECT_NODE: {
    ...block,
    ...{
      select_list: 'nodes',
      from_table: 'nodes',
      where_clause: 'nodes',
      group_expressions: 'nodes',
      group_sets: 'plain',
    },
    ...{ aggregate_handling: 'plain', having: 'nodes', qualify: 'nodes' },
  },
  SET_OPERATION_NODE: {
    ...block,
    ...{ setop_type: oneOf('UNION UNION_BY_NAME EXCEPT INTERSECT'), left: 'nodes', right: 'nodes', setop_all: 'plain' },
  },
  ORDER_MODIFIER: { type: 'plain', orders: { of: 'order' } },
  LIMIT_MODIFIER: { type: 'plain', limit: 'nodes', offset: 'nodes' },
  DISTINCT_MODIFIER: { type: 'plain', distinct_on_targets: 'nodes' },
  order: { type: 'plain', null_order: 'plain', expression: 'nodes' },
  BASE_TABLE: { ...shown, catalog_name: 'name', schema_name: 'name', table_name: 'name' },
  SUBQUERY: { ...shown, subquery: query },
  TABLE_FUNCTION: { ...shown, function: 'nodes', with_ordinality: 'plain' },
  EXPRESSION_LIST: { ...shown, expected_names: 'name', values: 'nodes' },
  EMPTY: { type: 'plain' },
  JOIN: {
    ...{ type: 'plain', left: 'nodes', right: 'nodes', condition: 'nodes', using_columns: 'name' },
    ...{ join_type: oneOf('INNER LEFT RIGHT FULL'), ref_type: oneOf('REGULAR NATURAL CROSS') },
  },
  'expression CONSTANT': { ...expression, value: { of: 'constant' } },
  constant: { type: 'plain', is_null: 'plain', value: { of: 'literal' } },
  'expression COLUMN_REF': { ...expression, column_names: 'name' },
  'expression FUNCTION': {
    ...expression,
    ...{
      function_name: 'plain',
      schema: 'plain',
      children: 'nodes',
      filter: 'nodes',
      order_bys: 'nodes',
      distinct: 'plain',
    },
    is_operator: 'plain',
  },
  'expression WINDOW': {
    ...expression,
    ...{
      function_name: 'plain',
      children: 'nodes',
      partitions: 'nodes',
      orders: { of: 'order' },
      start: 'plain',
      end: 'plain',
    },
    ...{ start_expr: 'nodes', end_expr: 'nodes', offset_expr: 'nodes', default_expr: 'nodes', ignore_nulls: 'plain' },
    ...{ filter_expr: 'nodes', exclude_clause: 'plain', distinct: 'plain', arg_orders: { of: 'order' } },
  },
  'expression CAST': { ...expression, child: 'nodes', cast_type: { of: 'type' }, try_cast: 'plain' },
  'expression CASE': { ...expression, case_checks: { of: 'check' }, else_expr: 'nodes' },
  check: { when_expr: 'nodes', then_expr: 'nodes' },
  'expression COMPARISON': { ...expression, left: 'nodes', right: 'nodes' },
  'expression OPERATOR': {
    ...expression,
    type: oneOf(
      'COMPARE_IN COMPARE_NOT_IN OPERATOR_IS_NULL OPERATOR_IS_NOT_NULL OPERATOR_NOT OPERATOR_COALESCE OPERATOR_NULLIF ARRAY_EXTRACT ARRAY_SLICE ARRAY_CONSTRUCTOR STRUCT_EXTRACT GROUPING_FUNCTION',
    ),
    children: 'nodes',
  },
  'expression BETWEEN': { ...expression, input: 'nodes', lower: 'nodes', upper: 'nodes' },
  'expression CONJUNCTION': { ...expression, children: 'nodes' },
  'expression STAR': { ...expression, relation_name: 'name', exclude_list: 'name' },
  'expression SUBQUERY': {
    ...expression,
    ...{
      subquery_type: oneOf('EXISTS NOT_EXISTS SCALAR ANY'),
      subquery: query,
      child: 'nodes',
      comparison_type: 'plain',
    },
  },
};

/** Whether the value carries no information. A bare `type` names only the kind of an empty object. */
const isEmpty = (value: unknown): boolean => {
  if (Array.isArray(value)) return value.length === 0;
  if (isNode(value)) return Object.entries(value).every(([name, inner]) => name === 'type' || isEmpty(inner));
  return value === null || value === undefined || value === '' || value === false;
};

const checkType = (value: unknown, depth: number): void => {
  const { id, type_info: info } = isNode(value) ? value : {};
  const { type: _type, width: _width, scale: _scale, child_type: child, ...rest } = isNode(info) ? info : {};
  if (!types.has(String(id)) || !Object.values(rest).every(isEmpty)) refuseSql(`a cast to a type that is not allowed`);
  if (child !== undefined) checkPart('type', child, depth + 1);
};

const checkLiteral = (value: unknown): void => {
  if (isNode(value) || Array.isArray(value)) refuseSql('a constant that is not allowed');
  assertLiteral(String(value));
};

const checkNames = (value: unknown): void => {
  for (const name of Array.isArray(value) ? value : [value]) {
    if (isNode(name)) refuseSql('a list of names that is not allowed');
    assertName(String(name ?? ''));
  }
};

const checkField = (kind: string, name: string, field: Field, value: unknown, depth: number): void => {
  if (field === 'plain') return;
  if (field === 'name') checkNames(value);
  else if (field === 'nodes') checkNodes(value, depth);
  else if ('oneOf' in field) {
    if (!field.oneOf.has(String(value))) refuseSql(`${kind} with a ${name} that is not allowed`);
  } else if (value !== null && value !== undefined) checkPart(field.of, value, depth);
};

const checkPart = (kind: string, value: unknown, depth: number): void => {
  if (depth > greatestDepth) refuseSql('nesting that is too deep');
  if (kind === 'type') checkType(value, depth);
  else if (kind === 'literal') checkLiteral(value);
  else if (Array.isArray(value)) for (const item of value) checkPart(kind, item, depth);
  else checkKind(kind, value, depth);
};

const checkKind = (kind: string, value: unknown, depth: number): void => {
  const fields = Object.hasOwn(kinds, kind) ? kinds[kind] : undefined;
  if (fields === undefined || !isNode(value)) refuseSql(`${kind}, which is not allowed`);
  else checkFields(kind, fields, value, depth);
};

const checkFields = (kind: string, fields: Fields, value: TreeNode, depth: number): void => {
  for (const [name, inner] of Object.entries(value)) {
    if (name === 'query_location') continue;
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (field !== undefined) checkField(kind, name, field, inner, depth + 1);
    else if (!isEmpty(inner)) refuseSql(`${kind} with ${name}, which is not allowed`);
  }
};

/** Refuses nodes and non-empty fields that are not on the list. */
export const checkNodes = (value: unknown, depth = 0): void => {
  if (Array.isArray(value)) {
    for (const item of value) checkNodes(item, depth);
    return;
  }
  if (value === null || value === undefined) return;
  if (!isNode(value)) refuseSql('something that is not allowed');
  checkPart('class' in value ? `expression ${value.class}` : String(value.type), value, depth);
};
