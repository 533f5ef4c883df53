/** `guestlist policy` as an operator and a CI run it: the built command line, beside a running product. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Product, runToEnd, startProduct } from './product.js';

const folder = mkdtempSync(join(tmpdir(), 'guestlist-policy-'));
const claims = join(folder, 'claims.json');

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
  const { code, output } = await runToEnd(['policy', 'test', '--cover'], {});
  expect([code, output]).toEqual([0, expect.stringMatching(/\d+ tests, all hold\s*$/)]);
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
    runToEnd(args, {}),
    runToEnd([...args, '--url', product.url], { GUESTLIST_DATA_DIR: product.dataDir }),
  ]);
  expect([alone.code, there.code]).toEqual([0, 0]);
  const [ours, theirs] = [JSON.parse(alone.output), JSON.parse(there.output)];
  expect(theirs.request).toEqual(ours.request);
  expect(theirs.policy.digest).toBe(ours.policy.digest);
  expect(theirs.request.params.dashboardAppFilters).toEqual([
    { dashboardId: 'delays--SFO', values: { 'Destination state': 'CA' }, isShowOnUrl: false },
  ]);
});

test('nobody else asks a running gateway', async () => {
  const args = ['policy', 'explain', '--as', claims, '--url', product.url];
  const { code, output } = await runToEnd(args, { GUESTLIST_GATEWAY_TOKEN: 'not-the-token-of-that-gateway-at-all' });
  expect([code, output]).toEqual([1, expect.stringContaining('AUTHENTICATION_ERROR')]);
});
