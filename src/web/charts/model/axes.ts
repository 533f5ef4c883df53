/** Axes, grid and pointing of charts with two axes. Pure. */
import { humanise } from '../../base/format.js';
import { axisText, type Drawing, type Pointing, textWidth } from './drawing.js';
import type { Plot } from './plot.js';

export type Axis = Readonly<Record<string, unknown>>;

/** Height of one horizontal bar with its gap, in CSS pixels. */
const barPitch = 28;

const longestLabel = ({ points }: Plot): number => Math.max(0, ...points.map((point) => textWidth(point.label, 12)));

/** Whether bars are horizontal: names that do not fit under vertical bars fit beside horizontal ones. */
export const areBarsHorizontal = (plot: Plot, { chart, width }: Pick<Drawing, 'chart' | 'width'>): boolean => {
  if (chart.type === 'row') return true;
  const { dimension, points } = plot;
  const isOrdered = dimension?.dataType === 'number' || dimension?.dataType === 'date';
  if ((chart.type !== 'bar' && chart.type !== 'stack') || isOrdered) return false;
  const room = (width - 50) / Math.max(1, points.length);
  return points.length > 12 || longestLabel(plot) > Math.min(70, room);
};

/** Minimum height in CSS pixels of horizontal bars, so that each bar and its name can be read. */
export const barsHeight = ({ points, series }: Plot, isStacked: boolean): number =>
  Math.ceil(points.length * barPitch * (isStacked ? 1 : Math.max(1, series.length * 0.7))) + 8;

/** Width for the longest name, at most a third of the card, in CSS pixels. */
export const nameWidth = (plot: Plot, width: number): number =>
  Math.round(Math.min(220, Math.max(40, width * 0.34), longestLabel(plot) + 10));

export const nameAxis = (plot: Plot, { theme, width }: Drawing): Axis => ({
  type: 'category',
  inverse: true,
  data: plot.points.map((point) => point.label),
  axisLine: { show: false, onZero: false },
  axisTick: { show: false },
  axisLabel: {
    color: theme.text,
    fontSize: 12,
    lineHeight: 15,
    interval: 0,
    margin: 10,
    width: nameWidth(plot, width),
    overflow: 'truncate',
    ellipsis: '…',
  },
});

export const timeAxis = (drawing: Drawing, { points }: Plot): Axis => {
  const { theme, format, width } = drawing;
  return {
    type: 'time',
    splitNumber: Math.max(2, Math.round(width / 110)),
    // A single moment has no range of its own.
    ...(points.length === 1
      ? { min: (points[0]?.time ?? 0) - 43_200_000, max: (points[0]?.time ?? 0) + 43_200_000 }
      : {}),
    axisLine: { lineStyle: { color: theme.grid } },
    axisTick: { show: false },
    axisLabel: { ...axisText(drawing), hideOverlap: true, formatter: (time: number) => format.timeTick(time) },
    axisPointer: { lineStyle: { color: theme.muted, type: 'dashed' } },
  };
};

export const categoryAxis = (plot: Plot, drawing: Drawing): Axis => {
  const { theme, width } = drawing;
  const isNumber = plot.dimension?.dataType === 'number';
  return {
    type: 'category',
    // A number on the axis needs the dimension's name; names and dates do not.
    ...(isNumber && plot.dimension !== null ? { name: humanise(plot.dimension.name) } : {}),
    nameLocation: 'middle',
    nameGap: 24,
    nameTextStyle: axisText(drawing),
    data: plot.points.map((point) => point.label),
    axisLine: { lineStyle: { color: theme.grid } },
    axisTick: { show: false },
    axisLabel: {
      ...axisText(drawing),
      hideOverlap: true,
      // Every second name or so is left out if they do not fit; a name never takes more than a third of the card.
      ...(longestLabel(plot) > width / 3 ? { width: Math.round(width / 3), overflow: 'truncate', ellipsis: '…' } : {}),
    },
  };
};

export const valueAxis = (drawing: Drawing, more: Axis = {}): Axis => {
  const { theme, format, chart, height } = drawing;
  return {
    type: 'value',
    splitNumber: Math.max(2, Math.min(5, Math.round(height / 60))),
    axisLabel: { ...axisText(drawing), hideOverlap: true, formatter: (value: number) => format.tick(value, chart) },
    axisLine: { show: false },
    axisTick: { show: false },
    nameTextStyle: { ...axisText(drawing), align: 'right' },
    nameGap: 8,
    splitLine: { lineStyle: { color: theme.grid } },
    ...more,
  };
};

/** The grid's outer bounds hold the labels, so that nothing is cut. */
export const grid = (more: Axis = {}): Axis => ({
  left: 4,
  right: 14,
  top: 14,
  bottom: 8,
  outerBoundsMode: 'same',
  ...more,
});

/** ECharts draws the pointer only; the page shows the text. */
export const pointer = ({ theme }: Drawing, isLine: boolean): Axis => ({
  trigger: 'axis',
  renderMode: 'richText',
  showContent: false,
  axisPointer: { type: isLine ? 'line' : 'shadow', z: 0, shadowStyle: { color: theme.grid, opacity: 1 } },
});

export const pointingOf = (plot: Plot, isHorizontal: boolean): Pointing => ({
  by: isHorizontal ? 'y' : 'x',
  count: plot.points.length,
  times: plot.axis === 'time' ? plot.points.map(({ time }) => time ?? Number.NaN) : null,
});
