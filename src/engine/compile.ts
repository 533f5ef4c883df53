import type { CompiledQuery } from 'kysely';
import { sql } from 'kysely';
import { assertJoinable, type Dialect, type Side, type Sql } from './dialect.js';
import { expressionSql, fieldSql, isAggregate, leafName, markOf, outputName, rawSql } from './expressions.js';
import type { Field, Join, Output, SecuredLeaf, SecuredPlan, SemiJoin, Test } from './plan.js';
import { predicateSql } from './predicates.js';
import { isMedian, rankedSql } from './ranked.js';
import { refuseQuery, refuseUnknown } from './refuse.js';

/** Text and bound values. `page` answers the rows asked for, `count` the number of all rows before any limit. */
export type CompiledPlan = { readonly page: CompiledQuery; readonly count: CompiledQuery };

/** Writes a secured plan as SQL. Names of tables stand in the leaves alone; values are bound, and output columns are known by their position. */
export const compile = (plan: SecuredPlan, dialect: Dialect): CompiledPlan => {
  const leaves = sql`WITH ${sql.join(plan.leaves.map((leaf, index) => leafSql(dialect, leaf, index, plan.database)))}`;
  const rows = rowsSql(dialect, plan);
  return {
    page: dialect.compile(sql`${leaves} ${orderedSql(dialect, rows, plan)}${pageSql(dialect, plan)}`),
    count: dialect.compile(sql`${leaves} SELECT count(*) FROM (${rows}) AS ${sql.id('gl_rows')}`),
  };
};

/** A common table expression is looked up before a table, but never for a name that is qualified: as inside here. */
const leafSql = (dialect: Dialect, leaf: SecuredLeaf, index: number, database: string): Sql => {
  const columns = leaf.columns.map((name) => sql.id(name));
  const marked = leaf.isMarked ? [...columns, sql`1 AS ${sql.id(markOf(leaf))}`] : columns;
  const table = dialect.table(database, leaf.table);
  const { tenant } = leaf;
  const where =
    tenant === null ? sql`` : sql` WHERE ${dialect.tenant(sql.id(tenant.columnName), tenant.type, tenant.value)}`;
  return sql`${sql.id(leafName(index))} ${dialect.asLeaf} (SELECT ${sql.join(marked)} FROM ${table}${where})`;
};

const rowsSql = (dialect: Dialect, plan: SecuredPlan): Sql => {
  if (!dialect.capabilities.hasMedian && plan.output.columns.some(({ expression }) => isMedian(expression))) {
    return sql`${rankedSql(dialect, plan, fromSql(dialect, plan))}${groupSql(plan.output)}`;
  }
  const columns = plan.output.columns.map(
    ({ expression }, index) => sql`${expressionSql(dialect, expression, plan.leaves)} AS ${sql.id(outputName(index))}`,
  );
  return sql`SELECT ${sql.join(columns)} FROM ${fromSql(dialect, plan)}${groupSql(plan.output)}`;
};

const fromSql = (dialect: Dialect, plan: SecuredPlan): Sql => {
  const joins = plan.joins.map((join) => sql` ${joinSql(dialect, join)}`);
  return sql`${sql.id(leafName(0))}${sql.join(joins, sql``)}${whereSql(dialect, plan)}`;
};

const joinSql = (dialect: Dialect, { kind, near, far }: Join): Sql => {
  assertJoinable(dialect.capabilities, kind);
  return sql`${joinKeyword(kind)} ${sql.id(leafName(far.leaf))} ON ${matchSql(dialect, near, far)}`;
};

const matchSql = (dialect: Dialect, near: Field, far: Field): Sql => dialect.join(sideOf(near), sideOf(far));

const sideOf = (field: Field): Side => ({ column: rawSql(field), type: field.column.type, ref: field.column.ref });

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

const whereSql = (dialect: Dialect, { tests, semiJoins, output }: SecuredPlan): Sql => {
  const conditions = [
    ...tests.map((test) => testSql(dialect, test)),
    ...semiJoins.map((semiJoin) => semiJoinSql(dialect, semiJoin)),
    ...optionTests(dialect, output),
  ];
  return conditions.length === 0 ? sql`` : sql` WHERE ${sql.join(conditions, sql` AND `)}`;
};

const semiJoinSql = (dialect: Dialect, semiJoin: SemiJoin): Sql =>
  dialect.capabilities.hasCorrelatedSubqueries ? existsSql(dialect, semiJoin) : inSql(dialect, semiJoin);

const existsSql = (dialect: Dialect, { joins, tests }: SemiJoin): Sql => {
  const leaves = joins.map(({ far }) => sql.id(leafName(far.leaf)));
  const matches = joins.map(({ near, far }) => matchSql(dialect, near, far));
  const all = [...matches, ...tests.map((test) => testSql(dialect, test))];
  return sql`EXISTS (SELECT 1 FROM ${sql.join(leaves)} WHERE ${sql.join(all, sql` AND `)})`;
};

/** The same rows without a reference from within: NULL on either side matches nothing by IN, as by equality. */
const inSql = (dialect: Dialect, { joins: [first, ...rest], tests }: SemiJoin): Sql => {
  if (first === undefined || dialect.keys === undefined) {
    return refuseQuery('This version of the engine cannot write this condition.', 'semi-join-unsupported');
  }
  const [near, far] = dialect.keys(sideOf(first.near), sideOf(first.far));
  const joined = rest.map(
    (join) => sql` INNER JOIN ${sql.id(leafName(join.far.leaf))} ON ${matchSql(dialect, join.near, join.far)}`,
  );
  const all = tests.map((test) => testSql(dialect, test));
  return sql`${near} IN (SELECT ${far} FROM ${sql.id(leafName(first.far.leaf))}${sql.join(joined, sql``)} WHERE ${sql.join(all, sql` AND `)})`;
};

const optionTests = (dialect: Dialect, { kind, columns, search }: Output): readonly Sql[] => {
  const expression = columns[0]?.expression;
  if (kind !== 'distinct' || expression?.kind !== 'field') return [];
  const value = fieldSql(dialect, expression.field);
  const known = sql`${value} IS NOT NULL`;
  return search === null ? [known] : [known, dialect.contains(value, expression.field.column.type, search)];
};

const testSql = (dialect: Dialect, { field, predicate }: Test): Sql =>
  predicateSql(dialect, fieldSql(dialect, field), field.column.type, predicate);

/** By position, since an expression with bound values is another expression when it is written twice. */
const groupSql = ({ kind, columns }: Output): Sql => {
  if (kind === 'rows') return sql``;
  const groups = columns.flatMap(({ expression }, index) => (isAggregate(expression) ? [] : [sql.lit(index + 1)]));
  return groups.length === 0 ? sql`` : sql` GROUP BY ${sql.join(groups)}`;
};

const orderedSql = (dialect: Dialect, rows: Sql, { order }: SecuredPlan): Sql => {
  const keys = order.map(({ output, direction }) =>
    dialect.order({ position: output + 1, name: outputName(output) }, direction === 'DESC' ? 'DESC' : 'ASC'),
  );
  return keys.length === 0 ? rows : sql`${dialect.sortable(rows)} ORDER BY ${sql.join(keys)}`;
};

const pageSql = (dialect: Dialect, { page: { cap, limit, offset } }: SecuredPlan): Sql => {
  const left = cap === null ? null : Math.max(cap - offset, 0);
  const size = limit === null || left === null ? (limit ?? left) : Math.min(limit, left);
  return dialect.page(size, offset);
};
