import { sql } from 'kysely';
import { qualifiedName, sameTable, type TableRef } from '../../model/datamart/datamart.js';
import { type Column, nameInLeaf } from '../dialect/dialect.js';
import { refuseQuery, withoutNames } from '../dialect/refuse.js';
import type { Field, Join, Leaf, LeafTest, SemiJoin, Test, Where } from '../plan/plan.js';
import { predicateSql } from '../sql/predicates.js';
import { findPath, isMultiplying, joinTree, type Step } from './paths.js';
import type { Resolved, ResolvedCondition, ResolvedTree } from './resolve.js';
import { type Chain, chainsOf, growTree, isHiddenChain, type Way, walk } from './restriction-tree.js';

/** The rows of a metric: its joined tables under all conditions, before aggregation. */
export type RowSet = {
  readonly leaves: readonly Leaf[];
  readonly steps: readonly Step[];
  readonly joins: readonly Join[];
  readonly tests: readonly Test[];
  readonly semiJoins: readonly SemiJoin[];
  readonly where: Where | null;
  readonly fieldOf: (column: Column) => Field;
};

/**
 * Tables in addition to the metric's own, joined by equality. `narrow`: rows without a match are dropped, and
 * conditions test the joined rows. `lookup`: the metric's rows stay, each once; joins that would repeat one are
 * refused.
 */
export type Extra = { readonly kind: 'narrow' | 'lookup'; readonly tables: readonly TableRef[] };

const noExtra: Extra = { kind: 'narrow', tables: [] };

/**
 * Joins `tables` to the root by their relationships, then the extra tables. A condition on a joined table tests the
 * joined rows. The conditions on any other table become one semi-join. The token's conditions also hold in every
 * semi-join that reads or passes their table.
 */
export const planRowSet = (resolved: Resolved, tables: readonly TableRef[], extra: Extra = noExtra): RowSet => {
  const own = joinTree(resolved.datamart, resolved.from, tables);
  const added = extraSteps(resolved, own, extra);
  const steps = [...own, ...added];
  const joined: TableRef[] = [resolved.from, ...steps.map(({ far }) => far)];
  // A looked-up row that does not exist is NULL, so conditions on its table cannot test it and become semi-joins.
  const tested = extra.kind === 'narrow' ? joined : joined.slice(0, own.length + 1);
  const leafOf = (table: TableRef): number => joined.findIndex((candidate) => sameTable(candidate, table));
  const fieldOf = (column: Column): Field => ({ leaf: leafOf(column.ref), column });
  const isTested = (table: TableRef): boolean => isAmong(tested, table);
  const testOf = ({ column, predicate }: ResolvedCondition): Test => ({ field: fieldOf(column), predicate });
  const ways = createWays(resolved);
  const restrictions = resolved.conditions.filter(({ restriction }) => restriction === 'always');
  const tree = growTree(ways(tested, restrictions));
  const asked = ways(
    tested,
    resolved.conditions.filter(({ restriction }) => restriction === undefined),
  ).map((way) => walk(tree, way));
  // The tree requires that some row exists. If a relationship matches several rows although its cardinality says one,
  // the looked-up row itself must pass too.
  const lookedUp = joined.slice(tested.length);
  const seen = restrictions.filter(({ column }) => isAmong(lookedUp, column.ref));
  const beyond = growTree(ways(joined, restrictions)).filter(({ step }) => isAmong(lookedUp, step.near));
  const { leaves, plan } = createSemiJoins(resolved, leafOf, joined.length);
  const semiJoins = [...asked, ...chainsOf(tree, asked), ...chainsOf(beyond, [])].map(plan);
  const semiJoin = (group: TableConditions): SemiJoin => plan(walk(tree, wayOf(resolved, tested, group)));
  const where = resolved.where === null ? null : planWhere(resolved.where, { isTested, testOf, semiJoin });
  const groups = groupByTable([...resolved.conditions.filter(({ column }) => isTested(column.ref)), ...seen]);
  const asLeaf = createLeaf(resolved);
  return {
    leaves: [...joined.map((table) => asLeaf(table)), ...leaves],
    steps,
    joins: steps.map((step, index) => ({
      kind: step.kind,
      near: fieldOf(resolved.storedOf(step.near)),
      far: { leaf: index + 1, column: resolved.storedOf(step.far) },
    })),
    tests: groups.flatMap(({ conditions }) => conditions.map(testOf)),
    semiJoins,
    where,
    fieldOf,
  };
};

type WhereParts = {
  readonly isTested: (table: TableRef) => boolean;
  readonly testOf: (condition: ResolvedCondition) => Test;
  readonly semiJoin: (group: TableConditions) => SemiJoin;
};

/**
 * Conditions on one unjoined table share one row where they are side by side in `all`. In `any`, each condition finds
 * its own row.
 */
const planWhere = (tree: ResolvedTree, parts: WhereParts): Where => {
  if (!('items' in tree)) {
    return parts.isTested(tree.column.ref)
      ? { kind: 'test', ...parts.testOf(tree) }
      : { kind: 'exists', ...parts.semiJoin({ table: tree.column.ref, conditions: [tree] }) };
  }
  if (tree.kind === 'any') return { kind: 'any', items: tree.items.map((item) => planWhere(item, parts)) };
  const far = tree.items.flatMap((item) => (isFar(item, parts) ? [item] : []));
  return {
    kind: 'all',
    items: [
      ...tree.items.filter((item) => !isFar(item, parts)).map((item) => planWhere(item, parts)),
      ...groupByTable(far).map((group): Where => ({ kind: 'exists', ...parts.semiJoin(group) })),
    ],
  };
};

const isFar = (tree: ResolvedTree, { isTested }: WhereParts): tree is ResolvedCondition =>
  !('items' in tree) && !isTested(tree.column.ref);

const extraSteps = (resolved: Resolved, own: readonly Step[], { kind, tables }: Extra): readonly Step[] => {
  const added = joinTree(resolved.datamart, resolved.from, tables).filter(
    (step) => !own.some(({ relationship }) => relationship === step.relationship),
  );
  if (kind === 'narrow') return added.map((step): Step => ({ ...step, kind: 'INNER JOIN' }));
  const repeating = added.find(isMultiplying);
  if (repeating !== undefined) {
    refuseQuery(
      `Columns of ${qualifiedName(repeating.far)} cannot be shown with the metric's rows: relationship ${repeating.relationship.relationshipName} may match several to one. Set its cardinality, or leave its columns out of "underlying".`,
      'fan-out',
    );
  }
  return added.map((step): Step => ({ ...step, kind: 'LEFT JOIN' }));
};

type TableConditions = { readonly table: TableRef; readonly conditions: readonly ResolvedCondition[] };

const groupByTable = (conditions: readonly ResolvedCondition[]): readonly TableConditions[] => {
  const tables = conditions
    .map(({ column }) => column.ref)
    .filter((table, index, all) => all.findIndex((other) => sameTable(other, table)) === index);
  return tables.map((table) => ({
    table,
    conditions: conditions.filter(({ column }) => sameTable(column.ref, table)),
  }));
};

const isAmong = (tables: readonly TableRef[], table: TableRef): boolean =>
  tables.some((candidate) => sameTable(candidate, table));

/** The path from the last joined table, on the only path from the root. */
const wayOf = (resolved: Resolved, joined: readonly TableRef[], { table, conditions }: TableConditions): Way => {
  const isHidden = conditions.some((condition) => condition.isHidden === true);
  const path = withoutNames(isHidden, () => findPath(resolved.datamart, resolved.from, table));
  return { steps: path.filter(({ far }) => !isAmong(joined, far)), conditions };
};

/** The paths to all unjoined tables that the conditions are on. */
const createWays =
  (resolved: Resolved) =>
  (joined: readonly TableRef[], conditions: readonly ResolvedCondition[]): readonly Way[] =>
    groupByTable(conditions.filter(({ column }) => !isAmong(joined, column.ref))).map((group) =>
      wayOf(resolved, joined, group),
    );

/** Plans semi-joins. Each adds its own leaves, numbered from `taken`. */
const createSemiJoins = (resolved: Resolved, leafOf: (table: TableRef) => number, taken: number) => {
  const leaves: Leaf[] = [];
  const asLeaf = createLeaf(resolved);
  const planFrom = (start: number, chain: Chain, isHidden: true | undefined): SemiJoin => {
    const joins: SemiJoin['joins'][number][] = [];
    const tests: Test[] = [];
    const nested: SemiJoin[] = [];
    let near = start;
    for (const { step, conditions, branches } of chain) {
      const leaf = taken + leaves.length;
      leaves.push({ ...asLeaf(step.far), isHidden });
      joins.push({
        near: { leaf: near, column: resolved.storedOf(step.near) },
        far: { leaf, column: resolved.storedOf(step.far) },
      });
      tests.push(...conditions.map(({ column, predicate }) => ({ field: { leaf, column }, predicate })));
      nested.push(...branches.map((branch) => planFrom(leaf, branch, isHidden)));
      near = leaf;
    }
    return { joins, tests, nested, isHidden };
  };
  const plan = (chain: Chain): SemiJoin => {
    const [first] = chain;
    if (first === undefined) throw new TypeError('a semi-join of a table that is joined');
    const isHidden = isHiddenChain(chain) || undefined;
    return withoutNames(isHidden, () => planFrom(leafOf(first.step.near), chain, isHidden));
  };
  return { leaves, plan };
};

const createLeaf =
  (resolved: Resolved) =>
  ({ schemaName, tableName }: TableRef): Leaf => ({
    table: { schemaName, tableName },
    isMarked: false,
    ...testsOfLeaf(resolved.whereRead, { schemaName, tableName }),
  });

/** The token's conditions that hold wherever the table is read, as tests of its leaf. */
export const testsOfLeaf = (whereRead: Resolved['whereRead'], table: TableRef): Pick<Leaf, 'tests'> => {
  const tests = whereRead(table).map(
    ({ column, predicate, isHidden }): LeafTest => ({
      condition: { column, predicate },
      write: (dialect, from) =>
        withoutNames(isHidden, () => {
          const value = dialect.field(sql.id(from, nameInLeaf(column)), column);
          return predicateSql(dialect, value, column.type, predicate);
        }),
    }),
  );
  return tests.length === 0 ? {} : { tests };
};
