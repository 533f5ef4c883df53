/** 1. Create guest token. */
import { type Check, checksOf, guards, ours, refuses, requires, sendTo, type Target, withValue } from '../kit/check.js';
import { anyRefusal, expectOk, expectRefusal, expectThat, fields, filled } from '../kit/expect.js';
import type { Stage } from '../kit/stage.js';

const target: Target = {
  operation: 'create-guest-token',
  method: 'POST',
  path: '/api/v2/guest-token/create',
  credential: 'apiKey',
  in: 'body',
  input: async (stage) => ({ clientId: stage.clientId, dataAppName: await stage.appName() }),
};

const check = checksOf(target.operation);
const token = fields({ token: filled });
const columns = [{ tableName: 'some.table', columns: ['column'] }];

const mint = async (stage: Stage, path: string, value: unknown) =>
  sendTo(stage, target, withValue(await target.input(stage), path, value));

/** A valid value for a field: the answer holds a token. */
const takes = (path: string, value: unknown): Check =>
  check(`${path} may be ${JSON.stringify(value)}`, async (stage) => {
    expectOk(await mint(stage, path, value), token);
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
  check('Response 200: {token: string}', async (stage) => {
    expectOk(await sendTo(stage, target, await target.input(stage)), token);
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
  check('allowedEmbeds: each is an embed id or dashboard id', async (stage) => {
    const { embedId, dashboardId } = await stage.board();
    expectOk(await mint(stage, 'params.allowedEmbeds', [embedId, dashboardId]), token);
  }),
  check('datamartName scopes the token to a datamart', async (stage) => {
    expectOk(await mint(stage, 'datamartName', (await stage.board()).datamartName), token);
  }),
  check('two tokens of one grant are two tokens', async (stage) => {
    const input = await target.input(stage);
    const first = expectOk(await sendTo(stage, target, input), token);
    const second = expectOk(await sendTo(stage, target, input), token);
    expectThat(first.token !== second.token, 'the same token came twice');
  }),
];

export const guestTokenChecks: readonly Check[] = [
  ...accepted,
  ...requires(target, ['clientId', 'dataAppName']),
  ...refuses(target, [
    // The specification names these four as not valid.
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
  check('dataAppName is an existing data app', async (stage) => {
    const answer = await mint(stage, 'dataAppName', stage.name('nobody'));
    expectRefusal(answer, anyRefusal, ['INVALID_REQUEST_BODY', 'AUTHENTICATION_ERROR', 'INVALID_DATA_APP_API_KEY']);
  }),
  ours(
    check('an unknown embed in allowedEmbeds is DASHBOARD_PARAM_ERROR', async (stage) => {
      expectRefusal(await mint(stage, 'params.allowedEmbeds', [stage.name('nothing')]), 400, 'DASHBOARD_PARAM_ERROR');
    }),
  ),
  ours(
    check('an unknown metric in appFilters is APP_FILTER_PARAM_ERROR', async (stage) => {
      const answer = await mint(stage, 'params.appFilters', [{ metricId: stage.name('nothing'), values: {} }]);
      expectRefusal(answer, 400, 'APP_FILTER_PARAM_ERROR');
    }),
  ),
  ours(
    check('an unknown metric in rlsSettings is RLS_SETTINGS_PARAM_ERROR', async (stage) => {
      const answer = await mint(stage, 'params.rlsSettings', [{ metricId: stage.name('nothing'), values: {} }]);
      expectRefusal(answer, 400, 'RLS_SETTINGS_PARAM_ERROR');
    }),
  ),
  ours(
    check(
      'a token given to the embed component loads what allowedEmbeds names, otherwise UNAUTHORIZED',
      async (stage) => {
        const { embedId } = await stage.board();
        const made = expectOk(await mint(stage, 'params.allowedEmbeds', []), token);
        const path = `/api/v2/guest/dashboards/${encodeURIComponent(embedId)}`;
        expectRefusal(await stage.send({ method: 'GET', path, bearer: String(made.token) }), 403, 'UNAUTHORIZED');
      },
    ),
  ),
];
