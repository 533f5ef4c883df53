/** Parts of a policy that differ for some tenants. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createPolicyStep } from '../../src/gateway/policy/decide.js';
import { isGrantSubset } from '../../src/gateway/policy/grant-subset.js';
import { loadPolicy, loadPolicyFile } from '../../src/gateway/policy/load.js';
import { type Policy, policyFor } from '../../src/gateway/policy/policy.js';
import { PolicyFaults } from '../../src/gateway/policy/source.js';
import { basePolicy, policyOf } from './policies.js';

const clock = { now: () => new Date('2026-03-04T05:06:07Z') };
const decideBy = (policy: Policy, clientId: string, claims: Record<string, unknown> = {}) =>
  createPolicyStep(clock)(
    policy,
    { issuer: 'i', subject: 'ann', userIdentifier: 'i|ann', issuedAtMs: null, claims },
    clientId,
    {},
  );
const rule = (name: string, templates: readonly string[], more: object = {}) => ({
  name,
  when: 'true',
  grant: { templates, ...more },
});
const restriction = (name: string, state: string) => ({
  name,
  when: 'true',
  restrict: { dashboardFilters: { State: state } },
});
const faultsOf = (load: () => unknown) => {
  try {
    load();
  } catch (error) {
    if (error instanceof PolicyFaults) return error.faults;
    throw error;
  }
  throw new Error('the policy was accepted');
};

const restricted = policyOf({
  rules: [rule('all', ['delays'], { timezone: '"UTC"' }), rule('more', ['routes'])],
  restrictions: [restriction('everybody', '["CA", "NV", "OR"]')],
  tenants: [
    {
      name: 'pilot',
      clientIds: ['LAX', 'BUR'],
      withoutRules: ['more'],
      expiryMinutes: 15,
      templates: { delays: { name: 'Delays of the west' } },
      rules: [rule('third', ['third-one'], { timezone: '"America/Los_Angeles"', embeds: ['overview'] })],
      restrictions: [restriction('home', '["CA", "WA"]')],
    },
    { name: 'again', clientIds: ['LAX'], expiryMinutes: 20, restrictions: [restriction('nothing else', '["CA"]')] },
  ],
});

describe('a tenant with overrides', () => {
  it('has its own rules, the others except those that are switched off, and all restrictions', () => {
    const grant = decideBy(restricted, 'LAX');
    expect(grant.templates.map(({ template, name }) => [template, name])).toEqual([
      ['delays', 'Delays of the west'],
      ['third-one', 'Third'],
    ]);
    expect(grant.embeds).toEqual(['overview']);
    expect(grant.timezone).toBe('America/Los_Angeles');
    expect(grant.expiryMs).toBe(15 * 60_000);
    expect([...grant.restriction.dashboardFilters]).toEqual([['State', ['CA']]]);
    expect([...decideBy(restricted, 'BUR').restriction.dashboardFilters]).toEqual([['State', ['CA']]]);
  });

  it('does not affect any other tenant', () => {
    const grant = decideBy(restricted, 'lax');
    expect(grant.templates.map(({ name }) => name)).toEqual(['Delays', 'Routes']);
    expect([grant.embeds, grant.timezone, grant.expiryMs]).toEqual([[], 'UTC', 60 * 60_000]);
    expect([...grant.restriction.dashboardFilters]).toEqual([['State', ['CA', 'NV', 'OR']]]);
  });

  it('is denied if no rule is left, or its restrictions leave nothing', () => {
    const off = policyOf({ tenants: [{ name: 'off', clientIds: ['LAX'], withoutRules: ['all'] }] });
    expect(() => decideBy(off, 'LAX')).toThrow(/No rule of/);
    const empty = policyOf({
      restrictions: [restriction('everybody', '["CA"]')],
      tenants: [{ name: 'other', clientIds: ['LAX'], restrictions: [restriction('own', '["NV"]')] }],
    });
    expect(() => decideBy(empty, 'LAX')).toThrow(/could not be decided/);
  });

  it('takes the same time among many tenants', () => {
    const tenants = Array.from({ length: 500 }, (_, index) => ({
      name: `o${index}`,
      clientIds: [`T${index}`, 'ALL'],
      ...(index === 0 ? { expiryMinutes: 5 } : { restrictions: [restriction('own', '["CA"]')] }),
    }));
    const policy = policyOf({ tenants });
    expect(policyFor(policy, 'T7').restrictions).toHaveLength(1);
    expect(policyFor(policy, 'ALL').restrictions).toHaveLength(499);
    expect(policyFor(policy, 'T500')).toBe(policy);
  });
});

describe('leak 18: an override never loosens a restriction', () => {
  const values = fc.array(fc.constantFrom('CA', 'NV', 'OR', 'WA'), { minLength: 1, maxLength: 4 });
  const stated = values.map((list) => JSON.stringify(list));
  const override = fc.record({
    withoutRules: fc.subarray(['all', 'more']),
    expiryMinutes: fc.integer({ min: 1, max: 600 }),
    rules: fc.subarray([rule('a', ['delays']), rule('b', ['third-one'], { permissions: ['isEnableUnderlyingData'] })]),
    restrictions: fc
      .array(stated, { maxLength: 3 })
      .map((all) => all.map((list, index) => restriction(`r${index}`, list))),
  });
  const grantOf = (policy: Policy) => {
    try {
      return decideBy(policy, 'LAX');
    } catch {
      return null;
    }
  };
  const base = (own: string) => ({
    rules: [rule('all', ['delays']), rule('more', ['routes'])],
    restrictions: [
      {
        ...restriction('everybody', own),
        restrict: { dashboardFilters: { State: own }, hideMetrics: { delays: ['x'] }, isDisableMetricCreation: true },
      },
    ],
  });
  it('leak 18: no override at random loosens a restriction', () => {
    fc.assert(
      fc.property(stated, fc.array(override, { minLength: 1, maxLength: 3 }), (own, overrides) => {
        const before = grantOf(policyOf(base(own)));
        const tenants = overrides.map((given, index) => ({ name: `o${index}`, clientIds: ['LAX'], ...given }));
        const after = grantOf(policyOf({ ...base(own), tenants }));
        if (before === null || after === null) return;
        // Compares only restrictions: builds a grant with the old restrictions and the new permissions.
        expect(isGrantSubset(after, { ...after, restriction: before.restriction })).toBe(true);
      }),
      { numRuns: 60 },
    );
  });
});

describe('the faults of overrides', () => {
  const faultsIn = (override: object, more: object = {}) =>
    faultsOf(() => policyOf({ ...more, tenants: [{ name: 'o', clientIds: ['LAX'], expiryMinutes: 5, ...override }] }))
      .map(({ message }) => message)
      .join('\n');

  it.each([
    [{ withoutRules: ['al'] }, '"al" is not one of the policy\'s rules (all)'],
    [{ withoutRules: ['everybody'] }, '"everybody" is a restriction, which applies to every tenant'],
    [{ templates: { delais: { name: 'x' } } }, '"delais" is not one of this policy\'s templates'],
    [{ rules: [rule('all', ['delays'])] }, '"all" names another entry of rules too'],
    [{ rules: [rule('r', ['delais'])] }, '"delais" is not one of this policy\'s templates'],
    [{ rules: [rule('r', [], { embeds: ['delays'] })] }, '"delays" is a template, which no tenant may see itself'],
    [
      { restrictions: [{ ...restriction('r', '"CA"'), when: 'has(user.claims.region)' }] },
      'must not depend on whether',
    ],
    [
      {
        restrictions: [
          { ...restriction('r', '"CA"'), restrict: { rls: { LEVEL: '1' }, dashboardFilters: { state: '"x"' } } },
        ],
      },
      '"state" is spelt "State" elsewhere',
    ],
    [
      { restrictions: [{ ...restriction('r', '"CA"'), restrict: { hideMetrics: { nowhere: ['x'] } } }] },
      '"nowhere" is not one of',
    ],
    [{ clientIds: [] }, 'clientIds'],
    [{ expiryMinutes: undefined }, 'changes nothing'],
    [{ withoutRestrictions: ['everybody'] }, 'tenants[0].withoutRestrictions: is not a field; the fields are: name'],
  ])('the faults of overrides are found: %j', (override, message) => {
    expect(faultsIn(override, { restrictions: [restriction('everybody', '["CA"]')] })).toContain(message);
  });

  it('include two names of one template for one tenant', () => {
    const named = (name: string) => ({ name, clientIds: ['LAX'], templates: { delays: { name } } });
    const [fault, ...others] = faultsOf(() => policyOf({ tenants: [named('A'), named('B')] }));
    expect(fault?.message).toBe('"delays" has another name for "LAX" in "A" already; keep one of them');
    expect(others).toEqual([]);
  });
});

describe('files of overrides beside the policy', () => {
  const folder = () => {
    const path = mkdtempSync(join(tmpdir(), 'guestlist-policy-'));
    onTestFinished(() => rmSync(path, { recursive: true }));
    return path;
  };
  const text = (parts: object) => JSON.stringify({ ...basePolicy, ...parts }, null, 2);
  const own = (clientIds: readonly string[]) => `version: 1
tenants:
  - name: own
    clientIds: ${JSON.stringify(clientIds)}
    expiryMinutes: 7
`;

  it('are read by name, and from folders in the order of their names', () => {
    const path = folder();
    mkdirSync(join(path, 'tenants'));
    writeFileSync(join(path, 'policy.yaml'), text({ tenantFiles: ['tenants', 'one.tenants.yaml'] }));
    writeFileSync(join(path, 'tenants', 'b.tenants.yaml'), own(['B']));
    writeFileSync(join(path, 'tenants', 'a.tenants.yaml'), own(['A']));
    writeFileSync(join(path, 'tenants', 'notes.yaml'), 'not for us');
    writeFileSync(join(path, 'one.tenants.yaml'), own(['C']));
    const policy = loadPolicyFile(join(path, 'policy.yaml'));
    expect([...policy.overrides.keys()]).toEqual(['A', 'B', 'C']);
    expect(policyFor(policy, 'C').expiryMinutes).toBe(7);
    expect(policy.files.map(({ file }) => file.slice(path.length + 1))).toEqual([
      'policy.yaml',
      'tenants/a.tenants.yaml',
      'tenants/b.tenants.yaml',
      'one.tenants.yaml',
    ]);
    const [{ file, text: ownText } = { file: '', text: '' }, ...beside] = policy.files;
    expect(loadPolicy(ownText, file, beside)).toMatchObject({ digest: policy.digest, meaning: policy.meaning });
  });

  it('report the faults of all files at once, each with its file, line and column', () => {
    const path = folder();
    const policy = join(path, 'policy.yaml');
    writeFileSync(policy, text({ rules: [rule('all', ['delais'])], tenantFiles: ['a.tenants.yaml'] }));
    writeFileSync(
      join(path, 'a.tenants.yaml'),
      own(['LAX']).replace(
        'expiryMinutes: 7',
        'rules: [{name: r, when: user.idd == "x", grant: {templates: [delays]}}]\n    withoutRules: [nobody]',
      ),
    );
    expect(
      faultsOf(() => loadPolicyFile(policy)).map(({ at, message }) => [at.slice(path.length + 1), message]),
    ).toEqual([
      ['policy.yaml:36:11', expect.stringContaining('"delais"')],
      ['a.tenants.yaml:5:34', expect.stringContaining('No such key: idd')],
      ['a.tenants.yaml:6:20', expect.stringContaining('"nobody"')],
    ]);
  });

  it('report structural faults together with those of the policy, and missing files', () => {
    const path = folder();
    const policy = join(path, 'policy.yaml');
    writeFileSync(policy, text({ expiryMinutes: 0, tenantFiles: ['a.tenants.yaml', 'gone.tenants.yaml'] }));
    writeFileSync(join(path, 'a.tenants.yaml'), 'version: 1\ntenants: [{name: x}]\n');
    const faults = faultsOf(() => loadPolicyFile(policy)).map(
      ({ at, message }) => `${at.slice(path.length + 1)} ${message}`,
    );
    expect(faults).toEqual([
      expect.stringMatching(/^policy.yaml:\d+:20 expiryMinutes/),
      expect.stringMatching(/^policy.yaml:\d+:\d+ "gone.tenants.yaml" cannot be read \(ENOENT\)/),
      expect.stringMatching(/^a.tenants.yaml:2:11 tenants\[0\]\.clientIds: is missing/),
    ]);
  });
});

describe('the digests of a policy', () => {
  it('change with its text, or only with its meaning', () => {
    const text = JSON.stringify(basePolicy);
    const [first, commented, other] = [text, `# a comment\n${text}`, text.replace('"Delays"', '"Late"')].map((given) =>
      loadPolicy(given, 'p.yaml'),
    );
    expect(commented?.digest).not.toBe(first?.digest);
    expect(commented?.meaning).toBe(first?.meaning);
    expect(other?.meaning).not.toBe(first?.meaning);
  });

  it('have the same meaning as in a release that does not know a field, where it has its default', () => {
    const meaningOf = (parts: object): string =>
      loadPolicy(JSON.stringify({ ...basePolicy, ...parts }), 'p.yaml').meaning;
    const restricted = (restrict: object) => ({
      restrictions: [{ name: 'all', when: 'true', restrict: { isDisableMetricCreation: true, ...restrict } }],
    });
    const plain = meaningOf(restricted({}));
    expect(meaningOf({ knownTenants: false, ...restricted({ hideColumns: [], maskColumns: {}, quota: {} }) })).toBe(
      plain,
    );
    for (const restrict of [{ hideColumns: ['main.flights.delay'] }, { quota: { seats: 3 } }])
      expect(meaningOf(restricted(restrict))).not.toBe(plain);
  });
});
