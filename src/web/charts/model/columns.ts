/** Which columns of an answer a chart draws, and how many of the rows the answer holds. Pure. */
import type { TimeGrain } from '../../../model/dashboard/metric.js';
import type { ColumnDates } from '../../../model/datamart/dates.js';
import type { Combine, GuestChart } from '../../../model/guest/view.js';
import type { AnswerColumn, Cell, MetricAnswer } from '../../../model/query/engine.js';
import { type Format, type NumberHint, numbersInRow, numbersOf, titleOf, withPlaces } from '../../base/format.js';

export type Row = MetricAnswer['rows'][number];

/** The columns to draw. After a drill, the answer's dimension differs from the chart's definition. */
export const columnsOf = (
  answer: MetricAnswer,
  chart: GuestChart,
): { readonly dimensions: readonly AnswerColumn[]; readonly measures: readonly AnswerColumn[] } => {
  const byName = (names: readonly string[]) =>
    names.flatMap((name) => answer.columns.find((column) => column.name === name) ?? []);
  const isAsDefined = chart.dimensions.every((name) => answer.columns.some((column) => column.name === name));
  const dimensions = byName(isAsDefined ? chart.dimensions : answer.groupbyColumnList);
  const named = byName(chart.measures);
  const measures = named.length > 0 ? named : answer.columns.filter((column) => !dimensions.includes(column));
  return { dimensions, measures };
};

/** The value of a column. A column may have the name of a member of every object, such as `constructor`. */
const ofColumn = <Value>(values: Readonly<Record<string, Value>> | undefined, name: string): Value | undefined =>
  values !== undefined && Object.hasOwn(values, name) ? values[name] : undefined;

export const grainOf = (chart: Pick<GuestChart, 'grains'>, name: string): TimeGrain | undefined =>
  ofColumn(chart.grains, name);

/** How values of the measure combine. Undefined: they do not, nor sums of groups that share rows, nor amounts of several currencies. */
export const combineOf = (
  chart: Pick<GuestChart, 'combine'>,
  measure: AnswerColumn | undefined,
): Combine | undefined => {
  const combine = measure === undefined ? undefined : ofColumn(chart.combine, measure.name);
  if (measure?.currencyColumn !== undefined) return undefined;
  return combine === 'sum' && measure?.isOverlapping === true ? undefined : combine;
};

/** How the dates of a column are written; undefined: as usual. */
export const datesOf = ({ dates }: Pick<GuestChart, 'dates'>, name: string): ColumnDates | undefined =>
  dates?.find((each) => each.name === name);

/** The chart with the currencies of the answer's amounts: the answer says what the datamart knows, and the chart may not. */
export const inCurrencies = (chart: GuestChart, answer: MetricAnswer | undefined): GuestChart => {
  const told = (answer?.columns ?? []).filter(
    ({ name, numbers, currencyColumn }) =>
      chart.measures.includes(name) && (currencyColumn !== undefined || numbers?.currency !== undefined),
  );
  if (told.length === 0) return chart;
  const names = told.map(({ name }) => name);
  return {
    ...chart,
    numbers: [
      ...(chart.numbers ?? []).filter(({ measure }) => !names.includes(measure)),
      ...told.map(({ name, numbers }) => ({ measure: name, ...numbers })),
    ],
  };
};

/** The chart with the decimal places that each measure's values in the answer have, wherever they are written. */
export const inOneForm = (chart: GuestChart, answer: MetricAnswer | undefined): GuestChart => {
  if (answer === undefined) return chart;
  const { rows, comparisonValue, course = [] } = answer;
  const beside = chart.measures.length === 1 ? [comparisonValue, ...course.map(({ value }) => value)] : [];
  const numbers = answer.columns
    .filter(({ name, dataType }) => dataType === 'number' && chart.measures.includes(name))
    .map(({ name, currencyColumn }) => {
      const { format, unit, currency, notation, decimals } = numbersOf(chart, name);
      const own = { measure: name, format, unit, currency, notation, decimals };
      const values = currencyColumn === undefined ? [...rows.map((row) => row[name]), ...beside] : [];
      return { measure: name, ...withPlaces(own, values) };
    });
  const isOurs = (measure: string): boolean => numbers.some((one) => one.measure === measure);
  return {
    ...chart,
    numbers: [...(chart.numbers ?? []).filter(({ measure }) => !isOurs(measure)), ...numbers],
  };
};

/** The chart with the numbers of one measure as its own. */
export const asMeasure = (chart: GuestChart, measure: string): GuestChart => ({
  ...chart,
  format: undefined,
  unit: undefined,
  currency: undefined,
  notation: undefined,
  decimals: undefined,
  ...numbersOf(chart, measure),
});

/** The measures that are drawn as a reference line instead of a series of the chart's type. */
export const isTarget = ({ lines = [] }: Pick<GuestChart, 'lines'>, measure: string): boolean =>
  lines.some((line) => line.kind === 'measure' && line.measure === measure);

/** The name of a target's series: its own, or that of the measure. */
export const targetName = ({ lines = [] }: Pick<GuestChart, 'lines'>, measure: AnswerColumn): string =>
  lines.find((line) => line.kind === 'measure' && line.measure === measure.name)?.name ?? titleOf(measure);

/** The label of a text in the reader's language; undefined if it has none. */
export const valueLabel = (value: Cell | undefined, { valueLabels }: AnswerColumn): string | undefined =>
  typeof value === 'string' ? ofColumn(valueLabels, value) : undefined;

/** A dimension's value as text: its label, or with its grain. */
export const labelOf = (value: Cell | undefined, column: AnswerColumn, chart: GuestChart, format: Format): string =>
  valueLabel(value, column) ??
  format.dimension(value ?? null, column.dataType, grainOf(chart, column.name), datesOf(chart, column.name));

/** A measure's value in a row as text. The least or greatest of dates is written as a date. */
export const measureText = (
  row: Row | undefined,
  column: AnswerColumn,
  chart: NumberHint & Pick<GuestChart, 'numbers' | 'dates'>,
  format: Format,
): string => {
  const { name, dataType } = column;
  const value = row?.[name] ?? null;
  return dataType === 'date' && value !== null
    ? format.dimension(value, dataType, undefined, datesOf(chart, name))
    : format.measure(
        value,
        numbersInRow(numbersOf(chart, name), column, (other) => row?.[other]),
      );
};

/** Says that rows are missing, or that fewer points are shown; null if the answer is complete. */
export const truncationNote = (
  { rows, totalRecords, isTruncated, points }: MetricAnswer,
  format: Format,
): string | null => {
  if (points !== undefined && isTruncated !== true)
    return format.text('{n} points shown as {shown}', { n: points.total, shown: points.shown });
  if (isTruncated !== true) return null;
  return totalRecords > rows.length
    ? rowsOf({ rows, totalRecords }, format)
    : format.text('First {n} rows', { n: rows.length });
};

const isNotAdded = (names: string, { text }: Format): string =>
  text('{name} is not shown: groups share rows, so they do not add up', { name: names });

const isOfSeveral = (names: string, { text }: Format): string =>
  text('{name} is not shown: its amounts are of several currencies, so they do not add up', { name: names });

/** Why values of a measure are not added up to what is drawn; null if they may be. */
export const overlapOf = (measure: AnswerColumn | undefined, format: Format): string | null => {
  if (measure?.currencyColumn !== undefined) return isOfSeveral(titleOf(measure), format);
  return measure?.isOverlapping === true ? isNotAdded(titleOf(measure), format) : null;
};

/** Says which columns have no values, since they would add up groups that share rows; null if there are none. */
export const overlapNote = ({ rows, columns }: MetricAnswer, format: Format): string | null => {
  const empty = columns.filter(
    ({ name, isOverlapping }) => isOverlapping === true && rows.every((row) => (row[name] ?? null) === null),
  );
  return empty.length === 0 ? null : isNotAdded(empty.map(titleOf).join(', '), format);
};

/** How many of the rows are here. */
export const rowsOf = ({ rows, totalRecords }: Pick<MetricAnswer, 'rows' | 'totalRecords'>, { text }: Format): string =>
  text('{n} of {total} rows', { n: rows.length, total: totalRecords });
