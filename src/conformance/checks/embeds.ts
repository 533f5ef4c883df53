/** Checks operations 2 (create an embed) and 3 (delete an embed) of the interface specification. */
import { type Check, checksOf, guards, refuses, requires, sendTo, type Target, withValue } from '../kit/check.js';
import type { CheckContext } from '../kit/context.js';
import { expectOk, expectRefusal, expectThat, fields, filled, nothing, rowsOf } from '../kit/expect.js';
import type { Answer, Json } from '../kit/wire.js';
import { settingFaults, settingNames, settingValues } from './access-settings.js';
import { queryable } from './query.js';

const path = '/api/v2/data-app/embeds';
const keyCodes = ['AUTHENTICATION_ERROR', 'INVALID_DATA_APP_API_KEY'];

const target: Target = {
  operation: 'create-embed',
  method: 'POST',
  path,
  credential: 'apiKey',
  in: 'body',
  input: async (context) => {
    const { dashboardId, workspaceName } = await context.board();
    return { dashboardId, workspaceName, embedType: 'dashboard', accessSettings: await context.accessSettings() };
  },
};

/** A metric embed; needs a metric on the dashboard. */
const metricTarget: Target = {
  ...target,
  input: async (context) => {
    const { dashboardId, workspaceName } = await context.board();
    return { dashboardId, workspaceName, embedType: 'metric', metricId: await queryable(context) };
  },
};

const made = fields({ id: filled, error: nothing });

/** Creates an embed, registers it for deletion, and returns its id. */
const embed = async (context: CheckContext, input: Json, at: string = path): Promise<string> => {
  const answer = await sendTo(context, { ...target, path: at }, input);
  const { id } = expectOk(answer, made);
  await context.keep('embed', String(id), (await context.app()).key);
  return String(id);
};

const check = checksOf('create-embed');

const takes = (field: string, value: unknown): Check =>
  check(`${field} may be ${JSON.stringify(value)}`, async (context) => {
    await embed(context, withValue(await target.input(context), field, value));
  });

const create: readonly Check[] = [
  check('Response 200: {id: string, error: null}, for a dashboard', async (context) => {
    await embed(context, await target.input(context));
  }),
  check('for a metric, accessSettings may be left out', async (context) => {
    await embed(context, await metricTarget.input(context));
  }),
  check('accessSettings are optional, not forbidden, for a metric', async (context) => {
    await embed(context, { ...(await metricTarget.input(context)), accessSettings: await context.accessSettings() });
  }),
  check('the legacy path works', async (context) => {
    await embed(context, await target.input(context), '/api/v2/dataApp/embeds');
  }),
  takes('name', 'A name of its own'),
  ...settingValues.map(([field, value]) => takes(`accessSettings.${field}`, value)),
  ...requires(target, ['dashboardId', 'embedType', 'workspaceName', 'accessSettings']),
  ...requires(
    target,
    settingNames.map((name) => `accessSettings.${name}`),
  ),
  ...requires(metricTarget, ['metricId']),
  ...refuses(target, [
    ['embedType', 'report'],
    ['dashboardId', 1],
    ['workspaceName', []],
    ['name', {}],
    ['noSuchField', 1],
    ['accessSettings', 'all'],
    ...settingFaults.map(([field, value]) => [`accessSettings.${field}`, value] as const),
  ]),
  check('404 dashboard not found: INVALID_DASHBOARD_ID', async (context) => {
    const input = withValue(await target.input(context), 'dashboardId', context.name('nothing'));
    expectRefusal(await sendTo(context, target, input), 404, 'INVALID_DASHBOARD_ID');
  }),
  check('404 metric not found', async (context) => {
    const input = withValue(await metricTarget.input(context), 'metricId', context.name('nothing'));
    expectRefusal(await sendTo(context, target, input), 404, ['INVALID_METRIC_ID', 'INVALID_DASHBOARD_ID']);
  }),
  check('INVALID_WORKSPACE_NAME 400: invalid workspace name', async (context) => {
    const input = withValue(await target.input(context), 'workspaceName', context.name('nothing'));
    expectRefusal(await sendTo(context, target, input), 400, 'INVALID_WORKSPACE_NAME');
  }),
  ...guards(target, { statuses: 401, codes: keyCodes }),
];

const deletion = checksOf('delete-embed');
const gone = (id: string) =>
  fields({ id: (value) => (value === id ? undefined : `id is ${value}, not ${id}`), error: nothing });

type Way = (context: CheckContext, embedId: string) => Promise<Answer>;

const byDelete: Way = async (context, embedId) =>
  context.send({ method: 'DELETE', path, query: { embedId }, bearer: (await context.app()).key });
const byPost: Way = async (context, embedId) =>
  context.send({ method: 'POST', path, query: { embedId }, body: { embedId }, bearer: (await context.app()).key });

const removes = (sentence: string, way: Way): readonly Check[] => [
  deletion(`${sentence}: Response 200: {id, error: null}`, async (context) => {
    const id = await embed(context, await target.input(context));
    expectOk(await way(context, id), gone(id));
    expectRefusal(await way(context, id), 400, 'INVALID_REQUEST_BODY');
  }),
  deletion(`${sentence}: an unknown embed is 400 INVALID_REQUEST_BODY`, async (context) => {
    expectRefusal(await way(context, context.name('nothing')), 400, 'INVALID_REQUEST_BODY');
  }),
];

const deleteTarget: Target = {
  operation: 'delete-embed',
  method: 'DELETE',
  path,
  credential: 'apiKey',
  in: 'query',
  input: async (context) => ({ embedId: context.name('nothing') }),
};

const remove: readonly Check[] = [
  ...removes('DELETE with the query parameter embedId', byDelete),
  ...removes('POST with query parameter and body', byPost),
  deletion('a deleted embed can no longer be queried: INVALID_EMBED_ID or EMBED_PARAM_ERROR', async (context) => {
    const id = await embed(context, await target.input(context));
    const body = { embedId: id, metricId: await queryable(context), clientId: context.clientId };
    const bearer = (await context.app()).key;
    expectOk(await byDelete(context, id), gone(id));
    const answer = await context.send({ method: 'POST', path: '/api/v2/data-app/query', body, bearer });
    expectRefusal(answer, 400, ['INVALID_EMBED_ID', 'EMBED_PARAM_ERROR']);
  }),
  deletion('deleting an embed leaves its dashboard', async (context) => {
    const { workspaceName, dashboardId } = await context.board();
    const bearer = (await context.app()).key;
    expectOk(await byDelete(context, await embed(context, await target.input(context))), made);
    const answer = await context.send({
      method: 'POST',
      path: '/api/v2/workspace/dashboards',
      body: { workspaceName },
      bearer,
    });
    const found = rowsOf(expectOk(answer, fields({}))).some((row) => row.externalDashboardId === dashboardId);
    expectThat(found, `dashboard ${dashboardId} is gone`);
  }),
  ...requires(deleteTarget, ['embedId']),
  ...guards(deleteTarget, { statuses: 401, codes: keyCodes }),
];

export const embedChecks: readonly Check[] = [...create, ...remove];
