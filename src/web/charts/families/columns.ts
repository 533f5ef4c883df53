/** Columns with a meaning of their own: histogram (ranges of numbers) and waterfall (steps to a total). Pure. */
import { numberOf, titleOf } from '../../base/format.js';
import { type Axis, categoryAxis, grid, periodsOf, pointer, pointingOf, valueAxis } from '../model/axes.js';
import { asMeasure, columnsOf, overlapOf } from '../model/columns.js';
import {
  colourAt,
  commonOption,
  type Draw,
  type Drawing,
  hatchAt,
  needsPattern,
  type Picture,
} from '../model/drawing.js';
import { forReader } from '../model/mirror.js';
import { numbersAt, type Plot, plotOf } from '../model/plot.js';
import { extremes, inSentences, plotSummary, say } from '../model/summary.js';

export const draw: Draw = (drawing) => {
  const paints = { slots: drawing.slots, palette: drawing.theme.series };
  const plot = plotOf(drawing.answer, drawing.chart, drawing.format, drawing.choice, paints);
  if (plot.series.length === 0 || plot.dimension === null) {
    return drawing.format.text('This chart needs a dimension and a measure.');
  }
  const chart = asMeasure(drawing.chart, plot.series[0]?.measure ?? '');
  const overlap =
    chart.type === 'waterfall' ? overlapOf(columnsOf(drawing.answer, chart).measures[0], drawing.format) : null;
  if (overlap !== null) return inSentences([overlap], drawing.format);
  return chart.type === 'waterfall' ? waterfall({ ...drawing, chart }, plot) : histogram({ ...drawing, chart }, plot);
};

/** Without the last digits, which a sum of fractions has too many of. */
const rounded = (sum: number): number => Number(sum.toPrecision(12));

/** Labels as ranges, if the dimension's numbers are the lower ends of buckets of one width. */
const ranges = (plot: Plot, { format }: Drawing): readonly string[] => {
  const lows = plot.points.map(({ value }) => numberOf(value));
  const width = Math.min(...lows.slice(1).map((low, at) => (low ?? Number.NaN) - (lows[at] ?? Number.NaN)));
  if (!(width > 0) || !Number.isFinite(width)) return plot.points.map(({ label }) => label);
  return lows.map((low, at) =>
    low === null
      ? (plot.points[at]?.label ?? '')
      : `${format.dimension(low, 'number')}–${format.dimension(rounded(low + width), 'number')}`,
  );
};

const histogram = (drawing: Drawing, given: Plot): Picture => {
  const labels = ranges(given, drawing);
  const plot = { ...given, points: given.points.map((point, at) => ({ ...point, label: labels[at] ?? point.label })) };
  const { theme } = drawing;
  return {
    ...base(drawing, plot),
    option: forReader(drawing, {
      ...commonOption(drawing),
      grid: grid({ bottom: 6, ...(drawing.chart.unit === undefined ? {} : { top: 28 }) }),
      xAxis: { ...categoryAxis(plot, drawing), name: titleOf(plot.dimension ?? { name: '' }) },
      yAxis: valueAxis(drawing, drawing.chart.unit === undefined ? {} : { name: drawing.chart.unit }),
      tooltip: pointer(drawing, false),
      series: plot.series.map(({ name, slot, values }) => ({
        type: 'bar',
        name,
        color: colourAt(theme, slot),
        barCategoryGap: plot.series.length > 1 ? '10%' : '3%',
        itemStyle: { borderRadius: [2, 2, 0, 0], ...hatchAt(theme, slot) },
        emphasis: { disabled: true },
        data: values.map((value) => value ?? '-'),
      })),
    }),
    summary: plotSummary(drawing, plot),
  };
};

const base = (drawing: Drawing, plot: Plot): Omit<Picture, 'option' | 'summary'> => {
  const { theme, chart, format } = drawing;
  return {
    pointing: pointingOf(plot, false),
    tip: ({ index }) => ({
      title: plot.points[index]?.label ?? '',
      lines: plot.series.map((series) => ({
        name: series.name,
        colour: colourAt(theme, series.slot),
        value: format.measure(series.values[index] ?? null, numbersAt(chart, series, plot.points[index])),
      })),
    }),
    valueAt: ({ index }) => plot.points[index]?.value,
    height: null,
    legend:
      plot.all.length < 2
        ? []
        : plot.all.map(({ key, name, slot }) => ({
            ...{ key, name },
            colour: colourAt(theme, slot),
            hasPattern: needsPattern(theme, slot),
            isHidden: !plot.series.some((each) => each.key === key),
          })),
    offered: plot.offered,
    periods: periodsOf(plot, chart),
    notes: plot.notes,
  };
};

type Step = { readonly label: string; readonly value: number; readonly from: number; readonly to: number };

/** Steps from zero to the total, which is the last column. */
const stepsOf = (plot: Plot, total: string): readonly Step[] => {
  let sum = 0;
  const steps = plot.points.map(({ label }, at) => {
    const value = plot.series[0]?.values[at] ?? 0;
    const from = sum;
    sum += value;
    return { label, value, from, to: sum };
  });
  return [...steps, { label: total, value: sum, from: 0, to: sum }];
};

const waterfall = (drawing: Drawing, given: Plot): Picture => {
  const { theme, format, chart, width, name } = drawing;
  const { text } = format;
  const steps = stepsOf(given, text('Total'));
  const points = [...given.points, { value: null, label: text('Total'), time: null }];
  const plot: Plot = { ...given, points };
  const colourOf = (step: Step, at: number) =>
    at === steps.length - 1 ? theme.muted : colourAt(theme, step.value < 0 ? 1 : 0);
  const isLabelled = width / steps.length > 46;
  const total = steps.at(-1)?.value ?? 0;
  return {
    ...base(drawing, plot),
    legend: [
      { key: 'increase', name: text('Increase'), colour: colourAt(theme, 0), hasPattern: false },
      ...(steps.some(({ value }) => value < 0)
        ? [{ key: 'decrease', name: text('Decrease'), colour: colourAt(theme, 1), hasPattern: false }]
        : []),
      { key: 'total', name: text('Total'), colour: theme.muted, hasPattern: false },
    ],
    tip: ({ index }) => {
      const step = steps[index];
      if (step === undefined) return null;
      const line = (label: string, value: number) => ({
        name: label,
        colour: null,
        value: format.measure(value, chart),
      });
      const change = { ...line(given.series[0]?.name ?? name, step.value), colour: colourOf(step, index) };
      return {
        title: step.label,
        lines: index === steps.length - 1 ? [change] : [change, line(text('Up to here'), step.to)],
      };
    },
    valueAt: ({ index }) => given.points[index]?.value,
    option: forReader(drawing, {
      ...commonOption(drawing),
      grid: grid({ top: isLabelled ? 24 : 14, ...(chart.unit === undefined ? {} : { top: 30 }) }),
      xAxis: { ...categoryAxis(plot, drawing), name: '' },
      yAxis: valueAxis(drawing, chart.unit === undefined ? {} : { name: chart.unit }),
      tooltip: pointer(drawing, false),
      series: [changes(drawing, steps, colourOf, isLabelled)],
    }),
    summary: say(
      drawing,
      text('{n} steps to a total of {total}', { n: steps.length - 1, total: format.measure(total, chart) }),
      extremes(steps.slice(0, -1), chart, format),
    ),
  };
};

const changes = (
  { theme, format, chart }: Drawing,
  steps: readonly Step[],
  colourOf: (step: Step, at: number) => string,
  isLabelled: boolean,
): Axis => ({
  type: 'custom',
  encode: { x: 0, y: [1, 2] },
  z: 3,
  data: steps.map(({ from, to }, at) => [at, from, to]),
  renderItem: (_: unknown, api: CustomApi) => {
    const at = api.value(0);
    const step = steps[at];
    if (step === undefined) return null;
    const [x, top] = api.coord([at, Math.max(step.from, step.to)]);
    const [, bottom] = api.coord([at, Math.min(step.from, step.to)]);
    const width = Math.min(44, api.size([1, 0])[0] * 0.72);
    const bar = {
      type: 'rect',
      shape: { x: x - width / 2, y: top, width, height: Math.max(1, bottom - top), r: 2 },
      style: { fill: colourOf(step, at) },
    };
    const label = {
      type: 'text',
      style: {
        text: format.brief(step.value, chart),
        x,
        y: top - 4,
        align: 'center',
        verticalAlign: 'bottom',
        fill: theme.muted,
        fontSize: 11,
        fontFamily: theme.fontFamily,
      },
    };
    return { type: 'group', children: isLabelled ? [bar, label] : [bar] };
  },
});

/** What ECharts gives a custom series to draw with. */
type CustomApi = {
  readonly value: (dimension: number) => number;
  readonly coord: (at: [number, number]) => [number, number];
  readonly size: (span: [number, number]) => [number, number];
};
