/** 4. Create empty dashboard embed. */
import { type Check, checksOf, guards, refuses, requires, sendTo, type Target, withValue } from '../kit/check.js';
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
import type { Stage } from '../kit/stage.js';
import type { Json } from '../kit/wire.js';
import { settingNames, sharedFaults, sharedValues } from './access-settings.js';

const path = '/api/v2/data-app/dashboard-embeds';
const legacyPath = '/api/v2/dataApp/dashboard-embeds';

const serial = new WeakMap<Stage, number>();

/** A dashboard id that is new, and removed at the end where the data app stays. */
const newId = async (stage: Stage): Promise<string> => {
  const next = (serial.get(stage) ?? 0) + 1;
  serial.set(stage, next);
  const id = stage.name(`board${next}`);
  await stage.keep('dashboard', id, (await stage.app()).key);
  return id;
};

const target: Target = {
  operation: 'create-dashboard-embed',
  method: 'POST',
  path,
  credential: 'apiKey',
  in: 'body',
  input: async (stage) => ({
    dashboardId: await newId(stage),
    workspaceName: (await stage.board()).workspaceName,
    clientId: stage.clientId,
    accessSettings: await stage.accessSettings(),
  }),
};

const check = checksOf(target.operation);
const named = (name: string): Shape =>
  fields({
    id: filled,
    error: (value, at) => (value === undefined ? `${at} is missing` : undefined),
    name: exactly(name),
  });

const keep = async (stage: Stage, { id }: Json): Promise<void> =>
  stage.keep('embed', String(id), (await stage.app()).key);

/** Creates with these parts beside the required fields; answers the dashboard's id. */
const create = async (stage: Stage, parts: Json): Promise<string> => {
  const input: Json = { ...(await target.input(stage)), ...parts };
  const name = String(input.name ?? input.dashboardId);
  await keep(stage, expectOk(await sendTo(stage, target, input), named(name)));
  return String(input.dashboardId);
};

const takes = (what: string, parts: Json): Check =>
  check(what, async (stage) => {
    await create(stage, parts);
  });

const displayName = async (stage: Stage, dashboardId: string): Promise<unknown> => {
  const { workspaceName } = await stage.board();
  const bearer = (await stage.app()).key;
  const answer = await stage.send({
    method: 'POST',
    path: '/api/v2/workspace/dashboards',
    body: { workspaceName },
    bearer,
  });
  return rowsOf(expectOk(answer, fields({}))).find((row) => row.externalDashboardId === dashboardId)?.name;
};

const isShown = (parts: Json, name: (dashboardId: string, clientId: string) => string) => async (stage: Stage) => {
  const id = await create(stage, parts);
  const wanted = name(id, stage.clientId);
  const shown = await displayName(stage, id);
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

const sendForm = async (stage: Stage, input: Json, file?: unknown, at: string = path) =>
  stage.send({ method: 'POST', path: at, form: writeForm(input, file), bearer: (await stage.app()).key });

const forms: readonly Check[] = [
  check('in multipart, object and boolean fields are sent as JSON strings', async (stage) => {
    const input: Json = { ...(await target.input(stage)), metadata: { a: 1 }, isRenameDashboard: false };
    await keep(stage, expectOk(await sendForm(stage, input), named(String(input.dashboardId))));
  }),
  check('multipart with importDashboardDataFile', async (stage) => {
    const input = await target.input(stage);
    const answer = await sendForm(stage, input, { data: emptyExport });
    await keep(stage, expectOk(answer, named(String(input.dashboardId))));
  }),
  check('the file takes precedence over importDashboardData', async (stage) => {
    const input = { ...(await target.input(stage)), importDashboardData: emptyExport };
    expectRefusal(await sendForm(stage, input, { nothing: true }), 400, 'INVALID_DASHBOARD_DATA');
  }),
  check('INVALID_DASHBOARD_DATA 400: uploaded JSON lacks the data object', async (stage) => {
    expectRefusal(await sendForm(stage, await target.input(stage), { layout: [] }), 400, 'INVALID_DASHBOARD_DATA');
  }),
  check('multipart on the legacy path: id and error only', async (stage) => {
    const answer = await sendForm(stage, await target.input(stage), undefined, legacyPath);
    await keep(stage, expectOk(answer, both(fields({ id: filled, error: nothing }), without('name'))));
  }),
];

const templates: readonly Check[] = [
  check('templateDashboardId: a template is cloned', async (stage) => {
    await create(stage, { templateDashboardId: (await stage.board()).dashboardId });
  }),
  ...['GALLERY', 'METRIC'].map((metricImportMode) =>
    check(`isImportMetrics with metricImportMode ${metricImportMode}`, async (stage) => {
      const { dashboardId } = await stage.board();
      await create(stage, { templateDashboardId: dashboardId, isImportMetrics: true, metricImportMode });
    }),
  ),
  check('TEMPLATE_DASHBOARD_ERROR 400: invalid template dashboard id', async (stage) => {
    const input = { ...(await target.input(stage)), templateDashboardId: stage.name('nothing') };
    expectRefusal(await sendTo(stage, target, input), 400, 'TEMPLATE_DASHBOARD_ERROR');
  }),
];

const names: readonly Check[] = [
  takes('Response 200: {id, error, name}; name is dashboardId', {}),
  takes('name equals the request name', { name: 'A name of its own' }),
  check('the legacy path returns id and error only', async (stage) => {
    const answer = await sendTo(stage, { ...target, path: legacyPath }, await target.input(stage));
    await keep(stage, expectOk(answer, both(fields({ id: filled, error: nothing }), without('name'))));
  }),
  check(
    'isRenameDashboard true with name: the display name is name',
    isShown({ name: 'Renamed', isRenameDashboard: true }, () => 'Renamed'),
  ),
  check(
    'otherwise the display name is {dashboardId}_{clientId}',
    isShown({ name: 'Other' }, (id, clientId) => `${id}_${clientId}`),
  ),
  check('INVALID_DASHBOARD_ID 400: dashboard id already exists', async (stage) => {
    const id = await create(stage, {});
    const input = withValue(await target.input(stage), 'dashboardId', id);
    expectRefusal(await sendTo(stage, target, input), 400, 'INVALID_DASHBOARD_ID');
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
    check(`accessSettings.${field} may be ${JSON.stringify(value)}`, async (stage) => {
      const settings = await stage.accessSettings();
      await create(stage, { accessSettings: withValue(settings, field, value) });
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
  check('a workspace that does not exist is 400', async (stage) => {
    const input = withValue(await target.input(stage), 'workspaceName', stage.name('nothing'));
    expectRefusal(await sendTo(stage, target, input), 400, ['WORKSPACE_ID_ERROR', 'INVALID_WORKSPACE_NAME']);
  }),
  check('CLIENT_ID_ERROR 400: invalid client id', async (stage) => {
    const input = withValue(await target.input(stage), 'clientId', '');
    expectRefusal(await sendTo(stage, target, input), 400, ['CLIENT_ID_ERROR', 'INVALID_REQUEST_BODY']);
  }),
  ...guards(target, { statuses: 401, codes: 'INVALID_DATA_APP_API_KEY' }),
];
