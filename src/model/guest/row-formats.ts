/** How the numbers and dates of an answer are written: those of measures as the chart says, those of rows as the model says. Pure. */
import { type MetricDefinition, measureNames } from '../dashboard/metric.js';
import { type ColumnRef, type Datamart, findColumn } from '../datamart/datamart.js';
import type { AnswerColumn } from '../query/engine.js';
import { areFormatted, measureNumbers } from '../query/numbers.js';

/** Returns the columns of underlying rows with their formats. `underlying` names them in the same order. */
export const withRowFormats = (
  columns: readonly AnswerColumn[],
  underlying: readonly ColumnRef[],
  datamart: Datamart,
): readonly AnswerColumn[] =>
  columns.map((column, at) => {
    const ref = underlying[at];
    const { numbers, dates } = (ref && findColumn(datamart, ref)) ?? {};
    return { ...column, ...(numbers == null ? {} : { numbers }), ...(dates == null ? {} : { dates }) };
  });

/** Returns the columns of a metric's answer with the formats of its measures. */
export const withMeasureNumbers = <Column extends AnswerColumn>(
  columns: readonly Column[],
  definition: MetricDefinition,
): readonly Column[] => {
  const measures = measureNames(definition);
  return columns.map((column) => {
    if (column.dataType !== 'number' || !measures.includes(column.name)) return column;
    const numbers = measureNumbers({ ...definition.chart, measures }, column.name);
    return areFormatted(numbers) ? { ...column, numbers } : column;
  });
};
