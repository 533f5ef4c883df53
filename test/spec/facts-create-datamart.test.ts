/**
 * `POST /data-app/datamarts` creates datamarts. Clients of the interface call it in addition to its sixteen sections.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { columnRef } from '../engine/world.js';
import {
  boardOver,
  bySale,
  clientsTable,
  columns,
  createSales,
  productsTable,
  readDatamart,
  readTable,
  salesTable,
  tableTenancy,
} from './datamarts.js';
import { call, firstSentence, type House, type Input, mint, ok, openHouse, refused } from './house.js';
import { definition } from './organization.js';

let house: House;
beforeAll(async () => {
  house = await openHouse();
});
afterAll(() => house.close());

const wrong = (name: string, parts: Input) =>
  refused('createDatamart INVALID_REQUEST_BODY', house, {
    name,
    datasourceName: 'warehouse',
    tableList: [salesTable, productsTable],
    ...parts,
  });

test('Answer: {id, error: null}', async () => {
  const answer = await call(house, 'createDatamart', {
    name: 'one',
    datasourceName: 'warehouse',
    tableList: [productsTable],
  });
  expect([answer.status, answer.body]).toEqual([200, { id: 'one', error: null }]);
  const legacy = { name: 'two', datasourceName: 'warehouse', tableList: [productsTable] };
  expect(await ok(house, 'createDatamart', legacy, { path: '/api/v2/dataApp/datamarts' })).toEqual({
    id: 'two',
    error: null,
  });
});

test('warnings: [{table, message}] name the tables on which every query is refused', async () => {
  const tableList = [salesTable, productsTable];
  expect(await createSales(house, 'warned', { tableList, sharedTables: [] })).toEqual({
    id: 'warned',
    error: null,
    warnings: [{ table: 'main.products', message: expect.stringContaining('Table main.products is not readable') }],
  });
});

test('is listed with the datatypes of the datasource', async () => {
  await createSales(house, 'listed');
  const { datamartTables, ...rest } = await readDatamart(house, 'listed');
  expect(rest).toEqual({
    name: 'listed',
    createdAt: '2024-04-20T12:00:00.000Z',
    updatedAt: '2024-04-20T12:00:00.000Z',
    datamartOrganization: { ...tableTenancy, primaryDatabase: null },
    companyIntegration: { name: 'warehouse' },
    datamartRelationships: [{ ...bySale, cardinality: null, join: null }],
    sharedTables: ['products'],
    cacheTtlSeconds: null,
  });
  expect(
    datamartTables?.map(({ schemaName, tableName, clientColumn }) => [schemaName, tableName, clientColumn]),
  ).toEqual([
    ['main', 'sales', 'client'],
    ['main', 'products', null],
  ]);
  expect(datamartTables?.[0]?.datamartTableColumns.map(({ columnName, datatype }) => [columnName, datatype])).toEqual([
    ['client', 'VARCHAR'],
    ['sold', 'TIMESTAMP'],
    ['amount', 'BIGINT'],
    ['region', 'VARCHAR'],
    ['product', 'INTEGER'],
  ]);
});

test('creating a second one with the same name fails: DATAMART_ALREADY_EXISTS', async () => {
  const input = { name: 'twice', datasourceName: 'warehouse', tableList: [productsTable] };
  await ok(house, 'createDatamart', input);
  expect(await refused('createDatamart DATAMART_ALREADY_EXISTS', house, input)).toContain('"twice"');
  await ok(house, 'createDatamart', { ...input, name: 'Twice' });
});

test('of ten simultaneous creates with one name, one succeeds', async () => {
  const input = { name: 'at-once', datasourceName: 'warehouse', tableList: [productsTable] };
  const answers = await Promise.all(Array.from({ length: 10 }, () => call(house, 'createDatamart', input)));
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, ...Array.from({ length: 9 }, () => 400)]);
});

test('datasourceName must exist: INVALID_DATASOURCE_NAME', async () => {
  const input = { name: 'no-source', datasourceName: 'Warehouse', tableList: [productsTable] };
  expect(await refused('createDatamart INVALID_DATASOURCE_NAME', house, input)).toContain('"Warehouse"');
});

test('an unreachable datasource: DATASOURCE_CONNECTION_ERROR, and nothing is created', async () => {
  const input = { name: 'unreached', datasourceName: 'lost', tableList: [productsTable] };
  const message = await refused('createDatamart DATASOURCE_CONNECTION_ERROR', house, input);
  expect(message).not.toContain('warehouse.duckdb');
  await ok(house, 'createDatamart', { ...input, datasourceName: 'warehouse' });
});

test('requires the service token', async () => {
  for (const bearer of [null, 'wrong', house.apiKey, await mint(house, 'acme')]) {
    const input = { name: 'never', datasourceName: 'warehouse', tableList: [productsTable] };
    const message = await refused('createDatamart AUTHENTICATION_ERROR', house, input, { bearer });
    expect(firstSentence(message)).toBe('invalid service token');
  }
});

describe('tables and columns are those of the datasource', () => {
  test.each<[string, Input, string]>([
    [
      'a table',
      { ...productsTable, name: 'product' },
      'tableList[0].name: got string "product", expected a table of schema "main"',
    ],
    ['a table in its exact case', { ...productsTable, name: 'Products' }, '(case counts: "products")'],
    [
      'a table of that schema',
      { ...productsTable, schemaName: 'eu' },
      'tableList[0].name: got string "products", expected a table of schema "eu"',
    ],
    [
      'a column',
      { name: 'products', columns: columns('id', 'colour') },
      'tableList[0].columns[1].name: got string "colour", expected a column of table "products"',
    ],
    ['a column in its exact case', { name: 'products', columns: columns('ID') }, '(case counts: "id")'],
    [
      'a client column',
      { ...salesTable, clientColumn: 'Client' },
      'tableList[0].clientColumn: got string "Client", expected a column of table "sales" (case counts: "client")',
    ],
    [
      'a column once',
      { name: 'products', columns: columns('id', 'label', 'id') },
      'tableList[0].columns[2].name: got string "id", expected a column that is not in the list yet',
    ],
  ])('a name that the datasource does not have is refused: %s', async (_, table, message) => {
    expect(await wrong('never', { tableList: [table] })).toContain(message);
  });

  test('a table may be listed once; equal names in two schemas are two tables', async () => {
    expect(await wrong('never', { tableList: [productsTable, { ...productsTable, schemaName: 'main' }] })).toContain(
      'tableList[1].name: got string "products", expected a table that is not in the list yet',
    );
    const tableList = [salesTable, { ...salesTable, schemaName: 'eu' }];
    await ok(house, 'createDatamart', { name: 'both', datasourceName: 'warehouse', tableList });
    const { datamartTables } = await readDatamart(house, 'both');
    expect(datamartTables?.map(({ schemaName }) => schemaName)).toEqual(['main', 'eu']);
  });

  test('a missing schemaName means the default schema', async () => {
    await ok(house, 'createDatamart', { name: 'default-schema', datasourceName: 'warehouse', tableList: [salesTable] });
    expect((await readTable(house, 'default-schema', 'sales')).schemaName).toBe('main');
  });

  test('several faults are named at once, up to ten', async () => {
    const three = await wrong('never', {
      tableList: [
        { name: 'nothing', columns: columns('a') },
        { name: 'products', columns: columns('id', 'a', 'b') },
      ],
    });
    expect(three).toMatch(
      /tableList\[0\]\.name.*; tableList\[1\]\.columns\[1\]\.name.*; tableList\[1\]\.columns\[2\]\.name/,
    );
    const many = Array.from({ length: 13 }, (_, index) => `c${index}`);
    expect(await wrong('never', { tableList: [{ name: 'products', columns: columns(...many) }] })).toMatch(
      /; and 3 more\.$/,
    );
  });
});

describe('tenancySettings', () => {
  const tenancy = (parts: Input, more: Input = {}) =>
    wrong('never', { tenancySettings: { ...tableTenancy, ...parts }, ...more });

  test.each<[string, Input, string]>([
    ['tableName is in the datasource', { tableName: 'Clients' }, 'tenancySettings.tableName: got string "Clients"'],
    ['schemaName too', { schemaName: 'eu' }, 'expected a table of schema "eu"'],
    [
      'tableClientNameColumn is a column of it',
      { tableClientNameColumn: 'x' },
      'tenancySettings.tableClientNameColumn: got string "x"',
    ],
    [
      'tablePrimaryKeyColumn too',
      { tablePrimaryKeyColumn: 'x' },
      'tenancySettings.tablePrimaryKeyColumn: got string "x"',
    ],
    [
      'NUMBER is a column of integers',
      { clientColumnType: 'NUMBER' },
      'expected a column of integers, since clientColumnType is NUMBER; it holds VARCHAR',
    ],
    [
      'STRING is text or UUIDs',
      { tableName: 'shops' },
      'expected a column of text or UUIDs, since clientColumnType is STRING; it holds BIGINT',
    ],
    ['ROW is not among the levels', { tenancyLevel: 'ROW' }, 'tenancySettings.tenancyLevel: got string "ROW"'],
  ])('tenancySettings that break a rule are refused: %s', async (_, parts, message) => {
    expect(await tenancy(parts)).toContain(message);
  });

  test('TABLE requires clientColumnType, schemaName, tableName, tableClientNameColumn and tablePrimaryKeyColumn', async () => {
    for (const field of [
      'clientColumnType',
      'schemaName',
      'tableName',
      'tableClientNameColumn',
      'tablePrimaryKeyColumn',
    ]) {
      expect(await tenancy({ [field]: undefined })).toContain(`tenancySettings.${field}: missing`);
    }
  });

  test('tenancyLevel is required, since a new datamart has none to keep', async () => {
    expect(await tenancy({ tenancyLevel: undefined })).toContain('tenancySettings.tenancyLevel: missing');
  });

  test('the client columns of the tables must fit clientColumnType', async () => {
    const tableList = [{ ...salesTable, clientColumn: 'product' }];
    expect(await tenancy({}, { tableList })).toContain(
      'tableList[0].clientColumn: got string "product", expected a column of text or UUIDs',
    );
  });

  test('without tenancySettings there is no tenancy, and the only clientId is None', async () => {
    await ok(house, 'createDatamart', { name: 'untenanted', datasourceName: 'warehouse', tableList: [productsTable] });
    expect((await readDatamart(house, 'untenanted')).datamartOrganization).toBeNull();
    await mint(house, 'None', {}, { datamartName: 'untenanted' });
    await refused('createGuestToken CLIENT_ID_ERROR', house, {
      clientId: 'acme',
      dataAppName: 'shop',
      datamartName: 'untenanted',
    });
  });
});

describe('relationships', () => {
  const related = (parts: Input, more: Input = {}) =>
    wrong('never', { relationships: [{ ...bySale, ...parts }], ...more });

  test.each<[string, Input, string]>([
    [
      'the parent is a table of the list',
      { parentTableName: 'notes' },
      'relationships[0].parentTableName: got string "notes", expected a table of the datamart',
    ],
    ['the child too', { childTableName: 'Products' }, 'relationships[0].childTableName'],
    [
      'the parent column is in the list',
      { parentColumnName: 'paid' },
      'relationships[0].parentColumnName: got string "paid", expected a column that the datamart has of table "sales"',
    ],
    [
      'columns are not taken for those of the other end',
      { parentTableName: bySale.childTableName, childTableName: bySale.parentTableName },
      'has it: are parent and child swapped? cardinality is read from the parent to the child',
    ],
    ['the child column too', { childColumnName: 'ID' }, 'relationships[0].childColumnName'],
    ['cardinality is one of four', { cardinality: 'many' }, 'relationships[0].cardinality'],
    ['join is one of four', { join: 'CROSS JOIN' }, 'relationships[0].join'],
  ])('a relationship that breaks a rule is refused: %s', async (_, parts, message) => {
    expect(await related(parts)).toContain(message);
  });

  test('a name that fits two tables is refused with how to fix it; schema.table is unique', async () => {
    const tableList = [salesTable, { ...salesTable, schemaName: 'eu' }, productsTable];
    expect(await related({}, { tableList })).toContain(
      'relationships[0].parentTableName: got string "sales", expected schema.table',
    );
    const relationships = [{ ...bySale, parentTableName: 'eu.sales', cardinality: 'ManyToOne', join: 'INNER JOIN' }];
    await ok(house, 'createDatamart', { name: 'qualified', datasourceName: 'warehouse', tableList, relationships });
    expect((await readDatamart(house, 'qualified')).datamartRelationships).toEqual(relationships);
  });

  test('two relationships of the same name are refused', async () => {
    expect(await wrong('never', { relationships: [bySale, bySale] })).toContain('relationships[1].relationshipName');
  });
});

test('sharedTables must name tables of the list', async () => {
  expect(await wrong('never', { sharedTables: ['products', 'notes'] })).toContain(
    'sharedTables[1]: got string "notes"',
  );
  expect(await wrong('never', { sharedTables: ['*'] })).toContain(
    'sharedTables[0]: got string "*", expected the name of one table',
  );
  const tableList = [salesTable, { ...salesTable, schemaName: 'eu' }];
  expect(await wrong('never', { tableList, sharedTables: ['sales'] })).toContain(
    'sharedTables[0]: got string "sales", expected schema.table',
  );
});

describe('custom columns', () => {
  const custom = { name: 'double', isCustomColumn: true, sql: 'amount * 2' };
  const withColumn = (column: Input) => ({
    tableList: [{ ...salesTable, columns: [...columns('client', 'amount'), column] }],
  });

  test('are stored, listed and computed in queries', async () => {
    await createSales(house, 'custom', { ...withColumn(custom), relationships: [], sharedTables: [] });
    const { datamartTableColumns } = await readTable(house, 'custom', 'sales');
    expect(datamartTableColumns[2]).toMatchObject({
      columnName: 'double',
      isCustomColumn: true,
      sql: 'amount * 2',
      datatype: '',
    });
    expect(datamartTableColumns[1]).toMatchObject({ columnName: 'amount', isCustomColumn: false, sql: '' });
    const measures = [{ name: 'Sum', aggregate: 'SUM', column: columnRef('sales.double') }] as const;
    await boardOver(house, 'custom', 'doubled', 'acme', definition({ measures, underlying: [] }));
    const [metric] = (await ok(house, 'listEmbedMetrics', { embedId: 'doubled', clientId: 'acme' })).data;
    const query = { metricId: metric?.metricId, embedId: 'doubled', clientId: 'acme' };
    const rows = (await ok(house, 'queryMetric', query)).data;
    expect(rows).toEqual([{ Sum: 400 }]);
  });

  test.each<[string, Input, string]>([
    [
      'when isCustomColumn is true, sql is required',
      { name: 'd', isCustomColumn: true },
      'tableList[0].columns[2].sql',
    ],
    ['and not blank', { name: 'd', isCustomColumn: true, sql: '  ' }, 'tableList[0].columns[2].sql'],
    ['of one expression', { name: 'd', isCustomColumn: true, sql: '1=1) or (1=1' }, 'tableList[0].columns[2].sql'],
    ['sql belongs to custom columns', { name: 'region', sql: 'amount' }, 'tableList[0].columns[2].sql'],
    ['it has at most 20,000 characters', { ...custom, sql: 'x'.repeat(20_001) }, 'at most 20000 characters'],
    [
      'a name that no real column has',
      { ...custom, name: 'region' },
      'expected a name that no column of table "sales" has',
    ],
  ])('a custom column that breaks a rule is refused: %s', async (_, column, message) => {
    expect(await wrong('never', withColumn(column))).toContain(message);
  });

  test('cannot be used in a relationship', async () => {
    const tableList = [{ ...salesTable, columns: [...columns('client'), custom] }, productsTable];
    const relationships = [{ ...bySale, parentColumnName: 'double' }];
    expect(await wrong('never', { tableList, relationships })).toContain('and no custom one');
  });
});

test.each<[string, Input]>([
  ['name is required', { name: undefined }],
  ['datasourceName is required', { datasourceName: undefined }],
  ['tableList is required', { tableList: undefined }],
  ['columns are required', { tableList: [{ name: 'products' }] }],
  ['columns are not empty', { tableList: [{ name: 'products', columns: [] }] }],
  [
    'defaultSort is case-sensitive',
    { tableList: [{ name: 'products', columns: [{ name: 'id', defaultSort: 'asc' }] }] },
  ],
  ['no field but these', { datasourceId: 'x' }],
])('a datamart that breaks a rule is refused: %s', async (_, parts) => {
  await wrong('never', parts);
});

test('a refused datamart was not created', async () => {
  const { data } = await ok(house, 'listDatamarts', { expandDetails: false });
  expect(data.filter(({ name }) => name === 'never')).toEqual([]);
});

test('a new datamart separates its clients: each reads only its own rows', async () => {
  await createSales(house, 'separate', { tableList: [salesTable, productsTable, clientsTable] });
  const embeds = { acme: 'separate-acme', globex: 'separate-globex' };
  for (const [clientId, dashboardId] of Object.entries(embeds)) {
    await boardOver(house, 'separate', dashboardId, clientId, definition());
  }
  const revenue = async (clientId: string, embedId: string) => {
    const [metric] = (await ok(house, 'listEmbedMetrics', { embedId, clientId })).data;
    const { data } = await ok(house, 'queryMetric', { metricId: metric?.metricId, embedId, clientId });
    return data[0]?.Revenue;
  };
  expect([await revenue('acme', embeds.acme), await revenue('globex', embeds.globex)]).toEqual([200, 3000]);
});
