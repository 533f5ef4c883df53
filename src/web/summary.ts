/** What a chart shows, in one sentence: its text alternative. */
import type { GuestMetric } from '../domain/guest-view.js';
import type { Format } from './format.js';
import type { Plot } from './plot.js';

/** Names the kind of chart, how much it shows, and the lowest and highest value of its first series. */
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
