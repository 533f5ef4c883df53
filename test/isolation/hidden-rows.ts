/**
 * Removes the rows that a token hides, by plain loops over rows in memory. A row stays where one row can be chosen from each table on the ways to the
 * token's tables, so that all equalities hold and all of the token's conditions do. The engine is not asked.
 */
import { type Datamart, sameTable, type TableRef } from '../../src/domain/datamart/datamart.js';
import type { Condition } from '../../src/domain/filter/filter.js';
import type { Dataset, TableName } from './dataset.js';
import { areEqual, holdsFor, type Source, type Step, type StoredRow, waysBetween } from './evaluator-joins.js';
import { sourceOf } from './stage.js';

/** The steps from a table to all tables with conditions. A table without one clear way is left out: no question can read both. */
const stepsToward = (mart: Datamart, table: TableRef, conditions: readonly Condition[]): readonly Step[] => {
  const steps = conditions.flatMap(({ column }) => {
    const ways = waysBetween(mart, table, column);
    return ways.length === 1 ? (ways[0] ?? []) : [];
  });
  return steps.filter((step, index) => steps.findIndex((other) => other.relationship === step.relationship) === index);
};

/** Ways in a tree part for good: each neighbour is chosen by itself. */
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
 * What is left of the rows for a token with these conditions. `whereRead` conditions hide the rows of their own table that fail; then `always`
 * conditions hide every row that has no part in a complete choice.
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
