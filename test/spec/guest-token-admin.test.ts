/** Guest tokens are listed and revoked with the data app's key. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { hashToken } from '../../src/platform/keys/keys.js';
import { call, cloneBoard, type House, type Input, mint, noon, ok, openHouse, refused, setNow } from './house.js';

let house: House;
beforeAll(async () => {
  house = await openHouse();
  await cloneBoard(house, 'acme-board', 'acme');
  await cloneBoard(house, 'globex-board', 'globex');
});
beforeEach(async () => {
  setNow(noon);
  for (const bearer of [house.apiKey, house.otherKey]) await ok(house, 'revokeGuestTokens', { all: true }, { bearer });
});
afterAll(() => house.close());

const later = (seconds: number): void => setNow(new Date(noon.getTime() + seconds * 1000));
const opens = async (token: string, dashboardId = 'acme-board'): Promise<number> =>
  (await call(house, 'getGuestDashboard', { dashboardId }, { bearer: token })).status;
const listed = async (input: Input = {}) => (await ok(house, 'listGuestTokens', input)).data;
const revoke = async (input: Input, bearer?: string): Promise<number> =>
  (await ok(house, 'revokeGuestTokens', input, bearer === undefined ? {} : { bearer })).data.revoked;
const mintOther = async (): Promise<string> =>
  (await ok(house, 'createGuestToken', { clientId: 'acme', dataAppName: 'other' }, { bearer: house.otherKey })).token;

describe('GET /guest-token', () => {
  test('{data: [{id, clientId, createdAt, expiresAt, lastUsedAt}]}, never the token', async () => {
    const token = await mint(house, 'acme', {}, { expiryTime: 60_000 });
    const answer = await call(house, 'listGuestTokens', {});
    expect([answer.status, answer.body]).toEqual([
      200,
      {
        data: [
          {
            id: expect.any(String),
            clientId: 'acme',
            createdAt: noon.toISOString(),
            expiresAt: '2024-04-20T12:01:00.000Z',
            lastUsedAt: null,
          },
        ],
      },
    ]);
    expect(answer.text).not.toContain(token);
    expect(answer.text).not.toContain(hashToken(token));
  });

  test('lists only valid tokens of the key’s own data app', async () => {
    await mint(house, 'acme', {}, { expiryTime: 1000 });
    await mint(house, 'globex');
    await mintOther();
    expect((await listed()).map(({ clientId }) => clientId).toSorted()).toEqual(['acme', 'globex']);
    later(1);
    expect((await listed()).map(({ clientId }) => clientId)).toEqual(['globex']);
    await revoke({ clientId: 'globex' });
    expect(await listed()).toEqual([]);
  });

  test('clientId and userIdentifier narrow the list', async () => {
    await mint(house, 'acme', { userIdentifier: 'ana' });
    later(1);
    await mint(house, 'acme', { userIdentifier: 'bob' });
    await mint(house, 'globex', { userIdentifier: 'ana' });
    await mint(house, 'acme');
    expect(await listed({ clientId: 'acme' })).toHaveLength(3);
    expect((await listed({ userIdentifier: 'ana' })).map(({ clientId }) => clientId)).toEqual(['acme', 'globex']);
    expect(await listed({ clientId: 'acme', userIdentifier: 'ana' })).toHaveLength(1);
    expect(await listed({ clientId: 'Acme' })).toEqual([]);
  });

  test('oldest first, ten a page', async () => {
    for (let index = 0; index < 11; index += 1) {
      later(index);
      await mint(house, 'acme');
    }
    const all = (await listed()).map(({ createdAt }) => createdAt);
    expect(all).toEqual(all.toSorted());
    expect(await listed({ isPagination: true, pageNumber: 1 })).toHaveLength(10);
    expect((await listed({ isPagination: true, pageNumber: 2 })).map(({ createdAt }) => createdAt)).toEqual(
      all.slice(10),
    );
    await refused('listGuestTokens INVALID_REQUEST_BODY', house, { isPagination: true, pageNumber: 'two' });
  });

  test('lastUsedAt survives a restart', async () => {
    const token = await mint(house, 'acme');
    later(10);
    expect(await opens(token)).toBe(200);
    await house.stored(async () => {});
    expect((await listed())[0]?.lastUsedAt).toBe('2024-04-20T12:00:10.000Z');
  });
});

describe('POST /guest-token/revoke', () => {
  test('{clientId}: {data: {revoked}, error: null}; applies from the next read, and only to this client', async () => {
    const tokens = [await mint(house, 'acme'), await mint(house, 'acme', { userIdentifier: 'ana' })];
    const globex = await mint(house, 'globex');
    const answer = await call(house, 'revokeGuestTokens', { clientId: 'acme' });
    expect([answer.status, answer.body]).toEqual([200, { data: { revoked: 2 }, error: null }]);
    expect(await Promise.all(tokens.map((token) => opens(token)))).toEqual([401, 401]);
    expect(await opens(globex, 'globex-board')).toBe(200);
    expect(await opens(await mint(house, 'acme'))).toBe(200);
    expect(await revoke({ clientId: 'acme' })).toBe(1);
  });

  test('{clientId, userIdentifier}: only this user’s tokens', async () => {
    const ana = await mint(house, 'acme', { userIdentifier: 'ana' });
    const bob = await mint(house, 'acme', { userIdentifier: 'bob' });
    const nobody = await mint(house, 'acme');
    const elsewhere = await mint(house, 'globex', { userIdentifier: 'ana' });
    expect(await revoke({ clientId: 'acme', userIdentifier: 'ana' })).toBe(1);
    expect([await opens(ana), await opens(bob), await opens(nobody)]).toEqual([401, 200, 200]);
    expect(await opens(elsewhere, 'globex-board')).toBe(200);
  });

  test('{token} and {id}: only this token', async () => {
    const [first, second] = [await mint(house, 'acme'), await mint(house, 'acme')];
    expect(await revoke({ token: first })).toBe(1);
    expect([await opens(first), await opens(second)]).toEqual([401, 200]);
    const [left] = await listed();
    expect(await revoke({ id: left?.id })).toBe(1);
    expect(await opens(second)).toBe(401);
    expect([await revoke({ id: left?.id }), await revoke({ token: first })]).toEqual([0, 0]);
  });

  test('{all: true}: every token of the data app, and none of another', async () => {
    const tokens = [await mint(house, 'acme'), await mint(house, 'acme', { userIdentifier: 'ana' })];
    const other = await mintOther();
    expect(await revoke({ all: true })).toBe(2);
    expect(await Promise.all(tokens.map((token) => opens(token)))).toEqual([401, 401]);
    // 403: the token is valid, but the board belongs to another data app.
    expect(await opens(other)).toBe(403);
  });

  test("another data app's id, token or client revokes nothing", async () => {
    const token = await mint(house, 'acme');
    const [{ id } = { id: '' }] = await listed();
    for (const input of [{ id }, { token }, { clientId: 'acme' }, { all: true }])
      expect(await revoke(input, house.otherKey)).toBe(0);
    expect(await opens(token)).toBe(200);
  });

  test('expired tokens are not counted', async () => {
    await mint(house, 'acme', {}, { expiryTime: 1000 });
    await mint(house, 'acme');
    later(1);
    expect(await revoke({ clientId: 'acme' })).toBe(1);
  });

  test("a revoked token's refusal asks for a new token", async () => {
    const token = await mint(house, 'acme');
    await revoke({ token });
    const message = await refused(
      'getGuestDashboard AUTHENTICATION_ERROR',
      house,
      { dashboardId: 'acme-board' },
      { bearer: token },
    );
    expect(message).toContain('ask the host application for a new one');
  });

  test.each([
    ['nothing', {}],
    ['two forms', { id: 'a', token: 'b' }],
    ['a client and all', { clientId: 'acme', all: true }],
    ['a user without a client', { userIdentifier: 'ana' }],
    ['all that is not true', { all: false }],
    ['an empty client', { clientId: '' }],
    ['a field of no form', { clientId: 'acme', dataAppName: 'other' }],
  ])('%s: INVALID_REQUEST_BODY, and nothing is revoked', async (_, input) => {
    const token = await mint(house, 'acme');
    await refused('revokeGuestTokens INVALID_REQUEST_BODY', house, input);
    expect(await opens(token)).toBe(200);
  });

  test('simultaneous mints and revocations: a token that was answered before a revocation began is invalid after it', async () => {
    const before = await Promise.all(Array.from({ length: 5 }, () => mint(house, 'acme')));
    const [, ...during] = await Promise.all([
      revoke({ clientId: 'acme' }),
      ...Array.from({ length: 10 }, () => mint(house, 'acme')),
    ]);
    expect(await Promise.all(before.map((token) => opens(token)))).toEqual(before.map(() => 401));
    // Each token that was created meanwhile is either invalid or listed.
    const alive = (await Promise.all(during.map((token) => opens(token)))).filter((status) => status === 200);
    expect(await listed()).toHaveLength(alive.length);
  });
});

test('Auth: the API key', async () => {
  for (const bearer of [null, 'wrong', house.serviceToken, house.endedKey, await mint(house, 'acme')]) {
    await refused('listGuestTokens AUTHENTICATION_ERROR', house, {}, { bearer });
    await refused('revokeGuestTokens AUTHENTICATION_ERROR', house, { all: true }, { bearer });
  }
});

test('Auth: the API key, for schedules of the host', async () => {
  const named = { scheduleId: 'any' };
  for (const bearer of [null, 'wrong', house.serviceToken, house.endedKey, await mint(house, 'acme')]) {
    const given = { bearer };
    await refused('createTemplateSchedule AUTHENTICATION_ERROR', house, {}, given);
    await refused('listTemplateSchedules AUTHENTICATION_ERROR', house, {}, given);
    await refused('updateTemplateSchedule AUTHENTICATION_ERROR', house, named, given);
    await refused('deleteTemplateSchedule AUTHENTICATION_ERROR', house, named, given);
    await refused('sendTemplateSchedule AUTHENTICATION_ERROR', house, named, given);
    await refused('listTemplateDeliveries AUTHENTICATION_ERROR', house, named, given);
  }
  const more = { ...named, addresses: [] };
  await refused('createTemplateSchedule INVALID_REQUEST_BODY', house, { dashboardId: 'x', format: 'alert' });
  await refused('listTemplateSchedules INVALID_REQUEST_BODY', house, more);
  await refused('updateTemplateSchedule INVALID_REQUEST_BODY', house, more);
  await refused('deleteTemplateSchedule INVALID_REQUEST_BODY', house, {});
  await refused('sendTemplateSchedule INVALID_REQUEST_BODY', house, more);
  await refused('listTemplateDeliveries INVALID_REQUEST_BODY', house, {});
  await refused('updateTemplateSchedule SCHEDULE_NOT_FOUND', house, named);
});
