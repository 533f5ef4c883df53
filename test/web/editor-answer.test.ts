/** What the lists of the editor offer: fields for drilling and for comparisons, and ways to write dates. */
import { expect, test } from 'vitest';
import { guestFields } from '../../src/model/guest/fields.js';
import { createFormat } from '../../src/web/base/format.js';
import { datedColumns, precisionChoices, styleChoices } from '../../src/web/editor/dated.js';
import { type Draft, emptyDraft } from '../../src/web/editor/draft.js';
import { type Action, edit, refusalOf } from '../../src/web/editor/edit.js';
import { readableFields } from '../../src/web/editor/readable-fields.js';
import { columnRef, datamart, relationship, table } from '../engine/world.js';

const sales = table('sales', { shop: 'INTEGER', sold: 'DATE', note: 'JSON' }, 'client');
const shops = table('shops', { id: 'INTEGER', region: 'VARCHAR' });
const apart = table('apart', { day: 'DATE' });
const mart = datamart({ tables: [sales, shops, apart], relationships: [relationship('shops.id', 'sales.shop')] });
const scope = { datamart: mart, isReadable: () => true, joinModel: 'multi', conditions: [] } as const;
const catalogue = guestFields(scope, undefined);

test('lists of the editor offer the fields that the metric may read, with their table', () => {
  const offered = (draft: Draft) => readableFields(draft, catalogue).map(({ label }) => label);
  expect(offered(emptyDraft)).toEqual(expect.arrayContaining(['sales · sold', 'shops · region', 'apart · day']));
  const begun = edit(emptyDraft, catalogue, {
    kind: 'addGroup',
    shelf: 'dimensions',
    column: columnRef('shops.region'),
  });
  expect(offered(begun)).not.toContain('apart · day');
  expect(offered(begun)).not.toContain('sales · note');
  expect(readableFields(begun, catalogue).filter(({ isDate }) => isDate)).toEqual([
    { column: columnRef('sales.sold'), label: 'sales · sold', isDate: true },
  ]);
});

const run = (...actions: readonly Action[]): Draft =>
  actions.reduce((draft, action) => edit(draft, catalogue, action), emptyDraft);

test('columns of dates are those of the answer and of the drill that are written as dates', () => {
  const column = columnRef('sales.sold');
  const split = (name: string, grain?: 'month' | 'quarter' | 'dayOfWeek'): Action => ({
    ...{ kind: 'addGroup', shelf: 'dimensions', column, name, grouping: grain === undefined ? {} : { grain } },
  });
  const draft = run(
    ...[split('Month', 'month'), split('Quarter', 'quarter'), split('Weekday', 'dayOfWeek'), split('Sold')],
    { kind: 'addMeasure', column, aggregate: 'MAX', name: 'Last' },
    { kind: 'addMeasure', column, aggregate: 'COUNT', name: 'Sales' },
    { kind: 'addGroup', shelf: 'drillPath', column, name: 'Step', grouping: {} },
  );
  expect(datedColumns(draft, catalogue).map(({ name }) => name)).toEqual(['Month', 'Sold', 'Step', 'Last']);
  const write = (name: string, dates: object): Action => ({ kind: 'formatDates', name, dates });
  expect(refusalOf(draft, catalogue, write('Sales', { style: 'short' }))).toBe('unknown-part');
  const short = edit(draft, catalogue, write('Last', { style: 'short', precision: 'day' }));
  expect(short.chart.dates).toEqual([{ name: 'Last', style: 'short', precision: 'day' }]);
  expect(edit(short, catalogue, write('Last', {})).chart).toEqual(draft.chart);
});

test('ways to write dates are shown by examples, the usual one first', () => {
  const labels = (choices: readonly (readonly [string, string])[]) => choices.map(([, label]) => label);
  const german = createFormat('de');
  const month = styleChoices({ name: 'Month', grain: 'month' }, {}, german);
  expect(labels(month)).toEqual(['Februar 2026', '02/2026', 'Feb. 2026']);
  const day = styleChoices({ name: 'Sold', grain: undefined }, {}, german);
  expect(labels(day)).toEqual(['13. Feb. 2026', '13.02.2026', '13. Februar 2026', 'Freitag, 13. Februar 2026']);
  expect(day.map(([value]) => value)).toEqual(['', 'short', 'long', 'full']);
  expect(labels(precisionChoices({ style: 'short' }, german))).toEqual([
    'Time if there is one',
    '2026',
    '02/2026',
    '13.02.2026',
    '13.02.2026, 14:05',
    '13.02.2026, 14:05:09',
  ]);
});
