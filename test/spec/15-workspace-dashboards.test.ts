/**
 * Section 15 of the interface, "Update workspace dashboards", and the metrics of one dashboard; also metrics that are
 * placed after a token's mint.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  call,
  cloneBoard,
  type House,
  type Input,
  metricOf,
  mint,
  noon,
  ok,
  openHouse,
  refused,
  setNow,
  settings,
} from './house.js';
import { boardFilters, definition } from './organization.js';

let house: House;
beforeAll(async () => {
  house = await openHouse();
});
afterAll(() => house.close());

const workspaceName = 'shop';
const request = (...dashboards: readonly Input[]) => ({ workspaceName, dashboards });
const update = (...dashboards: readonly Input[]) => ok(house, 'updateWorkspaceDashboards', request(...dashboards));
const byKey = () => ({ bearer: house.apiKey });
const column = (columnName: string, tableName = 'sales', dataType = 'string') => ({
  dataType,
  schemaName: 'main',
  tableName,
  columnName,
});
const mapped = (name: string, ...applyOnTables: readonly Input[]) => ({ name, applyOnTables });
const filtersOf = async (embedId: string) => (await ok(house, 'exportEmbed', { embedId })).data.filters;
const placedOn = async (dashboardId: string) =>
  (await ok(house, 'listDashboardMetrics', { workspaceName, dashboardId })).data;
const names = async (dashboardId: string) => (await placedOn(dashboardId)).map(({ name }) => name);
const embedOf = async (dashboardId: string, bearer = house.apiKey, parts: Input = {}) =>
  (
    await ok(
      house,
      'createEmbed',
      { embedType: 'dashboard', dashboardId, workspaceName, accessSettings: settings, ...parts },
      { bearer },
    )
  ).id;
const template = async (dashboardId: string, metrics: readonly string[] = ['revenue']) => {
  const { data } = await ok(house, 'exportDashboard', { dashboardId: 'board', workspaceName });
  const kept = data.metrics.filter(({ metricId }) => metrics.includes(metricId));
  const layout = data.layout.filter(({ metricId }) => metrics.includes(metricId));
  await ok(house, 'importDashboard', {
    workspaceName,
    dashboardId,
    importDashboardData: { ...data, metrics: kept, layout },
  });
};

describe('Response 200: {data: {success: true}, error: null}', () => {
  test('with filters, appendMetrics and removedMetrics over several dashboards', async () => {
    await cloneBoard(house, 'first', 'acme');
    await cloneBoard(house, 'second', 'globex');
    const spare = await metricOf(house, 'second', 'globex', 'spare');
    const answer = await update(
      { dashboardId: 'first', filters: [mapped('Region', column('region'))] },
      { dashboardId: 'second', appendMetrics: [{ metricId: 'revenue-by-default' }], removedMetrics: [spare] },
    );
    expect(answer).toEqual({ data: { success: true }, error: null });
    expect(await names('second')).toEqual([
      'Metric revenue',
      'Metric by-region',
      'Metric guarded',
      'Metric revenue-by-default',
    ]);
  });
});

describe('filters: name must match an existing filter label of the dashboard', () => {
  test('the mapping takes effect at once in queries, also for existing tokens', async () => {
    await cloneBoard(house, 'mapped', 'acme');
    const metricId = await metricOf(house, 'mapped', 'acme', 'revenue');
    const dashboardAppFilters = [{ dashboardId: 'mapped', values: { Product: 'Anvil' } }];
    const bearer = await mint(house, 'acme', { dashboardAppFilters });
    const revenue = async () =>
      (await ok(house, 'queryGuestMetric', { metricId, dashboardId: 'mapped' }, { bearer })).data[0]?.Revenue;
    expect(await revenue()).toBe(120);
    await update({ dashboardId: 'mapped', filters: [mapped('product', column('region'))] });
    expect(await revenue()).toBeNull();
    await update({ dashboardId: 'mapped', filters: [mapped('Product', column('label', 'products'))] });
    expect(await revenue()).toBe(120);
    expect(await filtersOf('mapped')).toEqual(boardFilters);
  });

  test.each([
    ['an unknown filter', mapped('Nowhere', column('region')), 'Nowhere'],
    ['a column that the workspace has not', mapped('Region', column('nowhere')), 'main.sales.nowhere'],
    ['a table of another datamart', mapped('Region', column('total', 'orders')), 'main.orders.total'],
    ['no column at all', mapped('Region'), 'applyOnTables'],
    ['a column without its schema', mapped('Region', { ...column('region'), schemaName: undefined }), 'schemaName'],
  ])('a filter that the dashboard cannot have is refused with INVALID_REQUEST_BODY: %s', async (_, filter, named) => {
    await cloneBoard(house, `faulty-${named}`, 'acme');
    const dashboards = { dashboardId: `faulty-${named}`, filters: [filter] };
    expect(await refused('updateWorkspaceDashboards INVALID_REQUEST_BODY', house, request(dashboards))).toContain(
      named,
    );
    expect(await filtersOf(`faulty-${named}`)).toEqual(boardFilters);
  });
});

describe('the names in a request', () => {
  test.each([
    [
      'dashboardId values unique within the array',
      [
        { dashboardId: 'a', filters: [] },
        { dashboardId: 'a', filters: [] },
      ],
    ],
    ['at least one of filters, appendMetrics, removedMetrics', [{ dashboardId: 'a' }]],
    [
      'each metricId at most once (appended)',
      [{ dashboardId: 'a', appendMetrics: [{ metricId: 'm' }, { metricId: 'm' }] }],
    ],
    ['each at most once (removed)', [{ dashboardId: 'a', removedMetrics: ['m', 'm'] }]],
    ['not in both', [{ dashboardId: 'a', appendMetrics: [{ metricId: 'm' }], removedMetrics: ['m'] }]],
    [
      'each filter once',
      [{ dashboardId: 'a', filters: [mapped('R', column('region')), mapped('r', column('region'))] }],
    ],
  ])('names in a request that break a rule are refused with INVALID_REQUEST_BODY: %s', async (_, dashboards) => {
    await refused('updateWorkspaceDashboards INVALID_REQUEST_BODY', house, request(...dashboards));
  });

  test('unknown workspace: WORKSPACE_ID_ERROR; unknown dashboard, or of another workspace: INVALID_DASHBOARD_ID', async () => {
    const dashboards = [{ dashboardId: 'board', filters: [] }];
    const nowhere = { workspaceName: 'nowhere', dashboards };
    await refused('updateWorkspaceDashboards WORKSPACE_ID_ERROR', house, nowhere);
    for (const dashboardId of ['nowhere', 'counter'])
      await refused('updateWorkspaceDashboards INVALID_DASHBOARD_ID', house, request({ dashboardId, filters: [] }));
  });
});

describe('credentials', () => {
  test('an API key with appendMetrics or removedMetrics: 403 AUTHENTICATION_ERROR', async () => {
    await cloneBoard(house, 'keyed', 'acme');
    for (const parts of [
      { appendMetrics: [{ metricId: 'revenue-by-default' }] },
      { removedMetrics: ['spare'] },
      { appendMetrics: [] },
    ])
      await refused(
        'updateWorkspaceDashboards AUTHENTICATION_ERROR',
        house,
        request({ dashboardId: 'keyed', ...parts }),
        byKey(),
      );
    expect(await names('keyed')).toHaveLength(4);
  });

  test('missing or invalid: 400 INVALID_SERVICE_TOKEN', async () => {
    const input = request({ dashboardId: 'board', filters: [] });
    for (const bearer of [null, 'nobody'])
      await refused('updateWorkspaceDashboards INVALID_SERVICE_TOKEN', house, input, { bearer });
  });

  test("an API key maps filters only of its own data app's dashboards", async () => {
    await cloneBoard(house, 'own-map', 'acme');
    const input = request({ dashboardId: 'own-map', filters: [mapped('Region', column('label', 'products'))] });
    await refused('updateWorkspaceDashboards INVALID_DASHBOARD_ID', house, input, { bearer: house.otherKey });
    expect(await filtersOf('own-map')).toEqual(boardFilters);
    await ok(house, 'updateWorkspaceDashboards', input, byKey());
    expect(await filtersOf('own-map')).not.toEqual(boardFilters);
  });

  test('a key changes a dashboard of the organization, unless another data app shows it or a metric on it', async () => {
    await template('alone');
    const input = request({ dashboardId: 'alone', filters: [mapped('Region', column('region'))] });
    await embedOf('alone');
    await ok(house, 'updateWorkspaceDashboards', input, byKey());
    const [metric] = await placedOn('alone');
    const foreign = { embedType: 'metric', metricId: metric?.metricId, accessSettings: undefined };
    const embedId = await embedOf('alone', house.otherKey, foreign);
    await refused('updateWorkspaceDashboards INVALID_DASHBOARD_ID', house, input, byKey());
    await update({ dashboardId: 'alone', filters: [mapped('Region', column('region'))] });
    await ok(house, 'deleteEmbed', { embedId }, { bearer: house.otherKey });
    await ok(house, 'updateWorkspaceDashboards', input, byKey());
  });
});

describe('appendMetrics: workspace metrics added to the dashboard gallery', () => {
  test("creates a copy for the dashboard's client, which descends from the metric and shows the client's rows", async () => {
    await cloneBoard(house, 'grown', 'acme', { isImportMetrics: false });
    await update({ dashboardId: 'grown', appendMetrics: [{ metricId: 'guarded' }, { metricId: 'revenue' }] });
    const { data } = await ok(house, 'exportEmbed', { embedId: 'grown' });
    expect(data.metrics.map(({ lineage, placement }) => [lineage, placement])).toEqual([
      [['guarded'], 'GALLERY'],
      [['revenue'], 'GALLERY'],
    ]);
    expect(data.layout).toEqual([]);
    const metricId = await metricOf(house, 'grown', 'acme', 'revenue');
    expect(metricId).not.toBe('revenue');
    const query = { embedId: 'grown', metricId, clientId: 'acme' };
    expect((await ok(house, 'queryMetric', query)).data).toEqual([{ Revenue: 200 }]);
  });

  test('uses an existing copy, on the board or in the gallery', async () => {
    await cloneBoard(house, 'has-it', 'acme');
    const before = await ok(house, 'exportEmbed', { embedId: 'has-it' });
    await update({ dashboardId: 'has-it', appendMetrics: [{ metricId: 'revenue' }, { metricId: 'spare' }] });
    expect(await ok(house, 'exportEmbed', { embedId: 'has-it' })).toEqual(before);
  });

  test("a metric that is removed and added again is the same copy; another client's dashboard gets its own", async () => {
    await cloneBoard(house, 'turned', 'acme');
    const metricId = await metricOf(house, 'turned', 'acme', 'revenue');
    await update({ dashboardId: 'turned', removedMetrics: ['revenue'] });
    expect(await names('turned')).not.toContain('Metric revenue');
    await cloneBoard(house, 'turned-other', 'globex', { isImportMetrics: false });
    await update({ dashboardId: 'turned-other', appendMetrics: [{ metricId: 'revenue' }] });
    expect(await metricOf(house, 'turned-other', 'globex', 'revenue')).not.toBe(metricId);
    await update({ dashboardId: 'turned', appendMetrics: [{ metricId: 'revenue' }] });
    expect(await metricOf(house, 'turned', 'acme', 'revenue')).toBe(metricId);
  });

  test('on a dashboard of the organization, adds the metric itself, and only metrics of the organization', async () => {
    await template('shared-board');
    await update({ dashboardId: 'shared-board', appendMetrics: [{ metricId: 'revenue-by-default' }] });
    expect((await placedOn('shared-board')).map(({ metricId }) => metricId)).toContain('revenue-by-default');
    const input = request({ dashboardId: 'shared-board', appendMetrics: [{ metricId: 'of-acme' }] });
    await refused('updateWorkspaceDashboards INVALID_METRIC_ID', house, input);
  });

  test.each([
    ['unknown', 'nowhere'],
    ['of another workspace', 'order-total'],
    ["of another client's", 'of-globex'],
  ])('a metric that is %s: INVALID_METRIC_ID', async (_, metricId) => {
    await cloneBoard(house, `no-${metricId}`, 'acme');
    const input = request({ dashboardId: `no-${metricId}`, appendMetrics: [{ metricId }] });
    await refused('updateWorkspaceDashboards INVALID_METRIC_ID', house, input);
    expect(await names(`no-${metricId}`)).toHaveLength(4);
  });

  test("a copy of another data app's client of the same id: INVALID_METRIC_ID", async () => {
    const bearer = house.otherKey;
    const parts = {
      workspaceName,
      clientId: 'acme',
      accessSettings: settings,
      templateDashboardId: 'board',
      isImportMetrics: true,
    };
    await ok(house, 'createDashboardEmbed', { dashboardId: 'theirs', ...parts }, { bearer });
    const { data } = await ok(house, 'listEmbedMetrics', { embedId: 'theirs', clientId: 'acme' }, { bearer });
    await cloneBoard(house, 'ours', 'acme');
    const appendMetrics = data.slice(0, 1).map(({ metricId }) => ({ metricId }));
    await refused(
      'updateWorkspaceDashboards INVALID_METRIC_ID',
      house,
      request({ dashboardId: 'ours', appendMetrics }),
    );
  });
});

describe('removedMetrics: only removes the metric from the dashboard', () => {
  test('the metric stays in the workspace, its card is removed', async () => {
    await cloneBoard(house, 'shrunk', 'acme');
    const metricId = await metricOf(house, 'shrunk', 'acme', 'by-region');
    await update({ dashboardId: 'shrunk', removedMetrics: [metricId] });
    const { data } = await ok(house, 'exportEmbed', { embedId: 'shrunk' });
    expect(data.metrics.map(({ name }) => name)).toEqual(['Metric revenue', 'Metric guarded', 'Metric spare']);
    expect(data.layout).toHaveLength(2);
    expect((await ok(house, 'listMetrics', { workspaceName })).data.map((one) => one.metricId)).toContain(metricId);
  });

  test('the metric can no longer be opened, not even as a metric embed', async () => {
    await template('emptied');
    const [metric] = await placedOn('emptied');
    const metricId = metric?.metricId ?? '';
    const id = await embedOf('emptied', house.apiKey, { embedType: 'metric', metricId });
    const bearer = await mint(house, 'acme');
    await ok(house, 'getGuestMetric', { metricId: id }, { bearer });
    await update({ dashboardId: 'emptied', removedMetrics: [metricId] });
    await refused('getGuestMetric UNAUTHORIZED', house, { metricId: id }, { bearer });
  });

  test('a metric that is not on the dashboard: INVALID_METRIC_ID', async () => {
    await cloneBoard(house, 'lacks', 'acme');
    for (const metricId of ['nowhere', 'revenue-by-default', 'of-acme'])
      await refused(
        'updateWorkspaceDashboards INVALID_METRIC_ID',
        house,
        request({ dashboardId: 'lacks', removedMetrics: [metricId] }),
      );
  });
});

describe('all or nothing', () => {
  test('a fault in the last dashboard undoes the changes to the first', async () => {
    await cloneBoard(house, 'all-1', 'acme');
    await cloneBoard(house, 'all-2', 'acme');
    const good = {
      dashboardId: 'all-1',
      filters: [mapped('Region', column('label', 'products'))],
      appendMetrics: [{ metricId: 'revenue-by-default' }],
      removedMetrics: ['spare'],
    };
    const before = [
      await ok(house, 'exportEmbed', { embedId: 'all-1' }),
      (await ok(house, 'listMetrics', { workspaceName })).data.length,
    ];
    for (const bad of [
      { dashboardId: 'nowhere', filters: [] },
      { dashboardId: 'all-2', removedMetrics: ['nowhere'] },
      { dashboardId: 'all-2', filters: [mapped('Nowhere', column('region'))] },
    ]) {
      const { status } = await call(house, 'updateWorkspaceDashboards', request(good, bad));
      expect(status).toBe(400);
    }
    expect([
      await ok(house, 'exportEmbed', { embedId: 'all-1' }),
      (await ok(house, 'listMetrics', { workspaceName })).data.length,
    ]).toEqual(before);
  });

  test("simultaneous updates do not lose each other's changes", async () => {
    await cloneBoard(house, 'busy', 'acme');
    await Promise.all([
      update({ dashboardId: 'busy', filters: [mapped('Region', column('label', 'products'))] }),
      update({ dashboardId: 'busy', appendMetrics: [{ metricId: 'revenue-by-default' }] }),
      update({ dashboardId: 'busy', filters: [mapped('Product', column('region'))] }),
      update({ dashboardId: 'busy', removedMetrics: ['spare'] }),
      update({ dashboardId: 'busy', appendMetrics: [{ metricId: 'revenue-by-default' }] }),
    ]);
    expect((await filtersOf('busy')).map(({ applyOnTables }) => applyOnTables[0]?.columnName)).toEqual([
      'label',
      'sold',
      'paid',
      'amount',
      'region',
    ]);
    expect((await names('busy')).slice(3)).toEqual(['Metric revenue-by-default']);
  });
});

describe('a token that restricts metrics, and metrics that are placed later', () => {
  const rlsSettings = [{ metricId: 'guarded', values: { region: ['north'] } }];
  const appFilters = [{ metricId: 'revenue', values: { size: { min: 60 } } }];
  const later = (seconds: number) => setNow(new Date(noon.getTime() + seconds * 1000));
  const reads = async (dashboardId: string, bearer: string, name: string) => {
    const { data } = await ok(house, 'getGuestDashboard', { dashboardId }, { bearer });
    const metricId = await metricOf(house, dashboardId, 'acme', name);
    const { status } = await call(house, 'queryGuestMetric', { metricId, dashboardId }, { bearer });
    expect(data.metrics.some((metric) => metric.metricId === metricId)).toBe(status === 200);
    return status;
  };

  test.each([
    ['rlsSettings', { rlsSettings }],
    ['appFilters', { appFilters }],
  ])(
    'for a token with %s, an added metric is UNAUTHORIZED unless a setting restricts it; a new token reads it',
    async (name, params) => {
      const dashboardId = `later-${name}`;
      later(0);
      await cloneBoard(house, dashboardId, 'acme');
      const old = await mint(house, 'acme', params);
      const free = await mint(house, 'acme');
      later(10);
      await update({ dashboardId, appendMetrics: [{ metricId: 'revenue-by-default' }] });
      expect(await reads(dashboardId, old, 'revenue')).toBe(200);
      expect(await reads(dashboardId, old, 'revenue-by-default')).toBe(403);
      expect(await reads(dashboardId, free, 'revenue-by-default')).toBe(200);
      expect(await reads(dashboardId, await mint(house, 'acme', params), 'revenue-by-default')).toBe(200);
    },
  );

  test('an added metric whose original is restricted can be opened, with the restriction', async () => {
    later(0);
    await cloneBoard(house, 'later-bound', 'acme', { isImportMetrics: false });
    const bearer = await mint(house, 'acme', { rlsSettings });
    later(10);
    await update({ dashboardId: 'later-bound', appendMetrics: [{ metricId: 'guarded' }] });
    const metricId = await metricOf(house, 'later-bound', 'acme', 'guarded');
    const { data } = await ok(house, 'queryGuestMetric', { metricId, dashboardId: 'later-bound' }, { bearer });
    expect(data).toEqual([{ Revenue: 130 }]);
  });

  test('the same holds for a dashboard that is imported later', async () => {
    later(0);
    const bearer = await mint(house, 'acme', { rlsSettings });
    later(10);
    const metrics = ['guarded', 'plain'].map((metricId) => ({
      metricId,
      name: `Metric ${metricId}`,
      definition: definition(
        metricId === 'guarded' ? { rlsVariables: [{ name: 'region', column: boardColumn, isOptional: false }] } : {},
      ),
    }));
    const importDashboardData = { layout: [], filters: [], gridMargin: [], metrics };
    await cloneBoard(house, 'later-import', 'acme', { templateDashboardId: undefined, importDashboardData });
    expect(await reads('later-import', bearer, 'guarded')).toBe(200);
    expect(await reads('later-import', bearer, 'plain')).toBe(403);
  });
  const boardColumn = { schemaName: 'main', tableName: 'sales', columnName: 'region' };

  test('a rewritten placement keeps its time, so adding or removing another metric closes nothing', async () => {
    later(0);
    await cloneBoard(house, 'later-kept', 'acme');
    const bearer = await mint(house, 'acme', { rlsSettings });
    later(10);
    await update({ dashboardId: 'later-kept', appendMetrics: [{ metricId: 'revenue-by-default' }] });
    await update({ dashboardId: 'later-kept', removedMetrics: ['revenue-by-default'] });
    expect(await reads('later-kept', bearer, 'by-region')).toBe(200);
    later(0);
  });
});

test("lists of a dashboard's and an embed's metrics take isPagination and pageNumber as operation 8 does", async () => {
  const others = Array.from({ length: 11 }, (_, index) => `long-metric-${String(index + 2).padStart(2, '0')}`);
  const appendMetrics = others.map((metricId) => ({ metricId }));
  const dashboards = [{ dashboardId: 'long-01', appendMetrics }];
  await ok(house, 'updateWorkspaceDashboards', { workspaceName: 'long', dashboards });
  const { id: embedId } = await ok(house, 'createEmbed', {
    embedType: 'dashboard',
    dashboardId: 'long-01',
    workspaceName: 'long',
    accessSettings: settings,
  });
  const listings = [
    ['listDashboardMetrics', { workspaceName: 'long', dashboardId: 'long-01' }],
    ['listEmbedMetrics', { embedId, clientId: 'acme' }],
  ] as const;
  for (const [name, input] of listings) {
    const page = async (paging: Input) =>
      (await ok(house, name, { ...input, ...paging })).data.map(({ metricId }) => metricId);
    const all = ['long-metric-01', ...others];
    expect(await page({}), name).toEqual(all);
    expect(await page({ isPagination: true }), name).toEqual(all.slice(0, 10));
    expect(await page({ isPagination: true, pageNumber: 2 }), name).toEqual(all.slice(10));
    expect(await page({ isPagination: true, pageNumber: 3 }), name).toEqual([]);
    expect(await page({ isPagination: false, pageNumber: 2 }), name).toEqual(all);
  }
});

describe('POST /workspace/dashboard/metrics {workspaceName, dashboardId}: {data: [{name, metricId}]}', () => {
  test("lists the dashboard's metrics, without those of other data apps' clients", async () => {
    expect(await placedOn('board')).toEqual(
      ['revenue', 'by-region', 'guarded', 'spare'].map((metricId) => ({ name: `Metric ${metricId}`, metricId })),
    );
    expect(await names('held')).toEqual(['Metric of-acme', 'Metric of-globex']);
    const input = { workspaceName, dashboardId: 'held' };
    expect((await ok(house, 'listDashboardMetrics', input, { bearer: house.otherKey })).data).toEqual([]);
  });

  test('unknown workspace: WORKSPACE_ID_ERROR; an unknown or another data app’s dashboard: INVALID_DASHBOARD_ID', async () => {
    await cloneBoard(house, 'hidden', 'acme');
    const hidden = { workspaceName, dashboardId: 'hidden' };
    await refused('listDashboardMetrics WORKSPACE_ID_ERROR', house, { ...hidden, workspaceName: 'nowhere' });
    await refused('listDashboardMetrics INVALID_DASHBOARD_ID', house, { ...hidden, dashboardId: 'counter' });
    await refused('listDashboardMetrics INVALID_DASHBOARD_ID', house, hidden, { bearer: house.otherKey });
    await refused('listDashboardMetrics AUTHENTICATION_ERROR', house, hidden, { bearer: house.serviceToken });
  });
});
