/** Erasure of a client, an operation of this project. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { boardOf, create, embedOf, guest, openBoard } from './guests.js';
import { call, cloneBoard, type House, metricOf, mint, ok, openHouse, refused } from './house.js';

let house: House;
beforeAll(async () => {
  house = await openHouse();
});
afterAll(() => house.close());

const opens = async (token: string, dashboardId: string): Promise<number> =>
  (await call(house, 'getGuestDashboard', { dashboardId }, { bearer: token })).status;
const listed = async (): Promise<readonly string[]> =>
  (await ok(house, 'listEmbeds', {})).data.map(({ embedId }) => embedId);
const nothing = {
  dashboards: 0,
  embeds: 0,
  metrics: 0,
  guestMetrics: 0,
  guestLayouts: 0,
  guestViews: 0,
  guestBoards: 0,
  schedules: 0,
  guestTokens: 0,
};

describe('DELETE /data-app/clients?clientId= (ours)', () => {
  test('deletes dashboards, embeds, metrics, content of guests on any dashboard, and tokens, all of this client only', async () => {
    const shared = await embedOf(house, 'board');
    await openBoard(house, 'gone', 'acme');
    await embedOf(house, 'gone');
    await openBoard(house, 'stays', 'globex');
    await cloneBoard(house, 'gone', 'acme', {}, { bearer: house.otherKey });
    const [ann, stranger] = [
      await guest(house, 'acme', { userIdentifier: 'ann' }),
      await guest(house, 'globex', { userIdentifier: 'ann' }),
    ];
    const other = { clientId: 'acme', dataAppName: 'other' };
    const ofOtherApp = (await ok(house, 'createGuestToken', other, { bearer: house.otherKey })).token;
    for (const bearer of [ann, stranger]) {
      const metricId = await create(house, bearer, shared, 'Mine');
      await ok(house, 'createGuestView', { dashboardId: shared, name: 'Mine' }, { bearer });
      const layout = [{ metricId, x: 0, y: 0, w: 6, h: 2 }];
      await ok(house, 'saveGuestLayout', { dashboardId: shared, layout }, { bearer });
      await ok(house, 'createGuestBoard', { dashboardId: shared, name: 'Mine', layout }, { bearer });
    }
    // The template's four metrics, and the one of acme on the organization's board `held`.
    const metrics = 5;
    expect(await ok(house, 'eraseClient', { clientId: 'acme' })).toEqual({
      data: {
        dashboards: 1,
        embeds: 2,
        metrics,
        guestMetrics: 1,
        guestLayouts: 1,
        guestViews: 1,
        guestBoards: 1,
        schedules: 0,
        guestTokens: 1,
      },
      error: null,
    });
    expect(await listed()).toEqual(expect.arrayContaining([shared, 'stays']));
    expect(await listed()).not.toContain('gone');
    expect([await opens(ann, shared), await opens(ann, 'gone')]).toEqual([401, 401]);
    expect([await opens(stranger, shared), await opens(stranger, 'stays'), await opens(ofOtherApp, 'gone')]).toEqual([
      200, 200, 200,
    ]);
    const views = (bearer: string) => ok(house, 'listGuestViews', { dashboardId: shared }, { bearer });
    expect((await views(stranger)).data).toHaveLength(1);
    expect((await views(await guest(house, 'acme', { userIdentifier: 'ann' }))).data).toEqual([]);
    const boards = async (bearer: string) => (await boardOf(house, bearer, shared)).boards;
    expect(await boards(stranger)).toHaveLength(1);
    expect(await boards(await guest(house, 'acme', { userIdentifier: 'ann' }))).toEqual([]);
  });

  test('a second call, and a call for an unknown client, deletes nothing and succeeds', async () => {
    await cloneBoard(house, 'twice', 'initech');
    expect((await ok(house, 'eraseClient', { clientId: 'initech' })).data.dashboards).toBe(1);
    for (const clientId of ['initech', 'Initech', 'nobody']) {
      expect((await ok(house, 'eraseClient', { clientId })).data).toEqual(nothing);
    }
  });

  test('the client may return: its boards are created again, and an old token does not open them', async () => {
    await cloneBoard(house, 'again', 'hooli');
    const old = await mint(house, 'hooli', { allowedEmbeds: ['again'] });
    await ok(house, 'revokeGuestTokens', { clientId: 'hooli', userIdentifier: 'somebody' });
    await ok(house, 'eraseClient', { clientId: 'hooli' });
    await cloneBoard(house, 'again', 'hooli');
    expect(await opens(old, 'again')).toBe(401);
    expect(await opens(await mint(house, 'hooli', { allowedEmbeds: ['again'] }), 'again')).toBe(200);
    expect(await metricOf(house, 'again', 'hooli', 'revenue')).toEqual(expect.any(String));
  });

  test('requires an API key and one clientId', async () => {
    await refused('eraseClient AUTHENTICATION_ERROR', house, { clientId: 'acme' }, { bearer: house.serviceToken });
    await refused('eraseClient AUTHENTICATION_ERROR', house, { clientId: 'acme' }, { bearer: null });
    await refused('eraseClient INVALID_REQUEST_BODY', house, {});
    await refused('eraseClient INVALID_REQUEST_BODY', house, { clientId: '' });
    await refused('eraseClient INVALID_REQUEST_BODY', house, { clientId: 'acme', all: 'true' });
    await refused('eraseClient INVALID_REQUEST_BODY', house, { clientId: 'acme', fence: '-1' });
  });
});
