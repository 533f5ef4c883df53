/** Changes of a data app to its embeds (settings and name), and finding a single embed without paging. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { call, cloneBoard, type House, metricOf, mint, ok, openHouse, refused, settings } from './house.js';

let house: House;
beforeAll(async () => {
  house = await openHouse();
  await cloneBoard(house, 'mine', 'acme');
});
afterAll(() => house.close());

const update = (accessSettings: object, embedId = 'mine') => ok(house, 'updateEmbed', { embedId, accessSettings });
const seen = async (bearer: string, dashboardId = 'mine') =>
  (await ok(house, 'getGuestDashboard', { dashboardId }, { bearer })).data;

describe('PUT /data-app/embeds: {id, error: null}', () => {
  test('changes the named settings, keeps the others, and takes effect at the next read with any valid token', async () => {
    const bearer = await mint(house, 'acme');
    const metricId = await metricOf(house, 'mine', 'acme', 'revenue');
    const underlying = () =>
      call(house, 'listGuestUnderlying', { metricId, dashboardId: 'mine' }, { bearer }).then(({ status }) => status);
    expect(await underlying()).toBe(200);
    expect(await update({ isAllowUnderlyingData: false, isAllowMetricUpdate: true })).toEqual({
      id: 'mine',
      error: null,
    });
    expect(await underlying()).toBe(403);
    expect((await seen(bearer)).permissions).toMatchObject({
      isEnableMetricUpdation: true,
      isEnableManageMetrics: false,
    });
    await update({ isAllowUnderlyingData: true });
    expect(await underlying()).toBe(200);
    expect((await seen(bearer)).permissions).toMatchObject({ isEnableMetricUpdation: true });
  });

  test.each(['/api/v2/dataApp/embeds', '/api/v2/dataApp/embed/update'])('the same works with %s', async (path) => {
    const answer = await call(house, 'updateEmbed', { embedId: 'mine', accessSettings: {} }, { path });
    expect([answer.status, answer.body]).toEqual([200, { id: 'mine', error: null }]);
    expect(answer.headers.get('deprecation')).toMatch(/^@\d+$/);
  });

  test('datamartName is checked as at creation: INVALID_DATAMART_NAME, and nothing changes', async () => {
    for (const datamartName of ['nowhere', 'orders'])
      await refused('updateEmbed INVALID_DATAMART_NAME', house, { embedId: 'mine', accessSettings: { datamartName } });
    expect((await seen(await mint(house, 'acme'))).dashboardId).toBe('mine');
  });

  test("a datamart that does not fit the dashboard's client: CLIENT_ID_ERROR", async () => {
    const input = { dashboardId: 'free-none', workspaceName: 'all', clientId: 'None' };
    await ok(house, 'createDashboardEmbed', { ...input, accessSettings: { ...settings, datamartName: 'open' } });
    await refused('updateEmbed CLIENT_ID_ERROR', house, {
      embedId: 'free-none',
      accessSettings: { datamartName: 'shop' },
    });
  });

  test('tableTenancySettings for an unknown table, and unknown or wrong fields: INVALID_REQUEST_BODY', async () => {
    const tableTenancySettings = [{ name: 'nowhere', clientColumn: 'x' }];
    for (const accessSettings of [{ tableTenancySettings }, { isAllowed: true }, { isAllowMetricUpdate: 'yes' }])
      await refused('updateEmbed INVALID_REQUEST_BODY', house, { embedId: 'mine', accessSettings });
  });

  test('an embed without settings must get all required settings at once', async () => {
    const { id } = await ok(house, 'createEmbed', {
      embedType: 'metric',
      dashboardId: 'board',
      metricId: 'revenue',
      workspaceName: 'shop',
    });
    const message = await refused('updateEmbed INVALID_REQUEST_BODY', house, {
      embedId: id,
      accessSettings: { isAllowMetricUpdate: true },
    });
    expect(message).toContain('isAllowUnderlyingData');
    expect(await update({ ...settings }, id)).toEqual({ id, error: null });
  });

  test('an unknown embed, or one of another data app: INVALID_EMBED_ID', async () => {
    await refused('updateEmbed INVALID_EMBED_ID', house, { embedId: 'nowhere', accessSettings: {} });
    await refused(
      'updateEmbed INVALID_EMBED_ID',
      house,
      { embedId: 'mine', accessSettings: {} },
      { bearer: house.otherKey },
    );
    await refused(
      'updateEmbed AUTHENTICATION_ERROR',
      house,
      { embedId: 'mine', accessSettings: {} },
      { bearer: house.serviceToken },
    );
  });
});

describe('PUT /data-app/embeds/rename: {id, name, error: null}', () => {
  test('the new name is listed, and the dashboard keeps its name', async () => {
    const answer = await ok(house, 'renameEmbed', { embedId: 'mine', name: 'Numbers' });
    expect(answer).toEqual({ id: 'mine', name: 'Numbers', error: null });
    const { data } = await ok(house, 'listEmbeds', { embedId: 'mine' });
    expect(data).toMatchObject([{ name: 'Numbers', externalDashboard: { name: 'mine_acme' } }]);
  });

  test('an unknown embed, or one of another data app: INVALID_EMBED_ID', async () => {
    await refused('renameEmbed INVALID_EMBED_ID', house, { embedId: 'nowhere', name: 'x' });
    const foreign = { embedId: 'mine', name: 'x' };
    await refused('renameEmbed INVALID_EMBED_ID', house, foreign, { bearer: house.otherKey });
    await refused('renameEmbed AUTHENTICATION_ERROR', house, foreign, { bearer: null });
  });
});

describe('GET /data-app/embeds?embedId=', () => {
  test('returns only that embed, or an empty list, also with paging', async () => {
    const ids = async (input: object, bearer = house.apiKey) =>
      (await ok(house, 'listEmbeds', { ...input }, { bearer })).data.map(({ embedId }) => embedId);
    expect(await ids({ embedId: 'mine' })).toEqual(['mine']);
    expect(await ids({ embedId: 'nowhere' })).toEqual([]);
    expect(await ids({ embedId: 'mine', isPagination: 'true', pageNumber: '2' })).toEqual([]);
    expect(await ids({ embedId: 'mine' }, house.otherKey)).toEqual([]);
  });
});
