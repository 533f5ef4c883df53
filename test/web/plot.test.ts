import { describe, expect, it } from 'vitest';
import type { GuestChart } from '../../src/model/guest/view.js';
import type { AnswerColumn, MetricAnswer } from '../../src/model/query/engine.js';
import type { ChartTheme } from '../../src/model/theme/palette.js';
import { createFormat } from '../../src/web/base/format.js';
import { draw } from '../../src/web/charts/families/cartesian.js';
import { areBarsHorizontal } from '../../src/web/charts/model/axes.js';
import { columnsOf } from '../../src/web/charts/model/columns.js';
import type { Drawing, Picture } from '../../src/web/charts/model/drawing.js';
import { plotOf } from '../../src/web/charts/model/plot.js';

const format = createFormat('en');
const theme: ChartTheme = {
  text: '#000',
  muted: '#555',
  grid: '#eee',
  surface: '#fff',
  fontFamily: 'x',
  series: ['#2f6bd8', '#d2700f'],
  other: '#8a93a2',
};

const chartOf = (type: GuestChart['type'], dimensions: readonly string[], measures: readonly string[]): GuestChart => ({
  type,
  dimensions,
  measures,
  isDrillable: false,
});

const answerOf = (
  columns: readonly AnswerColumn[],
  rows: MetricAnswer['rows'],
  groupBy: readonly string[],
): MetricAnswer => ({
  columns,
  rows,
  groupbyColumnList: groupBy,
  totalRecords: rows.length,
});

const day = { name: 'day', dataType: 'date' } as const;
const hour = { name: 'hour', dataType: 'number' } as const;
const airport = { name: 'airport', dataType: 'string' } as const;
const flights = { name: 'flights', dataType: 'number' } as const;

const drawing = (answer: MetricAnswer, chart: GuestChart): Drawing => ({
  name: 'Flights',
  answer,
  chart,
  format,
  theme,
  isReducedMotion: false,
  choice: { hidden: new Set(), zoom: null },
  width: 600,
  height: 300,
});
const pictureOf = (given: Drawing): Picture => {
  const drawn = draw(given);
  if (typeof drawn === 'string') throw new Error(drawn);
  return drawn;
};
const isHorizontal = (given: Drawing) => areBarsHorizontal(plotOf(given.answer, given.chart, format), given);

const optionOf = (given: Drawing) => pictureOf(given).option;

describe('a plot', () => {
  it('puts dates on a time axis in order, and keeps the cell for a drill-down', () => {
    const rows = [
      { day: '2001-01-02', flights: 7 },
      { day: '2001-01-01', flights: '5' },
    ];
    const plot = plotOf(answerOf([day, flights], rows, ['day']), chartOf('line', ['day'], ['flights']), format);
    expect(plot.axis).toBe('time');
    expect(plot.points.map((point) => point.value)).toEqual(['2001-01-01', '2001-01-02']);
    expect(plot.series).toEqual([{ key: 'flights', name: 'Flights', measure: 'flights', slot: 0, values: [5, 7] }]);
  });

  // metabase#4128: a chart whose first row had no value drew no line at all.
  it('is a line of numbers although its first value is NULL', () => {
    const rows = [
      { day: '2001-01-01', flights: null },
      { day: '2001-01-02', flights: 7 },
    ];
    const plot = plotOf(answerOf([day, flights], rows, ['day']), chartOf('line', ['day'], ['flights']), format);
    expect(plot.series).toMatchObject([{ name: 'Flights', values: [null, 7] }]);
  });

  it('keeps the position of an hour without flights', () => {
    const rows = [0, 1, 3].map((at) => ({ hour: at, flights: at + 10 }));
    const plot = plotOf(answerOf([hour, flights], rows, ['hour']), chartOf('bar', ['hour'], ['flights']), format);
    expect(plot.points.map((point) => point.label)).toEqual(['0', '1', '2', '3']);
    expect(plot.series[0]?.values).toEqual([10, 11, null, 13]);
  });

  it('adds no points if numbers are not ascending or lie far apart', () => {
    for (const hours of [
      [3, 1, 0],
      [0, 1, 1000],
    ]) {
      const rows = hours.map((at) => ({ hour: at, flights: 1 }));
      const plot = plotOf(answerOf([hour, flights], rows, ['hour']), chartOf('bar', ['hour'], ['flights']), format);
      expect(plot.points).toHaveLength(3);
    }
  });

  it('makes series of a second dimension with few values', () => {
    const rows = [
      { hour: 0, airport: 'LAX', flights: 1 },
      { hour: 0, airport: 'ATL', flights: 2 },
      { hour: 1, airport: 'LAX', flights: 3 },
    ];
    const plot = plotOf(
      answerOf([hour, airport, flights], rows, ['hour', 'airport']),
      chartOf('bar', ['hour', 'airport'], ['flights']),
      format,
    );
    expect(plot.series).toEqual([
      { key: '"LAX"', name: 'LAX', measure: 'flights', slot: 0, values: [1, 3] },
      { key: '"ATL"', name: 'ATL', measure: 'flights', slot: 1, values: [2, null] },
    ]);
  });

  it('joins the labels if the second dimension depends on the first', () => {
    const name = { name: 'name', dataType: 'string' } as const;
    const rows = [
      { airport: 'JFK', name: 'John F Kennedy', flights: 1 },
      { airport: 'ORD', name: 'O’Hare', flights: 2 },
    ];
    const plot = plotOf(
      answerOf([airport, name, flights], rows, ['airport', 'name']),
      chartOf('bar', ['airport', 'name'], ['flights']),
      format,
    );
    expect(plot.points.map((point) => point.label)).toEqual(['JFK · John F Kennedy', 'ORD · O’Hare']);
  });

  it('follows the answer, not the definition, after a drill', () => {
    const answer = answerOf([hour, flights], [{ hour: 1, flights: 2 }], ['hour']);
    const { dimensions, measures } = columnsOf(answer, chartOf('bar', ['airport'], ['flights']));
    expect([dimensions, measures]).toEqual([[hour], [flights]]);
  });
});

describe('a chart option', () => {
  const many = answerOf(
    [airport, flights],
    Array.from({ length: 30 }, (_, index) => ({ airport: `Airport number ${index}`, flights: index })),
    ['airport'],
  );

  it('draws horizontal bars for long names, each with enough height', () => {
    const drawn = drawing(many, chartOf('bar', ['airport'], ['flights']));
    expect(isHorizontal(drawn)).toBe(true);
    expect(pictureOf(drawn).height).toBeGreaterThanOrEqual(30 * 24);
    expect(optionOf(drawn).yAxis).toMatchObject({ type: 'category', inverse: true });
  });

  it('draws horizontal bars if the card is too narrow for the names', () => {
    const rows = Array.from({ length: 12 }, (_, index) => ({ airport: `A${index}`, flights: index }));
    const drawn = drawing(answerOf([airport, flights], rows, ['airport']), chartOf('bar', ['airport'], ['flights']));
    expect([isHorizontal({ ...drawn, width: 600 }), isHorizontal({ ...drawn, width: 300 })]).toEqual([false, true]);
  });

  it('names the dimension of numbers below the bars', () => {
    const drawn = drawing(
      answerOf([hour, flights], [{ hour: 1, flights: 2 }], ['hour']),
      chartOf('bar', ['hour'], ['flights']),
    );
    expect(optionOf(drawn).xAxis).toMatchObject({ name: 'Hour' });
  });

  it('draws vertical bars for few short names', () => {
    const few = answerOf([airport, flights], [{ airport: 'LAX', flights: 1 }], ['airport']);
    const drawn = drawing(few, chartOf('bar', ['airport'], ['flights']));
    expect(isHorizontal(drawn)).toBe(false);
    expect(optionOf(drawn).xAxis).toMatchObject({ type: 'category', data: ['LAX'] });
  });

  it('starts bars at zero always, and lines only if their values are near zero', () => {
    const near = answerOf(
      [day, flights],
      [1, 9].map((value, at) => ({ day: `2001-01-0${at + 1}`, flights: value })),
      ['day'],
    );
    const far = answerOf(
      [day, flights],
      [90, 99].map((value, at) => ({ day: `2001-01-0${at + 1}`, flights: value })),
      ['day'],
    );
    expect(optionOf(drawing(near, chartOf('line', ['day'], ['flights']))).yAxis).toMatchObject([{ scale: false }]);
    expect(optionOf(drawing(far, chartOf('line', ['day'], ['flights']))).yAxis).toMatchObject([{ scale: true }]);
    expect(optionOf(drawing(far, chartOf('bar', ['day'], ['flights']))).yAxis).toMatchObject([{ scale: false }]);
  });

  it('does not animate if the user prefers reduced motion', () => {
    expect(
      optionOf({ ...drawing(many, chartOf('bar', ['airport'], ['flights'])), isReducedMotion: true }).animation,
    ).toBe(false);
  });

  it('gives tooltips as plain text, and leaves ECharts’ own off', () => {
    const hostile = '<img src=x onerror=alert(1)>';
    const drawn = drawing(
      answerOf([airport, flights], [{ airport: hostile, flights: 1 }], ['airport']),
      chartOf('bar', ['airport'], ['flights']),
    );
    expect(pictureOf(drawn).tip({ series: 0, index: 0 })).toEqual({
      title: hostile,
      lines: [{ name: 'Flights', colour: '#2f6bd8', value: '1' }],
    });
    expect(optionOf(drawn).tooltip).toMatchObject({ renderMode: 'richText', showContent: false });
  });
});

describe('a summary', () => {
  it('says kind, span and extremes', () => {
    const rows = [3, 9, 5].map((value, at) => ({ day: `2001-01-0${at + 1}`, flights: value }));
    const chart = chartOf('line', ['day'], ['flights']);
    const given = { ...drawing(answerOf([day, flights], rows, ['day']), chart), name: 'Flights a day' };
    expect(pictureOf(given).summary).toBe(
      'Flights a day: line chart, 3 values from Jan 1, 2001 to Jan 3, 2001. Lowest 3 (Jan 1, 2001), highest 9 (Jan 2, 2001).',
    );
  });
});
