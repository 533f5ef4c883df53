/** Turns an answer's rows into the points and series of a line or bar chart. Pure: knows neither ECharts nor the page. */
import type { GuestChart, GuestMetric } from '../../domain/guest/view.js';
import type { AnswerColumn, Cell, MetricAnswer } from '../../domain/query/engine.js';
import { type Format, humanise, numberOf, timeOf } from '../base/format.js';

/** A point on the dimension's axis. `value` is the unchanged cell, which a drill sends back. */
export type Point = { readonly value: Cell; readonly label: string; readonly time: number | null };

/** `values[i]` belongs to `points[i]` of the plot. Null: no value at that point. */
export type Series = { readonly name: string; readonly values: readonly (number | null)[] };

export type Plot = {
  readonly axis: 'time' | 'category';
  /** The dimension's column; null if the metric has no dimension. */
  readonly dimension: AnswerColumn | null;
  readonly points: readonly Point[];
  readonly series: readonly Series[];
};

type Row = MetricAnswer['rows'][number];

/** Up to this many values of a second dimension become series. With more values, both dimensions share the axis labels. */
export const maxSeries = 8;

/** Whether this version draws the chart type. Other types are shown as a table. */
const drawn: ReadonlySet<GuestChart['type']> = new Set(['line', 'bar', 'singleValue']);

export const isDrawn = ({ type }: GuestChart): boolean => drawn.has(type);

/** The columns to draw. After a drill, the answer's dimension differs from the chart's definition. */
export const columnsOf = (answer: MetricAnswer, chart: GuestChart) => {
  const byName = (names: readonly string[]) =>
    names.flatMap((name) => answer.columns.find((column) => column.name === name) ?? []);
  const isAsDefined = chart.dimensions.every((name) => answer.columns.some((column) => column.name === name));
  const dimensions = byName(isAsDefined ? chart.dimensions : answer.groupbyColumnList);
  const named = byName(chart.measures);
  const measures = named.length > 0 ? named : answer.columns.filter((column) => !dimensions.includes(column));
  return { dimensions, measures };
};

export const plotOf = (answer: MetricAnswer, chart: GuestChart, format: Format): Plot => {
  const { dimensions, measures } = columnsOf(answer, chart);
  const [first, second] = dimensions;
  const axis = first?.dataType === 'date' && chart.type === 'line' ? 'time' : 'category';
  const isSplit = first !== undefined && second !== undefined && isCrossed(answer.rows, first, second);
  const plot = isSplit
    ? splitPlot(answer.rows, { first, second, measures, format })
    : plainPlot(answer.rows, { dimensions, measures, format });
  const ordered = axis === 'time' ? inTimeOrder(plot) : fillGaps(plot, first, format);
  return { ...ordered, axis, dimension: first ?? null };
};

type Drawn = Pick<Plot, 'points' | 'series'>;

const plainPlot = (
  rows: readonly Row[],
  {
    dimensions,
    measures,
    format,
  }: { dimensions: readonly AnswerColumn[]; measures: readonly AnswerColumn[]; format: Format },
): Drawn => ({
  points: rows.map((row) => pointOf(row, dimensions, format)),
  series: measures.map(({ name }) => ({ name: humanise(name), values: rows.map((row) => numberOf(row[name])) })),
});

const pointOf = (row: Row, dimensions: readonly AnswerColumn[], format: Format): Point => {
  const value = dimensions[0] === undefined ? null : (row[dimensions[0].name] ?? null);
  const label = dimensions.map(({ name, dataType }) => format.dimension(row[name] ?? null, dataType)).join(' · ');
  return { value, label, time: timeOf(value) };
};

/** Whether the second dimension can become series: it has few values, and some first value has several of them. */
const isCrossed = (rows: readonly Row[], first: AnswerColumn, second: AnswerColumn): boolean => {
  const seconds = new Set(rows.map((row) => row[second.name]));
  const firsts = new Set(rows.map((row) => row[first.name]));
  return seconds.size <= maxSeries && firsts.size < rows.length;
};

const splitPlot = (
  rows: readonly Row[],
  {
    first,
    second,
    measures,
    format,
  }: { first: AnswerColumn; second: AnswerColumn; measures: readonly AnswerColumn[]; format: Format },
): Drawn => {
  const firsts = [...new Set(rows.map((row) => row[first.name] ?? null))];
  const seconds = [...new Set(rows.map((row) => row[second.name] ?? null))];
  const measure = measures[0]?.name ?? '';
  const cells = new Map(rows.map((row) => [pairKey(row[first.name], row[second.name]), numberOf(row[measure])]));
  return {
    points: firsts.map((value) => ({ value, label: format.dimension(value, first.dataType), time: timeOf(value) })),
    series: seconds.map((value) => ({
      name: format.dimension(value, second.dataType),
      values: firsts.map((at) => cells.get(pairKey(at, value)) ?? null),
    })),
  };
};

const pairKey = (first: Cell | undefined, second: Cell | undefined): string =>
  JSON.stringify([first ?? null, second ?? null]);

const inTimeOrder = (plot: Drawn): Drawn => {
  const order = plot.points
    .map((point, index) => ({ time: point.time, index }))
    .filter((item) => item.time !== null)
    .sort((a, b) => (a.time ?? 0) - (b.time ?? 0));
  return pick(
    plot,
    order.map((item) => item.index),
  );
};

const pick = (plot: Drawn, indexes: readonly number[]): Drawn => ({
  points: indexes.flatMap((index) => plot.points[index] ?? []),
  series: plot.series.map(({ name, values }) => ({ name, values: indexes.map((index) => values[index] ?? null) })),
});

/** Adds points without a value for missing steps of an ascending numeric axis (an hour without flights). */
const fillGaps = (plot: Drawn, dimension: AnswerColumn | undefined, format: Format): Drawn => {
  if (dimension?.dataType !== 'number') return plot;
  const numbers = plot.points.map((point) => numberOf(point.value));
  const step = evenStep(numbers);
  const [start, end] = [numbers[0], numbers.at(-1)];
  if (step === null || typeof start !== 'number' || typeof end !== 'number') return plot;
  const indexAt = new Map(numbers.map((number, index) => [number, index]));
  const filled = Array.from({ length: Math.round((end - start) / step) + 1 }, (_, index) => start + index * step);
  return {
    points: filled.map(
      (at) => plot.points[indexAt.get(at) ?? -1] ?? { value: at, label: format.dimension(at, 'number'), time: null },
    ),
    series: plot.series.map(({ name, values }) => ({
      name,
      values: filled.map((at) => values[indexAt.get(at) ?? -1] ?? null),
    })),
  };
};

/** The step of an ascending list of integers; null if there is none, no step is missing, or too many are. */
const evenStep = (numbers: readonly (number | null)[]): number | null => {
  const steps = numbers.slice(1).map((number, index) => (number ?? Number.NaN) - (numbers[index] ?? Number.NaN));
  const step = Math.min(...steps);
  if (steps.length === 0 || !(step > 0) || !steps.every((each) => Number.isInteger(each / step))) return null;
  const count = steps.reduce((sum, each) => sum + each, 0) / step + 1;
  return count > numbers.length && count <= 3 * numbers.length ? step : null;
};

/** The chart's text alternative in one sentence: kind, number of values, and extremes of the first series. */
export const summaryOf = (metric: Pick<GuestMetric, 'name' | 'chart'>, plot: Plot, format: Format): string => {
  const kind = metric.chart.type === 'line' ? 'line chart' : 'bar chart';
  const [first, last] = [plot.points[0], plot.points.at(-1)];
  if (first === undefined || last === undefined) return `${metric.name}: ${kind} without data.`;
  const span = `${format.count(plot.points.length)} ${plot.points.length === 1 ? 'value' : 'values'} from ${first.label} to ${last.label}`;
  const names = plot.series.length > 1 ? ` Series: ${plot.series.map((series) => series.name).join(', ')}.` : '';
  return `${metric.name}: ${kind}, ${span}.${names}${extremes(metric, plot, format)}`;
};

const extremes = ({ chart }: Pick<GuestMetric, 'chart'>, plot: Plot, format: Format): string => {
  const values = plot.series[0]?.values ?? [];
  const known = values.flatMap((value, index) => (value === null ? [] : [{ value, label: plot.points[index]?.label }]));
  const lowest = known.reduce((least, item) => (item.value < least.value ? item : least), known[0] ?? none);
  const highest = known.reduce((most, item) => (item.value > most.value ? item : most), known[0] ?? none);
  if (known.length < 2) return '';
  const say = (item: typeof lowest) => `${format.measure(item.value, chart)} (${item.label})`;
  return ` Lowest ${say(lowest)}, highest ${say(highest)}.`;
};

const none: { value: number; label: string | undefined } = { value: 0, label: undefined };
