/** The tenancy levels, from the sync to the rows: which database a token reads, and what an embed may add. */
import { rm } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { VisualDefinition } from '../../src/model/dashboard/metric.js';
import { type Datamart, withTenancySettings } from '../../src/model/datamart/datamart.js';
import type { ServiceCaller } from '../../src/model/guest/caller.js';
import { listUnreadableMetrics } from '../../src/service/dashboards/unreadable-metrics.js';
import { createDatamart, updateDatamart } from '../../src/service/datamarts/datamarts.js';
import { createDatasource, syncDatasource } from '../../src/service/datasources/datasources.js';
import { queryMetric } from '../../src/service/embeds/query.js';
import {
  columnRef,
  createFolder,
  createLoggedEngine,
  datamart,
  datasourceAt,
  insertInto,
  metric,
  question,
  refusalOf,
  relationship,
  table,
} from '../engine/world.js';
import { createWorld, settings, type World } from './world.js';

/** The signal of a caller that never disconnects. */
const going = new AbortController().signal;
const caller: ServiceCaller = { kind: 'serviceToken', tokenId: 't' };
const sales = (rows: number): readonly string[] => [
  'CREATE TABLE sales (id BIGINT, client VARCHAR, shop VARCHAR)',
  insertInto(
    'sales',
    Array.from({ length: rows }, (_, id) => [id, 'x', 's1']),
  ),
  'CREATE TABLE shops (code VARCHAR, state VARCHAR)',
];

let world: World;
let folder: Awaited<ReturnType<typeof createFolder>>;
beforeAll(async () => {
  world = await createWorld();
  folder = await createFolder();
  await world.template('board', { filters: [] });
});
afterAll(async () => {
  await world.close();
  await folder.remove();
});

const tableList = [
  { name: 'sales', columns: [{ name: 'id' }, { name: 'shop' }] },
  { name: 'shops', columns: [{ name: 'code' }, { name: 'state' }] },
];

describe('DATABASE: a file for each client, beside the datasource’s own', () => {
  let embed: string;
  const scoped = { datamartName: 'files' };
  const countOf = async (clientId: string) =>
    Number(await world.count(await world.mint({}, { clientId, ...scoped }), 'board-count', embed));

  beforeAll(async () => {
    const path = await folder.build('own', sales(0));
    await folder.build('acme', sales(3));
    await folder.build('globex', sales(5));
    await createDatasource(world.deps)(caller, { datasourceType: 'DUCKDB', credentials: { name: 'files', path } });
    await createDatamart(world.deps)(caller, {
      name: 'files',
      datasourceName: 'files',
      tableList,
      tenancySettings: { tenancyLevel: 'DATABASE', primaryDatabase: 'globex-not' },
    });
    embed = await world.embed('board', undefined, { ...settings, datamartName: 'files' });
  });

  test('a guest reads only its client’s file, also while another client queries', async () => {
    expect(await Promise.all(['acme', 'globex', 'acme'].map(countOf))).toEqual([3, 5, 3]);
  });

  test('a client without a database gets no token, and no rows: createGuestToken CLIENT_ID_ERROR', async () => {
    const strangers = ['initech', 'own', 'ACME', 'acme ', '../acme', 'acme.duckdb', 'main', 'None', ''];
    const asked = { embedId: embed, metricId: 'board-count', ...scoped };
    const messages = new Set<string>();
    for (const clientId of strangers) {
      const refusal = await refusalOf(() => world.mint({}, { clientId, ...scoped }));
      expect(refusal.code, clientId).toBe('CLIENT_ID_ERROR');
      messages.add(refusal.message);
      // The embed names its source, so the token need not. The query is refused, not the mint.
      const byEmbed = refusalOf(() => world.mint({ allowedEmbeds: [embed] }, { clientId }));
      expect((await byEmbed).code, clientId).toBe('CLIENT_ID_ERROR');
      const unscoped = await world.mint({}, { clientId });
      expect((await refusalOf(() => world.count(unscoped, 'board-count', embed))).code, clientId).toBe(
        'CLIENT_ID_ERROR',
      );
      const byHost = await refusalOf(() => queryMetric(world.deps)(world.api(), { ...asked, clientId }, going));
      expect(byHost.code, clientId).toBe('CLIENT_ID_ERROR');
    }
    // No message reveals what exists: there is one message for all cases, and one for each value that is invalid in
    // itself.
    expect(messages.size).toBe(3);
  });

  test('a new client’s database is one from the next sync on, and one that went is none', async () => {
    await folder.build('initech', sales(2));
    expect((await refusalOf(() => countOf('initech'))).code).toBe('CLIENT_ID_ERROR');
    await syncDatasource(world.deps)(caller, { name: 'files' });
    expect(await countOf('initech')).toBe(2);
    const early = await world.mint({}, { clientId: 'initech', ...scoped });
    await rm(folder.path('initech'));
    await syncDatasource(world.deps)(caller, { name: 'files' });
    expect((await refusalOf(() => world.count(early, 'board-count', embed))).code).toBe('CLIENT_ID_ERROR');
    expect(await countOf('acme')).toBe(3);
  });

  test('the primary database belongs to no client', async () => {
    const primary = (primaryDatabase: string | null) =>
      updateDatamart(world.deps)(caller, {
        datamartName: 'files',
        tenancySettings: { tenancyLevel: 'DATABASE', primaryDatabase },
      });
    await primary('acme');
    expect((await refusalOf(() => countOf('acme'))).code).toBe('CLIENT_ID_ERROR');
    await primary(null);
    expect(await countOf('acme')).toBe(3);
  });

  test('a datasource that was not synced since lists exist has no client databases', async () => {
    const files = await world.store.datasources.findByName('files');
    if (files?.datasourceType !== 'DUCKDB') throw new Error('there is no datasource');
    await world.store.datasources.insert({ ...files, id: 'older', name: 'older' });
    const mart = await world.store.datamarts.findByName('files');
    if (mart === undefined) throw new Error('there is no datamart');
    await world.store.datamarts.insert({ ...mart, id: 'older', name: 'older', datasourceId: 'older' });
    const refusal = await refusalOf(() => world.mint({}, { clientId: 'acme', datamartName: 'older' }));
    expect(refusal).toMatchObject({ code: 'CLIENT_ID_ERROR', reason: 'client-database-unlisted' });
  });
});

describe('MULTI_DATABASE: a schema for each client, and shared tables beside', () => {
  test('the datamart names the tables of one schema, and each client reads the same tables in its own schema', async () => {
    const own = (schema: string, rows: number): readonly string[] => [
      `CREATE SCHEMA ${schema}`,
      `CREATE TABLE ${schema}.sales AS SELECT range AS id, 'x' AS client, 's1' AS shop FROM range(${rows})`,
    ];
    const path = await folder.build('schemas', [
      ...sales(9),
      ...own('model', 0),
      ...own('acme', 4),
      ...own('globex', 6),
    ]);
    await createDatasource(world.deps)(caller, { datasourceType: 'DUCKDB', credentials: { name: 'schemas', path } });
    const [ofClient, shared] = tableList;
    await createDatamart(world.deps)(caller, {
      name: 'schemas',
      datasourceName: 'schemas',
      tableList: [
        { ...ofClient, name: 'sales', schemaName: 'model', columns: ofClient?.columns ?? [] },
        { ...shared, name: 'shops', schemaName: 'main', columns: shared?.columns ?? [] },
      ],
      sharedTables: ['shops'],
      tenancySettings: { tenancyLevel: 'MULTI_DATABASE', primaryDatabase: 'main' },
    });
    const definition = metric('sales', { measures: [{ name: 'Sales', aggregate: 'COUNT' }] });
    const from = { schemaName: 'model', tableName: 'sales' };
    await world.template('schemas', { filters: [] }, { ...definition, from } as VisualDefinition);
    const embed = await world.embed('schemas', undefined, { ...settings, datamartName: 'schemas' });
    const count = async (clientId: string) =>
      Number(await world.count(await world.mint({}, { clientId }), 'schemas-count', embed));
    expect([await count('acme'), await count('globex')]).toEqual([4, 6]);
    for (const clientId of ['main', 'information_schema', 'ACME', 'own']) {
      expect((await refusalOf(() => count(clientId))).code, clientId).toBe('CLIENT_ID_ERROR');
    }
    const byShop = metric('shops', { measures: [{ name: 'Shops', aggregate: 'COUNT' }] });
    const ofShops = { ...byShop, from: { schemaName: 'main', tableName: 'shops' } } as VisualDefinition;
    await world.template('schemas-shops', { filters: [] }, ofShops);
    const asked = { dashboardId: 'schemas-shops', workspaceName: 'space', datamartName: 'schemas' };
    const unreadable = () => listUnreadableMetrics(world.deps)(caller, asked, new AbortController().signal);
    expect(await unreadable()).toEqual([]);
    const stored = await world.store.datamarts.findByName('schemas');
    if (stored === undefined) throw new Error('the datamart was made');
    await world.store.datamarts.update({ ...stored, sharedTables: [] });
    expect((await unreadable()).map(({ message }) => message)).toEqual([expect.stringContaining('shops')]);
  });
});

describe('a datasource for each client', () => {
  test('a token reads the one that the host minted it for, and names no other', async () => {
    for (const [name, rows] of [
      ['of-a', 3],
      ['of-b', 7],
    ] as const) {
      const path = await folder.build(name, sales(rows));
      await createDatasource(world.deps)(caller, { datasourceType: 'DUCKDB', credentials: { name, path } });
      await createDatamart(world.deps)(caller, { name, datasourceName: name, tableList });
    }
    const workspace = await world.store.workspaces.findById('w');
    if (workspace === undefined) throw new Error('there is no workspace');
    await world.store.workspaces.update({ ...workspace, connectionType: 'MULTI_DATASOURCE' });
    const { datamartName: _, ...unnamed } = settings;
    await world.template('each', { filters: [] });
    const embed = await world.embed('each', 'each-count', unnamed);
    const mint = (datasourceName?: string, clientId = 'None') => world.mint({}, { clientId, datasourceName });
    const [a, b] = [await mint('of-a'), await mint('of-b')];
    expect([await world.count(a, embed), await world.count(b, embed)]).toEqual([3, 7]);
    // The browser cannot select another source.
    for (const more of [{ datasourceName: 'of-a' }, { datamartName: 'of-a' }, { clientId: 'a' }])
      expect(await world.count(b, embed, undefined, more)).toBe(7);
    const fixed = await world.embed('each', undefined, { ...settings, datamartName: 'of-a' });
    expect(await world.count(a, 'each-count', fixed)).toBe(3);
    // The embed's datamart is that of tokens which name no source: each token reads its own.
    expect(await world.count(b, 'each-count', fixed)).toBe(7);
    expect((await refusalOf(async () => world.count(await mint(), embed))).code).toBe('METRIC_QUERY_ERROR');
    await world.store.workspaces.update(workspace);
  });

  test('a client id is refused if no tenancy would limit it to its rows', async () => {
    const fixed = await world.embed('each', undefined, { ...settings, datamartName: 'of-a' });
    const refusal = await refusalOf(() => world.mint({}, { clientId: 'a', datamartName: 'of-a' }));
    expect(refusal).toMatchObject({ code: 'CLIENT_ID_ERROR', reason: 'untenanted-datamart' });
    const named = world.mint({}, { clientId: 'a', datasourceName: 'of-a' });
    expect((await refusalOf(async () => world.count(await named, 'each-count', fixed))).code).toBe('CLIENT_ID_ERROR');
  });
});

describe('tableTenancySettings of an embed', () => {
  const columns = {
    sales: { id: 'BIGINT', client: 'VARCHAR', shop: 'VARCHAR' },
    shops: { code: 'VARCHAR', size: 'BIGINT', holder: 'VARCHAR' },
  };
  const rows = {
    sales: [
      [1, 'a', 's1'],
      [2, 'a', 's1'],
      [3, 'a', 's2'],
      [4, 'b', 's1'],
      [5, 'b', null],
    ],
    shops: [
      ['s1', 100, 'a'],
      ['s1', 10, 'b'],
      ['s2', 1000, 'b'],
      ['s3', 1, 'a'],
    ],
  } as const;
  const build = (name: string, client: string | null) =>
    folder.build(name, [
      'CREATE TABLE sales (id BIGINT, client VARCHAR, shop VARCHAR)',
      insertInto(
        'sales',
        rows.sales.filter(([, owner]) => client === null || owner === client),
      ),
      'CREATE TABLE shops (code VARCHAR, size BIGINT, holder VARCHAR)',
      insertInto(
        'shops',
        rows.shops.filter(([, , owner]) => client === null || owner === client),
      ),
    ]);
  const martOf = (parts: Partial<Datamart> = {}): Datamart =>
    datamart({
      tables: [table('sales', columns.sales, 'client'), table('shops', columns.shops)],
      relationships: [relationship('sales.shop', 'shops.code', 'FULL JOIN', 'ManyToOne')],
      sharedTables: ['shops'],
      ...parts,
    });
  const added = [{ name: 'main.shops', clientColumn: 'holder' }];
  const sumOf = (path: string) => ({ name: path, aggregate: 'SUM', column: columnRef(path) }) as const;
  const byCode = { name: 'code', column: columnRef('shops.code') };
  const metrics = [
    metric('sales', { dimensions: [byCode], measures: [{ name: 'n', aggregate: 'COUNT' }, sumOf('sales.id')] }),
    metric('sales', { measures: [sumOf('sales.id')] }),
    metric('shops', { dimensions: [byCode], measures: [sumOf('shops.size')] }),
    metric('shops', { measures: [sumOf('shops.size')] }),
  ];

  test.each([
    ['on a shared table', {}],
    ['on a table that is not declared', { sharedTables: [] }],
  ])('%s: each client’s answers equal those of a database with only its rows', async (_, parts) => {
    const { engine } = createLoggedEngine();
    const together = await build(`together-${Object.keys(parts).length}`, null);
    const mart = withTenancySettings(martOf(parts), added);
    for (const client of ['a', 'b']) {
      const alone = await build(`alone-${client}-${Object.keys(parts).length}`, client);
      const shard = { ...datasourceAt(alone), id: `shard-${client}` };
      for (const definition of metrics) {
        const ours = await engine.query(question(together, mart, client, definition));
        const shardMart = martOf({ tenancy: null });
        const theirs = await engine.query(
          question({ datasource: shard, schemaName: 'main' }, shardMart, 'None', definition),
        );
        expect(ours.rows).toEqual(theirs.rows);
      }
    }
    await engine.close();
  });

  test('without it the shared table is everybody’s: so the test above can fail', async () => {
    const { engine } = createLoggedEngine();
    const together = await build('plain', null);
    const size = metric('shops', { measures: [sumOf('shops.size')] });
    expect((await engine.query(question(together, martOf(), 'a', size))).rows).toEqual([{ 'shops.size': 1111 }]);
    await engine.close();
  });

  test('neither changes nor removes a client column, also of a table of one name in another schema', () => {
    const other = { ...table('shops', columns.shops), schemaName: 'eu' };
    const mart = martOf({ tables: [table('sales', columns.sales, 'client'), table('shops', columns.shops), other] });
    const columnsOf = (settings_: Parameters<typeof withTenancySettings>[1]) =>
      withTenancySettings(mart, settings_).tables.map(({ clientColumn }) => clientColumn);
    expect(columnsOf([{ name: 'sales', clientColumn: 'shop' }])).toEqual(['client', null, null]);
    expect(columnsOf([{ name: 'sales', clientColumn: '' }])).toEqual(['client', null, null]);
    expect(columnsOf([{ name: 'eu.shops', clientColumn: 'holder' }])).toEqual(['client', null, 'holder']);
    expect(columnsOf([{ name: 'shops', clientColumn: 'holder' }])).toEqual(['client', 'holder', 'holder']);
  });

  test('a table whose client column does not exist is refused, and not treated as shared', async () => {
    const { engine } = createLoggedEngine();
    const together = await build('missing', null);
    const mart = withTenancySettings(martOf(), [{ name: 'shops', clientColumn: 'nobody' }]);
    const size = metric('shops', { measures: [sumOf('shops.size')] });
    expect(await refusalOf(() => engine.query(question(together, mart, 'a', size)))).toMatchObject({
      code: 'METRIC_QUERY_ERROR',
      reason: 'client-column-missing',
    });
    await engine.close();
  });
});
