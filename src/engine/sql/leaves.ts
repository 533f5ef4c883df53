import { sql } from 'kysely';
import { Refusal } from '../../domain/refusal.js';
import { assertHas } from '../databases/capabilities.js';
import type { Dialect, Side, Sql, TenantPredicate, TypedColumn } from '../databases/dialect.js';
import { refuseUnknown, withoutNames } from '../databases/refuse.js';
import type { Computed, Join, Leaf, LeafTest, TenantScoped, TenantScopedLeaf } from '../plan/plan.js';
import { leafName, markOf } from './expressions.js';
import { semiJoinOf } from './semi-joins.js';

type LeafPlan = TenantScoped<{ readonly leaves: readonly Leaf[] }>;

/** `WITH` and every leaf. Names of tables stand here alone. */
export const leavesSql = (dialect: Dialect, plan: LeafPlan, joins: readonly Join[] = []): Sql =>
  sql`WITH ${sql.join(leavesOf(dialect, plan, joins))}`;

/** Rows that a token hides are taken from a leaf after all others are written, the last leaf first: a test may read leaves that come after its own. */
const leavesOf = (dialect: Dialect, plan: LeafPlan, joins: readonly Join[]): readonly Sql[] => [
  ...plan.leaves.flatMap((leaf, index) =>
    withoutNames(leaf.isHidden, () => leafSql(dialect, plan.database, leaf, nameOf(leaf, index), joins)),
  ),
  ...plan.leaves
    .map((leaf, index) => visibleSql(dialect, leaf, nameOf(leaf, index)))
    .toReversed()
    .flat(),
];

const nameOf = ({ name }: TenantScopedLeaf, index: number): string => name ?? leafName(index);
const isTested = ({ tests = [], testsBeneath = [] }: TenantScopedLeaf): boolean =>
  tests.length + testsBeneath.length > 0;
/** Of the leaf's rows before its tests. */
export const untestedName = (name: string): string => `${name}_all`;

/** What stands above the leaf's own rows, where a token hides some: tests, custom columns, and tests that may be of these. */
const visibleSql = (dialect: Dialect, leaf: TenantScopedLeaf, name: string): readonly Sql[] => {
  if (!isTested(leaf)) return [];
  const { computed = [], testsBeneath = [], tests = [], isBarrier } = leaf;
  const all = untestedName(name);
  const passing = (from: string, some: readonly LeafTest[]): Sql => {
    const where = some.map((write) => write(dialect, from));
    const rows = sql`SELECT ${sql.id(from)}.* FROM ${sql.id(from)}`;
    return where.length === 0 ? rows : sql`${rows} WHERE ${sql.join(where, sql` AND `)}`;
  };
  if (computed.length === 0) {
    const rows = passing(all, [...testsBeneath, ...tests]);
    return [isBarrier === true ? barrierSql(dialect, name, rows) : sql`${sql.id(name)} ${dialect.asLeaf} (${rows})`];
  }
  const untested = `${name}_computed`;
  return [
    ...computedSql(dialect, untested, passing(all, testsBeneath), computed),
    sql`${sql.id(name)} ${dialect.asLeaf} (${passing(untested, tests)})`,
  ];
};

/** The host's own rows under their name, after the leaves that they read: MariaDB finds no leaf from within a WITH of a derived table. */
export const rowsAs = (dialect: Dialect, plan: LeafPlan, name: string, rows: Sql): Sql =>
  sql`WITH ${sql.join([...leavesOf(dialect, plan, []), sql`${sql.id(name)} AS (${rows})`])}`;

/** A common table expression is looked up before a table, but never for a name that is qualified: as inside here. */
const leafSql = (
  dialect: Dialect,
  database: string,
  leaf: TenantScopedLeaf,
  ownName: string,
  joins: readonly Join[],
): readonly Sql[] => {
  const columns = leaf.columns.map((name) => sql.id(name));
  const table = dialect.table(database, leaf.table);
  const { tenant, computed = [] } = leaf;
  const alias = ownAlias(tenant);
  const called = alias === null ? sql`` : sql` AS ${sql.id(alias)}`;
  const where = tenant === null ? sql`` : sql` WHERE ${tenantSql(dialect, database, tenant, alias)}`;
  const rows = sql`SELECT ${sql.join([...columns, ...markSql(leaf)])} FROM ${table}${called}${where}`;
  const name = isTested(leaf) ? untestedName(ownName) : ownName;
  if (computed.length > 0 && !isTested(leaf)) return computedSql(dialect, name, rows, computed);
  if (leaf.isBarrier === true) return [barrierSql(dialect, name, rows)];
  return isKept(dialect, joins, leaf) && dialect.barrier !== null
    ? [dialect.barrier(sql.id(name), rows)]
    : [sql`${sql.id(name)} ${dialect.asLeaf} (${rows})`];
};

/** What is computed stands above a barrier: it is never evaluated on another tenant's row. */
const computedSql = (dialect: Dialect, name: string, rows: Sql, computed: readonly Computed[]): readonly Sql[] => {
  const base = `${name}_base`;
  const values = computed.map((one) => sql`${one.write(dialect, base)} AS ${sql.id(one.columnName)}`);
  return [
    barrierSql(dialect, base, rows),
    sql`${sql.id(name)} ${dialect.asLeaf} (SELECT ${sql.join([sql`${sql.id(base)}.*`, ...values])} FROM ${sql.id(base)})`,
  ];
};

const barrierSql = (dialect: Dialect, name: string, rows: Sql): Sql => {
  assertHas(dialect, 'barrier');
  const { barrier } = dialect;
  if (barrier === null) throw new TypeError('a database without barriers passed for one that has them');
  return barrier(sql.id(name), rows);
};

const markSql = (leaf: TenantScopedLeaf): readonly Sql[] => {
  if (leaf.isNumbered) return [sql`row_number() OVER () AS ${sql.id(markOf(leaf))}`];
  return leaf.isMarked ? [sql`1 AS ${sql.id(markOf(leaf))}`] : [];
};

/** Numbers must stay the same however often the leaf is read within the statement. */
const isKept = ({ capabilities }: Dialect, joins: readonly Join[], { isNumbered }: TenantScopedLeaf): boolean =>
  isNumbered === true || (capabilities.isRightJoinSlow && joins.some(({ kind }) => kind === 'RIGHT JOIN'));

/** What follows the name of a leaf's table: an alias only where a subquery has to name its columns. */
export const ownAlias = (tenant: TenantPredicate | null): string | null =>
  tenant === null || tenant.kind === 'column' ? null : 'gl_own';

/** True for the tenant's rows of the table that is called `alias`; null: the only one in reach. */
export const tenantSql = (
  dialect: Dialect,
  database: string,
  tenant: TenantPredicate,
  alias: string | null,
  depth = 0,
): Sql => {
  switch (tenant.kind) {
    case 'column': {
      const column = alias === null ? sql.id(tenant.columnName) : sql.id(alias, tenant.columnName);
      return dialect.tenant(column, tenant.type, tenant.value);
    }
    case 'all':
      return sql.join(
        tenant.items.map((item) => tenantSql(dialect, database, item, alias, depth)),
        sql` AND `,
      );
    case 'parent': {
      const parent = `gl_parent_${depth}`;
      const { near, far } = tenant;
      const relation = sql`${dialect.table(database, far.ref)} AS ${sql.id(parent)}`;
      const isTenants = tenantSql(dialect, database, tenant.tenant, parent, depth + 1);
      const steps = [{ near: sideOf(near, alias), far: sideOf(far, parent), relation }];
      return asTenancy(() => semiJoinOf(dialect, steps, [isTenants]));
    }
    default:
      return refuseUnknown('tenant predicate', tenant);
  }
};

/** A database may have no type for both columns of one kind. That is refused as the tenancy's: a guest is told no names of it. */
const asTenancy = (work: () => Sql): Sql => {
  try {
    return work();
  } catch (cause) {
    if (!(cause instanceof Refusal) || cause.reason !== 'join-of-different-types') throw cause;
    throw new Refusal('METRIC_QUERY_ERROR', cause.message, { reason: 'tenancy-join-types', cause });
  }
};

const sideOf = ({ ref, type }: TypedColumn, alias: string | null): Side => {
  if (alias === null) throw new TypeError('a column that is joined is named by the alias of its table');
  return { column: sql.id(alias, ref.columnName), type, ref };
};
