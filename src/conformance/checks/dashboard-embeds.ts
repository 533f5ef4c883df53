/** 4. Create empty dashboard embed. */
import { type Check, checksOf, guards, refuses, requires, sendTo, type Target, withValue } from '../kit/check.js';
import type { CheckContext } from '../kit/context.js';
import {
  both,
  exactly,
  expectOk,
  expectRefusal,
  expectThat,
  fields,
  filled,
  nothing,
  rowsOf,
  type Shape,
  without,
} from '../kit/expect.js';
import type { Json } from '../kit/wire.js';
import { settingNames, sharedFaults, sharedValues } from './access-settings.js';

const path = '/api/v2/data-app/dashboard-embeds';
const legacyPath = '/api/v2/dataApp/dashboard-embeds';

const serial = new WeakMap<CheckContext, number>();

/** A new dashboard id. The dashboard is deleted at the end if the data app stays. */
const newId = async (context: CheckContext): Promise<string> => {
  const next = (serial.get(context) ?? 0) + 1;
  serial.set(context, next);
  const id = context.name(`board${next}`);
  await context.keep('dashboard', id, (await context.app()).key);
  return id;
};

const target: Target = {
  operation: 'create-dashboard-embed',
  method: 'POST',
  path,
  credential: 'apiKey',
  in: 'body',
  input: async (context) => ({
    dashboardId: await newId(context),
    workspaceName: (await context.board()).workspaceName,
    clientId: context.clientId,
    accessSettings: await context.accessSettings(),
  }),
};

const check = checksOf(target.operation);
const named = (name: string): Shape =>
  fields({
    id: filled,
    error: (value, at) => (value === undefined ? `${at} is missing` : undefined),
    name: exactly(name),
  });

const keep = async (context: CheckContext, { id }: Json): Promise<void> =>
  context.keep('embed', String(id), (await context.app()).key);

/** Creates a dashboard with the required fields and these parts; returns its id. */
const create = async (context: CheckContext, parts: Json): Promise<string> => {
  const input: Json = { ...(await target.input(context)), ...parts };
  const name = String(input.name ?? input.dashboardId);
  await keep(context, expectOk(await sendTo(context, target, input), named(name)));
  return String(input.dashboardId);
};

const takes = (what: string, parts: Json): Check =>
  check(what, async (context) => {
    await create(context, parts);
  });

const displayName = async (context: CheckContext, dashboardId: string): Promise<unknown> => {
  const { workspaceName } = await context.board();
  const bearer = (await context.app()).key;
  const answer = await context.send({
    method: 'POST',
    path: '/api/v2/workspace/dashboards',
    body: { workspaceName },
    bearer,
  });
  return rowsOf(expectOk(answer, fields({}))).find((row) => row.externalDashboardId === dashboardId)?.name;
};

const isShown =
  (parts: Json, name: (dashboardId: string, clientId: string) => string) => async (context: CheckContext) => {
    const id = await create(context, parts);
    const wanted = name(id, context.clientId);
    const shown = await displayName(context, id);
    expectThat(shown === wanted, `the dashboard is listed as ${JSON.stringify(shown)}, not ${JSON.stringify(wanted)}`);
  };

const emptyExport = { layout: [], filters: [], metrics: [], gridMargin: [] };

const writeForm = (input: Json, file?: unknown): FormData => {
  const form = new FormData();
  for (const [name, value] of Object.entries(input)) {
    form.append(name, typeof value === 'string' ? value : JSON.stringify(value));
  }
  if (file !== undefined) {
    const blob = new Blob([JSON.stringify(file)], { type: 'application/json' });
    form.append('importDashboardDataFile', blob, 'dashboard.json');
  }
  return form;
};

const sendForm = async (context: CheckContext, input: Json, file?: unknown, at: string = path) =>
  context.send({ method: 'POST', path: at, form: writeForm(input, file), bearer: (await context.app()).key });

const forms: readonly Check[] = [
  check('in multipart, object and boolean fields are sent as JSON strings', async (context) => {
    const input: Json = { ...(await target.input(context)), metadata: { a: 1 }, isRenameDashboard: false };
    await keep(context, expectOk(await sendForm(context, input), named(String(input.dashboardId))));
  }),
  check('multipart with importDashboardDataFile', async (context) => {
    const input = await target.input(context);
    const answer = await sendForm(context, input, { data: emptyExport });
    await keep(context, expectOk(answer, named(String(input.dashboardId))));
  }),
  check('the file takes precedence over importDashboardData', async (context) => {
    const input = { ...(await target.input(context)), importDashboardData: emptyExport };
    expectRefusal(await sendForm(context, input, { nothing: true }), 400, 'INVALID_DASHBOARD_DATA');
  }),
  check('INVALID_DASHBOARD_DATA 400: uploaded JSON lacks the data object', async (context) => {
    expectRefusal(await sendForm(context, await target.input(context), { layout: [] }), 400, 'INVALID_DASHBOARD_DATA');
  }),
  check('multipart on the legacy path: id and error only', async (context) => {
    const answer = await sendForm(context, await target.input(context), undefined, legacyPath);
    await keep(context, expectOk(answer, both(fields({ id: filled, error: nothing }), without('name'))));
  }),
];

const templates: readonly Check[] = [
  check('templateDashboardId: a template is cloned', async (context) => {
    await create(context, { templateDashboardId: (await context.board()).dashboardId });
  }),
  ...['GALLERY', 'METRIC'].map((metricImportMode) =>
    check(`isImportMetrics with metricImportMode ${metricImportMode}`, async (context) => {
      const { dashboardId } = await context.board();
      await create(context, { templateDashboardId: dashboardId, isImportMetrics: true, metricImportMode });
    }),
  ),
  check('TEMPLATE_DASHBOARD_ERROR 400: invalid template dashboard id', async (context) => {
    const input = { ...(await target.input(context)), templateDashboardId: context.name('nothing') };
    expectRefusal(await sendTo(context, target, input), 400, 'TEMPLATE_DASHBOARD_ERROR');
  }),
];

const names: readonly Check[] = [
  takes('Response 200: {id, error, name}; name is dashboardId', {}),
  takes('name equals the request name', { name: 'A name of its own' }),
  check('the legacy path returns id and error only', async (context) => {
    const answer = await sendTo(context, { ...target, path: legacyPath }, await target.input(context));
    await keep(context, expectOk(answer, both(fields({ id: filled, error: nothing }), without('name'))));
  }),
  check(
    'isRenameDashboard true with name: the display name is name',
    isShown({ name: 'Renamed', isRenameDashboard: true }, () => 'Renamed'),
  ),
  check(
    'otherwise the display name is {dashboardId}_{clientId}',
    isShown({ name: 'Other' }, (id, clientId) => `${id}_${clientId}`),
  ),
  check('INVALID_DASHBOARD_ID 400: dashboard id already exists', async (context) => {
    const id = await create(context, {});
    const input = withValue(await target.input(context), 'dashboardId', id);
    expectRefusal(await sendTo(context, target, input), 400, 'INVALID_DASHBOARD_ID');
  }),
];

export const dashboardEmbedChecks: readonly Check[] = [
  ...names,
  ...templates,
  ...forms,
  takes('metadata: custom metadata', { metadata: { plan: 'gold', seats: [1, 2] } }),
  takes('isAllowPrivateMetricsByDefault may be true', { isAllowPrivateMetricsByDefault: true }),
  takes('embedDescription may be text', { embedDescription: 'Words.' }),
  takes('schemaPairs may be given', { schemaPairs: [{ replaceSchema: 'a', targetSchema: 'b' }] }),
  takes('importDashboardData may be given', { importDashboardData: emptyExport }),
  ...sharedValues.map(([field, value]) =>
    check(`accessSettings.${field} may be ${JSON.stringify(value)}`, async (context) => {
      const settings = await context.accessSettings();
      await create(context, { accessSettings: withValue(settings, field, value) });
    }),
  ),
  ...requires(target, ['dashboardId', 'workspaceName', 'clientId', 'accessSettings']),
  ...requires(
    target,
    settingNames.map((name) => `accessSettings.${name}`),
  ),
  ...refuses(target, [
    ['metricImportMode', 'BOTH'],
    ['isImportMetrics', 'maybe'],
    ['metadata', 'text'],
    ['schemaPairs', [{ replaceSchema: 'a' }]],
    ['schemaPairs', [{ targetSchema: 'b' }]],
    ['noSuchField', 1],
    ...sharedFaults.map(([field, value]) => [`accessSettings.${field}`, value] as const),
  ]),
  check('a workspace that does not exist is 400', async (context) => {
    const input = withValue(await target.input(context), 'workspaceName', context.name('nothing'));
    expectRefusal(await sendTo(context, target, input), 400, ['WORKSPACE_ID_ERROR', 'INVALID_WORKSPACE_NAME']);
  }),
  check('CLIENT_ID_ERROR 400: invalid client id', async (context) => {
    const input = withValue(await target.input(context), 'clientId', '');
    expectRefusal(await sendTo(context, target, input), 400, ['CLIENT_ID_ERROR', 'INVALID_REQUEST_BODY']);
  }),
  ...guards(target, { statuses: 401, codes: 'INVALID_DATA_APP_API_KEY' }),
];
