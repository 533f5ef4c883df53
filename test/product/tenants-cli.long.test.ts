/** `guestlist tenants` with a running gateway. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runCli } from '../cli/in-process.js';
import { gatewayToken, manager, startGateway } from '../gateway/harness.js';
import { policyOf } from '../gateway/policies.js';
import { runToEnd } from './product.js';

/** Runs a command in this process. Returns the exit code and what it printed. */
const run = async (...args: string[]) => {
  const { code, out, err } = await runCli(['tenants', ...args], { env: { GUESTLIST_GATEWAY_TOKEN: gatewayToken } });
  return { code, output: `${out}${err}`.trimEnd() };
};

test('guestlist tenants list and provision say what there is, and what was made', async () => {
  const { url, granted, upstream } = await startGateway({ policy: policyOf({ onSignUp: ['delays', 'routes'] }) });
  await granted({ ...manager, org_id: 'ACME' }, { embeds: ['delays'] });
  const list = await runToEnd(['tenants', 'list', '--url', url], { GUESTLIST_GATEWAY_TOKEN: gatewayToken });
  expect(list.code).toBe(0);
  expect(list.output).toMatch(/^TENANT +STATE +OUTCOME +DASHBOARDS\nACME +active +complete +delays/m);
  const { output } = await run('list', '--json', '--tenant', 'ACME', '--url', url);
  expect(JSON.parse(output)).toMatchObject({ tenants: [{ clientId: 'ACME' }], next: null });
  expect(await run('list', '--state', 'gone', '--url', url)).toMatchObject({ code: 2 });
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
    [['provision', 'A', '--parallel', 'all'], /argument 'all' is invalid. Give a whole number from 1 to 16/],
    [['list', '--limit', 'ten'], /'--limit <n>' argument 'ten' is invalid. Give a whole number/],
    [['plan'], /missing required argument 'template'/],
    [['apply'], /the name of one template, or --resume/],
    [['apply', 'delays', '--steps', '10,all'], /'--steps <percentages>' .* Give a whole number, not "all"/],
    [['apply', 'delays', '--max-failures', '-1'], /Give a whole number, not "-1"/],
    [['rollback'], /missing required argument 'id'/],
    [['remove'], /unknown command 'remove'(.|\n)*See guestlist tenants --help/],
    [[], /provision \[options\] \[ids\.\.\.\]/],
  ];
  for (const [args, message] of wrong)
    expect(await run(...args), args.join(' ')).toEqual({ code: 2, output: expect.stringMatching(message) });
  for (const [help, said] of [
    [['--help'], 'provision [options] [ids...]'],
    [['list', '-h'], '--state <state>'],
  ] as const)
    expect(await run(...help)).toEqual({ code: 0, output: expect.stringContaining(said) });
});
