import type { TableRef } from '../domain/datamart.js';
import { sameTable } from '../domain/datamart.js';
import { findPath, joinTree, type Step } from './paths.js';
import type { Column, Field, Join, Leaf, SemiJoin, Test } from './plan.js';
import type { Resolved, ResolvedCondition } from './resolve.js';

/** The rows that a metric is about: its joined tables under all conditions, before anything is aggregated. */
export type RowSet = {
  readonly leaves: readonly Leaf[];
  readonly steps: readonly Step[];
  readonly joins: readonly Join[];
  readonly tests: readonly Test[];
  readonly semiJoins: readonly SemiJoin[];
  readonly fieldOf: (column: Column) => Field;
};

/**
 * Joins `tables` to the root, each by its relationship's own kind, then `extra` by equality. A condition on a joined table tests
 * the joined rows; conditions on any other table make one semi-join together, and join nothing.
 */
export const planRowSet = (
  resolved: Resolved,
  tables: readonly TableRef[],
  extra: readonly TableRef[] = [],
): RowSet => {
  const { relationships } = resolved.datamart;
  const own = joinTree(relationships, resolved.from, tables);
  const added = joinTree(relationships, resolved.from, extra)
    .filter((step) => !own.some(({ relationship }) => relationship === step.relationship))
    .map((step): Step => ({ ...step, kind: 'INNER JOIN' }));
  const steps = [...own, ...added];
  const joined: TableRef[] = [resolved.from, ...steps.map(({ far }) => far)];
  const leafOf = (table: TableRef): number => joined.findIndex((candidate) => sameTable(candidate, table));
  const fieldOf = (column: Column): Field => ({ leaf: leafOf(column.ref), column });
  const groups = groupByTable(resolved.conditions);
  const inside = groups.filter(({ table }) => leafOf(table) >= 0);
  const outside = groups.filter(({ table }) => leafOf(table) < 0);
  const { leaves, semiJoins } = planSemiJoins(resolved, outside, joined);
  return {
    leaves: [...joined.map(asLeaf), ...leaves],
    steps,
    joins: steps.map((step, index) => ({
      kind: step.kind,
      near: fieldOf(resolved.columnOf(step.near)),
      far: { leaf: index + 1, column: resolved.columnOf(step.far) },
    })),
    tests: inside.flatMap(({ conditions }) =>
      conditions.map(({ column, predicate }) => ({ field: fieldOf(column), predicate })),
    ),
    semiJoins,
    fieldOf,
  };
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

/** Each starts at the last joined table on the one path from the root, and has leaves of its own. */
const planSemiJoins = (
  resolved: Resolved,
  outside: readonly TableConditions[],
  joined: readonly TableRef[],
): { readonly leaves: readonly Leaf[]; readonly semiJoins: readonly SemiJoin[] } => {
  const leaves: Leaf[] = [];
  const semiJoins = outside.map(({ table, conditions }): SemiJoin => {
    const path = findPath(resolved.datamart.relationships, resolved.from, table);
    const steps = path.filter(({ far }) => !joined.some((candidate) => sameTable(candidate, far)));
    const first = joined.length + leaves.length;
    leaves.push(...steps.map(({ far }) => asLeaf(far)));
    const joins = steps.map((step, index) => ({
      near: {
        leaf: index === 0 ? joined.findIndex((candidate) => sameTable(candidate, step.near)) : first + index - 1,
        column: resolved.columnOf(step.near),
      },
      far: { leaf: first + index, column: resolved.columnOf(step.far) },
    }));
    const last = first + steps.length - 1;
    return { joins, tests: conditions.map(({ column, predicate }) => ({ field: { leaf: last, column }, predicate })) };
  });
  return { leaves, semiJoins };
};

const asLeaf = (table: TableRef): Leaf => ({
  table: { schemaName: table.schemaName, tableName: table.tableName },
  isMarked: false,
});
