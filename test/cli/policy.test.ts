import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { runPolicy } from '../../src/cli/policy.js';
import { basePolicy } from '../gateway/policies.js';

const shipped = fileURLToPath(new URL('../../config/policies/flights.yaml', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'guestlist-cli-'));
const write = (name: string, content: unknown): string => {
  const file = join(folder, name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content, null, 2));
  return file;
};

type Call = { readonly command: string; readonly input: unknown; readonly url: string | undefined };

const run = async (...args: string[]) => {
  const out: string[] = [];
  const errors: string[] = [];
  const calls: Call[] = [];
  const code = await runPolicy(
    args,
    { log: (text) => out.push(text), error: (text) => errors.push(text) },
    {
      configuredPolicies: () => shipped,
      callGateway: async (command, input, url) => {
        calls.push({ command, input, url });
        return { explanation: { from: 'there' }, text: 'the text' };
      },
      now: () => new Date('2026-03-04T05:06:07Z'),
    },
  );
  return { code, out: out.join('\n'), errors: errors.join('\n'), calls };
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
    expect(out).toContain('config/policies/flights.yaml:52:11');
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
    const broken = write('broken/p.yaml', { ...basePolicy, rules: [] });
    expect(await run('plan', before, dirname(broken), '--users', users)).toMatchObject({
      code: 2,
      errors: expect.stringMatching(/broken\/p\.yaml:\d+:\d+: rules/),
    });
  });
});

describe('guestlist policy', () => {
  it('says how it is called', async () => {
    for (const args of [[], ['--help'], ['plan', '-h']]) {
      expect(await run(...args)).toMatchObject({
        code: 0,
        out: expect.stringContaining('guestlist policy plan OLD NEW'),
      });
    }
  });

  it.each([
    [['tset'], /no command "policy tset"/],
    [['__proto__'], /no command/],
    [['explain'], /--as takes/],
    [['explain', '--as', claims, '--request', 'x'], /--as has no place/],
    [['explain', '--as', claims, '--policy', 'x', '--url', 'y'], /--policy has no place/],
    [['explain', '--as', claims, '--tenant', ''], /tenant/],
    [['explain', '--as', claims, '--now', 'yesterday'], /--now takes/],
    [['explain', '--as', write('list.json', [])], /no JSON object/],
    [['explain', '--as', '/nowhere/claims.json'], /cannot be read/],
    [['plan', 'a'], /two policies/],
    [['plan', folder, claims, '--users', claims], /not one of each/],
    [['plan', folder, folder], /--users takes/],
    [['plan', folder, folder, '--users', claims, '--fail-on', 'all'], /--fail-on takes/],
  ])('ends with 2 where it is called wrongly: %j', async (args, message) => {
    const { code, errors } = await run(...args);
    expect([code, errors]).toEqual([2, expect.stringMatching(message)]);
  });
});
