/** Section 4 of the interface, "Create empty dashboard embed", as JSON: empty, from a template, or from an export. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  call,
  firstSentence,
  type House,
  type Input,
  metricOf,
  mint,
  ok,
  openHouse,
  refused,
  settings,
} from './house.js';
import { boardFilters, definition } from './organization.js';

let house: House;
beforeAll(async () => {
  house = await openHouse();
});
afterAll(() => house.close());

const create = (dashboardId: string, parts: Input = {}) => ({
  dashboardId,
  workspaceName: 'shop',
  clientId: 'acme',
  accessSettings: settings,
  ...parts,
});
const fromBoard = (dashboardId: string, parts: Input = {}) =>
  create(dashboardId, { templateDashboardId: 'board', isImportMetrics: true, ...parts });
const make = (input: Input) => ok(house, 'createDashboardEmbed', input);
/** The dashboard as a guest of its client sees it. */
const seen = async (dashboardId: string, clientId = 'acme') => {
  const bearer = await mint(house, clientId, { allowedEmbeds: [dashboardId] });
  return (await ok(house, 'getGuestDashboard', { dashboardId }, { bearer })).data;
};
const listed = async (id: string) => (await ok(house, 'listEmbeds', {})).data.find(({ embedId }) => embedId === id);
/** Everything that a failed creation could leave behind. */
const inventory = async () => ({
  embeds: (await ok(house, 'listEmbeds', {})).data.length,
  dashboards: (await ok(house, 'listDashboards', { workspaceName: 'shop' })).data.length,
  metrics: (await ok(house, 'listMetrics', { workspaceName: 'shop' })).data.length,
});
const stored = (dashboardId: string) =>
  house.stored(async (store) => {
    const { data: found } = { data: await store.dataApps.findByName('shop') };
    return found === undefined ? undefined : store.dashboards.findByExternalId(found.id, dashboardId);
  });

describe('the answer', () => {
  test('Response 200: {id, error, name}', async () => {
    const answer = await call(house, 'createDashboardEmbed', create('plain'));
    expect([answer.status, answer.body]).toEqual([200, { id: 'plain', error: null, name: 'plain' }]);
  });

  test('name equals request name, else dashboardId', async () => {
    expect(await make(create('named', { name: 'Our numbers' }))).toEqual({
      id: 'named',
      error: null,
      name: 'Our numbers',
    });
    expect((await listed('named'))?.name).toBe('Our numbers');
  });

  test.each(['/api/v2/dataApp/dashboard-embeds', '/api/v2/dataApp/dashboardEmbed/create'])(
    'name is returned only by the kebab-case path: %s returns id and error only, with a Deprecation header',
    async (path) => {
      const dashboardId = `old-${path.length}`;
      const answer = await call(house, 'createDashboardEmbed', create(dashboardId, { name: 'Old' }), { path });
      expect([answer.status, answer.body]).toEqual([200, { id: dashboardId, error: null }]);
      expect(answer.headers.get('deprecation')).toMatch(/^@\d+$/);
      expect((await listed(dashboardId))?.name).toBe('Old');
    },
  );

  test('the newer path has no Deprecation header', async () => {
    expect((await call(house, 'createDashboardEmbed', create('new-path'))).headers.get('deprecation')).toBeNull();
  });
});

describe('isRenameDashboard', () => {
  test.each([
    ['left out', {}, 'shown-0_acme'],
    ['false with a name', { name: 'Chosen', isRenameDashboard: false }, 'shown-1_acme'],
    ['left out with a name', { name: 'Chosen' }, 'shown-2_acme'],
    ['true without a name', { isRenameDashboard: true }, 'shown-3_acme'],
    ['true with a name', { name: 'Chosen', isRenameDashboard: true }, 'Chosen'],
  ])('%s: the display name is %s', async (_, parts, expected) => {
    const dashboardId = expected.startsWith('shown') ? expected.replace('_acme', '') : 'shown-4';
    await make(create(dashboardId, parts));
    expect((await seen(dashboardId)).name).toBe(expected);
    expect((await listed(dashboardId))?.externalDashboard?.name).toBe(expected);
    expect((await listed(dashboardId))?.name).toBe('name' in parts ? parts.name : dashboardId);
  });
});

describe('clientId: owner; tenant isolation and row-level security', () => {
  test('only its client can open the dashboard, also with a token without allowedEmbeds', async () => {
    await make(fromBoard('mine'));
    const [own, other] = [await mint(house, 'acme'), await mint(house, 'globex')];
    expect((await call(house, 'getGuestDashboard', { dashboardId: 'mine' }, { bearer: own })).status).toBe(200);
    await refused('getGuestDashboard UNAUTHORIZED', house, { dashboardId: 'mine' }, { bearer: other });
  });

  test('each client reads its own rows', async () => {
    const revenue = async (dashboardId: string, clientId: string) => {
      await make(fromBoard(dashboardId, { clientId }));
      const metricId = await metricOf(house, dashboardId, clientId, 'revenue');
      return (await ok(house, 'queryMetric', { embedId: dashboardId, metricId, clientId })).data;
    };
    expect([await revenue('rows-a', 'acme'), await revenue('rows-g', 'globex')]).toEqual([
      [{ Revenue: 200 }],
      [{ Revenue: 3000 }],
    ]);
  });

  test('None is refused with tenancy, and is the only client without: CLIENT_ID_ERROR', async () => {
    await refused('createDashboardEmbed CLIENT_ID_ERROR', house, create('none', { clientId: 'None' }));
    const open = { workspaceName: 'all', accessSettings: { ...settings, datamartName: 'open' } };
    await refused('createDashboardEmbed CLIENT_ID_ERROR', house, create('none', open));
    expect(await make(create('none', { ...open, clientId: 'None' }))).toMatchObject({ id: 'none' });
  });

  test('a clientId that is not a plain whole number is refused if clientColumnType is NUMBER', async () => {
    const orders = { workspaceName: 'orders', accessSettings: { ...settings, datamartName: 'orders' } };
    for (const clientId of ['acme', '01', '1e0'])
      await refused('createDashboardEmbed CLIENT_ID_ERROR', house, create('numeric', { ...orders, clientId }));
    expect(await make(create('numeric', { ...orders, clientId: '1' }))).toMatchObject({ id: 'numeric' });
  });
});

describe('without a template', () => {
  test('the dashboard is empty', async () => {
    await make(create('bare', { isImportMetrics: true }));
    expect(await seen('bare')).toMatchObject({ layout: [], metrics: [], filters: [] });
  });
});

describe('templateDashboardId', () => {
  test('filters, grid margins and layout are cloned; without isImportMetrics, no metric is', async () => {
    await make(create('filters-only', { templateDashboardId: 'board' }));
    expect((await seen('filters-only')).filters.map(({ name }) => name)).toEqual(boardFilters.map(({ name }) => name));
    expect(await seen('filters-only')).toMatchObject({ layout: [], metrics: [] });
    expect(await stored('filters-only')).toMatchObject({ filters: boardFilters, gridMargin: [8, 4] });
  });

  test("isImportMetrics copies the template's metrics for the client under new ids", async () => {
    await make(fromBoard('copied'));
    const { layout, metrics } = await seen('copied');
    expect(metrics.map(({ name }) => name)).toEqual([
      'Metric revenue',
      'Metric by-region',
      'Metric guarded',
      'Metric spare',
    ]);
    const [revenue, byRegion, guarded] = metrics.map(({ metricId }) => metricId);
    expect(layout).toEqual(
      [revenue, byRegion, guarded].map((metricId, index) => ({ metricId, x: 0, y: index * 4, w: 12, h: 4 })),
    );
    for (const { metricId } of metrics) expect(['revenue', 'by-region', 'guarded', 'spare']).not.toContain(metricId);
  });

  test('metricImportMode METRIC places them on the board, GALLERY in the gallery', async () => {
    await make(fromBoard('on-board', { metricImportMode: 'METRIC' }));
    await make(fromBoard('in-gallery', { metricImportMode: 'GALLERY' }));
    expect((await seen('on-board')).layout).toHaveLength(3);
    expect((await seen('in-gallery')).layout).toEqual([]);
    const placements = await house.stored(async (store) => {
      const app = await store.dataApps.findByName('shop');
      const of = async (id: string) => {
        const dashboard = await store.dashboards.findByExternalId(app?.id ?? '', id);
        return (await store.dashboards.listMetrics(dashboard?.id ?? '')).map(({ placement }) => placement);
      };
      return [await of('on-board'), await of('in-gallery')];
    });
    // `spare` has no card on the template either.
    expect(placements).toEqual([
      ['METRIC', 'METRIC', 'METRIC', 'GALLERY'],
      ['GALLERY', 'GALLERY', 'GALLERY', 'GALLERY'],
    ]);
  });

  test.each([
    ['that does not exist', 'nowhere', {}],
    ['of another workspace', 'counter', {}],
    ['that is a client’s own dashboard', 'copy-of-copy', {}],
    [
      'that does not fit the datamart',
      'free',
      { workspaceName: 'all', accessSettings: { ...settings, datamartName: 'orders' }, clientId: '1' },
    ],
  ])('a template %s: TEMPLATE_DASHBOARD_ERROR', async (_, templateDashboardId, parts) => {
    if (templateDashboardId === 'copy-of-copy') await make(fromBoard('copy-of-copy'));
    await refused(
      'createDashboardEmbed TEMPLATE_DASHBOARD_ERROR',
      house,
      fromBoard('no-such-template', { templateDashboardId, ...parts }),
    );
    expect(await listed('no-such-template')).toBeUndefined();
  });
});

const imported = (parts: Input = {}) => ({
  layout: [{ metricId: 'm1', x: 1, y: 2, w: 3, h: 4 }],
  filters: [
    {
      name: 'Only',
      dataType: 'string',
      applyOnTables: [{ schemaName: 'main', tableName: 'sales', columnName: 'region', dataType: 'string' }],
    },
  ],
  metrics: [
    { metricId: 'm1', name: 'Imported', definition: definition() },
    { metricId: 'm2', name: 'At hand', definition: definition() },
  ],
  gridMargin: [1, 2],
  ...parts,
});

describe('importDashboardData', () => {
  test('the data object of an export becomes the dashboard, with new metric ids', async () => {
    await make(create('import', { importDashboardData: imported() }));
    const { layout, metrics, filters } = await seen('import');
    expect(metrics.map(({ name }) => name)).toEqual(['Imported', 'At hand']);
    expect(layout).toEqual([{ metricId: metrics[0]?.metricId, x: 1, y: 2, w: 3, h: 4 }]);
    expect(metrics[0]?.metricId).not.toBe('m1');
    expect(filters.map(({ name }) => name)).toEqual(['Only']);
    const { data } = await ok(house, 'queryMetric', {
      embedId: 'import',
      metricId: metrics[0]?.metricId,
      clientId: 'acme',
    });
    expect(data).toEqual([{ Revenue: 200 }]);
  });

  test("replaces the import of the template's metrics; parts that the import lacks are still cloned", async () => {
    await make(fromBoard('both', { importDashboardData: imported({ gridMargin: [] }) }));
    const { metrics, filters } = await seen('both');
    expect(metrics.map(({ name }) => name)).toEqual(['Imported', 'At hand']);
    expect(filters.map(({ name }) => name)).toEqual(['Only', ...boardFilters.map(({ name }) => name)]);
    expect(await stored('both')).toMatchObject({ gridMargin: [8, 4], layout: [{ x: 1, y: 2, w: 3, h: 4 }] });
  });

  test("filters and margins of the import take precedence over the template's", async () => {
    const region = { ...imported().filters[0], name: 'rEGION' };
    await make(fromBoard('precedence', { importDashboardData: imported({ filters: [region] }) }));
    const names = (await seen('precedence')).filters.map(({ name }) => name);
    expect(names).toEqual(['rEGION', ...boardFilters.map(({ name }) => name).filter((name) => name !== 'Region')]);
    expect(await stored('precedence')).toMatchObject({ gridMargin: [1, 2] });
  });

  test('an unknown template is still an error', async () => {
    const input = fromBoard('bad-both', { importDashboardData: imported(), templateDashboardId: 'nowhere' });
    await refused('createDashboardEmbed TEMPLATE_DASHBOARD_ERROR', house, input);
  });

  test('importing the same export twice creates two dashboards with separate metrics', async () => {
    await make(create('import-one', { importDashboardData: imported() }));
    await make(create('import-two', { importDashboardData: imported(), clientId: 'globex' }));
    const ids = [...(await seen('import-one')).metrics, ...(await seen('import-two', 'globex')).metrics];
    expect(new Set(ids.map(({ metricId }) => metricId)).size).toBe(4);
  });

  test.each([
    [
      'a table that the datamart has not',
      {
        metrics: [
          { metricId: 'm1', name: 'X', definition: definition({ from: { schemaName: 'main', tableName: 'secrets' } }) },
        ],
      },
      'main.secrets',
    ],
    [
      'a column that the table has not',
      {
        metrics: [
          {
            metricId: 'm1',
            name: 'X',
            definition: definition({ underlying: [{ schemaName: 'main', tableName: 'sales', columnName: 'secret' }] }),
          },
        ],
      },
      'main.sales.secret',
    ],
    ['a card of a metric that is not there', { metrics: [] }, '"m1"'],
    ['a metric twice', { metrics: [...imported().metrics, ...imported().metrics] }, '"m1"'],
    ['a filter twice', { filters: [imported().filters[0], { ...imported().filters[0], name: 'ONLY' }] }, '"ONLY"'],
    [
      'a sort by nothing',
      {
        metrics: [
          { metricId: 'm1', name: 'X', definition: definition({ sort: [{ name: 'Nothing', direction: 'ASC' }] }) },
        ],
      },
      '"Nothing"',
    ],
  ])('importDashboardData that fits no datamart is INVALID_DASHBOARD_DATA: %s', async (_, parts, named) => {
    const input = create('bad-import', { importDashboardData: imported(parts) });
    expect(await refused('createDashboardEmbed INVALID_DASHBOARD_DATA', house, input)).toContain(named);
    expect(await listed('bad-import')).toBeUndefined();
  });

  test('schemaPairs maps schema names in the import to target datamart schema', async () => {
    const eu = JSON.parse(JSON.stringify(imported()).replaceAll('"main"', '"theirs"'));
    await refused('createDashboardEmbed INVALID_DASHBOARD_DATA', house, create('moved', { importDashboardData: eu }));
    await make(
      create('moved', { importDashboardData: eu, schemaPairs: [{ replaceSchema: 'theirs', targetSchema: 'eu' }] }),
    );
    const [metric] = (await seen('moved')).metrics;
    const { data } = await ok(house, 'queryMetric', { embedId: 'moved', metricId: metric?.metricId, clientId: 'acme' });
    expect(data).toEqual([{ Revenue: 14 }]);
  });

  test('schemaPairs replace names, not text: each schema once, and never inside values', async () => {
    const filter = {
      name: 'f',
      label: 'f',
      column: { schemaName: 'a', tableName: 'sales', columnName: 'region' },
      dataType: 'string',
      predicate: { kind: 'oneOf', values: ['a', 'north'] },
    };
    const a = JSON.parse(JSON.stringify(definition()).replaceAll('"main"', '"a"'));
    const data = {
      layout: [],
      filters: [],
      gridMargin: [],
      metrics: [{ metricId: 'a', name: 'a', definition: { ...a, filters: [filter] } }],
    };
    const schemaPairs = [
      { replaceSchema: 'a', targetSchema: 'main' },
      { replaceSchema: 'main', targetSchema: 'eu' },
    ];
    await make(create('moved-once', { importDashboardData: data, schemaPairs }));
    const [metric] = (await seen('moved-once')).metrics;
    expect(metric?.name).toBe('a');
    const reply = await ok(house, 'queryMetric', {
      embedId: 'moved-once',
      metricId: metric?.metricId,
      clientId: 'acme',
    });
    expect(reply.data).toEqual([{ Revenue: 130 }]);
  });
});

describe('dashboardId: unique within the data app', () => {
  test('a second one with the same id fails: INVALID_DASHBOARD_ID, dashboard id already exists', async () => {
    await make(create('once'));
    for (const clientId of ['acme', 'globex']) {
      expect(await refused('createDashboardEmbed INVALID_DASHBOARD_ID', house, create('once', { clientId }))).toContain(
        'exists already',
      );
    }
    expect((await seen('once')).name).toBe('once_acme');
  });

  test('unique among embed ids too, which share one namespace', async () => {
    const { id } = await ok(house, 'createEmbed', {
      embedType: 'dashboard',
      dashboardId: 'board',
      workspaceName: 'shop',
      accessSettings: settings,
    });
    await refused('createDashboardEmbed INVALID_DASHBOARD_ID', house, create(id));
  });

  test("unique among the organization's dashboards too", async () => {
    await refused('createDashboardEmbed INVALID_DASHBOARD_ID', house, create('board'));
    await refused('createDashboardEmbed INVALID_DASHBOARD_ID', house, create('counter'));
  });

  test('another data app may use the same id', async () => {
    await make(create('shared-id'));
    const answer = await call(house, 'createDashboardEmbed', create('shared-id'), { bearer: house.otherKey });
    expect(answer.status).toBe(200);
  });

  test('of ten simultaneous creates, exactly one succeeds completely; the others leave nothing', async () => {
    const before = await inventory();
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => call(house, 'createDashboardEmbed', fromBoard('race'))),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, ...Array.from({ length: 9 }, () => 400)]);
    expect(await inventory()).toEqual({
      embeds: before.embeds + 1,
      dashboards: before.dashboards + 1,
      metrics: before.metrics + 4,
    });
    expect((await seen('race')).layout).toHaveLength(3);
  });

  test('a refused request leaves nothing behind, and the id stays free', async () => {
    const before = await inventory();
    await refused(
      'createDashboardEmbed TEMPLATE_DASHBOARD_ERROR',
      house,
      fromBoard('phoenix', { templateDashboardId: 'nowhere' }),
    );
    await refused(
      'createDashboardEmbed INVALID_DASHBOARD_DATA',
      house,
      create('phoenix', { importDashboardData: imported({ metrics: [] }) }),
    );
    await refused(
      'createDashboardEmbed INVALID_REQUEST_BODY',
      house,
      fromBoard('phoenix', { metadata: { text: '\u0000' } }),
    );
    await refused('createDashboardEmbed CLIENT_ID_ERROR', house, fromBoard('phoenix', { clientId: 'None' }));
    expect(await inventory()).toEqual(before);
    expect((await make(fromBoard('phoenix'))).id).toBe('phoenix');
  });
});

describe('the other fields', () => {
  test('metadata, embedDescription and isAllowPrivateMetricsByDefault are stored unchanged', async () => {
    const metadata = { plan: 'gold', tags: ['a', 1, null], deep: { er: true } };
    await make(create('kept', { metadata, embedDescription: 'For acme', isAllowPrivateMetricsByDefault: true }));
    expect((await listed('kept'))?.externalDashboard?.metadata).toEqual(metadata);
    expect(await stored('kept')).toMatchObject({ isAllowPrivateMetricsByDefault: true });
    expect(await stored('plain')).toMatchObject({ isAllowPrivateMetricsByDefault: false, metadata: null });
  });

  test.each([
    ['dashboardId', { dashboardId: undefined }],
    ['workspaceName', { workspaceName: undefined }],
    ['clientId', { clientId: undefined }],
    ['accessSettings', { accessSettings: undefined }],
    ['accessSettings.datamartName', { accessSettings: { ...settings, datamartName: undefined } }],
    ['metricImportMode', { metricImportMode: 'BOTH' }],
    ['isImportMetrics', { isImportMetrics: 'true' }],
    ['importDashboardData.metrics', { importDashboardData: { layout: [], filters: [], gridMargin: [] } }],
    ['importDashboardData.more', { importDashboardData: { _meta: {}, data: imported(), more: 1 } }],
    ['schemaPairs[0].targetSchema', { schemaPairs: [{ replaceSchema: 'a' }] }],
    ['dataAppName', { dataAppName: 'shop' }],
    ['embedDescription', { embedDescription: 'nul \u0000' }],
  ])('a dashboard embed with a faulty field is refused with INVALID_REQUEST_BODY: %s', async (field, parts) => {
    expect(await refused('createDashboardEmbed INVALID_REQUEST_BODY', house, create('invalid', parts))).toContain(
      field,
    );
  });

  test('WORKSPACE_ID_ERROR 400: workspace does not exist', async () => {
    await refused('createDashboardEmbed WORKSPACE_ID_ERROR', house, create('lost', { workspaceName: 'nowhere' }));
  });

  test.each(['nowhere', 'orders'])(
    'datamart %s, unknown or not reachable from the workspace: INVALID_DATAMART_NAME',
    async (datamartName) => {
      const accessSettings = { ...settings, datamartName };
      await refused('createDashboardEmbed INVALID_DATAMART_NAME', house, create('lost', { accessSettings }));
    },
  );

  test('missing or invalid API key: 401 INVALID_DATA_APP_API_KEY', async () => {
    for (const bearer of [null, 'wrong', house.endedKey, house.serviceToken]) {
      const message = await refused('createDashboardEmbed INVALID_DATA_APP_API_KEY', house, create('lost'), { bearer });
      expect(firstSentence(message)).toBe('API key is invalid or expired');
    }
    expect(await listed('lost')).toBeUndefined();
  });
});
