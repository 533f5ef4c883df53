import type { TableRef } from '../domain/datamart.js';
import { sameTable } from '../domain/datamart.js';
import { qualifiedName } from '../domain/embed.js';
import { findPath, isMultiplying, joinTree, type Step } from './paths.js';
import type { Column, Field, Join, Leaf, SemiJoin, Test, Where } from './plan.js';
import { refuseQuery, withoutNames } from './refuse.js';
import type { Resolved, ResolvedCondition, ResolvedTree } from './resolve.js';

/** The rows that a metric is about: its joined tables under all conditions, before anything is aggregated. */
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
 * Tables beyond the metric's own, joined by equality. `narrow`: rows without a match are left out, and conditions test what was
 * joined. `lookup`: the metric's rows stay as they are, each once; what would repeat one is refused.
 */
export type Extra = { readonly kind: 'narrow' | 'lookup'; readonly tables: readonly TableRef[] };

const noExtra: Extra = { kind: 'narrow', tables: [] };

/**
 * Joins `tables` to the root, each by its relationship's own kind, then the extra ones. A condition on a joined table tests
 * the joined rows; conditions on any other table make one semi-join together, and join nothing.
 */
export const planRowSet = (resolved: Resolved, tables: readonly TableRef[], extra: Extra = noExtra): RowSet => {
  const { relationships } = resolved.datamart;
  const own = joinTree(relationships, resolved.from, tables);
  const added = extraSteps(resolved, own, extra);
  const steps = [...own, ...added];
  const joined: TableRef[] = [resolved.from, ...steps.map(({ far }) => far)];
  // A looked-up row that is not there is NULL: to test it would not be to test that there is one.
  const tested = extra.kind === 'narrow' ? joined : joined.slice(0, own.length + 1);
  const leafOf = (table: TableRef): number => joined.findIndex((candidate) => sameTable(candidate, table));
  const fieldOf = (column: Column): Field => ({ leaf: leafOf(column.ref), column });
  const groups = groupByTable(resolved.conditions);
  const isTested = (table: TableRef): boolean => tested.some((candidate) => sameTable(candidate, table));
  const semiJoin = createSemiJoins(resolved, tested, joined.length);
  const testOf = ({ column, predicate }: ResolvedCondition): Test => ({ field: fieldOf(column), predicate });
  const semiJoins = groups.filter(({ table }) => !isTested(table)).map(semiJoin.plan);
  const where =
    resolved.where === null ? null : planWhere(resolved.where, { isTested, testOf, semiJoin: semiJoin.plan });
  return {
    leaves: [...joined.map(asLeaf), ...semiJoin.leaves],
    steps,
    joins: steps.map((step, index) => ({
      kind: step.kind,
      near: fieldOf(resolved.columnOf(step.near)),
      far: { leaf: index + 1, column: resolved.columnOf(step.far) },
    })),
    tests: groups.filter(({ table }) => isTested(table)).flatMap(({ conditions }) => conditions.map(testOf)),
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

/** Tests of one table that is not joined share one row of it where they stand side by side in an `all`; in an `any`, each finds its own. */
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
  const added = joinTree(resolved.datamart.relationships, resolved.from, tables).filter(
    (step) => !own.some(({ relationship }) => relationship === step.relationship),
  );
  if (kind === 'narrow') return added.map((step): Step => ({ ...step, kind: 'INNER JOIN' }));
  const repeating = added.find(isMultiplying);
  if (repeating !== undefined) {
    refuseQuery(
      `Columns of ${qualifiedName(repeating.far)} cannot stand beside the metric's rows: relationship ${repeating.relationship.relationshipName} may match several to one. Set its cardinality, or leave its columns out of "underlying".`,
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

/** Each starts at the last table of `joined` on the one path from the root, and has leaves of its own, after the first `taken`. */
const createSemiJoins = (resolved: Resolved, joined: readonly TableRef[], taken: number) => {
  const leaves: Leaf[] = [];
  const plan = ({ table, conditions }: TableConditions, isHidden?: true): SemiJoin => {
    const path = findPath(resolved.datamart.relationships, resolved.from, table);
    const steps = path.filter(({ far }) => !joined.some((candidate) => sameTable(candidate, far)));
    const first = taken + leaves.length;
    leaves.push(...steps.map(({ far }) => ({ ...asLeaf(far), isHidden })));
    const joins = steps.map((step, index) => ({
      near: {
        leaf: index === 0 ? joined.findIndex((candidate) => sameTable(candidate, step.near)) : first + index - 1,
        column: resolved.columnOf(step.near),
      },
      far: { leaf: first + index, column: resolved.columnOf(step.far) },
    }));
    const last = first + steps.length - 1;
    const tests = conditions.map(({ column, predicate }) => ({ field: { leaf: last, column }, predicate }));
    return { joins, tests, isHidden };
  };
  const planUnnamed = (group: TableConditions): SemiJoin => {
    const isHidden = group.conditions.some((condition) => condition.isHidden === true);
    return isHidden ? withoutNames(true, () => plan(group, true)) : plan(group);
  };
  return { leaves, plan: planUnnamed };
};

const asLeaf = (table: TableRef): Leaf => ({
  table: { schemaName: table.schemaName, tableName: table.tableName },
  isMarked: false,
});
