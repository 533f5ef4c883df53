/** Axes, grid and pointing of charts with two axes. Pure. */
import { type NumberHint, titleOf } from '../../base/format.js';
import { datesOf, grainOf } from './columns.js';
import {
  axisText,
  colourAt,
  type Drawing,
  ellipsis,
  mostHeight,
  type Periods,
  type Pointing,
  textWidth,
} from './drawing.js';
import { nextPeriod, type Plot, sharedNumbers } from './plot.js';
import { grainOfTimes, type TimeTick, timeTicks } from './time-ticks.js';

export type Axis = Readonly<Record<string, unknown>>;

type ValueAxis = Axis & { readonly hint?: NumberHint };

/** Height of one horizontal bar with its gap, in CSS pixels. */
const barPitch = 28;

const longestLabel = ({ points }: Plot): number =>
  points.reduce((longest, { label }) => Math.max(longest, textWidth(label, 12)), 0);

/** Whether bars are horizontal: names that do not fit under vertical bars fit beside horizontal ones. */
export const areBarsHorizontal = (plot: Plot, { chart, width }: Pick<Drawing, 'chart' | 'width'>): boolean => {
  if (chart.type === 'row') return true;
  const { dimension, points } = plot;
  const isOrdered = dimension?.dataType === 'number' || dimension?.dataType === 'date';
  if ((chart.type !== 'bar' && chart.type !== 'stack') || isOrdered) return false;
  const room = (width - 50) / Math.max(1, points.length);
  return points.length > 12 || longestLabel(plot) > Math.min(70, room);
};

/** Height in CSS pixels of the horizontal bars of one name. */
const pitchOf = ({ series }: Plot, isStacked: boolean): number =>
  barPitch * (isStacked ? 1 : Math.max(1, series.length * 0.7));

/** Minimum height in CSS pixels of horizontal bars, so that each bar and its name can be read. */
export const barsHeight = (plot: Plot, isStacked: boolean): number =>
  Math.ceil(plot.points.length * pitchOf(plot, isStacked)) + 8;

/** The plot with as many names as fit into the highest chart, the first ones. A note says how many are missing. */
export const boundedBars = (plot: Plot, isStacked: boolean, { text }: Drawing['format']): Plot => {
  const total = plot.points.length;
  const n = Math.floor((mostHeight - 8) / pitchOf(plot, isStacked));
  if (total <= n) return plot;
  return {
    ...plot,
    points: plot.points.slice(0, n),
    series: plot.series.map((each) => ({ ...each, values: each.values.slice(0, n) })),
    notes: [...plot.notes, text('First {n} of {total} drawn, the table has all', { n, total })],
  };
};

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
    ellipsis,
  },
});

/** Room for numbers and gaps at the sides of an axis of time, and between two labels, in CSS pixels. */
const axisSides = 64;
const labelGap = 16;

/** The labels of dates that ascend; null for other points. */
const ticksOf = (plot: Plot, drawing: Drawing): readonly (TimeTick & { readonly label: string })[] | null => {
  const { dimension, points } = plot;
  const { chart, format, width } = drawing;
  if (dimension?.dataType !== 'date' || !areAscending(points)) return null;
  const [first, last] = [points[0]?.time, points.at(-1)?.time];
  if (typeof first !== 'number' || typeof last !== 'number') return null;
  const grain = grainOf(chart, dimension.name) ?? grainOfTimes(points.map(({ time }) => time ?? 0));
  if (grain === 'dayOfWeek' || grain === 'hourOfDay') return null;
  const dates = datesOf(chart, dimension.name);
  const labelOf = (tick: TimeTick): string => format.timeTick(tick, dates);
  const room = {
    width: width - axisSides,
    widthOf: (tick: TimeTick): number => textWidth(labelOf(tick)) + labelGap,
  };
  return timeTicks({ first, last }, grain, room).map((tick) => ({ ...tick, label: labelOf(tick) }));
};

const areAscending = (points: Plot['points']): boolean =>
  points.every(({ time }, at) => time !== null && (at === 0 || time > (points[at - 1]?.time ?? time)));

export const timeAxis = (drawing: Drawing, plot: Plot): Axis => {
  const { theme } = drawing;
  const { points } = plot;
  const ticks = ticksOf(plot, drawing) ?? [];
  const labels = new Map(ticks.map(({ time, label }) => [time, label]));
  const customValues = [...labels.keys()];
  return {
    type: 'time',
    // A single moment has no range of its own.
    ...(points.length === 1
      ? { min: (points[0]?.time ?? 0) - 43_200_000, max: (points[0]?.time ?? 0) + 43_200_000 }
      : {}),
    axisLine: { lineStyle: { color: theme.grid } },
    axisTick: { show: false, customValues },
    axisLabel: { ...axisText(drawing), customValues, formatter: (time: number) => labels.get(time) ?? '' },
    axisPointer: { lineStyle: { color: theme.muted, type: 'dashed' } },
  };
};

/** Names of the axis, and which of them are written, if not as many as fit. */
const axisLabels = (plot: Plot, drawing: Drawing): { readonly data: readonly string[]; readonly axisLabel: Axis } => {
  const names = plot.points.map(({ label }) => label);
  const usual = { data: names, axisLabel: fitted(plot, drawing) };
  const ticks = ticksOf(plot, drawing);
  if (ticks === null) return usual;
  const indexes = new Map(plot.points.map(({ time }, index) => [time, index]));
  const written = new Map(ticks.map(({ time, label }) => [indexes.get(time), label]));
  // A moment between two bars has no place on this axis.
  if (written.has(undefined)) return usual;
  return {
    data: names.map((name, index) => written.get(index) ?? name),
    axisLabel: { customValues: [...written.keys()], interval: 0 },
  };
};

export const categoryAxis = (plot: Plot, drawing: Drawing): Axis => {
  const { theme } = drawing;
  const isNumber = plot.dimension?.dataType === 'number' && isScale(plot, drawing.chart);
  const { data, axisLabel } = axisLabels(plot, drawing);
  return {
    type: 'category',
    // A number on the axis needs the dimension's name; names and dates do not.
    ...(isNumber && plot.dimension !== null ? { name: titleOf(plot.dimension) } : {}),
    nameLocation: 'middle',
    nameGap: 24,
    nameTextStyle: axisText(drawing),
    data,
    axisLine: { lineStyle: { color: theme.grid } },
    axisTick: { show: false },
    axisLabel: { ...axisText(drawing), ...axisLabel },
  };
};

/** Whether the values are numbers or dates in their order, of which a reader can guess the ones between two. */
const isScale = ({ dimension }: Plot, chart: Drawing['chart']): boolean => {
  if (dimension === null || grainOf(chart, dimension.name) === 'dayOfWeek') return false;
  return dimension.dataType === 'number' || dimension.dataType === 'date';
};

/** Names are wrapped, or else turned, so that all are shown. Dates and numbers, or too many names, are thinned out. */
const fitted = (plot: Plot, { chart, width, height }: Drawing): Axis => {
  const { points } = plot;
  const room = (width - 60) / Math.max(1, points.length);
  const isOrdered = isScale(plot, chart);
  const longest = longestLabel(plot);
  if (!isOrdered && longest < room) return { interval: 0 };
  const isThinned = isOrdered || longest <= room || room < 18;
  if (isThinned) {
    const isLong = longest > width / 3;
    return {
      hideOverlap: true,
      ...(isLong ? { width: Math.round(width / 3), overflow: 'truncate', ellipsis } : {}),
    };
  }
  const words = points.flatMap(({ label }) => label.split(/\s+/)).map((word) => textWidth(word));
  const isWrapped = words.every((word) => word < room - 6) && longest < 2.6 * room;
  if (isWrapped) return { interval: 0, width: Math.floor(room - 4), overflow: 'break' };
  return {
    interval: 0,
    rotate: 38,
    width: Math.round(Math.min(96, height * 0.36)),
    overflow: 'truncate',
    ellipsis,
  };
};

/** `hint`: how the axis' numbers are written, if not as the chart says. */
export const valueAxis = (drawing: Drawing, { hint = drawing.chart, ...more }: ValueAxis = {}): Axis => {
  const { theme, format, height } = drawing;
  return {
    type: 'value',
    splitNumber: Math.max(2, Math.min(5, Math.round(height / 60))),
    axisLabel: { ...axisText(drawing), hideOverlap: true, formatter: (value: number) => format.tick(value, hint) },
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

/**
 * A canvas of its own for the pointer along time, so that moving it does not draw a long line again. An emphasis would: it
 * adds a symbol to the line, and lines here have none.
 */
export const pointerLayer: Axis = { axisPointer: { zlevel: 1, triggerEmphasis: false } };

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

/** Null unless the dimension is a date whose grain has a start and an end. */
export const periodsOf = ({ dimension, points }: Plot, chart: Drawing['chart']): Periods | null => {
  if (dimension?.dataType !== 'date') return null;
  const grain = grainOf(chart, dimension.name);
  if (grain === 'dayOfWeek' || grain === 'hourOfDay') return null;
  const endOf = (time: number) => (grain === undefined ? time : nextPeriod(time, grain) - 1000);
  return {
    column: dimension.name,
    spans: points.map(({ time }) => ({ from: time ?? Number.NaN, to: endOf(time ?? Number.NaN) })),
  };
};

/** An axis is written as its first measure is. A unit that its measures do not share is left out. */
export const axisHint = (chart: Drawing['chart'], drawn: Pick<Plot, 'points' | 'series'>): NumberHint => {
  const [first, ...others] = drawn.series.map(({ measure }) => sharedNumbers(chart, measure, drawn));
  if (first === undefined) return chart;
  return others.every(({ unit }) => unit === first.unit) ? first : { ...first, unit: undefined };
};

/** A strip below a time series that chooses the range shown. */
export const slider = ({ theme }: Drawing): Axis => ({
  type: 'slider',
  height: 22,
  bottom: 6,
  left: 12,
  right: 14,
  borderColor: theme.grid,
  fillerColor: 'rgba(128,140,160,0.16)',
  dataBackground: {
    lineStyle: { color: theme.muted, opacity: 0.6 },
    areaStyle: { color: theme.muted, opacity: 0.12 },
  },
  selectedDataBackground: {
    lineStyle: { color: colourAt(theme, 0) },
    areaStyle: { color: colourAt(theme, 0), opacity: 0.2 },
  },
  handleStyle: { color: theme.surface, borderColor: theme.muted },
  moveHandleSize: 0,
  brushSelect: false,
  showDetail: false,
});

/** Whether the axis may omit zero: for lines far from zero. Never for bars and areas, whose size is the value. */
export const isFarFromZero = (series: Plot['series']): boolean => {
  const values = series.flatMap((each) => each.values).filter((value) => value !== null);
  const least = values.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
  return least > values.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY) / 2;
};
