/** 15. Update workspace dashboards: always of a dashboard that the run made. */
import { type Check, checksOf, guards, refuses, requires, sendTo, type Target, withValue } from '../kit/check.js';
import { exactly, expectOk, expectRefusal, fields, filled, NotTried, nothing, rowsOf } from '../kit/expect.js';
import type { Stage } from '../kit/stage.js';
import { isJson, type Json } from '../kit/wire.js';

const path = '/api/v2/workspace/dashboards';

const owned = new WeakMap<Stage, Promise<string>>();

const makeBoard = async (stage: Stage): Promise<string> => {
  const { workspaceName } = await stage.board();
  const { key } = await stage.app();
  const dashboardId = stage.name('gallery');
  await stage.keep('dashboard', dashboardId, key);
  const body = { dashboardId, workspaceName, clientId: stage.clientId, accessSettings: await stage.accessSettings() };
  const answer = await stage.send({ method: 'POST', path: '/api/v2/data-app/dashboard-embeds', body, bearer: key });
  const { id } = expectOk(answer, fields({ id: filled }));
  await stage.keep('embed', String(id), key);
  return dashboardId;
};

const ownBoard = (stage: Stage): Promise<string> => {
  const known = owned.get(stage) ?? makeBoard(stage);
  owned.set(stage, known);
  return known;
};

const workspaceMetric = async (stage: Stage): Promise<string> => {
  const { workspaceName } = await stage.board();
  const bearer = (await stage.app()).key;
  const answer = await stage.send({
    method: 'POST',
    path: '/api/v2/workspace/metrics',
    body: { workspaceName },
    bearer,
  });
  const metricId = isJson(answer.body) ? rowsOf(answer.body)[0]?.metricId : undefined;
  if (typeof metricId !== 'string') throw new NotTried('needs a metric in the workspace');
  return metricId;
};

const target: Target = {
  operation: 'update-workspace-dashboards',
  method: 'PUT',
  path,
  credential: 'serviceToken',
  in: 'body',
  input: async (stage) => ({
    workspaceName: (await stage.board()).workspaceName,
    dashboards: [{ dashboardId: await ownBoard(stage), appendMetrics: [{ metricId: await workspaceMetric(stage) }] }],
  }),
};
const check = checksOf(target.operation);
const done = fields({ data: fields({ success: exactly(true) }), error: nothing });

/** The update of the run's own dashboard by these parts. */
const update = async (stage: Stage, parts: Json, bearer?: string | null) => {
  const { workspaceName } = await stage.board();
  const dashboards = [{ dashboardId: await ownBoard(stage), ...parts }];
  return sendTo(stage, target, { workspaceName, dashboards }, bearer);
};

const refusesItem = (sentence: string, code: string, parts: (metricId: string, stage: Stage) => Json): Check =>
  check(`${code} 400: ${sentence}`, async (stage) => {
    expectRefusal(await update(stage, parts(await workspaceMetric(stage), stage)), 400, code);
  });

const mapping = { dataType: 'string', schemaName: 'main', tableName: 't', columnName: 'c' };

const withKey: readonly Check[] = [
  check('a request with appendMetrics using an API key fails with 403 AUTHENTICATION_ERROR', async (stage) => {
    const parts = { appendMetrics: [{ metricId: await workspaceMetric(stage) }] };
    expectRefusal(await update(stage, parts, (await stage.app()).key), 403, 'AUTHENTICATION_ERROR');
  }),
  check('a request with removedMetrics using an API key fails with 403 AUTHENTICATION_ERROR', async (stage) => {
    const parts = { removedMetrics: [await workspaceMetric(stage)] };
    expectRefusal(await update(stage, parts, (await stage.app()).key), 403, 'AUTHENTICATION_ERROR');
  }),
  check('an API key is accepted for filter mappings: an unknown filter name is INVALID_REQUEST_BODY', async (stage) => {
    const filters = [{ name: stage.name('nothing'), applyOnTables: [mapping] }];
    expectRefusal(await update(stage, { filters }, (await stage.app()).key), 400, 'INVALID_REQUEST_BODY');
  }),
];

export const workspaceDashboardChecks: readonly Check[] = [
  check('Response 200: {data: {success: true}, error: null}, for appendMetrics', async (stage) => {
    expectOk(await update(stage, { appendMetrics: [{ metricId: await workspaceMetric(stage) }] }), done);
  }),
  check('appending the same metric again reuses the gallery copy', async (stage) => {
    const parts = { appendMetrics: [{ metricId: await workspaceMetric(stage) }] };
    expectOk(await update(stage, parts), done);
    expectOk(await update(stage, parts), done);
  }),
  ...withKey,
  refusesItem('name must match an existing filter label', 'INVALID_REQUEST_BODY', (_, stage) => ({
    filters: [{ name: stage.name('nothing'), applyOnTables: [mapping] }],
  })),
  refusesItem('each item needs at least one of its three lists', 'INVALID_REQUEST_BODY', () => ({})),
  refusesItem('each metricId at most once in appendMetrics', 'INVALID_REQUEST_BODY', (metricId) => ({
    appendMetrics: [{ metricId }, { metricId }],
  })),
  refusesItem('each at most once in removedMetrics', 'INVALID_REQUEST_BODY', (metricId) => ({
    removedMetrics: [metricId, metricId],
  })),
  refusesItem('an id may not be in both', 'INVALID_REQUEST_BODY', (metricId) => ({
    appendMetrics: [{ metricId }],
    removedMetrics: [metricId],
  })),
  refusesItem('a metric to append that is unavailable', 'INVALID_METRIC_ID', (_, stage) => ({
    appendMetrics: [{ metricId: stage.name('nothing') }],
  })),
  refusesItem('a metric to remove that is unavailable', 'INVALID_METRIC_ID', (_, stage) => ({
    removedMetrics: [stage.name('nothing')],
  })),
  ...Object.keys(mapping).map((name) =>
    refusesItem(`${name} of applyOnTables is required`, 'INVALID_REQUEST_BODY', () => ({
      filters: [{ name: 'x', applyOnTables: [{ ...mapping, [name]: undefined }] }],
    })),
  ),
  check('dashboardId values are unique within the array', async (stage) => {
    const input = await target.input(stage);
    const twice = Array.isArray(input.dashboards) ? [...input.dashboards, ...input.dashboards] : [];
    expectRefusal(await sendTo(stage, target, { ...input, dashboards: twice }), 400, 'INVALID_REQUEST_BODY');
  }),
  check('INVALID_DASHBOARD_ID 400: not found', async (stage) => {
    const item = { dashboardId: stage.name('nothing'), appendMetrics: [{ metricId: await workspaceMetric(stage) }] };
    const input = withValue(await target.input(stage), 'dashboards', [item]);
    expectRefusal(await sendTo(stage, target, input), 400, 'INVALID_DASHBOARD_ID');
  }),
  check('WORKSPACE_ID_ERROR 400: workspace does not exist', async (stage) => {
    const input = withValue(await target.input(stage), 'workspaceName', stage.name('nothing'));
    expectRefusal(await sendTo(stage, target, input), 400, 'WORKSPACE_ID_ERROR');
  }),
  ...requires(target, ['workspaceName', 'dashboards']),
  ...refuses(target, [
    ['workspaceName', 1],
    ['dashboards', {}],
    ['dashboards', [{ filters: [] }]],
    ['noSuchField', 1],
  ]),
  ...guards(target, { statuses: 400, codes: 'INVALID_SERVICE_TOKEN' }),
];
