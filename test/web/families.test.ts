/** The options that each family of charts makes of an answer. */
import * as echarts from 'echarts';
import { describe, expect, it } from 'vitest';
import { chartTypes } from '../../src/model/dashboard/chart.js';
import type { GuestChart } from '../../src/model/guest/view.js';
import type { AnswerColumn, MetricAnswer } from '../../src/model/query/engine.js';
import { light } from '../../src/model/theme/palette.js';
import { createFormat } from '../../src/web/base/format.js';
import { periodOf, rangeOf } from '../../src/web/charts/brush.js';
import { draw as boxplot } from '../../src/web/charts/families/boxplot.js';
import { draw as cartesian } from '../../src/web/charts/families/cartesian.js';
import { draw as columns } from '../../src/web/charts/families/columns.js';
import { draw as gauge } from '../../src/web/charts/families/gauge.js';
import { draw as parts } from '../../src/web/charts/families/parts.js';
import { draw as sankey } from '../../src/web/charts/families/sankey.js';
import { draw as scatter } from '../../src/web/charts/families/scatter.js';
import { type Draw, type Drawing, isolated, type Picture } from '../../src/web/charts/model/drawing.js';
import { pivotOf } from '../../src/web/charts/pivot.js';
import { rendererOf } from '../../src/web/charts/registry.js';
import { calculationsOf } from '../../src/web/editor/calculations.js';
import { type Draft, emptyDraft } from '../../src/web/editor/draft.js';

const format = createFormat('en');
type Rows = MetricAnswer['rows'];

const typeOf = (rows: Rows, name: string): AnswerColumn['dataType'] => {
  const value = rows.find((row) => row[name] !== null)?.[name];
  if (typeof value === 'number') return 'number';
  return /^\d{4}-\d\d-\d\d/.test(String(value)) ? 'date' : 'string';
};

/** A drawing of rows whose columns are the dimensions and the measures. */
const drawing = (
  chart: Partial<GuestChart> & Pick<GuestChart, 'type'>,
  rows: Rows,
  more: Partial<MetricAnswer> = {},
): Drawing => {
  const whole: GuestChart = { dimensions: [], measures: [], isDrillable: false, ...chart };
  const names = [...whole.dimensions, ...whole.measures];
  return {
    name: 'Flights',
    answer: {
      columns: names.map((name) => ({ name, dataType: typeOf(rows, name) })),
      rows,
      groupbyColumnList: whole.dimensions,
      totalRecords: rows.length,
      ...more,
    },
    chart: whole,
    format,
    theme: { ...light, fontFamily: 'x' },
    isReducedMotion: true,
    choice: { hidden: new Set(), zoom: null },
    width: 600,
    height: 300,
  };
};

const picture = (draw: Draw, given: Drawing): Picture => {
  const drawn = draw(given);
  if (typeof drawn === 'string') throw new Error(drawn);
  return drawn;
};
const seriesOf = (draw: Draw, given: Drawing) =>
  picture(draw, given).option.series as readonly Record<string, unknown>[];

/** The chart as ECharts draws it, without a browser. */
const drawnBy = (option: Picture['option']): string => {
  const chart = echarts.init(null, null, { renderer: 'svg', ssr: true, width: 600, height: 300 });
  chart.setOption({ ...option, animation: false });
  const svg = chart.renderToSVGString();
  chart.dispose();
  return svg;
};

const months = ['2001-01-01', '2001-02-01', '2001-04-01'];

describe('lines, areas and bars', () => {
  const monthly = (type: GuestChart['type'], more: Partial<GuestChart> = {}) =>
    drawing(
      { type, dimensions: ['Month'], measures: ['Flights'], grains: { Month: 'month' }, ...more },
      months.map((Month, at) => ({ Month, Flights: at + 1 })),
    );
  const valuesOf = (given: Drawing) =>
    (
      seriesOf(cartesian, given) as unknown as readonly { data: { value: readonly [number, unknown] }[] }[]
    )[0]?.data.map(({ value }) => value[1]);

  it('breaks the line at a missing month, or counts it as zero if the metric says so', () => {
    expect(valuesOf(monthly('line'))).toEqual([1, 2, '-', 3]);
    expect(valuesOf(monthly('line', { missing: 'zero' }))).toEqual([1, 2, 0, 3]);
  });

  it('steps and fills as the type says', () => {
    expect(seriesOf(cartesian, monthly('stepped'))[0]).toMatchObject({ type: 'line', step: 'end' });
    expect(seriesOf(cartesian, monthly('area'))[0]).toMatchObject({ type: 'line', areaStyle: {} });
    expect(seriesOf(cartesian, monthly('timeSeries'))[0]).toMatchObject({ type: 'line' });
  });

  it('takes as much room in a language that runs from right to left', () => {
    const weekMs = 7 * 86_400_000;
    const weeks = Array.from({ length: 26 }, (_, at) => new Date(Date.UTC(2001, 0, 1) + at * weekMs).toISOString());
    const widthIn = (language: string): number => {
      const rows = weeks.map((Week, at) => ({ Week: Week.slice(0, 10), Flights: 4400 + at }));
      const given = drawing(
        { type: 'stepped', dimensions: ['Week'], measures: ['Flights'], grains: { Week: 'week' } },
        rows,
      );
      const { option } = picture(cartesian, { ...given, format: createFormat(language), width: 430 });
      const chart = echarts.init(null, null, { renderer: 'svg', ssr: true, width: 430, height: 300 });
      chart.setOption({ ...option, animation: false });
      const [first = 0, last = 0] = [0, 25].map((at) =>
        chart.convertToPixel({ xAxisIndex: 0 }, Date.UTC(2001, 0, 1) + at * weekMs),
      );
      chart.dispose();
      return Math.abs(last - first);
    };
    expect(widthIn('ar')).toBeGreaterThan(0.9 * widthIn('en'));
  });

  it('names months in its sentence', () => {
    expect(picture(cartesian, monthly('line')).summary).toContain('4 values from January 2001 to April 2001');
  });

  const many = (combine: GuestChart['combine'], type: GuestChart['type'] = 'stack') =>
    drawing(
      { type, dimensions: ['Month', 'State'], measures: ['Flights'], combine },
      Array.from({ length: 40 }, (_, at) => ({ Month: months[at % 2] ?? '', State: `S${at >> 1}`, Flights: at + 1 })),
    );

  it('joins more series than colours as “Other” if they add up, and says so', () => {
    for (const type of ['stack', 'line', 'area'] as const) {
      const drawn = picture(cartesian, many({ Flights: 'sum' }, type));
      expect(drawn.legend.map(({ name }) => name).at(-1)).toBe('Other');
      expect(drawn.legend).toHaveLength(8);
      expect(drawn.notes).toEqual(['“Other” combines 13 smaller series']);
    }
    const sum = (many({ Flights: 'sum' }).answer.rows as { Flights: number }[]).reduce(
      (all, row) => all + row.Flights,
      0,
    );
    const shown = seriesOf(cartesian, many({ Flights: 'sum' })).flatMap(({ data }) => data as { value: number }[]);
    expect(shown.reduce((all, { value }) => all + value, 0)).toBe(sum);
  });

  it('offers all series of the answer, and draws those that the reader picks', () => {
    const given = many({ Flights: 'sum' });
    const offered = picture(cartesian, given).offered;
    expect(offered?.all).toHaveLength(20);
    expect(offered?.shown.size).toBe(7);
    const picked = new Set(['"S0"', '"S3"']);
    const drawn = picture(cartesian, { ...given, choice: { ...given.choice, picked } });
    expect(drawn.legend.map(({ name }) => name)).toEqual(['S0', 'S3']);
    expect(drawn.notes).toEqual(['2 of 20 series shown']);
    expect(drawn.offered?.shown).toEqual(picked);
    const gone = { ...given, choice: { ...given.choice, picked: new Set(['gone']) } };
    expect(picture(cartesian, gone).legend.at(-1)?.name).toBe('Other');
  });

  it('names the measures that a chart split into series leaves out', () => {
    const rows = months.flatMap((Month) => ['A', 'B'].map((State) => ({ Month, State, Flights: 1, Delay: 2 })));
    const given = drawing({ type: 'line', dimensions: ['Month', 'State'], measures: ['Flights', 'Delay'] }, rows);
    expect(picture(cartesian, given).notes).toEqual(['Not drawn: Delay']);
  });

  it('leaves smaller averages out, because averages do not add up, and says so', () => {
    const drawn = picture(cartesian, many({}));
    expect(drawn.legend.map(({ name }) => name)).not.toContain('Other');
    expect(drawn.notes).toEqual(['12 smaller series are not drawn']);
  });

  it('gives measures of very different size an axis each, and a combined chart its own types', () => {
    const rows = months.map((Month, at) => ({ Month, Flights: 20_000 + at, Share: 0.2 }));
    const both = { dimensions: ['Month'], measures: ['Flights', 'Share'] };
    expect(seriesOf(cartesian, drawing({ type: 'line', ...both }, rows)).map(({ yAxisIndex }) => yAxisIndex)).toEqual([
      0, 1,
    ]);
    const series = [
      { measure: 'Flights', type: 'bar' },
      { measure: 'Share', type: 'line', axis: 'right' },
    ] as const;
    const combo = seriesOf(cartesian, drawing({ type: 'combo', ...both, series }, rows));
    expect(combo.map(({ type, yAxisIndex }) => [type, yAxisIndex])).toEqual([
      ['bar', 0],
      ['line', 1],
    ]);
  });

  describe('measures of three sizes', () => {
    const rows = months.map((Month, at) => ({ Month, Flights: 20_000 + at, Delay: 12 + at, Share: 0.2, Plan: 14 }));
    const three = (more: Partial<GuestChart> = {}, measures: readonly string[] = ['Flights', 'Delay', 'Share']) =>
      drawing({ type: 'line', dimensions: ['Month'], measures, grains: { Month: 'month' }, ...more }, rows);
    const panelsIn = (given: Drawing) =>
      seriesOf(cartesian, given).map(({ xAxisIndex, yAxisIndex }) => [xAxisIndex, yAxisIndex]);

    it('have a panel each, one below the other with the same edges, and the chart says so', () => {
      const drawn = picture(cartesian, three());
      expect(panelsIn(three())).toEqual([
        [0, 0],
        [1, 1],
        [2, 2],
      ]);
      const grids = drawn.option.grid as { left: number; right: number; top: number; height: number }[];
      expect(new Set(grids.map(({ left, right, height }) => `${left} ${right} ${height}`)).size).toBe(1);
      expect(grids.slice(1).every(({ top }, at) => top >= (grids[at]?.top ?? 0) + (grids[at]?.height ?? 0))).toBe(true);
      expect(drawn.option.xAxis).toMatchObject([
        { axisLabel: { show: false } },
        { axisLabel: { show: false } },
        { gridIndex: 2 },
      ]);
      expect(drawn.option.yAxis).toMatchObject([{ name: 'Flights' }, { name: 'Delay' }, { name: 'Share' }]);
      expect(drawn.option.axisPointer).toMatchObject({ link: [{ xAxisIndex: 'all' }] });
      expect(drawn.notes).toEqual(['3 panels, each with its own scale']);
      expect(drawn.tip({ series: 0, index: 1 })?.lines).toHaveLength(3);
    });

    it('share one panel where they have one size, and a target is in the panel of its size', () => {
      const lines = [{ kind: 'measure', measure: 'Plan' }] as const;
      expect(panelsIn(three({ lines }, ['Share', 'Flights', 'Plan', 'Delay']))).toEqual([
        [0, 0],
        [1, 1],
        [2, 2],
        [2, 2],
      ]);
    });

    it('have two axes as soon as two sizes are left, or if the metric names the axes', () => {
      const hidden = { ...three(), choice: { hidden: new Set(['Share']), zoom: null } };
      expect(panelsIn(hidden)).toEqual([
        [undefined, 0],
        [undefined, 1],
      ]);
      expect(panelsIn(three({ series: [{ measure: 'Share', type: 'line', axis: 'right' }] }))).toEqual([
        [undefined, 0],
        [undefined, 1],
        [undefined, 1],
      ]);
    });

    it('begin on the right for readers from right to left', () => {
      const { option } = picture(cartesian, { ...three(), format: createFormat('ar-EG') });
      expect(option.yAxis).toMatchObject(
        [0, 1, 2].map(() => ({ position: 'right', nameTextStyle: { align: 'right' } })),
      );
      expect(option.xAxis).toMatchObject([0, 1, 2].map(() => ({ inverse: true })));
      expect((option.grid as { left: number }[]).map(({ left }) => left)).toEqual([14, 14, 14]);
    });
  });

  it('puts a pattern on a colour that is used twice, another one for each time', () => {
    const given = { ...many({ Flights: 'sum' }), theme: { ...light, fontFamily: 'x', series: ['#2f6bd8', '#b17b0e'] } };
    const looks = seriesOf(cartesian, given).map(({ color, itemStyle }) => JSON.stringify([color, itemStyle]));
    expect(new Set(looks).size).toBe(8);
    expect(picture(cartesian, given).legend.map(({ hasPattern }) => hasPattern)).toEqual([
      ...[false, false],
      ...[true, true, true, true, true],
      false,
    ]);
    const lines = seriesOf(cartesian, { ...given, chart: { ...given.chart, type: 'line' } });
    expect(new Set(lines.map(({ color, lineStyle }) => JSON.stringify([color, lineStyle]))).size).toBe(8);
    expect(picture(cartesian, many({ Flights: 'sum' })).legend.some(({ hasPattern }) => hasPattern)).toBe(false);
  });

  it('gives text on an axis a line height, so that no font cuts it', () => {
    expect(picture(cartesian, monthly('line')).option.xAxis).toMatchObject({ axisLabel: { lineHeight: 14 } });
  });

  it('draws a row chart with horizontal bars', () => {
    expect(picture(cartesian, monthly('row')).option.yAxis).toMatchObject({ type: 'category', inverse: true });
  });

  it('says what is missing of a truncated answer', () => {
    const cut = (totalRecords: number) => {
      const given = monthly('line');
      return picture(cartesian, { ...given, answer: { ...given.answer, totalRecords, isTruncated: true } }).summary;
    };
    expect(cut(84_539)).toContain('Incomplete: 3 of 84,539 rows.');
    expect(cut(3)).toContain('Incomplete: First 3 rows.');
  });
});

describe('charts of a language from right to left', () => {
  const given = (type: GuestChart['type'], more: Partial<GuestChart> = {}): Drawing => ({
    ...drawing({ type, dimensions: ['Day'], measures: ['Flights', 'Share'], ...more }, [
      { Day: 'Mon', Flights: 1000, Share: 0.1 },
      { Day: 'Tue', Flights: 2000, Share: 0.2 },
    ]),
    format: createFormat('ar-EG', { '(left)': 'left', '(right)': 'right' }),
  });

  it('start on the right, where their first value axis is, and the second is on the left', () => {
    const { option, legend } = picture(cartesian, given('combo'));
    expect(option.xAxis).toMatchObject({ inverse: true });
    expect(option.yAxis).toMatchObject([{ position: 'right' }, { position: 'left' }]);
    expect(option.grid).toMatchObject({ left: 14, right: 4 });
    expect(legend.map(({ note }) => note)).toEqual(['right', 'left']);
  });

  it('have names on the right of bars that grow to the left', () => {
    const { option } = picture(cartesian, given('row', { measures: ['Flights'] }));
    expect(option.xAxis).toMatchObject({ inverse: true });
    expect(option.yAxis).toMatchObject([{ position: 'right', inverse: true }]);
    expect(option.series).toMatchObject([
      { label: { position: 'left' }, data: [{ itemStyle: { borderRadius: [3, 0, 0, 3] } }, {}] },
    ]);
  });

  it.each([
    ['histogram', columns],
    ['waterfall', columns],
  ] as const)('are mirrored as a %s', (type, draw) => {
    const { option } = picture(draw, given(type, { measures: ['Flights'] }));
    expect(option).toMatchObject({ xAxis: { inverse: true }, yAxis: [{ position: 'right' }] });
  });

  const shape = (type: GuestChart['type'], dimensions: readonly string[], rows: Rows): Drawing => ({
    ...drawing({ type, dimensions, measures: ['Flights'] }, rows),
    format: createFormat('ar-EG'),
  });

  it('let flows begin on the right, and point their arrows to the left', () => {
    const flow = shape('sankey', ['From', 'To'], [{ From: 'A', To: 'B', Flights: 3 }]);
    expect(seriesOf(sankey, flow)[0]).toMatchObject({
      data: [
        { name: '0:"A"', depth: 1, label: { position: 'left' } },
        { name: '1:"B"', depth: 0, label: { position: 'right' } },
      ],
      links: [{ source: '1:"B"', target: '0:"A"' }],
      lineStyle: { color: 'target' },
    });
    expect(picture(sankey, flow).tip({ series: 0, index: 0, kind: 'edge' })?.title).toBe(
      '\u2068A\u2069 ← \u2068B\u2069',
    );
  });

  it('fill a gauge from the right', () => {
    expect(seriesOf(gauge, shape('gauge', [], [{ Flights: 3 }]))[0]).toMatchObject({
      startAngle: -20,
      endAngle: 200,
      clockwise: false,
    });
  });

  it('have a funnel’s names and numbers on the left of its stages', () => {
    const given = shape('funnel', ['Step'], [{ Step: 'Seen', Flights: 3 }]);
    type Item = {
      readonly style: { readonly x?: number; readonly align?: string };
      readonly shape: { readonly x: number };
    };
    const [stages] = seriesOf(parts, given) as unknown as readonly {
      renderItem: (at: object, api: object) => { readonly children: readonly Item[] };
    }[];
    const [bar, name, value] = stages?.renderItem({ dataIndex: 0 }, { getHeight: () => 300 }).children ?? [];
    expect([name?.style.align, value?.style.align, value?.style.x]).toEqual(['right', 'left', 4]);
    expect(name?.style.x).toBeLessThan(bar?.shape.x ?? 0);
  });

  it('keep the number of a pie’s part after a Latin name', () => {
    const [ring] = seriesOf(parts, shape('pie', ['Step'], [{ Step: 'Seen', Flights: 3 }])) as unknown as readonly {
      label: { formatter: (at: object) => string; ellipsis: string };
    }[];
    expect(ring?.label.formatter({ dataIndex: 0 })).toMatch(/^\u2068Seen\u2069 {2}/);
    expect(ring?.label.ellipsis).toBe('…\u200e');
  });

  it('stay as they are in other languages', () => {
    const { option } = picture(cartesian, { ...given('combo'), format });
    expect(option.xAxis).not.toHaveProperty('inverse');
  });
});

describe('what a reader chooses', () => {
  const rows = months.map((Month, at) => ({ Month, Flights: 20_000 + at, Share: 0.2 }));
  const both = { dimensions: ['Month'], measures: ['Flights', 'Share'], grains: { Month: 'month' } } as const;
  const chosen = (choice: Partial<Drawing['choice']>, type: GuestChart['type'] = 'line') => {
    const given = drawing({ type, ...both }, rows);
    return { ...given, choice: { ...given.choice, ...choice } };
  };

  it('takes a hidden series out of the chart and its axis, and keeps the colours of the others', () => {
    const given = chosen({ hidden: new Set(['Flights']) });
    expect(seriesOf(cartesian, given)).toMatchObject([{ name: 'Share', color: light.series[1], yAxisIndex: 0 }]);
    const drawn = picture(cartesian, given);
    expect(drawn.option.yAxis).toHaveLength(1);
    expect(drawn.legend.map(({ name, isHidden }) => [name, isHidden])).toEqual([
      ['Flights', true],
      ['Share', false],
    ]);
    expect(drawn.tip({ series: 0, index: 0 })?.lines.map(({ name }) => name)).toEqual(['Share']);
  });

  it('shows all series if all were hidden', () => {
    expect(seriesOf(cartesian, chosen({ hidden: new Set(['Flights', 'Share']) }))).toHaveLength(2);
  });

  it('draws only the points within a zoom', () => {
    const zoom = { from: Date.UTC(2001, 1, 1), to: Date.UTC(2001, 2, 31) };
    const { periods, summary } = picture(cartesian, chosen({ zoom }));
    expect(summary).toContain('2 values from February 2001 to March 2001');
    expect(periods).toEqual({
      column: 'Month',
      spans: [
        { from: Date.UTC(2001, 1, 1), to: Date.UTC(2001, 2, 1) - 1000 },
        { from: Date.UTC(2001, 2, 1), to: Date.UTC(2001, 3, 1) - 1000 },
      ],
    });
  });

  it('takes hidden parts out of a pie, whose shares then add up to all', () => {
    const given = drawing(
      { type: 'pie', dimensions: ['State'], measures: ['Flights'] },
      ['A', 'B', 'C'].map((State) => ({ State, Flights: 1 })),
    );
    const drawn = picture(parts, { ...given, choice: { hidden: new Set(['["B"]']), zoom: null } });
    expect(drawn.summary).toContain('2 parts. A 1 (50%), C 1 (50%)');
    expect(drawn.legend.map(({ isHidden }) => isHidden)).toEqual([false, true, false]);
  });
});

describe('periods of a drag', () => {
  const periods = {
    column: 'Month',
    spans: [0, 1, 2].map((at) => ({ from: Date.UTC(2001, at, 1), to: Date.UTC(2001, at + 1, 1) - 1000 })),
  };

  it('names first and last day, in whichever direction the drag went', () => {
    const range = rangeOf(periods, 2, 1);
    if (range === null) throw new Error('no range');
    expect(periodOf(periods, range)).toEqual({
      column: 'Month',
      from: '2001-02-01',
      to: '2001-03-31',
      last: '2001-03-01',
    });
  });

  it('names the time where the periods are shorter than days', () => {
    const from = Date.UTC(2001, 0, 1, 6);
    expect(periodOf(periods, { from, to: from + 3_599_000, last: from })).toMatchObject({
      from: '2001-01-01T06:00:00',
      to: '2001-01-01T06:59:59',
    });
  });
});

describe('reference lines', () => {
  const rows = months.map((Month, at) => ({ Month, Flights: 10 * (at + 1), Plan: 25 }));
  const lined = (type: GuestChart['type'], lines: GuestChart['lines'], measures = ['Flights']) =>
    drawing({ type, dimensions: ['Month'], measures, grains: { Month: 'month' }, lines }, rows);

  it('draws a target and an average, names them with their value, and lets the axis reach them', () => {
    const given = lined('line', [
      { kind: 'value', value: 90, name: 'Target' },
      { kind: 'average', measure: 'Flights' },
    ]);
    const [, target, average] = seriesOf(cartesian, given) as {
      data: unknown;
      markLine: { data: unknown; label: { formatter: () => string } };
    }[];
    expect(target).toMatchObject({ data: [[Date.UTC(2001, 0, 1), 90]], markLine: { data: [{ yAxis: 90 }] } });
    expect(target?.markLine.label.formatter()).toBe('Target 90');
    expect(average?.markLine.label.formatter()).toBe('Average 20');
    const drawn = picture(cartesian, given);
    expect(drawn.summary).toContain('Lines at: Target 90, Average 20.');
    expect(drawn.tip({ series: 0, index: 0 })?.lines.map(({ name, value }) => `${name} ${value}`)).toEqual([
      'Flights 10',
      'Target 90',
      'Average 20',
    ]);
  });

  it('draws a measure as a dashed line over bars, under its own name', () => {
    const lines = [{ kind: 'measure', measure: 'Plan', name: 'Our plan' }] as const;
    const given = lined('bar', lines, ['Flights', 'Plan']);
    expect(seriesOf(cartesian, given)).toMatchObject([
      { type: 'bar' },
      { type: 'line', name: 'Our plan', color: light.text, lineStyle: { type: [5, 4] } },
    ]);
  });

  it('writes each measure, and each axis, as its own settings say', () => {
    const rows = months.map((Month) => ({ Month, Flights: 20_000, Share: 0.2 }));
    const numbers = [{ measure: 'Share', format: 'percent' }] as const;
    const drawn = picture(
      cartesian,
      drawing({ type: 'combo', dimensions: ['Month'], measures: ['Flights', 'Share'], numbers }, rows),
    );
    expect(drawn.tip({ series: 0, index: 0 })?.lines.map(({ value }) => value)).toEqual(['20,000', '20%']);
    const axes = drawn.option.yAxis as { axisLabel: { formatter: (value: number) => string } }[];
    expect(axes.map(({ axisLabel }) => axisLabel.formatter(0.5))).toEqual(['0.5', '50%']);
  });
});

describe('dates with a format of their own', () => {
  const dates = [{ name: 'Month', style: 'short' }] as const;
  const given = (type: GuestChart['type']) =>
    drawing(
      { type, dimensions: ['Month'], measures: ['Flights'], grains: { Month: 'month' }, dates },
      months.map((Month, at) => ({ Month, Flights: at + 1 })),
    );

  it('are on the axis of time, in its strip, in tooltips and in the sentence', () => {
    const drawn = picture(cartesian, given('timeSeries'));
    const axis = drawn.option.xAxis as { axisLabel: { formatter: (time: number) => string } };
    expect(axis.axisLabel.formatter(Date.UTC(2001, 1, 1))).toBe('02/2001');
    expect(drawn.tip({ series: 0, index: 1 })?.title).toBe('02/2001');
    expect(drawn.summary).toContain('from 01/2001 to 04/2001');
  });

  it('are on an axis of bars', () => {
    expect(picture(columns, given('bar')).option.xAxis).toMatchObject({
      data: ['01/2001', '02/2001', '03/2001', '04/2001'],
    });
  });

  it('are in a pivot table, also as the greatest of dates', () => {
    const rows = [{ Month: '2001-01-01', Last: '2001-01-31T10:20:30' }];
    const written = [...dates, { name: 'Last', style: 'long', precision: 'day' }] as const;
    const { answer, chart } = drawing(
      { type: 'pivotTable', dimensions: ['Month'], measures: ['Last'], grains: { Month: 'month' }, dates: written },
      rows,
    );
    const [row] = pivotOf(answer, chart, format).rows;
    expect([row?.labels, row?.cells]).toEqual([['01/2001'], ['January 31, 2001']]);
  });
});

describe('more points than pixels', () => {
  const minutes = (count: number) =>
    drawing(
      { type: 'line', dimensions: ['At'], measures: ['Flights'] },
      Array.from({ length: count }, (_, at) => ({
        At: new Date(Date.UTC(2001, 0, 1) + 60_000 * at).toISOString().slice(0, 19),
        Flights: at % 97,
      })),
    );

  // elastic-charts#783: a value between two gaps was not drawn, since a line needs two points.
  it.each([300, 20_000])('draw a value between two gaps as a dot, among %i points', (count) => {
    const rows = minutes(count).answer.rows.map((row, at) => ({ ...row, Flights: at % 50 === 7 ? at : null }));
    const given = minutes(count);
    const { option } = picture(cartesian, { ...given, answer: { ...given.answer, rows } });
    expect(drawnBy(option).match(/ecmeta_data_index=/g)).toHaveLength(count / 50);
  });

  it('are drawn by the least and greatest of each pixel, and the chart says so', () => {
    const many = minutes(50_000);
    expect(seriesOf(cartesian, many)[0]).toMatchObject({ sampling: 'minmax', symbol: 'none' });
    expect(picture(cartesian, many).notes).toEqual([
      '50,000 points: each pixel shows the least and the greatest of its own',
    ]);
    const notes = (more: Partial<MetricAnswer>) =>
      picture(cartesian, { ...many, answer: { ...many.answer, ...more } }).notes;
    expect(notes({ isTruncated: true })).toEqual(['Each pixel shows the least and the greatest of its points']);
    expect(notes({ points: { total: 900_000, shown: 50_000 } })).toEqual([]);
    expect(seriesOf(cartesian, minutes(500))[0]).not.toHaveProperty('sampling');
  });
});

describe('names on an axis', () => {
  const labelled = (Name: string, count: number, more: Partial<GuestChart> = {}) =>
    drawing(
      { type: 'waterfall', dimensions: ['Name'], measures: ['Flights'], ...more },
      Array.from({ length: count }, (_, at) => ({ Name: `${Name}${at}`, Flights: 1 })),
    );

  it('are all shown if they fit', () => {
    expect(picture(columns, labelled('LA', 8)).option.xAxis).toMatchObject({ axisLabel: { interval: 0 } });
  });

  it('are wrapped if their words fit', () => {
    expect(picture(columns, labelled('Los Angeles City ', 6)).option.xAxis).toMatchObject({
      axisLabel: { interval: 0, overflow: 'break' },
    });
  });

  it('name a month shortly, and the year at its January', () => {
    const rows = months.map((Month) => ({ Month, Flights: 1 }));
    const given = drawing(
      { type: 'bar', dimensions: ['Month'], measures: ['Flights'], grains: { Month: 'month' } },
      rows,
    );
    expect(picture(cartesian, given).option.xAxis).toMatchObject({ data: ['Jan 2001', 'Feb', 'Mar', 'Apr'] });
    expect(picture(cartesian, given).tip({ series: 0, index: 1 })?.title).toBe('February 2001');
  });

  it('are turned if they do not fit, so that all are shown', () => {
    const rows = Array.from({ length: 8 }, (_, at) => ({ Name: `Department of things ${at}`, Flights: at - 2 }));
    const given = drawing({ type: 'waterfall', dimensions: ['Name'], measures: ['Flights'] }, rows);
    expect(picture(columns, given).option.xAxis).toMatchObject({ axisLabel: { interval: 0, rotate: 38 } });
  });

  it('names on an axis from right to left are isolated from the numbers beside them', () => {
    expect([isolated('الشركة'), isolated('Company')]).toEqual(['\u2068الشركة\u2069', 'Company']);
  });
});

describe('histogram and waterfall', () => {
  it('labels buckets with both ends, and keeps the empty ones', () => {
    const rows = [0, 250, 750].map((Distance) => ({ Distance, Flights: 1 }));
    const given = drawing({ type: 'histogram', dimensions: ['Distance'], measures: ['Flights'] }, rows);
    expect(picture(columns, given).option.xAxis).toMatchObject({ data: ['0–250', '250–500', '500–750', '750–1000'] });
  });

  it('ends with the total', () => {
    const rows = [5, -2, 4].map((Change, at) => ({ Step: `S${at}`, Change }));
    const drawn = picture(columns, drawing({ type: 'waterfall', dimensions: ['Step'], measures: ['Change'] }, rows));
    expect(drawn.option.xAxis).toMatchObject({ data: ['S0', 'S1', 'S2', 'Total'] });
    expect(drawn.option.series).toMatchObject([
      {
        data: [
          [0, 0, 5],
          [1, 5, 3],
          [2, 3, 7],
          [3, 0, 7],
        ],
      },
    ]);
    expect(drawn.summary).toContain('3 steps to a total of 7');
  });
});

// lightdash#861: a join repeats rows, and a total counts them more than once.
describe('groups that share rows', () => {
  const shared = (type: GuestChart['type'], measures: readonly string[], rows: Rows): Drawing => {
    const given = drawing({ type, dimensions: ['Step'], measures }, rows);
    const isOfStep = ({ name }: AnswerColumn) => name === 'Step';
    const flagged = given.answer.columns.map((one) => (isOfStep(one) ? one : { ...one, isOverlapping: true as const }));
    return { ...given, answer: { ...given.answer, columns: flagged } };
  };
  const sentence = (name: string) => `${name} is not shown: groups share rows, so they do not add up`;

  it('are no steps of a waterfall, which says why it draws nothing', () => {
    const rows = [5, 4].map((Change, at) => ({ Step: `S${at}`, Change }));
    expect(columns(shared('waterfall', ['Change'], rows))).toBe(`${sentence('Change')}.`);
  });

  it('have no value of a share, and a pivot table says why', () => {
    const rows = [5, 4].map((Sales, at) => ({ Step: `S${at}`, Sales, Share: null }));
    const { answer, chart } = shared('pivotTable', ['Sales', 'Share'], rows);
    expect(pivotOf(answer, chart, format).notes).toEqual([sentence('Share')]);
  });

  it('are offered no share of a total in the editor', () => {
    const draft = { ...emptyDraft, dimensions: [{ name: 'Step' }], measures: [{ name: 'Sales' }] } as unknown as Draft;
    const offered = (overlapping: readonly string[]) =>
      calculationsOf(draft, format.text, new Set(overlapping)).map(({ label }) => label);
    expect([offered([]), offered(['Sales'])]).toEqual([
      ['Sales: share of the total', 'Sales: running total'],
      ['Sales: running total'],
    ]);
  });
});

describe('scatter and bubble', () => {
  const rows = [
    { State: 'CA', Distance: 300, Delay: 9, Flights: 100 },
    { State: 'NV', Distance: 400, Delay: 4, Flights: 25 },
    { State: 'AK', Distance: 900, Delay: null, Flights: 4 },
  ];

  it('puts the first measure right and the second up, and says what it cannot place', () => {
    const drawn = picture(
      scatter,
      drawing({ type: 'scatter', dimensions: ['State'], measures: ['Distance', 'Delay'] }, rows),
    );
    expect(drawn.option.series).toMatchObject([
      {
        data: [
          [300, 9, 0],
          [400, 4, 0],
        ],
      },
    ]);
    expect(drawn.notes).toEqual(['1 row without a value not drawn']);
    expect(drawn.tip({ series: 0, index: 1 })?.title).toBe('NV');
  });

  it('needs a third measure for the size of bubbles', () => {
    const bubble = (measures: readonly string[]) => drawing({ type: 'bubble', dimensions: ['State'], measures }, rows);
    expect(scatter(bubble(['Distance', 'Delay']))).toMatch(/three measures/);
    expect(seriesOf(scatter, bubble(['Distance', 'Delay', 'Flights']))).toMatchObject([
      {
        data: [
          [300, 9, 100],
          [400, 4, 25],
        ],
      },
    ]);
  });
});

describe('parts of a whole', () => {
  const rows = Array.from({ length: 12 }, (_, at) => ({ State: `S${at}`, Flights: 12 - at }));
  const whole = (type: GuestChart['type'], given: Rows = rows) =>
    drawing({ type, dimensions: ['State'], measures: ['Flights'], combine: { Flights: 'sum' } }, given);

  it.each(['pie', 'doughnut'] as const)('draws a %s whose parts add up to the whole', (type) => {
    const [ring] = seriesOf(parts, whole(type));
    const data = ring?.data as { name: string; value: number }[];
    expect(data).toHaveLength(8);
    expect(data.at(-1)?.name).toBe('Other');
    expect(data.reduce((sum, { value }) => sum + value, 0)).toBe(78);
  });

  it('says that values below zero have no part', () => {
    const given = whole('pie', [...rows.slice(0, 2), { State: 'X', Flights: -3 }]);
    expect(picture(parts, given).notes).toEqual(['1 value of zero or less not drawn']);
  });

  it('keeps the order of a funnel’s stages', () => {
    const given = whole('funnel', [
      { State: 'Seen', Flights: 10 },
      { State: 'Bought', Flights: 4 },
    ]);
    expect(seriesOf(parts, given)[0]).toMatchObject({ type: 'custom', data: [10, 4] });
    expect(picture(parts, given).summary).toContain('Bought  4  40%');
  });
});

describe('gauge, flows and distributions', () => {
  it('marks the target, and says in words whether it is reached', () => {
    const chart = {
      type: 'gauge',
      measures: ['Share'],
      format: 'percent',
      range: { min: 0, max: 0.5, target: 0.3 },
    } as const;
    const drawn = picture(gauge, drawing(chart, [{ Share: 0.2 }]));
    expect(drawn.option.series).toHaveLength(2);
    // Nothing says whether more is better.
    expect(drawn.notes).toEqual(['Target 30%, now 20%']);
    const notesOf = (better: 'higher' | 'lower') =>
      picture(gauge, drawing({ ...chart, better }, [{ Share: 0.2 }])).notes;
    expect([notesOf('higher'), notesOf('lower')]).toEqual([['Target 30%, not reached'], ['Target 30%, reached']]);
  });

  it('keeps equal names of two dimensions apart, so that no flow leads back', () => {
    const rows = [
      { From: 'A', To: 'B', Flights: 3 },
      { From: 'B', To: 'A', Flights: 2 },
    ];
    const [flow] = seriesOf(
      sankey,
      drawing({ type: 'sankey', dimensions: ['From', 'To'], measures: ['Flights'] }, rows),
    );
    expect(flow?.data).toHaveLength(4);
    expect(flow?.links).toHaveLength(2);
  });

  it('needs five measures for a box, in any order', () => {
    const five = (measures: readonly string[]) =>
      drawing({ type: 'boxplot', dimensions: ['Day'], measures }, [{ Day: 'x', a: 3, b: 1, c: 5, d: 2, e: 4 }]);
    expect(boxplot(five(['a', 'b']))).toMatch(/five measures/);
    expect(seriesOf(boxplot, five(['a', 'b', 'c', 'd', 'e']))[0]?.data).toEqual([[1, 2, 3, 4, 5]]);
  });
});

describe('a pivot table', () => {
  const rows = [
    { State: 'CA', City: 'LA', Quarter: '2001-01-01', Flights: 1, Delay: 10 },
    { State: 'CA', City: 'SF', Quarter: '2001-01-01', Flights: 2, Delay: 20 },
    { State: 'CA', City: 'SF', Quarter: '2001-04-01', Flights: 4, Delay: 30 },
    { State: 'NV', City: 'LV', Quarter: '2001-04-01', Flights: 8, Delay: 40 },
  ];
  const given = drawing(
    {
      type: 'pivotTable',
      dimensions: ['State', 'City', 'Quarter'],
      measures: ['Flights', 'Delay'],
      across: ['Quarter'],
      grains: { Quarter: 'quarter' },
      combine: { Flights: 'sum' },
    },
    rows,
  );
  const pivot = pivotOf(given.answer, given.chart, format);

  it('has columns by quarter, with totals', () => {
    expect(pivot.heads[0]).toEqual([
      { text: 'Q1 2001', span: 2 },
      { text: 'Q2 2001', span: 2 },
      { text: 'Total', span: 2 },
    ]);
  });

  it('says on each total of a truncated answer that it is of the rows shown', () => {
    const cut = pivotOf({ ...given.answer, isTruncated: true }, given.chart, format);
    expect(cut.heads[0]?.at(-1)).toEqual({ text: 'Total of the rows shown', span: 2 });
    expect(cut.rows.filter(({ kind }) => kind !== 'row').map(({ labels }) => labels[0])).toEqual([
      'CA total of the rows shown',
      'Total of the rows shown',
    ]);
  });

  it('adds up counts in subtotals and totals, and never averages', () => {
    expect(pivot.rows.map(({ kind, labels, cells }) => [kind, labels.join(), ...cells])).toEqual([
      ['row', 'CA,LA', '1', '10', '', '', '1', '10'],
      ['row', 'CA,SF', '2', '20', '4', '30', '6', ''],
      ['group', 'CA total,', '3', '', '4', '30', '7', ''],
      ['row', 'NV,LV', '', '', '8', '40', '8', '40'],
      ['total', 'Total,', '3', '', '12', '', '15', ''],
    ]);
  });
});

describe('the registry', () => {
  it('has a renderer for each type, and shows an unknown one as a table', () => {
    for (const type of chartTypes) expect(rendererOf(type).kind === 'table', type).toBe(type === 'table');
    expect(rendererOf('constructor')).toEqual({ kind: 'table' });
  });
});

describe('amounts of several currencies', () => {
  const rows: Rows = [
    { Month: '2024-01-01', Money: 'EUR', Sum: 1234.5 },
    { Month: '2024-01-01', Money: 'JPY', Sum: 98_765 },
    { Month: '2024-02-01', Money: 'EUR', Sum: 2 },
  ];
  const told = (...dimensions: readonly string[]): Partial<MetricAnswer> => ({
    columns: [
      ...dimensions.map((name) => ({ name, dataType: typeOf(rows, name) })),
      { name: 'Sum', dataType: 'number', currencyColumn: 'Money' },
    ],
  });
  const drawn = (type: GuestChart['type'], dimensions: readonly string[], of: Rows, language = 'en') =>
    picture(cartesian, {
      ...drawing({ type, dimensions, measures: ['Sum'] }, of, told(...dimensions)),
      format: createFormat(language),
    });
  const tips = ({ tip }: Picture, index: number) =>
    tip({ series: 0, index })?.lines.map(({ name, value }) => `${name} ${value}`.replaceAll('\u00a0', ' '));

  it('have the currency of their row in the tip, with its own decimals, where series or bars are currencies', () => {
    const line = drawn('line', ['Month', 'Money'], rows);
    expect(tips(line, 0)).toEqual(['EUR €1,234.50', 'JPY ¥98,765']);
    expect(tips(drawn('line', ['Month', 'Money'], rows, 'de'), 0)).toEqual(['EUR 1.234,50 €', 'JPY 98.765 ¥']);
    const bars = drawn('bar', ['Money'], rows.slice(0, 2));
    expect([tips(bars, 0), tips(bars, 1)]).toEqual([['Sum €1,234.50'], ['Sum ¥98,765']]);
    const joined = drawn('bar', ['Month', 'Money'], rows.slice(1));
    expect([tips(joined, 0), tips(joined, 1)]).toEqual([
      ['JPY ¥98,765', 'EUR —'],
      ['JPY —', 'EUR €2.00'],
    ]);
  });

  it('of series of several currencies have a panel and an axis each, and those of one share one', () => {
    const { option } = drawn('line', ['Month', 'Money'], rows);
    expect(option.yAxis).toMatchObject([{ name: 'EUR' }, { name: 'JPY' }]);
    expect(drawn('line', ['Month', 'Money'], [rows[0] ?? {}, rows[2] ?? {}]).option.yAxis).toHaveLength(1);
  });

  it('in horizontal bars have a panel each, side by side at the same names, from the reader’s start', () => {
    const kinds = rows.map((row, at) => ({ ...row, Month: at === 2 ? 'new' : 'old' }));
    const { option, notes } = drawn('row', ['Month', 'Money'], kinds);
    expect(option.xAxis).toMatchObject([{ show: false }, { show: false }]);
    expect(option.yAxis).toMatchObject([{ name: 'EUR' }, { name: 'JPY', axisLabel: { show: false } }]);
    const [first, second] = option.grid as { left: number; right: number; top: number }[];
    expect(first?.left).toBeLessThan(second?.left ?? 0);
    expect(first?.top).toBe(second?.top);
    expect(option.series).toMatchObject([{ xAxisIndex: 0 }, { xAxisIndex: 1 }]);
    expect(notes).toContain('2 panels, each with its own scale');
    const [mirrored] = drawn('row', ['Month', 'Money'], kinds, 'ar').option.grid as { right: number }[];
    expect(mirrored?.right).toBe(first?.left);
  });

  it('are not stacked, and have no mean and no order of size in the summary', () => {
    const stack = drawn('stack', ['Month', 'Money'], rows);
    expect(JSON.stringify(stack.option)).not.toContain('"stack"');
    const one = drawn('stack', ['Month', 'Money'], [rows[0] ?? {}, rows[2] ?? {}]);
    expect(JSON.stringify(one.option)).toContain('"stack"');
    const lines = [{ kind: 'average', measure: 'Sum' }] as const;
    const chart = { type: 'bar', dimensions: ['Money'], measures: ['Sum'], lines } as const;
    const { option, summary } = picture(cartesian, drawing(chart, rows.slice(0, 2), told('Money')));
    expect(JSON.stringify(option)).not.toContain('Average');
    expect(summary).not.toContain('Lowest');
    const mean = picture(cartesian, drawing(chart, [rows[0] ?? {}, rows[2] ?? {}], told('Money')));
    expect(tips(mean, 0)).toEqual(['Sum €1,234.50', 'Average €618.25']);
    expect(mean.summary).toContain('Lowest €2.00 (EUR), highest €1,234.50 (EUR)');
  });
});
