/** `guestlist policy` as operators and CI run it: the built command line with a running product. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Product, runToEnd, startProduct } from './product.js';

const folder = mkdtempSync(join(tmpdir(), 'guestlist-policy-'));
const claims = join(folder, 'claims.json');

/** The shipped policy is tested only where a configuration names it. */
const demo = { GUESTLIST_CONFIG: 'config/guestlist.yaml' };

let product: Product;
beforeAll(async () => {
  product = await startProduct({ env: { GUESTLIST_LOG_LEVEL: 'silent' } });
  writeFileSync(claims, JSON.stringify({ sub: 'rea', org_id: 'SFO', roles: ['analyst', 'regional'], region: 'CA' }));
});
afterAll(async () => {
  await product.stop();
  await product.remove();
  rmSync(folder, { recursive: true });
});

test('the tests of the shipped policy hold', async () => {
  const { code, output } = await runToEnd(['policy', 'test', '--cover'], demo);
  expect([code, output]).toEqual([0, expect.stringMatching(/\d+ tests, all hold\s/)]);
  // No gateway is configured there.
  expect(output).toContain('were not checked');
});

test('beside a running gateway, names that its service lacks are found', async () => {
  const env = { ...demo, GUESTLIST_DATA_DIR: product.dataDir };
  const shipped = await runToEnd(['policy', 'test', '--url', product.url], env);
  expect([shipped.code, shipped.output]).toEqual([0, expect.stringMatching(/\d+ tests, all hold\s*$/)]);
  const file = join(folder, 'misspelt.yaml');
  const text = readFileSync('config/policies/flights.yaml', 'utf8').replaceAll('Destination state', 'Destination stat');
  writeFileSync(file, text);
  const user = { sub: 'a', org_id: 'LAX', roles: [] };
  const tests = [{ name: 'x', user, expect: { denied: 'NO_POLICY' } }];
  writeFileSync(join(folder, 'misspelt.test.yaml'), JSON.stringify({ policy: file, tests }));
  const { code, output } = await runToEnd(
    ['policy', 'test', join(folder, 'misspelt.test.yaml'), '--url', product.url],
    env,
  );
  expect(code).toBe(1);
  expect(output).toMatch(
    /misspelt\.yaml:\d+:\d+: "Destination stat" is no filter .* Did you mean "Destination state"\?/,
  );
});

test('a suspended tenant is the first line of an explanation, with what to do', async () => {
  const tell = (command: string) =>
    fetch(`${product.url}/gateway/admin/${command}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${product.credentials.gatewayToken}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify({ clientId: 'SFO' }),
    });
  expect((await tell('tenant-suspend')).status).toBe(200);
  const args = ['policy', 'explain', '--as', claims, '--url', product.url];
  const { output } = await runToEnd(args, { GUESTLIST_DATA_DIR: product.dataDir });
  expect((await tell('tenant-resume')).status).toBe(200);
  const [first, second] = output.split('\n');
  expect(first).toMatch(/^DENIED with TENANT_SUSPENDED: user rea, tenant SFO/);
  expect(second).toContain('tenant-resumed');
});

test('a failing test ends with 1', async () => {
  writeFileSync(
    join(folder, 'x.test.yaml'),
    JSON.stringify({
      policy: join(process.cwd(), 'config/policies/flights.yaml'),
      tests: [{ name: 'x', user: { sub: 'a', org_id: 'LAX', roles: ['analyst'] }, expect: { denied: 'NO_POLICY' } }],
    }),
  );
  const { code, output } = await runToEnd(['policy', 'test', folder], {});
  expect([code, output]).toEqual([1, expect.stringContaining('is        granted delays--LAX')]);
});

test('a running gateway explains as the command line does by itself', async () => {
  const args = ['policy', 'explain', '--json', '--now', '2026-01-01T00:00:00Z', '--as', claims];
  const [alone, there] = await Promise.all([
    runToEnd(args, demo),
    runToEnd([...args, '--url', product.url], { GUESTLIST_DATA_DIR: product.dataDir }),
  ]);
  expect([alone.code, there.code]).toEqual([0, 0]);
  const [ours, theirs] = [JSON.parse(alone.output), JSON.parse(there.output)];
  expect(theirs.request).toEqual(ours.request);
  expect(theirs.policy.digest).toBe(ours.policy.digest);
  expect(theirs.request.params.dashboardAppFilters).toEqual([
    { dashboardId: 'delays--SFO', values: { 'Destination state': 'CA' }, isShowOnUrl: true },
  ]);
});

test('nobody else asks a running gateway', async () => {
  const args = ['policy', 'explain', '--as', claims, '--url', product.url];
  const { code, output } = await runToEnd(args, { GUESTLIST_GATEWAY_TOKEN: 'not-the-token-of-that-gateway-at-all' });
  expect([code, output]).toEqual([1, expect.stringContaining('AUTHENTICATION_ERROR')]);
});
