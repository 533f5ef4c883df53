/** Section 3 of the interface, "Delete embed", and tokens whose embed or dashboard was deleted. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { request } from '../product/guest.js';
import { call, cloneBoard, type House, metricOf, mint, ok, openHouse, refused, settings } from './house.js';

let house: House;
beforeAll(async () => {
  house = await openHouse();
});
afterAll(() => house.close());

const embedOf = async (dashboardId: string, parts = {}) =>
  (
    await ok(house, 'createEmbed', {
      embedType: 'dashboard',
      dashboardId,
      workspaceName: 'shop',
      accessSettings: settings,
      ...parts,
    })
  ).id;
const isListed = async (id: string) =>
  (await ok(house, 'listEmbeds', { embedId: id })).data.some(({ embedId }) => embedId === id);
const opens = async (dashboardId: string, bearer: string) =>
  (await call(house, 'getGuestDashboard', { dashboardId }, { bearer })).status;
const send = (method: string, path: string, body?: unknown) =>
  request(`${house.url()}${path}`, {
    method,
    headers: { authorization: `Bearer ${house.apiKey}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });

describe('the path is DELETE with query embedId; request examples send POST with query and body', () => {
  test.each(['data-app/embeds', 'dataApp/embeds'])('DELETE /api/v2/%s?embedId=: {id, error: null}', async (path) => {
    const id = await embedOf('board');
    const answer = await send('DELETE', `/api/v2/${path}?embedId=${id}`);
    expect([answer.status, answer.body]).toEqual([200, { id, error: null }]);
    expect(await isListed(id)).toBe(false);
  });

  test.each(['data-app/embeds', 'dataApp/embeds'])(
    'POST /api/v2/%s with the embed in query and body deletes',
    async (path) => {
      const id = await embedOf('board');
      const answer = await send('POST', `/api/v2/${path}?embedId=${id}`, { embedId: id });
      expect([answer.status, answer.body]).toEqual([200, { id, error: null }]);
      expect(await isListed(id)).toBe(false);
    },
  );

  test('POST /api/v2/dataApp/embed/delete has the id in the body, and answers with a Deprecation header', async () => {
    const id = await embedOf('board');
    const answer = await send('POST', '/api/v2/dataApp/embed/delete', { embedId: id });
    expect([answer.status, answer.body]).toEqual([200, { id, error: null }]);
    expect(answer.headers.get('deprecation')).toMatch(/^@\d+$/);
  });

  test.each([
    ['another id in the body', (id: string) => ({ embedId: `${id}x` })],
    ['more in the body', (id: string) => ({ embedId: id, name: 'x' })],
    ['nothing in the body', () => ({})],
  ])('a POST with %s creates an embed and deletes none', async (_, body) => {
    const id = await embedOf('board');
    expect((await send('POST', `/api/v2/data-app/embeds?embedId=${id}`, body(id))).status).toBe(400);
    expect(await isListed(id)).toBe(true);
  });
});

describe('Unknown embed: 400 INVALID_REQUEST_BODY', () => {
  test("an unknown, an already deleted and another data app's embed get the same answer", async () => {
    await refused('deleteEmbed INVALID_REQUEST_BODY', house, { embedId: 'nowhere' });
    const id = await embedOf('board');
    await refused('deleteEmbed INVALID_REQUEST_BODY', house, { embedId: id }, { bearer: house.otherKey });
    expect(await isListed(id)).toBe(true);
    await ok(house, 'deleteEmbed', { embedId: id });
    await refused('deleteEmbed INVALID_REQUEST_BODY', house, { embedId: id });
  });

  test('without a key, or with a service token: AUTHENTICATION_ERROR', async () => {
    await refused('deleteEmbed AUTHENTICATION_ERROR', house, { embedId: 'x' }, { bearer: null });
    await refused('deleteEmbed AUTHENTICATION_ERROR', house, { embedId: 'x' }, { bearer: house.serviceToken });
  });
});

describe('tokens of a deleted embed', () => {
  test('a token that names only this embed stops working; a token that names another one too continues', async () => {
    const [gone, kept] = [await embedOf('board'), await embedOf('board')];
    const only = await mint(house, 'acme', { allowedEmbeds: [gone] });
    const both = await mint(house, 'acme', { allowedEmbeds: [kept, gone] });
    await ok(house, 'deleteEmbed', { embedId: gone });
    await refused('getGuestDashboard AUTHENTICATION_ERROR', house, { dashboardId: gone }, { bearer: only });
    expect([await opens(gone, both), await opens(kept, both)]).toEqual([403, 200]);
  });

  test('a deleted metric embed no longer serves its metric', async () => {
    const id = await embedOf('board', { embedType: 'metric', metricId: 'revenue', accessSettings: undefined });
    const bearer = await mint(house, 'acme');
    expect((await call(house, 'getGuestMetric', { metricId: id }, { bearer })).status).toBe(200);
    await ok(house, 'deleteEmbed', { embedId: id });
    await refused('getGuestMetric UNAUTHORIZED', house, { metricId: id }, { bearer });
  });

  test('if embed and dashboard are deleted and created again with the same id and client, the old token stays refused', async () => {
    await cloneBoard(house, 'again', 'acme');
    const other = await embedOf('board');
    const only = await mint(house, 'acme', { allowedEmbeds: ['again'] });
    const both = await mint(house, 'acme', { allowedEmbeds: [other, 'again'] });
    expect([await opens('again', only), await opens('again', both)]).toEqual([200, 200]);
    await ok(house, 'deleteEmbed', { embedId: 'again' });
    await ok(house, 'deleteDashboard', { dashboardId: 'again' });
    await cloneBoard(house, 'again', 'acme');
    expect([await opens('again', only), await opens('again', both)]).toEqual([401, 403]);
    expect(await opens('again', await mint(house, 'acme', { allowedEmbeds: ['again'] }))).toBe(200);
  });

  test('the same holds if only the dashboard is deleted', async () => {
    await cloneBoard(house, 'whole', 'acme');
    const only = await mint(house, 'acme', { allowedEmbeds: ['whole'] });
    await ok(house, 'deleteDashboard', { dashboardId: 'whole' });
    await cloneBoard(house, 'whole', 'acme');
    expect(await opens('whole', only)).toBe(401);
  });
});

describe('DELETE /data-app/dashboards?dashboardId= (ours)', () => {
  test("deletes a client's dashboard with its embeds and metrics: {id, error: null}", async () => {
    await cloneBoard(house, 'doomed', 'acme');
    const extra = await embedOf('doomed', { accessSettings: settings });
    const metricId = await metricOf(house, 'doomed', 'acme', 'revenue');
    expect(await ok(house, 'deleteDashboard', { dashboardId: 'doomed' })).toEqual({ id: 'doomed', error: null });
    expect([await isListed('doomed'), await isListed(extra)]).toEqual([false, false]);
    const { data } = await ok(house, 'listMetrics', { workspaceName: 'shop' });
    expect(data.map((metric) => metric.metricId)).toContain('revenue');
    expect(data.map((metric) => metric.metricId)).not.toContain(metricId);
  });

  test("the organization's, another data app's and an unknown dashboard: INVALID_DASHBOARD_ID, and none is deleted", async () => {
    await cloneBoard(house, 'safe', 'acme');
    for (const dashboardId of ['board', 'nowhere'])
      await refused('deleteDashboard INVALID_DASHBOARD_ID', house, { dashboardId });
    await refused('deleteDashboard INVALID_DASHBOARD_ID', house, { dashboardId: 'safe' }, { bearer: house.otherKey });
    expect(await opens('safe', await mint(house, 'acme'))).toBe(200);
    expect((await ok(house, 'listDashboards', { workspaceName: 'shop' })).data).toContainEqual({
      name: 'Dashboard board',
      externalDashboardId: 'board',
    });
  });

  test('requires an API key', () =>
    refused('deleteDashboard AUTHENTICATION_ERROR', house, { dashboardId: 'x' }, { bearer: house.serviceToken }));
});
