/** One value on a scale, with an optional target. Pure. */
import { numberOf, titleOf } from '../../base/format.js';
import { asMeasure, columnsOf } from '../model/columns.js';
import { colourAt, commonOption, type Draw, type Drawing } from '../model/drawing.js';
import { isRightToLeft } from '../model/mirror.js';
import { say } from '../model/summary.js';
import { targetText } from '../model/target.js';

type Range = { readonly min: number; readonly max: number; readonly target?: number | undefined };

/** The metric's range; otherwise from zero to the next round number above the value. A share ends at 100 %. */
const rangeOf = ({ chart }: Drawing, value: number): Range => {
  if (chart.range !== undefined) return chart.range;
  if (chart.format === 'percent' && value >= 0 && value <= 1) return { min: 0, max: 1 };
  const size = Math.abs(value) === 0 ? 1 : Math.abs(value);
  const power = 10 ** Math.floor(Math.log10(size));
  const top = [1, 2, 5, 10].map((step) => step * power).find((step) => step >= size) ?? size;
  return value < 0 ? { min: -top, max: 0 } : { min: 0, max: top };
};

export const draw: Draw = (drawing) => {
  const { answer, format, theme } = drawing;
  const measure = columnsOf(answer, drawing.chart).measures[0];
  const value = measure === undefined ? null : numberOf(answer.rows[0]?.[measure.name]);
  if (measure === undefined || value === null) return format.text('A gauge needs a value.');
  const chart = asMeasure(drawing.chart, measure.name);
  const range = rangeOf({ ...drawing, chart }, value);
  const text = format.measure(value, chart);
  const target = range.target === undefined ? [] : [targetText(value, range.target, chart, chart, format)];
  const line = (name: string, shown: number, colour: string | null) => ({
    name,
    colour,
    value: format.measure(shown, chart),
  });
  return {
    option: optionOf({ ...drawing, chart }, value, range),
    pointing: { by: 'item', marks: () => [{ series: 0, index: 0 }] },
    tip: () => ({
      title: titleOf(measure),
      lines: [
        line(format.text('Value'), value, colourAt(theme, 0)),
        ...(range.target === undefined ? [] : [line(format.text('Target'), range.target, theme.text)]),
      ],
    }),
    valueAt: () => undefined,
    height: null,
    legend: [],
    summary: say(
      drawing,
      format.text('{value} on a scale from {min} to {max}', {
        value: text,
        min: format.measure(range.min, chart),
        max: format.measure(range.max, chart),
      }),
      target,
    ),
    notes: [
      ...target,
      ...(value < range.min || value > range.max ? [format.text('The value is beyond the ends of the scale')] : []),
    ],
  };
};

/** The arc's size, and its place in the middle of the card. */
const arcOf = ({ width, height, format }: Drawing) => {
  const radius = Math.max(30, Math.min(width / 2 - 12, (height - 16) / 1.36));
  const thick = Math.max(8, Math.min(22, radius * 0.18));
  const center = [width / 2, (height - 1.34 * radius) / 2 + radius];
  const way = isRightToLeft(format)
    ? { startAngle: -20, endAngle: 200, clockwise: false }
    : { startAngle: 200, endAngle: -20 };
  return { radius, thick, place: { type: 'gauge', ...way, radius, center } };
};

const bare = {
  axisTick: { show: false },
  splitLine: { show: false },
  pointer: { show: false },
  title: { show: false },
};

const optionOf = (drawing: Drawing, value: number, range: Range) => ({
  ...commonOption(drawing),
  tooltip: { show: false },
  series: [
    arc(drawing, value, range),
    ...(range.target === undefined ? [] : [targetMark(drawing, range, range.target)]),
  ],
});

const arc = (drawing: Drawing, value: number, { min, max }: Range) => {
  const { format, chart, theme } = drawing;
  const { radius, thick, place } = arcOf(drawing);
  const isEnd = (at: number) => Math.min(Math.abs(at - min), Math.abs(at - max)) < 1e-9 * Math.abs(max - min);
  return {
    ...place,
    ...bare,
    min,
    max,
    splitNumber: 1,
    axisLine: { lineStyle: { width: thick, color: [[1, theme.grid]] } },
    progress: { show: true, width: thick, itemStyle: { color: colourAt(theme, 0) } },
    axisLabel: {
      color: theme.muted,
      fontSize: 11,
      distance: thick - 4,
      formatter: (at: number) => (isEnd(at) ? format.brief(at, chart) : ''),
    },
    detail: {
      valueAnimation: false,
      offsetCenter: [0, '-6%'],
      color: theme.text,
      fontSize: Math.max(16, Math.min(40, radius * 0.28)),
      lineHeight: Math.max(20, Math.min(48, radius * 0.34)),
      fontWeight: 600,
      fontFamily: theme.fontFamily,
      formatter: () => format.measure(value, chart),
    },
    data: [{ value: Math.min(max, Math.max(min, value)) }],
  };
};

/** A short line across the arc. */
const targetMark = (drawing: Drawing, { min, max }: Range, target: number) => {
  const { radius, thick, place } = arcOf(drawing);
  return {
    ...place,
    ...bare,
    min,
    max,
    // Above the arc.
    z: 4,
    silent: true,
    axisLine: { show: false },
    axisLabel: { show: false },
    detail: { show: false },
    pointer: {
      show: true,
      icon: 'rect',
      width: 3,
      length: thick + 6,
      offsetCenter: [0, thick + 3 - radius],
      itemStyle: { color: drawing.theme.text },
    },
    data: [{ value: Math.min(max, Math.max(min, target)) }],
  };
};
