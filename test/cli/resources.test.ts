/** The commands for objects of the service and the states of tenants, with a running product. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { gatewayToken, manager, startGateway } from '../gateway/harness.js';
import { policyOf } from '../gateway/policies.js';
import { type Product, runToEnd, startProduct } from '../product/product.js';
import { runCli } from './in-process.js';

let product: Product;
beforeAll(async () => {
  product = await startProduct();
}, 120_000);
afterAll(async () => {
  await product.stop();
  await product.remove();
});

/** Runs a command at the product. Returns the exit code and what it printed. */
const run = async (...args: string[]) => {
  const { serviceToken, demoApiKey } = product.credentials;
  return runAt(product.url, { GUESTLIST_SERVICE_TOKEN: serviceToken, GUESTLIST_API_KEY: demoApiKey }, args);
};
const runAt = async (url: string, env: Readonly<Record<string, string>>, args: readonly string[]) => {
  const { code, out, err } = await runCli([...args, '--url', url], { env });
  return { code, output: `${out}${err}`.trimEnd() };
};
const refusal = (code: 1 | 2, message: RegExp) => ({ code, output: expect.stringMatching(message) });

test('lists show what the demo has, as a table and as JSON', async () => {
  const table = await run('datasources', 'list');
  expect(table).toEqual({ code: 0, output: expect.stringMatching(/^NAME +TYPE +TABLES READ\nflights +DUCKDB /) });
  expect(JSON.parse((await run('datasources', 'list', '--json')).output)).toMatchObject([{ name: 'flights' }]);
  expect((await run('datasources', 'tables', 'flights')).output).toMatch(/^main\.flights +table +\d+ /m);
  expect((await run('datamarts', 'list')).output).toMatch(/^flights +flights +TABLE /m);
  expect((await run('datamarts', 'show', 'flights')).output).toMatch(/^main\.flights +origin /m);
  expect((await run('workspaces', 'list')).output).toMatch(/^flights /m);
  expect((await run('dashboards', 'list', 'flights')).output).toMatch(/^delays /m);
  expect((await run('data-apps', 'list')).output).toMatch(/^NAME +EMBEDS +CREATED\n/);
  expect((await run('guest-tokens', 'list', '--client', 'nobody')).output).toBe('There are none.');
}, 60_000);

test('the command line as a process of its own reads the token of the data folder', async () => {
  const spawned = await runToEnd(['datamarts', 'list', '--url', product.url], { GUESTLIST_DATA_DIR: product.dataDir });
  expect(spawned).toEqual({ code: 0, output: expect.stringMatching(/^NAME +DATASOURCE +TENANCY/) });
  const wrong = await runToEnd(['datamarts', 'lst'], {});
  expect(wrong).toEqual({ code: 2, output: expect.stringContaining('Did you mean list?') });
}, 60_000);

test('a key and a token are created, work, are listed without their text, and are ended', async () => {
  const [dataApp] = JSON.parse((await run('data-apps', 'list', '--json')).output) as [{ name: string }];
  const { output: key } = await run('keys', 'create', dataApp.name, 'backend');
  expect((await run('keys', 'list', dataApp.name)).output).toMatch(new RegExp(`^backend +${key.slice(-4)} `, 'm'));
  const withKey = () => runAt(product.url, { GUESTLIST_API_KEY: key }, ['guest-tokens', 'list']);
  expect((await withKey()).code).toBe(0);
  await run('keys', 'delete', dataApp.name, 'backend', '--yes');
  expect(await withKey()).toEqual(refusal(1, /AUTHENTICATION_ERROR/));
  const { output: token } = await run('service-tokens', 'create', 'deployment');
  expect(token).toMatch(/^[\w-]{30,}$/);
  expect((await run('service-tokens', 'list')).output).not.toContain(token);
  expect((await run('service-tokens', 'delete', 'deployment', '--yes')).output).toContain('deployment');
}, 60_000);

test('nothing is deleted without --yes, while something stands on it, or by a misspelt name', async () => {
  expect(await run('datamarts', 'delete', 'flights')).toEqual(refusal(2, /cannot be undone.*add --yes/));
  expect(await run('datasources', 'delete', 'flights', '--yes')).toEqual(refusal(1, /^guestlist: STILL_IN_USE: /));
  expect(await run('datamarts', 'delete', 'fligths', '--yes')).toEqual(
    refusal(1, /There is no datamart "fligths". Did you mean "flights"\?/),
  );
  expect(await run('guest-tokens', 'revoke', 'nothing')).toEqual(
    refusal(1, /No valid guest token has the id "nothing"/),
  );
  expect((await run('datamarts', 'list')).output).toMatch(/^flights /m);
}, 60_000);

test('a wrong call says what is missing or too much', async () => {
  expect(await run('dashboards', 'list')).toEqual(refusal(2, /missing required argument 'workspace'/));
  expect(await run('datamarts', 'list', 'flights')).toEqual(
    refusal(2, /too many arguments for 'list'. Expected 0 arguments but got 1/),
  );
  expect(await run('keys', 'rotate')).toEqual(refusal(2, /unknown command 'rotate'(.|\n)*See guestlist keys --help/));
  const nowhere = runAt('http://127.0.0.1:1', { GUESTLIST_SERVICE_TOKEN: 'x' }, ['datamarts', 'list']);
  expect(await nowhere).toEqual(refusal(1, /No service answers at http:\/\/127\.0\.0\.1:1/));
});

test('a tenant is suspended, resumed and erased; a misspelt one is named', async () => {
  const { url, granted, clock } = await startGateway({ policy: policyOf({ onSignUp: ['delays'] }) });
  await granted({ ...manager, org_id: 'ACME' }, { embeds: ['delays'] });
  const change = (...args: string[]) => {
    clock.advance(1000);
    return runAt(url, { GUESTLIST_GATEWAY_TOKEN: gatewayToken }, ['tenants', ...args]);
  };
  expect(await change('suspend', 'ACME')).toEqual({ code: 0, output: 'ACME is suspended' });
  expect((await change('list', '--state', 'suspended')).output).toMatch(/^ACME +suspended/m);
  expect(await change('resume', 'ACME')).toEqual({ code: 0, output: 'ACME is active' });
  expect(await change('suspend', 'AMCE')).toEqual(refusal(1, /The gateway knows no tenant "AMCE"/));
  expect(await change('erase', 'ACME')).toEqual(refusal(2, /cannot be undone/));
  expect((await change('list')).output).toMatch(/^ACME +active/m);
  // This service lacks operations that an erasure needs, so the command names what is left, and fails.
  expect(await change('erase', 'ACME', '--yes')).toEqual(
    refusal(
      1,
      /^ACME is deleted\nSTATE +WHERE +ERASED +LEFT\nunfinished +guest tokens [\s\S]*\ndone [\s\S]*; something is left\.$/,
    ),
  );
  expect(await change('suspend')).toEqual(refusal(2, /missing required argument 'id'/));
  expect(await change('resume', 'AMCE')).toEqual(refusal(1, /The gateway knows no tenant "AMCE"/));
});
