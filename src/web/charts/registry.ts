/** Which renderer shows each chart type. A type without a renderer does not compile. Charts are loaded when first shown. */
import type { ChartType } from '../../model/dashboard/chart.js';
import type { Draw } from './model/drawing.js';
import type { Start } from './model/echarts.js';

/** `draw` makes the picture; `start` opens a canvas that can show it. */
export type Family = { readonly draw: Draw; readonly start: Start };

export type Renderer =
  | { readonly kind: 'chart'; readonly load: () => Promise<Family> }
  | { readonly kind: 'singleValue' | 'table' | 'pivotTable' };

const cartesian = { kind: 'chart', load: () => import('./chunks/cartesian.js') } as const;
const columns = { kind: 'chart', load: () => import('./chunks/columns.js') } as const;
const scatter = { kind: 'chart', load: () => import('./chunks/scatter.js') } as const;
const parts = { kind: 'chart', load: () => import('./chunks/parts.js') } as const;

const renderers: Readonly<Record<ChartType, Renderer>> = {
  line: cartesian,
  stepped: cartesian,
  bar: cartesian,
  stack: cartesian,
  row: cartesian,
  area: cartesian,
  combo: cartesian,
  timeSeries: cartesian,
  histogram: columns,
  waterfall: columns,
  scatter,
  bubble: scatter,
  pie: parts,
  doughnut: parts,
  funnel: parts,
  gauge: { kind: 'chart', load: () => import('./chunks/gauge.js') },
  sankey: { kind: 'chart', load: () => import('./chunks/sankey.js') },
  boxplot: { kind: 'chart', load: () => import('./chunks/boxplot.js') },
  singleValue: { kind: 'singleValue' },
  table: { kind: 'table' },
  pivotTable: { kind: 'pivotTable' },
};

// What is loaded ahead is loaded again by the chart that needs it, which tells a failure.
const ignore = (): void => undefined;

/** Loads what all charts are drawn with, before any chart is known. */
export const loadEngine = (): void => void import('./model/echarts.js').catch(ignore);

/** Loads what charts of these types are drawn with, before their data are there. */
export const loadFamilies = (types: Iterable<string>): void => {
  for (const renderer of new Set([...types].map(rendererOf))) {
    if (renderer.kind === 'chart') renderer.load().catch(ignore);
  }
};

/** A type that this version does not know is shown as a table. A newer service may send one. */
export const rendererOf = (type: string): Renderer =>
  Object.hasOwn(renderers, type) ? renderers[type as ChartType] : { kind: 'table' };
