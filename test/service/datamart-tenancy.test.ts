/**
 * Tables on which every query is refused are reported: when a datamart is written, on request, and when the service
 * starts.
 */
import { rm } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TableDraft } from '../../src/model/datamart/tables.js';
import type { ServiceCaller } from '../../src/model/guest/caller.js';
import { type CreateDatamart, createDatamart, updateDatamart } from '../../src/service/datamarts/datamarts.js';
import { getDatamartTenancy, logUnreadableTables } from '../../src/service/datamarts/tenancy.js';
import { createDatasource } from '../../src/service/datasources/datasources.js';
import { queryMetric } from '../../src/service/embeds/query.js';
import { byClients, createFolder, datamart, insertInto, metric, refusalOf, table } from '../engine/world.js';
import { createWorld, settings, type World } from './world.js';

const caller: ServiceCaller = { kind: 'serviceToken', tokenId: 't' };
const clients = ['CREATE TABLE clients (id VARCHAR, name VARCHAR)', insertInto('clients', [['a', 'A']])];

let world: World;
let folder: Awaited<ReturnType<typeof createFolder>>;
const source = async (name: string, statements: readonly string[]): Promise<string> => {
  const path = await folder.build(name, statements);
  await createDatasource(world.deps)(caller, { datasourceType: 'DUCKDB', credentials: { name, path } });
  return path;
};
beforeAll(async () => {
  world = await createWorld();
  folder = await createFolder();
  await source('shop', [
    ...clients,
    'CREATE TABLE orders (id BIGINT PRIMARY KEY, client VARCHAR)',
    'CREATE TABLE lines (order_id BIGINT, product_id BIGINT)',
    'CREATE TABLE products (id BIGINT, label VARCHAR)',
  ]);
});
afterAll(async () => {
  await world.close();
  await folder.remove();
});

const draft = (name: string, columns: readonly string[], clientColumn: string | null = null): TableDraft => ({
  name,
  clientColumn,
  columns: columns.map((column) => ({ name: column })),
});
const related = (relationshipName: string, parent: [string, string], child: [string, string]) => ({
  relationshipName,
  parentTableName: parent[0],
  parentColumnName: parent[1],
  childTableName: child[0],
  childColumnName: child[1],
});
const byOrder = related('order of line', ['lines', 'order_id'], ['orders', 'id']);
const byProduct = {
  ...related('product of line', ['lines', 'product_id'], ['products', 'id']),
  cardinality: 'ManyToOne' as const,
};

const shop = (name: string, parts: Partial<CreateDatamart> = {}): CreateDatamart => ({
  name,
  datasourceName: 'shop',
  tenancySettings: {
    tenancyLevel: 'TABLE',
    clientColumnType: 'STRING',
    schemaName: 'main',
    tableName: 'clients',
    tableClientNameColumn: 'name',
    tablePrimaryKeyColumn: 'id',
  },
  tableList: [
    draft('clients', ['id', 'name']),
    draft('orders', ['id', 'client'], 'client'),
    draft('lines', ['order_id', 'product_id']),
    draft('products', ['id', 'label']),
  ],
  relationships: [byOrder, byProduct],
  ...parts,
});

const productsUnreadable = {
  table: 'main.products',
  message: expect.stringMatching(/^Table main\.products is not readable: .* list it in sharedTables/),
};
const linesUnreadable = {
  table: 'main.lines',
  message: expect.stringMatching(/^Table main\.lines is not readable: /),
};
const tenancyOf = async (datamartName: string) => {
  const { tables } = await getDatamartTenancy(world.deps)(caller, { datamartName });
  return Object.fromEntries(tables.map(({ table: { tableName }, tenancy }) => [tableName, tenancy]));
};

describe('warnings of a write', () => {
  test('name each table that has no way to a client, over the keys of the datasource', async () => {
    const { warnings } = await createDatamart(world.deps)(caller, shop('warned'));
    // No cardinality is declared. The primary key of orders proves that a line has one order.
    expect(warnings).toEqual([productsUnreadable]);
  });

  test('there are none if every table is declared', async () => {
    const made = await createDatamart(world.deps)(caller, shop('declared', { sharedTables: ['products'] }));
    expect(made.warnings).toEqual([]);
  });

  test('an update warns of what it leaves unreadable, whichever part it changes', async () => {
    await createDatamart(world.deps)(caller, shop('changed', { sharedTables: ['products'] }));
    const update = (parts: object) => updateDatamart(world.deps)(caller, { datamartName: 'changed', ...parts });
    expect((await update({ relationships: [byProduct] })).warnings).toEqual([linesUnreadable]);
    expect((await update({ sharedTables: [] })).warnings).toEqual([linesUnreadable, productsUnreadable]);
    expect((await update({ relationships: [byOrder] })).warnings).toEqual([productsUnreadable]);
    expect((await update({ tableList: shop('x').tableList?.slice(0, 3) })).warnings).toEqual([]);
  });

  test('a write that needs no datasource is done while it is away, and says that the keys are unknown', async () => {
    const path = await source('away', [...clients, 'CREATE TABLE notes (id BIGINT)']);
    const tableList = [draft('clients', ['id', 'name']), draft('notes', ['id'])];
    await createDatamart(world.deps)(
      caller,
      shop('away', { datasourceName: 'away', tableList, relationships: [], sharedTables: ['notes'] }),
    );
    await rm(path);
    const update = (sharedTables: readonly string[]) =>
      updateDatamart(world.deps)(caller, { datamartName: 'away', sharedTables });
    expect((await update([])).warnings).toEqual([
      { table: 'main.notes', message: expect.stringContaining('the datasource cannot be reached') },
    ]);
    expect((await refusalOf(() => tenancyOf('away'))).code).toBe('DATASOURCE_CONNECTION_ERROR');
    expect((await update(['notes'])).warnings).toEqual([]);
    await update([]);
  });

  test('a table of the primary database that is not shared is named too', async () => {
    await source('several', [
      'CREATE TABLE main.rates (id BIGINT)',
      'CREATE SCHEMA acme',
      'CREATE TABLE acme.sales (id BIGINT)',
    ]);
    const tableList = [draft('rates', ['id']), { ...draft('sales', ['id']), schemaName: 'acme' }];
    const made = await createDatamart(world.deps)(caller, {
      name: 'several',
      datasourceName: 'several',
      tableList,
      tenancySettings: { tenancyLevel: 'MULTI_DATABASE', primaryDatabase: 'main' },
    });
    expect(made.warnings).toEqual([
      {
        table: 'main.rates',
        message: expect.stringContaining('List it in sharedTables if it is meant for all clients'),
      },
    ]);
    expect(await tenancyOf('several')).toMatchObject({ rates: { kind: 'unreadable' }, sales: { kind: 'database' } });
  });

  test('there are none without tenancy', async () => {
    const { tenancySettings: _, ...untenanted } = shop('untenanted');
    expect((await createDatamart(world.deps)(caller, untenanted)).warnings).toEqual([]);
    expect(await tenancyOf('untenanted')).toMatchObject({ orders: { kind: 'none' }, products: { kind: 'none' } });
  });
});

test('the tenancy of a datamart says of each table why a row belongs to whom', async () => {
  await createDatamart(world.deps)(caller, shop('asked'));
  expect(await tenancyOf('asked')).toEqual({
    clients: { kind: 'master', columnName: 'id' },
    orders: { kind: 'column', columnName: 'client' },
    lines: {
      kind: 'path',
      steps: [
        {
          relationshipName: 'order of line',
          near: { schemaName: 'main', tableName: 'lines', columnName: 'order_id' },
          far: { schemaName: 'main', tableName: 'orders', columnName: 'id' },
        },
      ],
      owner: { schemaName: 'main', tableName: 'orders', kind: 'column', columnName: 'client' },
    },
    products: { kind: 'unreadable', reason: 'no-owner', message: expect.any(String) },
  });
});

test('a start logs each unreadable table of stored datamarts once, and what it could not check', async () => {
  const stored = datamart({
    id: 'before',
    name: 'before',
    datasourceId: 'source-sales',
    tenancy: byClients(),
    tables: [table('sales', { id: 'BIGINT', client: 'VARCHAR' }, 'client'), table('visits', { client: 'VARCHAR' })],
  });
  await world.store.datamarts.insert(stored);
  const lines: { readonly details: object; readonly message: string }[] = [];
  const log = { error: (details: object, message: string) => void lines.push({ details, message }) };
  await logUnreadableTables({ ...world.deps, log }, new AbortController().signal);
  const of = (name: string) => lines.filter(({ details }) => 'datamart' in details && details.datamart === name);
  expect(of('before')).toEqual([
    {
      details: { event: 'datamart.table_refused', datamart: 'before', table: 'main.visits' },
      message: expect.stringMatching(/^Table main\.visits is not readable: .*sharedTables/),
    },
  ]);
  expect(of('away')).toEqual([
    {
      details: expect.objectContaining({ event: 'datamart.check_failed', tables: ['main.notes'] }),
      message: expect.stringContaining('the datasource cannot be reached'),
    },
  ]);
  expect(of('declared')).toEqual([]);
  const before = lines.length;
  await logUnreadableTables({ ...world.deps, log }, AbortSignal.abort());
  expect(lines.length).toBe(before);
});

test('a guest is told that the table cannot be read, and no name; the host is told the warning itself', async () => {
  const { warnings } = await createDatamart(world.deps)(caller, shop('asked by a guest', { relationships: [] }));
  await world.template(
    'lines',
    { filters: [] },
    metric('lines', { measures: [{ name: 'Sales', aggregate: 'COUNT' }] }),
  );
  const scoped = { datamartName: 'asked by a guest' };
  const embedId = await world.embed('lines', undefined, { ...settings, ...scoped });
  const toGuest = await refusalOf(async () => world.count(await world.mint({}, scoped), 'lines-count', embedId));
  expect([toGuest.code, toGuest.message]).toEqual([
    'METRIC_QUERY_ERROR',
    'A table of this metric cannot be read, since its datamart does not say which client its rows belong to. The host application has to change the datamart.',
  ]);
  const asked = { embedId, metricId: 'lines-count', clientId: 'a', ...scoped };
  const toHost = await refusalOf(() => queryMetric(world.deps)(world.api(), asked, new AbortController().signal));
  expect(toHost.message).toBe(warnings.find(({ table: name }) => name === 'main.lines')?.message);
});
