/** Columns of SQL as Studio's editor uses them in a metric. */
import { expect, test } from 'vitest';
import type { SqlDefinition } from '../../src/model/dashboard/metric.js';
import {
  answerWith,
  fitsOf,
  fittingChart,
  inOrder,
  plainSql,
  type SqlColumn,
  usedColumns,
  usesOf,
  withColumns,
} from '../../src/web/studio/base/sql-columns.js';

const month: SqlColumn = { name: 'Month', dataType: 'date', use: 'dimension' };
const state: SqlColumn = { name: 'State', dataType: 'string', use: 'dimension' };
const sales: SqlColumn = { name: 'Sales', dataType: 'number', use: 'measure' };
const best: SqlColumn = { name: 'Best', dataType: 'string', use: 'measure' };

const saved: SqlDefinition = {
  ...{ kind: 'sql', sql: 'SELECT 1', filters: [], rlsVariables: [{ name: 'region', isOptional: false }], limit: 5 },
  chart: {
    type: 'bar',
    unit: 'km',
    numbers: [
      { measure: 'Sales', unit: 'mi' },
      { measure: 'Gone', unit: 'h' },
    ],
  },
  ...{ dimensions: [{ name: 'State' }], measures: [{ name: 'Sales' }, { name: 'Gone' }] },
  sort: [
    { name: 'Gone', direction: 'DESC' },
    { name: 'Sales', direction: 'ASC' },
  ],
};

test('the chart that fits the columns is proposed, and one that was chosen stays while it fits', () => {
  expect(fittingChart([month, sales], null)).toBe('line');
  expect(fittingChart([state, sales], null)).toBe('bar');
  expect(fittingChart([state, month, sales], null)).toBe('bar');
  expect(fittingChart([sales], null)).toBe('singleValue');
  expect(fittingChart([state, best], null)).toBe('table');
  expect(fittingChart([state], null)).toBe('table');
  expect(fittingChart([state, sales], 'pie')).toBe('pie');
  expect(fittingChart([state, { ...sales, use: 'none' }], 'pie')).toBe('table');
  expect(fitsOf([state, sales]).find(({ type }) => type === 'gauge')?.need).toEqual({ code: 'fewer-groups', count: 0 });
});

test('a column keeps the use that its author chose, and a new one is used as proposed', () => {
  const before = usesOf(saved);
  const found = [{ ...state, use: 'measure' as const }, { ...month }, { ...sales, use: 'none' as const }];
  expect(usedColumns(found, before).map(({ name, use }) => [name, use])).toEqual([
    ['State', 'dimension'],
    ['Month', 'dimension'],
    ['Sales', 'measure'],
  ]);
});

test('a metric with other columns keeps all else, and says nothing of columns that are gone', () => {
  const changed = withColumns(saved, [state, { ...best, use: 'none' }, sales], 'row');
  expect(changed).toEqual({
    ...saved,
    chart: { type: 'row', unit: 'km', numbers: [{ measure: 'Sales', unit: 'mi' }] },
    measures: [{ name: 'Sales' }],
    sort: [{ name: 'Sales', direction: 'ASC' }],
  });
});

test('what is run says nothing of its columns, and keeps variables, filters and the limit', () => {
  expect(plainSql(saved, 'SELECT 2')).toEqual({
    ...saved,
    ...{ sql: 'SELECT 2', chart: { type: 'table' }, dimensions: [], measures: [], sort: [] },
  });
});

test('columns that are left out are no part of the answer that the chart shows', () => {
  const columns = [state, best, sales].map(({ name, dataType }) => ({ name, dataType }));
  const answer = { rows: [{ State: 'CA', Best: 'x', Sales: 1 }], columns, groupbyColumnList: [], totalRecords: 1 };
  const shown = answerWith(answer, [sales, { ...best, use: 'none' }, state]);
  expect([shown.columns.map(({ name }) => name), shown.groupbyColumnList]).toEqual([['State', 'Sales'], ['State']]);
});

test('SQL is tried in the order that decides which rows a limit leaves, by the columns that are there', () => {
  const plain = plainSql(saved, 'SELECT 2');
  const columns = [{ name: 'State' }, { name: 'Sales' }];
  expect(inOrder(plain, columns, saved.sort)).toMatchObject({
    ...{ sql: 'SELECT 2', dimensions: columns, sort: [{ name: 'Sales', direction: 'ASC' }] },
  });
  expect(inOrder(plain, [{ name: 'Other' }], saved.sort)).toEqual(plain);
  expect(inOrder(plain, columns, [])).toEqual(plain);
});
