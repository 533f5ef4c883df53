/** 15. Update workspace dashboards: always of a dashboard that the run created. */
import { type Check, checksOf, guards, refuses, requires, sendTo, type Target, withValue } from '../kit/check.js';
import type { CheckContext } from '../kit/context.js';
import { exactly, expectOk, expectRefusal, fields, filled, NotTried, nothing, rowsOf } from '../kit/expect.js';
import { isJson, type Json } from '../kit/wire.js';

const path = '/api/v2/workspace/dashboards';

const owned = new WeakMap<CheckContext, Promise<string>>();

const makeBoard = async (context: CheckContext): Promise<string> => {
  const { workspaceName } = await context.board();
  const { key } = await context.app();
  const dashboardId = context.name('gallery');
  await context.keep('dashboard', dashboardId, key);
  const body = {
    dashboardId,
    workspaceName,
    clientId: context.clientId,
    accessSettings: await context.accessSettings(),
  };
  const answer = await context.send({ method: 'POST', path: '/api/v2/data-app/dashboard-embeds', body, bearer: key });
  const { id } = expectOk(answer, fields({ id: filled }));
  await context.keep('embed', String(id), key);
  return dashboardId;
};

const ownBoard = (context: CheckContext): Promise<string> => {
  const known = owned.get(context) ?? makeBoard(context);
  owned.set(context, known);
  return known;
};

const workspaceMetric = async (context: CheckContext): Promise<string> => {
  const { workspaceName } = await context.board();
  const bearer = (await context.app()).key;
  const answer = await context.send({
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
  input: async (context) => ({
    workspaceName: (await context.board()).workspaceName,
    dashboards: [
      { dashboardId: await ownBoard(context), appendMetrics: [{ metricId: await workspaceMetric(context) }] },
    ],
  }),
};
const check = checksOf(target.operation);
const done = fields({ data: fields({ success: exactly(true) }), error: nothing });

/** Updates the run's own dashboard by these parts. */
const update = async (context: CheckContext, parts: Json, bearer?: string | null) => {
  const { workspaceName } = await context.board();
  const dashboards = [{ dashboardId: await ownBoard(context), ...parts }];
  return sendTo(context, target, { workspaceName, dashboards }, bearer);
};

const refusesItem = (sentence: string, code: string, parts: (metricId: string, context: CheckContext) => Json): Check =>
  check(`${code} 400: ${sentence}`, async (context) => {
    expectRefusal(await update(context, parts(await workspaceMetric(context), context)), 400, code);
  });

const mapping = { dataType: 'string', schemaName: 'main', tableName: 't', columnName: 'c' };

const withKey: readonly Check[] = [
  check('a request with appendMetrics using an API key fails with 403 AUTHENTICATION_ERROR', async (context) => {
    const parts = { appendMetrics: [{ metricId: await workspaceMetric(context) }] };
    expectRefusal(await update(context, parts, (await context.app()).key), 403, 'AUTHENTICATION_ERROR');
  }),
  check('a request with removedMetrics using an API key fails with 403 AUTHENTICATION_ERROR', async (context) => {
    const parts = { removedMetrics: [await workspaceMetric(context)] };
    expectRefusal(await update(context, parts, (await context.app()).key), 403, 'AUTHENTICATION_ERROR');
  }),
  check(
    'an API key is accepted for filter mappings: an unknown filter name is INVALID_REQUEST_BODY',
    async (context) => {
      const filters = [{ name: context.name('nothing'), applyOnTables: [mapping] }];
      expectRefusal(await update(context, { filters }, (await context.app()).key), 400, 'INVALID_REQUEST_BODY');
    },
  ),
];

export const workspaceDashboardChecks: readonly Check[] = [
  check('Response 200: {data: {success: true}, error: null}, for appendMetrics', async (context) => {
    expectOk(await update(context, { appendMetrics: [{ metricId: await workspaceMetric(context) }] }), done);
  }),
  check('appending the same metric again reuses the gallery copy', async (context) => {
    const parts = { appendMetrics: [{ metricId: await workspaceMetric(context) }] };
    expectOk(await update(context, parts), done);
    expectOk(await update(context, parts), done);
  }),
  ...withKey,
  refusesItem('name must match an existing filter label', 'INVALID_REQUEST_BODY', (_, context) => ({
    filters: [{ name: context.name('nothing'), applyOnTables: [mapping] }],
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
  refusesItem('a metric to append that is unavailable', 'INVALID_METRIC_ID', (_, context) => ({
    appendMetrics: [{ metricId: context.name('nothing') }],
  })),
  refusesItem('a metric to remove that is unavailable', 'INVALID_METRIC_ID', (_, context) => ({
    removedMetrics: [context.name('nothing')],
  })),
  ...Object.keys(mapping).map((name) =>
    refusesItem(`${name} of applyOnTables is required`, 'INVALID_REQUEST_BODY', () => ({
      filters: [{ name: 'x', applyOnTables: [{ ...mapping, [name]: undefined }] }],
    })),
  ),
  check('dashboardId values are unique within the array', async (context) => {
    const input = await target.input(context);
    const twice = Array.isArray(input.dashboards) ? [...input.dashboards, ...input.dashboards] : [];
    expectRefusal(await sendTo(context, target, { ...input, dashboards: twice }), 400, 'INVALID_REQUEST_BODY');
  }),
  check('INVALID_DASHBOARD_ID 400: not found', async (context) => {
    const item = {
      dashboardId: context.name('nothing'),
      appendMetrics: [{ metricId: await workspaceMetric(context) }],
    };
    const input = withValue(await target.input(context), 'dashboards', [item]);
    expectRefusal(await sendTo(context, target, input), 400, 'INVALID_DASHBOARD_ID');
  }),
  check('WORKSPACE_ID_ERROR 400: workspace does not exist', async (context) => {
    const input = withValue(await target.input(context), 'workspaceName', context.name('nothing'));
    expectRefusal(await sendTo(context, target, input), 400, 'WORKSPACE_ID_ERROR');
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
