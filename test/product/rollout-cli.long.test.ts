/** `guestlist tenants apply --pause`, `--resume` and `rollback` as built, with a running product: a template that changes. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Product, runToEnd, startProduct } from './product.js';

const tenants = ['ATL', 'LAX', 'ORD', 'SFO'];
let product: Product;
let folder: string;

const run = (...args: string[]) =>
  runToEnd([...args, '--url', product.url], {
    GUESTLIST_DATA_DIR: product.dataDir,
    GUESTLIST_GATEWAY_TOKEN: product.credentials.gatewayToken,
    GUESTLIST_SERVICE_TOKEN: product.credentials.serviceToken,
  });

/** The tenants whose copy has the content of the template. */
const reached = async (): Promise<readonly string[]> => {
  const { output } = await run('tenants', 'plan', 'delays', '--json');
  const planned: { tenants: { clientId: string; status: string }[] } = JSON.parse(output);
  return planned.tenants.filter(({ status }) => status === 'up-to-date').map(({ clientId }) => clientId);
};

beforeAll(async () => {
  product = await startProduct();
  folder = await mkdtemp(join(tmpdir(), 'guestlist-rollout-'));
  const made = await run('tenants', 'provision', ...tenants, '--template', 'delays', '--new');
  expect(made).toMatchObject({ code: 0, output: expect.stringContaining('4 complete') });
  expect((await run('pull', folder)).code).toBe(0);
  const file = join(folder, 'dashboards/delays.yaml');
  await writeFile(file, (await readFile(file, 'utf8')).replace('name: Flights a day', 'name: Flights per day'));
  expect((await run('push', folder)).output).toContain('metrics[flights-a-day].name');
}, 120_000);
afterAll(async () => {
  await product.stop();
  await product.remove();
  await rm(folder, { recursive: true });
});

test('--pause waits after each step, each --resume takes one more, and rollback gives the content back', async () => {
  expect(await reached()).toEqual([]);
  const first = await run('tenants', 'apply', 'delays', '--canary', 'LAX', '--steps', '50,100', '--pause');
  expect(first).toMatchObject({
    code: 0,
    output: expect.stringMatching(/paused: \[canary\] 1 applied \[.* waiting$/m),
  });
  const [, id = ''] = /To go on: guestlist tenants apply --resume (\S+)/.exec(first.output) ?? [];
  let now = await reached();
  expect(now).toEqual(['LAX']);
  // The id of the roll-out decides who is in the first half, which may be nobody: then there is one step less.
  const steps = first.output.split('[').length - 1;
  for (let step = 2; step <= steps; step += 1) {
    const before = now;
    const resumed = await run('tenants', 'apply', '--resume', id);
    now = await reached();
    expect(now.length).toBeGreaterThan(before.length);
    const state = step === steps ? `${id} finished` : `To go on: guestlist tenants apply --resume ${id}`;
    expect(resumed).toMatchObject({ code: 0, output: expect.stringContaining(state) });
  }
  expect(await reached()).toEqual(tenants);
  expect((await run('tenants', 'rollouts')).output).toMatch(new RegExp(`^${id} +delays +\\S{12} +finished$`, 'm'));
  expect(await run('tenants', 'rollback', id)).toMatchObject({ code: 0 });
  expect(await reached()).toEqual([]);
});
