/** Points by two measures: scatter, and bubble, where a third measure is the size. Pure. */
import type { AnswerColumn } from '../../../model/query/engine.js';
import { numberOf, numbersOf, titleOf } from '../../base/format.js';
import { grid, valueAxis } from '../model/axes.js';
import { columnsOf, labelOf, measureText, type Row } from '../model/columns.js';
import {
  colourAt,
  commonOption,
  type Draw,
  type Drawing,
  needsPattern,
  type Picture,
  slotsOf,
  symbolAt,
  textWidth,
} from '../model/drawing.js';
import { forReader } from '../model/mirror.js';
import { maxSeries } from '../model/plot.js';
import { type Slot, slotOf, valueKey } from '../model/slots.js';
import { say } from '../model/summary.js';

type Measures = { readonly x: AnswerColumn; readonly y: AnswerColumn; readonly size: AnswerColumn | null };
type Dot = { readonly row: Row; readonly x: number; readonly y: number; readonly size: number };
/** `slot` chooses the colour. */
type Group = {
  readonly key: string;
  readonly name: string;
  readonly dots: readonly Dot[];
  readonly slot: Slot;
};

/** With one measure, a dimension of numbers is the x axis. */
const measuresOf = (drawing: Drawing): Measures | null => {
  const { dimensions, measures } = columnsOf(drawing.answer, drawing.chart);
  const numeric = dimensions.filter(({ dataType }) => dataType === 'number');
  const [x, y, size = null] = measures.length === 1 ? [...numeric.slice(0, 1), ...measures] : measures;
  return x === undefined || y === undefined ? null : { x, y, size: drawing.chart.type === 'bubble' ? size : null };
};

/** A second dimension with few values colours the points. */
const groupsOf = (drawing: Drawing, { x, y, size }: Measures): readonly Group[] => {
  const { answer, chart, format } = drawing;
  const colour = columnsOf(answer, chart).dimensions[1];
  const groups = new Map<string, Dot[]>();
  const values = new Set(colour === undefined ? [] : answer.rows.map((row) => row[colour.name]));
  const isColoured = colour !== undefined && values.size <= maxSeries;
  for (const row of answer.rows) {
    const [left, up] = [numberOf(row[x.name]), numberOf(row[y.name])];
    if (left === null || up === null) continue;
    const key = isColoured ? valueKey(row[colour.name]) : '';
    const dots = groups.get(key) ?? [];
    dots.push({ row, x: left, y: up, size: size === null ? 0 : Math.max(0, numberOf(row[size.name]) ?? 0) });
    groups.set(key, dots);
  }
  return [...groups].map(([key, dots], at) => {
    const value = isColoured ? (dots[0]?.row[colour.name] ?? null) : null;
    return {
      ...{ key, dots },
      name: isColoured ? labelOf(value, colour, chart, format) : '',
      slot: isColoured ? slotOf(slotsOf(drawing), colour, value, drawing.theme.series) : at,
    };
  });
};

export const draw: Draw = (drawing) => {
  const measures = measuresOf(drawing);
  if (measures === null) {
    return drawing.format.text('A scatter chart needs two measures, or a measure and a dimension of numbers.');
  }
  if (drawing.chart.type === 'bubble' && measures.size === null)
    return drawing.format.text('A bubble chart needs three measures: x, y and size.');
  const all = groupsOf(drawing, measures);
  const shown = all.filter(({ key }) => !drawing.choice.hidden.has(key));
  return pictureOf(drawing, measures, all, shown.length === 0 ? all : shown);
};

const pictureOf = (drawing: Drawing, measures: Measures, all: readonly Group[], groups: readonly Group[]): Picture => {
  const { answer, chart, format, theme } = drawing;
  const { dimensions } = columnsOf(answer, chart);
  const shown = all.reduce((sum, { dots }) => sum + dots.length, 0);
  const pointTitle = (row: Row) =>
    dimensions.map((column) => labelOf(row[column.name], column, chart, format)).join(' · ');
  const columns = [measures.x, measures.y, ...(measures.size === null ? [] : [measures.size])];
  return {
    option: optionOf(drawing, measures, groups),
    pointing: {
      by: 'item',
      marks: () => groups.flatMap(({ dots }, series) => dots.map((_, index) => ({ series, index }))),
      at: ({ series, index }) => {
        const dot = groups[series]?.dots[index];
        return dot === undefined ? null : [dot.x, dot.y];
      },
    },
    tip: ({ series, index }) => {
      const row = groups[series]?.dots[index]?.row;
      if (row === undefined) return null;
      const colour = colourAt(theme, groups[series]?.slot ?? 0);
      const lines = columns.map((column, at) => ({
        name: titleOf(column),
        colour: at === 0 ? colour : null,
        value: measureText(row, column, chart, format),
      }));
      return { title: pointTitle(row), lines };
    },
    valueAt: ({ series, index }) => groups[series]?.dots[index]?.row[dimensions[0]?.name ?? ''],
    height: null,
    legend:
      all.length < 2
        ? []
        : all.map((group) => ({
            ...{ key: group.key, name: group.name },
            colour: colourAt(theme, group.slot),
            hasPattern: needsPattern(theme, group.slot),
            isHidden: !groups.includes(group),
          })),
    summary: summaryOf(drawing, measures, groups),
    notes:
      shown < answer.rows.length
        ? [format.text('{n} rows without a value not drawn', { n: answer.rows.length - shown })]
        : [],
  };
};

/** Spreading tens of thousands of numbers into `Math.min` would exceed the stack. */
const least = (values: readonly number[]): number => values.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
const most = (values: readonly number[]): number => values.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);

const summaryOf = (drawing: Drawing, { x, y, size }: Measures, groups: readonly Group[]): string => {
  const { format, chart } = drawing;
  const dots = groups.flatMap((group) => group.dots);
  const span = (column: AnswerColumn, values: readonly number[]) =>
    format.text('{name} from {min} to {max}', {
      name: titleOf(column),
      min: format.measure(least(values), numbersOf(chart, column.name)),
      max: format.measure(most(values), numbersOf(chart, column.name)),
    });
  if (dots.length === 0) return say(drawing, format.text('no points'), []);
  return say(drawing, format.text('{n} points', { n: dots.length }), [
    span(
      x,
      dots.map((dot) => dot.x),
    ),
    span(
      y,
      dots.map((dot) => dot.y),
    ),
    ...(size === null ? [] : [format.text('Size: {name}', { name: titleOf(size) })]),
  ]);
};

const isFar = (values: readonly number[]): boolean => least(values) > most(values) / 2;

const axesOf = (drawing: Drawing, { x, y }: Measures, all: readonly Dot[]) => {
  const { chart, theme, width } = drawing;
  const titled = (column: AnswerColumn) => {
    const { unit } = numbersOf(chart, column.name);
    return unit === undefined ? titleOf(column) : `${titleOf(column)} (${unit})`;
  };
  const named = { color: theme.muted, fontSize: 11, lineHeight: 14 };
  return {
    xAxis: valueAxis(drawing, {
      hint: numbersOf(chart, x.name),
      name: titled(x),
      nameLocation: 'middle',
      nameGap: 26,
      nameTextStyle: { ...named, align: 'center' },
      splitNumber: Math.max(2, Math.round(width / 110)),
      scale: isFar(all.map((dot) => dot.x)),
      axisLine: { show: false, onZero: false },
    }),
    yAxis: valueAxis(drawing, {
      hint: numbersOf(chart, y.name),
      name: textWidth(titled(y)) < width - 20 ? titled(y) : '',
      nameTextStyle: { ...named, align: 'left' },
      scale: isFar(all.map((dot) => dot.y)),
      axisLine: { show: false, onZero: false },
    }),
  };
};

const optionOf = (drawing: Drawing, measures: Measures, groups: readonly Group[]) => {
  const { chart, theme, width, height } = drawing;
  const all = groups.flatMap(({ dots }) => dots);
  const largest = Math.max(1e-12, most(all.map((dot) => dot.size)));
  const widest = Math.max(14, Math.min(44, Math.min(width, height) / 7));
  return forReader(drawing, {
    ...commonOption(drawing),
    grid: grid({ top: 26, right: 18, bottom: 8 }),
    tooltip: { show: false },
    ...axesOf(drawing, measures, all),
    series: groups.map(({ name, dots, slot }) => ({
      type: 'scatter',
      name,
      color: colourAt(theme, slot),
      symbol: symbolAt(theme, slot),
      large: dots.length > 2000 && chart.type === 'scatter',
      data: dots.map((dot) => [dot.x, dot.y, dot.size]),
      // The area is the value.
      symbolSize:
        chart.type === 'bubble'
          ? (data: readonly number[]) => 4 + (widest - 4) * Math.sqrt((data[2] ?? 0) / largest)
          : 8,
      itemStyle: {
        opacity: all.length > 2000 ? 0.3 : all.length > 100 ? 0.5 : 0.7,
        borderColor: theme.surface,
        borderWidth: 0.5,
      },
      emphasis: { itemStyle: { opacity: 1 } },
    })),
  });
};
