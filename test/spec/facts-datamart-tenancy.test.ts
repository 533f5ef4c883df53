/** `GET /data-app/datamarts/tenancy`, an operation of this project: for each table, why its rows belong to a client. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bySale, columns, createSales, productsTable } from './datamarts.js';
import { firstSentence, type House, mint, ok, openHouse, refused } from './house.js';

let house: House;
beforeAll(async () => {
  house = await openHouse();
});
afterAll(() => house.close());

test('names the client column, each step of the path, the shared tables, and the unreadable tables', async () => {
  await createSales(house, 'asked', {
    tableList: [
      { name: 'clients', columns: columns('id', 'name') },
      { name: 'sales', columns: columns('client', 'product') },
      productsTable,
      { name: 'notes', columns: columns('owner') },
    ],
    relationships: [
      bySale,
      {
        relationshipName: 'client of sale',
        parentTableName: 'sales',
        parentColumnName: 'client',
        childTableName: 'clients',
        childColumnName: 'id',
        cardinality: 'ManyToOne',
      },
    ],
    sharedTables: ['products'],
  });
  const { data, error } = await ok(house, 'getDatamartTenancy', { datamartName: 'asked' });
  expect(error).toBeNull();
  expect(data).toEqual({
    datamartName: 'asked',
    tenancyLevel: 'TABLE',
    tables: [
      {
        table: 'main.clients',
        kind: 'master',
        clientColumn: { table: 'main.clients', column: 'id' },
        path: [],
        reason: null,
        message: null,
      },
      {
        table: 'main.sales',
        kind: 'path',
        clientColumn: { table: 'main.clients', column: 'id' },
        path: [
          {
            relationshipName: 'client of sale',
            fromTable: 'main.sales',
            fromColumn: 'client',
            toTable: 'main.clients',
            toColumn: 'id',
          },
        ],
        reason: null,
        message: null,
      },
      { table: 'main.products', kind: 'shared', clientColumn: null, path: [], reason: null, message: null },
      {
        table: 'main.notes',
        kind: 'unreadable',
        clientColumn: null,
        path: [],
        reason: 'no-owner',
        message: expect.stringContaining('Table main.notes is not readable'),
      },
    ],
  });
});

test('works for a datamart with only client columns, and for one without tenancy', async () => {
  await createSales(house, 'plain');
  const { data } = await ok(house, 'getDatamartTenancy', { datamartName: 'plain' });
  expect(data.tables.map(({ table, kind, clientColumn }) => [table, kind, clientColumn])).toEqual([
    ['main.sales', 'column', { table: 'main.sales', column: 'client' }],
    ['main.products', 'shared', null],
  ]);
  const open = (await ok(house, 'getDatamartTenancy', { datamartName: 'open' })).data;
  expect([open.tenancyLevel, new Set(open.tables.map(({ kind }) => kind))]).toEqual([null, new Set(['none'])]);
});

test('an unknown name, an unreachable datasource, and another kind of credential are refused', async () => {
  expect(await refused('getDatamartTenancy INVALID_DATAMART', house, { datamartName: 'Asked' })).toContain('"Asked"');
  await refused('getDatamartTenancy INVALID_REQUEST_BODY', house, {});
  await refused('getDatamartTenancy DATASOURCE_CONNECTION_ERROR', house, { datamartName: 'lost' });
  await refused('proposeDashboardContent DATASOURCE_CONNECTION_ERROR', house, { datamartName: 'lost' });
  await refused('draftDashboardContent DATASOURCE_CONNECTION_ERROR', house, { datamartName: 'lost' });
  for (const bearer of [null, 'wrong', house.apiKey, await mint(house, 'acme')]) {
    const message = await refused(
      'getDatamartTenancy AUTHENTICATION_ERROR',
      house,
      { datamartName: 'open' },
      { bearer },
    );
    expect(firstSentence(message)).toBe('invalid service token');
  }
});

test('GET /data-app/datamarts/columns: what filters of end users may name, without hidden tables and columns', async () => {
  await createSales(house, 'listed', {
    tableList: [
      { name: 'clients', columns: columns('id', 'name') },
      {
        name: 'sales',
        clientColumn: 'client',
        columns: [...columns('client', 'product'), { name: 'amount', isHide: true }],
      },
      { name: 'notes', clientColumn: 'owner', isHide: true, columns: columns('owner') },
    ],
    relationships: [],
    sharedTables: [],
  });
  const input = { datamartName: 'listed' };
  for (const bearer of [house.apiKey, house.serviceToken]) {
    const { allColumns, ...data } = (await ok(house, 'listDatamartColumns', input, { bearer })).data;
    expect(allColumns.map(({ column }) => column)).toContain('main.sales.amount');
    expect(data).toEqual({
      datamartName: 'listed',
      tables: [
        { tableName: 'main.clients', columns: ['id', 'name'] },
        { tableName: 'main.sales', columns: ['client', 'product'] },
      ],
    });
  }
  await refused('listDatamartColumns INVALID_REQUEST_BODY', house, {});
  await refused('listDatamartColumns INVALID_DATAMART', house, { datamartName: 'nowhere' });
  await refused('listDatamartColumns AUTHENTICATION_ERROR', house, input, { bearer: await mint(house, 'acme') });
});
