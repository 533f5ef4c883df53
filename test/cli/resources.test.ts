/** The commands for objects of the service and the states of tenants, with a running product. */
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { OperatorError } from '../../src/cli/operator.js';
import { type ResourceName, resourceNames, resourceWords } from '../../src/cli/resource-names.js';
import { resources } from '../../src/cli/resource-table.js';
import { runResource } from '../../src/cli/resources.js';
import { runTenants } from '../../src/cli/tenants.js';
import { WrongCall } from '../../src/cli/wrong-call.js';
import { gatewayToken, manager, startGateway } from '../gateway/harness.js';
import { policyOf } from '../gateway/policies.js';
import { type Product, runToEnd, startProduct } from '../product/product.js';

let product: Product;
beforeAll(async () => {
  product = await startProduct();
}, 120_000);
afterAll(async () => {
  await product.stop();
  await product.remove();
});
afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

/** Runs a command in this process. Returns the exit code and what it printed. */
const printed = async (started: () => Promise<number>) => {
  const lines: string[] = [];
  vi.spyOn(console, 'log').mockImplementation((text) => void lines.push(String(text)));
  const code = await started();
  return { code, output: lines.join('\n') };
};
const run = (name: ResourceName, ...args: string[]) => {
  vi.stubEnv('GUESTLIST_SERVICE_TOKEN', product.credentials.serviceToken);
  vi.stubEnv('GUESTLIST_API_KEY', product.credentials.demoApiKey);
  return printed(() => runResource(name, [...args, '--url', product.url]));
};

test('lists show what the demo has, as a table and as JSON', async () => {
  const table = await run('datasources', 'list');
  expect(table).toEqual({ code: 0, output: expect.stringMatching(/^NAME +TYPE +TABLES READ\nflights +DUCKDB /) });
  expect(JSON.parse((await run('datasources', 'list', '--json')).output)).toMatchObject([{ name: 'flights' }]);
  expect((await run('datasources', 'tables', 'flights')).output).toMatch(/^main\.flights +\d+ /m);
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
  expect(wrong).toEqual({ code: 2, output: expect.stringContaining('Did you mean "datamarts list"?') });
}, 60_000);

test('a key and a token are created, work, are listed without their text, and are ended', async () => {
  const [dataApp] = JSON.parse((await run('data-apps', 'list', '--json')).output) as [{ name: string }];
  const { output: key } = await run('keys', 'create', dataApp.name, 'backend');
  expect((await run('keys', 'list', dataApp.name)).output).toMatch(new RegExp(`^backend +${key.slice(-4)} `, 'm'));
  vi.stubEnv('GUESTLIST_API_KEY', key);
  const withKey = () => printed(() => runResource('guest-tokens', ['list', '--url', product.url]));
  expect((await withKey()).code).toBe(0);
  await run('keys', 'delete', dataApp.name, 'backend', '--yes');
  vi.stubEnv('GUESTLIST_API_KEY', key);
  await expect(withKey()).rejects.toThrow(/AUTHENTICATION_ERROR/);
  const { output: token } = await run('service-tokens', 'create', 'deployment');
  expect(token).toMatch(/^[\w-]{30,}$/);
  expect((await run('service-tokens', 'list')).output).not.toContain(token);
  expect((await run('service-tokens', 'delete', 'deployment', '--yes')).output).toContain('deployment');
}, 60_000);

test('nothing is deleted without --yes, while something stands on it, or by a misspelt name', async () => {
  await expect(run('datamarts', 'delete', 'flights')).rejects.toThrow(/cannot be undone.*add --yes/);
  await expect(run('datasources', 'delete', 'flights', '--yes')).rejects.toThrow(/^STILL_IN_USE: /);
  await expect(run('datamarts', 'delete', 'fligths', '--yes')).rejects.toThrow(
    'There is no datamart "fligths". Did you mean "flights"?',
  );
  await expect(run('guest-tokens', 'revoke', 'nothing')).rejects.toThrow(/No valid guest token has the id "nothing"/);
  expect((await run('datamarts', 'list')).output).toMatch(/^flights /m);
}, 60_000);

test('help and completion name the commands that there are', () => {
  for (const name of resourceNames) {
    expect(resourceWords[name].subcommands, name).toEqual(Object.keys(resources[name].actions));
  }
});

test('a wrong call says what is missing or too much', async () => {
  await expect(run('dashboards', 'list')).rejects.toThrow(/takes WORKSPACE: WORKSPACE is missing/);
  await expect(run('datamarts', 'list', 'flights')).rejects.toThrow(/takes no words: "flights" is too much/);
  await expect(run('keys', 'rotate')).rejects.toBeInstanceOf(WrongCall);
  for (const name of resourceNames) {
    expect(await run(name, '--help')).toEqual({ code: 0, output: expect.stringContaining(`guestlist ${name} list`) });
  }
  vi.stubEnv('GUESTLIST_SERVICE_TOKEN', 'x');
  const nowhere = runResource('datamarts', ['list', '--url', 'http://127.0.0.1:1']);
  await expect(nowhere).rejects.toThrow('No service answers at http://127.0.0.1:1');
});

test('a tenant is suspended, resumed and erased; a misspelt one is named', async () => {
  vi.stubEnv('GUESTLIST_GATEWAY_TOKEN', gatewayToken);
  const { url, granted, clock } = await startGateway({ policy: policyOf({ onSignUp: ['delays'] }) });
  await granted({ ...manager, org_id: 'ACME' }, { embeds: ['delays'] });
  const change = (...args: string[]) => {
    clock.advance(1000);
    return printed(() => runTenants([...args, '--url', url]));
  };
  expect(await change('suspend', 'ACME')).toEqual({ code: 0, output: 'ACME is suspended' });
  expect((await change('list', '--state', 'suspended')).output).toMatch(/^ACME +suspended/m);
  expect(await change('resume', 'ACME')).toEqual({ code: 0, output: 'ACME is active' });
  await expect(change('suspend', 'AMCE')).rejects.toThrow(/The gateway knows no tenant "AMCE"/);
  await expect(change('erase', 'ACME')).rejects.toThrow(/cannot be undone/);
  expect((await change('list')).output).toMatch(/^ACME +active/m);
  expect(await change('erase', 'ACME', '--yes')).toEqual({ code: 0, output: 'ACME is deleted' });
  await expect(change('suspend')).rejects.toBeInstanceOf(WrongCall);
  await expect(change('resume', 'AMCE')).rejects.toBeInstanceOf(OperatorError);
});
