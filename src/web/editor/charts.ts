/** Which charts fit a draft, and why the others do not. The table is that of docs/reference/charts.md. */
import type { ChartType } from '../../model/dashboard/chart.js';
import type { Dimension } from '../../model/dashboard/metric.js';
import { type Catalogue, findField, findTable } from './catalogue.js';
import type { Draft } from './draft.js';
import { isNumberMeasure, isNumeric } from './fitting.js';

/** What a chart needs that the draft lacks. `count` is in words of the need: so many measures, at most so many groups. */
export type ChartNeed = {
  readonly code:
    | 'more-measures'
    | 'fewer-measures'
    | 'more-groups'
    | 'fewer-groups'
    | 'date-first'
    | 'buckets-first'
    | 'numbers';
  readonly count: number;
};

export type ChartFit = { readonly type: ChartType; readonly need: ChartNeed | null };

type Range = readonly [least: number, most: number];
type Shape = {
  readonly groups: Range;
  readonly measures: Range;
  readonly first?: 'date' | 'buckets' | 'currency' | undefined;
  /** Whether it shows values that are no numbers. */
  readonly takesText?: true | undefined;
};

const any = Number.POSITIVE_INFINITY;
const one: Range = [1, 1];
const some: Range = [1, any];
const upToTwo: Range = [1, 2];
const series: Shape = { groups: upToTwo, measures: some };
const parts: Shape = { groups: one, measures: one };

/**
 * Shapes by type, in the order in which charts are suggested: the one that says most about a draft first. Where several
 * are given, one of them is enough; the first one's need is told.
 */
const shapes: Readonly<Record<ChartType, readonly [Shape, ...Shape[]]>> = {
  histogram: [{ ...parts, first: 'buckets' }],
  timeSeries: [{ ...series, first: 'date' }],
  line: [series],
  singleValue: [
    { groups: [0, 0], measures: one, takesText: true },
    { groups: one, measures: one, first: 'date' },
    { groups: one, measures: one, first: 'currency' },
  ],
  bar: [series],
  stack: [
    { groups: [2, 2], measures: one },
    { groups: one, measures: [2, any] },
  ],
  combo: [{ groups: one, measures: [2, any] }],
  row: [series],
  area: [series],
  stepped: [series],
  pie: [parts],
  doughnut: [parts],
  funnel: [parts, { groups: [0, 0], measures: [2, any] }],
  waterfall: [parts],
  gauge: [{ groups: [0, 0], measures: one }],
  scatter: [{ groups: upToTwo, measures: [2, 2] }],
  bubble: [{ groups: upToTwo, measures: [3, 3] }],
  boxplot: [{ groups: one, measures: [5, 5] }],
  sankey: [{ groups: [2, any], measures: one }],
  pivotTable: [{ groups: [2, any], measures: some }],
  table: [
    { groups: some, measures: [0, any], takesText: true },
    { groups: [0, any], measures: some, takesText: true },
  ],
};

/** Every chart type. */
const chartNames = Object.keys(shapes) as readonly ChartType[];

const countNeed = (count: number, [least, most]: Range, what: 'measures' | 'groups'): ChartNeed | null => {
  if (count < least) return { code: `more-${what}`, count: least };
  return count > most ? { code: `fewer-${what}`, count: most } : null;
};

const isDated = ({ grain, column }: Dimension, catalogue: Catalogue): boolean =>
  grain !== 'hourOfDay' && grain !== 'dayOfWeek' && findField(catalogue, column)?.type === 'date';

/** Whether each group has amounts of one currency. */
const isCurrency = ({ column }: Dimension, catalogue: Catalogue): boolean =>
  findTable(catalogue, column)?.fields.some(({ currencyColumn }) => currencyColumn === column.columnName) === true;

const firstNeed = (shape: Shape, [dimension]: readonly Dimension[], catalogue: Catalogue): ChartNeed | null => {
  if (shape.first === undefined || dimension === undefined) return null;
  if (shape.first === 'currency') return isCurrency(dimension, catalogue) ? null : { code: 'fewer-groups', count: 0 };
  if (shape.first === 'date') return isDated(dimension, catalogue) ? null : { code: 'date-first', count: 1 };
  const field = findField(catalogue, dimension.column);
  const isBucketed = dimension.bucketCount !== undefined || dimension.bucketWidth !== undefined;
  return isBucketed && field !== undefined && isNumeric(field) ? null : { code: 'buckets-first', count: 1 };
};

const needOf = (
  shape: Shape,
  { dimensions, measures, calculations }: Draft,
  catalogue: Catalogue,
): ChartNeed | null => {
  const isNumber = measures.every((measure) =>
    isNumberMeasure(measure, measure.column && findField(catalogue, measure.column)),
  );
  return (
    countNeed(dimensions.length, shape.groups, 'groups') ??
    countNeed(measures.length + calculations.length, shape.measures, 'measures') ??
    firstNeed(shape, dimensions, catalogue) ??
    (isNumber || shape.takesText === true ? null : { code: 'numbers', count: 1 })
  );
};

/** Returns what the chart needs that the draft lacks, or null. */
export const chartNeed = (type: ChartType, draft: Draft, catalogue: Catalogue): ChartNeed | null => {
  const needs = shapes[type].map((shape) => needOf(shape, draft, catalogue));
  return needs.includes(null) ? null : (needs[0] ?? null);
};

/** Returns every type of chart, with what it needs that the draft lacks. */
export const chartFits = (draft: Draft, catalogue: Catalogue): readonly ChartFit[] =>
  chartNames.map((type) => ({ type, need: chartNeed(type, draft, catalogue) }));

/** Charts that compare measures with each other, which says little of measures that somebody put side by side. */
const comparing: ReadonlySet<ChartType> = new Set(['funnel', 'scatter', 'bubble']);

/** Returns the chart that shows the draft best. */
export const suggestedChart = (draft: Draft, catalogue: Catalogue): ChartType => {
  const [first] = draft.dimensions;
  const isCourse = first !== undefined && isDated(first, catalogue);
  const fits = chartFits(draft, catalogue).filter(
    ({ type, need }) => need === null && (first !== undefined || !comparing.has(type)),
  );
  const plain = fits.filter(({ type }) =>
    type === 'timeSeries' || type === 'line' ? type === 'line' && isCourse : true,
  );
  return plain.find(({ type }) => type !== 'singleValue' || !isCourse)?.type ?? 'table';
};
