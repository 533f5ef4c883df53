/** A small picture of each chart type, as inline SVG. Decoration: the name stands beside it. */
import { html, svg, type TemplateResult } from 'lit';
import type { ChartType } from '../../model/dashboard/chart.js';

/** What is drawn with lines, and what is filled. */
type Lines = { readonly lines?: string; readonly fill?: string };

const axes = 'M3 3v18h18';
const bars = (...tops: readonly number[]): string => tops.map((top, at) => `M${6 + at * 5} ${top}h3V20h-3z`).join('');

/** In the order of the picker: what most people look for comes first. */
const pictures: Readonly<Record<ChartType, Lines>> = {
  bar: { lines: axes, fill: bars(11, 6, 14) },
  row: { lines: axes, fill: 'M4 5h14v3.5H4zM4 10.5h9V14H4zM4 16h5v3.5H4z' },
  stack: { lines: `${axes}M6 9h3v4H6zM11 4h3v6h-3zM16 12h3v3h-3z`, fill: bars(14, 11, 16) },
  line: { lines: `${axes}M6 15l4-5 4 3 6-8` },
  area: { lines: `${axes}M5 14l5-5 4 3 6-7`, fill: 'M5 14l5-5 4 3 6-7v15H5z' },
  stepped: { lines: `${axes}M6 16h4v-5h5V6h5` },
  timeSeries: { lines: `${axes}M5 15l2-3 2 2 2-5 2 3 2-4 2 2 4-6`, fill: 'M5 18.5h16v1.5H5z' },
  combo: { lines: `${axes}M6 8l5-3 5 4 4-4`, fill: bars(13, 11, 15) },
  pie: { lines: 'M12 12V3a9 9 0 1 0 9 9z', fill: 'M14.5 9.5V2.5a7 7 0 0 1 7 7z' },
  doughnut: {
    lines: 'M12 3a9 9 0 1 0 9 9h-4.5A4.5 4.5 0 1 1 12 7.5z',
    fill: 'M14 2.7a9 9 0 0 1 7.2 7.3h-4.6A4.6 4.6 0 0 0 14 7.4z',
  },
  singleValue: { lines: 'M6 9.5l3-2.5v10M6.5 17h5M14 9.3A2.6 2.6 0 0 1 19 10c0 2.5-5 4-5 7h5' },
  gauge: { lines: 'M3 17a9 9 0 0 1 18 0M12 17l4.5-5.5', fill: 'M13.6 17a1.6 1.6 0 1 1-3.2 0a1.6 1.6 0 0 1 3.2 0z' },
  table: { lines: 'M3 5h18v14H3zM3 9.7h18M3 14.3h18M10 5v14' },
  pivotTable: { lines: 'M3 4h18v16H3zM9 4v16M3 9h18M9 14.5h12M15 9v11', fill: 'M3 4h18v5H3zM3 9h6v11H3z' },
  histogram: { lines: axes, fill: 'M5 15h4v5H5zM9.5 9h4v11h-4zM14 5h3.5v15H14zM18 12h3v8h-3z' },
  boxplot: { lines: 'M7 4v3M7 15v5M17 3v5M17 17v3M4.5 11h5M14.5 12.5h5', fill: 'M4.5 7h5v8h-5zM14.5 8h5v9h-5z' },
  scatter: {
    lines: axes,
    fill: 'M9 16a1.3 1.3 0 1 1-2.6 0a1.3 1.3 0 0 1 2.6 0zM13 11a1.3 1.3 0 1 1-2.6 0a1.3 1.3 0 0 1 2.6 0zM16 15a1.3 1.3 0 1 1-2.6 0a1.3 1.3 0 0 1 2.6 0zM20 7a1.3 1.3 0 1 1-2.6 0a1.3 1.3 0 0 1 2.6 0z',
  },
  bubble: {
    lines: `${axes}M19 9a3 3 0 1 1-6 0a3 3 0 0 1 6 0z`,
    fill: 'M11 15a2.5 2.5 0 1 1-5 0a2.5 2.5 0 0 1 5 0zM20 16.5a1.5 1.5 0 1 1-3 0a1.5 1.5 0 0 1 3 0z',
  },
  funnel: { fill: 'M3 4h18l-2.5 4.2h-13zM6.2 9.6h11.6l-2 3.6H8.2zM9 14.6h6L13.8 20h-3.6z' },
  waterfall: { lines: axes, fill: 'M5 13h3.2v7H5zM9.2 8h3.2v5H9.2zM13.4 5h3.2v3h-3.2zM17.6 5H21v15h-3.4z' },
  sankey: {
    lines: 'M3 5h2v6H3zM3 14h2v5H3zM19 4h2v9h-2zM19 16h2v4h-2z',
    fill: 'M5.8 5C12 5 12 4 18.2 4v6C12 10 12 11 5.8 11zM5.8 14C12 14 12 16 18.2 16v4C12 20 12 19 5.8 19z',
  },
};

export const chartIcon = (type: ChartType): TemplateResult => {
  const { lines, fill } = pictures[type];
  return html`<svg width="28" height="28" viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="1.4"
    stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">
    ${fill === undefined ? null : svg`<path d=${fill} fill="currentColor" fill-opacity="0.35" stroke="none"></path>`}
    ${lines === undefined ? null : svg`<path d=${lines}></path>`}
  </svg>`;
};

/** Every type of chart, in the order of the picker. */
export const pickedTypes = Object.keys(pictures) as readonly ChartType[];
