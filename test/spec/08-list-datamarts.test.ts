/** Section 8 of the interface, "List datamarts". */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { request } from '../product/guest.js';
import { createSales, tableTenancy } from './datamarts.js';
import { call, type House, type Input, ok, openHouse, refused } from './house.js';

let house: House;
beforeAll(async () => {
  house = await openHouse();
  for (let count = 12; count > 0; count -= 1) {
    await createSales(house, `page-${String(count).padStart(2, '0')}`);
  }
});
afterAll(() => house.close());

const names = async (input: Input, path?: string) =>
  (await ok(house, 'listDatamarts', input, path === undefined ? {} : { path })).data.map(({ name }) => name);

const all = [
  'lost',
  'open',
  'orders',
  ...Array.from({ length: 12 }, (_, index) => `page-${String(index + 1).padStart(2, '0')}`),
  'shop',
];
const listPath = '/api/v2/dataApp/datamart/list';

test('Response 200: {data: array of datamart, error: null}, ordered by name', async () => {
  const answer = await call(house, 'listDatamarts', {});
  expect([answer.status, answer.body.error]).toEqual([200, null]);
  expect(await names({})).toEqual(all);
});

test('isPagination: the string true enables pagination, 10 items per page; any other value disables it', async () => {
  expect(await names({ isPagination: 'true' })).toEqual(all.slice(0, 10));
  for (const isPagination of ['false', 'TRUE', '1', 'yes', ' true', '']) {
    expect(await names({ isPagination, pageNumber: '2' })).toEqual(all);
  }
});

test('pageNumber: 1-based numeric string, used only when pagination is on; default 1', async () => {
  expect(await names({ isPagination: 'true', pageNumber: '1' })).toEqual(all.slice(0, 10));
  expect(await names({ isPagination: 'true', pageNumber: '2' })).toEqual(all.slice(10));
  expect(await names({ isPagination: 'true', pageNumber: '3' })).toEqual([]);
  expect(await names({ pageNumber: 'x' })).toEqual(all);
  for (const pageNumber of ['0', '-1', 'x', '1.5']) {
    const message = await refused('listDatamarts INVALID_REQUEST_BODY', house, { isPagination: 'true', pageNumber });
    expect(message).toContain('pageNumber');
  }
});

test('expandDetails: true when omitted; the string true includes datamartTables and datamartRelationships', async () => {
  for (const input of [{}, { expandDetails: 'true' }]) {
    const { data } = await ok(house, 'listDatamarts', input);
    for (const item of data) {
      expect(item).toMatchObject({ datamartTables: expect.any(Array), datamartRelationships: expect.any(Array) });
    }
  }
});

test('the string false omits them; name, createdAt, updatedAt, datamartOrganization, companyIntegration remain', async () => {
  const { data } = await ok(house, 'listDatamarts', { expandDetails: 'false' });
  expect(data.find(({ name }) => name === 'page-01')).toEqual({
    name: 'page-01',
    createdAt: '2024-04-20T12:00:00.000Z',
    updatedAt: '2024-04-20T12:00:00.000Z',
    datamartOrganization: { ...tableTenancy, primaryDatabase: null },
    companyIntegration: { name: 'warehouse' },
  });
  expect(data.find(({ name }) => name === 'open')?.datamartOrganization).toBeNull();
  expect(data.find(({ name }) => name === 'lost')?.companyIntegration).toEqual({ name: 'lost' });
});

test('another value of expandDetails is not valid', async () => {
  await refused('listDatamarts INVALID_REQUEST_BODY', house, { expandDetails: 'no' });
});

test('legacy: POST with the same fields in the JSON body as booleans and numbers; GET on the camel-case path', async () => {
  expect(await names({ isPagination: true, pageNumber: 2 }, listPath)).toEqual(all.slice(10));
  expect(await names({ isPagination: false, pageNumber: 2 }, listPath)).toEqual(all);
  const { data } = await ok(house, 'listDatamarts', { expandDetails: false }, { path: listPath });
  expect(data[0]).not.toHaveProperty('datamartTables');
  await refused('listDatamarts INVALID_REQUEST_BODY', house, { isPagination: 'true' }, { path: listPath });
  expect(await names({ isPagination: 'true' }, '/api/v2/dataApp/datamarts')).toEqual(all.slice(0, 10));
  const answer = await call(house, 'listDatamarts', {}, { path: listPath });
  expect(answer.headers.get('deprecation')).not.toBeNull();
});

test('legacy: every field and the body itself are optional', async () => {
  const answer = await request(`${house.url()}${listPath}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${house.serviceToken}` },
  });
  expect([answer.status, answer.body]).toEqual([200, await ok(house, 'listDatamarts', {})]);
});

test('a table item has label (empty string when unset), clientColumn (string or null), isHide (default false)', async () => {
  const { data } = await ok(house, 'listDatamarts', {});
  const [sales, products] = data.find(({ name }) => name === 'page-01')?.datamartTables ?? [];
  expect(sales).toMatchObject({
    schemaName: 'main',
    tableName: 'sales',
    label: '',
    clientColumn: 'client',
    isHide: false,
  });
  expect(products).toMatchObject({ tableName: 'products', label: '', clientColumn: null, isHide: false });
  expect(sales?.datamartTableColumns[0]).toEqual({
    columnName: 'client',
    datatype: 'VARCHAR',
    alias: '',
    label: '',
    isHide: false,
    isCustomColumn: false,
    sql: '',
    isApplyTimezone: false,
    isAggregate: false,
    allowAggregate: false,
    defaultAggregation: null,
    defaultSort: null,
    numbers: null,
  });
});

test('a datamart that the first release wrote is listed with the same fields', async () => {
  const { data } = await ok(house, 'listDatamarts', {});
  const [table] = data.find(({ name }) => name === 'open')?.datamartTables ?? [];
  expect(table).toMatchObject({ tableName: 'products', wildcard: null });
  expect(table?.datamartTableColumns[0]).toMatchObject({
    isCustomColumn: false,
    sql: '',
    defaultSort: null,
    numbers: null,
    allowAggregate: false,
  });
});

test('a missing or invalid credential: 400 INVALID_DATA_APP_API_KEY', async () => {
  for (const bearer of [null, 'wrong', house.apiKey, house.endedKey]) {
    await refused('listDatamarts INVALID_DATA_APP_API_KEY', house, {}, { bearer });
    await refused('listDatamarts INVALID_DATA_APP_API_KEY', house, {}, { bearer, path: listPath });
  }
});

test('other fields are refused', async () => {
  const answer = await request(`${house.url()}/api/v2/data-app/datamarts?page=2`, {
    headers: { authorization: `Bearer ${house.serviceToken}` },
  });
  expect(answer.status).toBe(400);
});
