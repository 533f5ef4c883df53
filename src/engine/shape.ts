import type { Cell, MetricAnswer } from '../domain/ports.js';
import type { Output } from './plan.js';
import type { RunResult } from './run.js';

/** Rows by the names of the metric's columns. Without any row there are no columns either, as the interface has it. */
export const shape = ({ columns }: Output, { rows, dataTypes, total }: RunResult): MetricAnswer => {
  if (total === 0) return { rows: [], columns: [], groupbyColumnList: [], totalRecords: 0 };
  return {
    rows: rows.map((row) =>
      Object.fromEntries(columns.map(({ name }, index): [string, Cell] => [name, row[index] ?? null])),
    ),
    columns: columns.map(({ name }, index) => ({ name, dataType: dataTypes[index] ?? 'string' })),
    groupbyColumnList: columns
      .filter(({ expression }) => expression.kind !== 'aggregate' && expression.kind !== 'rowCount')
      .map(({ name }) => name),
    totalRecords: total,
  };
};
