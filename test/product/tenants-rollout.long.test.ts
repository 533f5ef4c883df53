/**
 * A changed template is rolled out to the tenants' dashboards by the command line, and rolled back, with the built
 * product.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { analyst, login } from './guest.js';
import { type Product, runToEnd, startProduct } from './product.js';

let product: Product;
beforeAll(async () => {
  product = await startProduct();
});
afterAll(async () => {
  await product.stop();
  await product.remove();
});

const run = (...args: string[]) =>
  runToEnd(['tenants', ...args, '--url', product.url], { GUESTLIST_DATA_DIR: product.dataDir });

const call = async (method: string, path: string, bearer: string, body?: unknown): Promise<string> => {
  const response = await fetch(`${product.url}/api/v2${path}`, {
    method,
    headers: {
      authorization: `Bearer ${bearer}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  expect(response.status, text).toBe(200);
  return text;
};

type Content = { data: { metrics: { name: string }[]; gridMargin: number[] }; digest: string };

/** Changes a dashboard: one of the organization by a service token, one of a client by the API key. */
const change = async (dashboardId: string, bearer: string, edit: (data: Content['data']) => object) => {
  const target = { dashboardId, workspaceName: 'flights' };
  const path = '/data-app/dashboards/content';
  const { data, digest }: Content = JSON.parse(await call('GET', `${path}?${new URLSearchParams(target)}`, bearer));
  await call('PUT', path, bearer, { ...target, content: edit(data), expectedDigest: digest });
};

const renamed =
  (index: number, name: string) =>
  (data: Content['data']): object => ({
    ...data,
    metrics: data.metrics.map((metric, at) => (at === index ? { ...metric, name } : metric)),
  });

test('plan, apply and rollback: what a tenant edited stays, and everything can be taken back to the byte', async () => {
  const { serviceToken, demoApiKey } = product.credentials;
  const tenants = ['LAX', 'ATL', 'SEA'];
  for (const org_id of tenants) await login(product, analyst(org_id));
  const exported = () =>
    Promise.all(tenants.map((id) => call('GET', `/data-app/embeds/export?embedId=delays--${id}`, demoApiKey)));

  await change('delays--ATL', demoApiKey, renamed(0, 'Our flights'));
  await change('delays--SEA', demoApiKey, renamed(1, 'Our delays'));
  const before = await exported();
  await change('delays', serviceToken, (data) => ({ ...renamed(1, 'Late')(data), gridMargin: [2, 2] }));

  const plan = await run('plan', 'delays');
  expect(plan.output).toMatch(/^edited +ATL/m);
  expect(plan.output).toMatch(/^behind +LAX/m);
  expect(plan.output).toMatch(/^conflict +SEA .*\.name \(changed-by-both\)/m);
  expect(plan.code).toBe(0);

  const applied = await run('apply', 'delays', '--canary', 'LAX', '--steps', '50,100');
  expect([applied.code, applied.output]).toEqual([0, expect.stringMatching(/conflict +SEA/)]);
  const [lax, atl, sea] = await exported();
  expect(lax).toContain('"name":"Late"');
  expect(atl).toContain('"name":"Late"');
  expect(atl).toContain('"name":"Our flights"');
  expect(sea).toBe(before[2]);
  await login(product, analyst('LAX'));

  const id = /^(\S{36}) finished:/m.exec(applied.output)?.[1] ?? '';
  const back = await run('rollback', id, '--json');
  expect([back.code, back.output]).toEqual([0, expect.stringContaining('"state": "rolled-back"')]);
  expect(await exported()).toEqual(before);
  expect((await run('rollouts')).output).toContain(`${id}  delays`);
  expect((await run('apply')).code).toBe(2);
}, 180_000);
