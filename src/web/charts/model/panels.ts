/** Small multiples: measures of three or more sizes in panels one below the other, over one shared axis. Pure. */
import type { Format } from '../../base/format.js';
import { type Axis, axisHint, pointerLayer } from './axes.js';
import { isTarget } from './columns.js';
import { type Drawing, ellipsis, textWidth } from './drawing.js';
import { areMixed, type Plot } from './plot.js';

/** Factor between the sizes of two measures from which they need an axis each. */
export const otherSize = 15;

export const sizeOf = (values: readonly (number | null)[]): number =>
  values.reduce<number>((size, value) => Math.max(size, Math.abs(value ?? 0)), 0);

/** Sizes of which two axes show at most two. */
const fewestPanels = 3;

/**
 * The panel of each series, in the order of the measures. Null if two axes do: there are fewer than three sizes, or the
 * metric says itself on which axis a measure is.
 */
export const panelsOf = (chart: Drawing['chart'], { series }: Plot): readonly number[] | null => {
  if (chart.series?.some(({ axis }) => axis !== undefined)) return null;
  const sizes = series.map(({ values }) => sizeOf(values));
  const tops = topsOf(sizes.filter((size, at) => size > 0 && !isTarget(chart, series[at]?.measure ?? '')));
  if (tops.length < fewestPanels) return null;
  const groups = sizes.map((size, at) =>
    isTarget(chart, series[at]?.measure ?? '')
      ? nearestTo(size, tops)
      : Math.max(
          0,
          tops.findLastIndex((top) => top >= size),
        ),
  );
  const order = [...new Set(groups)];
  return groups.map((group) => order.indexOf(group));
};

/** Currencies that have a panel each. */
const mostCurrencies = 4;

/** A panel for each currency, if the series are amounts of a few: they have no common scale. */
export const currencyPanels = (plot: Plot): readonly number[] | null => {
  const { series } = plot;
  const isEach = series.every(({ currency }) => currency !== undefined && 'code' in currency);
  return isEach && series.length <= mostCurrencies && areMixed(plot) ? series.map((_, at) => at) : null;
};

/** The largest size of each group, descending. */
const topsOf = (sizes: readonly number[]): readonly number[] => {
  const tops: number[] = [];
  for (const size of sizes.toSorted((a, b) => b - a)) {
    if ((tops.at(-1) ?? Number.POSITIVE_INFINITY) / size >= otherSize) tops.push(size);
  }
  return tops;
};

/** The group whose size is nearest to that of a target. */
const nearestTo = (size: number, tops: readonly number[]): number => {
  const distances = tops.map((top) => Math.abs(Math.log(Math.max(size, Number.MIN_VALUE) / top)));
  return distances.indexOf(Math.min(...distances));
};

const countOf = (panels: readonly number[]): number => Math.max(...panels) + 1;

/** Heights in CSS pixels: of a panel with its title, of the title, and of the shared axis. */
const [panelHeight, axisHeight] = [84, 28];
export const titleHeight = 24;

export const panelsHeight = (panels: readonly number[]): number => countOf(panels) * panelHeight + axisHeight;

export const panelNotes = (panels: readonly number[] | null, { text }: Format): readonly string[] =>
  panels === null ? [] : [text('{n} panels, each with its own scale', { n: countOf(panels) })];

/** One pointer through all panels. */
export const panelPointer = ({ axis }: Plot): Axis => {
  const { axisPointer } = axis === 'time' ? pointerLayer : {};
  return { axisPointer: { ...(axisPointer as Axis | undefined), link: [{ xAxisIndex: 'all' }] } };
};

/** A series of a value axis, in the panel of that axis. */
export const inPanel = (series: Axis): Axis => ({ ...series, xAxisIndex: series.yAxisIndex });

type Panels = {
  readonly plot: Plot;
  readonly panels: readonly number[];
  /** The value axis of each panel. */
  readonly axes: readonly Axis[];
  readonly below: Axis;
  /** The strip that chooses the range shown. */
  readonly strip: Axis | null;
};

type InPanel = Pick<Plot, 'points' | 'series'>;

/** Grids, axes and strip. The panels share left and right edge, and the lowest has the labels of the shared axis. */
export const panelLayout = (drawing: Drawing, { plot, panels, axes, below, strip }: Panels) => {
  const count = axes.length;
  const left = Math.max(...axes.map((_, panel) => labelWidth(drawing, seriesIn(plot, panels, panel)))) + 14;
  const foot = labelHeight(below) + (strip === null ? 0 : 32);
  const room = (Math.max(drawing.height, panelsHeight(panels)) - foot) / count;
  return {
    grid: axes.map((_, panel) => ({
      left,
      right: 14,
      top: Math.round(room * panel + titleHeight),
      height: Math.round(room - titleHeight - 6),
      outerBoundsMode: 'none',
    })),
    xAxis: axes.map((_, gridIndex) => ({ ...below, gridIndex, ...(gridIndex < count - 1 ? unlabelled(below) : {}) })),
    yAxis: axes.map((axis, gridIndex) => ({
      ...axis,
      gridIndex,
      ...titleOf(drawing, seriesIn(plot, panels, gridIndex)),
      nameTruncate: { maxWidth: drawing.width - left - 14, ellipsis },
      splitNumber: 2,
    })),
    ...(strip === null ? {} : { dataZoom: [{ ...strip, left, xAxisIndex: 'all' }] }),
  };
};

const seriesIn = ({ points, series }: Plot, panels: readonly number[], panel: number): InPanel => ({
  points,
  series: series.filter((_, at) => panels[at] === panel),
});

const unlabelled = ({ axisLabel }: Axis): Axis => ({
  name: '',
  axisLabel: { ...(axisLabel as Axis), show: false },
});

/** The measures of a panel, and their unit. It begins where the panel begins. */
const titleOf = ({ chart, theme }: Drawing, drawn: InPanel): Axis => {
  const names = drawn.series.map(({ name }) => name).join(', ');
  const { unit } = axisHint(chart, drawn);
  return {
    name: unit === undefined ? names : `${names} (${unit})`,
    nameLocation: 'end',
    nameTextStyle: { color: theme.text, fontSize: 11, lineHeight: 14, align: 'left' },
  };
};

/** Room for the widest number of a panel's axis, in CSS pixels. */
const labelWidth = ({ chart, format }: Drawing, drawn: InPanel): number => {
  const { series } = drawn;
  const hint = axisHint(chart, drawn);
  const size = Math.max(...series.map(({ values }) => sizeOf(values)));
  const sign = series.some(({ values }) => values.some((value) => (value ?? 0) < 0)) ? -1 : 1;
  const ticks = Array.from({ length: 24 }, (_, at) => (sign * powerOf(size) * (at + 1)) / 2);
  return Math.max(...ticks.map((tick) => textWidth(format.tick(tick, hint))));
};

/** The narrowest bars of a panel, in CSS pixels. */
const fewestBar = 16;

type Beside = {
  readonly plot: Plot;
  /** Room for the numbers of each panel. */
  readonly values: readonly number[];
  readonly names: number;
  /** The axis of names, which the first panel shows. */
  readonly axis: Axis;
};

/** Horizontal bars of each series in a panel of its own, side by side at the same names. */
export const besideLayout = ({ width, theme }: Drawing, { plot, values, names, axis }: Beside) => {
  const gap = 12;
  const begin = names + gap;
  const bars = (width - begin - values.reduce((sum, value) => sum + value + gap, 0)) / values.length;
  const bar = Math.max(fewestBar, Math.floor(bars));
  const leftOf = (panel: number): number =>
    begin + values.slice(0, panel).reduce((sum, value) => sum + bar + value + gap, 0);
  return {
    grid: values.map((_, panel) => ({
      left: leftOf(panel),
      right: Math.max(0, width - leftOf(panel) - bar),
      top: titleHeight,
      bottom: 8,
      outerBoundsMode: 'none',
    })),
    xAxis: values.map((_, gridIndex) => ({ type: 'value', show: false, gridIndex })),
    yAxis: values.map((_, gridIndex) => ({
      ...axis,
      gridIndex,
      ...(gridIndex === 0 ? {} : unlabelled(axis)),
      name: plot.series[gridIndex]?.name ?? '',
      nameLocation: 'start',
      nameTextStyle: { color: theme.text, fontSize: 11, lineHeight: 14, align: 'left' },
    })),
  };
};

/** The power of ten at or below the size. */
const powerOf = (size: number): number => 10 ** Math.floor(Math.log10(size || 1));

/** Room for the labels of the shared axis, which may be wrapped or turned, and for its name. */
const labelHeight = ({ axisLabel, name }: Axis): number => {
  const { rotate, overflow, width } = axisLabel as { rotate?: number; overflow?: string; width?: number };
  const labels = rotate !== undefined ? (width ?? 96) * 0.62 + 16 : overflow === 'break' ? 50 : axisHeight;
  return Math.round(labels + (typeof name === 'string' && name !== '' ? 16 : 0));
};
