/**
 * Section 2 of the interface, "Create embed for an existing dashboard or metric", and the lists of embeds and metrics.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  call,
  cloneBoard,
  firstSentence,
  type House,
  type Input,
  mint,
  ok,
  openHouse,
  refused,
  settings,
} from './house.js';

let house: House;
beforeAll(async () => {
  house = await openHouse();
  await cloneBoard(house, 'acme-board', 'acme', { metadata: { plan: 'gold', nested: { list: [1, null] } } });
});
afterAll(() => house.close());

const ofDashboard = (parts: Input = {}) => ({
  embedType: 'dashboard',
  dashboardId: 'board',
  workspaceName: 'shop',
  accessSettings: settings,
  ...parts,
});
const ofMetric = (parts: Input = {}) => ({
  embedType: 'metric',
  dashboardId: 'board',
  metricId: 'revenue',
  workspaceName: 'shop',
  ...parts,
});
const listed = async (embedId: string) =>
  (await ok(house, 'listEmbeds', {})).data.find((item) => item.embedId === embedId);

describe('an embed of a dashboard', () => {
  test('Response 200: {id: string, error: null}', async () => {
    const answer = await call(house, 'createEmbed', ofDashboard());
    expect([answer.status, answer.body]).toEqual([200, { id: expect.stringMatching(/^[0-9a-f-]{36}$/), error: null }]);
  });

  test('name defaults to the embed id', async () => {
    const { id } = await ok(house, 'createEmbed', ofDashboard());
    expect((await listed(id))?.name).toBe(id);
    const named = await ok(house, 'createEmbed', ofDashboard({ name: 'Our board' }));
    expect((await listed(named.id))?.name).toBe('Our board');
  });

  test('one dashboard may have several embeds with different settings', async () => {
    const open = await ok(house, 'createEmbed', ofDashboard());
    const closed = await ok(
      house,
      'createEmbed',
      ofDashboard({ accessSettings: { ...settings, isAllowUnderlyingData: false } }),
    );
    const token = await mint(house, 'acme', { allowedEmbeds: [open.id, closed.id] });
    const allows = async (dashboardId: string) =>
      (await ok(house, 'getGuestDashboard', { dashboardId }, { bearer: token })).data.permissions
        .isEnableUnderlyingData;
    expect([await allows(open.id), await allows(closed.id)]).toEqual([true, false]);
  });

  test("a client's dashboard keeps its owner in each of its embeds", async () => {
    const { id } = await ok(house, 'createEmbed', ofDashboard({ dashboardId: 'acme-board' }));
    const own = await mint(house, 'acme', { allowedEmbeds: [id] });
    expect((await call(house, 'getGuestDashboard', { dashboardId: id }, { bearer: own })).status).toBe(200);
    await refused('createGuestToken DASHBOARD_PARAM_ERROR', house, {
      clientId: 'globex',
      dataAppName: 'shop',
      params: { allowedEmbeds: [id] },
    });
  });

  test('every access setting is stored and returned unchanged, also those for AI, e-mail reports and legacy joins', async () => {
    const accessSettings = {
      ...settings,
      isAllowAiPilot: true,
      isAllowEmailReports: true,
      isAllowEndUserDashboardFilter: true,
      dashboardFilterColumns: [{ tableName: 'main.sales', columns: ['region'] }],
      isAllowEndUserMetricFilter: false,
      metricFilterColumns: [],
      joinModel: 'single',
      isIncrementalJoin: true,
      metricCreationMode: 'CHAT',
      tableTenancySettings: [{ name: 'main.notes', clientColumn: 'owner' }],
    };
    const { id } = await ok(house, 'createEmbed', ofDashboard({ accessSettings }));
    expect(await listed(id)).toMatchObject({ accessSettings });
  });

  test.each([
    ['datamartName', { ...settings, datamartName: undefined }],
    ['isAllowEmailReports', { ...settings, isAllowEmailReports: undefined }],
    ['isAllowManageMetrics', { ...settings, isAllowManageMetrics: undefined }],
    ['isAllowCreateDashboardView', { ...settings, isAllowCreateDashboardView: undefined }],
    ['isAllowMetricCreation', { ...settings, isAllowMetricCreation: undefined }],
    ['isAllowMetricDeletion', { ...settings, isAllowMetricDeletion: undefined }],
    ['isAllowMetricLayoutChange', { ...settings, isAllowMetricLayoutChange: undefined }],
    ['isAllowMetricUpdate', { ...settings, isAllowMetricUpdate: undefined }],
    ['isAllowUnderlyingData', { ...settings, isAllowUnderlyingData: undefined }],
    ['metricCreationMode', { ...settings, metricCreationMode: undefined }],
    ['metricCreationMode', { ...settings, metricCreationMode: 'VOICE' }],
    ['joinModel', { ...settings, joinModel: 'double' }],
    ['dashboardFilterColumns[0].columns', { ...settings, dashboardFilterColumns: [{ tableName: 'main.sales' }] }],
    ['tableTenancySettings[0].clientColumn', { ...settings, tableTenancySettings: [{ name: 'main.notes' }] }],
    ['isAllowEverything', { ...settings, isAllowEverything: true }],
  ])('an embed is refused if its access settings lack or break %s', async (field, accessSettings) => {
    const message = await refused('createEmbed INVALID_REQUEST_BODY', house, ofDashboard({ accessSettings }));
    expect(message).toContain(`accessSettings.${field}`);
  });

  test.each([
    ['accessSettings are required', ofDashboard({ accessSettings: undefined }), 'accessSettings'],
    ['workspaceName is required', ofDashboard({ workspaceName: undefined }), 'workspaceName'],
    ['dashboardId is required', ofDashboard({ dashboardId: undefined }), 'dashboardId'],
    ['embedType is dashboard or metric', ofDashboard({ embedType: 'table' }), 'embedType'],
    ['metricId belongs to metric embeds', ofDashboard({ metricId: 'revenue' }), 'metricId'],
    ['clientId is not its field', ofDashboard({ clientId: 'acme' }), 'clientId'],
  ])('an embed that breaks a rule is refused: %s', async (_, input, field) => {
    expect(await refused('createEmbed INVALID_REQUEST_BODY', house, input)).toContain(field);
  });
});

describe('tableTenancySettings', () => {
  const notes = (tableTenancySettings: unknown) =>
    ofDashboard({ dashboardId: 'notebook', accessSettings: { ...settings, tableTenancySettings } });

  test.each(['main.notes', 'notes'])(
    '%s gets a client column, so that each client sees only its own rows',
    async (name) => {
      const { id } = await ok(house, 'createEmbed', notes([{ name, clientColumn: 'owner' }]));
      const count = async (clientId: string) =>
        (await ok(house, 'queryMetric', { embedId: id, metricId: 'note-count', clientId })).data;
      expect([await count('acme'), await count('globex'), await count('nobody')]).toEqual([
        [{ Notes: 2 }],
        [{ Notes: 1 }],
        [{ Notes: 0 }],
      ]);
    },
  );

  test('a table with a client column keeps it', async () => {
    const accessSettings = { ...settings, tableTenancySettings: [{ name: 'main.sales', clientColumn: 'region' }] };
    const { id } = await ok(house, 'createEmbed', ofDashboard({ accessSettings }));
    const { data } = await ok(house, 'queryMetric', { embedId: id, metricId: 'revenue', clientId: 'acme' });
    expect(data).toEqual([{ Revenue: 200 }]);
  });
});

describe('an embed of a metric', () => {
  test("accessSettings are optional for a metric: it then uses the workspace's datamart", async () => {
    const { id } = await ok(house, 'createEmbed', ofMetric());
    const { data } = await ok(house, 'queryMetric', { embedId: id, metricId: 'revenue', clientId: 'acme' });
    expect(data).toEqual([{ Revenue: 200 }]);
  });

  test('metricId is required when embedType is metric', async () => {
    const message = await refused('createEmbed INVALID_REQUEST_BODY', house, ofMetric({ metricId: undefined }));
    expect(message).toContain('metricId');
  });

  test('metric not found: 404', async () => {
    await refused('createEmbed INVALID_METRIC_ID', house, ofMetric({ metricId: 'nothing' }));
    await refused('createEmbed INVALID_METRIC_ID', house, ofMetric({ metricId: 'order-total' }));
    // The metric is on a dashboard of the organization, but belongs to a client of another data app.
    const held = ofMetric({ dashboardId: 'held', metricId: 'of-acme' });
    await refused('createEmbed INVALID_METRIC_ID', house, held, { bearer: house.otherKey });
  });
});

describe('unknown names', () => {
  test('invalid workspace name: 400', async () => {
    await refused('createEmbed INVALID_WORKSPACE_NAME', house, ofDashboard({ workspaceName: 'nowhere' }));
  });

  test('dashboard not found: 404, also for one of another workspace or data app', async () => {
    await refused('createEmbed INVALID_DASHBOARD_ID', house, ofDashboard({ dashboardId: 'nowhere' }));
    await refused('createEmbed INVALID_DASHBOARD_ID', house, ofDashboard({ dashboardId: 'counter' }));
    const foreign = ofDashboard({ dashboardId: 'acme-board' });
    await refused('createEmbed INVALID_DASHBOARD_ID', house, foreign, { bearer: house.otherKey });
  });

  test.each(['nowhere', 'orders'])(
    'datamart %s, unknown or not reachable from the workspace: 400',
    async (datamartName) => {
      const accessSettings = { ...settings, datamartName };
      await refused('createEmbed INVALID_DATAMART_NAME', house, ofDashboard({ accessSettings }));
      await refused('createEmbed INVALID_DATAMART_NAME', house, ofMetric({ accessSettings }));
    },
  );
});

describe('the API key', () => {
  test('401 invalid or missing key', async () => {
    for (const bearer of [null, 'wrong', house.endedKey, house.serviceToken]) {
      const message = await refused('createEmbed AUTHENTICATION_ERROR', house, ofDashboard(), { bearer });
      expect(firstSentence(message)).toBe('API key is invalid or expired');
    }
  });
});

describe('the legacy paths', () => {
  test.each(['/api/v2/dataApp/embeds', '/api/v2/dataApp/embed/create'])(
    '%s still works, with a Deprecation header',
    async (path) => {
      const answer = await call(house, 'createEmbed', ofDashboard(), { path });
      expect([answer.status, answer.body]).toEqual([200, { id: expect.any(String), error: null }]);
      expect(answer.headers.get('deprecation')).toMatch(/^@\d+$/);
      const failed = await call(house, 'createEmbed', {}, { path });
      expect([failed.status, failed.headers.get('deprecation')]).toEqual([400, answer.headers.get('deprecation')]);
    },
  );

  test('the newer path has no Deprecation header', async () => {
    expect((await call(house, 'createEmbed', ofDashboard())).headers.get('deprecation')).toBeNull();
  });
});

describe('GET /data-app/embeds', () => {
  test('{data: [{embedId, embedType, name, externalDashboard, externalMetric, embedMetadata}], error: null}', async () => {
    expect(await listed('acme-board')).toEqual({
      embedId: 'acme-board',
      embedType: 'dashboard',
      name: 'acme-board',
      externalDashboard: {
        externalDashboardId: 'acme-board',
        metadata: { plan: 'gold', nested: { list: [1, null] } },
        name: 'acme-board_acme',
      },
      externalMetric: null,
      embedMetadata: null,
      embedDescription: null,
      accessSettings: settings,
    });
    const { id } = await ok(house, 'createEmbed', ofMetric({ name: 'Takings' }));
    expect(await listed(id)).toEqual({
      embedId: id,
      embedType: 'metric',
      name: 'Takings',
      externalDashboard: null,
      externalMetric: { metricId: 'revenue', name: 'Metric revenue' },
      embedMetadata: null,
      embedDescription: null,
      accessSettings: null,
    });
  });

  test("lists only the data app's own embeds", async () => {
    const { data, error } = await ok(house, 'listEmbeds', {}, { bearer: house.otherKey });
    expect([data, error]).toEqual([[], null]);
    const made = await ok(house, 'createEmbed', ofDashboard(), { bearer: house.otherKey });
    const after = await ok(house, 'listEmbeds', {}, { bearer: house.otherKey });
    expect(after.data.map(({ embedId }) => embedId)).toEqual([made.id]);
    expect(await listed(made.id)).toBeUndefined();
  });

  test('the string true enables pagination, 10 items per page; any other value disables it', async () => {
    while ((await ok(house, 'listEmbeds', {})).data.length < 12) await ok(house, 'createEmbed', ofDashboard());
    const ids = async (input: Input, path?: string) =>
      (await ok(house, 'listEmbeds', input, path === undefined ? {} : { path })).data.map(({ embedId }) => embedId);
    const all = await ids({});
    for (const isPagination of ['false', 'TRUE', '1', ''])
      expect(await ids({ isPagination, pageNumber: 2 })).toEqual(all);
    expect(await ids({ isPagination: true })).toEqual(all.slice(0, 10));
    expect(await ids({ isPagination: true, pageNumber: 2 })).toEqual(all.slice(10, 20));
    expect(await ids({ isPagination: true, pageNumber: 999 })).toEqual([]);
    const legacy = await call(
      house,
      'listEmbeds',
      { isPagination: true, pageNumber: 2 },
      { path: '/api/v2/dataApp/embed/list' },
    );
    expect((legacy.body as { data: { embedId: string }[] }).data.map(({ embedId }) => embedId)).toEqual(
      all.slice(10, 20),
    );
    expect(legacy.headers.get('deprecation')).toMatch(/^@\d+$/);
  });

  test.each(['0', '-1', '1.5', 'two', ''])('pageNumber %j is not a numeric string from 1', async (pageNumber) => {
    await refused('listEmbeds INVALID_REQUEST_BODY', house, { isPagination: true, pageNumber });
  });

  test('an unknown parameter is refused', async () => {
    await refused('listEmbeds INVALID_REQUEST_BODY', house, { clientId: 'acme' });
  });

  test('needs the API key', async () => {
    for (const bearer of [null, house.serviceToken, house.endedKey])
      await refused('listEmbeds AUTHENTICATION_ERROR', house, {}, { bearer });
  });
});

describe('GET /data-app/metrics', () => {
  const names = async (embedId: string, clientId: string) =>
    (await ok(house, 'listEmbedMetrics', { embedId, clientId })).data.map(({ name }) => name);

  test('{data: [{name, metricId}], error: null}, in the order of the dashboard', async () => {
    const { data, error } = await ok(house, 'listEmbedMetrics', { embedId: 'acme-board', clientId: 'acme' });
    expect(error).toBeNull();
    expect(data.map(({ name }) => name)).toEqual([
      'Metric revenue',
      'Metric by-region',
      'Metric guarded',
      'Metric spare',
    ]);
    expect(data.map((item) => Object.keys(item).toSorted())).toEqual(data.map(() => ['metricId', 'name']));
  });

  test('lists the metric of a metric embed', async () => {
    const { id } = await ok(house, 'createEmbed', ofMetric());
    expect(await names(id, 'acme')).toEqual(['Metric revenue']);
  });

  test('lists metrics that guests made for their client only', async () => {
    const { id } = await ok(house, 'createEmbed', ofDashboard({ dashboardId: 'held' }));
    expect([await names(id, 'acme'), await names(id, 'globex'), await names(id, 'nobody')]).toEqual([
      ['Metric of-acme'],
      ['Metric of-globex'],
      [],
    ]);
  });

  test('embed not found: INVALID_EMBED_ID, also for an embed of another data app', async () => {
    await refused('listEmbedMetrics INVALID_EMBED_ID', house, { embedId: 'nowhere', clientId: 'acme' });
    const input = { embedId: 'acme-board', clientId: 'acme' };
    await refused('listEmbedMetrics INVALID_EMBED_ID', house, input, { bearer: house.otherKey });
  });

  test("another client's embed: EMBED_PARAM_ERROR", async () => {
    await refused('listEmbedMetrics EMBED_PARAM_ERROR', house, { embedId: 'acme-board', clientId: 'globex' });
  });

  test('both parameters are required', async () => {
    await refused('listEmbedMetrics INVALID_REQUEST_BODY', house, { embedId: 'acme-board' });
    await refused('listEmbedMetrics INVALID_REQUEST_BODY', house, { clientId: 'acme' });
  });

  test('needs the API key', async () => {
    const input = { embedId: 'acme-board', clientId: 'acme' };
    for (const bearer of [null, house.serviceToken, house.endedKey])
      await refused('listEmbedMetrics AUTHENTICATION_ERROR', house, input, { bearer });
  });
});
