/** Section 9 of the interface, "Update datamart". */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { columnRef, tableRef } from '../engine/world.js';
import {
  boardOver,
  bySale,
  columns,
  createSales,
  productsTable,
  readDatamart,
  readTable,
  rowsOf,
  salesTable,
  tableTenancy,
} from './datamarts.js';
import { call, firstSentence, type House, type Input, mint, noon, ok, openHouse, refused, setNow } from './house.js';
import { definition } from './organization.js';

let house: House;
let made = 0;
beforeAll(async () => {
  house = await openHouse();
});
afterAll(() => house.close());

/** The time after one update: `updatedAt` increases even if the clock stands still. */
const later = new Date(noon.getTime() + 1).toISOString();

/** Creates a datamart, and returns functions to change it. */
const create = async (parts: Input = {}) => {
  made += 1;
  const name = `mart-${made}`;
  await createSales(house, name, parts);
  const update = (input: Input) => ok(house, 'updateDatamart', { datamartName: name, ...input });
  const wrong = (input: Input) =>
    refused('updateDatamart INVALID_REQUEST_BODY', house, { datamartName: name, ...input });
  return {
    name,
    update,
    wrong,
    read: () => readDatamart(house, name),
    table: (of: string) => readTable(house, name, of),
  };
};

const organization = (parts: Input) => ({
  tenancyLevel: 'TABLE',
  schemaName: null,
  tableName: null,
  clientColumnType: null,
  tableClientNameColumn: null,
  tablePrimaryKeyColumn: null,
  primaryDatabase: null,
  ...parts,
});

test('Response 200: {id: datamart name}', async () => {
  const { name } = await create();
  const answer = await call(house, 'updateDatamart', { datamartName: name });
  expect([answer.status, answer.body]).toEqual([200, { id: name }]);
  const path = '/api/v2/dataApp/datamarts';
  expect(await ok(house, 'updateDatamart', { datamartName: name }, { path })).toEqual({ id: name });
});

describe('checkDatamartExpression', () => {
  const check = async (sql: string, tableName = 'sales') =>
    (await ok(house, 'checkDatamartExpression', { datamartName: 'shop', tableName, sql })).data;

  test('says whether it is a measure, and that the database computes it', async () => {
    expect(await check('amount * 2', 'main.sales')).toEqual({ isMeasure: false, isChecked: true, faults: [] });
    expect(await check('sum(amount)\n / count(*)', 'main.sales')).toEqual({
      ...{ isMeasure: true, isChecked: true, faults: [] },
    });
  });

  test.each([
    ['amount +\n * 2', /does not parse/, [2, 4]],
    ['amount + nowhere', /^nowhere is no column of the datamart in table main\.sales$/, [1, 10]],
    ["amount + length('nowhere') + main.nowhere", /^main\.nowhere is no column/, [1, 30]],
    ["1 + getenv('HOME')", /not allowed/, [1, 5]],
    ['max(amount) * (1 + sum(region))', /region has the type VARCHAR/, [1, 20]],
    ['sum(amount)\n  / avg(region)', /region has the type VARCHAR/, [2, 5]],
    ['amount + amount * region', /region has the type VARCHAR/, [1, 17]],
    ['coalesce(region, amount * 2)', /amount has the type/, [1, 1]],
    ['sum(amount) + amount', /./, [1, 13]],
    ['amount + (select 1)', /./, [1, 11]],
  ])('says what is wrong, and where: %s', async (sql, said, [line, column]) => {
    const { faults, isChecked } = await check(sql, 'main.sales');
    expect(faults).toEqual([{ message: expect.stringMatching(said), place: { line, column } }]);
    expect(isChecked).toBe(true);
  });

  test('says that an unfinished expression does not parse', async () => {
    const { faults } = await check('amount *', 'main.sales');
    expect(faults).toEqual([{ message: expect.stringMatching(/line 1, column \d+/), place: expect.anything() }]);
    // Each unknown column is one fault.
    const unknown = await check('nowhere + somewhere + nowhere', 'main.sales');
    expect(unknown.faults.map(({ place }) => place)).toEqual([
      { line: 1, column: 1 },
      { line: 1, column: 11 },
    ]);
  });

  test('looks for the places of the first unknown columns only, however long the text is', async () => {
    const names = Array.from({ length: 2_000 }, (_, at) => `n${at}`);
    const { faults } = await check(`coalesce(${names.join(', ')})`, 'main.sales');
    expect(faults.map(({ message }) => message.split(' ')[0])).toEqual(names);
    expect(faults.findIndex(({ place }) => place === null)).toBe(8);
  });

  test('finds an unknown column within thousands of brackets', async () => {
    const { faults } = await check(`${'('.repeat(9_000)}nowhere${')'.repeat(9_000)}`, 'main.sales');
    expect(faults).toEqual([{ message: expect.stringMatching(/^nowhere is no/), place: { line: 1, column: 9_001 } }]);
  });

  test('says that the database was not asked where no query may read the table', async () => {
    await createSales(house, 'red', { sharedTables: [] });
    const answer = await ok(house, 'checkDatamartExpression', {
      datamartName: 'red',
      tableName: 'products',
      sql: 'id + 1',
    });
    expect(answer.data).toEqual({ isMeasure: false, isChecked: false, faults: [] });
  });

  test('checkDatamartExpression refuses an unknown datamart, an unknown table, a faulty body and other credentials', async () => {
    const input = { datamartName: 'shop', tableName: 'main.sales', sql: '1' };
    await refused('checkDatamartExpression INVALID_DATAMART', house, { ...input, datamartName: 'Shop' });
    expect(await refused('checkDatamartExpression INVALID_TABLE', house, { ...input, tableName: 'sales' })).toContain(
      'more than one table',
    );
    await refused('checkDatamartExpression INVALID_REQUEST_BODY', house, { ...input, sql: '' });
    for (const bearer of [null, 'wrong', house.apiKey])
      await refused('checkDatamartExpression AUTHENTICATION_ERROR', house, input, { bearer });
  });
});

test('expectedUpdatedAt: a change after the version that was read is refused with 409, and writes nothing', async () => {
  const { name, update, read } = await create();
  const { updatedAt } = await read();
  const written = await update({ relationships: [], expectedUpdatedAt: updatedAt });
  const now = await read();
  expect(written).toEqual({ id: name, updatedAt: now.updatedAt });
  const stale = { datamartName: name, sharedTables: [], expectedUpdatedAt: updatedAt };
  const message = await refused('updateDatamart DATAMART_CHANGED', house, stale);
  expect(message).toContain(now.updatedAt);
  expect(await read()).toEqual(now);
  // Of several changes to one version, one is made.
  const again = { datamartName: name, relationships: [], expectedUpdatedAt: now.updatedAt };
  const answers = await Promise.all(Array.from({ length: 5 }, () => call(house, 'updateDatamart', again)));
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409, 409, 409, 409]);
});

test("warnings: [{table, message}] name the tables on which every query is refused, with the query's own message", async () => {
  const { name, update } = await create();
  const { warnings } = await update({ sharedTables: [] });
  expect(warnings).toEqual([{ table: 'main.products', message: expect.stringContaining('main.products') }]);
  await boardOver(
    house,
    name,
    `${name}-board`,
    'acme',
    definition({ from: tableRef('products'), measures: [{ name: 'Products', aggregate: 'COUNT' }], underlying: [] }),
  );
  const [metric] = (await ok(house, 'listEmbedMetrics', { embedId: `${name}-board`, clientId: 'acme' })).data;
  const query = { metricId: metric?.metricId, embedId: `${name}-board`, clientId: 'acme' };
  expect(await refused('queryMetric METRIC_QUERY_ERROR', house, query)).toBe(warnings?.[0]?.message);
  expect(await update({ sharedTables: ['products'] })).toEqual({ id: name });
  expect((await ok(house, 'queryMetric', query)).data).toEqual([{ Products: 3 }]);
});

test('updatedAt changes, createdAt stays', async () => {
  const { update, read } = await create();
  setNow(new Date(noon.getTime() + 1000));
  await update({});
  setNow(noon);
  expect(await read()).toMatchObject({ createdAt: noon.toISOString(), updatedAt: '2024-04-20T12:00:01.000Z' });
});

test('datamartName is case-sensitive; an unknown one is INVALID_DATAMART', async () => {
  const { name } = await create();
  for (const datamartName of [name.toUpperCase(), 'nowhere']) {
    const message = await refused('updateDatamart INVALID_DATAMART', house, { datamartName, relationships: [] });
    expect(message).toContain(JSON.stringify(datamartName));
  }
});

test('a datamart cannot be renamed', async () => {
  const { wrong } = await create();
  expect(await wrong({ name: 'other' })).toContain('name: not a field');
});

test('an empty update changes nothing', async () => {
  const { update, read } = await create();
  const before = await read();
  await update({});
  expect(await read()).toEqual({ ...before, updatedAt: later });
});

describe('tableList', () => {
  test('replaces all existing tables and columns', async () => {
    const { update, read } = await create({ relationships: [], sharedTables: [] });
    await update({ tableList: [{ ...productsTable, columns: columns('label') }] });
    const { datamartTables } = await read();
    expect(datamartTables?.map(({ tableName }) => tableName)).toEqual(['products']);
    expect(datamartTables?.[0]?.datamartTableColumns.map(({ columnName }) => columnName)).toEqual(['label']);
  });

  test('when omitted only other parts change', async () => {
    const { update, read } = await create();
    const before = await read();
    await update({ relationships: [] });
    expect(await read()).toEqual({ ...before, datamartRelationships: [], updatedAt: later });
  });

  test('missing fields of columns and tables get their defaults again', async () => {
    const { update, table } = await create({ relationships: [], sharedTables: [] });
    const full = {
      name: 'sold',
      alias: 'when',
      label: 'Sold at',
      isHide: true,
      isAggregate: true,
      allowAggregate: true,
      defaultAggregation: 'COUNT_DISTINCT',
      isApplyTimezone: true,
      defaultSort: 'DESC',
      defaultGrain: 'week',
      numbers: { currency: 'EUR', notation: 'compact' },
      dates: { style: 'long', precision: 'day' },
    };
    await update({
      tableList: [{ ...salesTable, isHide: true, label: 'Sales', wildcard: 'sales-*', columns: [full] }],
    });
    const { name: columnName, ...listed } = full;
    expect(await table('sales')).toEqual({
      schemaName: 'main',
      tableName: 'sales',
      label: 'Sales',
      clientColumn: 'client',
      tenancyPath: null,
      isHide: true,
      wildcard: 'sales-*',
      datamartTableColumns: [{ columnName, datatype: 'TIMESTAMP', isCustomColumn: false, sql: '', ...listed }],
    });
    await update({ tableList: [{ name: 'sales', columns: columns('sold') }] });
    expect(await table('sales')).toEqual({
      schemaName: 'main',
      tableName: 'sales',
      label: '',
      clientColumn: null,
      tenancyPath: null,
      isHide: false,
      wildcard: null,
      datamartTableColumns: [
        {
          columnName: 'sold',
          datatype: 'TIMESTAMP',
          alias: '',
          label: '',
          isHide: false,
          isCustomColumn: false,
          sql: '',
          isAggregate: false,
          allowAggregate: false,
          defaultAggregation: null,
          isApplyTimezone: false,
          defaultSort: null,
          numbers: null,
        },
      ],
    });
  });

  test.each([
    ['empty', ''],
    ['null', null],
    ['omission', undefined],
  ])('defaultSort: %s clears it', async (_, defaultSort) => {
    const { update, table } = await create({ relationships: [], sharedTables: [] });
    const sorted = (value: unknown) => ({
      tableList: [{ ...salesTable, columns: [{ name: 'sold', defaultSort: value }] }],
    });
    await update(sorted('ASC'));
    expect((await table('sales')).datamartTableColumns[0]?.defaultSort).toBe('ASC');
    await update(sorted(defaultSort));
    expect((await table('sales')).datamartTableColumns[0]?.defaultSort).toBeNull();
  });

  test('defaultSort: case-sensitive, lowercase fails validation', async () => {
    const { wrong } = await create();
    for (const defaultSort of ['asc', 'desc', 'Asc', 'up']) {
      const message = await wrong({ tableList: [{ ...productsTable, columns: [{ name: 'id', defaultSort }] }] });
      expect(message).toContain(`tableList[0].columns[0].defaultSort: got string "${defaultSort}"`);
    }
  });

  test.each<[string, Input, string]>([
    [
      'name must exist in the datasource',
      { name: 'nothing', columns: columns('a') },
      'tableList[0].name: got string "nothing"',
    ],
    [
      'schemaName too',
      { ...productsTable, schemaName: 'eu' },
      'tableList[0].name: got string "products", expected a table of schema "eu"',
    ],
    [
      'clientColumn must exist in the table',
      { ...salesTable, clientColumn: 'nobody' },
      'tableList[0].clientColumn: got string "nobody"',
    ],
    ['columns are required', { name: 'products' }, 'tableList[0].columns: missing'],
    ['columns are not empty', { name: 'products', columns: [] }, 'tableList[0].columns: got an array of 0 items'],
    [
      'a column must exist',
      { name: 'products', columns: columns('colour') },
      'tableList[0].columns[0].name: got string "colour"',
    ],
    [
      'when isCustomColumn is true, sql is required',
      { name: 'products', columns: [{ name: 'x', isCustomColumn: true }] },
      'tableList[0].columns[0].sql',
    ],
    ['no field but these', { ...productsTable, tableName: 'x' }, 'tableList[0].tableName: not a field'],
  ])('a table of a datamart that breaks a rule is refused: %s', async (_, table, message) => {
    const { wrong, read } = await create();
    const before = await read();
    expect(await wrong({ tableList: [table], relationships: [], sharedTables: [] })).toContain(message);
    expect(await read()).toEqual(before);
  });

  test('wildcard is stored, for OpenSearch only', async () => {
    const { update, table } = await create();
    await update({ tableList: [{ ...salesTable, wildcard: 'sales-*' }, productsTable] });
    expect((await table('sales')).wildcard).toBe('sales-*');
  });

  test('tenancyPath is listed, replaced with its table, and refused if it names no relationship of the table', async () => {
    const { update, wrong, table } = await create();
    const withPath = (tenancyPath?: string | null) => ({
      tableList: [{ ...salesTable, clientColumn: null, tenancyPath }, productsTable],
    });
    await update(withPath('product-of-sale'));
    expect((await table('sales')).tenancyPath).toBe('product-of-sale');
    expect(await wrong(withPath('sale'))).toContain(
      'tableList[0].tenancyPath: got string "sale", expected a relationshipName of table "sales"; it has "product-of-sale"',
    );
    for (const cleared of [null, undefined]) {
      await update(withPath('product-of-sale'));
      await update(withPath(cleared));
      expect((await table('sales')).tenancyPath).toBeNull();
    }
  });

  test('a listed datamart can be sent back unchanged', async () => {
    const sold = { ...salesTable, clientColumn: null, tenancyPath: 'product-of-sale' };
    const { update, read } = await create({ tableList: [sold, productsTable] });
    const { datamartTables, datamartRelationships, sharedTables } = await read();
    const tableList = datamartTables?.map(({ tableName, datamartTableColumns, ...table }) => ({
      ...table,
      name: tableName,
      columns: datamartTableColumns.map(({ columnName, datatype: _, ...column }) => ({ ...column, name: columnName })),
    }));
    const before = await read();
    await update({ tableList, relationships: datamartRelationships, sharedTables });
    expect(await read()).toEqual({ ...before, updatedAt: later });
  });

  test('a kept relationship needs its columns; nothing is removed silently', async () => {
    const { update, wrong, read } = await create();
    const tableList = [{ ...salesTable, columns: columns('client', 'amount') }, productsTable];
    expect(await wrong({ tableList })).toContain(
      'relationship "product-of-sale" needs column main.sales.product, which the list leaves out',
    );
    await update({ tableList, relationships: [] });
    expect((await read()).datamartRelationships).toEqual([]);
  });

  test('a kept shared table must exist', async () => {
    const { wrong, update } = await create({ relationships: [] });
    expect(await wrong({ tableList: [salesTable] })).toContain('sharedTables names "products"');
    await update({ tableList: [salesTable], sharedTables: [] });
  });

  test('kept tenancy settings need client columns of the right type', async () => {
    const { wrong } = await create();
    expect(await wrong({ tableList: [{ ...salesTable, clientColumn: 'amount' }, productsTable] })).toContain(
      'tableList[0].clientColumn: got string "amount", expected a column of text or UUIDs',
    );
  });

  test('an unreachable datasource: DATASOURCE_CONNECTION_ERROR, and nothing changes', async () => {
    const before = await readDatamart(house, 'lost');
    const input = { datamartName: 'lost', tableList: [productsTable] };
    await refused('updateDatamart DATASOURCE_CONNECTION_ERROR', house, input);
    expect(await readDatamart(house, 'lost')).toEqual(before);
    await ok(house, 'updateDatamart', { datamartName: 'lost', sharedTables: ['products'] });
  });
});

describe('relationships', () => {
  test('replace all relationships if given, else stay', async () => {
    const { update, read } = await create();
    const other = { ...bySale, relationshipName: 'other', cardinality: 'ManyToOne', join: 'INNER JOIN' };
    await update({ relationships: [other] });
    expect((await read()).datamartRelationships).toEqual([other]);
    await update({ sharedTables: ['main.products'] });
    expect(await read()).toMatchObject({ datamartRelationships: [other], sharedTables: ['main.products'] });
    await update({ relationships: [] });
    expect((await read()).datamartRelationships).toEqual([]);
  });

  test('all five strings are required', async () => {
    const { wrong } = await create();
    for (const field of Object.keys(bySale)) {
      const message = await wrong({ relationships: [{ ...bySale, [field]: undefined }] });
      expect(message).toContain(`relationships[0].${field}: missing`);
    }
  });

  test('must name tables and columns of the new tableList', async () => {
    const { wrong, update } = await create();
    const tableList = [productsTable];
    expect(await wrong({ tableList, relationships: [bySale], sharedTables: [] })).toContain(
      'relationships[0].parentTableName',
    );
    await update({ tableList, relationships: [], sharedTables: [] });
  });

  test('have the cardinality and join values of the Datamart resource', async () => {
    const { update, read, wrong } = await create();
    for (const cardinality of ['ManyToMany', 'ManyToOne', 'OneToMany', 'OneToOne', null]) {
      for (const join of ['INNER JOIN', 'LEFT JOIN', 'RIGHT JOIN', 'FULL JOIN', null]) {
        await update({ relationships: [{ ...bySale, cardinality, join }] });
        expect((await read()).datamartRelationships).toEqual([{ ...bySale, cardinality, join }]);
      }
    }
    await wrong({ relationships: [{ ...bySale, join: 'left join' }] });
  });
});

describe('tenancySettings', () => {
  test('a missing tenancyLevel and missing fields keep their values', async () => {
    const { update, read } = await create();
    await update({ tenancySettings: { tableClientNameColumn: 'id' } });
    expect((await read()).datamartOrganization).toEqual(organization({ ...tableTenancy, tableClientNameColumn: 'id' }));
    await update({ tenancySettings: {} });
    expect((await read()).datamartOrganization).toEqual(organization({ ...tableTenancy, tableClientNameColumn: 'id' }));
  });

  test('tenancySettings that are missing in an update stay', async () => {
    const { update, read } = await create();
    await update({ tableList: [salesTable, productsTable] });
    expect((await read()).datamartOrganization).toEqual(organization(tableTenancy));
  });

  test('clientColumnType and the four names are each required when tenancyLevel is TABLE', async () => {
    const { wrong } = await create();
    for (const field of [
      'clientColumnType',
      'schemaName',
      'tableName',
      'tableClientNameColumn',
      'tablePrimaryKeyColumn',
    ]) {
      const message = await wrong({ tenancySettings: { ...tableTenancy, [field]: undefined } });
      expect(message).toContain(`tenancySettings.${field}: missing, expected a value, since tenancyLevel is TABLE`);
    }
  });

  test('the table and columns of tenancySettings must exist in the datasource, even if the level stays', async () => {
    const { wrong } = await create();
    expect(await wrong({ tenancySettings: { ...tableTenancy, tableName: 'nothing' } })).toContain(
      'tenancySettings.tableName',
    );
    expect(await wrong({ tenancySettings: { tablePrimaryKeyColumn: 'x' } })).toContain(
      'tenancySettings.tablePrimaryKeyColumn',
    );
    expect(await wrong({ tenancySettings: { clientColumnType: 'NUMBER' } })).toContain('expected a column of integers');
  });

  test('kept client columns must fit the new clientColumnType', async () => {
    const { wrong } = await create();
    const shops = { ...tableTenancy, clientColumnType: 'NUMBER', tableName: 'shops' };
    expect(await wrong({ tenancySettings: shops })).toContain('clientColumn of table "sales": got string "client"');
  });

  test('primaryDatabase is stored for DATABASE and MULTI_DATABASE', async () => {
    const { update, read } = await create();
    for (const tenancyLevel of ['DATABASE', 'MULTI_DATABASE']) {
      await update({ tenancySettings: { tenancyLevel, primaryDatabase: tenancyLevel } });
      expect((await read()).datamartOrganization).toEqual(
        organization({ ...tableTenancy, tenancyLevel, primaryDatabase: tenancyLevel }),
      );
    }
    await update({ tenancySettings: { tenancyLevel: 'MULTI_DATABASE' } });
    expect((await read()).datamartOrganization?.primaryDatabase).toBe('MULTI_DATABASE');
    await update({ tenancySettings: { tenancyLevel: 'MULTI_DATABASE', primaryDatabase: null } });
    expect((await read()).datamartOrganization?.primaryDatabase).toBeNull();
  });

  test('primaryDatabase is set to null when tenancyLevel is TABLE', async () => {
    const { update, read } = await create();
    await update({ tenancySettings: { tenancyLevel: 'DATABASE', primaryDatabase: 'main' } });
    await update({ tenancySettings: { ...tableTenancy, primaryDatabase: 'main' } });
    expect((await read()).datamartOrganization).toEqual(organization(tableTenancy));
    await update({ tenancySettings: { tenancyLevel: 'DATABASE' } });
    expect((await read()).datamartOrganization?.primaryDatabase).toBeNull();
  });

  test('primaryDatabase is set to null when tenancySettings is sent without tenancyLevel', async () => {
    const { update, read } = await create();
    for (const tenancySettings of [{}, { primaryDatabase: 'other' }]) {
      await update({ tenancySettings: { tenancyLevel: 'DATABASE', primaryDatabase: 'main' } });
      await update({ tenancySettings });
      expect((await read()).datamartOrganization).toMatchObject({ tenancyLevel: 'DATABASE', primaryDatabase: null });
    }
  });

  test('a datamart without tenancy has no level to keep, so it is required', async () => {
    const { wrong, update, read } = await create({ tenancySettings: undefined });
    expect(await wrong({ tenancySettings: { primaryDatabase: 'x' } })).toContain(
      'tenancySettings.tenancyLevel: missing',
    );
    await update({ tenancySettings: tableTenancy });
    expect((await read()).datamartOrganization).toEqual(organization(tableTenancy));
  });

  test('ROW appears only in lists', async () => {
    const { wrong } = await create();
    await wrong({ tenancySettings: { ...tableTenancy, tenancyLevel: 'ROW' } });
  });
});

test('several faults are named at once, and nothing is changed', async () => {
  const { wrong, read } = await create();
  const before = await read();
  const message = await wrong({
    tableList: [{ name: 'products', columns: columns('id', 'colour') }, salesTable],
    tenancySettings: { ...tableTenancy, tableName: 'nothing' },
    relationships: [{ ...bySale, childColumnName: 'label' }],
    sharedTables: ['notes'],
  });
  expect(message).toMatch(
    /columns\[1\]\.name.*tenancySettings\.tableName.*relationships\[0\]\.childColumnName.*sharedTables\[0\]/,
  );
  expect(await read()).toEqual(before);
});

test("simultaneous updates do not lose each other's changes", async () => {
  for (let round = 0; round < 5; round += 1) {
    const { update, read } = await create();
    await Promise.all([
      update({ relationships: [{ ...bySale, relationshipName: 'renamed' }] }),
      update({ sharedTables: ['main.products'] }),
      update({ tenancySettings: { tableClientNameColumn: 'id' } }),
      update({ tableList: [{ ...salesTable, label: 'Sold' }, productsTable] }),
    ]);
    expect(await read()).toMatchObject({
      datamartRelationships: [{ relationshipName: 'renamed' }],
      sharedTables: ['main.products'],
      datamartOrganization: { tableClientNameColumn: 'id' },
      datamartTables: [{ label: 'Sold' }, {}],
    });
  }
});

test('Auth: the service token; anything else is AUTHENTICATION_ERROR', async () => {
  const { name } = await create();
  for (const bearer of [null, 'wrong', house.apiKey]) {
    const message = await refused('updateDatamart AUTHENTICATION_ERROR', house, { datamartName: name }, { bearer });
    expect(firstSentence(message)).toBe('invalid service token');
  }
});

describe('effects on answers', () => {
  const grouped = definition({
    chart: { type: 'bar' },
    dimensions: [
      { name: 'Region', column: columnRef('sales.region') },
      { name: 'Sold', column: columnRef('sales.sold'), grain: 'day' },
    ],
  });

  test('defaultSort orders answers without an order of their own', async () => {
    const { name, update } = await create();
    await boardOver(house, name, `${name}-plain`, 'acme', grouped);
    await boardOver(house, name, `${name}-sorted`, 'acme', {
      ...grouped,
      sort: [{ name: 'Region', direction: 'DESC' }],
    });
    const regions = async (board: string) =>
      (await rowsOf(house, `${name}-${board}`, 'acme')).map(
        ({ Region, Sold }) => `${Region} ${String(Sold).slice(5, 10)}`,
      );
    const ascending = ['north 03-30', 'north 04-01', 'south 03-31', 'west 04-15'];
    expect(await regions('plain')).toEqual(ascending);
    const list = (sold: string, region: string | null = null) => [
      {
        ...salesTable,
        columns: [
          ...columns('client', 'amount', 'product'),
          { name: 'sold', defaultSort: sold },
          { name: 'region', defaultSort: region },
        ],
      },
      productsTable,
    ];
    await update({ tableList: list('DESC') });
    expect(await regions('plain')).toEqual(['west 04-15', 'north 04-01', 'south 03-31', 'north 03-30']);
    expect(await regions('sorted')).toEqual(['west 04-15', 'south 03-31', 'north 03-30', 'north 04-01']);
    await update({ tableList: list('DESC', 'ASC') });
    expect(await regions('plain')).toEqual(['north 04-01', 'north 03-30', 'south 03-31', 'west 04-15']);
    await update({ tableList: list('') });
    expect(await regions('plain')).toEqual(ascending);
  });

  test('isApplyTimezone applies only if the guest token sets params.timezone, and only to these columns', async () => {
    const { name, update } = await create();
    const board = `${name}-zoned`;
    await boardOver(house, name, board, 'acme', grouped);
    const [metric] = (await ok(house, 'listEmbedMetrics', { embedId: board, clientId: 'acme' })).data;
    const days = async (params: Input) => {
      const bearer = await mint(house, 'acme', { allowedEmbeds: [board], ...params });
      const input = { metricId: metric?.metricId, dashboardId: board };
      const { data } = await ok(house, 'queryGuestMetric', input, { bearer });
      return data.map(({ Region, Sold }) => `${Region} ${String(Sold).slice(5, 10)}`);
    };
    const inTokyo = { timezone: 'Asia/Tokyo' };
    const stored = ['north 03-30', 'north 04-01', 'south 03-31', 'west 04-15'];
    expect([await days({}), await days(inTokyo)]).toEqual([stored, stored]);
    const zoned = ['sold', 'region', 'amount'].map((column) => ({ name: column, isApplyTimezone: true }));
    await update({
      tableList: [{ ...salesTable, columns: [...columns('client', 'product'), ...zoned] }, productsTable],
    });
    expect([await days({}), await days(inTokyo)]).toEqual([
      stored,
      ['north 03-30', 'north 04-01', 'south 04-01', 'west 04-15'],
    ]);
  });

  test('metrics can still read a hidden table or column', async () => {
    const { name, update } = await create();
    await boardOver(house, name, `${name}-hidden`, 'acme', definition());
    const hidden = ['client', 'amount', 'product', 'region'].map((column) => ({ name: column, isHide: true }));
    await update({ tableList: [{ ...salesTable, isHide: true, columns: hidden }, productsTable] });
    expect(await rowsOf(house, `${name}-hidden`, 'acme')).toEqual([{ Revenue: 200 }]);
  });

  test('a column that was removed from the datamart is refused until it is added again', async () => {
    const { name, update } = await create();
    await boardOver(house, name, `${name}-gone`, 'acme', definition());
    await update({ tableList: [{ ...salesTable, columns: columns('client', 'region', 'product') }, productsTable] });
    const [metric] = (await ok(house, 'listEmbedMetrics', { embedId: `${name}-gone`, clientId: 'acme' })).data;
    const query = { embedId: `${name}-gone`, metricId: metric?.metricId, clientId: 'acme' };
    expect(await refused('queryMetric METRIC_QUERY_ERROR', house, query)).toContain(
      'main.sales.amount is not in datamart',
    );
    await update({ tableList: [salesTable, productsTable] });
    await ok(house, 'queryMetric', query);
  });
});

describe('tables with a bridge and base filters', () => {
  const bridge = { relationship: 'product-of-sale', columns: ['id', 'label'] };
  const filter = { columnName: 'label', predicate: { kind: 'isNotNull' } };
  const products = { ...productsTable, through: bridge, baseFilters: [filter] };

  test('are stored and listed, and a list without the fields takes them back', async () => {
    const { update, table } = await create();
    expect(await table('products')).not.toHaveProperty('through');
    await update({ tableList: [salesTable, products], sharedTables: [] });
    expect(await table('products')).toMatchObject({ through: bridge, baseFilters: [filter] });
    await update({ tableList: [salesTable, productsTable], sharedTables: ['products'] });
    expect(Object.keys(await table('products'))).not.toEqual(expect.arrayContaining(['through', 'baseFilters']));
  });

  test.each<readonly [string, Input, string]>([
    [
      'a relationship of no table',
      { through: { ...bridge, relationship: 'none' } },
      'tableList[1].through.relationship',
    ],
    ['a column that is not listed', { through: { ...bridge, columns: ['price'] } }, 'tableList[1].through.columns[0]'],
    ['no column', { through: { ...bridge, columns: [] } }, 'tableList[1].through.columns'],
    ['a filter on no column', { baseFilters: [{ ...filter, columnName: 'gone' }] }, 'tableList[1].baseFilters[0]'],
    [
      'a filter in SQL',
      { baseFilters: [{ columnName: 'label', predicate: { kind: 'inQuery', sql: 'SELECT 1', columnName: 'x' } }] },
      'tableList[1].baseFilters[0].predicate',
    ],
    [
      'a condition that depends on the day',
      { baseFilters: [{ columnName: 'label', predicate: { kind: 'relative', period: 'Last 30 Days' } }] },
      'tableList[1].baseFilters[0].predicate',
    ],
    ['an empty list of filters', { baseFilters: [] }, 'tableList[1].baseFilters'],
  ])('%s is refused where it stands', async (_, parts, message) => {
    const { wrong } = await create();
    expect(await wrong({ tableList: [salesTable, { ...productsTable, ...parts }], sharedTables: [] })).toContain(
      message,
    );
  });
});

test('rollups: the list is stored, listed with its defaults, replaced, and refused with its place', async () => {
  const { update, wrong, read } = await create();
  const rollup = {
    ...{ name: 'by day', from: 'sales', dimensions: ['region'], grain: 'day' },
    ...{ measures: [{ aggregate: 'SUM', column: 'amount' }], partition: { column: 'sold', by: 'month' } },
  };
  expect((await read()).rollups).toBeUndefined();
  await update({ rollups: [rollup] });
  const stored = {
    ...rollup,
    partition: { ...rollup.partition, closesAfterHours: 24 },
    refresh: { again: 1 },
  };
  expect((await read()).rollups).toEqual([stored]);
  await update({ cacheTtlSeconds: 5 });
  expect((await read()).rollups).toEqual([stored]);
  expect(await wrong({ rollups: [{ ...rollup, dimensions: ['zone'] }] })).toContain('rollups[0].dimensions[0]');
  expect(await wrong({ rollups: [{ ...rollup, grain: 'minute' }] })).toContain('rollups[0].grain');
  const at = { at: '06:00', timezone: 'Europe/Berlin' };
  await update({ rollups: [{ ...rollup, refresh: at }], cacheStaleSeconds: 3600 });
  expect(await read()).toMatchObject({
    rollups: [{ ...stored, refresh: { ...at, again: 1 } }],
    cacheStaleSeconds: 3600,
  });
  for (const refresh of [{ at: '06:00' }, { timezone: 'UTC' }, { ...at, timezone: 'Mars' }, { ...at, at: '6' }])
    expect(await wrong({ rollups: [{ ...rollup, refresh }] })).toContain('rollups[0].refresh');
  expect(await wrong({ cacheStaleSeconds: -1 })).toContain('cacheStaleSeconds');
  await update({ rollups: [], cacheStaleSeconds: null });
  expect((await read()).rollups).toBeUndefined();
  expect((await read()).cacheStaleSeconds).toBeUndefined();
});
