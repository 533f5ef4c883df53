/** Operations that Guestlist adds to the interface: tried with `--ours` only. */
import { type Check, checksOf, ours } from '../kit/check.js';
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
import type { Stage } from '../kit/stage.js';
import type { Json, Method } from '../kit/wire.js';

const check = checksOf('additions');
const api = '/api/v2';

const asService = (
  stage: Stage,
  method: Method,
  path: string,
  parts: { query?: Record<string, string>; body?: Json } = {},
) => stage.send({ method, path: `${api}${path}`, bearer: stage.serviceToken, ...parts });

const withKey = async (
  stage: Stage,
  method: Method,
  path: string,
  parts: { query?: Record<string, string>; body?: Json } = {},
) => stage.send({ method, path: `${api}${path}`, bearer: (await stage.app()).key, ...parts });

const page = (item: Shape): Shape => fields({ data: listOf(item) });

const keyItem = fields({ name: text, createdAt: timestamp, lastUsedAt: orNull(timestamp), keyHint: text });

const keys: readonly Check[] = [
  check(
    'POST /data-app/api-tokens answers {key}; GET lists it by name, never the key; DELETE ends it',
    async (stage) => {
      const dataAppName = await stage.appName();
      const name = stage.name('second');
      const { key } = expectOk(
        await asService(stage, 'POST', '/data-app/api-tokens', { body: { dataAppName, name } }),
        fields({ key: filled }),
      );
      const listed = await asService(stage, 'GET', '/data-app/api-tokens', { query: { dataAppName } });
      const rows = rowsOf(expectOk(listed, page(keyItem)));
      expectThat(
        rows.some((row) => row.name === name),
        'it is not listed',
      );
      expectThat(!listed.text.includes(String(key)), 'the listing holds the key');
      expectOk(
        await asService(stage, 'DELETE', '/data-app/api-tokens', { query: { dataAppName, name } }),
        fields({ name: exactly(name) }),
      );
      const body = { clientId: stage.clientId, dataAppName };
      const after = await stage.send({ method: 'POST', path: `${api}/guest-token/create`, body, bearer: String(key) });
      expectRefusal(after, 401, 'AUTHENTICATION_ERROR');
    },
  ),
  check('POST /data-app/api-tokens: an unknown data app is 400 DATA_APP_NOT_FOUND', async (stage) => {
    const body = { dataAppName: stage.name('nobody'), name: 'key' };
    expectRefusal(await asService(stage, 'POST', '/data-app/api-tokens', { body }), 400, 'DATA_APP_NOT_FOUND');
  }),
];

const listings: readonly Check[] = [
  check('GET /data-app lists data apps with their embeds', async (stage) => {
    const embed = fields({ name: text, embedId: filled, createdAt: timestamp, updatedAt: timestamp });
    const app = fields({
      name: filled,
      type: exactly('embedded'),
      createdAt: timestamp,
      updatedAt: timestamp,
      embedCount: (value, at) => (typeof value === 'number' ? undefined : `${at} is no number`),
      embeds: listOf(embed),
    });
    expectOk(await asService(stage, 'GET', '/data-app'), page(app));
  }),
  check('GET /datasource lists names, without credentials', async (stage) => {
    const answer = await asService(stage, 'GET', '/datasource');
    const item: Shape = (value, at) =>
      fields({ name: filled })(value, at) ?? without('credentials', 'password', 'path', 'host')(value, at);
    expectOk(answer, page(item));
  }),
  check('GET /workspace lists names', async (stage) => {
    expectOk(await asService(stage, 'GET', '/workspace'), page(fields({ name: filled })));
  }),
  check('GET /data-app/embeds lists the data app’s embeds', async (stage) => {
    const { embedId } = await stage.board();
    const answer = await withKey(stage, 'GET', '/data-app/embeds');
    const item = fields({ embedId: filled, embedType: text, name: text });
    const rows = rowsOf(expectOk(answer, fields({ data: listOf(item), error: nothing })));
    expectThat(
      rows.some((row) => row.embedId === embedId),
      'an embed is not listed',
    );
  }),
  check('GET /data-app/metrics lists the metrics that a client reads through an embed', async (stage) => {
    const { embedId } = await stage.board();
    const answer = await withKey(stage, 'GET', '/data-app/metrics', { query: { embedId, clientId: stage.clientId } });
    expectOk(answer, page(fields({ name: text, metricId: filled })));
  }),
];

const tokens: readonly Check[] = [
  check('GET /guest-token lists grants, never the token; POST /guest-token/revoke ends them', async (stage) => {
    const body = {
      clientId: stage.clientId,
      dataAppName: await stage.appName(),
      params: { userIdentifier: stage.name('user') },
    };
    const minted = expectOk(await withKey(stage, 'POST', '/guest-token/create', { body }), fields({ token: filled }));
    const query = { clientId: stage.clientId, userIdentifier: stage.name('user') };
    const listed = await withKey(stage, 'GET', '/guest-token', { query });
    const item = fields({ id: filled, clientId: text, createdAt: timestamp, expiresAt: orNull(timestamp) });
    expectThat(rowsOf(expectOk(listed, page(item))).length > 0, 'it is not listed');
    expectThat(!listed.text.includes(String(minted.token)), 'the listing holds the token');
    const revoke = { token: minted.token };
    expectOk(
      await withKey(stage, 'POST', '/guest-token/revoke', { body: revoke }),
      fields({ data: fields({}), error: nothing }),
    );
    const { dashboardId } = await stage.board();
    const path = `${api}/guest/dashboards/${encodeURIComponent(dashboardId)}`;
    expectRefusal(await stage.send({ method: 'GET', path, bearer: String(minted.token) }), 401, [
      'AUTHENTICATION_ERROR',
      'TOKEN_EXPIRED',
    ]);
  }),
  check('PUT /data-app/embeds/rename answers {id, name, error}', async (stage) => {
    const { embedId } = await stage.board();
    const body = { embedId, name: 'Renamed' };
    const answer = await withKey(stage, 'PUT', '/data-app/embeds/rename', { body });
    expectOk(answer, fields({ id: exactly(embedId), name: exactly('Renamed'), error: nothing }));
  }),
  check('POST /data-app/export-dashboard answers the export envelope', async (stage) => {
    const { dashboardId, workspaceName } = await stage.board();
    const body = { dashboardId, workspaceName };
    const answer = await asService(stage, 'POST', '/data-app/export-dashboard', { body });
    const data = fields({ layout: listOf(fields({})), filters: listOf(fields({})), metrics: listOf(fields({})) });
    expectOk(answer, fields({ _meta: fields({}), data }));
  }),
  check('POST /datasource/sync: an unknown one is 400 DATASOURCE_ID_ERROR', async (stage) => {
    const answer = await asService(stage, 'POST', '/datasource/sync', { body: { name: stage.name('nothing') } });
    expectRefusal(answer, 400, 'DATASOURCE_ID_ERROR');
  }),
  check('GET /data-app/datamarts/tenancy says of each table why a row belongs to whom', async (stage) => {
    const datamartName = await stage.datamart();
    const answer = await asService(stage, 'GET', '/data-app/datamarts/tenancy', { query: { datamartName } });
    const table = fields({ table: filled, kind: filled, path: listOf(fields({})), message: orNull(text) });
    const data = fields({ datamartName: exactly(datamartName), tables: listOf(table) });
    expectOk(answer, fields({ data, error: nothing }));
    const query = { datamartName: stage.name('nothing') };
    expectRefusal(await asService(stage, 'GET', '/data-app/datamarts/tenancy', { query }), 400, 'INVALID_DATAMART');
  }),
  check('the message of a wrong API key is "API key is invalid or expired"', async (stage) => {
    const body = { clientId: stage.clientId, dataAppName: 'x' };
    const answer = await stage.send({ method: 'POST', path: `${api}/guest-token/create`, body, bearer: 'wrong' });
    expectRefusal(answer, anyRefusal, 'AUTHENTICATION_ERROR');
    expectThat(answer.text.includes('API key is invalid or expired'), 'the message is another');
  }),
];

export const additionChecks: readonly Check[] = [...keys, ...listings, ...tokens].map(ours);
