/** How elements show the rows that combine all other values: the last ones, grey, under one name, and with no click. */
import { describe, expect, it } from 'vitest';
import de from '../../src/languages/de.json' with { type: 'json' };
import { guestFields } from '../../src/model/guest/fields.js';
import type { GuestChart } from '../../src/model/guest/view.js';
import type { MetricAnswer } from '../../src/model/query/engine.js';
import { light } from '../../src/model/theme/palette.js';
import { answerIn } from '../../src/web/base/client.js';
import { createFormat } from '../../src/web/base/format.js';
import { othersCell } from '../../src/web/base/others.js';
import { draw as cartesian } from '../../src/web/charts/families/cartesian.js';
import { draw as parts } from '../../src/web/charts/families/parts.js';
import type { Draw } from '../../src/web/charts/model/drawing.js';
import { plotOf } from '../../src/web/charts/model/plot.js';
import { definitionOf, draftOf, emptyDraft, wholeOf } from '../../src/web/editor/draft.js';
import { type Action, edit, mayCombineOthers, refusalOf } from '../../src/web/editor/edit.js';
import { columnRef, datamart, table } from '../engine/world.js';

const format = createFormat('en');
const german = createFormat('de', de.elements);
const chartOf = (type: GuestChart['type'], dimensions: readonly string[]): GuestChart => ({
  ...{ type, dimensions, measures: ['Sales'], isDrillable: true, combine: { Sales: 'sum' } },
});

const read = (data: MetricAnswer['rows'], name: string, rows: number, dimensions: readonly string[]): MetricAnswer => {
  const column = (each: string) => ({ name: each, dataType: each === 'Sales' ? 'number' : 'string' });
  const metaData = { columns: [...dimensions, 'Sales'].map(column), groupbyColumnList: dimensions };
  const answer = answerIn({ data, metaData, totalRecords: data.length, others: { name, rows } });
  if (answer === undefined) throw new Error('no answer');
  return answer;
};
/** A group called Other, one without a value, and the others. */
const byShop = read(
  [
    { Shop: 'Other', Sales: 5 },
    { Shop: null, Sales: 4 },
    { Shop: null, Sales: 9 },
  ],
  'Shop',
  1,
  ['Shop'],
);
const picture = (draw: Draw, answer: MetricAnswer, chart: GuestChart) => {
  const theme = { ...light, fontFamily: 'x' };
  const choice = { hidden: new Set<string>(), zoom: null };
  const size = { width: 600, height: 300, isReducedMotion: true };
  const drawn = draw({ ...{ name: 'Sales', answer, chart, format, theme, choice }, ...size });
  if (typeof drawn === 'string') throw new Error(drawn);
  return drawn;
};
type Item = { readonly name?: string; readonly value: number; readonly itemStyle?: { readonly color?: string } };
const itemsOf = ({ option }: ReturnType<typeof picture>): readonly Item[] =>
  (option.series as readonly { readonly data: readonly Item[] }[])[0]?.data ?? [];

describe('the rows of all others', () => {
  it('read as Other in the reader’s language, apart from a group of that name and from none', () => {
    const labels = (of: typeof format) => plotOf(byShop, chartOf('bar', ['Shop']), of).points.map(({ label }) => label);
    expect(labels(format)).toEqual(['Other', '(none)', 'Other']);
    expect(labels(german).at(-1)).toBe('Andere');
    expect(plotOf(byShop, chartOf('bar', ['Shop']), format).points.map(({ value }) => value)).toEqual([
      'Other',
      null,
      othersCell,
    ]);
  });

  it.each(['bar', 'row'] as const)('are the one grey bar of a %s chart', (type) => {
    const items = itemsOf(picture(cartesian, byShop, chartOf(type, ['Shop'])));
    expect(items.map(({ itemStyle }) => itemStyle?.color)).toEqual([undefined, undefined, light.other]);
  });

  it('are the last part of a pie, grey, even if it is the largest', () => {
    const items = itemsOf(picture(parts, byShop, chartOf('pie', ['Shop'])));
    expect(items.map(({ value }) => value)).toEqual([5, 4, 9]);
    expect(items.at(-1)?.itemStyle?.color).toBe(light.other);
  });

  it('are one grey series of a stack, also beside more series than a chart draws', () => {
    const many = (count: number): MetricAnswer =>
      read(
        [
          ...Array.from({ length: count }, (_, at) => ({ Shop: 'x', Kind: `k${at}`, Sales: 20 - at })),
          { Shop: 'x', Kind: null, Sales: 7 },
        ],
        'Kind',
        1,
        ['Shop', 'Kind'],
      );
    const seriesOf = (count: number) => plotOf(many(count), chartOf('stack', ['Shop', 'Kind']), format).series;
    const few = seriesOf(2);
    expect(few.map(({ name, slot }) => [name, slot])).toEqual([
      ['k0', 0],
      ['k1', 1],
      ['Other', null],
    ]);
    const more = seriesOf(10);
    expect(more.filter(({ name }) => name === 'Other').map(({ values }) => values)).toEqual([[7 + 13 + 12 + 11]]);
  });
});

describe('the editor', () => {
  const mart = datamart({ tables: [table('sales', { shop: 'VARCHAR', amount: 'BIGINT' }, 'client')] });
  const catalogue = guestFields(
    { datamart: mart, isReadable: () => true, joinModel: 'multi', conditions: [] },
    undefined,
  );
  const run = (...actions: readonly Action[]) =>
    actions.reduce((draft, action) => edit(draft, catalogue, action), emptyDraft);
  const begun = run(
    { kind: 'addGroup', shelf: 'dimensions', column: columnRef('sales.shop'), name: 'Shop', grouping: {} },
    { kind: 'addMeasure', column: columnRef('sales.amount'), aggregate: 'SUM', name: 'Sales' },
    { kind: 'chooseChart', type: 'bar' },
    { kind: 'sort', name: 'Sales', direction: 'DESC' },
  );
  const combine: Action = { kind: 'others', isCombined: true };

  it('offers to combine the others beside a limit and a sort by a measure, and sends and keeps the choice', () => {
    expect([mayCombineOthers(begun), refusalOf(begun, catalogue, combine)]).toEqual([false, 'others-do-not-fit']);
    const limited = edit(begun, catalogue, { kind: 'limit', rows: 5 });
    expect(mayCombineOthers(limited)).toBe(true);
    const combined = edit(limited, catalogue, combine);
    const sent = definitionOf(combined);
    expect(sent).toMatchObject({ limit: 5, others: true });
    if (sent === undefined) throw new Error('no definition');
    expect(draftOf(wholeOf(sent)).others).toBe(true);
    const without = edit(combined, catalogue, { kind: 'others', isCombined: false });
    expect(definitionOf(without)?.others).toBeUndefined();
  });

  it('leaves the others out where a change takes their place away', () => {
    const combined = edit(edit(begun, catalogue, { kind: 'limit', rows: 5 }), catalogue, combine);
    for (const change of [
      { kind: 'limit', rows: null },
      { kind: 'sort', name: 'Shop', direction: 'DESC' },
      { kind: 'chooseChart', type: 'line' },
    ] as const) {
      expect(definitionOf(edit(combined, catalogue, change))?.others).toBeUndefined();
    }
  });
});
