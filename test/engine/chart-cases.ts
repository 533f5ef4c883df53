/** A metric of each chart type over the shop of metrics.ts, with everything that the chart draws, and its rows. */
import type { ChartType } from '../../src/model/dashboard/chart.js';
import type { Dimension, Measure, VisualDefinition } from '../../src/model/dashboard/metric.js';
import type { Cell } from '../../src/model/query/engine.js';
import { columnRef, metric } from './world.js';

const by = (path: string, rest: Partial<Dimension> = {}): Dimension => ({
  name: path,
  column: columnRef(path),
  ...rest,
});
const of = (name: string, aggregate: 'SUM' | 'MIN' | 'MAX' | 'AVG', path: string): Measure => ({
  name,
  aggregate,
  column: columnRef(path),
});
const percentile = (fraction: number): Measure => ({
  name: `p${fraction}`,
  aggregate: 'PERCENTILE',
  column: columnRef('sales.amount'),
  percentile: fraction,
});
const count: Measure = { name: 'rows', aggregate: 'COUNT' };
const amount = of('amount', 'SUM', 'sales.amount');
const monthly = by('sales.day', { grain: 'month' });
const state = by('shops.state');

export type Case = Partial<VisualDefinition> & { readonly rows: readonly (readonly Cell[])[] };

const ofStates = {
  dimensions: [state],
  measures: [count],
  rows: [
    ['CA', 3],
    ['NV', 1],
    [null, 2],
  ],
};
const ofMonths = {
  dimensions: [monthly],
  measures: [amount],
  rows: [
    ['2024-01-01', 10],
    ['2024-02-01', 50],
    ['2024-04-01', 35],
    [null, null],
  ],
};
const ofStatesAndMonths = {
  dimensions: [state, monthly],
  measures: [count],
  rows: [
    ['CA', '2024-01-01', 1],
    ['CA', '2024-02-01', 1],
    ['CA', '2024-04-01', 1],
    ['NV', '2024-02-01', 1],
    [null, '2024-04-01', 1],
    [null, null, 1],
  ],
};

/** A chart type that is missing here is a type error. */
export const charts: Readonly<Record<ChartType, Case>> = {
  line: ofMonths,
  stepped: ofMonths,
  area: ofMonths,
  bar: ofStates,
  row: ofStates,
  pie: ofStates,
  doughnut: ofStates,
  stack: ofStatesAndMonths,
  table: ofStatesAndMonths,
  timeSeries: ofStatesAndMonths,
  pivotTable: { ...ofStatesAndMonths, chart: { type: 'pivotTable', across: [monthly.name] } },
  histogram: {
    dimensions: [by('sales.amount', { bucketCount: 4 })],
    measures: [count],
    rows: [
      [-20, 1],
      [0, 1],
      [20, 2],
      [40, 1],
      [null, 1],
    ],
  },
  scatter: {
    dimensions: [state],
    measures: [amount, of('weight', 'MAX', 'sales.weight')],
    rows: [
      ['CA', 70, 1.5],
      ['NV', 30, 2.5],
      [null, -5, 5.5],
    ],
  },
  bubble: {
    dimensions: [state],
    measures: [amount, of('weight', 'MAX', 'sales.weight'), count],
    rows: [
      ['CA', 70, 1.5, 3],
      ['NV', 30, 2.5, 1],
      [null, -5, 5.5, 2],
    ],
  },
  combo: {
    ...ofMonths,
    chart: {
      type: 'combo',
      series: [
        { measure: amount.name, type: 'bar' },
        { measure: 'so far', type: 'line', axis: 'right' },
      ],
    },
    calculations: [{ kind: 'runningTotal', name: 'so far', of: amount.name }],
    rows: [
      ['2024-01-01', 10, 10],
      ['2024-02-01', 50, 60],
      ['2024-04-01', 35, 95],
      [null, null, 95],
    ],
  },
  waterfall: {
    ...ofMonths,
    calculations: [
      { kind: 'previousPeriod', name: 'change', of: amount.name, result: 'change' },
      { kind: 'runningTotal', name: 'so far', of: amount.name },
    ],
    rows: [
      ['2024-01-01', 10, null, 10],
      ['2024-02-01', 50, 40, 60],
      ['2024-04-01', 35, null, 95],
      [null, null, null, 95],
    ],
  },
  funnel: {
    ...ofStates,
    sort: [{ name: count.name, direction: 'DESC' }],
    rows: [
      ['CA', 3],
      [null, 2],
      ['NV', 1],
    ],
  },
  gauge: {
    chart: { type: 'gauge', range: { min: 0, max: 200, target: 150 } },
    measures: [amount],
    rows: [[95]],
  },
  singleValue: {
    measures: [amount],
    comparison: { column: columnRef('sales.day'), grain: 'month', periods: 1 },
    rows: [[95]],
  },
  sankey: {
    dimensions: [state, by('lines.sku')],
    measures: [of('quantity', 'SUM', 'lines.quantity')],
    rows: [
      ['CA', 'cup', 2],
      ['CA', 'tea', 5],
      ['CA', null, null],
      ['NV', 'tea', 16],
      [null, null, null],
    ],
  },
  boxplot: {
    measures: [
      of('least', 'MIN', 'sales.amount'),
      percentile(0.25),
      percentile(0.5),
      percentile(0.75),
      of('most', 'MAX', 'sales.amount'),
    ],
    rows: [[-5, 10, 20, 30, 40]],
  },
};

export const definitionOf = (type: ChartType): VisualDefinition => {
  const { rows: _, chart = { type }, ...parts } = charts[type];
  return metric('sales', { ...parts, chart });
};
