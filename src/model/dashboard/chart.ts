/** Charts: how an answer is drawn. */
import type { ColumnDates } from '../datamart/dates.js';

/** Every chart type of the interface. */
export const chartTypes = [
  'line',
  'stepped',
  'bar',
  'stack',
  'histogram',
  'bubble',
  'scatter',
  'row',
  'area',
  'combo',
  'pie',
  'doughnut',
  'waterfall',
  'funnel',
  'gauge',
  'sankey',
  'singleValue',
  'boxplot',
  'table',
  'timeSeries',
  'pivotTable',
] as const;
export type ChartType = (typeof chartTypes)[number];

const thinned: ReadonlySet<ChartType> = new Set(['line', 'stepped', 'area', 'timeSeries', 'scatter']);

/** Whether a chart of this type may show fewer points than there are rows: each is drawn at its own place. */
export const mayShowFewerPoints = (type: ChartType): boolean => thinned.has(type);

/** The chart types that a measure of a combo chart may have. */
export const seriesTypes = ['line', 'stepped', 'bar', 'area', 'scatter'] as const;

export type Chart = {
  readonly type: ChartType;
  /** Format of numbers: `percent` shows 0.21 as 21 %. */
  readonly format?: 'number' | 'percent' | undefined;
  readonly unit?: string | undefined;
  /** ISO 4217 code: numbers are amounts of this currency. */
  readonly currency?: string | undefined;
  /** `compact` writes 1,234,567 as 1.2M. Left out: single values beyond a billion are compact, all else is full. */
  readonly notation?: 'full' | 'compact' | undefined;
  /** How many decimal places numbers have. Left out: as many as their size needs. */
  readonly decimals?: number | undefined;
  /** How a period without rows is drawn: as a gap in the line, the default, or as zero. */
  readonly missing?: 'gap' | 'zero' | undefined;
  /** For a combo chart: how each measure is drawn, by its name. */
  readonly series?: readonly ChartSeries[] | undefined;
  /** For a pivot table: names of the dimensions that become columns. The others become rows. */
  readonly across?: readonly string[] | undefined;
  /** How numbers of one measure are written, if not as the chart says. */
  readonly numbers?: readonly MeasureNumbers[] | undefined;
  /** How dates of one column of the answer are written, by its name. */
  readonly dates?: readonly NamedDates[] | undefined;
  /** Lines at a value of the value axis: a target, a limit, an average. */
  readonly lines?: readonly ReferenceLine[] | undefined;
  /** Colours of values of a dimension. Guests get those of values in their rows, with the answer. */
  readonly colours?: readonly ValueColour[] | undefined;
  /** For tables: marks cells of a measure. The first rule that holds applies. */
  readonly rules?: readonly CellRule[] | undefined;
  /** For tables: measures whose cells have a bar of the value's size. */
  readonly bars?: readonly string[] | undefined;
  /** For a single value: the direction of a change that is good. Left out: neither is. */
  readonly better?: 'higher' | 'lower' | undefined;
  /** For a gauge: the ends of its scale, and the target value. */
  readonly range?: { readonly min: number; readonly max: number; readonly target?: number | undefined } | undefined;
};

export type ChartSeries = {
  readonly measure: string;
  readonly type: (typeof seriesTypes)[number];
  readonly axis?: 'left' | 'right' | undefined;
};

export type MeasureNumbers = Pick<Chart, 'format' | 'unit' | 'currency' | 'notation' | 'decimals'> & {
  readonly measure: string;
};

/** `name`: of a dimension, also one that a drill leads to, or of a measure. */
export type NamedDates = ColumnDates & { readonly name: string };

/** `name`: of the dimension. `colour`: as `#2f6bd8`. */
export type ValueColour = {
  readonly name: string;
  readonly value: string | number | boolean | null;
  readonly colour: string;
};

/** `value`: the same everywhere. `average`: of the values shown. `measure`: a measure of the metric, drawn as a line. */
export type ReferenceLine =
  | { readonly kind: 'value'; readonly value: number; readonly name?: string | undefined }
  | { readonly kind: 'average' | 'measure'; readonly measure: string; readonly name?: string | undefined };

/** How a marked cell looks: each tone has a colour and a sign. */
export const tones = ['good', 'warning', 'bad'] as const;
export type Tone = (typeof tones)[number];

/** `word` is shown beside the value. */
export type CellRule = {
  readonly measure: string;
  readonly operator: '=' | '<>' | '<' | '<=' | '>' | '>=';
  readonly value: number;
  readonly tone: Tone;
  readonly word?: string | undefined;
};
