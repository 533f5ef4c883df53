/** Lines, areas and bars on two axes: line, stepped, area, time series, bar, row, stack, combo. Pure. */
import type { ChartSeries } from '../../../model/dashboard/chart.js';
import { isOthers } from '../../base/others.js';
import {
  type Axis,
  areBarsHorizontal,
  axisHint,
  barsHeight,
  boundedBars,
  categoryAxis,
  grid,
  isFarFromZero,
  nameAxis,
  nameWidth,
  periodsOf,
  pointer,
  pointerLayer,
  pointingOf,
  slider,
  timeAxis,
  valueAxis,
} from '../model/axes.js';
import { isTarget } from '../model/columns.js';
import {
  colourAt,
  commonOption,
  type Draw,
  type Drawing,
  dashAt,
  hatchAt,
  needsPattern,
  type Picture,
  textWidth,
} from '../model/drawing.js';
import { type Line, lineSentences, lineSeries, linesOf, lineTips } from '../model/lines.js';
import { forReader, isRightToLeft } from '../model/mirror.js';
import {
  besideLayout,
  currencyPanels,
  inPanel,
  otherSize,
  panelLayout,
  panelNotes,
  panelPointer,
  panelsHeight,
  panelsOf,
  sizeOf,
  titleHeight,
} from '../model/panels.js';
import { areMixed, numbersAt, type Plot, plotOf } from '../model/plot.js';
import type { Slot } from '../model/slots.js';
import { inSentences, plotSummary } from '../model/summary.js';

/** `target`: a reference line along a measure. */
type Kind = ChartSeries['type'] | 'target';

/** How one series is drawn, and on which value axis: 0 is left, 1 is right. */
type Style = { readonly kind: Kind; readonly axis: 0 | 1 };

type Planned = {
  readonly drawing: Drawing;
  readonly plot: Plot;
  readonly styles: readonly Style[];
  readonly lines: readonly Line[];
  readonly isHorizontal: boolean;
  readonly isStacked: boolean;
  /** The panel of each series; null if all are drawn in one. */
  readonly panels: readonly number[] | null;
};

const kinds: Readonly<Partial<Record<Drawing['chart']['type'], Kind>>> = {
  line: 'line',
  timeSeries: 'line',
  stepped: 'stepped',
  area: 'area',
  bar: 'bar',
  row: 'bar',
  stack: 'bar',
};

export const draw: Draw = (drawing) => {
  const { chart } = drawing;
  const paints = { slots: drawing.slots, palette: drawing.theme.series };
  const whole = plotOf(drawing.answer, chart, drawing.format, drawing.choice, paints);
  if (whole.series.length === 0) return drawing.format.text('This chart needs a measure.');
  const isHorizontal = areBarsHorizontal(whole, drawing);
  const isStacked =
    !areMixed(whole) &&
    (drawing.chart.type === 'stack' || (drawing.chart.type === 'area' && isSplit(whole) && !hasNegative(whole)));
  const plot = isHorizontal ? boundedBars(whole, isStacked, drawing.format) : whole;
  const styles = isHorizontal || isStacked ? oneAxis(drawing, plot) : stylesOf(drawing, plot);
  const ofSizes = (): readonly number[] | null => (isSplit(plot) ? null : panelsOf(chart, plot));
  const panels = isStacked ? null : (currencyPanels(plot) ?? (isHorizontal ? null : ofSizes()));
  const axisOf = (measure: string) => {
    const at = plot.series.findIndex((each) => each.measure === measure);
    return panels?.[at] ?? styles[at]?.axis ?? 0;
  };
  const lines = linesOf(drawing, plot, axisOf, isStacked);
  return pictureOf({ drawing, plot, styles, lines, isHorizontal, isStacked, panels });
};

/** Areas of negative values would lie across those of others, so they are not stacked. */
const hasNegative = ({ series }: Plot): boolean =>
  series.some(({ values }) => values.some((value) => (value ?? 0) < 0));

/** Whether the series are parts of one measure. */
const isSplit = ({ series }: Plot): boolean =>
  series.length > 1 && new Set(series.map((each) => each.measure)).size === 1;

const oneAxis = ({ chart }: Drawing, plot: Plot): readonly Style[] =>
  plot.series.map(({ measure }) => ({
    kind: isTarget(chart, measure) ? 'target' : (kinds[chart.type] ?? 'bar'),
    axis: 0,
  }));

/** The metric's own series settings win. Measures of a much smaller size than the largest get the right axis. */
const stylesOf = ({ chart }: Drawing, plot: Plot): readonly Style[] => {
  const sizes = plot.series.map(({ values }) => sizeOf(values));
  const largest = Math.max(...sizes);
  const isApart = (at: number) => !isSplit(plot) && (sizes[at] ?? 0) > 0 && largest / (sizes[at] ?? 1) >= otherSize;
  return plot.series.map(({ measure }, at) => {
    const own = chart.series?.find((each) => each.measure === measure);
    if (isTarget(chart, measure)) return { kind: 'target', axis: 0 };
    const plain = kinds[chart.type] ?? (at === 0 || isSplit(plot) ? 'bar' : 'line');
    const axis = own?.axis === undefined ? isApart(at) : own.axis === 'right';
    return { kind: own?.type ?? plain, axis: axis ? 1 : 0 };
  });
};

const pictureOf = (planned: Planned): Picture => {
  const { drawing, plot, lines, isHorizontal, panels } = planned;
  const { chart, format } = drawing;
  const drawn = [
    ...plot.series.map((_, at) => seriesAt(planned, at)),
    ...lineSeries(drawing, plot, lines, isHorizontal),
  ];
  return {
    option: forReader(drawing, {
      ...commonOption(drawing),
      ...(isHorizontal ? horizontal(planned) : vertical(planned)),
      tooltip: pointer(drawing, plot.axis === 'time'),
      ...pointerOf(planned),
      series: panels === null ? drawn : drawn.map(inPanel),
    }),
    pointing: pointingOf(plot, isHorizontal),
    tip: ({ index }) => ({
      title: plot.points[index]?.label ?? '',
      lines: [
        ...plot.series.map((series, at) => ({
          name: series.name,
          colour: colourOf(planned, at, series.slot),
          value: format.measure(series.values[index] ?? null, numbersAt(chart, series, plot.points[index])),
        })),
        ...lineTips(lines, format),
      ],
    }),
    valueAt: ({ index }) => plot.points[index]?.value,
    height: heightOf(planned),
    legend: legendOf(planned),
    offered: plot.offered,
    periods: periodsOf(plot, chart),
    summary: [plotSummary(drawing, plot), inSentences(lineSentences(lines, format), format)].join(' ').trimEnd(),
    notes: [...plot.notes, ...panelNotes(panels, format), ...crowdNotes(planned)],
  };
};

const heightOf = ({ plot, isHorizontal, isStacked, panels }: Planned): number | null => {
  if (panels === null) return isHorizontal ? barsHeight(plot, isStacked) : null;
  return isHorizontal ? barsHeight(plot, true) + titleHeight : panelsHeight(panels);
};

const pointerOf = ({ plot, panels, isHorizontal }: Planned): Axis =>
  panels !== null && !isHorizontal ? panelPointer(plot) : plot.axis === 'time' ? pointerLayer : {};

/** Points for each CSS pixel from which a line is drawn by the least and the greatest value of each pixel. */
const crowd = 2;

const isCrowded = ({ drawing, plot, styles }: Planned): boolean =>
  plot.points.length > crowd * drawing.width && styles.every(({ kind }) => kind !== 'bar' && kind !== 'scatter');

/** ECharts draws the least and greatest of each pixel of a line without gaps. Beside gaps, it leaves out values. */
const isSampled = (planned: Planned, values: readonly (number | null)[]): boolean =>
  isCrowded(planned) && !values.includes(null);

const crowdNotes = (planned: Planned): readonly string[] => {
  const { drawing, plot } = planned;
  if (!plot.series.some(({ values }) => isSampled(planned, values)) || drawing.answer.points !== undefined) return [];
  // The note of a truncated answer says how many rows it has.
  if (drawing.answer.isTruncated === true) {
    return [drawing.format.text('Each pixel shows the least and the greatest of its points')];
  }
  return [
    drawing.format.text('{n} points: each pixel shows the least and the greatest of its own', {
      n: plot.points.length,
    }),
  ];
};

const colourOf = ({ drawing: { theme }, styles }: Planned, at: number, slot: Slot): string =>
  styles[at]?.kind === 'target' ? theme.text : colourAt(theme, slot);

/** All series, hidden ones too. With two axes, an entry says which one is its own. */
const legendOf = (planned: Planned): Picture['legend'] => {
  const { plot, drawing, styles, panels } = planned;
  const { theme, format } = drawing;
  if (plot.all.length < 2) return [];
  const hasRight = panels === null && styles.some(({ axis }) => axis === 1);
  return plot.all.map(({ key, name, slot }) => {
    const at = plot.series.findIndex((each) => each.key === key);
    const side =
      hasRight && at >= 0
        ? (styles[at]?.axis === 1) !== isRightToLeft(format)
          ? format.text('(right)')
          : format.text('(left)')
        : undefined;
    return {
      key,
      name,
      ...(side === undefined ? {} : { note: side }),
      colour: colourOf(planned, at, slot),
      hasPattern: needsPattern(theme, slot) || styles[at]?.kind === 'target',
      isHidden: at < 0,
    };
  });
};

/** Room for the longest number beside a bar. */
const longestValue = ({ format, chart }: Drawing, { points }: Plot, series: Plot['series']): number =>
  series
    .flatMap((each) =>
      each.values.map((value, at) => textWidth(format.measure(value, numbersAt(chart, each, points[at])))),
    )
    .reduce((a, b) => Math.max(a, b), 0);

const horizontal = ({ drawing, plot, lines, isStacked, panels }: Planned) => {
  const { width } = drawing;
  if (panels !== null) {
    const values = plot.series.map((each) => longestValue(drawing, plot, [each]));
    return besideLayout(drawing, { plot, values, names: nameWidth(plot, width), axis: nameAxis(plot, drawing) });
  }
  const longest = isStacked ? 0 : longestValue(drawing, plot, plot.series);
  return {
    grid: {
      left: nameWidth(plot, width) + 12 + (hasNegative(plot) ? longest : 0),
      right: longest + 14,
      top: lines.length > 0 ? 18 : 0,
      bottom: isStacked ? 22 : 8,
      outerBoundsMode: 'none',
    },
    xAxis: isStacked
      ? valueAxis(drawing, { splitNumber: Math.max(2, Math.round(width / 140)) })
      : { type: 'value', show: false },
    yAxis: nameAxis(plot, drawing),
  };
};

const vertical = (planned: Planned) => {
  const { drawing, plot, styles, isStacked, panels } = planned;
  const placed = panels ?? styles.map(({ axis }) => axis);
  const axes: Axis[] = [...new Set([0, ...placed])].toSorted().map((place) => {
    const drawn = plot.series.filter((_, at) => placed[at] === place);
    const isLines = styles.every(({ kind }, at) => placed[at] !== place || kind !== 'bar') && !isStacked;
    const hint = axisHint(drawing.chart, { ...plot, series: drawn });
    const unit = hint.unit === undefined ? {} : { name: hint.unit };
    const line = place > 0 && panels === null ? { splitLine: { show: false } } : {};
    const scale = isLines && drawing.chart.type !== 'area' && isFarFromZero(drawn);
    return valueAxis(drawing, { hint, ...unit, ...line, scale });
  });
  const strip = hasSlider(drawing, plot) ? slider(drawing) : null;
  const below = plot.axis === 'time' ? timeAxis(drawing, plot) : categoryAxis(plot, drawing);
  if (panels !== null) return panelLayout(drawing, { plot, panels, axes, below, strip });
  return {
    grid: grid({
      ...(axes.some(({ name }) => name !== undefined) ? { top: 28 } : {}),
      ...(strip === null ? {} : { bottom: 40 }),
    }),
    xAxis: below,
    yAxis: axes,
    ...(strip === null ? {} : { dataZoom: [strip] }),
  };
};

const hasSlider = ({ chart, height }: Drawing, { points }: Plot): boolean =>
  chart.type === 'timeSeries' && points.length > 12 && height > 170;

const seriesAt = (planned: Planned, at: number): Axis => {
  const kind = planned.styles[at]?.kind ?? 'bar';
  return {
    name: planned.plot.series[at]?.name ?? '',
    color: colourOf(planned, at, planned.plot.series[at]?.slot ?? null),
    yAxisIndex: planned.panels?.[at] ?? planned.styles[at]?.axis ?? 0,
    ...(planned.isStacked && kind !== 'target' ? { stack: 'all' } : {}),
    ...(kind === 'bar' ? bar(planned, at) : kind === 'scatter' ? dots(planned, at) : line(planned, at, kind)),
  };
};

const dots = ({ plot }: Planned, at: number): Axis => ({
  type: 'scatter',
  symbolSize: 8,
  data: (plot.series[at]?.values ?? []).map((value, index) => placed(plot, index, value)),
});

const placed = (plot: Plot, index: number, value: number | null) =>
  plot.axis === 'time' ? [plot.points[index]?.time ?? 0, value ?? '-'] : (value ?? '-');

const line = (planned: Planned, at: number, kind: Kind): Axis => {
  const { plot, drawing, isStacked } = planned;
  const { theme } = drawing;
  const values = plot.series[at]?.values ?? [];
  const isAlone = (index: number) =>
    values[index] !== null && (values[index - 1] ?? null) === null && (values[index + 1] ?? null) === null;
  const slot = plot.series[at]?.slot ?? null;
  const isFilled = kind === 'area' || (kind === 'line' && plot.series.length === 1 && !isFarFromZero(plot.series));
  return {
    type: 'line',
    ...(isSampled(planned, values)
      ? { data: values.map((value, index) => placed(plot, index, value)), sampling: 'minmax', symbol: 'none' }
      : {
          data: values.map((value, index) => ({
            value: placed(plot, index, value),
            // A value between two gaps has no line, so it needs a dot.
            symbol: isAlone(index) ? 'circle' : 'none',
          })),
          showAllSymbol: true,
        }),
    ...(kind === 'stepped' ? { step: 'end' } : {}),
    symbolSize: isCrowded(planned) ? 3 : 7,
    showSymbol: true,
    connectNulls: false,
    // A thin line keeps close peaks apart.
    lineStyle: {
      ...(isCrowded(planned) ? { width: 1, join: 'bevel' } : { width: 2, join: 'round' }),
      type: kind === 'target' ? [5, 4] : dashAt(theme, slot),
    },
    emphasis: { disabled: true },
    ...(isFilled ? { areaStyle: { opacity: isStacked ? 0.75 : kind === 'area' ? 0.25 : 0.12 } } : {}),
    z: 3,
  };
};

const bar = (planned: Planned, at: number): Axis => {
  const { plot, drawing, isHorizontal, isStacked } = planned;
  const { theme, format, chart } = drawing;
  const series = plot.series[at];
  const { values = [], slot = null } = series ?? {};
  const edge = isStacked ? { borderColor: theme.surface, borderWidth: 1 } : {};
  return {
    type: 'bar',
    data: values.map((value, index) => ({
      value: placed(plot, index, value),
      itemStyle: {
        ...edge,
        ...(isOthers(plot.points[index]?.value) ? { color: colourAt(theme, null) } : {}),
        ...(isStacked ? {} : { borderRadius: corners(isHorizontal, value ?? 0) }),
      },
      ...(isHorizontal && (value ?? 0) < 0 ? { label: { position: 'left' } } : {}),
    })),
    itemStyle: hatchAt(theme, slot),
    barMaxWidth: isHorizontal ? 16 : 44,
    barCategoryGap: isHorizontal ? '34%' : '22%',
    emphasis: { disabled: true },
    label: {
      show: isHorizontal && !isStacked,
      position: 'right',
      color: theme.muted,
      fontSize: 11,
      formatter: ({ dataIndex }: { dataIndex: number }) =>
        series === undefined
          ? ''
          : format.measure(values[dataIndex] ?? null, numbersAt(chart, series, plot.points[dataIndex])),
    },
  };
};

/** Rounds the corners at the end away from zero. */
const corners = (isHorizontal: boolean, value: number): number[] => {
  if (isHorizontal) return value < 0 ? [3, 0, 0, 3] : [0, 3, 3, 0];
  return value < 0 ? [0, 0, 3, 3] : [3, 3, 0, 0];
};
