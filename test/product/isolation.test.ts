/** Every read of another tenant's data, sent in every way. The refusals do not reveal their reason. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  analyst,
  ask,
  type EmbedToken,
  type Failure,
  type GuestDashboard,
  get,
  login,
  manager,
  openDashboard,
  openTruth,
  post,
  type Reply,
  regional,
  type Truth,
} from './guest.js';
import { type Product, startProduct } from './product.js';

let product: Product;
let truth: Truth;
let lax: EmbedToken;
let atl: EmbedToken;
let sfo: EmbedToken;
let sfoDashboard: GuestDashboard;

beforeAll(async () => {
  [product, truth] = await Promise.all([startProduct(), openTruth()]);
  [lax, atl, sfo] = await Promise.all([
    login(product, manager('LAX')),
    login(product, manager('ATL')),
    login(product, regional),
  ]);
  sfoDashboard = await openDashboard(product, sfo.token, 'delays--SFO');
});

afterAll(async () => {
  truth.close();
  await product.stop();
  await product.remove();
});

const guest = (path: string): string => `${product.url}/api/v2/guest/${path}`;
const count = async (where: string): Promise<unknown> =>
  (
    await truth.rows(`SELECT count(*) FROM flights f LEFT JOIN airports a ON f.destination = a.iata WHERE ${where}`)
  )[0]?.[0];
const sum = (reply: Reply, column: string): number => reply.data.reduce((total, row) => total + Number(row[column]), 0);

describe("another tenant's dashboards and metrics", () => {
  test('do not open, and the answer is that of an id that does not exist', async () => {
    const foreign = await get<Failure>(guest('dashboards/delays--ATL'), lax.token);
    const unknown = await get<Failure>(guest('dashboards/no-such-thing'), lax.token);
    const template = await get<Failure>(guest('dashboards/delays'), lax.token);
    expect([foreign.status, foreign.body.error.code]).toEqual([403, 'UNAUTHORIZED']);
    expect(foreign.body).toEqual(unknown.body);
    expect(template.body).toEqual(unknown.body);
  });

  test('do not answer, through their own dashboard, through mine, or through none', async () => {
    const { metrics } = await openDashboard(product, atl.token, 'delays--ATL');
    for (const { metricId } of metrics) {
      for (const way of ['query', 'underlying', 'csv']) {
        for (const body of [{ dashboardId: 'delays--ATL' }, { dashboardId: 'delays--LAX' }, {}]) {
          const answer = await post<Failure>(guest(`metrics/${metricId}/${way}`), body, lax.token);
          expect([answer.status, answer.body.error?.code], `${way} ${JSON.stringify(body)}`).toEqual([
            403,
            'UNAUTHORIZED',
          ]);
        }
      }
      expect((await get(guest(`metrics/${metricId}`), lax.token)).status).toBe(403);
    }
  });

  test("the template's own metrics do not answer either", async () => {
    for (const body of [{ dashboardId: 'delays' }, { dashboardId: 'delays--LAX' }, {}]) {
      expect((await post(guest('metrics/flights-a-day/query'), body, lax.token)).status).toBe(403);
    }
  });

  test('have no filter options for me', async () => {
    expect((await get(guest('dashboards/delays--ATL/filters/Destination%20state/options'), lax.token)).status).toBe(
      403,
    );
  });
});

describe("the regional user's restriction", () => {
  const california = "origin = 'SFO' AND a.state = 'CA'";

  test('is in every count, of metrics that join the lookup table and of those that do not', async () => {
    const expected = await count(california);
    expect(expected).not.toBe(await count("origin = 'SFO'"));
    expect(sum(await ask(product, sfo.token, 'delays--SFO', 'Flights a day'), 'Flights')).toBe(expected);
    const boss = await login(product, { ...regional, sub: 'sfo-boss', roles: ['manager', 'regional'] });
    const destinations = await ask(product, boss.token, 'routes--SFO', 'Top destinations', { limit: 1000 });
    expect(sum(destinations, 'Flights')).toBe(expected);
  });

  test('is ANDed with what the user sets, whatever it is', async () => {
    for (const [state, expected] of [
      ['NY', 0],
      [['CA', 'NY'], await count(california)],
      ['CA', await count(california)],
    ] as const) {
      const reply = await ask(product, sfo.token, 'delays--SFO', 'Flights a day', {
        dashboardFilter: { 'destination STATE': state },
      });
      expect(sum(reply, 'Flights'), JSON.stringify(state)).toBe(expected);
    }
  });

  test('is in the filter options', async () => {
    const options = async (token: string, id: string, search = '') =>
      (
        await get<{ data: { value: string }[] }>(
          guest(`dashboards/${id}/filters/Destination%20state/options?search=${search}`),
          token,
        )
      ).body.data.map(({ value }) => value);
    expect(await options(sfo.token, 'delays--SFO')).toEqual(['CA']);
    expect(await options(sfo.token, 'delays--SFO', 'N')).toEqual([]);
    const all = (
      await truth.rows(
        "SELECT DISTINCT a.state FROM flights f JOIN airports a ON f.destination = a.iata WHERE origin = 'LAX' ORDER BY 1",
      )
    ).flat();
    expect(await options(lax.token, 'delays--LAX')).toEqual(all);
    expect(await options(lax.token, 'delays--LAX', '%25')).toEqual([]);
  });

  test('holds in underlying rows, totals and CSV of a regional manager, on every granted dashboard', async () => {
    const both = await login(product, { ...regional, sub: 'sfo-boss', roles: ['manager', 'regional'] });
    expect(both.embeds.map(({ id }) => id)).toEqual(['delays--SFO', 'routes--SFO']);
    const expected = await count(california);
    for (const { id } of both.embeds) {
      const { metrics } = await openDashboard(product, both.token, id);
      for (const { name, metricId } of metrics) {
        const rows = await ask(product, both.token, id, name, { limit: 500 }, 'underlying');
        expect(rows.totalRecords, name).toBe(expected);
        expect(new Set(rows.data.map(({ origin }) => origin)), name).toEqual(new Set(['SFO']));
        const csv = await post(guest(`metrics/${metricId}/csv`), { dashboardId: id }, both.token);
        expect(csv.status).toBe(200);
        expect(csv.text).not.toMatch(/John F\. Kennedy|O'Hare|Denver/);
      }
    }
    const table = await ask(product, both.token, 'routes--SFO', 'Top destinations');
    expect(new Set(table.data.map(({ State }) => State))).toEqual(new Set(['CA']));
  });

  test('is not dodged by naming another dashboard or none, nor by a drill', async () => {
    const [metric] = sfoDashboard.metrics;
    for (const dashboardId of ['routes--SFO', 'delays', 'delays--LAX', '', 'DELAYS--SFO', ' delays--SFO']) {
      const answer = await post(guest(`metrics/${metric?.metricId}/query`), { dashboardId }, sfo.token);
      expect(answer.status, dashboardId).not.toBe(200);
    }
    expect((await post(guest(`metrics/${metric?.metricId}/query`), {}, sfo.token)).status).toBe(403);
    const boss = await login(product, { ...regional, sub: 'sfo-boss', roles: ['manager', 'regional'] });
    const outside = await ask(product, boss.token, 'routes--SFO', 'Busiest routes', {
      drill: [{ columnName: 'Destination', value: 'JFK' }],
    });
    expect(outside.totalRecords).toBe(0);
    const inside = await ask(product, boss.token, 'routes--SFO', 'Busiest routes', {
      drill: [{ columnName: 'Destination', value: 'LAX' }],
    });
    expect(sum(inside, 'Flights')).toBe(await count("origin = 'SFO' AND destination = 'LAX'"));
  });
});

describe('what the token does not permit', () => {
  test('an analyst reads no underlying rows and no CSV', async () => {
    const { token } = await login(product, analyst('LAX'));
    const { metrics, permissions } = await openDashboard(product, token, 'delays--LAX');
    expect([permissions.isEnableUnderlyingData, permissions.isEnableDownloadMetrics]).toEqual([false, false]);
    for (const way of ['underlying', 'csv']) {
      const answer = await post<Failure>(
        guest(`metrics/${metrics[0]?.metricId}/${way}`),
        { dashboardId: 'delays--LAX' },
        token,
      );
      expect([answer.status, answer.body.error.code], way).toEqual([403, 'UNAUTHORIZED']);
    }
  });

  test('an analyst does not open the routes', async () => {
    const { token } = await login(product, analyst('LAX'));
    expect((await get(guest('dashboards/routes--LAX'), token)).status).toBe(403);
  });
});

describe('two tenants at once', () => {
  test('never see each other, in 60 interleaved questions', async () => {
    const expected = { LAX: await count("origin = 'LAX'"), ATL: await count("origin = 'ATL'") };
    const asked = await Promise.all(
      Array.from({ length: 60 }, async (_, index) => {
        const [code, token] = index % 2 === 0 ? (['LAX', lax.token] as const) : (['ATL', atl.token] as const);
        const reply = await ask(product, token, `delays--${code}`, 'Flights a day');
        return sum(reply, 'Flights') === expected[code];
      }),
    );
    expect(asked.every(Boolean)).toBe(true);
  });
});
