/** Several metrics of a dashboard with one request. Each answer is what a query of its own answers, and each failure stays on its line. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { request } from '../product/guest.js';
import { guest, openBoard } from './guests.js';
import { call, type House, type Input, mint, noon, ok, openHouse, type Pair, refused, setNow } from './house.js';

let house: House;
let token: string;
let metricIds: readonly string[];

type Line = {
  readonly metricId: string;
  readonly digest?: string;
  readonly isUnchanged?: true;
  readonly answer?: { readonly data: readonly unknown[] };
  readonly error?: { readonly code: string; readonly message: string };
};

beforeAll(async () => {
  house = await openHouse();
  await openBoard(house, 'acme-board', 'acme');
  token = await mint(house, 'acme');
  const { data } = await ok(house, 'getGuestDashboard', { dashboardId: 'acme-board' }, { bearer: token });
  metricIds = data.metrics.map(({ metricId }) => metricId);
});
beforeEach(() => setNow(noon));
afterAll(() => house.close());

const lines = async (input: Input, bearer = token): Promise<readonly Line[]> => {
  const answer = await call(house, 'queryGuestDashboard', { dashboardId: 'acme-board', ...input }, { bearer });
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/x-ndjson; charset=utf-8']);
  return answer.text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
};
const all = () => metricIds.map((metricId) => ({ metricId }));
const lineOf = (found: readonly Line[], metricId: string | undefined) =>
  found.find((line) => line.metricId === metricId);

describe('POST /guest/dashboards/{dashboardId}/query', () => {
  test('one line for each metric, with the answer of a query of its own', async () => {
    expect(metricIds.length).toBeGreaterThan(2);
    const dashboardFilter = { Region: ['south', 'west'] };
    const found = await lines({ dashboardFilter, metrics: all() });
    expect(found.map(({ metricId }) => metricId).toSorted()).toEqual(metricIds.toSorted());
    for (const metricId of metricIds) {
      const input = { dashboardId: 'acme-board', dashboardFilter, metricId };
      const alone = await call(house, 'queryGuestMetric', input, { bearer: token });
      const line = lineOf(found, metricId);
      if (alone.status === 200) {
        expect(line?.answer).toEqual({ ...(alone.body as object), timeTaken: expect.any(Number) });
      } else {
        const { error } = alone.body as { error: { code: string } };
        expect(line?.error?.code).toBe(error.code);
      }
    }
  });

  test('a metric that fails has its error on its line, in neutral words', async () => {
    const [first = '', second = ''] = metricIds;
    const sort = [{ name: 'client', direction: 'ASC' }];
    const found = await lines({ metrics: [{ metricId: first, sort }, { metricId: second }] });
    expect(lineOf(found, first)?.error).toEqual({
      code: 'METRIC_QUERY_ERROR',
      message: expect.stringMatching(
        /^This chart can't be shown\. Ask your administrator\. Reference: [0-9a-f-]{36}\.$/,
      ),
      status: 400,
    });
    expect(lineOf(found, second)?.answer?.data.length).toBeGreaterThan(0);
  });

  test('a metric of another dashboard and an unknown one are refused alike', async () => {
    await openBoard(house, 'globex-board', 'globex');
    const bearer = await mint(house, 'globex');
    const { data } = await ok(house, 'getGuestDashboard', { dashboardId: 'globex-board' }, { bearer });
    const [own = '', foreign = ''] = [metricIds[0], data.metrics[0]?.metricId];
    const found = await lines({ metrics: [{ metricId: own }, { metricId: foreign }, { metricId: 'nothing' }] });
    expect(lineOf(found, own)?.answer).toBeDefined();
    const { error: ofForeign } = lineOf(found, foreign) ?? {};
    expect([ofForeign?.code, ofForeign]).toEqual(['UNAUTHORIZED', lineOf(found, 'nothing')?.error]);
  });

  test('an answer that the caller has already is not sent again; any change of it is', async () => {
    const known = await lines({ metrics: all() });
    const metrics = known.map(({ metricId, digest }) => ({ metricId, digest }));
    const again = await lines({ metrics });
    for (const { metricId, digest, answer } of known) {
      if (answer !== undefined) expect(lineOf(again, metricId)).toEqual({ metricId, digest, isUnchanged: true });
    }
    const other = await lines({ metrics, dashboardFilter: { Region: 'west' } });
    const changed = other.filter(({ isUnchanged }) => isUnchanged !== true);
    expect(changed.length).toBeGreaterThan(0);
  });

  test.each<[string, () => Input]>([
    ['a metric twice', () => ({ metrics: [{ metricId: 'a' }, { metricId: 'a' }] })],
    ['no list', () => ({})],
    ['more than a hundred', () => ({ metrics: Array.from({ length: 101 }, (_, n) => ({ metricId: `m${n}` })) })],
    ['a dashboard of its own for a metric', () => ({ metrics: [{ metricId: 'a', dashboardId: 'globex-board' }] })],
    ['a client', () => ({ metrics: [], clientId: 'globex' })],
  ])('a query of a dashboard is refused with INVALID_REQUEST_BODY: %s', async (_, parts) => {
    const input = { dashboardId: 'acme-board', ...parts() };
    await refused('queryGuestDashboard INVALID_REQUEST_BODY', house, input, { bearer: token });
  });

  test('the refusals of every read, before the first line', async () => {
    const input = { dashboardId: 'acme-board', metrics: [] };
    const pair = (code: string) => `queryGuestDashboard ${code}` as Pair;
    for (const bearer of [null, 'wrong', house.apiKey])
      await refused('queryGuestDashboard AUTHENTICATION_ERROR', house, input, { bearer });
    await refused('queryGuestDashboard UNAUTHORIZED', house, { ...input, dashboardId: 'nowhere' }, { bearer: token });
    await refused(pair('UNAUTHORIZED'), house, input, { bearer: await guest(house, 'globex') });
    const bearer = await mint(house, 'acme', {}, { expiryTime: 1 });
    setNow(new Date(noon.getTime() + 1));
    await refused('queryGuestDashboard TOKEN_EXPIRED', house, input, { bearer });
  });

  test('no metric: an empty answer', async () => {
    const answer = await call(
      house,
      'queryGuestDashboard',
      { dashboardId: 'acme-board', metrics: [] },
      { bearer: token },
    );
    expect([answer.status, answer.text]).toEqual([200, '']);
  });
});

describe('the ETag of an answer to a single question', () => {
  const query = (bearer: string, metricId: string, headers: Record<string, string> = {}, dashboardId = 'acme-board') =>
    request(`${house.url()}/api/v2/guest/metrics/${encodeURIComponent(metricId)}/query`, {
      method: 'POST',
      headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ dashboardId }),
    });

  test('a request that names it gets 304 without a body; any other gets the answer', async () => {
    const [metricId = ''] = metricIds;
    const first = await query(token, metricId);
    const tag = first.headers.get('etag') ?? '';
    expect(tag).toMatch(/^W\/"[\w-]{43}"$/);
    const again = await query(token, metricId, { 'if-none-match': `"other", ${tag}` });
    expect([again.status, again.text, again.headers.get('etag')]).toEqual([304, '', tag]);
    for (const other of ['"other"', '*', 'nothing', tag.slice(0, -3)]) {
      expect((await query(token, metricId, { 'if-none-match': other })).status, other).toBe(200);
    }
    // One tag for both ways to ask.
    const [line] = await lines({ metrics: [{ metricId, digest: tag.slice(3, -1) }] });
    expect(line).toMatchObject({ isUnchanged: true });
  });

  test('rights are checked before: a token that may not read gets its refusal, never 304', async () => {
    const [metricId = ''] = metricIds;
    const tag = (await query(token, metricId)).headers.get('etag') ?? '';
    const named = { 'if-none-match': tag };
    expect((await query(await guest(house, 'globex'), metricId, named)).status).toBe(403);
    const bearer = await mint(house, 'acme', {}, { expiryTime: 1 });
    setNow(new Date(noon.getTime() + 1));
    expect((await query(bearer, metricId, named)).status).toBe(401);
  });

  test('a page of another origin may send and read it', async () => {
    const answer = await request(`${house.url()}/api/v2/guest/metrics/m/query`, { method: 'OPTIONS' });
    expect(answer.headers.get('access-control-allow-headers')).toContain('If-None-Match');
    expect(answer.headers.get('access-control-expose-headers')).toContain('ETag');
  });
});
