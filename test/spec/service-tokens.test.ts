/** Service tokens of the organization. Each test leaves the configured token valid. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { call, type House, noon, ok, openHouse, refused, setNow } from './house.js';

let house: House;
beforeAll(async () => {
  house = await openHouse();
});
beforeEach(() => setNow(noon));
afterAll(() => house.close());

const later = (seconds: number): void => setNow(new Date(noon.getTime() + seconds * 1000));
const works = async (bearer: string): Promise<boolean> =>
  (await call(house, 'listServiceTokens', {}, { bearer })).status === 200;
const make = async (name: string): Promise<string> => (await ok(house, 'createServiceToken', { name })).key;
const listed = async () => (await ok(house, 'listServiceTokens', {})).data;
const named = async (name: string) => (await listed()).filter((token) => token.name === name);

test('POST /service-token {name} -> {key}; GET: {data: [{name, createdAt, lastUsedAt, keyHint}]}, never the token', async () => {
  const made = await call(house, 'createServiceToken', { name: 'deployment' });
  expect([made.status, made.body]).toEqual([200, { key: expect.any(String) }]);
  const { key } = made.body as { key: string };
  expect(await works(key)).toBe(true);
  const answer = await call(house, 'listServiceTokens', {});
  expect((answer.body as { data: object[] }).data).toContainEqual({
    name: 'deployment',
    createdAt: noon.toISOString(),
    lastUsedAt: null,
    keyHint: key.slice(-4),
  });
  expect(answer.text).not.toContain(key);
});

test('SERVICE_TOKEN_ALREADY_EXISTS: the name is taken; of ten simultaneous creates, exactly one succeeds', async () => {
  await make('taken');
  expect(await refused('createServiceToken SERVICE_TOKEN_ALREADY_EXISTS', house, { name: 'taken' })).toContain(
    '"taken"',
  );
  const answers = await Promise.all(
    Array.from({ length: 10 }, () => call(house, 'createServiceToken', { name: 'at-once' })),
  );
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, ...Array.from({ length: 9 }, () => 400)]);
});

test('DELETE /service-token: {name}; the token becomes invalid at once, and so does one that it replaced', async () => {
  const token = await make('gone');
  const { key } = await ok(house, 'rotateServiceToken', { expireAt: 3600 }, { bearer: token });
  const answer = await call(house, 'deleteServiceToken', { name: 'gone' });
  expect([answer.status, answer.body]).toEqual([200, { name: 'gone' }]);
  expect([await works(token), await works(key), await named('gone')]).toEqual([false, false, []]);
  expect(await refused('deleteServiceToken SERVICE_TOKEN_NOT_FOUND', house, { name: 'gone' })).toContain('"gone"');
});

test('POST /service-token/rotate {expireAt} -> {key} of the same name; the old token stays valid for that many seconds', async () => {
  const token = await make('turned');
  const { key } = await ok(house, 'rotateServiceToken', { expireAt: 60 }, { bearer: token });
  later(59);
  expect([await works(token), await works(key)]).toEqual([true, true]);
  await refused('rotateServiceToken SERVICE_TOKEN_ALREADY_EXISTS', house, { expireAt: 60 }, { bearer: token });
  later(60);
  expect([await works(token), await works(key)]).toEqual([false, true]);
  expect(await named('turned')).toEqual([expect.objectContaining({ keyHint: key.slice(-4) })]);
});

test('of ten simultaneous rotations, exactly one creates a token', async () => {
  const token = await make('spun');
  const answers = await Promise.all(
    Array.from({ length: 10 }, () => call(house, 'rotateServiceToken', { expireAt: 60 }, { bearer: token })),
  );
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, ...Array.from({ length: 9 }, () => 400)]);
});

test('lastUsedAt survives a restart', async () => {
  const token = await make('used');
  later(10);
  expect(await works(token)).toBe(true);
  await house.stored(async () => {});
  expect((await named('used'))[0]?.lastUsedAt).toBe('2024-04-20T12:00:10.000Z');
});

test('ordered by name, ten per page', async () => {
  for (let index = 0; index < 11; index += 1) await make(`page-${String(index).padStart(2, '0')}`);
  const all = (await listed()).map(({ name }) => name);
  expect(all).toEqual(all.toSorted());
  const { data } = await ok(house, 'listServiceTokens', { isPagination: true, pageNumber: 2 });
  expect(data.map(({ name }) => name)).toEqual(all.slice(10, 20));
});

test('the last token cannot be revoked; of two tokens that revoke each other at once, one is left', async () => {
  const fresh = await openHouse();
  try {
    const [{ name: first } = { name: '' }] = (await ok(fresh, 'listServiceTokens', {})).data;
    const message = await refused('deleteServiceToken INVALID_REQUEST_BODY', fresh, { name: first });
    expect(message).toContain('make another first');
    const { key } = await ok(fresh, 'createServiceToken', { name: 'second' });
    const bearers = [fresh.serviceToken, key];
    const names = ['second', first];
    const answers = await Promise.all(
      bearers.map((bearer, index) => call(fresh, 'deleteServiceToken', { name: names[index] }, { bearer })),
    );
    expect(answers.map(({ status }) => status).toSorted()[0]).toBe(200);
    const alive = await Promise.all(bearers.map((bearer) => call(fresh, 'listServiceTokens', {}, { bearer })));
    expect(alive.filter(({ status }) => status === 200)).toHaveLength(1);
  } finally {
    await fresh.close();
    setNow(noon);
  }
});

test('unknown fields are refused', async () => {
  await refused('createServiceToken INVALID_REQUEST_BODY', house, {});
  await refused('createServiceToken INVALID_REQUEST_BODY', house, { name: 'a', key: 'mine' });
  await refused('listServiceTokens INVALID_REQUEST_BODY', house, { isPagination: true, pageNumber: 'x' });
  await refused('deleteServiceToken INVALID_REQUEST_BODY', house, {});
  for (const expireAt of [-1, 2_592_001, undefined])
    await refused('rotateServiceToken INVALID_REQUEST_BODY', house, { expireAt });
});

test('Auth: the service token', async () => {
  const sent = [null, 'wrong', house.apiKey];
  for (const bearer of sent) {
    await refused('createServiceToken AUTHENTICATION_ERROR', house, { name: 'never' }, { bearer });
    await refused('listServiceTokens AUTHENTICATION_ERROR', house, {}, { bearer });
    await refused('deleteServiceToken AUTHENTICATION_ERROR', house, { name: 'never' }, { bearer });
    await refused('rotateServiceToken AUTHENTICATION_ERROR', house, { expireAt: 0 }, { bearer });
  }
});

test('a configured token that was rotated or revoked does not come back at the next start', async () => {
  const fresh = await openHouse();
  try {
    const { key } = await ok(fresh, 'rotateServiceToken', { expireAt: 0 });
    await fresh.stored(async () => {});
    await refused('listServiceTokens AUTHENTICATION_ERROR', fresh, {});
    const { data } = await ok(fresh, 'listServiceTokens', {}, { bearer: key });
    expect(data).toHaveLength(1);
    const second = (await ok(fresh, 'createServiceToken', { name: 'second' }, { bearer: key })).key;
    await ok(fresh, 'deleteServiceToken', { name: data[0]?.name }, { bearer: second });
    await fresh.stored(async () => {});
    for (const bearer of [fresh.serviceToken, key])
      await refused('listServiceTokens AUTHENTICATION_ERROR', fresh, {}, { bearer });
    expect((await ok(fresh, 'listServiceTokens', {}, { bearer: second })).data).toHaveLength(1);
  } finally {
    await fresh.close();
    setNow(noon);
  }
});
