/** API keys of a data app: listed by name, created, rotated with a grace period, revoked. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { hashToken } from '../../src/platform/keys/keys.js';
import { call, type House, noon, ok, openHouse, refused, setNow } from './house.js';

let house: House;
beforeAll(async () => {
  house = await openHouse();
});
beforeEach(() => setNow(noon));
afterAll(() => house.close());

const later = (seconds: number): void => setNow(new Date(noon.getTime() + seconds * 1000));
const works = async (key: string): Promise<boolean> =>
  (await call(house, 'listEmbeds', {}, { bearer: key })).status === 200;
const make = async (name: string, dataAppName = 'shop'): Promise<string> =>
  (await ok(house, 'createApiKey', { dataAppName, name })).key;
const listed = async (dataAppName = 'shop') => (await ok(house, 'listApiKeys', { dataAppName })).data;
const named = async (name: string) => (await listed()).filter((key) => key.name === name);
const rotate = async (bearer: string, expireAt: number): Promise<string> =>
  (await ok(house, 'rotateApiKey', { expireAt }, { bearer })).key;

describe('POST /data-app/api-tokens', () => {
  test('{dataAppName, name} -> {key}, which works for that data app', async () => {
    const answer = await call(house, 'createApiKey', { dataAppName: 'other', name: 'first', description: 'Of the CI' });
    expect([answer.status, answer.body]).toEqual([200, { key: expect.any(String) }]);
    const { key } = answer.body as { key: string };
    expect(
      await ok(house, 'createGuestToken', { clientId: 'acme', dataAppName: 'other' }, { bearer: key }),
    ).toBeDefined();
    const input = { clientId: 'acme', dataAppName: 'shop' };
    await refused('createGuestToken AUTHENTICATION_ERROR', house, input, { bearer: key });
  });

  test('an unknown app: 400 DATA_APP_NOT_FOUND', async () => {
    const message = await refused('createApiKey DATA_APP_NOT_FOUND', house, { dataAppName: 'nowhere', name: 'a' });
    expect(message).toContain('"nowhere"');
    await refused('listApiKeys DATA_APP_NOT_FOUND', house, { dataAppName: 'nowhere' });
    await refused('deleteApiKey DATA_APP_NOT_FOUND', house, { dataAppName: 'nowhere', name: 'a' });
  });

  test('a name that the data app already has: API_KEY_ALREADY_EXISTS; another data app may use it', async () => {
    await make('taken');
    expect(
      await refused('createApiKey API_KEY_ALREADY_EXISTS', house, { dataAppName: 'shop', name: 'taken' }),
    ).toContain('"taken"');
    await make('taken', 'other');
  });

  test('of ten simultaneous creates with one name, one succeeds', async () => {
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => call(house, 'createApiKey', { dataAppName: 'shop', name: 'at-once' })),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, ...Array.from({ length: 9 }, () => 400)]);
    expect(await named('at-once')).toHaveLength(1);
  });
});

describe('GET /data-app/api-tokens', () => {
  test('{data: [{name, description, createdAt, lastUsedAt, keyHint}]}, never the key', async () => {
    const { key } = await ok(house, 'createApiKey', {
      dataAppName: 'shop',
      name: 'shown',
      description: 'For the shop',
    });
    const answer = await call(house, 'listApiKeys', { dataAppName: 'shop' });
    expect((answer.body as { data: object[] }).data).toContainEqual({
      name: 'shown',
      description: 'For the shop',
      createdAt: noon.toISOString(),
      lastUsedAt: null,
      keyHint: key.slice(-4),
    });
    expect(answer.text).not.toContain(key);
    expect(answer.text).not.toContain(hashToken(key));
  });

  test('a key that was created without a hint has none', async () => {
    expect(await named(house.apiKey)).toEqual([expect.objectContaining({ keyHint: null, description: null })]);
  });

  test('lastUsedAt is written with a delay and survives a restart; a refused request does not count as use', async () => {
    const key = await make('used');
    later(10);
    expect(await works(key)).toBe(true);
    later(20);
    await ok(house, 'rotateApiKey', { expireAt: 1000 }, { bearer: await make('unused') });
    await house.stored(async () => {});
    expect((await named('used'))[0]?.lastUsedAt).toBe('2024-04-20T12:00:10.000Z');
    expect((await named('unused'))[0]?.lastUsedAt).toBeNull();
  });

  test('ordered by name, ten per page', async () => {
    for (let index = 0; index < 11; index += 1) await make(`page-${index}`, 'other');
    const all = (await listed('other')).map(({ name }) => name);
    expect(all).toEqual(all.toSorted());
    const input = { dataAppName: 'other', isPagination: true, pageNumber: 2 };
    expect((await ok(house, 'listApiKeys', input)).data.map(({ name }) => name)).toEqual(all.slice(10, 20));
  });
});

describe('DELETE /data-app/api-tokens', () => {
  test('{name}: the key is invalid at once, and its name is free', async () => {
    const key = await make('gone');
    const answer = await call(house, 'deleteApiKey', { dataAppName: 'shop', name: 'gone' });
    expect([answer.status, answer.body]).toEqual([200, { name: 'gone' }]);
    expect([await works(key), await named('gone')]).toEqual([false, []]);
    const second = await make('gone');
    expect([await works(key), await works(second)]).toEqual([false, true]);
  });

  test('API_KEY_NOT_FOUND: the data app has no key of that name', async () => {
    await make('elsewhere', 'other');
    const input = { dataAppName: 'shop', name: 'elsewhere' };
    expect(await refused('deleteApiKey API_KEY_NOT_FOUND', house, input)).toContain('"elsewhere"');
    await make('once');
    await ok(house, 'deleteApiKey', { dataAppName: 'shop', name: 'once' });
    await refused('deleteApiKey API_KEY_NOT_FOUND', house, { dataAppName: 'shop', name: 'once' });
  });

  test("revoking a key also ends its predecessor's grace period", async () => {
    const key = await make('chain');
    const second = await rotate(key, 3600);
    const third = await rotate(second, 3600);
    await ok(house, 'deleteApiKey', { dataAppName: 'shop', name: 'chain' });
    expect([await works(key), await works(second), await works(third)]).toEqual([false, false, false]);
  });
});

describe('POST /data-app/rotate-api', () => {
  test('{expireAt} -> {key} of the same name; the old key stays valid for that many seconds', async () => {
    const key = await make('turned');
    const second = await rotate(key, 60);
    later(59);
    expect([await works(key), await works(second)]).toEqual([true, true]);
    later(60);
    expect([await works(key), await works(second)]).toEqual([false, true]);
    expect(await named('turned')).toEqual([expect.objectContaining({ keyHint: second.slice(-4) })]);
  });

  test('expireAt 0 ends the old key at once', async () => {
    const key = await make('turned-now');
    const second = await rotate(key, 0);
    expect([await works(key), await works(second)]).toEqual([false, true]);
  });

  test('a key in its grace period cannot be rotated', async () => {
    const key = await make('graceful');
    await rotate(key, 60);
    const message = await refused('rotateApiKey API_KEY_ALREADY_EXISTS', house, { expireAt: 60 }, { bearer: key });
    expect(message).toContain('successor');
  });

  test('of ten simultaneous rotations, exactly one creates a key', async () => {
    const key = await make('spun');
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => call(house, 'rotateApiKey', { expireAt: 60 }, { bearer: key })),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, ...Array.from({ length: 9 }, () => 400)]);
    expect(await named('spun')).toHaveLength(1);
  });

  test('a simultaneous revocation leaves no key of that name', async () => {
    for (let round = 0; round < 5; round += 1) {
      const key = await make('raced');
      const [rotated] = await Promise.all([
        call(house, 'rotateApiKey', { expireAt: 60 }, { bearer: key }),
        ok(house, 'deleteApiKey', { dataAppName: 'shop', name: 'raced' }),
      ]);
      const second = (rotated.body as { key?: string }).key;
      expect([await works(key), second !== undefined && (await works(second))]).toEqual([false, false]);
    }
  });

  test.each([-1, 0.5, 2_592_001, '60', null, undefined])(
    'expireAt %j is not a valid grace period',
    async (expireAt) => {
      const message = await refused('rotateApiKey INVALID_REQUEST_BODY', house, { expireAt });
      expect(message).toContain('expireAt');
    },
  );
});

test('unknown fields and invalid names are refused', async () => {
  await refused('createApiKey INVALID_REQUEST_BODY', house, { dataAppName: 'shop' });
  await refused('createApiKey INVALID_REQUEST_BODY', house, { dataAppName: 'shop', name: '\u0000' });
  await refused('createApiKey INVALID_REQUEST_BODY', house, { dataAppName: 'shop', name: 'a', key: 'mine' });
  await refused('listApiKeys INVALID_REQUEST_BODY', house, {});
  await refused('deleteApiKey INVALID_REQUEST_BODY', house, { dataAppName: 'shop' });
  for (const name of ['__proto__', 'constructor', '日本語', "a'b"]) {
    await make(name);
    expect(await ok(house, 'deleteApiKey', { dataAppName: 'shop', name })).toEqual({ name });
  }
});

test('Auth: the service token; for rotation, the key itself', async () => {
  for (const bearer of [null, 'wrong', house.apiKey]) {
    await refused('createApiKey AUTHENTICATION_ERROR', house, { dataAppName: 'shop', name: 'a' }, { bearer });
    await refused('listApiKeys AUTHENTICATION_ERROR', house, { dataAppName: 'shop' }, { bearer });
    await refused('deleteApiKey AUTHENTICATION_ERROR', house, { dataAppName: 'shop', name: 'a' }, { bearer });
  }
  for (const bearer of [null, 'wrong', house.serviceToken, house.endedKey])
    await refused('rotateApiKey AUTHENTICATION_ERROR', house, { expireAt: 0 }, { bearer });
});
