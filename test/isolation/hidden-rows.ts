/**
 * Removes the rows that a token hides, by loops over rows in memory and without the engine. A row is visible if one row
 * can be chosen from each table on the paths to the token's tables such that all joins match and all conditions of the
 * token hold.
 */
import { type Datamart, sameTable, type TableRef } from '../../src/model/datamart/datamart.js';
import type { Condition } from '../../src/model/filter/filter.js';
import type { Dataset, TableName } from './dataset.js';
import { areEqual, holdsFor, type Source, type Step, type StoredRow, waysBetween } from './evaluator-joins.js';
import { sourceOf } from './stage.js';

/**
 * Returns the steps from a table to all tables with conditions. A table without exactly one path is left out, since no
 * question can read both.
 */
const stepsToward = (mart: Datamart, table: TableRef, conditions: readonly Condition[]): readonly Step[] => {
  const steps = conditions.flatMap(({ column }) => {
    const ways = waysBetween(mart, table, column);
    return ways.length === 1 ? (ways[0] ?? []) : [];
  });
  return steps.filter((step, index) => steps.findIndex((other) => other.relationship === step.relationship) === index);
};

/** Paths of a tree do not meet again after they part, so each branch is checked on its own. */
const isVisible = (
  source: Source,
  table: TableRef,
  row: StoredRow,
  conditions: readonly Condition[],
  steps: readonly Step[],
): boolean =>
  conditions.filter(({ column }) => sameTable(column, table)).every((condition) => holdsFor(source, row, condition)) &&
  steps
    .filter(({ near }) => sameTable(near, table))
    .every((step) =>
      source
        .rowsOf(step.far)
        .some((far) => areEqual(source.mart, row, far, step) && isVisible(source, step.far, far, conditions, steps)),
    );

const filterRows = (
  dataset: Dataset,
  mart: Datamart,
  keeps: (table: TableRef) => (row: StoredRow) => boolean,
): Dataset =>
  new Map(
    [...dataset].map(([name, rows]): [TableName, readonly StoredRow[]] => {
      const table = mart.tables.find(({ tableName }) => tableName === name);
      return [name, table === undefined ? rows : rows.filter(keeps(table))];
    }),
  );

/**
 * Returns the rows that a token with these conditions leaves. `whereRead` conditions first hide the failing rows of
 * their own table. Then `always` conditions hide every row that is in no complete choice of rows.
 */
export const withoutHidden = (
  dataset: Dataset,
  mart: Datamart,
  token: readonly Condition[],
  timezone: string | null,
): Dataset => {
  const whereRead = token.filter(({ restriction }) => restriction === 'whereRead');
  const always = token.filter(({ restriction }) => restriction === 'always');
  const read = sourceOf(dataset, mart, timezone);
  const left = filterRows(
    dataset,
    mart,
    (table) => (row) =>
      whereRead.filter(({ column }) => sameTable(column, table)).every((condition) => holdsFor(read, row, condition)),
  );
  const source = sourceOf(left, mart, timezone);
  return filterRows(left, mart, (table) => {
    const steps = stepsToward(mart, table, always);
    return (row) => isVisible(source, table, row, always, steps);
  });
};
