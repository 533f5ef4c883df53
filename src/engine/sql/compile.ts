import { sql } from 'kysely';
import type { Dialect, Sql, Statement } from '../dialect/dialect.js';
import type { PageOfRows, TenantScopedPlan } from '../plan/plan.js';
import { calculatedSql } from './calculations.js';
import { isCalculated, mayBeNaN, outputName } from './expressions.js';
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
  const leaves = leavesSql(dialect, plan, plan.joins);
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
