/** 1. Create guest token. */
import { type Check, checksOf, guards, ours, refuses, requires, sendTo, type Target, withValue } from '../kit/check.js';
import type { CheckContext } from '../kit/context.js';
import { anyRefusal, expectOk, expectRefusal, expectThat, fields, filled } from '../kit/expect.js';

const target: Target = {
  operation: 'create-guest-token',
  method: 'POST',
  path: '/api/v2/guest-token/create',
  credential: 'apiKey',
  in: 'body',
  input: async (context) => ({ clientId: context.clientId, dataAppName: await context.appName() }),
};

const check = checksOf(target.operation);
const token = fields({ token: filled });
const columns = [{ tableName: 'some.table', columns: ['column'] }];

const mint = async (context: CheckContext, path: string, value: unknown) =>
  sendTo(context, target, withValue(await target.input(context), path, value));

/** Checks that a value of a field is accepted: the answer holds a token. */
const takes = (path: string, value: unknown): Check =>
  check(`${path} may be ${JSON.stringify(value)}`, async (context) => {
    expectOk(await mint(context, path, value), token);
  });

const permissions = [
  'isEnableArchiveMetrics',
  'isEnableManageMetrics',
  'isEnableCreateDashboardView',
  'isEnableMetricUpdation',
  'isEnableCustomizeLayout',
  'isEnableUnderlyingData',
  'isEnableDownloadMetrics',
  'isShowSideBar',
  'isShowDashboardName',
  'isDisableMetricCreation',
];

const accepted: readonly Check[] = [
  check('Response 200: {token: string}', async (context) => {
    expectOk(await sendTo(context, target, await target.input(context)), token);
  }),
  takes('expiryTime', 3_600_000),
  takes('params', {}),
  takes('permissions', {}),
  ...permissions.map((name) => takes(`permissions.${name}`, true)),
  takes('params.timezone', 'America/New_York'),
  takes('params.userIdentifier', 'user 1'),
  takes('params.rlsSettings', []),
  takes('params.appFilters', []),
  takes('params.dashboardAppFilters', []),
  takes('params.hideDashboardMetrics', []),
  takes('params.hideDashboardFilters', []),
  takes('params.accessPermissions', {
    isAllowEndUserDashboardFilter: true,
    dashboardFilterColumns: columns,
    isAllowEndUserMetricFilter: false,
    metricFilterColumns: columns,
    isAllowDashboardFilterNameChange: false,
    isAllowMetricFilterNameChange: false,
  }),
  check('allowedEmbeds: each is an embed id or dashboard id', async (context) => {
    const { embedId, dashboardId } = await context.board();
    expectOk(await mint(context, 'params.allowedEmbeds', [embedId, dashboardId]), token);
  }),
  check('datamartName scopes the token to a datamart', async (context) => {
    expectOk(await mint(context, 'datamartName', (await context.board()).datamartName), token);
  }),
  check('two tokens of one grant are two tokens', async (context) => {
    const input = await target.input(context);
    const first = expectOk(await sendTo(context, target, input), token);
    const second = expectOk(await sendTo(context, target, input), token);
    expectThat(first.token !== second.token, 'the same token came twice');
  }),
];

export const guestTokenChecks: readonly Check[] = [
  ...accepted,
  ...requires(target, ['clientId', 'dataAppName']),
  ...refuses(target, [
    // The specification names these four as invalid.
    ['dataAppId', 'x'],
    ['client_id', 'x'],
    ['tenant_id', 'x'],
    ['permissions.dashboards', []],
    ['clientId', 1],
    ['dataAppName', true],
    ['expiryTime', '60000'],
    ['params', []],
    ['params.noSuchField', true],
    ['params.allowedEmbeds', 'x'],
    ['params.allowedEmbeds', [1]],
    ['params.userIdentifier', 1],
    ['params.timezone', 1],
    ['params.rlsSettings', [{ values: {} }]],
    ['params.appFilters', [{ values: {} }]],
    ['params.dashboardAppFilters', [{ values: {} }]],
    ['params.hideDashboardFilters', 'x'],
    ['params.hideDashboardMetrics', [{ dashboardId: 'x' }]],
    ['params.hideDashboardMetrics', [{ metricIds: ['x'] }]],
    ['params.accessPermissions', { dashboardFilterColumns: [{ tableName: 'x' }] }],
    ['params.accessPermissions', { dashboardFilterColumns: [{ columns: ['x'] }] }],
    ['params.accessPermissions', { metricFilterColumns: [{ tableName: 'x' }] }],
    ['params.accessPermissions', { metricFilterColumns: [{ columns: ['x'] }] }],
    ...permissions.map((name) => [`permissions.${name}`, 'true'] as const),
  ]),
  ...guards(target, { statuses: 401, codes: 'AUTHENTICATION_ERROR' }),
  check('dataAppName is an existing data app', async (context) => {
    const answer = await mint(context, 'dataAppName', context.name('nobody'));
    expectRefusal(answer, anyRefusal, ['INVALID_REQUEST_BODY', 'AUTHENTICATION_ERROR', 'INVALID_DATA_APP_API_KEY']);
  }),
  ours(
    check('an unknown embed in allowedEmbeds is DASHBOARD_PARAM_ERROR', async (context) => {
      expectRefusal(
        await mint(context, 'params.allowedEmbeds', [context.name('nothing')]),
        400,
        'DASHBOARD_PARAM_ERROR',
      );
    }),
  ),
  ours(
    check('an unknown metric in appFilters is APP_FILTER_PARAM_ERROR', async (context) => {
      const answer = await mint(context, 'params.appFilters', [{ metricId: context.name('nothing'), values: {} }]);
      expectRefusal(answer, 400, 'APP_FILTER_PARAM_ERROR');
    }),
  ),
  ours(
    check('an unknown metric in rlsSettings is RLS_SETTINGS_PARAM_ERROR', async (context) => {
      const answer = await mint(context, 'params.rlsSettings', [{ metricId: context.name('nothing'), values: {} }]);
      expectRefusal(answer, 400, 'RLS_SETTINGS_PARAM_ERROR');
    }),
  ),
  ours(
    check(
      'a token given to the embed component loads what allowedEmbeds names, otherwise UNAUTHORIZED',
      async (context) => {
        const { embedId } = await context.board();
        const made = expectOk(await mint(context, 'params.allowedEmbeds', []), token);
        const path = `/api/v2/guest/dashboards/${encodeURIComponent(embedId)}`;
        expectRefusal(await context.send({ method: 'GET', path, bearer: String(made.token) }), 403, 'UNAUTHORIZED');
      },
    ),
  ),
];
