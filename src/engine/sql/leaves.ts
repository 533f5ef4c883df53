import { sql } from 'kysely';
import { assertHas } from '../databases/capabilities.js';
import type { Dialect, Sql } from '../databases/dialect.js';
import { withoutNames } from '../databases/refuse.js';
import type { Computed, Join, Leaf, LeafTest, TenantScoped, TenantScopedLeaf } from '../plan/plan.js';
import { leafName, markOf } from './expressions.js';
import { ownAlias, tenantSql } from './tenant-rows.js';

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
