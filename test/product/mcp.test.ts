/** `/mcp` of the demo, over its flights in DuckDB: with a session of the host, and with a guest token. */
import { StreamableHTTPError } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { callTool, connect, textOf, toolNames } from '../spec/mcp-client.js';
import { analyst, ask, login, manager, openTruth, request, session, type Truth } from './guest.js';
import { type Product, startProduct } from './product.js';

let product: Product;
let truth: Truth;
beforeAll(async () => {
  [product, truth] = await Promise.all([startProduct({ env: { GUESTLIST_MCP: '1' } }), openTruth()]);
});
afterAll(async () => {
  truth.close();
  await product.stop();
  await product.remove();
});

const read = async (bearer: string, name: string, given: object = {}) => {
  const client = await connect(product.url, bearer);
  const answer = await callTool(client, name, { ...given });
  await client.close();
  return { isError: answer.isError === true, body: JSON.parse(textOf(answer)) };
};

test('a session of the host is exchanged: its user reads the same as with the token of a page, and the true numbers', async () => {
  const bearer = session(product, analyst('LAX'));
  const { body } = await read(bearer, 'list_dashboards');
  expect(body.data.dashboards.map(({ dashboardId }: { dashboardId: string }) => dashboardId)).toEqual(['delays--LAX']);
  const described = (await read(bearer, 'describe_dashboard', { dashboardId: 'delays--LAX' })).body.data;
  const page = await login(product, analyst('LAX'));
  let asked = 0;
  for (const { metricId, name } of described.metrics) {
    const answer = await read(bearer, 'query_metric', { dashboardId: 'delays--LAX', metricId });
    const { data } = await ask(product, page.token, 'delays--LAX', name);
    expect([name, answer.body.data]).toEqual([name, data]);
    asked += 1;
  }
  expect(asked).toBeGreaterThan(3);
  const ofDay = described.metrics.find(({ name }: { name: string }) => name === 'Flights a day');
  const days = (await read(bearer, 'query_metric', { dashboardId: 'delays--LAX', metricId: ofDay.metricId })).body.data;
  const total = days.reduce((sum: number, { Flights }: { Flights: number }) => sum + Flights, 0);
  expect([[total]]).toEqual(await truth.rows("SELECT count(*) FROM flights WHERE origin = 'LAX'"));
});

test('a session opens nothing of another tenant, and its tools are those of its role', async () => {
  const lax = session(product, manager('LAX'));
  await read(session(product, manager('ATL')), 'list_dashboards');
  expect((await read(lax, 'describe_dashboard', { dashboardId: 'delays--ATL' })).body.error.code).toBe('UNAUTHORIZED');
  const names = async (bearer: string) => {
    const client = await connect(product.url, bearer);
    const tools = await toolNames(client);
    await client.close();
    return tools;
  };
  const page = await login(product, manager('LAX'));
  expect(await names(lax)).toEqual(await names(page.token));
});

test('a session that the policy denies, or that nobody signed, does not connect', async () => {
  const statusOf = (bearer: string) =>
    connect(product.url, bearer).then(
      () => 200,
      (error: unknown) => (error instanceof StreamableHTTPError ? error.code : error),
    );
  expect(await statusOf(session(product, { sub: 'x', org_id: 'LAX', roles: ['nobody'] }))).toBe(403);
  const forged = session({ credentials: { ...product.credentials, demoJwtSecret: 'x'.repeat(40) } }, analyst('LAX'));
  const past = Math.floor(Date.now() / 1000) - 6000;
  for (const bearer of [forged, session(product, { ...analyst('LAX'), iat: past, exp: past + 60 })]) {
    const answer = await request(`${product.url}/mcp`, {
      method: 'POST',
      headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
      body: '{}',
    });
    expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([
      401,
      expect.stringContaining('resource_metadata='),
    ]);
  }
  // A cookie is no credential here.
  const cookie = `guestlist_session=${session(product, analyst('LAX'))}`;
  expect((await request(`${product.url}/mcp`, { method: 'POST', headers: { cookie } })).status).toBe(401);
});

test('the log has each call under its operation, and no credential and no argument', async () => {
  const bearer = session(product, analyst('SFO'));
  await read(bearer, 'list_filter_values', { dashboardId: 'delays--SFO', filter: 'Destination state', search: 'zzz' });
  const lines = () =>
    product
      .output()
      .split('\n')
      .filter((line) => line.includes('"/mcp"'))
      .join();
  await vi.waitFor(() => expect(lines()).toContain('"operation":"listGuestFilterOptions"'), 5_000);
  expect(product.output()).toMatch(/"event":"token\.(minted|served)"/);
  expect(product.output()).not.toContain('zzz');
  expect(product.output()).not.toContain(bearer.split('.')[2] ?? bearer);
});
