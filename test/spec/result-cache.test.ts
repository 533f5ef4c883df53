/**
 * The result cache over HTTP: it never answers a caller who may not read, and changes make it query again. It is a
 * feature of this project.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { request } from '../product/guest.js';
import { embedOf, guest } from './guests.js';
import { cloneBoard, type House, type Input, metricOf, mint, ok, openHouse, refused } from './house.js';

let house: House;
let revenue: string;
beforeAll(async () => {
  house = await openHouse();
  await cloneBoard(house, 'acme-board', 'acme');
  revenue = await metricOf(house, 'acme-board', 'acme', 'revenue');
});
afterAll(() => house.close());

/** How often rows came from each source since the last call. */
const seen = new Map<string, number>();
const came = async (): Promise<Record<string, number>> => {
  const { text } = await request(`${house.url()}/metrics`);
  const counts = [...text.matchAll(/^guestlist_query_answers_total\{from="(\w+)"\} (\d+)$/gm)];
  const since = counts.map(([, from = '', count]): [string, number] => [from, Number(count) - (seen.get(from) ?? 0)]);
  for (const [, from = '', count] of counts) seen.set(from, Number(count));
  return Object.fromEntries(since.filter(([, count]) => count > 0));
};
const query = (bearer: string, parts: Input = {}) =>
  ok(house, 'queryGuestMetric', { dashboardId: 'acme-board', metricId: revenue, ...parts }, { bearer });
/** Sends the query twice. The second answer must come from the cache and equal the first. */
const keep = async (bearer: string): Promise<void> => {
  const [fresh, kept] = [await query(bearer), await query(bearer)];
  expect({ ...kept, timeTaken: 0 }).toEqual({ ...fresh, timeTaken: 0 });
  expect((await came()).hit).toBeGreaterThan(0);
};

test('known leak 8: a revoked token is refused although its rows are cached, and a new token does not get them', async () => {
  const token = await guest(house, 'acme');
  await keep(token);
  const tokens = { clientId: 'acme', userIdentifier: 'somebody' };
  await ok(house, 'revokeGuestTokens', tokens);
  await query(token);
  // One user's tokens were revoked. That does not change what the client may see, so the cached rows stay.
  expect(await came()).toEqual({ hit: 1 });
  await ok(house, 'revokeGuestTokens', { clientId: 'acme' });
  await refused(
    'queryGuestMetric AUTHENTICATION_ERROR',
    house,
    { dashboardId: 'acme-board', metricId: revenue },
    { bearer: token },
  );
  await query(await guest(house, 'acme'));
  expect(await came()).toEqual({ miss: 1 });
  const other = await guest(house, 'acme');
  await ok(house, 'revokeGuestTokens', { all: true });
  await refused(
    'queryGuestMetric AUTHENTICATION_ERROR',
    house,
    { dashboardId: 'acme-board', metricId: revenue },
    { bearer: other },
  );
  await query(await guest(house, 'acme'));
  expect(await came()).toEqual({ miss: 1 });
});

test('known leak 8: permissions are checked before each read, also of cached rows', async () => {
  await keep(await guest(house, 'acme'));
  const asked = { dashboardId: 'acme-board', metricId: revenue };
  const without = await mint(house, 'acme', {}, { permissions: { isEnableDownloadMetrics: false } });
  await refused('downloadGuestCsv UNAUTHORIZED', house, asked, { bearer: without });
  await refused('queryGuestMetric UNAUTHORIZED', house, asked, { bearer: await guest(house, 'globex') });
  const elsewhere = await guest(house, 'acme', { allowedEmbeds: [await embedOf(house, 'board')] });
  await refused('queryGuestMetric UNAUTHORIZED', house, asked, { bearer: elsewhere });
  expect(await came()).toEqual({});
});

test("an erased client's cached rows are never found again, and other clients' still are", async () => {
  await ok(house, 'revokeGuestTokens', { all: true });
  const shared = await embedOf(house, 'board');
  const { data } = await ok(house, 'listEmbedMetrics', { embedId: shared, clientId: 'acme' });
  const [{ metricId } = { metricId: '' }] = data;
  const ask = async (clientId: string) =>
    (await ok(house, 'queryMetric', { embedId: shared, metricId, clientId })).data;
  const [acme, globex] = [await ask('acme'), await ask('globex')];
  expect([await ask('acme'), await ask('globex')]).toEqual([acme, globex]);
  expect(await came()).toEqual({ miss: 2, hit: 2 });
  await ok(house, 'eraseClient', { clientId: 'acme' });
  expect(await ask('acme')).toEqual(acme);
  expect(await came()).toEqual({ miss: 1 });
  await cloneBoard(house, 'acme-board', 'acme');
  revenue = await metricOf(house, 'acme-board', 'acme', 'revenue');
});

test('a datamart sets how long its answers are cached; each update of it makes them be computed again', async () => {
  const token = await guest(house, 'acme');
  await keep(token);
  const update = (parts: Input) => ok(house, 'updateDatamart', { datamartName: 'shop', ...parts });
  const listed = async () =>
    (await ok(house, 'listDatamarts', {})).data.find(({ name }) => name === 'shop')?.cacheTtlSeconds;
  expect(await listed()).toBeNull();
  await update({ cacheTtlSeconds: 0 });
  for (const _ of [1, 2]) await query(token);
  expect(await came()).toEqual({ uncached: 2 });
  await update({});
  expect(await listed()).toBe(0);
  await update({ cacheTtlSeconds: 86_400 });
  await keep(token);
  await update({ cacheTtlSeconds: null });
  expect(await listed()).toBeNull();
  for (const _ of [1, 2]) await query(token);
  expect(await came()).toEqual({ miss: 1, hit: 1 });
  for (const cacheTtlSeconds of [-1, 1.5, 86_401, '60'])
    await refused('updateDatamart INVALID_REQUEST_BODY', house, { datamartName: 'shop', cacheTtlSeconds });
});

test('a sync of a datasource makes its answers be computed again', async () => {
  const token = await guest(house, 'acme');
  await keep(token);
  await ok(house, 'syncDatasource', { name: 'warehouse' });
  await query(token);
  // The clock did not move, yet the cached rows are gone.
  expect(await came()).toEqual({ miss: 1 });
});
