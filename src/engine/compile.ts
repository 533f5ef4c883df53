import type { CompiledQuery } from 'kysely';
import { sql } from 'kysely';
import { calculatedSql } from './calculations.js';
import type { Dialect, Sql } from './dialect.js';
import { isCalculated, leafName, markOf, outputName } from './expressions.js';
import { fromSql } from './from.js';
import { groupedSql } from './grouped.js';
import type { Join, SecuredLeaf, SecuredPlan } from './plan.js';

/** Text and bound values. `page` answers the rows asked for, `count` the number of all rows before any limit. */
export type CompiledPlan = { readonly page: CompiledQuery; readonly count: CompiledQuery };

/** Writes a secured plan as SQL. Names of tables stand in the leaves alone; values are bound, and output columns are known by their position. */
export const compile = (plan: SecuredPlan, dialect: Dialect): CompiledPlan => {
  const leaves = sql`WITH ${sql.join(plan.leaves.map((leaf, index) => leafSql(dialect, plan, leaf, index)))}`;
  const counted = withoutCalculations(plan);
  return {
    page: dialect.compile(sql`${leaves} ${orderedSql(dialect, rowsSql(dialect, plan), plan)}${pageSql(dialect, plan)}`),
    count: dialect.compile(sql`${leaves} SELECT count(*) FROM (${rowsSql(dialect, counted)}) AS ${sql.id('gl_rows')}`),
  };
};

/** A common table expression is looked up before a table, but never for a name that is qualified: as inside here. */
const leafSql = (dialect: Dialect, plan: SecuredPlan, leaf: SecuredLeaf, index: number): Sql => {
  const columns = leaf.columns.map((name) => sql.id(name));
  const table = dialect.table(plan.database, leaf.table);
  const { tenant } = leaf;
  const where =
    tenant === null ? sql`` : sql` WHERE ${dialect.tenant(sql.id(tenant.columnName), tenant.type, tenant.value)}`;
  const rows = sql`SELECT ${sql.join([...columns, ...markSql(leaf)])} FROM ${table}${where}`;
  const name = sql.id(leafName(index));
  return isKept(dialect, plan.joins, leaf) && dialect.barrier !== null
    ? dialect.barrier(name, rows)
    : sql`${name} ${dialect.asLeaf} (${rows})`;
};

const markSql = (leaf: SecuredLeaf): readonly Sql[] => {
  if (leaf.isNumbered) return [sql`row_number() OVER () AS ${sql.id(markOf(leaf))}`];
  return leaf.isMarked ? [sql`1 AS ${sql.id(markOf(leaf))}`] : [];
};

/** Numbers must stay the same however often the leaf is read within the statement. */
const isKept = ({ capabilities }: Dialect, joins: readonly Join[], { isNumbered }: SecuredLeaf): boolean =>
  isNumbered === true || (capabilities.isRightJoinSlow && joins.some(({ kind }) => kind === 'RIGHT JOIN'));

const rowsSql = (dialect: Dialect, plan: SecuredPlan): Sql =>
  calculatedSql(dialect, plan, groupedSql(dialect, plan, fromSql(dialect, plan)));

const withoutCalculations = (plan: SecuredPlan): SecuredPlan => ({
  ...plan,
  output: { ...plan.output, columns: plan.output.columns.filter(({ expression }) => !isCalculated(expression)) },
});

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
