/** Excludes the rows that the token hides from the tables that custom SQL and custom columns read. */
import { sql } from 'kysely';
import {
  type ColumnRef,
  type Datamart,
  findColumn,
  sameTable,
  type TableRef,
  tableKey,
} from '../../model/datamart/datamart.js';
import { isAmong } from '../../model/datamart/tenancy-steps.js';
import type { Queries } from '../custom/queries.js';
import type { Custom } from '../custom/read-custom.js';
import { type Dialect, nameInLeaf, type Side, type Sql } from '../dialect/dialect.js';
import { withoutNames } from '../dialect/refuse.js';
import type { Leaf, LeafTest, Plan } from '../plan/plan.js';
import { bridgeStep, findPath, isReachable } from '../question/paths.js';
import type { Resolved, ResolvedCondition } from '../question/resolve.js';
import { type Chain, chainsOf, growTree, isHiddenChain, isOfToken } from '../question/restriction-tree.js';
import { testsOfLeaf } from '../question/row-set.js';
import { leafName } from '../sql/expressions.js';
import { untestedName } from '../sql/leaves.js';
import { columnPredicateSql } from '../sql/predicates.js';
import { semiJoinOf } from '../sql/semi-joins.js';

/** `prefix` begins the names of the leaves that are added. */
export type Chaining = Pick<Resolved, 'storedOf'> & { readonly prefix: string };
export type Hiding = Chaining & { readonly datamart: Datamart };

/** The conditions of one table. */
export type Group = { readonly table: TableRef; readonly conditions: readonly ResolvedCondition[] };

export const groupByTable = (conditions: readonly ResolvedCondition[]): readonly Group[] =>
  [...new Map(conditions.map(({ column }) => [tableKey(column.ref), column.ref])).values()].map((table) => ({
    table,
    conditions: conditions.filter(({ column }) => sameTable(column.ref, table)),
  }));

export const isHiddenGroup = ({ conditions }: Group): boolean => conditions.some(({ isHidden }) => isHidden);

type NamedLeaf = { readonly table: TableRef; readonly name: string };

export type HiddenTests = { readonly tests: readonly LeafTest[]; readonly testsBeneath: readonly LeafTest[] };

/** The tests that leave only visible rows in the leaf of a table. Adds the leaves of semi-joins to `leaves`. */
export const testsOfHidden = (
  hiding: Hiding,
  leaves: Leaf[],
  { table, name }: NamedLeaf,
  restrictions: readonly ResolvedCondition[],
): HiddenTests => {
  const { datamart } = hiding;
  const groups = groupByTable(restrictions);
  const ways = groups
    .filter((group) => !sameTable(group.table, table) && isReachable(datamart, table, group.table))
    .map((group) => ({
      steps: withoutNames(isHiddenGroup(group), () => findPath(datamart, table, group.table)),
      conditions: group.conditions,
    }));
  const own = restrictions.filter(({ column }) => sameTable(column.ref, table));
  const isCustom = ({ column }: ResolvedCondition): boolean =>
    findColumn(datamart, column.ref)?.isCustomColumn === true;
  const chains = chainsOf(growTree(ways), []);
  return {
    testsBeneath: [
      ...own.filter((condition) => !isCustom(condition)).map(ownTest),
      ...chains.map((chain) => ({ write: planChain(hiding, leaves, untestedName(name), chain) })),
    ],
    tests: own.filter(isCustom).map(ownTest),
  };
};

const ownTest = (condition: ResolvedCondition): LeafTest => ({
  condition,
  write: (dialect, from) => withoutNames(condition.isHidden, () => testSql(dialect, from, condition)),
});

/** Plans a chain of semi-joins. Adds its leaves to `leaves`. */
export const planChain = (
  source: Chaining,
  leaves: Leaf[],
  near: string,
  chain: Chain,
): ((dialect: Dialect) => Sql) => {
  const isHidden = isHiddenChain(chain) || undefined;
  const isAlwaysFiltered = isOfToken(chain) || undefined;
  const prefix = `${source.prefix}_${leaves.length}`;
  const links = chain.map(({ step, conditions, branches }, index) => {
    const name = `${prefix}_${index}`;
    const [from, leaf] = [index === 0 ? near : `${prefix}_${index - 1}`, leafOf(step.far)];
    leaves.push({ ...leaf, name, isHidden, isAlwaysFiltered });
    return { step, conditions, from, name, nested: branches.map((branch) => planChain(source, leaves, name, branch)) };
  });
  const sideOf = (relation: string, ref: ColumnRef): Side => {
    const column = source.storedOf(ref);
    return { column: sql.id(relation, nameInLeaf(column)), type: column.type, ref };
  };
  const write = (dialect: Dialect): Sql =>
    semiJoinOf(
      dialect,
      links.map(({ step, from, name }) => ({
        near: sideOf(from, step.near),
        far: sideOf(name, step.far),
        relation: sql.id(name),
      })),
      links.flatMap(({ conditions, name, nested }) => [
        ...conditions.map((condition) => testSql(dialect, name, condition)),
        ...nested.map((writeNested) => writeNested(dialect)),
      ]),
    );
  return (dialect) => withoutNames(isHidden, () => write(dialect));
};

const leafOf = ({ schemaName, tableName }: TableRef): Leaf => ({ table: { schemaName, tableName }, isMarked: false });

export const testSql = (dialect: Dialect, alias: string, { column, predicate }: ResolvedCondition): Sql =>
  columnPredicateSql(dialect, sql.id(alias, nameInLeaf(column)), column, predicate);

/** Adds tests to the leaf's own. */
export const withTests = (leaf: Leaf, { tests, testsBeneath }: HiddenTests): Leaf => ({
  ...leaf,
  tests: [...(leaf.tests ?? []), ...tests],
  testsBeneath: [...(leaf.testsBeneath ?? []), ...testsBeneath],
});

/**
 * Adds tests to the leaves that must hold visible rows only, where joins would come too late: those with custom columns,
 * since an expression that fails on a hidden row's value would reveal that the row exists; and all of a metric that is
 * without base filters, since a row that it alone reads must not make the rows visible that it is joined with.
 */
const hideEarly = (
  leaves: readonly Leaf[],
  { datamart, storedOf, conditions, whereRead }: Pick<Resolved, 'datamart' | 'storedOf' | 'conditions' | 'whereRead'>,
  unfiltered: readonly TableRef[],
): { readonly leaves: readonly Leaf[]; readonly beyond: readonly Leaf[] } => {
  const restrictions = conditions.filter(({ restriction }) => restriction === 'always');
  const beyond: Leaf[] = [];
  if (restrictions.length === 0) return { leaves, beyond };
  const hiding = { storedOf, prefix: 'gl_early_semi', datamart };
  const isOpen = leaves.length > 1 && leaves.some((leaf) => isAmong(unfiltered, leaf.table));
  const hide = (leaf: Leaf, index: number): Leaf => {
    if (leaf.computed === undefined && !isOpen) return leaf;
    const name = leaf.name ?? leafName(index);
    return withTests(leaf, testsOfHidden(hiding, beyond, { table: leaf.table, name }, restrictions));
  };
  return {
    leaves: leaves.map(hide),
    beyond: beyond.map((leaf) => ({ ...leaf, ...testsOfLeaf(whereRead, leaf.table) })),
  };
};

/**
 * The leaves of conditions in SQL. The author's conditions read visible rows only; the token's decide which rows are
 * visible, so they read all.
 */
export const leavesOfQueries = (
  queries: Queries,
  { datamart, storedOf, conditions, whereRead }: Pick<Resolved, 'datamart' | 'storedOf' | 'conditions' | 'whereRead'>,
): readonly Leaf[] => {
  const hiding = { storedOf, prefix: 'gl_query_semi', datamart };
  const restrictions = conditions.filter(({ restriction }) => restriction === 'always');
  const beyond: Leaf[] = [];
  const read = [...queries.values()].flatMap(({ leaves, isRestriction }) =>
    leaves.map((leaf): Leaf => {
      if (isRestriction) return leaf;
      const { table, name } = leaf;
      return withTests(
        { ...leaf, ...testsOfLeaf(whereRead, table) },
        testsOfHidden(hiding, beyond, { table, name }, restrictions),
      );
    }),
  );
  return [...read, ...beyond.map((leaf): Leaf => ({ ...leaf, ...testsOfLeaf(whereRead, leaf.table) }))];
};

/**
 * A row of a bridged table is visible only by a row of its bridge that the token does not hide: each leaf of such a
 * table gets a test for that row. Other conditions of the token reach the table as they reach any other.
 */
export const withBridges = (
  leaves: readonly Leaf[],
  { datamart, storedOf, conditions, whereRead }: Pick<Resolved, 'datamart' | 'storedOf' | 'conditions' | 'whereRead'>,
): readonly Leaf[] => {
  const beyond: Leaf[] = [];
  const restrictions = conditions.filter(({ restriction }) => restriction === 'always');
  const tested = leaves.map((leaf, index): Leaf => {
    const step = leaf.isStored === true ? undefined : bridgeStep(datamart, leaf.table);
    const own = restrictions.filter(({ column }) => step !== undefined && sameTable(column.ref, step.far));
    if (step === undefined || own.length + whereRead(step.far).length === 0) return leaf;
    const near = untestedName(leaf.name ?? leafName(index));
    const chaining = { storedOf, prefix: 'gl_bridge' };
    const write = planChain(chaining, beyond, near, [{ step, conditions: own, branches: [] }]);
    return withTests(leaf, { tests: [], testsBeneath: [{ write }] });
  });
  const bridges = beyond.map(
    (leaf): Leaf => ({ ...leaf, isAlwaysFiltered: true, ...testsOfLeaf(whereRead, leaf.table) }),
  );
  return [...tested, ...bridges];
};

/**
 * The plan with its custom columns, barriers where expressions read a leaf, and the leaves of conditions in SQL.
 * `unfiltered`: the tables whose base filters the metric's author left out.
 */
export const withCustom = (
  plan: Plan,
  { columns, expressions, queries }: Custom,
  resolved: Resolved,
  unfiltered: readonly TableRef[],
): Plan => {
  const own = plan.leaves.map((leaf): Leaf => {
    const computed = columns.get(tableKey(leaf.table));
    return computed === undefined && expressions.size === 0 ? leaf : { ...leaf, computed, isBarrier: true };
  });
  const { leaves, beyond } = hideEarly(own, resolved, unfiltered);
  const all = withBridges([...leaves, ...beyond, ...leavesOfQueries(queries, resolved)], resolved);
  return { ...plan, leaves: [...all.slice(0, own.length), ...withComputed(all.slice(own.length), columns)] };
};

/** Leaves with their custom columns, which a test of the token may compare. */
export const withComputed = (leaves: readonly Leaf[], columns: Custom['columns']): readonly Leaf[] =>
  leaves.map((leaf) => ({ ...leaf, computed: columns.get(tableKey(leaf.table)) }));
