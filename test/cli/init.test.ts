/** What `guestlist init` refuses, and what it writes to .gitignore; init.long.test.ts runs it on each database. */
import { mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import {
  hostPageFile,
  ignoreFile,
  policyFile,
  policyTestFile,
  type Setup,
  settingsFile,
} from '../../src/cli/init/files.js';
import { askLogin } from '../../src/cli/init/login.js';
import { loadIssuers } from '../../src/platform/config/issuers.js';
import { loadPreset, presetNames } from '../../src/platform/config/presets.js';
import { runOnFile } from '../suites/duckdb-file.js';
import { runCli } from './in-process.js';

test('.gitignore gets the lines that it lacks, and nothing twice', () => {
  const whole = 'data/\nguestlist.env\n';
  expect(['', 'data/', '*.log\r\nguestlist.env\r\n', whole].map(ignoreFile)).toEqual([
    whole,
    whole,
    '*.log\r\nguestlist.env\r\ndata/\n',
    whole,
  ]);
});

describe.each(presetNames)('the files for the login provider %s', (login) => {
  const setupOf = async (tenants: readonly string[] = ['acme', '7']): Promise<Setup> => ({
    name: 'shop',
    dashboard: { id: 'overview', title: 'Overview' },
    connection: { datasourceType: 'DUCKDB', path: '/data/shop.duckdb' },
    ...{
      port: 3000,
      origin: 'https://app.example.com',
      claim: 'tenant_id',
      restricted: null,
      tenants,
      tenantNames: {},
    },
    claimOfSeveral: null,
    login: await askLogin(null, {
      ...{ login, issuer: 'https://login.example.com', audience: 'app' },
      jwksUrl: 'https://login.example.com/keys',
    }),
  });

  test('the policy takes its preset, and passes the tests beside it', async () => {
    const setup = await setupOf();
    const folder = await mkdtemp(join(tmpdir(), 'guestlist-login-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    await writeFile(join(folder, 'policy.yaml'), policyFile(setup));
    await writeFile(join(folder, 'policy.test.yaml'), policyTestFile(setup));
    const { code, out, err } = await runCli(['policy', 'test', 'policy.test.yaml'], { cwd: folder });
    expect([code, out + err]).toEqual([0, expect.stringContaining('3 tests')]);
    expect(policyFile(setup)).toContain(`preset: ${login}\n`);
  });

  test('the configuration trusts the issuer as the preset says', async () => {
    const sources = { env: {}, folder: '.', usesSimpleIssuer: true };
    const text = settingsFile(await setupOf());
    const { issuers, faults } = loadIssuers(parse(text), sources);
    expect([text, faults]).toEqual([expect.stringContaining(`preset: ${login}`), []]);
    expect(issuers).toMatchObject([
      { issuer: 'https://login.example.com', algorithms: loadPreset(login).issuer.algorithms, audience: 'app' },
    ]);
  });
});

describe('the files for a restriction by any column', () => {
  const setupFor = (name: string, claim: string, tenant: string): Setup => ({
    name: 'shop',
    dashboard: { id: 'overview', title: 'Overview' },
    connection: { datasourceType: 'DUCKDB', path: '/data/shop.duckdb' },
    ...{ port: 3000, origin: 'https://app.example.com', claim, tenants: [tenant], tenantNames: {}, login: null },
    claimOfSeveral: tenant === '7' ? 'all_tenants' : null,
    restricted: {
      filter: {
        name,
        dataType: 'string',
        applyOnTables: [{ schemaName: 'main', tableName: 't', columnName: 'c', dataType: 'string' }],
      },
      hidden: claim === 'org' ? [{ name: `Sum: ${name}, "x"`, reason: 'no way' }] : [],
    },
  });
  // Names that are words of CEL or YAML, other claims, or no identifiers.
  const hard = ['roles', 'exp', 'sub', 'in', 'true', 'null', '2nd level', 'Kind: a', 'a, b', '{x}', "it's", 'a # b'];
  const name = fc.oneof(
    fc.constantFrom(...hard, 'tenant_id', 'Статус', 'é', '-', '*', '|', '? a'),
    fc.string({ minLength: 1, maxLength: 12 }),
  );

  test('the policy passes the tests beside it', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'guestlist-claims-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const passes = async (setup: Setup): Promise<void> => {
      await writeFile(join(folder, 'policy.yaml'), policyFile(setup));
      await writeFile(join(folder, 'policy.test.yaml'), policyTestFile(setup));
      const { code, out, err } = await runCli(['policy', 'test', 'policy.test.yaml'], { cwd: folder });
      expect([code, out + err]).toEqual([0, expect.stringMatching(/[57] tests/)]);
    };
    const claim = fc.constantFrom('tenant_id', 'org', 'user_roles');
    await fc.assert(
      fc.asyncProperty(name, claim, fc.constantFrom('acme', '7', 'a: b, {c}', 'é"'), (called, of, tenant) =>
        passes(setupFor(called, of, tenant)),
      ),
      { numRuns: 40, examples: hard.map((one) => [one, 'tenant_id', 'acme']) },
    );
  });

  test.each(['roles', 'exp', '1st', 'in'])('a tenant in the claim %s is refused', async (claim) => {
    const { code, err } = await runCli(['init', '--yes', '--claim', claim]);
    expect([code, err]).toEqual([2, expect.stringContaining('no name that has another meaning')]);
  });
});

test('the page to try it lists tenants by name with their ids, and without what HTML would read', () => {
  const page = hostPageFile({
    ...{ name: 'shop', dashboard: { id: 'overview', title: 'Overview' }, login: null, restricted: null },
    connection: { datasourceType: 'DUCKDB', path: '/data/shop.duckdb' },
    ...{ port: 3000, origin: 'https://app.example.com', claim: 'tenant_id', claimOfSeveral: null },
    ...{ tenants: ['7', '8'], tenantNames: { 7: 'Anker <b>' } },
  });
  const [, lines = ''] = /^(const tenants = .*?)\n\nconst base64/ms.exec(page) ?? [];
  const shown = new Function(`${lines}; return tenants.map(nameOf)`) as () => readonly string[];
  expect(shown()).toEqual(['Anker b <small>7</small>', '8']);
});

describe('what it cannot do', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'guestlist-init-'));
    await mkdir(join(folder, 'sources'));
    await runOnFile(join(folder, 'sources/plain.duckdb'), [
      'CREATE TABLE numbers (n INTEGER)',
      'CREATE TABLE customers (id INTEGER PRIMARY KEY)',
      'CREATE TABLE prices (id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customers (id))',
    ]);
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  test.each([
    ['without a database', [], 2, '--database'],
    ['of an unknown kind', ['--database', 'oracle://u:hidden@h/d'], 2, 'unknown kind of database'],
    ['a server that does not answer', ['--database', 'postgres://u:hidden@127.0.0.1:9/d'], 1, '127.0.0.1:9/d'],
    ['an unknown table', ['--database', 'sources/plain.duckdb', '--tenant-table', 'nobody'], 2, 'main.numbers'],
    [
      'an unknown column',
      ['--database', 'sources/plain.duckdb', '--client-column', 'nobody'],
      2,
      'no table has a column',
    ],
    [
      'to share a table with a column of tenants',
      ['--database', 'sources/plain.duckdb', '--shared', 'prices'],
      2,
      '--shared main.prices: its column customer_id says whose a row is',
    ],
    ['no rows', ['--database', 'sources/plain.duckdb'], 1, 'nothing to show'],
    ['a port out of range', ['--port', '0'], 2, '--port'],
    ['an unknown login provider', ['--login', 'nobody'], 2, 'Give one of auth0, better-auth, clerk'],
    ['a login provider without its issuer', ['--login', 'clerk'], 2, 'give --issuer: the iss of its tokens'],
    ['a login provider without its audience', ['--login', 'auth0', '--issuer', 'https://a.example/'], 2, '--audience'],
    ['a login provider without its keys', ['--login', 'workos', '--issuer', 'https://a.example'], 2, '--jwks-url'],
    ['an origin with a path', ['--database', 'sources/plain.duckdb', '--origin', 'https://a.example/b'], 2, '--origin'],
  ])('%s: one message, and no file', async (_, flags, code, message) => {
    const ended = await runCli(['init', '--yes', ...flags], { cwd: folder });
    const output = ended.out + ended.err;
    expect([ended.code, output]).toEqual([code, expect.stringContaining(message)]);
    expect(output).not.toContain('hidden');
    await expect(stat(join(folder, 'guestlist.yaml'))).rejects.toThrow('ENOENT');
  });
});
