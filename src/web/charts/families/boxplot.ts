/** Distributions from five measures: minimum, lower quartile, median, upper quartile, maximum. Pure. */
import { numberOf, numbersOf, titleOf } from '../../base/format.js';
import { categoryAxis, grid, pointer, pointingOf, valueAxis } from '../model/axes.js';
import { columnsOf, labelOf } from '../model/columns.js';
import { colourAt, commonOption, type Draw, type Drawing, type Picture } from '../model/drawing.js';
import { forReader } from '../model/mirror.js';
import type { Plot, Point } from '../model/plot.js';
import { extremes, say } from '../model/summary.js';

/** Measures of a box. */
const count = 5;

/** `names[i]` belongs to `values[i]`. */
type Box = Point & { readonly values: readonly number[]; readonly names: readonly string[] };

/** One box for each row that has all five values. Sorted, so that the order of the measures does not matter. */
const boxesOf = ({ answer, chart, format }: Drawing): readonly Box[] => {
  const { dimensions, measures } = columnsOf(answer, chart);
  const five = measures.slice(0, count);
  return answer.rows.flatMap((row) => {
    const parts = five
      .flatMap((column) => ({ name: titleOf(column), number: numberOf(row[column.name]) }))
      .sort((a, b) => (a.number ?? 0) - (b.number ?? 0));
    const values = parts.flatMap(({ number }) => number ?? []);
    const label = dimensions.map((column) => labelOf(row[column.name], column, chart, format)).join(' · ');
    const value = row[dimensions[0]?.name ?? ''] ?? null;
    if (values.length < count) return [];
    return [
      {
        value,
        label: label || titleOf(five[2] ?? { name: '' }),
        time: null,
        values,
        names: parts.map(({ name }) => name),
      },
    ];
  });
};

export const draw: Draw = (drawing) => {
  const { dimensions, measures } = columnsOf(drawing.answer, drawing.chart);
  if (measures.length < count) {
    return drawing.format.text(
      'A box plot needs five measures: minimum, lower quartile, median, upper quartile and maximum.',
    );
  }
  const boxes = boxesOf(drawing);
  if (boxes.length === 0) return drawing.format.text('A box plot needs values.');
  const dimension = dimensions[0] ?? null;
  return pictureOf(drawing, boxes, { axis: 'category', dimension, points: boxes, series: [], all: [], notes: [] });
};

const pictureOf = (drawing: Drawing, boxes: readonly Box[], plot: Plot): Picture => {
  const { answer, chart, format } = drawing;
  const hint = numbersOf(chart, columnsOf(answer, chart).measures[2]?.name ?? '');
  const missing = answer.rows.length - boxes.length;
  const medians = boxes.map(({ values, label }) => ({ value: values[2] ?? null, label }));
  return {
    option: optionOf(drawing, boxes, plot),
    pointing: pointingOf(plot, false),
    tip: ({ index }) => {
      const box = boxes[index];
      if (box === undefined) return null;
      const lines = box.values.map((value, at) => ({
        name: box.names[at] ?? '',
        colour: null,
        value: format.measure(value, hint),
      }));
      return { title: box.label, lines: lines.reverse() };
    },
    valueAt: ({ index }) => boxes[index]?.value,
    height: null,
    legend: [],
    summary: say(
      drawing,
      format.text('{n} distributions', { n: boxes.length }),
      extremes(medians, hint, format).map((text) => format.text('Medians: {text}', { text })),
    ),
    notes: missing === 0 ? [] : [format.text('{n} groups without values are not drawn', { n: missing })],
  };
};

const optionOf = (drawing: Drawing, boxes: readonly Box[], plot: Plot): Picture['option'] => {
  const { answer, chart, theme, width } = drawing;
  const hint = numbersOf(chart, columnsOf(answer, chart).measures[2]?.name ?? '');
  return forReader(drawing, {
    ...commonOption(drawing),
    grid: grid(hint.unit === undefined ? {} : { top: 28 }),
    tooltip: pointer(drawing, false),
    xAxis: categoryAxis(plot, drawing),
    yAxis: valueAxis(drawing, { hint, scale: true, ...(hint.unit === undefined ? {} : { name: hint.unit }) }),
    series: [
      {
        type: 'boxplot',
        data: boxes.map(({ values }) => values),
        boxWidth: [6, Math.max(10, Math.min(46, (width / boxes.length) * 0.6))],
        itemStyle: { color: theme.grid, borderColor: colourAt(theme, 0), borderWidth: 1.5 },
        emphasis: { disabled: true },
      },
    ],
  });
};
