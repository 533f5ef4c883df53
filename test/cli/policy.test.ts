import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { runWith } from '../../src/cli/kit/run-with.js';
import { policyCommand } from '../../src/cli/policy.js';
import { basePolicy } from '../gateway/policies.js';
import { asProcess } from './in-process.js';

const shipped = fileURLToPath(new URL('../../config/policies/flights.yaml', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'guestlist-cli-'));
const write = (name: string, content: unknown): string => {
  const file = join(folder, name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content, null, 2));
  return file;
};

type Call = { readonly command: string; readonly input: unknown; readonly url: string | undefined };

/** What a gateway answers to `policy-names`; an error: it does not answer. */
let catalogue: object | Error = new Error('No gateway answers.');

const run = async (...args: string[]) => {
  const calls: Call[] = [];
  const command = policyCommand({
    configuredPolicies: () => shipped,
    callGateway: async ({ name, output }, input, url) => {
      calls.push({ command: name, input, url });
      if (name === 'policy-names' && catalogue instanceof Error) throw catalogue;
      const answer = name === 'policy-names' ? { catalogue } : { explanation: { from: 'there' }, text: 'the text' };
      return output.parse(answer) as never;
    },
    now: () => new Date('2026-03-04T05:06:07Z'),
  });
  const { code, out, err } = await asProcess(() => runWith(command.name('policy'), args, ''));
  return { code, out: out.trimEnd(), errors: err.trimEnd(), calls };
};

const claims = write('claims.json', { sub: 'ann', org_id: 'LAX', roles: ['analyst'] });

describe('guestlist policy test', () => {
  const policy = (name: string) => write(`${name}.yaml`, basePolicy);
  const test = (templates: string[]) => ({
    tests: [{ name: 'one', user: { sub: 'a', org_id: 'LAX' }, expect: { tenant: 'LAX', templates } }],
  });

  it('runs those beside the configured policy, and ends with 0 where all hold', async () => {
    const { code, out } = await run('test', '--cover');
    expect([code, out]).toEqual([
      0,
      expect.stringMatching(/^config\/policies\/flights\.test\.yaml \(of [^)]*\)\n {2}ok /),
    ]);
    expect(out).toMatch(/\d+ tests, all hold$/);
  });

  it('ends with 1 where one does not, or there is none', async () => {
    policy('a/p');
    write('a/p.test.yaml', test(['delays']));
    expect(await run('test', join(folder, 'a'))).toMatchObject({ code: 1, out: expect.stringContaining('1 failed') });
    expect((await run('test', '--json', join(folder, 'a'))).out).toContain('"differences"');
    policy('empty/p');
    expect(await run('test', join(folder, 'empty'))).toMatchObject({
      code: 1,
      errors: expect.stringContaining('no policy test'),
    });
  });

  it('leaves out what packages bring below the folder', async () => {
    policy('mine/p');
    write('mine/p.test.yaml', test(['delays', 'routes']));
    write('mine/node_modules/guestlist/config/theirs.test.yaml', test(['delays']));
    const { code, out } = await run('test', join(folder, 'mine'));
    expect([code, out]).toEqual([0, expect.stringMatching(/1 test/)]);
    expect(out).not.toContain('theirs');
  });

  it('says of a policy that it is no file of tests, and which file to name', async () => {
    const { code, errors } = await run('test', policy('plain/p'));
    expect([code, errors]).toEqual([2, expect.stringMatching(/is a policy.*guestlist policy test .*p\.test\.yaml"/)]);
    expect(errors.split('\n')).toHaveLength(2);
  });

  it('ends with 1 for a name that the service lacks, and names its place, what was meant, and what there is', async () => {
    const restrictions = [{ name: 'r', when: 'true', restrict: { dashboardFilters: { Destinaton: '"x"' } } }];
    write('names/p.yaml', { ...basePolicy, restrictions });
    const expected = {
      tenant: 'LAX',
      templates: ['delays', 'routes'],
      restrictions: { dashboardFilters: { Destinaton: 'x' } },
    };
    const tests = [{ name: 'one', user: { sub: 'a', org_id: 'LAX' }, expect: expected }];
    const file = write('names/p.test.yaml', { tests });
    const board = (source: string) => ({
      source,
      filters: ['Destination'],
      metrics: [],
      metricFilters: [],
      rlsVariables: [],
    });
    const boards = ['delays', 'routes', 'third-one'].map(board);
    catalogue = { otherWorkspaces: null, boards, missing: [], dashboardsThere: [], embedsThere: [] };
    const found = await run('test', file);
    catalogue = new Error('No gateway answers.');
    expect(found.code).toBe(1);
    expect(found.out).toMatch(
      /p\.yaml:\d+:\d+: "Destinaton" is no filter .* Did you mean "Destination"\? There are: "Destination"\./,
    );
    expect(found.calls).toEqual([
      {
        command: 'policy-names',
        input: {
          asked: { workspace: 'flights', datamart: null, templates: ['delays', 'routes', 'third-one'], embeds: [] },
        },
        url: undefined,
      },
    ]);
    const alone = await run('test', file);
    expect([alone.code, alone.errors]).toEqual([0, expect.stringContaining('were not checked: No gateway answers.')]);
    expect(await run('test', '--url', 'http://gateway.test', file)).toMatchObject({
      code: 1,
      errors: 'guestlist: No gateway answers.',
    });
  });

  it('ends with 1 for a rule that no test tries, where that is asked', async () => {
    const rules = [...basePolicy.rules, { name: 'untried', when: 'false', grant: { templates: ['delays'] } }];
    write('b/p.yaml', { ...basePolicy, rules });
    const file = write('b/p.test.yaml', test(['delays', 'routes']));
    expect((await run('test', file)).code).toBe(0);
    expect((await run('test', '--cover', file)).code).toBe(1);
  });

  it('ends with 2 for faulty files, with the faults of all of them', async () => {
    const one = write('c/one.test.yaml', { tests: [] });
    const two = write('c/two.test.yaml', { tests: [{}] });
    const { code, errors } = await run('test', one, two, join(folder, 'none'));
    expect([code, errors]).toEqual([2, expect.stringContaining('cannot be read (ENOENT)')]);
    const both = await run('test', one, two);
    expect(both.errors).toMatch(/one\.test\.yaml:2:\d+: .*\n.*two\.test\.yaml:\d+/);
  });
});

describe('guestlist policy explain', () => {
  it('explains by the configured policy, or by another', async () => {
    const { code, out } = await run('explain', '--as', claims, '--embeds', 'delays');
    expect([code, out]).toEqual([0, expect.stringMatching(/^GRANTED: user ann, tenant LAX/)]);
    expect(out).toMatch(/matches +analysts see delays +config\/policies\/flights\.yaml:\d+:11 /);
    const other = await run(
      'explain',
      '--as',
      claims,
      '--json',
      '--policy',
      write('d.yaml', basePolicy),
      '--now',
      '2026-01-01T00:00:00Z',
    );
    expect(JSON.parse(other.out)).toMatchObject({ now: '2026-01-01T00:00:00.000Z', rules: [{ name: 'all' }] });
  });

  it('ends with 0 for a denial, which is an explanation', async () => {
    const { code, out } = await run('explain', '--as', claims, '--tenant', 'ATL');
    expect([code, out]).toEqual([0, expect.stringMatching(/^DENIED with NO_TENANT/)]);
  });

  it('asks a running gateway by --url and for an earlier request', async () => {
    const there = await run('explain', '--as', claims, '--url', 'http://x', '--timezone', 'UTC');
    expect([there.code, there.out]).toEqual([0, 'the text']);
    const earlier = await run('explain', '--request', 'id-1', '--json');
    expect(JSON.parse(earlier.out)).toEqual({ from: 'there' });
    expect([...there.calls, ...earlier.calls]).toEqual([
      {
        command: 'policy-explain',
        input: { claims: { sub: 'ann', org_id: 'LAX', roles: ['analyst'] }, body: { timezone: 'UTC' } },
        url: 'http://x',
      },
      { command: 'policy-explain', input: { request: 'id-1' }, url: undefined },
    ]);
  });
});

describe('guestlist policy plan', () => {
  const users = write('users.jsonl', '{"sub": "ann", "org_id": "LAX", "roles": ["analyst"]}\n');
  write('old/p.yaml', basePolicy);
  write('old/p.test.yaml', 'not a policy');
  write('new/p.yaml', { ...basePolicy, expiryMinutes: 30 });
  const [before, after] = [join(folder, 'old'), join(folder, 'new')];

  it('compares folders or files, and ends with 1 for what it is told to stop', async () => {
    const { code, out } = await run('plan', before, after, '--users', users);
    expect(code).toBe(0);
    expect(out).toMatch(
      /^POLICY +LINE .*\np\.yaml +1 +ann +LAX +loses +expiryMinutes +60 +30\n\n1 user: 1 lose, 0 unchanged$/,
    );
    const files = [join(before, 'p.yaml'), join(after, 'p.yaml'), '--users', users];
    expect((await run('plan', ...files, '--fail-on', 'loss')).code).toBe(1);
    expect((await run('plan', ...files, '--fail-on', 'gain')).code).toBe(0);
    expect((await run('plan', ...files, '--fail-on', 'any')).code).toBe(1);
    expect((await run('plan', before, before, '--users', users, '--fail-on', 'any')).code).toBe(0);
    expect(JSON.parse((await run('plan', ...files, '--json')).out)).toMatchObject({ counts: { users: 1, loss: 1 } });
  });

  it('ends with 2 for a sample without users, and for faulty policies', async () => {
    expect((await run('plan', before, after, '--users', write('none.jsonl', ''))).code).toBe(2);
    const broken = write('broken/p.yaml', { ...basePolicy, rules: [{}] });
    expect(await run('plan', before, dirname(broken), '--users', users)).toMatchObject({
      code: 2,
      errors: expect.stringMatching(/broken\/p\.yaml:\d+:\d+: rules/),
    });
  });
});

describe('a policy that asks the host for tenants', () => {
  const http = { url: 'https://host.example/tenants', secretVariable: 'LOOKUP_SECRET' };
  const session = { ...basePolicy.session, tenant: { key: 'claims.org_id', http } };
  const policy = write('http/p.yaml', { ...basePolicy, session });
  const shorter = write('http/new.yaml', { ...basePolicy, session, expiryMinutes: 30 });
  const user = { sub: 'ann', org_id: 'org_7', roles: ['analyst'] };
  const expected = { tenant: 'acme', templates: ['delays', 'routes'] };

  it('is tested by what the test says that it answers', async () => {
    const tests = [
      { name: 'one', user, lookup: ['acme'], expect: expected },
      { name: 'chosen', user, lookup: ['other', 'acme'], body: { tenant: 'acme' }, expect: expected },
      { name: 'unknown there', user, lookup: [], expect: { denied: 'NO_TENANT' } },
      { name: 'without a key', user: { sub: 'ann' }, expect: { denied: 'NO_TENANT' } },
    ];
    expect(await run('test', write('http/p.test.yaml', { tests }))).toMatchObject({ code: 0 });
    const silent = tests.map(({ lookup, ...test }) => test);
    const { code, errors } = await run('test', write('http/s.test.yaml', { policy: 'p.yaml', tests: silent }));
    expect(code).toBe(2);
    expect(errors).toMatch(/3 fault\(s\)/);
    expect(errors).toMatch(/s\.test\.yaml:5:\d+: the policy asks the host for tenants \(.*p\.yaml:\d+:\d+\).*lookup/);
  });

  it('is explained by --lookup, and by no guess', async () => {
    const as = write('http/claims.json', user);
    const { code, out } = await run('explain', '--as', as, '--policy', policy, '--lookup', 'acme');
    expect([code, out]).toEqual([0, expect.stringMatching(/^GRANTED: user ann, tenant acme/)]);
    expect(await run('explain', '--as', as, '--policy', policy)).toMatchObject({
      code: 2,
      errors: expect.stringMatching(/p\.yaml:\d+:\d+: the policy asks the host .*--lookup/),
    });
  });

  it('a plan compares users by the lookup answers in the sample, and a user without one is not counted as unchanged', async () => {
    const lines = [
      { claims: user, lookup: ['acme'] },
      { claims: user, lookup: [] },
    ].map((line) => JSON.stringify(line));
    const users = write('http/users.jsonl', lines.join('\n'));
    const { code, out } = await run('plan', policy, shorter, '--users', users, '--fail-on', 'loss');
    expect([code, out]).toEqual([1, expect.stringMatching(/ acme +loses +expiryMinutes/)]);
    expect(out).toMatch(/2 users: 1 lose, 1 unchanged/);
    const silent = write('http/silent.jsonl', `${lines[0]}\n${JSON.stringify(user)}\n`);
    expect(await run('plan', policy, shorter, '--users', silent)).toMatchObject({
      code: 2,
      errors: expect.stringMatching(/silent\.jsonl:2:1: the policy asks the host/),
    });
  });
});

describe('guestlist policy schema', () => {
  it('prints what the files in config hold', async () => {
    const shippedText = (name: string) => readFileSync(new URL(`../../config/${name}`, import.meta.url), 'utf8');
    expect(await run('schema')).toMatchObject({ code: 0, out: shippedText('policy.schema.json').trimEnd() });
    expect((await run('schema', '--tenant-files')).out).toBe(shippedText('tenants.schema.json').trimEnd());
  });
});

describe('guestlist policy', () => {
  it('says how it is called', async () => {
    expect(await run('--help')).toMatchObject({ code: 0, out: expect.stringContaining('plan [options] <old> <new>') });
    for (const words of [
      ['plan', '-h'],
      ['help', 'plan'],
    ])
      expect(await run(...words)).toMatchObject({ code: 0, out: expect.stringContaining('--users <file>') });
    expect(await run()).toMatchObject({ code: 2, errors: expect.stringContaining('plan [options] <old> <new>') });
  });

  it.each([
    [['tset'], /unknown command 'tset'\n\(Did you mean test\?\)\nSee guestlist policy --help/],
    [['__proto__'], /unknown command '__proto__'/],
    [['explain'], /--as takes/],
    [['explain', '--as', claims, '--request', 'x'], /'--request <id>' cannot be used with option '--as <file>'/],
    [
      ['explain', '--as', claims, '--policy', 'x', '--url', 'y'],
      /'--policy <file>' cannot be used with option '--url <url>'/,
    ],
    [
      ['explain', '--as', claims, '--lookup', 'x', '--url', 'y'],
      /'--lookup <tenant>' cannot be used with option '--url <url>'/,
    ],
    [['explain', '--as', claims, '--tenant', ''], /tenant/],
    [['explain', '--as', claims, '--now', 'yesterday'], /Give a time such as 2026/],
    [['explain', '--as', write('list.json', [])], /no JSON object/],
    [['explain', '--as', '/nowhere/claims.json'], /cannot be read/],
    [['plan', 'a', '--users', claims], /missing required argument 'new'/],
    [['plan', folder, claims, '--users', claims], /not one of each/],
    [['plan', folder, folder], /required option '--users <file>' not specified/],
    [['plan', folder, folder, '--users', claims, '--fail-on', 'all'], /Allowed choices are loss, gain, any/],
  ])('ends with 2 where it is called wrongly: %j', async (args, message) => {
    const { code, errors } = await run(...args);
    expect([code, errors]).toEqual([2, expect.stringMatching(message)]);
  });
});
