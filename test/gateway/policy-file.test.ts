import { describe, expect, it } from 'vitest';
import { loadPolicy, loadPolicyFile } from '../../src/gateway/policy/load.js';
import { PolicyFaults } from '../../src/gateway/policy/source.js';
import { basePolicy, policyOf } from './policies.js';

const faultsOf = (load: () => unknown) => {
  try {
    load();
  } catch (error) {
    if (error instanceof PolicyFaults) return error.faults;
    throw error;
  }
  throw new Error('the policy was accepted');
};

const yaml = (lines: string) => `version: 1
dataApp: flights
workspace: flights
datamart: flights
session:
  claims: {org_id: string, roles: list<string>, region: string}
  tenant: claims.org_id
  roles: claims.roles
templates:
  delays: {name: Delays}
${lines}`;

const grant = 'grant: {templates: [delays]}';

describe('a policy file', () => {
  it('reports all its faults at once, each with file, line, column and reason', () => {
    const text = yaml(`rules:
  - name: first
    when: user.claims.regoin == "CA"
    grant: {templates: [delais]}
  - name: first
    when: user.id
    ${grant}
restrictions:
  - name: r
    when: "'x' in user.roles"
    restrict: {dashboardFilters: {State: user.claims.region + 1}}
`);
    expect(faultsOf(() => loadPolicy(text, 'p.yaml'))).toEqual([
      { at: 'p.yaml:13:23', message: expect.stringContaining('No such key: regoin') },
      {
        at: 'p.yaml:14:25',
        message: expect.stringContaining('"delais" is not one of this policy\'s templates (delays)'),
      },
      { at: 'p.yaml:15:11', message: expect.stringContaining('rename one') },
      { at: 'p.yaml:16:11', message: expect.stringContaining('gives string where bool is needed') },
      { at: 'p.yaml:21:42', message: expect.stringContaining('no such overload') },
    ]);
  });

  const deep = 100_000;
  it.each([
    ['lists', `rules: ${'['.repeat(deep)}${']'.repeat(deep)}`, 72],
    ['lists without an end', `rules: ${'['.repeat(deep)}`, 72],
    ['maps', `rules: ${'{a: '.repeat(deep)}1${'}'.repeat(deep)}`, 8 + 64 * 4],
    ['items of one line', `rules:\n  ${'- '.repeat(deep)}1`, 3 + 64 * 2],
  ])('is refused at the first level too many: %s', (_, text, column) => {
    const line = text.includes('\n') ? 2 : 1;
    expect(faultsOf(() => loadPolicy(text, 'p.yaml'))).toEqual([
      { at: `p.yaml:${line}:${column}`, message: 'more than 64 levels of nesting' },
    ]);
  });

  it('takes brackets in texts and comments, and many items, for no levels', () => {
    const text = `# ${'['.repeat(500)}\n${yaml(`rules:\n  - { name: '${'['.repeat(200)}', when: "true", ${grant} }`)}`;
    expect(() => loadPolicy(text, 'p.yaml')).not.toThrow();
  });

  it('a policy file of some megabytes is refused before it is parsed', () => {
    const text = '# a comment\n'.repeat(400_000);
    expect(faultsOf(() => loadPolicy(text, 'p.yaml'))).toEqual([
      { at: 'p.yaml:1:1', message: expect.stringContaining('4,800,000 characters, and may have 2,000,000') },
    ]);
  });

  // Some took half a minute, during which the process answered nobody.
  const many = Array.from({ length: 40_000 }, (_, nth) => `k${nth.toString(36)}`);
  it.each([
    ['unknown fields', `${yaml('rules: []')}\n${many.map((key) => `${key}:\n`).join('')}`],
    ['unknown fields in braces', `{${many.join(', ')}}`],
    [
      'wrong templates',
      yaml(`rules: []`).replace('templates:\n', `templates:\n${many.map((key) => `  ${key}: 1\n`).join('')}`),
    ],
    ['repeated keys', `${yaml('rules: []')}\n${many.map(() => 'version: 1\n').join('')}`],
    ['marks that belong nowhere', ']\n'.repeat(40_000)],
  ])('a policy file of forty thousand faults tells the first of them within seconds: %s', (_, text) => {
    const began = performance.now();
    expect(faultsOf(() => loadPolicy(text, 'p.yaml'))).toHaveLength(200);
    expect(performance.now() - began).toBeLessThan(10_000);
  });

  it('may not name one field twice', () => {
    const text = yaml('rules: []').replace('workspace: flights', 'workspace: flights\nversion: 1');
    expect(faultsOf(() => loadPolicy(text, 'p.yaml'))).toEqual([
      { at: 'p.yaml:4:1', message: 'not valid YAML: Map keys must be unique' },
    ]);
  });

  it('reports faults of its structure, including unknown fields', () => {
    const text = yaml(`rules:
  - name: first
    when: "true"
    grant: {templates: [delays], expiryMinutes: 0, permission: [x], permissions: [isDisableMetricCreation]}
`);
    const faults = faultsOf(() => loadPolicy(text, 'p.yaml'));
    expect(faults.map(({ at }) => at).toSorted()).toEqual(['p.yaml:14:49', 'p.yaml:14:52', 'p.yaml:14:83']);
    expect(JSON.stringify(faults)).toContain(
      'rules[0].grant.permission: is not a field; did you mean \\"permissions\\"?',
    );
  });

  it.each([
    ['rules: [', /not valid YAML/],
    ['version: 2', /not valid YAML: Map keys must be unique/],
    ['', /rules/],
  ])('a policy file is refused that has %j', (text, message) => {
    expect(JSON.stringify(faultsOf(() => loadPolicy(yaml(text), 'p.yaml')))).toMatch(message);
  });

  it('reports the file that cannot be read', () => {
    expect(faultsOf(() => loadPolicyFile('/nowhere/policy.yaml'))).toEqual([
      { at: '/nowhere/policy.yaml:1:1', message: expect.stringContaining('ENOENT') },
    ]);
  });

  it.each(['a--b', 'a-', '-a', 'a b', 'ä', ''])('refuses %j as the name of a template', (name) => {
    expect(faultsOf(() => policyOf({ templates: { ...basePolicy.templates, [name]: { name: 'X' } } }))).not.toEqual([]);
  });
});

const faultOfWhen = (when: string): string =>
  faultsOf(() => policyOf({ rules: [{ name: 'r', when, grant: { templates: ['delays'] } }] }))
    .map(({ message }) => message)
    .join();

describe('an expression is refused when the policy is loaded', () => {
  it.each([
    ['user.id.matches("(a+)+b")', /matches\(\) is not available/],
    ['user.roles.exists(r, r.matches("x"))', /matches\(\) is not available/],
    ['user.roles.all(a, user.roles.all(b, user.roles.all(c, a == b && b == c)))', /may be nested 2 deep/],
    ['user.role == "x"', /No such key: role/],
    ['user.constructor == user.id', /No such key: constructor/],
    ['claims.region == "CA"', /claims/],
    ['user.roles', /gives list<string> where bool/],
    ['user.id ==', /Unexpected token/],
    ['process.exit()', /process/],
  ])('a faulty expression is refused when the policy is loaded: %s', (when, message) => {
    expect(faultOfWhen(when)).toMatch(message);
  });

  it('if a restriction would depend on whether a claim exists', () => {
    const restrictions = [{ name: 'r', when: 'has(user.claims.region)', restrict: { hideDashboardFilters: ['Date'] } }];
    expect(JSON.stringify(faultsOf(() => policyOf({ restrictions })))).toContain('must not depend on whether a claim');
  });

  it('if one filter is written in two ways', () => {
    const restrictions = ['State', 'state'].map((name, index) => ({
      name: `r${index}`,
      when: 'true',
      restrict: { dashboardFilters: { [name]: 'user.claims.region' } },
    }));
    expect(JSON.stringify(faultsOf(() => policyOf({ restrictions })))).toContain('spell one name in one way');
  });

  it('if a restriction restricts nothing', () => {
    const restrictions = [{ name: 'r', when: 'true', restrict: { dashboardFilters: {} } }];
    expect(JSON.stringify(faultsOf(() => policyOf({ restrictions })))).toContain('restricts nothing');
  });

  it('if a restriction shows values of filters that it does not restrict', () => {
    const faultOf = (restrict: object) =>
      JSON.stringify(faultsOf(() => policyOf({ restrictions: [{ name: 'r', when: 'true', restrict }] })));
    expect(faultOf({ show: true })).toContain('restricts nothing');
    expect(faultOf({ show: true, rls: { state: '"CA"' } })).toContain('show needs dashboardFilters');
  });

  it('if it is longer than any rule needs', () => {
    expect(faultOfWhen(Array.from({ length: 300 }, () => 'true').join(' && '))).toMatch(/exceed/i);
  });
});
