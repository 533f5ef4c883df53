/**
 * `tenancyPath` and `sharedTables` in requests: an entry that names nothing, or contradicts another declaration, is
 * refused.
 */
import { describe, expect, test } from 'vitest';
import { changeParts, type DatamartChanges, type DatamartParts, noParts } from '../../src/model/datamart/changes.js';
import type { RelationshipDraft } from '../../src/model/datamart/relationships.js';
import { type TableDraft, viewSource } from '../../src/model/datamart/tables.js';
import type { Datasource } from '../../src/model/organization.js';
import { refusalOf } from '../engine/world.js';

const datasource: Datasource = { id: 'd', name: 'd', syncedAt: null, datasourceType: 'DUCKDB', path: 'x' };
const names = ['orders', 'lines', 'users', 'other', '*'];
const source = viewSource(
  datasource,
  names.map((tableName) => ({
    schemaName: 'main',
    tableName,
    columns: ['id', 'of'].map((columnName) => ({ columnName, datatype: 'BIGINT', isNullable: false })),
    primaryKey: ['id'],
    uniqueKeys: [],
    foreignKeys: [],
  })),
);
const table = (name: string, parts: Partial<TableDraft> = {}): TableDraft => ({
  name,
  columns: [{ name: 'id' }, { name: 'of' }],
  ...parts,
});
const related = (relationshipName: string, parentTableName: string, childTableName: string): RelationshipDraft => ({
  relationshipName,
  parentTableName,
  parentColumnName: 'of',
  childTableName,
  childColumnName: 'id',
});
const byOrder = related('order of line', 'lines', 'orders');
const byUser = related('user of line', 'lines', 'users');

const shop: DatamartChanges = {
  tableList: [table('orders', { clientColumn: 'of' }), table('lines'), table('users', { clientColumn: 'of' })],
  relationships: [byOrder, byUser],
  sharedTables: [],
};
const withPath = (tenancyPath: string, parts: Partial<TableDraft> = {}): DatamartChanges => ({
  ...shop,
  tableList: [
    ...(shop.tableList ?? []).filter(({ name }) => name !== 'lines'),
    table('lines', { tenancyPath, ...parts }),
  ],
});
const made = (change: DatamartChanges, from: DatamartParts = noParts): DatamartParts =>
  changeParts(from, change, source);
const fault = async (change: DatamartChanges, from: DatamartParts = noParts): Promise<string> => {
  const refusal = await refusalOf(async () => made(change, from));
  expect(refusal.code).toBe('INVALID_REQUEST_BODY');
  return refusal.message;
};
const pathOf = ({ tables }: DatamartParts) => tables.find(({ tableName }) => tableName === 'lines')?.tenancyPath;

describe('tenancyPath', () => {
  test('names a relationship of its table, and is kept; a list without it clears it', () => {
    const parts = made(withPath('user of line'));
    expect(pathOf(parts)).toBe('user of line');
    expect(pathOf(made({ relationships: [byUser] }, parts))).toBe('user of line');
    expect(pathOf(made({ tableList: shop.tableList }, parts))).toBeNull();
  });

  test('a tenancyPath that is unknown or of other tables is refused; the fault names the field and the valid names', async () => {
    expect(await fault(withPath('user'))).toBe(
      'tableList[2].tenancyPath: got string "user", expected a relationshipName of table "lines"; it has "order of line", "user of line".',
    );
    const elsewhere = related('orders of users', 'orders', 'users');
    expect(await fault({ ...withPath('orders of users'), relationships: [elsewhere] })).toContain(
      'tableList[2].tenancyPath: got string "orders of users", expected a relationshipName of table "lines"; it has none',
    );
  });

  test('a relationship of the table to itself leads to no client', async () => {
    const itself = related('line of line', 'lines', 'lines');
    expect(await fault({ ...withPath('line of line'), relationships: [byUser, itself] })).toContain(
      'expected a relationshipName of table "lines"; it has "user of line"',
    );
  });

  test('a tenancyPath stands beside no clientColumn and no entry of sharedTables: rows belong by one of them', async () => {
    expect(await fault(withPath('user of line', { clientColumn: 'of' }))).toContain(
      'tableList[2].tenancyPath: got string "user of line", expected none, because of clientColumn "of"',
    );
    expect(await fault({ ...withPath('user of line'), sharedTables: ['main.lines'] })).toContain(
      'expected none, because of the entry "main.lines" of sharedTables',
    );
    expect(await fault({ sharedTables: ['lines'] }, made(withPath('user of line')))).toContain(
      'table "lines" has the tenancyPath "user of line", which contradicts the entry "lines" of sharedTables',
    );
  });

  test('relationships that leave the named one out are refused, so that no table loses its way unasked', async () => {
    expect(await fault({ relationships: [byOrder] }, made(withPath('user of line')))).toContain(
      'relationships: table "lines" has the tenancyPath "user of line", which is no relationship of that table in the list',
    );
  });

  test('faulty relationships are named by their own faults alone', async () => {
    const message = await fault({
      ...withPath('user of line'),
      relationships: [{ ...byUser, childTableName: 'none' }],
    });
    expect(message).toMatch(/^relationships\[0\]\.childTableName: [^;]*\.$/);
  });
});

describe('sharedTables lists tables by name', () => {
  test.each(['*', 'main.*', 'eu.*'])('sharedTables lists tables by name: %s is refused', async (entry) => {
    expect(await fault({ ...shop, sharedTables: [entry] })).toBe(
      `sharedTables[0]: got string "${entry}", expected the name of one table; list each table that is for all tenants.`,
    );
  });

  test('a table that is really named * is meant by its full name alone', async () => {
    const withStar = { ...shop, tableList: [...(shop.tableList ?? []), table('*')] };
    expect(made({ ...withStar, sharedTables: ['main.*'] }).sharedTables).toEqual(['main.*']);
    expect(await fault({ ...withStar, sharedTables: ['*'] })).toContain('sharedTables[0]: got string "*"');
  });

  test('an entry that names no table is refused', async () => {
    expect(await fault({ ...shop, sharedTables: ['lines', 'nothing'] })).toBe(
      'sharedTables[1]: got string "nothing", expected a table of the datamart.',
    );
  });
});
