/** Sections 6 and 7 of the interface, "Update data app" and "Delete data app", and the list of data apps. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { call, cloneBoard, type House, metricOf, noon, ok, openHouse, refused, setNow, settings } from './house.js';

let house: House;
beforeAll(async () => {
  house = await openHouse();
});
beforeEach(() => setNow(noon));
afterAll(() => house.close());

const opens = async (token: string, dashboardId: string): Promise<number> =>
  (await call(house, 'getGuestDashboard', { dashboardId }, { bearer: token })).status;

/** Creates a data app with a key. */
const app = async (name: string): Promise<string> => {
  await ok(house, 'createDataApp', { name });
  return (await ok(house, 'createApiKey', { dataAppName: name, name: 'backend' })).key;
};

const mintIn = async (dataAppName: string, bearer: string): Promise<string> =>
  (await ok(house, 'createGuestToken', { clientId: 'acme', dataAppName }, { bearer })).token;

test('Body: {name (current name), updateName (new name)}. Response: {name} holding the new name', async () => {
  await ok(house, 'createDataApp', { name: 'old' });
  const answer = await call(house, 'updateDataApp', { name: 'old', updateName: 'new' });
  expect([answer.status, answer.body]).toEqual([200, { name: 'new' }]);
  expect(await ok(house, 'createDataApp', { name: 'old' })).toEqual({ name: 'old' });
});

test('the keys and guest tokens of a renamed data app stay valid, and mints use the new name', async () => {
  const key = await app('before');
  await cloneBoard(house, 'before-board', 'acme', {}, { bearer: key });
  const token = await mintIn('before', key);
  await ok(house, 'updateDataApp', { name: 'before', updateName: 'after' });
  expect(await opens(token, 'before-board')).toBe(200);
  expect(await opens(await mintIn('after', key), 'before-board')).toBe(200);
  await refused(
    'createGuestToken AUTHENTICATION_ERROR',
    house,
    { clientId: 'acme', dataAppName: 'before' },
    { bearer: key },
  );
});

test('renaming to the current name changes nothing', async () => {
  await ok(house, 'createDataApp', { name: 'same' });
  expect(await ok(house, 'updateDataApp', { name: 'same', updateName: 'same' })).toEqual({ name: 'same' });
});

test('DATA_APP_NOT_FOUND: update or delete of an unknown data app', async () => {
  const message = await refused('updateDataApp DATA_APP_NOT_FOUND', house, { name: 'nowhere', updateName: 'here' });
  expect(message).toContain('"nowhere"');
  expect(await refused('deleteDataApp DATA_APP_NOT_FOUND', house, { name: 'nowhere' })).toContain('"nowhere"');
  await refused('deleteDataApp DATA_APP_NOT_FOUND', house, { name: 'Shop' });
});

test('DATA_APP_ALREADY_EXISTS: the new name is taken', async () => {
  await ok(house, 'createDataApp', { name: 'first' });
  await ok(house, 'createDataApp', { name: 'second' });
  const input = { name: 'first', updateName: 'second' };
  expect(await refused('updateDataApp DATA_APP_ALREADY_EXISTS', house, input)).toContain('"second"');
  expect(await ok(house, 'deleteDataApp', { name: 'first' })).toEqual({ name: 'first' });
});

test('of ten simultaneous renames to one name, one succeeds', async () => {
  const names = Array.from({ length: 10 }, (_, index) => `runner-${index}`);
  for (const name of names) await ok(house, 'createDataApp', { name });
  const answers = await Promise.all(names.map((name) => call(house, 'updateDataApp', { name, updateName: 'winner' })));
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, ...Array.from({ length: 9 }, () => 400)]);
  const { data } = await ok(house, 'listDataApps', {});
  expect(data.filter(({ name }) => name === 'winner' || name.startsWith('runner-'))).toHaveLength(10);
});

test('deletion is permanent: its keys, tokens, embeds, dashboards and metrics stop working, and those of other data apps continue', async () => {
  const [doomed, neighbour] = [await app('doomed'), await app('neighbour')];
  for (const [name, key] of [
    ['doomed', doomed],
    ['neighbour', neighbour],
  ] as const)
    await cloneBoard(house, `${name}-board`, 'acme', {}, { bearer: key });
  const accessSettings = { ...settings };
  const shared = { embedType: 'dashboard', dashboardId: 'board', workspaceName: 'shop', accessSettings };
  const { id: sharedEmbed } = await ok(house, 'createEmbed', shared, { bearer: doomed });
  const metricId = await metricOf(house, 'doomed-board', 'acme', 'revenue', { bearer: doomed });
  const tokens = { doomed: await mintIn('doomed', doomed), neighbour: await mintIn('neighbour', neighbour) };
  expect([await opens(tokens.doomed, 'doomed-board'), await opens(tokens.doomed, sharedEmbed)]).toEqual([200, 200]);

  const answer = await call(house, 'deleteDataApp', { name: 'doomed' });
  expect([answer.status, answer.body]).toEqual([200, { name: 'doomed' }]);

  await refused(
    'createGuestToken AUTHENTICATION_ERROR',
    house,
    { clientId: 'acme', dataAppName: 'doomed' },
    { bearer: doomed },
  );
  await refused(
    'getGuestDashboard AUTHENTICATION_ERROR',
    house,
    { dashboardId: 'doomed-board' },
    { bearer: tokens.doomed },
  );
  expect([await opens(tokens.neighbour, 'neighbour-board'), await opens(tokens.neighbour, 'doomed-board')]).toEqual([
    200, 403,
  ]);
  expect((await ok(house, 'listEmbeds', {}, { bearer: neighbour })).data).toHaveLength(1);
  await house.stored(async (store) => {
    expect(await store.metrics.findById(metricId)).toBeUndefined();
    expect(await store.dashboards.findTemplate('board')).toBeDefined();
  });
  // A new data app of the same name contains nothing of the deleted one.
  const again = await app('doomed');
  const token = await mintIn('doomed', again);
  expect([await opens(token, 'doomed-board'), await opens(tokens.doomed, 'doomed-board')]).toEqual([403, 401]);
  expect((await ok(house, 'listEmbeds', {}, { bearer: again })).data).toEqual([]);
});

test('a mint that runs while its data app is deleted is refused, never with 500', async () => {
  const key = await app('going');
  const answers = await Promise.all([
    ...Array.from({ length: 8 }, () =>
      call(house, 'createGuestToken', { clientId: 'acme', dataAppName: 'going' }, { bearer: key }),
    ),
    call(house, 'deleteDataApp', { name: 'going' }),
  ]);
  expect(answers.filter(({ status }) => ![200, 400, 401].includes(status))).toEqual([]);
});

test('GET /data-app: {data: [{name, type: "embedded", createdAt, updatedAt, embedCount, embeds}]}', async () => {
  const key = await app('listed');
  await cloneBoard(house, 'listed-board', 'acme', {}, { bearer: key });
  setNow(new Date(noon.getTime() + 60_000));
  await ok(house, 'updateDataApp', { name: 'listed', updateName: 'listed-2' });
  const { data } = await ok(house, 'listDataApps', {});
  const createdAt = noon.toISOString();
  expect(data.find(({ name }) => name === 'listed-2')).toEqual({
    name: 'listed-2',
    type: 'embedded',
    createdAt,
    updatedAt: '2024-04-20T12:01:00.000Z',
    embedCount: 1,
    embeds: [{ name: 'listed-board', embedId: 'listed-board', createdAt, updatedAt: createdAt }],
  });
  expect(data.map(({ name }) => name)).toEqual(data.map(({ name }) => name).toSorted());
});

test('isPagination and pageNumber: ten items per page', async () => {
  for (let index = 0; index < 11; index += 1) await ok(house, 'createDataApp', { name: `page-${index}` });
  const all = (await ok(house, 'listDataApps', {})).data.map(({ name }) => name);
  const pageOf = async (pageNumber: number) =>
    (await ok(house, 'listDataApps', { isPagination: true, pageNumber })).data.map(({ name }) => name);
  expect([await pageOf(1), await pageOf(2)]).toEqual([all.slice(0, 10), all.slice(10, 20)]);
  expect(await pageOf(1000)).toEqual([]);
  await refused('listDataApps INVALID_REQUEST_BODY', house, { isPagination: true, pageNumber: 0 });
});

test('unknown fields are refused', async () => {
  await refused('updateDataApp INVALID_REQUEST_BODY', house, { name: 'shop' });
  await refused('updateDataApp INVALID_REQUEST_BODY', house, { name: 'shop', updateName: '' });
  await refused('updateDataApp INVALID_REQUEST_BODY', house, { name: 'shop', updateName: 'x', id: 1 });
  await refused('deleteDataApp INVALID_REQUEST_BODY', house, {});
});

test('Auth: the service token', async () => {
  for (const bearer of [null, 'wrong', house.apiKey]) {
    await refused('updateDataApp AUTHENTICATION_ERROR', house, { name: 'shop', updateName: 'never' }, { bearer });
    await refused('deleteDataApp AUTHENTICATION_ERROR', house, { name: 'shop' }, { bearer });
    await refused('listDataApps AUTHENTICATION_ERROR', house, {}, { bearer });
  }
});
