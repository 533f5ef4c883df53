/** Turns an answer's rows into the points and series of charts with axes. Pure: knows neither ECharts nor the page. */

import type { TimeGrain } from '../../../model/dashboard/metric.js';
import type { Combine, GuestChart } from '../../../model/guest/view.js';
import type { AnswerColumn, Cell, MetricAnswer } from '../../../model/query/engine.js';
import {
  codeOf,
  type Format,
  type NumberFormats,
  type NumberHint,
  numberOf,
  numbersOf,
  timeOf,
} from '../../base/format.js';
import { othersCell } from '../../base/others.js';
import { columnsOf, combineOf, grainOf, labelOf, type Row, targetName } from './columns.js';
import { type Slot, type SlotMemory, slotOf, valueKey } from './slots.js';

/** A point on the dimension's axis. `value` is the unchanged cell, which a drill sends back. */
export type Point = {
  readonly value: Cell;
  readonly label: string;
  readonly time: number | null;
  /** The currency that the point's row names in this column. */
  readonly currencyIn?: ((column: string) => string | undefined) | undefined;
};

/**
 * `values[i]` belongs to `points[i]` of the plot. Null: no value at that point. `measure` names the answer's column. `key`
 * identifies the series: two of them may read the same. `slot` chooses its colour.
 */
export type Series = {
  readonly key: string;
  readonly name: string;
  readonly measure: string;
  readonly slot: Slot;
  readonly values: readonly (number | null)[];
  /** Of amounts of several currencies: the currency of the series, or the column by which each point names its own. */
  readonly currency?: { readonly code: string | undefined } | { readonly column: string } | undefined;
};

/** What the reader chose to see: keys of hidden series, and the period of a zoom in milliseconds since 1970. */
export type Choice = {
  readonly hidden: ReadonlySet<string>;
  readonly zoom: { readonly from: number; readonly to: number } | null;
  /** Series that the reader chose of more than a chart draws. Undefined: the largest. */
  readonly picked?: ReadonlySet<string> | undefined;
};

/** All series of an answer, the keys of those that are shown, and how many a chart shows at once. */
export type Offered = { readonly all: readonly Named[]; readonly shown: ReadonlySet<string>; readonly limit: number };

type Named = Pick<Series, 'key' | 'name'>;

export type Plot = {
  readonly axis: 'time' | 'category';
  /** The dimension's column; null if the metric has no dimension. */
  readonly dimension: AnswerColumn | null;
  readonly points: readonly Point[];
  readonly series: readonly Series[];
  /** All series, hidden ones too. */
  readonly all: readonly Series[];
  /** Set if the answer has more series than a chart draws. */
  readonly offered?: Offered | undefined;
  /** What the plot combines or leaves out. */
  readonly notes: readonly string[];
};

/** Series that a chart draws at most. The others become “Other”, or are left out if their values do not combine. */
export const maxSeries = 8;

/** Chart types that draw a date on a time axis, where distance is time. */
const onTimeAxis: ReadonlySet<GuestChart['type']> = new Set(['line', 'stepped', 'area', 'timeSeries']);

/** Chart types whose second dimension always becomes series: joined labels would draw one zigzag. */
const alwaysSplit: ReadonlySet<GuestChart['type']> = new Set([...onTimeAxis, 'stack', 'combo']);

type Drawn = Pick<Plot, 'points' | 'notes' | 'offered'> & { readonly series: readonly Series[] };
type Columns = ReturnType<typeof columnsOf>;

/** `palette`: the colours of which the values get one each; `slots` remembers which. */
export type Paints = { readonly slots?: SlotMemory | undefined; readonly palette?: readonly string[] };

export const plotOf = (
  answer: MetricAnswer,
  chart: GuestChart,
  format: Format,
  choice?: Choice,
  { slots = {}, palette = [] }: Paints = {},
): Plot => {
  const columns = columnsOf(answer, chart);
  const [first, second] = columns.dimensions;
  const axis = first?.dataType === 'date' && onTimeAxis.has(chart.type) ? 'time' : 'category';
  const isSplit =
    first !== undefined &&
    second !== undefined &&
    (second.name === columns.measures[0]?.currencyColumn || isCrossed(answer.rows, first, second, chart));
  const plot = isSplit
    ? splitPlot(answer.rows, {
        ...{ first, second, columns, chart, format },
        picked: choice?.picked,
        slotOf: (value) => slotOf(slots, second, value, palette),
      })
    : plainPlot(answer.rows, { columns, chart, format });
  const ordered = axis === 'time' ? inTimeOrder(plot, format) : plot;
  const whole = fillGaps(ordered, first, chart, format);
  return {
    ...chosen(whole, choice),
    offered: plot.offered,
    all: whole.series,
    axis,
    dimension: first ?? null,
  };
};

/** Without the hidden series, and only the points within the zoom. If all series were hidden, all are shown. */
const chosen = (plot: Drawn, choice: Choice | undefined): Pick<Plot, 'points' | 'series' | 'notes'> => {
  const all = plot.series;
  const shown = all.filter(({ key }) => choice?.hidden.has(key) !== true);
  const series = shown.length === 0 ? all : shown;
  const zoom = choice?.zoom ?? null;
  if (zoom === null) return { ...plot, series };
  const isInside = (_: unknown, at: number) => {
    const time = plot.points[at]?.time ?? null;
    return time !== null && time >= zoom.from && time <= zoom.to;
  };
  return {
    ...plot,
    points: plot.points.filter(isInside),
    series: series.map((each) => ({ ...each, values: each.values.filter(isInside) })),
  };
};

const plainPlot = (
  rows: readonly Row[],
  { columns, chart, format }: { columns: Columns; chart: GuestChart; format: Format },
): Drawn => ({
  points: rows.map((row) => pointOf(row, columns.dimensions, chart, format)),
  series: columns.measures.map((measure, slot) => ({
    ...{ key: measure.name, slot },
    name: targetName(chart, measure),
    measure: measure.name,
    ...(measure.currencyColumn === undefined ? {} : { currency: { column: measure.currencyColumn } }),
    values: rows.map((row) => numberOf(row[measure.name])),
  })),
  notes: [],
});

const pointOf = (row: Row, dimensions: readonly AnswerColumn[], chart: GuestChart, format: Format): Point => {
  const value = dimensions[0] === undefined ? null : (row[dimensions[0].name] ?? null);
  return {
    value,
    // Written when it is read: of a long line, few labels are.
    get label() {
      return dimensions.map((column) => labelOf(row[column.name], column, chart, format)).join(' · ');
    },
    time: timeOf(value),
    currencyIn: (column) => codeOf(row[column]),
  };
};

/** Whether the second dimension becomes series: the chart needs them, or some first value has several of a few. */
const isCrossed = (rows: readonly Row[], first: AnswerColumn, second: AnswerColumn, { type }: GuestChart): boolean => {
  if (alwaysSplit.has(type)) return true;
  const seconds = new Set(rows.map((row) => row[second.name]));
  const firsts = new Set(rows.map((row) => row[first.name]));
  return firsts.size < rows.length && seconds.size <= maxSeries;
};

type Split = {
  readonly first: AnswerColumn;
  readonly second: AnswerColumn;
  readonly columns: Columns;
  readonly chart: GuestChart;
  readonly format: Format;
  readonly picked: ReadonlySet<string> | undefined;
  readonly slotOf: (value: Cell) => Slot;
};

const splitPlot = (rows: readonly Row[], { first, second, columns, chart, format, picked, slotOf }: Split): Drawn => {
  const firsts = [...new Set(rows.map((row) => row[first.name] ?? null))];
  const seconds = [...new Set(rows.map((row) => row[second.name] ?? null))];
  const measure = columns.measures[0]?.name ?? '';
  const { currencyColumn } = columns.measures[0] ?? {};
  const currencyOf = (value: Cell): Pick<Series, 'currency'> => {
    if (currencyColumn === undefined) return {};
    return { currency: currencyColumn === second.name ? { code: codeOf(value) } : { column: currencyColumn } };
  };
  const combine = combineOf(chart, columns.measures[0]);
  const cells = new Map<string, number | null>();
  for (const row of rows) {
    const key = pairKey(row[first.name], row[second.name]);
    cells.set(key, together([cells.get(key) ?? null, numberOf(row[measure])], combine));
  }
  const all = seconds.map((value) => ({
    key: valueKey(value),
    // Only what is drawn takes a place of the palette.
    get slot() {
      return slotOf(value);
    },
    name: labelOf(value, second, chart, format),
    measure,
    ...currencyOf(value),
    values: firsts.map((at) => cells.get(pairKey(at, value)) ?? null),
  }));
  return {
    points: firsts.map((value) => ({
      ...{ value, label: labelOf(value, first, chart, format), time: timeOf(value) },
      currencyIn: (column: string) => (column === first.name ? codeOf(value) : undefined),
    })),
    ...withNotes(someOf(all, combine, format, picked), unsplit(columns, chart, format)),
  };
};

const withNotes = (some: Omit<Drawn, 'points'>, notes: readonly string[]): Omit<Drawn, 'points'> => ({
  ...some,
  // Reads the slots, in this order.
  series: some.series.map((each) => ({ ...each })),
  notes: [...some.notes, ...notes],
});

/** The parts of the first measure are drawn; the other measures are named. */
const unsplit = ({ measures }: Columns, chart: GuestChart, { text }: Format): readonly string[] => {
  const list = measures.slice(1).map((measure) => targetName(chart, measure));
  return list.length === 0 ? [] : [text('Not drawn: {list}', { list: list.join(', ') })];
};

/** The series that the reader picked, or the largest. */
const someOf = (
  series: readonly Series[],
  combine: Combine | undefined,
  format: Format,
  picked: ReadonlySet<string> | undefined,
): Omit<Drawn, 'points'> => {
  if (series.length <= maxSeries) return { series, notes: [] };
  const all = series.map(({ key, name }) => ({ key, name }));
  const own = series.filter(({ key }) => picked?.has(key) === true).slice(0, maxSeries);
  const some = own.length === 0 ? largest(series, combine, format) : { series: own, kept: own, notes: [] };
  const shown = new Set(some.kept.map(({ key }) => key));
  const offered = { all, shown, limit: maxSeries };
  const count = { n: own.length, total: series.length };
  const notes = own.length === 0 ? some.notes : [format.text('{n} of {total} series shown', count)];
  return { series: some.series, notes, offered };
};

type Amounts = Pick<Series, 'measure' | 'currency'>;

const codeAt = ({ currency }: Amounts, point: Point | undefined): string | undefined => {
  if (currency === undefined) return undefined;
  return 'code' in currency ? currency.code : point?.currencyIn?.(currency.column);
};

const inCode = (hint: NumberHint, code: string | undefined): NumberHint =>
  code === undefined || hint.format === 'percent' ? hint : { ...hint, currency: code };

/** How the number of a series at a point is written: in the currency that its row names. */
export const numbersAt = (chart: NumberFormats, series: Amounts, point: Point | undefined): NumberHint =>
  inCode(numbersOf(chart, series.measure), codeAt(series, point));

const codesOf = ({ points, series }: Pick<Plot, 'points' | 'series'>): ReadonlySet<string | undefined> =>
  new Set(
    series.flatMap((each) =>
      each.values.flatMap((value, at) =>
        value === null || each.currency === undefined ? [] : [codeAt(each, points[at])],
      ),
    ),
  );

/** Whether the drawn amounts are of several currencies, so that they neither add up nor have a mean. */
export const areMixed = (plot: Pick<Plot, 'points' | 'series'>): boolean => codesOf(plot).size > 1;

/** How numbers of a measure are written beside an axis: in the currency that all drawn amounts share. */
export const sharedNumbers = (
  chart: NumberFormats,
  measure: string,
  plot: Pick<Plot, 'points' | 'series'>,
): NumberHint => {
  const [code, ...others] = codesOf(plot);
  const isOfRows = plot.series.some((each) => each.measure === measure && each.currency !== undefined);
  return inCode(numbersOf(chart, measure), isOfRows && others.length === 0 ? code : undefined);
};

const pairKey = (first: Cell | undefined, second: Cell | undefined): string =>
  JSON.stringify([first ?? null, second ?? null]);

/** Combines values; null if all are null. Without a rule the last one stays. */
export const together = (values: readonly (number | null)[], combine: Combine | undefined): number | null => {
  const known = values.filter((value) => value !== null);
  if (known.length === 0) return null;
  if (combine === 'min') return Math.min(...known);
  if (combine === 'max') return Math.max(...known);
  return combine === 'sum' ? known.reduce((sum, value) => sum + value, 0) : (known.at(-1) ?? null);
};

/** Keeps the largest series in their order. The rest becomes “Other” if its values combine, and else is left out. */
const largest = (
  series: readonly Series[],
  combine: Combine | undefined,
  format: Format,
): Pick<Drawn, 'series' | 'notes'> & { readonly kept: readonly Series[] } => {
  const size = ({ values }: Series) => values.reduce<number>((sum, value) => sum + Math.abs(value ?? 0), 0);
  // The others of the answer are no series of their own: the rest joins them.
  const single = combine === undefined ? series : series.filter(({ key }) => key !== othersKey);
  const ranked = [...single].sort((a, b) => size(b) - size(a));
  const kept = new Set(ranked.slice(0, combine === undefined ? maxSeries : maxSeries - 1));
  const rest = series.filter((each) => !kept.has(each));
  const shown = series.filter((each) => kept.has(each));
  const n = rest.length;
  if (combine === undefined) {
    return { series: shown, kept: shown, notes: [format.text('{n} smaller series are not drawn', { n })] };
  }
  const values = (series[0]?.values ?? []).map((_, at) =>
    together(
      rest.map((each) => each.values[at] ?? null),
      combine,
    ),
  );
  const measure = series[0]?.measure ?? '';
  const other = { key: otherKey, slot: null, name: format.text('Other'), measure, values };
  return { series: [...shown, other], kept: shown, notes: [format.text('“Other” combines {n} smaller series', { n })] };
};

const othersKey = valueKey(othersCell);

/** No value has this key. */
const otherKey = 'other';

/** Points without a time have no place on the axis: a note counts them. */
const inTimeOrder = (plot: Drawn, { text }: Format): Drawn => {
  const order = plot.points
    .map((point, index) => ({ time: point.time, index }))
    .filter((item) => item.time !== null)
    .sort((a, b) => (a.time ?? 0) - (b.time ?? 0));
  const n = plot.points.length - order.length;
  return {
    ...plot,
    notes: n === 0 ? plot.notes : [...plot.notes, text('{n} points without a time are not drawn', { n })],
    points: order.flatMap(({ index }) => plot.points[index] ?? []),
    series: plot.series.map((each) => ({ ...each, values: order.map(({ index }) => each.values[index] ?? null) })),
  };
};

/** Adds points for missing periods, and for missing steps of an ascending numeric axis (an hour without flights). */
const fillGaps = (plot: Drawn, dimension: AnswerColumn | undefined, chart: GuestChart, format: Format): Drawn => {
  if (dimension === undefined) return plot;
  const grain = grainOf(chart, dimension.name);
  const isDate = dimension.dataType === 'date';
  if (!isDate && dimension.dataType !== 'number') return plot;
  const places = plot.points.map((point) => (isDate ? point.time : numberOf(point.value)));
  const filled = isDate ? allPeriods(places, grain) : evenSteps(places);
  if (filled === null) return withZeros(plot, chart);
  const indexAt = new Map(places.map((place, index) => [place, index]));
  const cellAt = (place: number): Cell => (isDate ? new Date(place).toISOString().slice(0, 19) : place);
  return withZeros(
    {
      ...plot,
      points: filled.map(
        (place) =>
          plot.points[indexAt.get(place) ?? -1] ?? {
            value: cellAt(place),
            label: labelOf(cellAt(place), dimension, chart, format),
            time: isDate ? place : null,
          },
      ),
      series: plot.series.map((each) => ({
        ...each,
        values: filled.map((place) => each.values[indexAt.get(place) ?? -1] ?? null),
      })),
    },
    chart,
  );
};

/** A missing value counts as zero if the metric says so. */
const withZeros = (plot: Drawn, { missing }: GuestChart): Drawn =>
  missing !== 'zero'
    ? plot
    : { ...plot, series: plot.series.map((each) => ({ ...each, values: each.values.map((value) => value ?? 0) })) };

/** More periods than this are not added: a minute's grain over years would draw nothing but gaps. */
const maxPeriods = 5000;

/** Every period from the first to the last, ascending; null if none is missing or the places are not ascending periods. */
const allPeriods = (places: readonly (number | null)[], grain: TimeGrain | undefined): readonly number[] | null => {
  const [start, end] = [places[0] ?? null, places.at(-1) ?? null];
  if (grain === undefined || grain === 'dayOfWeek' || grain === 'hourOfDay' || start === null || end === null)
    return null;
  const known = new Set(places);
  const isAscending = places.every((place, at) => at === 0 || (place ?? Number.NaN) > (places[at - 1] ?? Number.NaN));
  if (!isAscending) return null;
  const periods: number[] = [];
  for (let at = start; at <= end && periods.length <= maxPeriods; at = nextPeriod(at, grain)) periods.push(at);
  const hasAll = periods.filter((at) => known.has(at)).length === places.length;
  return periods.length > places.length && periods.length <= maxPeriods && hasAll ? periods : null;
};

const inMs = { minute: 60_000, hour: 3_600_000, day: 86_400_000, week: 604_800_000 };
const inMonths = { month: 1, quarter: 3, year: 12 };

/** The start of the period after the one that starts at `time`. */
export const nextPeriod = (time: number, grain: Exclude<TimeGrain, 'dayOfWeek' | 'hourOfDay'>): number => {
  if (grain === 'minute' || grain === 'hour' || grain === 'day' || grain === 'week') return time + inMs[grain];
  const at = new Date(time);
  return at.setUTCMonth(at.getUTCMonth() + inMonths[grain]);
};

/** Every step of an ascending list of numbers; null if no step is missing, or too many are. */
const evenSteps = (numbers: readonly (number | null)[]): readonly number[] | null => {
  const steps = numbers.slice(1).map((number, index) => (number ?? Number.NaN) - (numbers[index] ?? Number.NaN));
  const step = Math.min(...steps);
  const [start, end] = [numbers[0], numbers.at(-1)];
  if (steps.length === 0 || !(step > 0) || typeof start !== 'number' || typeof end !== 'number') return null;
  if (!steps.every((each) => Number.isInteger(each / step))) return null;
  const count = Math.round((end - start) / step) + 1;
  if (count <= numbers.length || count > 3 * numbers.length) return null;
  const all = Array.from({ length: count }, (_, index) => start + index * step);
  // Sums of fractions are not exact: no number of the answer may be lost.
  const found = new Set(all);
  return numbers.every((number) => number !== null && found.has(number)) ? all : null;
};
