/** `guestlist tenants` as its own process, in front of a gateway that runs. */
import { expect, test } from 'vitest';
import { gatewayToken, manager, startGateway } from '../gateway/harness.js';
import { policyOf } from '../gateway/policies.js';
import { runToEnd } from './product.js';

test('guestlist tenants list and provision say what there is, and what was made', async () => {
  const { url, granted, upstream } = await startGateway({ policy: policyOf({ onSignUp: ['delays', 'routes'] }) });
  await granted({ ...manager, org_id: 'ACME' }, { embeds: ['delays'] });
  const run = (...args: string[]) =>
    runToEnd(['tenants', ...args, '--url', url], { GUESTLIST_GATEWAY_TOKEN: gatewayToken });
  const [list, json, wrong] = await Promise.all([
    run('list'),
    run('list', '--json', '--tenant', 'ACME'),
    run('provision'),
  ]);
  expect(list.code).toBe(0);
  expect(list.output).toMatch(/^TENANT +STATE +OUTCOME +DASHBOARDS\nACME +active +complete +delays/m);
  expect(JSON.parse(json.output)).toMatchObject({ tenants: [{ clientId: 'ACME' }], next: null });
  expect(wrong.code).toBe(2);
  upstream.state.intercept = ({ body }) =>
    JSON.stringify(body ?? {}).includes('routes--ACME') ? upstream.refusal(400, 'TEMPLATE_DASHBOARD_ERROR') : undefined;
  const failed = await run('provision', '--all');
  expect([failed.code, failed.output]).toEqual([
    1,
    expect.stringMatching(/partial +ACME\n +routes: provisioning-refused/),
  ]);
  upstream.state.intercept = () => undefined;
  const made = await run('provision', '--tenant', 'ACME', '--tenant', 'NEW', '--new');
  expect([made.code, made.output]).toEqual([0, expect.stringMatching(/complete +ACME\ncomplete +NEW\n/)]);
});
