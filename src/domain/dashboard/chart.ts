/** How an answer is drawn. */

/** Every chart of the interface. */
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

/** How measures of a combo chart may be drawn. */
export const seriesTypes = ['line', 'stepped', 'bar', 'area', 'scatter'] as const;

export type Chart = {
  readonly type: ChartType;
  /** Hint for numbers: `percent` shows 0.21 as 21 %. */
  readonly format?: 'number' | 'percent' | undefined;
  readonly unit?: string | undefined;
  /** Of a combo chart: how each measure is drawn, by its name. */
  readonly series?: readonly ChartSeries[] | undefined;
  /** Of a pivot table: the dimensions that go across, by name; the others go down. */
  readonly across?: readonly string[] | undefined;
  /** Of a gauge: its ends, and what is aimed at. */
  readonly range?: { readonly min: number; readonly max: number; readonly target?: number | undefined } | undefined;
};

export type ChartSeries = {
  readonly measure: string;
  readonly type: (typeof seriesTypes)[number];
  readonly axis?: 'left' | 'right' | undefined;
};
