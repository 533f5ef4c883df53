/** One complete flow: a session, a token, a dashboard, and numbers equal to those computed from the parquet file. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  analyst,
  ask,
  type Failure,
  get,
  login,
  manager,
  openDashboard,
  openTruth,
  post,
  regional,
  session,
  type Truth,
} from './guest.js';
import { type Product, startProduct } from './product.js';

let product: Product;
let truth: Truth;

beforeAll(async () => {
  [product, truth] = await Promise.all([startProduct(), openTruth()]);
});

afterAll(async () => {
  truth.close();
  await product.stop();
  await product.remove();
});

const round = (value: unknown): unknown => (typeof value === 'number' ? Number(value.toPrecision(12)) : value);
const cells = (rows: readonly Readonly<Record<string, unknown>>[]): unknown[][] =>
  rows.map((row) => Object.values(row).map(round));
const expected = async (sql: string): Promise<unknown[][]> => (await truth.rows(sql)).map((row) => row.map(round));

const joined = 'flights f LEFT JOIN airports a ON f.destination = a.iata';

/** Each metric of the demo as SQL over the files, for rows that pass `where`. */
const truths: Readonly<Record<string, (where: string) => string>> = {
  'Flights a day': (where) =>
    `SELECT strftime(date_trunc('day', date), '%Y-%m-%d'), count(*) FROM ${joined} WHERE ${where} GROUP BY 1 ORDER BY 1`,
  'Delayed over 15 minutes': (where) =>
    `SELECT avg(CASE WHEN delay > 15 THEN 1.0 ELSE 0 END) FROM ${joined} WHERE ${where}`,
  'Average delay by hour of departure': (where) =>
    `SELECT hour(date), avg(delay) FROM ${joined} WHERE ${where} GROUP BY 1 ORDER BY 1`,
  'Average delay by destination': (where) =>
    `SELECT a.name, avg(delay) FROM ${joined} WHERE ${where} GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 15`,
  'Busiest routes': (where) =>
    `SELECT destination, count(*) FROM ${joined} WHERE ${where} GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 12`,
  'Flights by distance': (where) =>
    `SELECT floor(distance / 250) * 250, count(*) FROM ${joined} WHERE ${where} GROUP BY 1 ORDER BY 1`,
  'Where flights go': (where) =>
    `SELECT a.state, a.name, count(*) FROM ${joined} WHERE ${where} GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2 LIMIT 40`,
  'Spread of delays by day of the week': (where) =>
    `SELECT isodow(date), quantile_cont(delay, 0.05), quantile_cont(delay, 0.25), median(delay), quantile_cont(delay, 0.75), quantile_cont(delay, 0.95) FROM ${joined} WHERE ${where} GROUP BY 1 ORDER BY 1`,
  'Flights by state and month': (where) =>
    `SELECT a.state, strftime(date_trunc('month', date), '%Y-%m-%d'), count(*) FROM ${joined} WHERE ${where} GROUP BY 1, 2 ORDER BY 1, 2`,
  'Top destinations': (where) =>
    `SELECT a.name, a.city, a.state, count(*), avg(delay), median(delay), max(delay) FROM ${joined} WHERE ${where} GROUP BY ALL ORDER BY 4 DESC, 1, 2, 3 LIMIT 25`,
};

const delays = [
  'Flights a day',
  'Delayed over 15 minutes',
  'Average delay by hour of departure',
  'Average delay by destination',
];
const routes = [
  'Busiest routes',
  'Flights by distance',
  'Where flights go',
  'Spread of delays by day of the week',
  'Flights by state and month',
  'Top destinations',
];

const check = async (
  claims: Readonly<Record<string, unknown>>,
  dashboardId: string,
  names: readonly string[],
  where: string,
): Promise<void> => {
  const { token } = await login(product, claims);
  for (const name of names) {
    const reply = await ask(product, token, dashboardId, name);
    const sql = truths[name]?.(where) ?? '';
    expect(cells(reply.data), `${name} where ${where}`).toEqual(await expected(sql));
    expect(reply.data.length, name).toBeGreaterThan(0);
  }
};

describe('the numbers equal a direct query over the parquet file', () => {
  test("LAX's analyst sees LAX's flights", () => check(analyst('LAX'), 'delays--LAX', delays, "origin = 'LAX'"));
  test("ATL's analyst sees ATL's", () => check(analyst('ATL'), 'delays--ATL', delays, "origin = 'ATL'"));
  test("LAX's manager sees the routes too", () => check(manager('LAX'), 'routes--LAX', routes, "origin = 'LAX'"));
  test("SFO's regional user sees Californian destinations only", () =>
    check(regional, 'delays--SFO', delays, "origin = 'SFO' AND a.state = 'CA'"));

  test('filters that the guest sets narrow the rows', async () => {
    const { token } = await login(product, analyst('LAX'));
    const dashboardFilter = {
      'Destination state': ['NV', 'NY'],
      Date: { startDate: '2001-02-01', endDate: '2001-02-28' },
    };
    for (const name of delays) {
      const reply = await ask(product, token, 'delays--LAX', name, { dashboardFilter });
      const where = "origin = 'LAX' AND a.state IN ('NV', 'NY') AND date >= '2001-02-01' AND date < '2001-03-01'";
      expect(cells(reply.data), name).toEqual(await expected(truths[name]?.(where) ?? ''));
    }
  });
});

describe('the first login', () => {
  test("creates the tenant's dashboards from the templates, and names what may be opened", async () => {
    const first = await login(product, manager('ORD'));
    expect(first.embeds).toEqual([
      { id: 'delays--ORD', name: 'Delays', type: 'dashboard' },
      { id: 'routes--ORD', name: 'Routes', type: 'dashboard' },
    ]);
    expect(first.serviceUrl).toBe(product.url);
    expect(Date.parse(first.refreshAfter)).toBeLessThan(Date.parse(first.expiresAt));
    expect((await openDashboard(product, first.token, 'delays--ORD')).name).toBe('Delays');
    expect((await login(product, manager('ORD'))).token).toBe(first.token);
  });

  test('the user without a role gets NO_POLICY, with a reference and no rule of the policy', async () => {
    const answer = await post<Failure>(
      `${product.url}/embed-token`,
      {},
      session(product, { sub: 'den-newcomer', org_id: 'DEN', roles: [] }),
    );
    expect(answer.status).toBe(403);
    expect(answer.body.error.code).toBe('NO_POLICY');
    expect(answer.body.error.message).toContain(answer.headers.get('x-request-id'));
    expect(answer.body.error.message).not.toMatch(/role|rule|yaml/);
    expect(answer.headers.get('cache-control')).toBe('no-store');
  });

  test('the regional user without a region is refused, not shown everything', async () => {
    const answer = await post<Failure>(
      `${product.url}/embed-token`,
      {},
      session(product, { ...regional, region: undefined }),
    );
    expect([answer.status, answer.body.error.code]).toEqual([403, 'POLICY_UNDECIDED']);
  });
});

test('200 simultaneous first logins of one tenant make each dashboard once and mint one token', async () => {
  const own = await startProduct();
  try {
    const answers = await Promise.all(Array.from({ length: 200 }, () => login(own, manager('SEA'))));
    expect(new Set(answers.map(({ token }) => token)).size).toBe(1);
    expect((await openDashboard(own, answers[0]?.token ?? '', 'delays--SEA')).metrics).toHaveLength(delays.length);
    const embeds = await get<{ data: { embedId: string }[] }>(
      `${own.url}/api/v2/data-app/embeds`,
      own.credentials.demoApiKey,
    );
    expect(embeds.body.data.map(({ embedId }) => embedId).toSorted()).toEqual(['delays--SEA', 'routes--SEA']);
    await own.stop();
    const made = own
      .output()
      .split('\n')
      .filter((line) => line.includes('tenant.provisioned'));
    expect(made).toHaveLength(2);
  } finally {
    await own.stop();
    await own.remove();
  }
});
