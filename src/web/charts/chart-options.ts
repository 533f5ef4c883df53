/** Builds the ECharts options of a plot. Pure. Text from the data goes to the canvas only; `tooltip.ts` builds tooltips. */
import type { BarSeriesOption, LineSeriesOption } from 'echarts/charts';
import type { GridComponentOption, TooltipComponentOption } from 'echarts/components';
import type { ComposeOption } from 'echarts/core';
import type { Chart } from '../../domain/dashboard/chart.js';
import { type Format, humanise } from '../base/format.js';
import type { ChartTheme } from '../base/tokens.js';
import type { Plot } from './plot.js';

export type ChartOption = ComposeOption<
  LineSeriesOption | BarSeriesOption | GridComponentOption | TooltipComponentOption
>;

type Axes = Required<Pick<ChartOption, 'xAxis' | 'yAxis'>>;

export type Drawing = {
  readonly plot: Plot;
  readonly chart: Chart;
  readonly format: Format;
  readonly theme: ChartTheme;
  readonly isReducedMotion: boolean;
  /** Width of the card's drawing area in CSS pixels. */
  readonly width: number;
};

/** Height of one horizontal bar with its gap, in CSS pixels. */
const barPitch = 28;

/** Whether bars are horizontal: names that do not fit under vertical bars fit beside horizontal ones. Never for numbers and dates. */
export const areBarsHorizontal = ({ plot, chart, width }: Pick<Drawing, 'plot' | 'chart' | 'width'>): boolean => {
  if (chart.type !== 'bar' || plot.dimension?.dataType === 'number' || plot.dimension?.dataType === 'date')
    return false;
  const longest = longestLabel(plot);
  const room = (width - 50) / Math.max(1, plot.points.length);
  return plot.points.length > 12 || longest > 10 || longest * 7 + 6 > room;
};

/** Minimum height in CSS pixels for horizontal bars; null if the chart fits any height. */
export const heightNeeded = (drawing: Pick<Drawing, 'plot' | 'chart' | 'width'>): number | null => {
  if (!areBarsHorizontal(drawing)) return null;
  const barsEach = Math.max(1, drawing.plot.series.length * 0.7);
  return Math.ceil(drawing.plot.points.length * barPitch * barsEach) + 8;
};

export const chartOption = (drawing: Drawing): ChartOption => {
  const isHorizontal = areBarsHorizontal(drawing);
  const { theme, plot } = drawing;
  return {
    color: [...theme.series],
    useUTC: true,
    textStyle: { fontFamily: theme.fontFamily },
    animation: !drawing.isReducedMotion,
    animationDuration: 350,
    animationDurationUpdate: 250,
    grid: isHorizontal ? horizontalGrid(drawing) : { left: 4, right: 12, top: 14, bottom: 0, outerBoundsMode: 'same' },
    tooltip: tooltip(drawing),
    ...(isHorizontal ? horizontalAxes(drawing) : verticalAxes(drawing)),
    series: plot.series.map((_, index) => (drawing.chart.type === 'line' ? line(drawing, index) : bar(drawing, index))),
  };
};

/** One line of a tooltip: a series, its colour and its value as text. */
export type TooltipLine = { readonly name: string; readonly colour: string; readonly value: string };

/** The tooltip's content at `points[index]`, as plain text. */
export const tooltipAt = (
  { plot, chart, format, theme }: Pick<Drawing, 'plot' | 'chart' | 'format' | 'theme'>,
  index: number,
): { readonly title: string; readonly lines: readonly TooltipLine[] } => ({
  title: plot.points[index]?.label ?? '',
  lines: plot.series.map(({ name, values }, place) => ({
    name,
    colour: colourAt(theme, place),
    value: format.measure(values[index] ?? null, chart),
  })),
});

export const colourAt = ({ series }: Pick<ChartTheme, 'series'>, index: number): string =>
  series[index % Math.max(1, series.length)] ?? '#2f6bd8';

const tooltip = ({ plot, theme }: Drawing): TooltipComponentOption => ({
  trigger: 'axis',
  confine: true,
  renderMode: 'html',
  transitionDuration: 0,
  padding: 0,
  borderWidth: 0,
  backgroundColor: 'transparent',
  extraCssText: 'box-shadow:none',
  axisPointer: { type: plot.axis === 'time' ? 'line' : 'shadow', z: 0, shadowStyle: { color: theme.grid, opacity: 1 } },
});

const horizontalGrid = ({ plot, format, chart, width }: Drawing): GridComponentOption => {
  const values = plot.series.flatMap((series) => series.values);
  const longest = Math.max(0, ...values.map((value) => format.measure(value, chart).length));
  return {
    left: horizontalLabelWidth({ plot, width }) + 12,
    right: longest * 7 + 12,
    top: 0,
    bottom: 8,
    outerBoundsMode: 'none',
  };
};

/** Width for the longest name, at most a third of the card, in CSS pixels. */
const horizontalLabelWidth = ({ plot, width }: Pick<Drawing, 'plot' | 'width'>): number =>
  Math.round(Math.min(220, Math.max(72, width * 0.34), longestLabel(plot) * 7 + 8));

const longestLabel = ({ points }: Plot): number => Math.max(0, ...points.map((point) => point.label.length));

const horizontalAxes = ({ plot, theme, width }: Drawing): Axes => ({
  xAxis: { type: 'value', show: false },
  yAxis: {
    type: 'category',
    inverse: true,
    data: plot.points.map((point) => point.label),
    axisLine: { show: false, onZero: false },
    axisTick: { show: false },
    axisLabel: {
      color: theme.text,
      fontSize: 12,
      interval: 0,
      margin: 10,
      width: horizontalLabelWidth({ plot, width }),
      overflow: 'truncate',
      ellipsis: '…',
    },
  },
});

const verticalAxes = (drawing: Drawing): Axes => ({
  xAxis: drawing.plot.axis === 'time' ? timeAxis(drawing) : categoryAxis(drawing),
  yAxis: {
    type: 'value',
    scale: isFarFromZero(drawing),
    name: drawing.chart.unit ?? '',
    nameTextStyle: { color: drawing.theme.muted, align: 'right' },
    nameGap: 8,
    splitNumber: 4,
    axisLabel: { color: drawing.theme.muted, fontSize: 11, formatter: (value: number) => tick(drawing, value) },
    splitLine: { lineStyle: { color: drawing.theme.grid } },
  },
});

const tick = ({ format, chart }: Drawing, value: number): string => format.tick(value, chart);

/** Whether the axis may omit zero: for lines far from zero. Never for bars, whose length is the value. */
const isFarFromZero = ({ plot, chart }: Drawing): boolean => {
  if (chart.type !== 'line') return false;
  const values = plot.series.flatMap((series) => series.values).filter((value) => value !== null);
  return Math.min(...values) > Math.max(...values) / 2;
};

const timeAxis = ({ theme, format, width }: Drawing): Axes['xAxis'] => ({
  type: 'time',
  splitNumber: Math.max(2, Math.round(width / 110)),
  axisLine: { lineStyle: { color: theme.grid } },
  axisTick: { show: false },
  axisLabel: {
    color: theme.muted,
    fontSize: 11,
    hideOverlap: true,
    formatter: (time: number) => format.timeTick(time),
  },
  axisPointer: { lineStyle: { color: theme.muted, type: 'dashed' } },
});

const categoryAxis = ({ plot, theme, width }: Drawing): Axes['xAxis'] => ({
  type: 'category',
  // A number on the axis needs the dimension's name; names and dates do not.
  ...(plot.dimension?.dataType === 'number' ? { name: humanise(plot.dimension.name) } : {}),
  nameLocation: 'middle',
  nameGap: 24,
  nameTextStyle: { color: theme.muted, fontSize: 11 },
  data: plot.points.map((point) => point.label),
  axisLine: { lineStyle: { color: theme.grid } },
  axisTick: { show: false },
  axisLabel: {
    color: theme.muted,
    fontSize: 11,
    width: Math.max(32, Math.round(width / Math.max(1, plot.points.length)) * 3),
    overflow: 'truncate',
    ellipsis: '…',
  },
});

const line = (drawing: Drawing, index: number): LineSeriesOption => {
  const { plot, theme } = drawing;
  const values = plot.series[index]?.values ?? [];
  return {
    type: 'line',
    name: plot.series[index]?.name ?? '',
    data: plot.axis === 'time' ? values.map((value, at) => [plot.points[at]?.time ?? 0, value ?? '-']) : [...values],
    showSymbol: plot.points.length === 1,
    symbol: 'circle',
    symbolSize: 8,
    triggerLineEvent: true,
    lineStyle: { width: 2, join: 'round' },
    emphasis: { lineStyle: { width: 2 }, itemStyle: { borderColor: theme.surface, borderWidth: 2 } },
    ...(plot.series.length === 1 && !isFarFromZero(drawing) ? { areaStyle: { opacity: 0.12 } } : {}),
  };
};

const bar = (drawing: Drawing, index: number): BarSeriesOption => {
  const { plot, theme, format, chart } = drawing;
  const isHorizontal = areBarsHorizontal(drawing);
  const values = plot.series[index]?.values ?? [];
  return {
    type: 'bar',
    name: plot.series[index]?.name ?? '',
    data: values.map((value) => ({
      value: value ?? '-',
      itemStyle: { borderRadius: corners(isHorizontal, value ?? 0) },
    })),
    barMaxWidth: isHorizontal ? 16 : 44,
    barCategoryGap: isHorizontal ? '34%' : '22%',
    label: {
      show: isHorizontal,
      position: 'right',
      color: theme.muted,
      fontSize: 11,
      formatter: (item) => format.measure(values[item.dataIndex] ?? null, chart),
    },
  };
};

/** Rounds the corners at the end away from zero. */
const corners = (isHorizontal: boolean, value: number): number[] => {
  if (isHorizontal) return value < 0 ? [3, 0, 0, 3] : [0, 3, 3, 0];
  return value < 0 ? [0, 0, 3, 3] : [3, 3, 0, 0];
};
