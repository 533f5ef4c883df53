/** Sentences that say what a chart shows, for readers who do not see it. Pure. */
import type { GuestChart } from '../../../model/guest/view.js';
import type { MetricAnswer } from '../../../model/query/engine.js';
import type { Text } from '../../../model/texts/text.js';
import type { Format, NumberHint } from '../../base/format.js';
import { truncationNote } from './columns.js';
import { areMixed, type Plot, sharedNumbers } from './plot.js';

/** How each chart type is called in a sentence. */
export const kindName = (type: GuestChart['type'], { text }: Format): string => kindNames[type](text);

const kindNames: Readonly<Record<GuestChart['type'], (text: Text) => string>> = {
  line: (text) => text('line chart'),
  stepped: (text) => text('stepped line chart'),
  bar: (text) => text('bar chart'),
  stack: (text) => text('stacked bar chart'),
  histogram: (text) => text('histogram'),
  bubble: (text) => text('bubble chart'),
  scatter: (text) => text('scatter chart'),
  row: (text) => text('row chart'),
  area: (text) => text('area chart'),
  combo: (text) => text('combined chart'),
  pie: (text) => text('pie chart'),
  doughnut: (text) => text('doughnut chart'),
  waterfall: (text) => text('waterfall chart'),
  funnel: (text) => text('funnel chart'),
  gauge: (text) => text('gauge'),
  sankey: (text) => text('flow chart'),
  singleValue: (text) => text('single value'),
  boxplot: (text) => text('box plot'),
  table: (text) => text('table'),
  timeSeries: (text) => text('time series'),
  pivotTable: (text) => text('pivot table'),
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
  const all = [...sentences, ...(missing === null ? [] : [format.text('Incomplete: {note}', { note: missing })])];
  const start = format.text('{name}: {kind}, {opening}', { name, kind: kindName(chart.type, format), opening });
  return inSentences([start, ...all], format);
};

/** Says kind, span, series and extremes of a plot. */
export const plotSummary = (about: About, plot: Plot): string => {
  const { name, chart, format } = about;
  const [first, last] = [plot.points[0], plot.points.at(-1)];
  if (first === undefined || last === undefined) {
    return format.text('{name}: {kind} without data.', { name, kind: kindName(chart.type, format) });
  }
  const { text } = format;
  const n = plot.points.length;
  const span =
    plot.dimension === null
      ? text('{n} values', { n })
      : text('{n} values from {first} to {last}', { n, first: first.label, last: last.label });
  const list = plot.series.map((series) => series.name).join(', ');
  const names = plot.series.length > 1 ? [text('Series: {list}', { list })] : [];
  const values = plot.series[0]?.values ?? [];
  const items = values.map((value, index) => ({
    value,
    // Written when it is read: of many points, two are told.
    get label() {
      return plot.points[index]?.label ?? '';
    },
  }));
  const told = { points: plot.points, series: plot.series.slice(0, 1) };
  // Amounts of several currencies have no order of size.
  const isMixed = areMixed(told);
  const hint = sharedNumbers(chart, plot.series[0]?.measure ?? '', told);
  const subject = plot.series.length > 1 ? `${plot.series[0]?.name}: ` : '';
  return say(about, span, [
    ...names,
    ...extremes(isMixed ? [] : items, hint, format).map((sentence) => subject + sentence),
  ]);
};

/** “Lowest …, highest …”, or nothing for fewer than two values. */
export const extremes = (
  items: readonly { readonly value: number | null; readonly label: string }[],
  hint: NumberHint,
  format: Format,
): readonly string[] => {
  const known = items.filter((item): item is typeof item & { readonly value: number } => item.value !== null);
  const [start] = known;
  if (start === undefined || known.length < 2) return [];
  const lowest = known.reduce((least, item) => (item.value < least.value ? item : least), start);
  const highest = known.reduce((most, item) => (item.value > most.value ? item : most), start);
  const tell = (item: typeof start) => `${format.measure(item.value, hint)} (${item.label})`;
  return [format.text('Lowest {lowest}, highest {highest}', { lowest: tell(lowest), highest: tell(highest) })];
};

/** Sentences one after the other, with the full stop of the language. */
export const inSentences = (sentences: readonly string[], { text }: Format): string =>
  sentences.map((sentence) => text('{sentence}.', { sentence })).join(' ');
