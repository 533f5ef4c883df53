/** Studio says whose rows a table of a model holds. What one choice sets, another takes back. */

import { expect, test } from 'vitest';
import type { Cardinality } from '../../src/model/datamart/datamart.js';
import {
  changeOf,
  ownershipOf,
  type StoredModel,
  type StoredTable,
  waysOf,
  withOwnership,
} from '../../src/web/studio/base/model-edit.js';

const table = (tableName: string, parts: Partial<StoredTable> = {}): StoredTable => ({
  ...{
    schemaName: 'public',
    tableName,
    label: '',
    clientColumn: null,
    tenancyPath: null,
    isHide: false,
    wildcard: null,
  },
  ...{ datamartTableColumns: [], ...parts },
});
const leads = (parent: string, child: string, cardinality: Cardinality = 'ManyToOne') => ({
  ...{ relationshipName: `${parent}.${child}`, parentTableName: `public.${parent}`, childTableName: `public.${child}` },
  ...{ parentColumnName: `${child}_id`, childColumnName: 'id', cardinality, join: null },
});
const model: StoredModel = {
  ...{ name: 'courses', updatedAt: '', companyIntegration: { name: 'courses' }, sharedTables: [] },
  datamartOrganization: null,
  datamartTables: [table('bookings'), table('classes', { clientColumn: 'studio_id' }), table('members')],
  datamartRelationships: [leads('bookings', 'classes'), leads('bookings', 'members'), leads('members', 'classes')],
};
const bookings = (of: StoredModel): StoredTable => of.datamartTables[0] ?? table('none');

test('where several relationships lead on, one of them can be chosen', () => {
  expect(model.datamartTables.map((one) => waysOf(model, one).length)).toEqual([2, 0, 0]);
  const chosen = withOwnership(model, 'public.bookings', 'path:bookings.members');
  expect(ownershipOf(chosen, bookings(chosen))).toBe('path:bookings.members');
  expect(changeOf(chosen)).toMatchObject({
    tableList: [{ name: 'bookings', tenancyPath: 'bookings.members' }, {}, {}],
  });
});

test('a relationship of one to many leads from its child', () => {
  const turned = {
    ...model,
    datamartRelationships: [leads('classes', 'bookings', 'OneToMany'), leads('bookings', 'members')],
  };
  expect(waysOf(turned, bookings(turned))).toHaveLength(2);
});

test.each(['column:id', 'shared', 'related'])('%s takes the chosen relationship back', (value) => {
  const chosen = withOwnership(model, 'public.bookings', 'path:bookings.members');
  const next = withOwnership(chosen, 'public.bookings', value);
  expect(ownershipOf(next, bookings(next))).toBe(value);
  expect(bookings(next).tenancyPath).toBeNull();
});
