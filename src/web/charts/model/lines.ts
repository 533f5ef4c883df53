/** Reference lines: a target, a limit or an average across a chart with axes. Pure. */
import type { ReferenceLine } from '../../../model/dashboard/chart.js';
import type { Drawing, TipLine } from './drawing.js';
import { areMixed, type Plot, sharedNumbers } from './plot.js';

/** A line at one value. `text` is its name with the value. `axis`: its value axis. */
export type Line = {
  readonly name: string;
  readonly value: number;
  readonly text: string;
  readonly number: string;
  readonly axis: number;
};

/** `axisOf` returns the value axis of a measure. A line whose measure is not shown is left out. */
export const linesOf = (
  { chart, format }: Pick<Drawing, 'chart' | 'format'>,
  plot: Plot,
  axisOf: (measure: string) => number,
  isStacked = false,
): readonly Line[] =>
  (chart.lines ?? []).flatMap((line): readonly Line[] => {
    const value = lineValue(line, plot, isStacked);
    if (value === null) return [];
    const measure = line.kind === 'value' ? (plot.series[0]?.measure ?? '') : line.measure;
    const name = line.name ?? (line.kind === 'average' ? format.text('Average') : '');
    const number = format.measure(value, sharedNumbers(chart, measure, plot));
    return [{ name, value, number, text: name === '' ? number : `${name} ${number}`, axis: axisOf(measure) }];
  });

const lineValue = (line: ReferenceLine, { series, points }: Plot, isStacked: boolean): number | null => {
  if (line.kind === 'value') return line.value;
  if (line.kind === 'measure') return null;
  const drawn = series.filter(({ measure }) => measure === line.measure);
  if (areMixed({ points, series: drawn })) return null;
  const values = isStacked
    ? points.map((_, at) => drawn.reduce((sum, each) => sum + (each.values[at] ?? 0), 0))
    : drawn.flatMap((each) => each.values).filter((value) => value !== null);
  return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;
};

/** Lines of a tooltip. */
export const lineTips = (lines: readonly Line[], { text }: Drawing['format']): readonly TipLine[] =>
  lines.map(({ name, number }) => ({ name: name === '' ? text('Line') : name, colour: null, value: number }));

/** Sentences for readers who do not see the lines. */
export const lineSentences = (lines: readonly Line[], format: Drawing['format']): readonly string[] =>
  lines.length === 0 ? [] : [format.text('Lines at: {list}', { list: lines.map(({ text }) => text).join(', ') })];

/**
 * One series for each line. It has one invisible point, so that the axis reaches the line, which ECharts leaves out of
 * its reckoning.
 */
export const lineSeries = (
  { theme }: Pick<Drawing, 'theme'>,
  plot: Plot,
  lines: readonly Line[],
  isHorizontal = false,
): readonly Readonly<Record<string, unknown>>[] =>
  lines.map(({ value, text, axis }, at) => ({
    type: 'line',
    data: [isHorizontal ? [value, 0] : [plot.axis === 'time' ? (plot.points[0]?.time ?? 0) : 0, value]],
    ...(isHorizontal ? {} : { yAxisIndex: axis }),
    symbol: 'none',
    silent: true,
    lineStyle: { opacity: 0 },
    z: 4,
    markLine: {
      symbol: 'none',
      silent: true,
      animation: false,
      lineStyle: { color: theme.text, type: [5, 4], width: 1.5, opacity: 0.8 },
      label: {
        formatter: () => text,
        // At alternate ends, so that the texts of two close lines do not meet.
        position: isHorizontal ? 'start' : (at + axis) % 2 === 1 ? 'insideEndTop' : 'insideStartTop',
        ...(isHorizontal ? { rotate: 0, distance: 4 } : {}),
        color: theme.text,
        fontSize: 11,
        lineHeight: 14,
        fontFamily: theme.fontFamily,
        textBorderColor: theme.surface,
        textBorderWidth: 3,
      },
      data: [isHorizontal ? { xAxis: value } : { yAxis: value }],
    },
  }));
