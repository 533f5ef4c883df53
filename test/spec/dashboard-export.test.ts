/**
 * Dashboards as files: exported from an embed or a workspace, imported as templates or for a client; and invalid files.
 */
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { call, cloneBoard, type House, type Input, metricOf, mint, ok, openHouse, refused, settings } from './house.js';
import { boardFilters, definition } from './organization.js';

let house: House;
beforeAll(async () => {
  house = await openHouse();
});
afterAll(() => house.close());

const workspaceName = 'shop';
const exported = async (dashboardId: string) => ok(house, 'exportDashboard', { dashboardId, workspaceName });
const brought = async (importDashboardData: unknown, parts: Input = {}) =>
  (await ok(house, 'importDashboard', { workspaceName, importDashboardData, ...parts })).data.response;
const create = (dashboardId: string, parts: Input = {}) => ({
  dashboardId,
  workspaceName,
  clientId: 'acme',
  accessSettings: settings,
  ...parts,
});
const make = (dashboardId: string, parts: Input = {}) => ok(house, 'createDashboardEmbed', create(dashboardId, parts));
const metric = (metricId: string, parts: Input = {}) => ({
  metricId,
  name: `Metric ${metricId}`,
  lineage: [],
  placement: 'GALLERY',
  definition: definition(),
  ...parts,
});
const data = (parts: Input = {}) => ({ version: 2, layout: [], filters: [], metrics: [], gridMargin: [], ...parts });

describe('GET /data-app/embeds/export?embedId=: the export envelope', () => {
  test('{"_meta": {...}, "data": {"layout": [], "filters": [], "metrics": [], "gridMargin": []}}', async () => {
    await cloneBoard(house, 'mine', 'acme', { metadata: { plan: 'pro' }, isAllowPrivateMetricsByDefault: true });
    const { _meta, data: content } = await ok(house, 'exportEmbed', { embedId: 'mine' });
    expect(_meta).toEqual({ version: 3, dashboardId: 'mine', name: 'mine_acme' });
    expect(content).toMatchObject({
      filters: boardFilters,
      gridMargin: [8, 4],
      metadata: { plan: 'pro' },
      isAllowPrivateMetricsByDefault: true,
    });
    const [revenue] = content.metrics;
    expect(revenue).toMatchObject({ name: 'Metric revenue', lineage: ['revenue'], placement: 'METRIC' });
    expect(content.layout[0]?.metricId).toBe(revenue?.metricId);
    expect(content.metrics.map(({ placement }) => placement)).toEqual(['METRIC', 'METRIC', 'METRIC', 'GALLERY']);
  });

  test('an embed of one metric exports that metric with its card', async () => {
    const { id } = await ok(house, 'createEmbed', {
      embedType: 'metric',
      dashboardId: 'board',
      metricId: 'by-region',
      workspaceName,
    });
    const { data: content } = await ok(house, 'exportEmbed', { embedId: id });
    expect(content.metrics.map(({ metricId }) => metricId)).toEqual(['by-region']);
    expect(content.layout.map(({ metricId }) => metricId)).toEqual(['by-region']);
  });

  test("clients' own metrics on a dashboard of the organization are not exported", async () => {
    const { id } = await ok(house, 'createEmbed', {
      embedType: 'dashboard',
      dashboardId: 'held',
      workspaceName,
      accessSettings: settings,
    });
    const { data: content } = await ok(house, 'exportEmbed', { embedId: id });
    expect([content.metrics, content.layout]).toEqual([[], []]);
    expect((await exported('held')).data.metrics).toEqual([]);
  });

  test('an unknown embed, or one of another data app: INVALID_EMBED_ID', async () => {
    await refused('exportEmbed INVALID_EMBED_ID', house, { embedId: 'nowhere' });
    await cloneBoard(house, 'closed', 'acme');
    await refused('exportEmbed INVALID_EMBED_ID', house, { embedId: 'closed' }, { bearer: house.otherKey });
    await refused('exportEmbed AUTHENTICATION_ERROR', house, { embedId: 'closed' }, { bearer: house.serviceToken });
  });
});

describe('POST /data-app/export-dashboard {dashboardId, workspaceName} (service token)', () => {
  test("exports the organization's dashboard, and a client's if its id is unambiguous", async () => {
    await cloneBoard(house, 'one-of-us', 'acme');
    expect((await exported('board'))._meta.dashboardId).toBe('board');
    expect((await exported('one-of-us')).data.metrics).toHaveLength(4);
  });

  test('an id that several data apps have: INVALID_DASHBOARD_ID', async () => {
    await make('twice');
    await ok(house, 'createDashboardEmbed', create('twice'), { bearer: house.otherKey });
    await refused('exportDashboard INVALID_DASHBOARD_ID', house, { dashboardId: 'twice', workspaceName });
  });

  test('an unknown dashboard, or one of another workspace: INVALID_DASHBOARD_ID; unknown workspace: WORKSPACE_ID_ERROR', async () => {
    for (const dashboardId of ['nowhere', 'counter'])
      await refused('exportDashboard INVALID_DASHBOARD_ID', house, { dashboardId, workspaceName });
    const input = { dashboardId: 'board', workspaceName: 'nowhere' };
    await refused('exportDashboard WORKSPACE_ID_ERROR', house, input);
    await refused('exportDashboard AUTHENTICATION_ERROR', house, input, { bearer: house.apiKey });
  });
});

describe('POST /data-app/import-dashboard (service token): a template', () => {
  test('{data: {response: {message, dashboardId, dashboardName, workspaceName}}}, and it can be cloned', async () => {
    const answer = await brought(await exported('board'), { dashboardId: 'board-2', dashboardName: 'Board, again' });
    const named = { dashboardId: 'board-2', dashboardName: 'Board, again', workspaceName };
    expect(answer).toEqual({ message: expect.any(String), ...named });
    await make('from-import', { templateDashboardId: 'board-2', isImportMetrics: true });
    const metricId = await metricOf(house, 'from-import', 'acme', 'revenue');
    const query = { embedId: 'from-import', metricId, clientId: 'acme' };
    expect((await ok(house, 'queryMetric', query)).data).toEqual([{ Revenue: 200 }]);
  });

  test('without dashboardId, a new id is created', async () => {
    const [one, other] = [await brought(data()), await brought(data())];
    expect(one.dashboardId).not.toBe(other.dashboardId);
    expect(one.dashboardName).toBe(one.dashboardId);
  });

  test('an id that the organization or a client of any data app has: INVALID_DASHBOARD_ID, and the reverse', async () => {
    await make('of-a-client');
    for (const dashboardId of ['board', 'of-a-client'])
      await refused('importDashboard INVALID_DASHBOARD_ID', house, {
        workspaceName,
        importDashboardData: data(),
        dashboardId,
      });
    await brought(data(), { dashboardId: 'of-all' });
    await refused('createDashboardEmbed INVALID_DASHBOARD_ID', house, create('of-all'));
  });

  test("checked against the workspace's datamart: INVALID_DASHBOARD_DATA with every place, and nothing is stored", async () => {
    const broken = definition({ from: { schemaName: 'nowhere', tableName: 'sales' } });
    const filters = [
      {
        ...boardFilters[0],
        applyOnTables: [{ schemaName: 'main', tableName: 'x', columnName: 'y', dataType: 'string' }],
      },
    ];
    const message = await refused('importDashboard INVALID_DASHBOARD_DATA', house, {
      workspaceName,
      dashboardId: 'unfit',
      importDashboardData: data({ filters, metrics: [metric('m', { definition: broken })] }),
    });
    for (const part of ['nowhere.sales', 'metrics["m"]', 'filters["Region"]', 'main.x.y'])
      expect(message).toContain(part);
    await refused('exportDashboard INVALID_DASHBOARD_ID', house, { dashboardId: 'unfit', workspaceName });
  });

  test('for a workspace over several datamarts, each metric must fit one of them', async () => {
    const total = definition({
      from: { schemaName: 'main', tableName: 'orders' },
      measures: [
        { name: 'Total', aggregate: 'SUM', column: { schemaName: 'main', tableName: 'orders', columnName: 'total' } },
      ],
      underlying: [],
    });
    const both = data({ metrics: [metric('a'), metric('b', { definition: total })] });
    expect((await brought(both, { workspaceName: 'all' })).workspaceName).toBe('all');
    await refused('importDashboard INVALID_DASHBOARD_DATA', house, { workspaceName, importDashboardData: both });
  });

  test('unknown workspace: WORKSPACE_ID_ERROR; an API key: AUTHENTICATION_ERROR', async () => {
    const input = { workspaceName: 'nowhere', importDashboardData: data() };
    await refused('importDashboard WORKSPACE_ID_ERROR', house, input);
    await refused('importDashboard AUTHENTICATION_ERROR', house, input, { bearer: house.apiKey });
  });
});

describe('a metric records its origin', () => {
  const params = (metricId: string, dashboardId: string) => ({
    allowedEmbeds: [dashboardId],
    rlsSettings: [{ metricId, values: { region: ['north'] } }],
  });

  test('rlsSettings that name the original also restrict the imported copy and its copies', async () => {
    await make('traveller', { importDashboardData: (await exported('board')).data });
    const again = await ok(house, 'exportEmbed', { embedId: 'traveller' });
    await make('traveller-2', { importDashboardData: again });
    for (const dashboardId of ['traveller', 'traveller-2']) {
      const metricId = await metricOf(house, dashboardId, 'acme', 'guarded');
      const bearer = await mint(house, 'acme', params('guarded', dashboardId));
      const { data: rows } = await ok(house, 'queryGuestMetric', { metricId, dashboardId }, { bearer });
      expect(rows).toEqual([{ Revenue: 130 }]);
      const bare = await mint(house, 'acme', { allowedEmbeds: [dashboardId] });
      await refused('queryGuestMetric RLS_SETTINGS_PARAM_ERROR', house, { metricId, dashboardId }, { bearer: bare });
    }
  });

  test('the lineage of an imported metric is [its id in the file, ...its lineage in the file]', async () => {
    await make('lined', { importDashboardData: data({ metrics: [metric('m', { lineage: ['older', 'oldest'] })] }) });
    const { data: content } = await ok(house, 'exportEmbed', { embedId: 'lined' });
    expect(content.metrics[0]?.lineage).toEqual(['m', 'older', 'oldest']);
  });
});

describe('versions', () => {
  test('version 1 files can be read: as an envelope, and as data with or without a version', async () => {
    const file = JSON.parse(await readFile(new URL('../fixtures/dashboard-v1.json', import.meta.url), 'utf8'));
    const inMain = JSON.parse(JSON.stringify(file).replaceAll('"flights"', '"sales"'));
    expect(inMain._meta.version).toBe(1);
    const { metrics: _, ...rest } = inMain.data;
    const one = { metricId: 'flights-a-day', name: 'Sales', definition: definition() };
    const old = {
      ...rest,
      filters: [],
      layout: rest.layout.slice(0, 1),
      metrics: [one, { ...one, metricId: 'spare' }],
    };
    for (const [index, given] of [{ ...inMain, data: old }, old, { ...old, version: 1 }].entries()) {
      await make(`v1-${index}`, { importDashboardData: given });
      const { data: content } = await ok(house, 'exportEmbed', { embedId: `v1-${index}` });
      expect(content.metrics.map(({ placement, lineage }) => [placement, lineage])).toEqual([
        ['METRIC', ['flights-a-day']],
        ['GALLERY', ['spare']],
      ]);
    }
  });

  test.each([
    ['the envelope', { _meta: { version: 4 }, data: data({ version: undefined }) }, '_meta.version'],
    ['the data', data({ version: 4 }), 'version'],
    ['data in an envelope', { _meta: { version: 2 }, data: data({ version: 9 }) }, 'data.version'],
  ])('a newer version in %s is refused with a clear message', async (_, importDashboardData, path) => {
    const message = await refused(
      'createDashboardEmbed INVALID_REQUEST_BODY',
      house,
      create('newer', { importDashboardData }),
    );
    expect(message).toContain(`importDashboardData.${path}`);
    expect(message).toContain('newer release');
  });

  test('an invalid version is refused', async () => {
    for (const version of [0, -1, 1.5, '2', null, [], Number.MAX_SAFE_INTEGER])
      await refused(
        'createDashboardEmbed INVALID_REQUEST_BODY',
        house,
        create('odd', { importDashboardData: data({ version }) }),
      );
  });
});

describe('an invalid file: path, value, what was expected, for several faults at once', () => {
  test('in data, and in an envelope', async () => {
    const bad = data({ gridMargin: ['wide'], metrics: [metric('m', { placement: 'WALL', lineage: 'x' })] });
    for (const [given, root] of [
      [bad, 'importDashboardData'],
      [{ _meta: { version: 2 }, data: bad }, 'importDashboardData.data'],
    ] as const) {
      const message = await refused(
        'createDashboardEmbed INVALID_REQUEST_BODY',
        house,
        create('bad', { importDashboardData: given }),
      );
      expect(message).toContain(`${root}.gridMargin[0]: got string "wide", expected a number`);
      expect(message).toContain(`${root}.metrics[0].placement: got string "WALL", expected one of "METRIC", "GALLERY"`);
      expect(message).toContain(`${root}.metrics[0].lineage`);
    }
  });

  test.each([[null], ['text'], [[]], [{}], [{ data: null }], [{ data: data(), more: 1 }]])(
    'a value in an exported file that does not fit is refused with its path: %j',
    async (importDashboardData) => {
      const { status } = await call(house, 'createDashboardEmbed', create('shapeless', { importDashboardData }));
      expect(status).toBe(400);
    },
  );
});

describe('schemaPairs: maps schema names in imported SQL to target datamart schema', () => {
  const withSql = (sql: string) =>
    data({ filters: [{ ...boardFilters[0], defaultValue: { sql, columnName: 'region' } }] });
  const pairs = { schemaPairs: [{ replaceSchema: 'old', targetSchema: 'main' }] };

  test('uses a parser: names are renamed, text that looks like them stays', async () => {
    const sql = "select region, 'old.sales' as old from old.sales -- old.sales";
    await make('moved', { importDashboardData: withSql(sql), ...pairs });
    const { data: content } = await ok(house, 'exportEmbed', { embedId: 'moved' });
    expect(content.filters[0]?.defaultValue).toEqual({
      sql: `SELECT region, 'old.sales' AS "old" FROM main.sales`,
      columnName: 'region',
    });
  });

  test('SQL that does not parse is refused with its place, without its text', async () => {
    for (const parts of [pairs, {}]) {
      const message = await refused(
        'createDashboardEmbed INVALID_DASHBOARD_DATA',
        house,
        create('unparsed', { importDashboardData: withSql("selec 'secret'"), ...parts }),
      );
      expect(message).toContain('filters[0].defaultValue.sql');
      expect(message).not.toContain('secret');
    }
  });

  test('schemaPairs map schema names also if a template contains the SQL', async () => {
    await brought(withSql('select region from main.sales'), { dashboardId: 'with-sql' });
    await make('eu-sql', {
      templateDashboardId: 'with-sql',
      schemaPairs: [{ replaceSchema: 'main', targetSchema: 'eu' }],
    });
    const { data: content } = await ok(house, 'exportEmbed', { embedId: 'eu-sql' });
    expect(JSON.stringify(content.filters)).toContain('FROM eu.sales');
  });
});

test("an import's isAllowPrivateMetricsByDefault and metadata apply unless the request sets them", async () => {
  const importDashboardData = data({ isAllowPrivateMetricsByDefault: true, metadata: { of: 'file' } });
  await make('says-nothing', { importDashboardData });
  await make('says-so', { importDashboardData, isAllowPrivateMetricsByDefault: false, metadata: { of: 'request' } });
  const read = async (embedId: string) => (await ok(house, 'exportEmbed', { embedId })).data;
  expect(await read('says-nothing')).toMatchObject({ isAllowPrivateMetricsByDefault: true, metadata: { of: 'file' } });
  expect(await read('says-so')).toMatchObject({ isAllowPrivateMetricsByDefault: false, metadata: { of: 'request' } });
});

describe('strict input: a missing, unknown or oversized field is INVALID_REQUEST_BODY', () => {
  const long = 'x'.repeat(256);
  test('an export with a missing, unknown or oversized field is refused', async () => {
    for (const input of [{}, { embedId: long }, { embedId: 'a', clientId: 'acme' }])
      await refused('exportEmbed INVALID_REQUEST_BODY', house, input);
    for (const input of [
      { dashboardId: 'board' },
      { dashboardId: long, workspaceName },
      { dashboardId: '', workspaceName },
    ])
      await refused('exportDashboard INVALID_REQUEST_BODY', house, input);
  });

  test('an import with a missing, unknown or oversized field is refused', async () => {
    const valid = { workspaceName, importDashboardData: data() };
    for (const parts of [
      { importDashboardData: undefined },
      { dashboardId: '' },
      { dashboardName: 'a\nb' },
      { clientId: 'acme' },
    ])
      await refused('importDashboard INVALID_REQUEST_BODY', house, { ...valid, ...parts });
    const deep = JSON.parse(`${'{"a":'.repeat(40)}1${'}'.repeat(40)}`);
    await refused('importDashboard INVALID_REQUEST_BODY', house, {
      ...valid,
      importDashboardData: data({ metadata: deep }),
    });
    const hidden = JSON.parse('{"__proto__": {"polluted": true}}');
    await refused('importDashboard INVALID_REQUEST_BODY', house, {
      ...valid,
      importDashboardData: { ...data(), metadata: hidden },
    });
  });

  test('lists and changes of dashboards and embeds', async () => {
    await refused('listDashboardMetrics INVALID_REQUEST_BODY', house, { workspaceName });
    await refused('deleteDashboard INVALID_REQUEST_BODY', house, { dashboardId: 'mine', workspaceName });
    for (const name of ['', long, undefined, 1])
      await refused('renameEmbed INVALID_REQUEST_BODY', house, { embedId: 'mine', name });
  });
});
