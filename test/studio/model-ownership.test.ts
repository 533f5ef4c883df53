/** Studio says whose rows a table of a model holds. What one choice sets, another takes back. */

import { expect, test } from 'vitest';
import { baseFilterWords } from '../../src/model/datamart/base-filter-words.js';
import type { Cardinality } from '../../src/model/datamart/datamart.js';
import {
  bridgesOf,
  changeOf,
  filtersFor,
  ownershipOf,
  plainColumn,
  type StoredModel,
  type StoredTable,
  waysOf,
  withBaseFilters,
  withOwnership,
  withReadable,
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

const column = (columnName: string, datatype = 'text') => ({ ...plainColumn, columnName, datatype });
const people: StoredModel = {
  ...model,
  datamartTables: [
    table('members', {
      datamartTableColumns: [column('id'), column('name'), column('email'), column('is_test', 'boolean')],
    }),
    table('seats', { clientColumn: 'studio_id' }),
  ],
  datamartRelationships: [leads('seats', 'members'), leads('members', 'studios')],
};
const members = (of: StoredModel): StoredTable => of.datamartTables[0] ?? table('none');

test('a table is read through a table that refers to it, at first by its key and its name', () => {
  expect(bridgesOf(people, members(people)).map(({ relationshipName }) => relationshipName)).toEqual(['seats.members']);
  const chosen = withOwnership(people, 'public.members', 'through:seats.members');
  expect(ownershipOf(chosen, members(chosen))).toBe('through:seats.members');
  expect(members(chosen).through?.columns).toEqual(['id', 'name']);
  const taken = withOwnership(chosen, 'public.members', 'related');
  expect(members(taken).through).toBeUndefined();
});

test('columns of a bridged table become readable one by one, and the last one stays', () => {
  const chosen = withOwnership(people, 'public.members', 'through:seats.members');
  const more = withReadable(chosen, 'public.members', 'email', true);
  expect(members(more).through?.columns).toEqual(['id', 'name', 'email']);
  const one = ['email', 'name'].reduce((of, name) => withReadable(of, 'public.members', name, false), more);
  expect(members(withReadable(one, 'public.members', 'id', false)).through?.columns).toEqual(['id']);
  expect(changeOf(more)).toMatchObject({ tableList: [{ through: { relationship: 'seats.members' } }, {}] });
});

test('base filters are offered by the type of a column, and taken back', () => {
  expect(members(people).datamartTableColumns.flatMap(filtersFor).map(baseFilterWords)).toContain('is_test = false');
  const [filter] = filtersFor(column('email'));
  if (filter === undefined) throw new Error('a column has a filter');
  const filtered = withBaseFilters(people, 'public.members', [filter]);
  expect(changeOf(filtered)).toMatchObject({ tableList: [{ baseFilters: [filter] }, {}] });
  expect(members(withBaseFilters(filtered, 'public.members', [])).baseFilters).toBeUndefined();
});
