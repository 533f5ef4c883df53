import type { CompiledQuery, RawBuilder } from 'kysely';
import { sql } from 'kysely';
import type { CompareOperator } from '../domain/filter.js';
import type { Aggregate } from '../domain/metric.js';
import { castText, compileSql, grainSql, localSql } from './dialect-duckdb.js';
import type {
  Expression,
  Field,
  Join,
  Output,
  SecuredLeaf,
  SecuredPlan,
  SemiJoin,
  TenantPredicate,
  Test,
} from './plan.js';
import { refuseUnknown } from './refuse.js';
import type { Bound, BoundPredicate } from './values.js';

type Sql = RawBuilder<unknown>;

/** Text and bound values. `page` answers the rows asked for, `count` the number of all rows before any limit. */
export type CompiledPlan = { readonly page: CompiledQuery; readonly count: CompiledQuery };

/** Writes a secured plan as SQL. Names of tables stand in the leaves alone; values are bound, and output columns are known by their position. */
export const compile = (plan: SecuredPlan): CompiledPlan => {
  const leaves = sql`WITH ${sql.join(plan.leaves.map((leaf, index) => leafSql(leaf, index, plan.database)))}`;
  const rows = rowsSql(plan);
  return {
    page: compileSql(sql`${leaves} ${rows}${orderSql(plan)}${pageSql(plan)}`),
    count: compileSql(sql`${leaves} SELECT count(*) FROM (${rows}) AS ${sql.id('gl_rows')}`),
  };
};

const leafName = (index: number): string => `gl_leaf_${index}`;

/** A common table expression is looked up before a table, but never for a name that is qualified: as inside here. */
const leafSql = (leaf: SecuredLeaf, index: number, database: string): Sql => {
  const columns = leaf.columns.map((name) => sql.id(name));
  const marked = leaf.isMarked ? [...columns, sql`1 AS ${sql.id(markOf(leaf))}`] : columns;
  const table = sql.id(database, leaf.table.schemaName, leaf.table.tableName);
  const where = leaf.tenant === null ? sql`` : sql` WHERE ${tenantSql(leaf.tenant)}`;
  return sql`${sql.id(leafName(index))} AS NOT MATERIALIZED (SELECT ${sql.join(marked)} FROM ${table}${where})`;
};

/** Byte by byte: the collation of the column, or of the database, might take `ACME` for `acme`. */
const tenantSql = ({ columnName, type, value }: TenantPredicate): Sql =>
  type.kind === 'text'
    ? sql`${sql.id(columnName)} COLLATE "c" = ${castText(value)}`
    : sql`${sql.id(columnName)} = ${castText(value)}`;

const markOf = ({ columns }: SecuredLeaf): string => {
  const taken = new Set(columns.map((name) => name.toLowerCase()));
  let mark = 'gl_row';
  while (taken.has(mark)) mark += '_';
  return mark;
};

const rowsSql = (plan: SecuredPlan): Sql => {
  const columns = plan.output.columns.map(
    ({ expression }, index) => sql`${expressionSql(expression, plan)} AS ${sql.id(`gl_c${index}`)}`,
  );
  const joins = plan.joins.map((join) => sql` ${joinSql(join)}`);
  const from = sql`${sql.id(leafName(0))}${sql.join(joins, sql``)}`;
  return sql`SELECT ${sql.join(columns)} FROM ${from}${whereSql(plan)}${groupSql(plan.output)}`;
};

const joinSql = ({ kind, near, far }: Join): Sql =>
  sql`${joinKeyword(kind)} ${sql.id(leafName(far.leaf))} ON ${rawSql(near)} = ${rawSql(far)}`;

const joinKeyword = (kind: Join['kind']): Sql => {
  switch (kind) {
    case 'INNER JOIN':
      return sql`INNER JOIN`;
    case 'LEFT JOIN':
      return sql`LEFT JOIN`;
    case 'RIGHT JOIN':
      return sql`RIGHT JOIN`;
    case 'FULL JOIN':
      return sql`FULL JOIN`;
    default:
      return refuseUnknown('join', kind);
  }
};

const whereSql = ({ tests, semiJoins, output }: SecuredPlan): Sql => {
  const conditions = [...tests.map(testSql), ...semiJoins.map(semiJoinSql), ...optionTests(output)];
  return conditions.length === 0 ? sql`` : sql` WHERE ${sql.join(conditions, sql` AND `)}`;
};

const semiJoinSql = ({ joins, tests }: SemiJoin): Sql => {
  const leaves = joins.map(({ far }) => sql.id(leafName(far.leaf)));
  const matches = joins.map(({ near, far }) => sql`${rawSql(near)} = ${rawSql(far)}`);
  return sql`EXISTS (SELECT 1 FROM ${sql.join(leaves)} WHERE ${sql.join([...matches, ...tests.map(testSql)], sql` AND `)})`;
};

const optionTests = ({ kind, columns, search }: Output): readonly Sql[] => {
  const expression = columns[0]?.expression;
  if (kind !== 'distinct' || expression?.kind !== 'field') return [];
  const value = fieldSql(expression.field);
  const known = sql`${value} IS NOT NULL`;
  if (search === null) return [known];
  return [
    known,
    sql`contains(lower(CAST(${value} AS VARCHAR)), lower(${castText({ text: search, cast: 'VARCHAR' })}))`,
  ];
};

const testSql = ({ field, predicate }: Test): Sql => predicateSql(fieldSql(field), predicate);

const predicateSql = (column: Sql, predicate: BoundPredicate): Sql => {
  switch (predicate.kind) {
    case 'oneOf':
      return sql`(${column} IN ${listSql(predicate)})`;
    case 'noneOf':
      return sql`(${column} NOT IN ${listSql(predicate)})`;
    case 'compare':
      return sql`(${column} ${operatorSql[predicate.operator]} ${castText(predicate.value)})`;
    case 'range':
      return rangeSql(column, predicate);
    case 'like':
      return sql`(${column} LIKE ${castText(predicate.pattern)} ESCAPE '\\')`;
    case 'isNull':
      return sql`(${column} IS NULL)`;
    case 'isNotNull':
      return sql`(${column} IS NOT NULL)`;
    default:
      return refuseUnknown('condition', predicate);
  }
};

const operatorSql: Readonly<Record<CompareOperator, Sql>> = {
  '=': sql`=`,
  '<>': sql`<>`,
  '<': sql`<`,
  '<=': sql`<=`,
  '>': sql`>`,
  '>=': sql`>=`,
};

/** One parameter however long the list is: ten thousand parameters take ten times as long as a list of ten thousand. */
const listSql = ({ texts, cast }: { readonly texts: readonly string[]; readonly cast: string }): Sql =>
  sql`(SELECT unnest(CAST(${texts} AS ${sql.raw(`${cast}[]`)})))`;

const rangeSql = (column: Sql, { from, to, toIsExclusive }: Extract<BoundPredicate, { kind: 'range' }>): Sql => {
  const ends: readonly (readonly [CompareOperator, Bound | null])[] = [
    ['>=', from],
    [toIsExclusive ? '<' : '<=', to],
  ];
  const tests = ends.flatMap(([operator, end]) =>
    end === null ? [] : [sql`${column} ${operatorSql[operator]} ${castText(end)}`],
  );
  return sql`(${sql.join(tests, sql` AND `)})`;
};

const expressionSql = (expression: Expression, plan: SecuredPlan): Sql => {
  switch (expression.kind) {
    case 'field':
      return fieldSql(expression.field);
    case 'grain':
      return grainSql(fieldSql(expression.field), expression.grain);
    case 'bucket':
      return sql`floor(${fieldSql(expression.field)} / ${castText(expression.width)}) * ${castText(expression.width)}`;
    case 'aggregate':
      return aggregateSql(expression.aggregate, indicated(fieldSql(expression.field), expression.indicator));
    case 'rowCount':
      return rowCountSql(plan.leaves[expression.leaf], expression.leaf);
    default:
      return refuseUnknown('expression', expression);
  }
};

const rowCountSql = (leaf: SecuredLeaf | undefined, index: number): Sql =>
  leaf?.isMarked ? sql`count(${sql.id(leafName(index), markOf(leaf))})` : sql`count(*)`;

const indicated = (column: Sql, indicator: BoundPredicate | null): Sql =>
  indicator === null
    ? column
    : sql`CASE WHEN ${column} IS NULL THEN NULL WHEN ${predicateSql(column, indicator)} THEN CAST(1 AS DOUBLE) ELSE CAST(0 AS DOUBLE) END`;

const aggregateSql = (aggregate: Aggregate, value: Sql): Sql => {
  switch (aggregate) {
    case 'SUM':
      return sql`sum(${value})`;
    case 'AVG':
      return sql`avg(${value})`;
    case 'MIN':
      return sql`min(${value})`;
    case 'MAX':
      return sql`max(${value})`;
    case 'COUNT':
      return sql`count(${value})`;
    case 'COUNT_DISTINCT':
      return sql`count(DISTINCT ${value})`;
    case 'MEDIAN':
      return sql`median(${value})`;
    default:
      return refuseUnknown('aggregate', aggregate);
  }
};

/** As stored: joins compare columns with each other, in no zone. */
const rawSql = ({ leaf, column }: Field): Sql => sql.id(leafName(leaf), column.ref.columnName);

const fieldSql = (field: Field): Sql => localSql(rawSql(field), field.column);

/** By position, since an expression with bound values is another expression when it is written twice. */
const groupSql = ({ kind, columns }: Output): Sql => {
  if (kind === 'rows') return sql``;
  const groups = columns.flatMap(({ expression }, index) =>
    expression.kind === 'aggregate' || expression.kind === 'rowCount' ? [] : [sql.lit(index + 1)],
  );
  return groups.length === 0 ? sql`` : sql` GROUP BY ${sql.join(groups)}`;
};

const orderSql = ({ order }: SecuredPlan): Sql => {
  const keys = order.map(({ output, direction }) => {
    const way = direction === 'DESC' ? sql`DESC` : sql`ASC`;
    return sql`${sql.lit(output + 1)} ${way} NULLS LAST`;
  });
  return keys.length === 0 ? sql`` : sql` ORDER BY ${sql.join(keys)}`;
};

const pageSql = ({ page: { cap, limit, offset } }: SecuredPlan): Sql => {
  const left = cap === null ? null : Math.max(cap - offset, 0);
  const size = limit === null || left === null ? (limit ?? left) : Math.min(limit, left);
  const rows = size === null ? sql`` : sql` LIMIT ${integerSql(size)}`;
  return offset === 0 ? rows : sql`${rows} OFFSET ${integerSql(offset)}`;
};

const integerSql = (count: number): Sql => castText({ text: String(count), cast: 'BIGINT' });
