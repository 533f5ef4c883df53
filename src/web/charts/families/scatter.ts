/** Points by two measures: scatter, and bubble, where a third measure is the size. Pure. */
import type { AnswerColumn } from '../../../domain/query/engine.js';
import { humanise, numberOf } from '../../base/format.js';
import { grid, valueAxis } from '../model/axes.js';
import { columnsOf, labelOf, type Row } from '../model/columns.js';
import { colourAt, commonOption, type Draw, type Drawing, type Picture, textWidth } from '../model/drawing.js';
import { maxSeries } from '../model/plot.js';
import { say } from '../model/summary.js';

type Measures = { readonly x: AnswerColumn; readonly y: AnswerColumn; readonly size: AnswerColumn | null };
type Dot = { readonly row: Row; readonly x: number; readonly y: number; readonly size: number };
type Group = { readonly name: string; readonly dots: readonly Dot[] };

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
  const names = new Set(colour === undefined ? [] : answer.rows.map((row) => row[colour.name]));
  for (const row of answer.rows) {
    const [left, up] = [numberOf(row[x.name]), numberOf(row[y.name])];
    if (left === null || up === null) continue;
    const isNamed = colour !== undefined && names.size <= maxSeries;
    const name = isNamed ? labelOf(row[colour.name], colour, chart, format) : '';
    const dots = groups.get(name) ?? [];
    dots.push({ row, x: left, y: up, size: size === null ? 0 : Math.max(0, numberOf(row[size.name]) ?? 0) });
    groups.set(name, dots);
  }
  return [...groups].map(([name, dots]) => ({ name, dots }));
};

export const draw: Draw = (drawing) => {
  const measures = measuresOf(drawing);
  if (measures === null) return 'A scatter chart needs two measures, or a measure and a dimension of numbers.';
  if (drawing.chart.type === 'bubble' && measures.size === null)
    return 'A bubble chart needs three measures: x, y and size.';
  return pictureOf(drawing, measures, groupsOf(drawing, measures));
};

const pictureOf = (drawing: Drawing, measures: Measures, groups: readonly Group[]): Picture => {
  const { answer, chart, format, theme } = drawing;
  const { dimensions } = columnsOf(answer, chart);
  const shown = groups.reduce((sum, { dots }) => sum + dots.length, 0);
  const titleOf = (row: Row) =>
    dimensions.map((column) => labelOf(row[column.name], column, chart, format)).join(' · ');
  const columns = [measures.x, measures.y, ...(measures.size === null ? [] : [measures.size])];
  return {
    option: optionOf(drawing, measures, groups),
    pointing: { by: 'item' },
    tip: ({ series, index }) => {
      const row = groups[series]?.dots[index]?.row;
      if (row === undefined) return null;
      const colour = colourAt(theme, series);
      const lines = columns.map(({ name }, at) => ({
        name: humanise(name),
        colour: at === 0 ? colour : null,
        value: format.measure(row[name] ?? null, chart),
      }));
      return { title: titleOf(row), lines };
    },
    valueAt: ({ series, index }) => groups[series]?.dots[index]?.row[dimensions[0]?.name ?? ''],
    height: null,
    legend:
      groups.length < 2 ? [] : groups.map(({ name }, at) => ({ name, colour: colourAt(theme, at), hasPattern: false })),
    summary: summaryOf(drawing, measures, groups),
    notes:
      shown < answer.rows.length
        ? [
            `${format.count(answer.rows.length - shown)} ${answer.rows.length - shown === 1 ? 'row' : 'rows'} without a value not drawn`,
          ]
        : [],
  };
};

const summaryOf = (drawing: Drawing, { x, y, size }: Measures, groups: readonly Group[]): string => {
  const { format, chart } = drawing;
  const dots = groups.flatMap((group) => group.dots);
  const span = (values: readonly number[]) =>
    `${format.measure(Math.min(...values), chart)} to ${format.measure(Math.max(...values), chart)}`;
  if (dots.length === 0) return say(drawing, 'no points', []);
  return say(drawing, `${format.count(dots.length)} ${dots.length === 1 ? 'point' : 'points'}`, [
    `${humanise(x.name)} from ${span(dots.map((dot) => dot.x))}`,
    `${humanise(y.name)} from ${span(dots.map((dot) => dot.y))}`,
    ...(size === null ? [] : [`Size: ${humanise(size.name)}`]),
  ]);
};

const optionOf = (drawing: Drawing, { x, y }: Measures, groups: readonly Group[]) => {
  const { theme, width, height } = drawing;
  const largest = Math.max(1e-12, ...groups.flatMap(({ dots }) => dots.map((dot) => dot.size)));
  const widest = Math.max(14, Math.min(44, Math.min(width, height) / 7));
  const isFar = (values: readonly number[]) => Math.min(...values) > Math.max(...values) / 2;
  const all = groups.flatMap(({ dots }) => dots);
  const fits = textWidth(humanise(y.name)) < width - 20;
  return {
    ...commonOption(drawing),
    grid: grid({ top: 26, right: 18, bottom: 8 }),
    tooltip: { show: false },
    xAxis: valueAxis(drawing, {
      name: humanise(x.name),
      nameLocation: 'middle',
      nameGap: 26,
      nameTextStyle: { color: theme.muted, fontSize: 11, lineHeight: 14, align: 'center' },
      splitNumber: Math.max(2, Math.round(width / 110)),
      scale: isFar(all.map((dot) => dot.x)),
    }),
    yAxis: valueAxis(drawing, {
      name: fits ? humanise(y.name) : '',
      nameTextStyle: { color: theme.muted, fontSize: 11, lineHeight: 14, align: 'left' },
      scale: isFar(all.map((dot) => dot.y)),
    }),
    series: groups.map(({ name, dots }) => ({
      type: 'scatter',
      name,
      data: dots.map((dot) => [dot.x, dot.y, dot.size]),
      // The area is the value.
      symbolSize:
        drawing.chart.type === 'bubble'
          ? (data: readonly number[]) => 4 + (widest - 4) * Math.sqrt((data[2] ?? 0) / largest)
          : 8,
      itemStyle: { opacity: all.length > 2000 ? 0.35 : 0.7, borderColor: theme.surface, borderWidth: 0.5 },
      emphasis: { itemStyle: { opacity: 1 } },
    })),
  };
};
