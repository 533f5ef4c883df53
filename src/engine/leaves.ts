import { sql } from 'kysely';
import { assertHas } from './capabilities.js';
import type { Dialect, Sql } from './dialect.js';
import { leafName, markOf } from './expressions.js';
import type { Computed, Join, Leaf, Secured, SecuredLeaf } from './plan.js';

type LeafPlan = Secured<{ readonly leaves: readonly Leaf[] }>;

/** `WITH` and every leaf. Names of tables stand here alone. */
export const leavesSql = (dialect: Dialect, plan: LeafPlan, joins: readonly Join[] = []): Sql =>
  sql`WITH ${sql.join(leavesOf(dialect, plan, joins))}`;

/** Rows that a token hides are taken from a leaf after all others are written, the last leaf first: a test may read leaves that come after its own. */
const leavesOf = (dialect: Dialect, plan: LeafPlan, joins: readonly Join[]): readonly Sql[] => [
  ...plan.leaves.flatMap((leaf, index) => leafSql(dialect, plan.database, leaf, nameOf(leaf, index), joins)),
  ...plan.leaves
    .map((leaf, index) => testedSql(dialect, leaf, nameOf(leaf, index)))
    .toReversed()
    .flat(),
];

const nameOf = ({ name }: SecuredLeaf, index: number): string => name ?? leafName(index);
const isTested = ({ tests = [] }: SecuredLeaf): boolean => tests.length > 0;
/** Of the leaf's rows before its tests. */
export const untestedName = (name: string): string => `${name}_all`;

const testedSql = (dialect: Dialect, leaf: SecuredLeaf, name: string): readonly Sql[] => {
  if (!isTested(leaf)) return [];
  const all = untestedName(name);
  const tests = (leaf.tests ?? []).map((write) => write(dialect, all));
  const rows = sql`SELECT ${sql.id(all)}.* FROM ${sql.id(all)} WHERE ${sql.join(tests, sql` AND `)}`;
  return [sql`${sql.id(name)} ${dialect.asLeaf} (${rows})`];
};

/** The host's own rows under their name, after the leaves that they read: MariaDB finds no leaf from within a WITH of a derived table. */
export const rowsAs = (dialect: Dialect, plan: LeafPlan, name: string, rows: Sql): Sql =>
  sql`WITH ${sql.join([...leavesOf(dialect, plan, []), sql`${sql.id(name)} AS (${rows})`])}`;

/** A common table expression is looked up before a table, but never for a name that is qualified: as inside here. */
const leafSql = (
  dialect: Dialect,
  database: string,
  leaf: SecuredLeaf,
  ownName: string,
  joins: readonly Join[],
): readonly Sql[] => {
  const columns = leaf.columns.map((name) => sql.id(name));
  const table = dialect.table(database, leaf.table);
  const { tenant, computed = [] } = leaf;
  const where =
    tenant === null ? sql`` : sql` WHERE ${dialect.tenant(sql.id(tenant.columnName), tenant.type, tenant.value)}`;
  const rows = sql`SELECT ${sql.join([...columns, ...markSql(leaf)])} FROM ${table}${where}`;
  const name = isTested(leaf) ? untestedName(ownName) : ownName;
  if (computed.length > 0) return computedSql(dialect, name, rows, computed);
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

const markSql = (leaf: SecuredLeaf): readonly Sql[] => {
  if (leaf.isNumbered) return [sql`row_number() OVER () AS ${sql.id(markOf(leaf))}`];
  return leaf.isMarked ? [sql`1 AS ${sql.id(markOf(leaf))}`] : [];
};

/** Numbers must stay the same however often the leaf is read within the statement. */
const isKept = ({ capabilities }: Dialect, joins: readonly Join[], { isNumbered }: SecuredLeaf): boolean =>
  isNumbered === true || (capabilities.isRightJoinSlow && joins.some(({ kind }) => kind === 'RIGHT JOIN'));
