/** `guestlist tenants` with a running gateway. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { runTenants } from '../../src/cli/tenants.js';
import { gatewayToken, manager, startGateway } from '../gateway/harness.js';
import { policyOf } from '../gateway/policies.js';
import { runToEnd } from './product.js';

afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

/** Runs a command in this process. Returns the exit code and what it printed. */
const run = async (...args: string[]) => {
  const printed: string[] = [];
  const keep = (text: unknown) => void printed.push(String(text));
  vi.spyOn(console, 'log').mockImplementation(keep);
  vi.spyOn(console, 'error').mockImplementation(keep);
  const code = await runTenants(args);
  return { code, output: printed.join('\n') };
};

test('guestlist tenants list and provision say what there is, and what was made', async () => {
  vi.stubEnv('GUESTLIST_GATEWAY_TOKEN', gatewayToken);
  const { url, granted, upstream } = await startGateway({ policy: policyOf({ onSignUp: ['delays', 'routes'] }) });
  await granted({ ...manager, org_id: 'ACME' }, { embeds: ['delays'] });
  const list = await runToEnd(['tenants', 'list', '--url', url], { GUESTLIST_GATEWAY_TOKEN: gatewayToken });
  expect(list.code).toBe(0);
  expect(list.output).toMatch(/^TENANT +STATE +OUTCOME +DASHBOARDS\nACME +active +complete +delays/m);
  const { output } = await run('list', '--json', '--tenant', 'ACME', '--url', url);
  expect(JSON.parse(output)).toMatchObject({ tenants: [{ clientId: 'ACME' }], next: null });
  await expect(runTenants(['list', '--state', 'gone', '--url', url])).rejects.toMatchObject({ name: 'WrongCall' });
  upstream.state.intercept = ({ body }) =>
    JSON.stringify(body ?? {}).includes('routes--ACME') ? upstream.refusal(400, 'TEMPLATE_DASHBOARD_ERROR') : undefined;
  const failed = await run('provision', '--all', '--url', url);
  expect([failed.code, failed.output]).toEqual([
    1,
    expect.stringMatching(/partial +ACME\n +routes: provisioning-refused/),
  ]);
  upstream.state.intercept = () => undefined;
  const made = await run('provision', '--tenant', 'ACME', '--tenant', 'NEW', '--new', '--url', url);
  expect([made.code, made.output]).toEqual([0, expect.stringMatching(/complete +ACME\ncomplete +NEW\n/)]);
});

test('guestlist tenants provision takes any number of tenants, tells each one, and sums up what failed', async () => {
  vi.stubEnv('GUESTLIST_GATEWAY_TOKEN', gatewayToken);
  const { url, upstream } = await startGateway({ policy: policyOf({ onSignUp: ['delays'] }) });
  upstream.state.intercept = ({ body }) =>
    /--(T7|T11)"/.test(JSON.stringify(body ?? {})) ? upstream.refusal(400, 'TEMPLATE_DASHBOARD_ERROR') : undefined;
  const names = Array.from({ length: 120 }, (_, index) => `T${index}`);
  const folder = await mkdtemp(join(tmpdir(), 'guestlist-provision-'));
  const file = join(folder, 'tenants');
  await writeFile(file, `${names.slice(2).join('\r\n')}\n\nT5\n`);
  const { code, output } = await run('provision', 'T0', 'T1', '--file', file, '--new', '--url', url);
  await rm(folder, { recursive: true });
  expect(code).toBe(1);
  expect(output.split('\n').filter((line) => line.startsWith('complete'))).toHaveLength(118);
  expect(output).toMatch(/not complete: (T7, T11|T11, T7)\n118 complete, 0 partial, 2 failed, 0 skipped$/);
});

test('guestlist tenants says how it is called', async () => {
  const wrong: [string[], RegExp][] = [
    [['provision'], /either --all, or tenants/],
    [['provision', '--all', '--tenant', 'A'], /either --all, or tenants/],
    [['provision', '--all', 'A'], /either --all, or tenants/],
    [['provision', '--file', '/nowhere'], /--file \/nowhere cannot be read/],
    [['provision', 'A', '--parallel', 'all'], /--parallel takes a whole number from 1 to 16, not "all"/],
    [['list', '--limit', 'ten'], /--limit takes a whole number, not "ten"/],
    [['plan'], /the name of one template/],
    [['apply', 'delays', '--steps', '10,all'], /--steps takes a whole number, not "all"/],
    [['apply', 'delays', '--max-failures', '-1'], /--max-failures takes|argument is ambiguous/],
    [['rollback'], /the id of one roll-out/],
    [['remove'], /there is no command "tenants remove"(.|\n)*tenants provision --all/],
    [[], /name a command/],
  ];
  for (const [args, message] of wrong) await expect(runTenants(args), args.join(' ')).rejects.toThrow(message);
  for (const help of [['--help'], ['-h'], ['list', '-h']]) {
    expect(await run(...help)).toEqual({ code: 0, output: expect.stringContaining('tenants provision --all') });
  }
});
