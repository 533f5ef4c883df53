import { sql } from 'kysely';
import { Refusal } from '../../model/refusal.js';
import { assertHas } from '../dialect/capabilities.js';
import type { Dialect, Side, Sql, TenantPredicate, TypedColumn } from '../dialect/dialect.js';
import { refuseUnknown, withoutNames } from '../dialect/refuse.js';
import type { Computed, Join, Leaf, LeafTest, TenantScoped, TenantScopedLeaf } from '../plan/plan.js';
import { leafName, markOf } from './expressions.js';
import { semiJoinOf } from './semi-joins.js';

type LeafPlan = TenantScoped<{ readonly leaves: readonly Leaf[] }>;

/** `WITH` and every leaf. Only here are tables named. */
export const leavesSql = (dialect: Dialect, plan: LeafPlan, joins: readonly Join[] = []): Sql =>
  sql`WITH ${sql.join(leavesOf(dialect, plan, joins))}`;

/** Leaves first, then their visible rows, last leaf first: a test may read leaves that come later. */
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
/** The leaf's rows before its tests. */
export const untestedName = (name: string): string => `${name}_all`;

/** Writes tests, custom columns and tests of custom columns above a leaf that hides rows. */
const visibleSql = (dialect: Dialect, leaf: TenantScopedLeaf, name: string): readonly Sql[] => {
  if (!isTested(leaf)) return [];
  const { computed = [], testsBeneath = [], tests = [], isBarrier } = leaf;
  const all = untestedName(name);
  const passing = (from: string, some: readonly LeafTest[], shown = sql`${sql.id(from)}.*`): Sql => {
    const where = some.map(({ write }) => write(dialect, from));
    const rows = sql`SELECT ${shown} FROM ${sql.id(from)}`;
    return where.length === 0 ? rows : sql`${rows} WHERE ${sql.join(where, sql` AND `)}`;
  };
  if (computed.length === 0) {
    const rows = passing(all, [...testsBeneath, ...tests], shownSql(leaf, all));
    return [isBarrier === true ? barrierSql(dialect, name, rows) : sql`${sql.id(name)} ${dialect.asLeaf} (${rows})`];
  }
  const untested = `${name}_computed`;
  return [
    ...computedSql(dialect, untested, passing(all, testsBeneath), computed),
    sql`${sql.id(name)} ${dialect.asLeaf} (${passing(untested, tests, shownSql(leaf, untested))})`,
  ];
};

const hasStored = ({ ruled, isNamedBySql }: TenantScopedLeaf): boolean => ruled.length > 0 && isNamedBySql !== true;

/** The columns of the leaf at last: the host's own SQL gets no stored value beside a masked one. */
const shownSql = (leaf: TenantScopedLeaf, from: string): Sql => {
  if (leaf.ruled.length === 0 || hasStored(leaf)) return sql`${sql.id(from)}.*`;
  const computed = (leaf.computed ?? []).map(({ columnName }) => columnName);
  const marks = leaf.isMarked || leaf.isNumbered === true ? [markOf(leaf)] : [];
  return sql.join([...leaf.columns, ...marks, ...computed].map((name) => sql.id(from, name)));
};

/** Columns as questions read them, and the stored values for joins, the token's conditions and the tests of the leaf. */
const columnsSql = (dialect: Dialect, leaf: TenantScopedLeaf, alias: string | null): readonly Sql[] => {
  const { columns, ruled } = leaf;
  if (ruled.length === 0 || alias === null) return columns.map((name) => sql.id(name));
  const written = columns.map((name) => {
    const shown = ruled.find(({ columnName }) => columnName === name)?.shown;
    const column = sql.id(alias, name);
    return sql`${shown == null ? column : shown(dialect, column)} AS ${sql.id(name)}`;
  });
  if (!hasStored(leaf) && !isTested(leaf)) return written;
  const kept = ruled.flatMap(({ columnName, stored }) =>
    stored === null ? [] : sql`${stored.write(dialect, sql.id(alias, columnName))} AS ${sql.id(stored.name)}`,
  );
  return [...written, ...kept];
};

/**
 * The custom SQL's rows under a name, after the leaves that they read: MariaDB finds no leaf from within the WITH of
 * a derived table.
 */
export const rowsAs = (dialect: Dialect, plan: LeafPlan, name: string, rows: Sql): Sql =>
  sql`WITH ${sql.join([...leavesOf(dialect, plan, []), sql`${sql.id(name)} AS (${rows})`])}`;

/** A leaf is a CTE. A qualified table name, as written here, never refers to a CTE. */
const leafSql = (
  dialect: Dialect,
  database: string,
  leaf: TenantScopedLeaf,
  ownName: string,
  joins: readonly Join[],
): readonly Sql[] => {
  const table = dialect.table(database, leaf.table);
  const { tenant, base, computed = [] } = leaf;
  const alias = ownAlias(leaf);
  const columns = columnsSql(dialect, leaf, alias);
  const called = alias === null ? sql`` : sql` AS ${sql.id(alias)}`;
  const own = tenant === null ? [] : [tenantSql(dialect, database, tenant, alias)];
  const tests = [...own, ...base.map((write) => write(dialect, columnOf(alias)))];
  const where = tests.length === 0 ? sql`` : sql` WHERE ${sql.join(tests, sql` AND `)}`;
  const rows = sql`SELECT ${sql.join([...columns, ...markSql(leaf)])} FROM ${table}${called}${where}`;
  const name = isTested(leaf) ? untestedName(ownName) : ownName;
  if (computed.length > 0 && !isTested(leaf)) return computedSql(dialect, name, rows, computed);
  if (leaf.isBarrier === true) return [barrierSql(dialect, name, rows)];
  return isKept(dialect, joins, leaf) && dialect.barrier !== null
    ? [dialect.barrier(sql.id(name), rows)]
    : [sql`${sql.id(name)} ${dialect.asLeaf} (${rows})`];
};

/** Custom columns are computed above a barrier, so never on another tenant's rows. */
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

/** The row numbers must be the same in every read of the leaf, so it is materialized. */
const isKept = ({ capabilities }: Dialect, joins: readonly Join[], { isNumbered }: TenantScopedLeaf): boolean =>
  isNumbered === true || (capabilities.isRightJoinSlow && joins.some(({ kind }) => kind === 'RIGHT JOIN'));

/**
 * The alias of a leaf's table, where a subquery has to qualify its columns, or where a masked column has the name of
 * the stored one; otherwise null.
 */
const ownAlias = ({ tenant, ruled }: TenantScopedLeaf): string | null =>
  ruled.length === 0 && (tenant === null || tenant.kind === 'column') ? null : 'gl_own';

/** Names a column of the table named `alias`; null: the only table in scope. */
const columnOf =
  (alias: string | null) =>
  (columnName: string): Sql =>
    alias === null ? sql.id(columnName) : sql.id(alias, columnName);

/** True for the tenant's rows of the table named `alias`; null: the only table in scope. */
const tenantSql = (
  dialect: Dialect,
  database: string,
  tenant: TenantPredicate,
  alias: string | null,
  depth = 0,
): Sql => {
  switch (tenant.kind) {
    case 'column':
      return dialect.tenant(columnOf(alias)(tenant.columnName), tenant.type, tenant.value);
    case 'all':
      return sql.join(
        tenant.items.map((item) => tenantSql(dialect, database, item, alias, depth)),
        sql` AND `,
      );
    case 'parent': {
      const parent = `gl_parent_${depth}`;
      const { near, far, tests = [] } = tenant;
      const relation = sql`${dialect.table(database, far.ref)} AS ${sql.id(parent)}`;
      const isTenants = tenantSql(dialect, database, tenant.tenant, parent, depth + 1);
      const steps = [{ near: sideOf(near, alias), far: sideOf(far, parent), relation }];
      const passing = tests.map((write) => write(dialect, columnOf(parent)));
      return asTenancy(() => semiJoinOf(dialect, steps, [isTenants, ...passing]));
    }
    default:
      return refuseUnknown('tenant predicate', tenant);
  }
};

/**
 * A database may have no common type for the two columns. The refusal gets a reason of its own, because a guest must
 * not see its names.
 */
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
