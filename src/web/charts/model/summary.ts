/** Sentences that say what a chart shows, for readers who do not see it. Pure. */
import type { GuestChart } from '../../../domain/guest/view.js';
import type { MetricAnswer } from '../../../domain/query/engine.js';
import type { Format, NumberHint } from '../../base/format.js';
import { hintOf, truncationNote } from './columns.js';
import type { Plot } from './plot.js';

/** How each chart type is called in a sentence. */
export const kindNames: Readonly<Record<GuestChart['type'], string>> = {
  line: 'line chart',
  stepped: 'stepped line chart',
  bar: 'bar chart',
  stack: 'stacked bar chart',
  histogram: 'histogram',
  bubble: 'bubble chart',
  scatter: 'scatter chart',
  row: 'row chart',
  area: 'area chart',
  combo: 'combined chart',
  pie: 'pie chart',
  doughnut: 'doughnut chart',
  waterfall: 'waterfall chart',
  funnel: 'funnel chart',
  gauge: 'gauge',
  sankey: 'flow chart',
  singleValue: 'single value',
  boxplot: 'box plot',
  table: 'table',
  timeSeries: 'time series',
  pivotTable: 'pivot table',
};

type About = {
  readonly name: string;
  readonly chart: GuestChart;
  readonly answer: MetricAnswer;
  readonly format: Format;
};

/** One sentence with name and kind, then `sentences`, then what is missing from the answer. */
export const say = ({ name, chart, answer, format }: About, opening: string, sentences: readonly string[]): string => {
  const missing = truncationNote(answer, format);
  const all = [...sentences, ...(missing === null ? [] : [`Incomplete: ${missing.toLowerCase()}`])];
  return [`${name}: ${kindNames[chart.type]}, ${opening}.`, ...all.map((each) => `${each}.`)].join(' ');
};

/** Says kind, span, series and extremes of a plot. */
export const plotSummary = (about: About, plot: Plot): string => {
  const { name, chart, format } = about;
  const [first, last] = [plot.points[0], plot.points.at(-1)];
  if (first === undefined || last === undefined) return `${name}: ${kindNames[chart.type]} without data.`;
  const count = `${format.count(plot.points.length)} ${plot.points.length === 1 ? 'value' : 'values'}`;
  const span = plot.dimension === null ? count : `${count} from ${first.label} to ${last.label}`;
  const names = plot.series.length > 1 ? [`Series: ${plot.series.map((series) => series.name).join(', ')}`] : [];
  const values = plot.series[0]?.values ?? [];
  const items = values.map((value, index) => ({ value, label: plot.points[index]?.label ?? '' }));
  const subject = plot.series.length > 1 ? `${plot.series[0]?.name}: ` : '';
  return say(about, span, [
    ...names,
    ...extremes(items, hintOf(chart, plot.series[0]?.measure ?? ''), format).map((text) => subject + text),
  ]);
};

/** “Lowest …, highest …”, or nothing for fewer than two values. */
export const extremes = (
  items: readonly { readonly value: number | null; readonly label: string }[],
  hint: NumberHint,
  format: Format,
): readonly string[] => {
  const known = items.flatMap(({ value, label }) => (value === null ? [] : [{ value, label }]));
  const [start] = known;
  if (start === undefined || known.length < 2) return [];
  const lowest = known.reduce((least, item) => (item.value < least.value ? item : least), start);
  const highest = known.reduce((most, item) => (item.value > most.value ? item : most), start);
  const tell = (item: typeof start) => `${format.measure(item.value, hint)} (${item.label})`;
  return [`Lowest ${tell(lowest)}, highest ${tell(highest)}`];
};
