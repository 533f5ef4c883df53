/** 2. Create embed for an existing dashboard or metric, and 3. Delete embed. */
import { type Check, checksOf, guards, refuses, requires, sendTo, type Target, withValue } from '../kit/check.js';
import { expectOk, expectRefusal, expectThat, fields, filled, nothing, rowsOf } from '../kit/expect.js';
import type { Stage } from '../kit/stage.js';
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
  input: async (stage) => {
    const { dashboardId, workspaceName } = await stage.board();
    return { dashboardId, workspaceName, embedType: 'dashboard', accessSettings: await stage.accessSettings() };
  },
};

/** A metric's embed; it needs a metric that is on the dashboard. */
const metricTarget: Target = {
  ...target,
  input: async (stage) => {
    const { dashboardId, workspaceName } = await stage.board();
    return { dashboardId, workspaceName, embedType: 'metric', metricId: await queryable(stage) };
  },
};

const made = fields({ id: filled, error: nothing });

/** Sends a creation, keeps the embed for removal, and answers its id. */
const embed = async (stage: Stage, input: Json, at: string = path): Promise<string> => {
  const answer = await sendTo(stage, { ...target, path: at }, input);
  const { id } = expectOk(answer, made);
  await stage.keep('embed', String(id), (await stage.app()).key);
  return String(id);
};

const check = checksOf('create-embed');

const takes = (field: string, value: unknown): Check =>
  check(`${field} may be ${JSON.stringify(value)}`, async (stage) => {
    await embed(stage, withValue(await target.input(stage), field, value));
  });

const create: readonly Check[] = [
  check('Response 200: {id: string, error: null}, for a dashboard', async (stage) => {
    await embed(stage, await target.input(stage));
  }),
  check('for a metric, accessSettings may be left out', async (stage) => {
    await embed(stage, await metricTarget.input(stage));
  }),
  check('accessSettings are optional, not forbidden, for a metric', async (stage) => {
    await embed(stage, { ...(await metricTarget.input(stage)), accessSettings: await stage.accessSettings() });
  }),
  check('the legacy path works', async (stage) => {
    await embed(stage, await target.input(stage), '/api/v2/dataApp/embeds');
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
  check('404 dashboard not found: INVALID_DASHBOARD_ID', async (stage) => {
    const input = withValue(await target.input(stage), 'dashboardId', stage.name('nothing'));
    expectRefusal(await sendTo(stage, target, input), 404, 'INVALID_DASHBOARD_ID');
  }),
  check('404 metric not found', async (stage) => {
    const input = withValue(await metricTarget.input(stage), 'metricId', stage.name('nothing'));
    expectRefusal(await sendTo(stage, target, input), 404, ['INVALID_METRIC_ID', 'INVALID_DASHBOARD_ID']);
  }),
  check('INVALID_WORKSPACE_NAME 400: invalid workspace name', async (stage) => {
    const input = withValue(await target.input(stage), 'workspaceName', stage.name('nothing'));
    expectRefusal(await sendTo(stage, target, input), 400, 'INVALID_WORKSPACE_NAME');
  }),
  ...guards(target, { statuses: 401, codes: keyCodes }),
];

const deletion = checksOf('delete-embed');
const gone = (id: string) =>
  fields({ id: (value) => (value === id ? undefined : `id is ${value}, not ${id}`), error: nothing });

type Way = (stage: Stage, embedId: string) => Promise<Answer>;

const byDelete: Way = async (stage, embedId) =>
  stage.send({ method: 'DELETE', path, query: { embedId }, bearer: (await stage.app()).key });
const byPost: Way = async (stage, embedId) =>
  stage.send({ method: 'POST', path, query: { embedId }, body: { embedId }, bearer: (await stage.app()).key });

const removes = (sentence: string, way: Way): readonly Check[] => [
  deletion(`${sentence}: Response 200: {id, error: null}`, async (stage) => {
    const id = await embed(stage, await target.input(stage));
    expectOk(await way(stage, id), gone(id));
    expectRefusal(await way(stage, id), 400, 'INVALID_REQUEST_BODY');
  }),
  deletion(`${sentence}: an unknown embed is 400 INVALID_REQUEST_BODY`, async (stage) => {
    expectRefusal(await way(stage, stage.name('nothing')), 400, 'INVALID_REQUEST_BODY');
  }),
];

const deleteTarget: Target = {
  operation: 'delete-embed',
  method: 'DELETE',
  path,
  credential: 'apiKey',
  in: 'query',
  input: async (stage) => ({ embedId: stage.name('nothing') }),
};

const remove: readonly Check[] = [
  ...removes('DELETE with the query parameter embedId', byDelete),
  ...removes('POST with query parameter and body', byPost),
  deletion('a deleted embed can no longer be queried: INVALID_EMBED_ID or EMBED_PARAM_ERROR', async (stage) => {
    const id = await embed(stage, await target.input(stage));
    const body = { embedId: id, metricId: await queryable(stage), clientId: stage.clientId };
    const bearer = (await stage.app()).key;
    expectOk(await byDelete(stage, id), gone(id));
    const answer = await stage.send({ method: 'POST', path: '/api/v2/data-app/query', body, bearer });
    expectRefusal(answer, 400, ['INVALID_EMBED_ID', 'EMBED_PARAM_ERROR']);
  }),
  deletion('deleting an embed leaves its dashboard', async (stage) => {
    const { workspaceName, dashboardId } = await stage.board();
    const bearer = (await stage.app()).key;
    expectOk(await byDelete(stage, await embed(stage, await target.input(stage))), made);
    const answer = await stage.send({
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
