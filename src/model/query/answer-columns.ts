/** What the columns of an answer are called, how their values are written, and which colours they have. Pure. */

import type { Chart } from '../dashboard/chart.js';
import { type MetricDefinition, measureNames, outputNames, shownMeasures } from '../dashboard/metric.js';
import { type ColumnNumbers, type ColumnRef, type Datamart, findColumn } from '../datamart/datamart.js';
import { writtenNumbers } from '../datamart/money.js';
import type { AnswerColumn, MetricAnswer } from './engine.js';
import { areFormatted, measureNumbers } from './numbers.js';

type Output = { readonly name: string; readonly column?: ColumnRef | undefined };

const outputsOf = (definition: MetricDefinition): readonly Output[] =>
  definition.kind === 'sql' ? [] : [...definition.dimensions, ...shownMeasures(definition.measures)];

/** The datamart's label, where the metric's author left the column's own name. A name that the author chose stays. */
const labelOf = ({ name, column }: Output, datamart: Datamart): string => {
  if (column === undefined || column.columnName !== name) return name;
  return findColumn(datamart, column)?.label.trim() || name;
};

/** Returns the title of each column by its name. Two columns never have the same title. */
export const columnLabels = (definition: MetricDefinition, datamart: Datamart): ReadonlyMap<string, string> => {
  const names = outputNames(definition);
  const labels = new Map(names.map((name) => [name, name]));
  for (const output of outputsOf(definition)) labels.set(output.name, labelOf(output, datamart));
  const shared = [...labels.values()].filter((label, at, all) => all.indexOf(label) !== at);
  return new Map([...labels].map(([name, label]) => [name, shared.includes(label) ? name : label]));
};

/**
 * The one rule of which currency a value has: where each row names its own, that of the row, so that no amount is shown
 * in the currency of another row. Else the metric's own, and where it has none, the datamart's. A percent is no amount.
 */
const inCurrency = (
  numbers: ColumnNumbers,
  { currency, currencyColumn }: Pick<AnswerColumn, 'currency' | 'currencyColumn'>,
): ColumnNumbers => {
  if (currencyColumn !== undefined) {
    const { currency: _, ...rest } = numbers;
    return rest;
  }
  return currency === undefined || numbers.format === 'percent' || numbers.currency !== undefined
    ? numbers
    : { ...numbers, currency };
};

/** Returns the columns of underlying rows with their formats. `underlying` names them in the same order. */
export const withRowFormats = (
  columns: readonly AnswerColumn[],
  underlying: readonly ColumnRef[],
  datamart: Datamart,
): readonly AnswerColumn[] =>
  columns.map((column, at) => {
    const ref = underlying[at];
    const { numbers, dates } = (ref && findColumn(datamart, ref)) ?? {};
    const written = inCurrency(writtenNumbers(numbers) ?? {}, column);
    const isWritten = Object.keys(written).length > 0;
    return { ...column, ...(isWritten ? { numbers: written } : {}), ...(dates == null ? {} : { dates }) };
  });

/** Returns the columns of a metric's answer with the formats of its measures. */
export const withMeasureNumbers = <Column extends AnswerColumn>(
  columns: readonly Column[],
  definition: MetricDefinition,
): readonly Column[] => {
  const measures = measureNames(definition);
  return columns.map((column) => {
    if (column.dataType !== 'number' || !measures.includes(column.name)) return column;
    const numbers = inCurrency(measureNumbers({ ...definition.chart, measures }, column.name), column);
    return areFormatted(numbers) ? { ...column, numbers } : column;
  });
};

/**
 * Returns the answer with the colours that the author pinned to the values in its rows. The pins of other values would tell
 * that these exist.
 */
export const colourAnswer = (answer: MetricAnswer, { colours = [] }: Pick<Chart, 'colours'>): MetricAnswer => {
  if (colours.length === 0) return answer;
  const columns = answer.columns.map((column) => {
    const own = colours.filter(({ name }) => name === column.name);
    if (own.length === 0) return column;
    const values = new Set(answer.rows.map((row) => row[column.name] ?? null));
    const shown = own.filter(({ value }) => values.has(value));
    return shown.length === 0
      ? column
      : { ...column, valueColours: shown.map(({ value, colour }) => ({ value, colour })) };
  });
  return { ...answer, columns };
};
