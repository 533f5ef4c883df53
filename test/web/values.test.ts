/** What belongs to a value in every chart: its own name, its own switch, its own colour. And nothing is left out in silence. */
import { describe, expect, it } from 'vitest';
import type { GuestChart } from '../../src/model/guest/view.js';
import type { AnswerColumn, MetricAnswer } from '../../src/model/query/engine.js';
import { dark, light } from '../../src/model/theme/palette.js';
import { createFormat } from '../../src/web/base/format.js';
import { draw as cartesian } from '../../src/web/charts/families/cartesian.js';
import { draw as columns } from '../../src/web/charts/families/columns.js';
import { draw as parts } from '../../src/web/charts/families/parts.js';
import { draw as sankey } from '../../src/web/charts/families/sankey.js';
import { draw as scatter } from '../../src/web/charts/families/scatter.js';
import { type Draw, type Drawing, mostHeight, type Picture } from '../../src/web/charts/model/drawing.js';
import { slotOf } from '../../src/web/charts/model/slots.js';
import { pivotOf } from '../../src/web/charts/pivot.js';

const format = createFormat('en');
type Rows = MetricAnswer['rows'];

const types: Readonly<Record<string, AnswerColumn['dataType']>> = { Month: 'date', Flights: 'number', Delay: 'number' };

const drawing = (
  chart: Partial<GuestChart> & Pick<GuestChart, 'type'>,
  rows: Rows,
  more: Partial<Drawing> = {},
): Drawing => {
  const whole: GuestChart = { dimensions: [], measures: ['Flights'], isDrillable: false, ...chart };
  const names = [...whole.dimensions, ...whole.measures];
  return {
    name: 'Flights',
    answer: {
      columns: names.map((name) => ({ name, dataType: types[name] ?? 'string' })),
      rows,
      groupbyColumnList: whole.dimensions,
      totalRecords: rows.length,
    },
    chart: whole,
    format,
    theme: { ...light, fontFamily: 'x' },
    isReducedMotion: true,
    choice: { hidden: new Set(), zoom: null },
    width: 600,
    height: 300,
    ...more,
  };
};
const picture = (draw: Draw, given: Drawing): Picture => {
  const drawn = draw(given);
  if (typeof drawn === 'string') throw new Error(drawn);
  return drawn;
};
const coloursIn = ({ legend }: Picture) => new Map(legend.map(({ name, colour }) => [name, colour]));

const months = ['2001-01-01', '2001-02-01'];
/** Values that read alike, if anything does. */
const alike = [null, '', '(none)', '(empty text)', 'Other'];

/** Each chart that has a legend of a dimension's values. */
const split: readonly (readonly [GuestChart['type'], Draw])[] = [
  ...(['line', 'stepped', 'area', 'timeSeries', 'stack', 'combo', 'bar', 'row'] as const).map(
    (type) => [type, cartesian] as const,
  ),
  ['histogram', columns],
];
const byMonth = (type: GuestChart['type'], values: Rows[number][string][], more?: Partial<Drawing>) =>
  drawing(
    { type, dimensions: ['Month', 'State'], combine: { Flights: 'sum' } },
    months.flatMap((Month) => values.map((State, at) => ({ Month, State: State ?? null, Flights: at + 1 }))),
    more,
  );

describe('values that read alike', () => {
  it.each(split)('have a name and a switch each in a chart of type %s (metabase#36251)', (type, draw) => {
    const given = byMonth(type, alike);
    const { legend } = picture(draw, given);
    expect(new Set(legend.map(({ name }) => name)).size).toBe(alike.length);
    expect(new Set(legend.map(({ key }) => key)).size).toBe(alike.length);
    for (const { key } of legend) {
      const { legend: after } = picture(draw, { ...given, choice: { hidden: new Set([key]), zoom: null } });
      expect(after.filter(({ isHidden }) => isHidden).map((each) => each.key)).toEqual([key]);
    }
  });

  it.each([
    ['pie', parts, ['State']],
    ['doughnut', parts, ['State']],
    ['scatter', scatter, ['Month', 'State']],
  ] as const)('have a switch each in a chart of type %s', (type, draw, dimensions) => {
    const rows = alike.map((State, at) => ({ Month: months[0] ?? '', State, Flights: at + 1, Delay: at }));
    const given = drawing(
      { type, dimensions: [...dimensions], measures: ['Flights', 'Delay'], combine: { Flights: 'sum' } },
      rows,
      { width: 300 },
    );
    const { legend } = picture(draw, given);
    expect(new Set(legend.map(({ name }) => name)).size).toBe(alike.length);
    for (const { key } of legend) {
      const { legend: after } = picture(draw, { ...given, choice: { hidden: new Set([key]), zoom: null } });
      expect(after.filter(({ isHidden }) => isHidden).map((each) => each.key)).toEqual([key]);
    }
  });

  it('are places of their own in a flow chart, apart from what is combined', () => {
    const values = [...alike, ...Array.from({ length: 20 }, (_, at) => `S${at}`)];
    const rows = values.map((State, at) => ({ From: 'x', State, Flights: 100 - at }));
    const [series] = picture(sankey, drawing({ type: 'sankey', dimensions: ['From', 'State'] }, rows)).option
      .series as readonly { data: readonly { name: string }[] }[];
    const ids = series?.data.map(({ name }) => name) ?? [];
    expect(new Set(ids).size).toBe(1 + 12);
    for (const value of alike) expect(ids).toContain(`1:${JSON.stringify(value)}`);
    expect(ids).toContain('1:other');
  });

  it('are columns of their own in a pivot table', () => {
    const rows = alike.map((State) => ({ Month: 'x', State, Flights: 1 }));
    const { answer, chart } = drawing({ type: 'pivotTable', dimensions: ['Month', 'State'] }, rows);
    const [heads = []] = pivotOf(answer, chart, format).heads;
    expect(new Set(heads.map(({ text }) => text)).size).toBe(alike.length);
  });
});

describe('the colour of a value', () => {
  it.each(split)('stays in a chart of type %s whatever the filter leaves (superset#7163)', (type, draw) => {
    const slots = {};
    const before = coloursIn(picture(draw, byMonth(type, ['CA', 'NV', 'TX'], { slots })));
    const after = coloursIn(picture(draw, byMonth(type, ['TX', 'WA', 'NV'], { slots })));
    for (const state of ['TX', 'NV']) expect(after.get(state)).toBe(before.get(state));
    expect([...before.values()]).not.toContain(after.get('WA'));
  });

  it.each(['pie', 'doughnut', 'funnel'] as const)('stays in a chart of type %s when its rank changes', (type) => {
    const slots = {};
    const colourOf = (rows: readonly (readonly [string, number])[]) => {
      const given = drawing(
        { type, dimensions: ['State'] },
        rows.map(([State, Flights]) => ({ State, Flights })),
        { slots },
      );
      const drawn = picture(parts, given);
      const marks = rows.map((_, index) => drawn.tip({ series: 0, index }));
      return new Map(marks.map((tip) => [tip?.title, tip?.lines[0]?.colour]));
    };
    const before = colourOf([
      ['CA', 3],
      ['NV', 2],
      ['TX', 1],
    ]);
    const after = colourOf([
      ['TX', 9],
      ['CA', 2],
    ]);
    expect([after.get('TX'), after.get('CA')]).toEqual([before.get('TX'), before.get('CA')]);
    expect(new Set(before.values()).size).toBe(3);
  });

  it('is the same in all charts of a dashboard', () => {
    const slots = {};
    const line = coloursIn(picture(cartesian, byMonth('line', ['CA', 'NV'], { slots })));
    const stack = coloursIn(picture(cartesian, byMonth('stack', ['NV', 'CA'], { slots })));
    expect([...stack].sort()).toEqual([...line].sort());
  });

  it('is the author’s, in each theme, and given to no other value', () => {
    const slots = {};
    const pinned = { value: 'TX', colour: light.series[0] ?? '' };
    for (const theme of [light, dark].map((palette) => ({ ...palette, fontFamily: 'x' }))) {
      const given = byMonth('stack', ['CA', 'TX', 'NV'], { slots, theme });
      const columns = given.answer.columns.map((column) =>
        column.name === 'State' ? { ...column, valueColours: [pinned] } : column,
      );
      const colours = coloursIn(picture(cartesian, { ...given, answer: { ...given.answer, columns } }));
      expect(colours.get('TX')).toBe(light.series[0]);
      expect(new Set(colours.values()).size).toBe(3);
    }
  });

  it('is told apart from the same colour of another value by a pattern, for as long as both are shown', () => {
    const slots = {};
    const ten = Array.from({ length: 10 }, (_, at) => `S${at}`);
    for (const state of ten) slotOf(slots, { name: 'State' }, state, light.series);
    const drawn = picture(cartesian, byMonth('stack', ['S0', 'S8'], { slots }));
    expect(drawn.legend.map(({ colour }) => colour)).toEqual([light.series[0], light.series[0]]);
    expect(drawn.legend.map(({ hasPattern }) => hasPattern)).toEqual([false, true]);
    const [plain, hatched] = drawn.option.series as readonly { itemStyle: object }[];
    expect([Object.keys(plain?.itemStyle ?? {}), Object.keys(hatched?.itemStyle ?? {})]).toEqual([[], ['decal']]);
  });

  it('is of no value for what is combined', () => {
    const many = Array.from({ length: 20 }, (_, at) => `S${at}`);
    const { legend } = picture(cartesian, byMonth('stack', many));
    expect(legend.at(-1)).toMatchObject({ name: 'Other', colour: light.other, hasPattern: false });
  });
});

describe('nothing is left out in silence', () => {
  it('keeps series of a sparse answer as series', () => {
    const rows = months.map((Month, at) => ({ Month, State: `S${at}`, Flights: 1 }));
    for (const type of ['line', 'stepped', 'area', 'timeSeries', 'stack', 'combo'] as const) {
      const { legend } = picture(cartesian, drawing({ type, dimensions: ['Month', 'State'] }, rows));
      expect([type, legend.map(({ name }) => name)]).toEqual([type, ['S0', 'S1']]);
    }
  });

  it('notes points without a time', () => {
    const rows = [...months, null, null].map((Month) => ({ Month, Flights: 1 }));
    for (const type of ['line', 'stepped', 'area', 'timeSeries'] as const) {
      const { notes } = picture(cartesian, drawing({ type, dimensions: ['Month'] }, rows));
      expect(notes).toEqual(['2 points without a time are not drawn']);
    }
    expect(picture(cartesian, drawing({ type: 'bar', dimensions: ['Month'] }, rows)).notes).toEqual([]);
  });

  it.each([
    ['bar', cartesian, ['State'], 178],
    ['row', cartesian, ['State'], 178],
    ['stack', cartesian, ['State', 'Kind'], 178],
    ['funnel', parts, ['State'], 166],
  ] as const)('bounds the height of a chart of type %s and says so', (type, draw, dimensions, n) => {
    const rows = Array.from({ length: 1200 }, (_, at) => ({ State: `Name ${at}`, Kind: 'x', Flights: at + 1 }));
    const drawn = picture(draw, drawing({ type, dimensions: [...dimensions] }, rows));
    expect(drawn.height).toBeLessThanOrEqual(mostHeight);
    expect(drawn.notes).toEqual([`First ${n} of 1,200 drawn, the table has all`]);
    const few = picture(draw, drawing({ type, dimensions: [...dimensions] }, rows.slice(0, n)));
    expect([few.notes, (few.height ?? 0) <= mostHeight]).toEqual([[], true]);
  });

  it('writes a bucket of fractions without the rest of a sum', () => {
    const rows = [0.1, 0.2, 0.3].map((Delay) => ({ Delay, Flights: 1 }));
    const { option } = picture(columns, drawing({ type: 'histogram', dimensions: ['Delay'] }, rows));
    expect((option.xAxis as { data: readonly string[] }).data).toEqual(['0.1–0.2', '0.2–0.3', '0.3–0.4']);
  });
});
