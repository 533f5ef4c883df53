/** Plot -> ECharts option. Pure; texts of the data go to the canvas only, and tooltips are made of DOM text by the view. */
import type { BarSeriesOption, LineSeriesOption } from 'echarts/charts';
import type { GridComponentOption, TooltipComponentOption } from 'echarts/components';
import type { ComposeOption } from 'echarts/core';
import type { Chart } from '../../domain/chart.js';
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

/** Height of one bar with its gap, where bars lie down, in CSS pixels. */
const barPitch = 28;

/** Names that have no room under standing bars are read beside lying ones; numbers and dates may be left out instead. */
export const isLyingBars = ({ plot, chart, width }: Pick<Drawing, 'plot' | 'chart' | 'width'>): boolean => {
  if (chart.type !== 'bar' || plot.dimension?.dataType === 'number' || plot.dimension?.dataType === 'date')
    return false;
  const longest = longestLabel(plot);
  const room = (width - 50) / Math.max(1, plot.points.length);
  return plot.points.length > 12 || longest > 10 || longest * 7 + 6 > room;
};

/** The least height at which every lying bar has its place; null: any height will do. */
export const heightNeeded = (drawing: Pick<Drawing, 'plot' | 'chart' | 'width'>): number | null => {
  if (!isLyingBars(drawing)) return null;
  const barsEach = Math.max(1, drawing.plot.series.length * 0.7);
  return Math.ceil(drawing.plot.points.length * barPitch * barsEach) + 8;
};

export const chartOption = (drawing: Drawing): ChartOption => {
  const isLying = isLyingBars(drawing);
  const { theme, plot } = drawing;
  return {
    color: [...theme.series],
    useUTC: true,
    textStyle: { fontFamily: theme.fontFamily },
    animation: !drawing.isReducedMotion,
    animationDuration: 350,
    animationDurationUpdate: 250,
    grid: isLying ? lyingGrid(drawing) : { left: 4, right: 12, top: 14, bottom: 0, outerBoundsMode: 'same' },
    tooltip: tooltip(drawing),
    ...(isLying ? lyingAxes(drawing) : standingAxes(drawing)),
    series: plot.series.map((_, index) => (drawing.chart.type === 'line' ? line(drawing, index) : bar(drawing, index))),
  };
};

/** One line of a tooltip: a series, its colour and its value as text. */
export type TooltipLine = { readonly name: string; readonly colour: string; readonly value: string };

/** What the tooltip says at `points[index]`, as plain text. */
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

const lyingGrid = ({ plot, format, chart, width }: Drawing): GridComponentOption => {
  const values = plot.series.flatMap((series) => series.values);
  const longest = Math.max(0, ...values.map((value) => format.measure(value, chart).length));
  return {
    left: lyingLabelWidth({ plot, width }) + 12,
    right: longest * 7 + 12,
    top: 0,
    bottom: 8,
    outerBoundsMode: 'none',
  };
};

/** As wide as the longest name, but at most a third of the card. */
const lyingLabelWidth = ({ plot, width }: Pick<Drawing, 'plot' | 'width'>): number =>
  Math.round(Math.min(220, Math.max(72, width * 0.34), longestLabel(plot) * 7 + 8));

const longestLabel = ({ points }: Plot): number => Math.max(0, ...points.map((point) => point.label.length));

const lyingAxes = ({ plot, theme, width }: Drawing): Axes => ({
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
      width: lyingLabelWidth({ plot, width }),
      overflow: 'truncate',
      ellipsis: '…',
    },
  },
});

const standingAxes = (drawing: Drawing): Axes => ({
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

/** Lines may leave zero out of sight where their values lie far from it; bars never: their length is the value. */
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
  // Names and dates speak for themselves; a bare number needs to be told of what.
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
  const isLying = isLyingBars(drawing);
  const values = plot.series[index]?.values ?? [];
  return {
    type: 'bar',
    name: plot.series[index]?.name ?? '',
    data: values.map((value) => ({
      value: value ?? '-',
      itemStyle: { borderRadius: corners(isLying, value ?? 0) },
    })),
    barMaxWidth: isLying ? 16 : 44,
    barCategoryGap: isLying ? '34%' : '22%',
    label: {
      show: isLying,
      position: 'right',
      color: theme.muted,
      fontSize: 11,
      formatter: (item) => format.measure(values[item.dataIndex] ?? null, chart),
    },
  };
};

/** Rounded at the end that is away from zero. */
const corners = (isLying: boolean, value: number): number[] => {
  if (isLying) return value < 0 ? [3, 0, 0, 3] : [0, 3, 3, 0];
  return value < 0 ? [0, 0, 3, 3] : [3, 3, 0, 0];
};
