/** Operations that Guestlist adds to the interface; checked with `--ours` only. */
import { type Check, checksOf, ours } from '../kit/check.js';
import type { CheckContext } from '../kit/context.js';
import {
  anyRefusal,
  exactly,
  expectOk,
  expectRefusal,
  expectThat,
  fields,
  filled,
  listOf,
  nothing,
  orNull,
  rowsOf,
  type Shape,
  text,
  timestamp,
  without,
} from '../kit/expect.js';
import type { Json, Method } from '../kit/wire.js';

const check = checksOf('additions');
const api = '/api/v2';

const asService = (
  context: CheckContext,
  method: Method,
  path: string,
  parts: { query?: Record<string, string>; body?: Json } = {},
) => context.send({ method, path: `${api}${path}`, bearer: context.serviceToken, ...parts });

const withKey = async (
  context: CheckContext,
  method: Method,
  path: string,
  parts: { query?: Record<string, string>; body?: Json } = {},
) => context.send({ method, path: `${api}${path}`, bearer: (await context.app()).key, ...parts });

const page = (item: Shape): Shape => fields({ data: listOf(item) });

const keyItem = fields({ name: text, createdAt: timestamp, lastUsedAt: orNull(timestamp), keyHint: text });

const keys: readonly Check[] = [
  check(
    'POST /data-app/api-tokens answers {key}; GET lists it by name, never the key; DELETE ends it',
    async (context) => {
      const dataAppName = await context.appName();
      const name = context.name('second');
      const { key } = expectOk(
        await asService(context, 'POST', '/data-app/api-tokens', { body: { dataAppName, name } }),
        fields({ key: filled }),
      );
      const listed = await asService(context, 'GET', '/data-app/api-tokens', { query: { dataAppName } });
      const rows = rowsOf(expectOk(listed, page(keyItem)));
      expectThat(
        rows.some((row) => row.name === name),
        'it is not listed',
      );
      expectThat(!listed.text.includes(String(key)), 'the listing holds the key');
      expectOk(
        await asService(context, 'DELETE', '/data-app/api-tokens', { query: { dataAppName, name } }),
        fields({ name: exactly(name) }),
      );
      const body = { clientId: context.clientId, dataAppName };
      const after = await context.send({
        method: 'POST',
        path: `${api}/guest-token/create`,
        body,
        bearer: String(key),
      });
      expectRefusal(after, 401, 'AUTHENTICATION_ERROR');
    },
  ),
  check('POST /data-app/api-tokens: an unknown data app is 400 DATA_APP_NOT_FOUND', async (context) => {
    const body = { dataAppName: context.name('nobody'), name: 'key' };
    expectRefusal(await asService(context, 'POST', '/data-app/api-tokens', { body }), 400, 'DATA_APP_NOT_FOUND');
  }),
];

const listings: readonly Check[] = [
  check('GET /data-app lists data apps with their embeds', async (context) => {
    const embed = fields({ name: text, embedId: filled, createdAt: timestamp, updatedAt: timestamp });
    const app = fields({
      name: filled,
      type: exactly('embedded'),
      createdAt: timestamp,
      updatedAt: timestamp,
      embedCount: (value, at) => (typeof value === 'number' ? undefined : `${at} is no number`),
      embeds: listOf(embed),
    });
    expectOk(await asService(context, 'GET', '/data-app'), page(app));
  }),
  check('GET /datasource lists names, without credentials', async (context) => {
    const answer = await asService(context, 'GET', '/datasource');
    const item: Shape = (value, at) =>
      fields({ name: filled })(value, at) ?? without('credentials', 'password', 'path', 'host')(value, at);
    expectOk(answer, page(item));
  }),
  check('GET /workspace lists names', async (context) => {
    expectOk(await asService(context, 'GET', '/workspace'), page(fields({ name: filled })));
  }),
  check('GET /data-app/embeds lists the data app’s embeds', async (context) => {
    const { embedId } = await context.board();
    const answer = await withKey(context, 'GET', '/data-app/embeds');
    const item = fields({ embedId: filled, embedType: text, name: text });
    const rows = rowsOf(expectOk(answer, fields({ data: listOf(item), error: nothing })));
    expectThat(
      rows.some((row) => row.embedId === embedId),
      'an embed is not listed',
    );
  }),
  check('GET /data-app/metrics lists the metrics that a client reads through an embed', async (context) => {
    const { embedId } = await context.board();
    const answer = await withKey(context, 'GET', '/data-app/metrics', {
      query: { embedId, clientId: context.clientId },
    });
    expectOk(answer, page(fields({ name: text, metricId: filled })));
  }),
];

const tokens: readonly Check[] = [
  check('GET /guest-token lists grants, never the token; POST /guest-token/revoke ends them', async (context) => {
    const body = {
      clientId: context.clientId,
      dataAppName: await context.appName(),
      params: { userIdentifier: context.name('user') },
    };
    const minted = expectOk(await withKey(context, 'POST', '/guest-token/create', { body }), fields({ token: filled }));
    const query = { clientId: context.clientId, userIdentifier: context.name('user') };
    const listed = await withKey(context, 'GET', '/guest-token', { query });
    const item = fields({ id: filled, clientId: text, createdAt: timestamp, expiresAt: orNull(timestamp) });
    expectThat(rowsOf(expectOk(listed, page(item))).length > 0, 'it is not listed');
    expectThat(!listed.text.includes(String(minted.token)), 'the listing holds the token');
    const revoke = { token: minted.token };
    expectOk(
      await withKey(context, 'POST', '/guest-token/revoke', { body: revoke }),
      fields({ data: fields({}), error: nothing }),
    );
    const { dashboardId } = await context.board();
    const path = `${api}/guest/dashboards/${encodeURIComponent(dashboardId)}`;
    expectRefusal(await context.send({ method: 'GET', path, bearer: String(minted.token) }), 401, [
      'AUTHENTICATION_ERROR',
      'TOKEN_EXPIRED',
    ]);
  }),
  check('GET /guest/dashboards/{id}/fields is refused where guests may not create metrics', async (context) => {
    const body = { clientId: context.clientId, dataAppName: await context.appName() };
    const minted = expectOk(await withKey(context, 'POST', '/guest-token/create', { body }), fields({ token: filled }));
    const { dashboardId } = await context.board();
    const path = `${api}/guest/dashboards/${encodeURIComponent(dashboardId)}/fields`;
    expectRefusal(await context.send({ method: 'GET', path, bearer: String(minted.token) }), 403, 'UNAUTHORIZED');
  }),
  check('DELETE /guest/dashboards/{id}/layout is refused where guests may not arrange cards', async (context) => {
    const permissions = { isEnableCustomizeLayout: false };
    const body = { clientId: context.clientId, dataAppName: await context.appName(), permissions };
    const minted = expectOk(await withKey(context, 'POST', '/guest-token/create', { body }), fields({ token: filled }));
    const { dashboardId } = await context.board();
    const path = `${api}/guest/dashboards/${encodeURIComponent(dashboardId)}/layout`;
    expectRefusal(await context.send({ method: 'DELETE', path, bearer: String(minted.token) }), 403, 'UNAUTHORIZED');
  }),
  check('GET /guest/dashboards/{id}/metrics is refused where guests may change no metric', async (context) => {
    const names = ['isEnableMetricUpdation', 'isEnableArchiveMetrics', 'isEnableManageMetrics'];
    const permissions = Object.fromEntries(names.map((name) => [name, false]));
    const body = { clientId: context.clientId, dataAppName: await context.appName(), permissions };
    const minted = expectOk(await withKey(context, 'POST', '/guest-token/create', { body }), fields({ token: filled }));
    const { dashboardId } = await context.board();
    const path = `${api}/guest/dashboards/${encodeURIComponent(dashboardId)}/metrics`;
    expectRefusal(await context.send({ method: 'GET', path, bearer: String(minted.token) }), 403, 'UNAUTHORIZED');
  }),
  check('PUT /data-app/embeds/rename answers {id, name, error}', async (context) => {
    const { embedId } = await context.board();
    const body = { embedId, name: 'Renamed' };
    const answer = await withKey(context, 'PUT', '/data-app/embeds/rename', { body });
    expectOk(answer, fields({ id: exactly(embedId), name: exactly('Renamed'), error: nothing }));
  }),
  check('POST /data-app/export-dashboard answers the export envelope', async (context) => {
    const { dashboardId, workspaceName } = await context.board();
    const body = { dashboardId, workspaceName };
    const answer = await asService(context, 'POST', '/data-app/export-dashboard', { body });
    const data = fields({ layout: listOf(fields({})), filters: listOf(fields({})), metrics: listOf(fields({})) });
    expectOk(answer, fields({ _meta: fields({}), data }));
  }),
  check('POST /data-app/dashboards/content/compare says what changed since a content was read', async (context) => {
    const target = await context.board();
    const { dashboardId, workspaceName } = target;
    const query = { dashboardId, workspaceName };
    const read = expectOk(
      await asService(context, 'GET', '/data-app/dashboards/content', { query }),
      fields({ data: fields({}), digest: filled }),
    );
    const body = { ...query, content: read.data };
    const answer = await asService(context, 'POST', '/data-app/dashboards/content/compare', { body });
    expectOk(answer, fields({ data: listOf(fields({})), digest: exactly(read.digest), error: nothing }));
  }),
  check('POST /datasource/sync: an unknown one is 400 DATASOURCE_ID_ERROR', async (context) => {
    const answer = await asService(context, 'POST', '/datasource/sync', { body: { name: context.name('nothing') } });
    expectRefusal(answer, 400, 'DATASOURCE_ID_ERROR');
  }),
  check('GET /data-app/datamarts/tenancy says of each table why a row belongs to whom', async (context) => {
    const datamartName = await context.datamart();
    const answer = await asService(context, 'GET', '/data-app/datamarts/tenancy', { query: { datamartName } });
    const table = fields({ table: filled, kind: filled, path: listOf(fields({})), message: orNull(text) });
    const data = fields({ datamartName: exactly(datamartName), tables: listOf(table) });
    expectOk(answer, fields({ data, error: nothing }));
    const query = { datamartName: context.name('nothing') };
    expectRefusal(await asService(context, 'GET', '/data-app/datamarts/tenancy', { query }), 400, 'INVALID_DATAMART');
  }),
  check('the message of a wrong API key is "API key is invalid or expired"', async (context) => {
    const body = { clientId: context.clientId, dataAppName: 'x' };
    const answer = await context.send({ method: 'POST', path: `${api}/guest-token/create`, body, bearer: 'wrong' });
    expectRefusal(answer, anyRefusal, 'AUTHENTICATION_ERROR');
    expectThat(answer.text.includes('API key is invalid or expired'), 'the message is another');
  }),
];

export const additionChecks: readonly Check[] = [...keys, ...listings, ...tokens].map(ours);
