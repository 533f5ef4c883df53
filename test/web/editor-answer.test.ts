/** The fields that the lists of the editor offer: for drilling and for comparisons. */
import { expect, test } from 'vitest';
import { guestFields } from '../../src/domain/guest/fields.js';
import { type Draft, emptyDraft } from '../../src/web/editor/draft.js';
import { edit } from '../../src/web/editor/edit.js';
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
