/** `/api/v2/datasource`: datasources created, replaced, listed and synced, as clients of the interface call it. */
import { randomUUID } from 'node:crypto';
import { copyFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { variantNames } from '../../src/model/organization.js';
import { request } from '../product/guest.js';
import { runOnFile } from '../suites/duckdb-file.js';
import { call, type House, type Input, noon, ok, openHouse, refused, setNow } from './house.js';

let house: House;
beforeAll(async () => {
  // Nothing listens at the first address, and no machine has the second.
  house = await openHouse('datasources: { allowedHosts: ["127.0.0.1:9", "nowhere.invalid"] }');
});
afterAll(() => house.close());
beforeEach(() => setNow(noon));

const password = `pass-${randomUUID()}`;
const at = (name: string): string => join(house.sources, name);
const file = (name: string, path = at('warehouse.duckdb')): Input => ({
  datasourceType: 'DUCKDB',
  credentials: { name, path },
});
const sqlite = (name: string, path: string): Input => ({ ...file(name, path), datasourceType: 'SQLITE' });
const server = (name: string, credentials: Input = {}, datasourceType = 'POSTGRES'): Input => ({
  datasourceType,
  credentials: { name, host: '127.0.0.1', port: 9, username: 'reader', password, database: 'shop', ...credentials },
});
const listed = async () => (await ok(house, 'listDatasources', {})).data;
const names = async (): Promise<readonly string[]> => (await listed()).map(({ name }) => name);

describe('create', () => {
  test('Response: {name}; it is listed with its type and the time of its last sync', async () => {
    const answer = await call(house, 'createDatasource', file('first'));
    expect([answer.status, answer.body]).toEqual([200, { name: 'first' }]);
    expect(await listed()).toContainEqual({ name: 'first', datasourceType: 'DUCKDB', syncedAt: noon.toISOString() });
  });

  test.each(['duckdb', 'DuckDB', 'DUCKDB'])('datasourceType %s is accepted in any case', async (spelling) => {
    const name = `spelt-${spelling}`;
    await ok(house, 'createDatasource', { ...file(name), datasourceType: spelling });
    expect((await listed()).find((one) => one.name === name)?.datasourceType).toBe('DUCKDB');
  });

  test('the tables, columns and keys found are stored', async () => {
    await runOnFile(at('keys.duckdb'), [
      'CREATE TABLE shops (id BIGINT PRIMARY KEY, name VARCHAR UNIQUE)',
      'CREATE TABLE sales (id BIGINT PRIMARY KEY, shop BIGINT REFERENCES shops (id), amount DECIMAL(9,2) NOT NULL)',
    ]);
    await ok(house, 'createDatasource', file('keys', at('keys.duckdb')));
    const tables = await house.stored(async (store) => {
      const summary = await store.datasources.findSummary('keys');
      return store.datasources.findTables(summary?.id ?? '');
    });
    expect(tables).toMatchObject([
      { tableName: 'sales', primaryKey: ['id'], foreignKeys: [{ columns: ['shop'], referencedColumns: ['id'] }] },
      { tableName: 'shops', primaryKey: ['id'], uniqueKeys: [['name']] },
    ]);
    expect(tables?.[0]?.columns[2]).toEqual({
      columnName: 'amount',
      datatype: 'DECIMAL(9,2)',
      kind: 'number',
      isNullable: false,
    });
  });

  test('a second one with the same name fails: DATASOURCE_ALREADY_EXISTS', async () => {
    await ok(house, 'createDatasource', file('twice'));
    const message = await refused('createDatasource DATASOURCE_ALREADY_EXISTS', house, file('twice'));
    expect(message).toContain('"twice"');
    expect(await ok(house, 'createDatasource', file('Twice'))).toEqual({ name: 'Twice' });
  });

  test('of ten simultaneous creates with one name, one succeeds', async () => {
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => call(house, 'createDatasource', file('at-once'))),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, ...Array.from({ length: 9 }, () => 400)]);
    expect((await names()).filter((name) => name === 'at-once')).toHaveLength(1);
  });

  test.each<[string, () => Input, RegExp]>([
    ['a host that the operator did not name', () => server('never', { host: 'db.example.com' }), /allowedHosts/],
    ['another port of a host that is named', () => server('never', { port: 5432 }), /allowedHosts/],
    ['the cloud’s metadata service', () => server('never', { host: '169.254.169.254', port: 80 }), /allowedHosts/],
    ['a server that does not answer', () => server('never'), /^Datasource never: /],
    ['a MariaDB that does not answer', () => server('never', {}, 'mariadb'), /^Datasource never: /],
    ['a host that does not exist', () => server('never', { host: 'nowhere.invalid' }), /^Datasource never: /],
    ['a file that is not there', () => file('never', at('gone.duckdb')), /duckdbFolders/],
    ['a file outside of the folders', () => file('never', '/etc/passwd'), /duckdbFolders/],
    ['a path that climbs out', () => file('never', `${house.sources}/../credentials.json`), /duckdbFolders/],
    ['the lock of the metadata', () => file('never', `${house.sources}/../metadata.lock`), /duckdbFolders/],
    ['a URL', () => file('never', 's3://bucket/x.duckdb'), /duckdbFolders/],
    ['memory', () => file('never', ':memory:'), /duckdbFolders/],
    ['a folder', () => file('never', house.sources), /duckdbFolders/],
    ['a file that is no database', () => file('never', at('text.duckdb')), /^Datasource never: /],
    ['a link that leads out', () => file('never', at('out.duckdb')), /duckdbFolders/],
    ['a SQLite file outside of the folders', () => sqlite('never', '/etc/passwd'), /sqliteFolders/],
    ['memory of SQLite', () => sqlite('never', ':memory:'), /sqliteFolders/],
    ['a URL of SQLite', () => sqlite('never', `file:${at('text.duckdb')}?mode=rwc`), /sqliteFolders/],
    ...variantNames.map((type): [string, () => Input, RegExp] => [
      `a ${type}, of which none was run`,
      () => server('never', {}, type),
      /untested/,
    ]),
    ['a redshift, in any case', () => server('never', {}, 'Redshift'), /datasources\.untested: true/],
    ['a file that is no SQLite database', () => sqlite('never', at('text.duckdb')), /^Datasource never: /],
  ])('%s is refused, and nothing is stored', async (_, input, message) => {
    await writeFile(at('text.duckdb'), 'no database');
    await symlink('/etc/passwd', at('out.duckdb')).catch(() => undefined);
    const before = await names();
    const text = await refused('createDatasource DATASOURCE_CONNECTION_ERROR', house, input());
    expect(text).toMatch(message);
    for (const secret of [password, 'root:', 'ECONNREFUSED', 'ENOTFOUND', 'no database'])
      expect(text).not.toContain(secret);
    expect(await names()).toEqual(before);
  });

  const without = (name: string, datasourceType = 'POSTGRES'): Input => {
    const { credentials, ...rest } = server('never', {}, datasourceType);
    const { [name]: _, ...others } = credentials as Input;
    return { ...rest, credentials: others };
  };
  test.each<[string, Input]>([
    ['datasourceType', { credentials: { name: 'never', path: '/x' } }],
    ['datasourceType', { ...server('never'), datasourceType: 'ORACLE' }],
    ['datasourceType', { ...server('never'), datasourceType: 7 }],
    ['credentials', { datasourceType: 'DUCKDB' }],
    ['credentials.name', { datasourceType: 'DUCKDB', credentials: { path: '/x' } }],
    ['credentials.path', { datasourceType: 'DUCKDB', credentials: { name: 'never' } }],
    ['credentials.host', { datasourceType: 'DUCKDB', credentials: { name: 'never', path: '/x', host: 'db' } }],
    ['credentials.path', server('never', { path: '/x' })],
    ['credentials.replicas', server('never', { replicas: [{ host: '127.0.0.1' }] }, 'AURORA_POSTGRES')],
    ...['name', 'host', 'username', 'password', 'database'].flatMap((name): [string, Input][] => [
      [`credentials.${name}`, without(name)],
      [`credentials.${name}`, without(name, 'mysql')],
    ]),
    ...['', '/var/run/postgresql', 'a,b', 'http://db', 'user@db', 'db:5432', ' db'].map((host): [string, Input] => [
      'credentials.host',
      server('never', { host }),
    ]),
    ...[0, 65_536, 1.5, '5432', null].map((port): [string, Input] => ['credentials.port', server('never', { port })]),
    ['credentials.isSsl', server('never', { isSsl: 'true' })],
    ['credentials.password', server('never', { password: null })],
    ['credentials.schema', server('never', { schema: 'other' }, 'MYSQL')],
    ['credentials.schema', server('never', { schema: 'other' }, 'ClickHouse')],
    ['credentials.port', server('never', { port: '8123' }, 'CLICKHOUSE')],
    ['credentials.name', server('x'.repeat(256))],
    ['credentials.sslmode', server('never', { sslmode: 'disable' })],
    ['syncedAt', { ...server('never'), syncedAt: null }],
  ])('the error names %s: %j', async (path, input) => {
    for (const pair of ['createDatasource INVALID_REQUEST_BODY', 'updateDatasource INVALID_REQUEST_BODY'] as const) {
      const message = await refused(pair, house, input);
      expect(message).toContain(path);
      expect(message).not.toContain(password);
    }
  });
});

describe('update', () => {
  test('PUT by credentials.name with all credentials: the next query uses them', async () => {
    await ok(house, 'createEmbed', {
      embedType: 'metric',
      dashboardId: 'board',
      metricId: 'revenue',
      workspaceName: 'shop',
      name: 'revenue',
    });
    const { data } = await ok(house, 'listEmbeds', {});
    const embedId = data[0]?.embedId;
    const read = async () => (await ok(house, 'queryMetric', { embedId, metricId: 'revenue', clientId: 'acme' })).data;
    expect(await read()).toEqual([{ Revenue: 200 }]);
    await copyFile(at('warehouse.duckdb'), at('tenfold.duckdb'));
    await runOnFile(at('tenfold.duckdb'), ['UPDATE sales SET amount = amount * 10']);
    const answer = await call(house, 'updateDatasource', file('warehouse', at('tenfold.duckdb')));
    expect([answer.status, answer.body]).toEqual([200, { name: 'warehouse' }]);
    expect(await read()).toEqual([{ Revenue: 2000 }]);
    const unreachable = file('warehouse', at('gone.duckdb'));
    await refused('updateDatasource DATASOURCE_CONNECTION_ERROR', house, unreachable);
    expect(await read()).toEqual([{ Revenue: 2000 }]);
    await ok(house, 'updateDatasource', file('warehouse'));
    expect(await read()).toEqual([{ Revenue: 200 }]);
  });

  test('an unknown name: DATASOURCE_ID_ERROR', async () => {
    expect(await refused('updateDatasource DATASOURCE_ID_ERROR', house, file('nowhere'))).toContain('"nowhere"');
    expect(await names()).not.toContain('nowhere');
  });

  test('the type cannot change', async () => {
    await ok(house, 'createDatasource', file('typed'));
    const message = await refused('updateDatasource INVALID_REQUEST_BODY', house, server('typed'));
    expect(message).toContain('is of type DUCKDB');
    expect((await listed()).find(({ name }) => name === 'typed')?.datasourceType).toBe('DUCKDB');
  });
});

describe('list', () => {
  test('Response: {data: [{name, datasourceType, syncedAt}]} ordered by name, without credentials', async () => {
    const answer = await call(house, 'listDatasources', {});
    const { data } = answer.body as { data: readonly Input[] };
    expect(Object.keys(answer.body as object)).toEqual(['data']);
    for (const item of data) expect(Object.keys(item)).toEqual(['name', 'datasourceType', 'syncedAt']);
    expect(data.map(({ name }) => name)).toEqual(data.map(({ name }) => name).toSorted());
    expect(data).toContainEqual({ name: 'lost', datasourceType: 'DUCKDB', syncedAt: null });
    expect(answer.text).not.toContain(house.sources);
  });

  test('isPagination and pageNumber: ten per page', async () => {
    for (let index = 0; index < 12; index += 1) await ok(house, 'createDatasource', file(`zz-${index + 10}`));
    const all = await listed();
    const page = async (pageNumber: number) =>
      (await ok(house, 'listDatasources', { isPagination: true, pageNumber })).data;
    expect(await page(1)).toEqual(all.slice(0, 10));
    expect(await page(2)).toEqual(all.slice(10, 20));
    expect(await page(99)).toEqual([]);
  });

  test.each([{ isPagination: true, pageNumber: 0 }, { isPagination: true, pageNumber: 'x' }, { name: 'first' }])(
    '%j is not valid',
    async (input) => {
      await refused('listDatasources INVALID_REQUEST_BODY', house, input);
    },
  );
});

test('the login of a datasource is changed only where it has one, and never that of an unknown one', async () => {
  await ok(house, 'createDatasource', file('without-login'));
  const sent = { name: 'without-login', password: 'x' };
  expect(await refused('updateDatasourceLogin INVALID_REQUEST_BODY', house, sent)).toContain('a file');
  const unknown = { name: 'nowhere', password: 'x' };
  expect(await refused('updateDatasourceLogin DATASOURCE_ID_ERROR', house, unknown)).toContain('"nowhere"');
});

describe('sync', () => {
  test('reads the tables again: the next query sees them, and syncedAt is the time', async () => {
    await runOnFile(at('growing.duckdb'), ['CREATE TABLE one (id BIGINT)']);
    await ok(house, 'createDatasource', file('growing', at('growing.duckdb')));
    await runOnFile(at('grown.duckdb'), ['CREATE TABLE one (id BIGINT)', 'CREATE TABLE two (id BIGINT)']);
    await rename(at('grown.duckdb'), at('growing.duckdb'));
    const later = new Date(noon.getTime() + 60_000);
    setNow(later);
    const answer = await call(house, 'syncDatasource', { name: 'growing' });
    expect([answer.status, answer.body]).toEqual([
      200,
      { data: { message: 'Datasource "growing" is synced: 2 tables.' } },
    ]);
    expect((await listed()).find(({ name }) => name === 'growing')?.syncedAt).toBe(later.toISOString());
  });

  test('older clients send {input: {datasourceId}} with its id or its name', async () => {
    await ok(house, 'createDatasource', file('known'));
    const id = await house.stored(async (store) => (await store.datasources.findSummary('known'))?.id);
    for (const input of [{ input: { datasourceId: 'known' } }, { input: { datasourceId: id } }, { name: 'known' }])
      expect((await ok(house, 'syncDatasource', input)).data.message).toContain('"known"');
  });

  test('an unknown datasource: 400 DATASOURCE_ID_ERROR', async () => {
    for (const input of [{ name: 'nowhere' }, { input: { datasourceId: 'nowhere' } }])
      expect(await refused('syncDatasource DATASOURCE_ID_ERROR', house, input)).toContain('"nowhere"');
  });

  test('a datasource that became unreachable: DATASOURCE_CONNECTION_ERROR, and its stored tables stay', async () => {
    await runOnFile(at('leaving.duckdb'), ['CREATE TABLE one (id BIGINT)']);
    await ok(house, 'createDatasource', file('leaving', at('leaving.duckdb')));
    await rm(at('leaving.duckdb'));
    setNow(new Date(noon.getTime() + 60_000));
    await refused('syncDatasource DATASOURCE_CONNECTION_ERROR', house, { name: 'leaving' });
    expect((await listed()).find(({ name }) => name === 'leaving')?.syncedAt).toBe(noon.toISOString());
    const tables = await house.stored(async (store) => {
      const summary = await store.datasources.findSummary('leaving');
      return store.datasources.findTables(summary?.id ?? '');
    });
    expect(tables?.map(({ tableName }) => tableName)).toEqual(['one']);
  });

  test.each([
    {},
    { name: '' },
    { input: {} },
    { datasourceId: 'first' },
    { name: 'first', input: { datasourceId: 'x' } },
  ])('%j is not valid', async (input) => {
    await refused('syncDatasource INVALID_REQUEST_BODY', house, input);
  });
});

const end = (tableName: string, columnName: string) => ({ schemaName: 'main', tableName, columnName });
const compared = (name = 'compared', to = end('customers', 'id')): Input => ({
  ...{ name, from: end('sales', 'customer'), to },
});

test('Auth: only the service token', async () => {
  for (const bearer of [null, 'wrong', house.apiKey]) {
    const message = /^invalid service token(?:\. This is an API key .*)?$/;
    expect(await refused('createDatasource AUTHENTICATION_ERROR', house, file('never'), { bearer })).toMatch(message);
    expect(await refused('updateDatasource AUTHENTICATION_ERROR', house, file('warehouse'), { bearer })).toMatch(
      message,
    );
    const login = { name: 'warehouse', password: 'x' };
    expect(await refused('updateDatasourceLogin AUTHENTICATION_ERROR', house, login, { bearer })).toMatch(message);
    expect(await refused('listDatasources AUTHENTICATION_ERROR', house, {}, { bearer })).toMatch(message);
    expect(await refused('syncDatasource AUTHENTICATION_ERROR', house, { name: 'first' }, { bearer })).toMatch(message);
    expect(await refused('listDatasourceTables AUTHENTICATION_ERROR', house, { name: 'first' }, { bearer })).toMatch(
      message,
    );
    expect(await refused('compareDatasourceColumns AUTHENTICATION_ERROR', house, compared(), { bearer })).toMatch(
      message,
    );
  }
  expect(await names()).not.toContain('never');
});

test('a body that is not JSON is refused without repeating any of it', async () => {
  const answer = await request(`${house.url()}/api/v2/datasource`, {
    method: 'POST',
    headers: { authorization: `Bearer ${house.serviceToken}`, 'content-type': 'application/json' },
    body: `{"datasourceType": "POSTGRES", "credentials": {"password": "${password}" oops}`,
  });
  expect(answer.status).toBe(400);
  expect(answer.text).not.toContain(password.slice(0, 8));
});

test('a stored datasource that is no longer allowed is not read', async () => {
  await house.stored(async (store) => {
    const there = await store.datasources.findByName('lost');
    if (there === undefined) throw new Error('no datasource lost');
    await store.datasources.update({ ...there, datasourceType: 'DUCKDB', path: '/etc/passwd' });
  });
  expect(await refused('syncDatasource DATASOURCE_CONNECTION_ERROR', house, { name: 'lost' })).toContain(
    'datasources.duckdbFolders',
  );
});

describe('tables', () => {
  const tablesOf = async (name: string) => (await ok(house, 'listDatasourceTables', { name })).data;

  test('lists current columns, keys and estimated rows, and what keys and names propose', async () => {
    await runOnFile(at('proposed.duckdb'), [
      'CREATE TABLE organizations (id BIGINT PRIMARY KEY, name VARCHAR)',
      'CREATE TABLE sales (id BIGINT PRIMARY KEY, org BIGINT REFERENCES organizations (id), amount DECIMAL(9,2) NOT NULL)',
      'CREATE TABLE visits (id BIGINT PRIMARY KEY, sale_id BIGINT, day DATE, tenant_id BIGINT)',
      'INSERT INTO organizations SELECT i, i FROM range(25) numbers (i)',
    ]);
    await ok(house, 'createDatasource', file('proposed', at('proposed.duckdb')));
    const { tables, proposals } = await tablesOf('proposed');
    expect(tables.map(({ tableName, estimatedRows }) => [tableName, estimatedRows])).toEqual([
      ['organizations', 25],
      ['sales', 0],
      ['visits', 0],
    ]);
    expect(tables[1]).toMatchObject({
      columns: [{ kind: 'integer' }, { kind: 'integer' }, { columnName: 'amount', kind: 'number', isNullable: false }],
      primaryKey: ['id'],
      foreignKeys: [{ columns: ['org'], referencedTable: 'main.organizations', referencedColumns: ['id'] }],
    });
    expect(proposals.relationships.map(({ relationship, basis }) => [relationship, basis])).toEqual([
      [
        {
          relationshipName: 'sales.org',
          parentTableName: 'main.sales',
          parentColumnName: 'org',
          childTableName: 'main.organizations',
          childColumnName: 'id',
          cardinality: 'ManyToOne',
        },
        'foreignKey',
      ],
      [expect.objectContaining({ relationshipName: 'visits.sale_id', childTableName: 'main.sales' }), 'name'],
    ]);
    expect(proposals.tenantTables).toMatchObject([
      { tableName: 'organizations', keyColumn: 'id', nameColumn: 'name', tablesReached: 2 },
    ]);
    expect(
      proposals.clientColumns.map(({ tableName, columnName, tenantTable }) => [tableName, columnName, tenantTable]),
    ).toEqual([
      ['sales', 'org', 'main.organizations'],
      ['visits', 'tenant_id', null],
    ]);
  });

  test('a datamart accepts the proposals unchanged', async () => {
    const { proposals } = await tablesOf('proposed');
    const created = await ok(house, 'createDatamart', {
      name: 'proposed',
      datasourceName: 'proposed',
      tenancySettings: {
        tenancyLevel: 'TABLE',
        clientColumnType: 'NUMBER',
        schemaName: 'main',
        tableName: 'organizations',
        tablePrimaryKeyColumn: 'id',
        tableClientNameColumn: 'name',
      },
      tableList: [
        { name: 'organizations', columns: [{ name: 'id' }] },
        { name: 'sales', clientColumn: 'org', columns: [{ name: 'id' }, { name: 'org' }] },
        { name: 'visits', columns: [{ name: 'sale_id' }] },
      ],
      relationships: proposals.relationships.map(({ relationship }) => relationship),
    });
    // There are no warnings, since each table has a tenancy.
    expect(created).toEqual({ id: 'proposed', error: null });
  });

  test('a search and a page list some of the tables, and proposals about these', async () => {
    const tables = Array.from({ length: 12 }, (_, index) => `CREATE TABLE part_${index + 10} (id BIGINT)`);
    await runOnFile(at('many.duckdb'), [...tables, 'CREATE TABLE leads (id BIGINT, tenant_id BIGINT)']);
    await ok(house, 'createDatasource', file('many', at('many.duckdb')));
    const listed = async (input: object) => {
      const { data } = await ok(house, 'listDatasourceTables', { name: 'many', ...input });
      return [data.tableCount, data.tables.length, data.proposals.clientColumns.length];
    };
    expect(await listed({})).toEqual([13, 13, 1]);
    expect(await listed({ isPagination: true, pageNumber: 1 })).toEqual([13, 10, 1]);
    expect(await listed({ isPagination: true, pageNumber: 2 })).toEqual([13, 3, 0]);
    expect(await listed({ search: 'PART', isPagination: true, pageNumber: 2 })).toEqual([12, 2, 0]);
    expect(await listed({ search: 'tenant' })).toEqual([1, 1, 1]);
    const wrong = { name: 'many', isPagination: true, pageNumber: 0 };
    expect(await refused('listDatasourceTables INVALID_REQUEST_BODY', house, wrong)).toContain('pageNumber');
  });

  test('an unknown datasource, an unreachable one, and a missing name are refused', async () => {
    const input = { name: 'nowhere' };
    expect(await refused('listDatasourceTables DATASOURCE_ID_ERROR', house, input)).toContain('"nowhere"');
    await runOnFile(at('gone-soon.duckdb'), ['CREATE TABLE one (id BIGINT)']);
    await ok(house, 'createDatasource', file('gone-soon', at('gone-soon.duckdb')));
    await rm(at('gone-soon.duckdb'));
    await refused('listDatasourceTables DATASOURCE_CONNECTION_ERROR', house, { name: 'gone-soon' });
    await refused('listDatasourceTables INVALID_REQUEST_BODY', house, {});
  });
});

describe('comparing two columns', () => {
  test('counts values that repeat in each, and answers none of them', async () => {
    await runOnFile(at('compared.duckdb'), [
      'CREATE TABLE customers (id VARCHAR)',
      "INSERT INTO customers VALUES ('acme'), ('globex'), ('globex')",
      'CREATE TABLE sales (customer VARCHAR)',
      "INSERT INTO sales VALUES ('acme'), ('acme'), ('globex'), (NULL)",
    ]);
    await ok(house, 'createDatasource', file('compared', at('compared.duckdb')));
    expect((await ok(house, 'compareDatasourceColumns', compared())).data).toEqual({
      from: { rows: 3, repeated: 1, isWhole: true },
      to: { rows: 3, repeated: 1, isWhole: true },
    });
  });

  test('refuses an unknown datasource or column, and one that cannot be read', async () => {
    expect(await refused('compareDatasourceColumns DATASOURCE_ID_ERROR', house, compared('nowhere'))).toContain(
      '"nowhere"',
    );
    const unknown = compared('compared', end('customers', 'Id'));
    expect(await refused('compareDatasourceColumns INVALID_REQUEST_BODY', house, unknown)).toContain(
      'main.customers.Id',
    );
    await runOnFile(at('not-there.duckdb'), ['CREATE TABLE one (id BIGINT)']);
    await ok(house, 'createDatasource', file('not-there', at('not-there.duckdb')));
    await ok(house, 'syncDatasource', { name: 'not-there' });
    await rm(at('not-there.duckdb'));
    await refused('compareDatasourceColumns METRIC_QUERY_ERROR', house, compared('not-there'));
  });
});
