import { sql } from 'kysely';
import type { Dialect, Sql, Statement } from '../dialect/dialect.js';
import type { PageOfRows, TenantScopedPlan } from '../plan/plan.js';
import { calculatedSql } from './calculations.js';
import { isCalculated, mayBeNaN, outputName, topKey, topName } from './expressions.js';
import { fromSql } from './from.js';
import { groupedSql } from './grouped.js';
import { leavesSql } from './leaves.js';

/**
 * Statements with their bound values. `page` answers the requested rows, `count` the number of rows before the limit.
 */
export type CompiledPlan = { readonly page: Statement; readonly count: Statement };

/**
 * Compiles a tenant-scoped plan. Only leaves name tables, values are bound, and output columns are known by position.
 */
export const compile = (plan: TenantScopedPlan, dialect: Dialect): CompiledPlan => {
  const leaves = sql`${leavesSql(dialect, plan, plan.joins)}${topSql(dialect, plan)}`;
  const counted = withoutCalculations(plan);
  return {
    page: dialect.compile(
      sql`${leaves} ${orderedSql(dialect, rowsSql(dialect, plan), plan)}${pageSql(dialect, plan.page)}`,
      plan.leaves,
    ),
    count: dialect.compile(
      sql`${leaves} SELECT count(*) FROM (${rowsSql(dialect, counted)}) AS ${sql.id('gl_rows')}`,
      plan.leaves,
    ),
  };
};

const rowsSql = (dialect: Dialect, plan: TenantScopedPlan): Sql =>
  calculatedSql(dialect, plan, groupedSql(dialect, plan, fromSql(dialect, plan)));

/** The top groups, from the same rows as the answer. */
const topSql = (dialect: Dialect, plan: TenantScopedPlan): Sql => {
  if (plan.top === undefined) return sql``;
  const { columns, order, limit } = plan.top;
  const ranking: TenantScopedPlan = { ...plan, output: { kind: 'group', columns, search: null }, having: null, order };
  const groups = orderedSql(dialect, rowsSql(dialect, ranking), ranking);
  const ranked = sql`${groups}${pageSql(dialect, { cap: null, limit, offset: 0 })}`;
  return sql`, ${sql.id(topName)} AS (SELECT ${sql.id(outputName(0))} AS ${sql.id(topKey)} FROM (${ranked}) AS ${sql.id('gl_ranked')})`;
};

const withoutCalculations = (plan: TenantScopedPlan): TenantScopedPlan => ({
  ...plan,
  output: { ...plan.output, columns: plan.output.columns.filter(({ expression }) => !isCalculated(expression)) },
});

const orderedSql = (dialect: Dialect, rows: Sql, { order, output: { columns } }: TenantScopedPlan): Sql => {
  const keys = order.map(({ output, direction }) => {
    const isFloat = columns[output] !== undefined && mayBeNaN(columns[output].expression);
    const ordered = { position: output + 1, name: outputName(output), isFloat };
    return dialect.order(ordered, direction === 'DESC' ? 'DESC' : 'ASC');
  });
  return keys.length === 0 ? rows : sql`${dialect.sortable(rows)} ORDER BY ${sql.join(keys)}`;
};

export const pageSql = (dialect: Dialect, { cap, limit, offset }: PageOfRows): Sql => {
  const left = cap === null ? null : Math.max(cap - offset, 0);
  const size = limit === null || left === null ? (limit ?? left) : Math.min(limit, left);
  return dialect.page(size, offset);
};
