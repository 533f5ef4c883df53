import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { PolicyFaults } from '../../src/gateway/policy/source.js';
import { listTestFiles } from '../../src/gateway/policy-tools/files.js';
import { countFailed, runPolicyTests, writeTestReport } from '../../src/gateway/policy-tools/test.js';
import { loadPolicyTestFile } from '../../src/gateway/policy-tools/test-file.js';
import { basePolicy } from './policies.js';

const folder = mkdtempSync(join(tmpdir(), 'guestlist-policy-'));
const shipped = fileURLToPath(new URL('../../config/policies', import.meta.url));
const user = { sub: 'ann', org_id: 'LAX', roles: ['analyst'], states: ['CA', 'NV'], region: 'CA' };
const all = { tenant: 'LAX', templates: ['delays', 'routes'] };

/** Reads tests from this text, as the file of this name. */
const testsOf = (text: string, name: string) => {
  const file = join(folder, name);
  writeFileSync(file, text);
  return loadPolicyTestFile(file);
};

/** Runs one test of the base policy with some of its fields replaced. */
const run = async (policy: object, expect: object, test: object = {}) => {
  const file = join(folder, 'p.yaml');
  writeFileSync(file, JSON.stringify({ ...basePolicy, ...policy }, null, 2));
  const tests = testsOf(JSON.stringify({ tests: [{ name: 'one', user, expect, ...test }] }, null, 2), 'p.test.yaml');
  const report = await runPolicyTests([tests]);
  const differences = report.files.flatMap(({ results }) => results).flatMap((result) => result.differences);
  return { report, differences, fields: differences.map(({ field }) => field) };
};
const restricting = (...list: object[]) => ({
  restrictions: list.map((restrict, index) => ({ name: `r${index}`, when: 'true', restrict })),
});
const faultsOf = (document: unknown) => {
  try {
    testsOf(typeof document === 'string' ? document : JSON.stringify(document, null, 2), 't.test.yaml');
  } catch (error) {
    if (error instanceof PolicyFaults)
      return error.faults.map(({ at, message }) => ({
        at: at.replace(`${folder}/`, ''),
        message: message.replaceAll(`${folder}/`, ''),
      }));
    throw error;
  }
  return [];
};

describe('the shipped policy', () => {
  it('passes its own tests, which use each rule and restriction', async () => {
    const report = await runPolicyTests(listTestFiles([shipped]).map(loadPolicyTestFile));
    expect(report.files.flatMap(({ results }) => results).length).toBeGreaterThan(10);
    expect(countFailed(report)).toBe(0);
    expect(report.untried).toEqual([]);
  });
});

describe('leak 12: a missing or shorter filter fails the test', () => {
  const filtered = restricting({ rls: { state: 'user.claims.states' } });
  it.each([
    ['equal', filtered, { rls: { state: ['NV', 'CA'] } }, []],
    ['shipped without', {}, { rls: { state: ['CA', 'NV'] } }, ['restrictions.rls.state']],
    [
      'shorter than expected',
      restricting({ rls: { state: '["CA"]' } }),
      { rls: { state: ['CA', 'NV'] } },
      ['restrictions.rls.state'],
    ],
    ['longer than expected', filtered, { rls: { state: ['CA'] } }, ['restrictions.rls.state']],
    ['not mentioned', filtered, undefined, ['restrictions.rls.state']],
    ['not mentioned among others', filtered, { rls: {} }, ['restrictions.rls.state']],
    [
      'under another name',
      filtered,
      { rls: { State: ['CA', 'NV'] } },
      ['restrictions.rls.State', 'restrictions.rls.state'],
    ],
    [
      'in another field',
      filtered,
      { appFilters: { state: ['CA', 'NV'] } },
      ['restrictions.appFilters.state', 'restrictions.rls.state'],
    ],
    [
      'of which the value is a part',
      restricting({ rls: { state: '"CA, NV"' } }),
      { rls: { state: 'CA' } },
      ['restrictions.rls.state'],
    ],
    ['text for a number', restricting({ rls: { state: '1' } }), { rls: { state: '1' } }, ['restrictions.rls.state']],
    [
      'shown',
      restricting({ dashboardFilters: { state: '"CA"' }, show: true }),
      { dashboardFilters: { state: 'CA' } },
      ['restrictions.shownFilters'],
    ],
    ['hidden', restricting({ hideDashboardFilters: ['Date'] }), undefined, ['restrictions.hideDashboardFilters']],
    [
      'hidden metrics',
      restricting({ hideMetrics: { delays: ['m', 'n'] } }),
      { hideMetrics: { delays: ['m'] } },
      ['restrictions.hideMetrics.delays'],
    ],
    ['disabled', restricting({ isDisableMetricCreation: true }), undefined, ['restrictions.isDisableMetricCreation']],
  ])(
    'leak 12: a test of a policy fails if a filter is not the expected one: %s',
    async (_, policy, restrictions, fields) => {
      expect((await run(policy, { ...all, restrictions })).fields).toEqual(fields);
    },
  );
});

it('distinguishes a number from its text, and a value from a list of one', async () => {
  const policy = restricting({ rls: { n: '1', v: '["a"]' } });
  const { differences } = await run(policy, { ...all, restrictions: { rls: { n: '1', v: 'a' } } });
  expect(differences.map(({ expected, actual }) => [expected, actual])).toEqual([
    ['"1"', '1'],
    ['"a"', '["a"]'],
  ]);
});

describe('a test fails if the grant contains more than it expects', () => {
  const granting = (grant: object) => ({
    rules: [{ name: 'r', when: 'true', grant: { templates: ['delays', 'routes'], ...grant } }],
  });
  it.each([
    [{ permissions: ['isEnableUnderlyingData'] }, 'permissions'],
    [{ timezone: '"UTC"' }, 'timezone'],
    [{ expiryMinutes: 61 }, 'expiryMinutes'],
    [{ templates: ['delays', 'routes', 'third-one'] }, 'templates'],
    [{ accessPermissions: { isAllowMetricFilterNameChange: true } }, 'accessPermissions'],
  ])('a test fails if the grant contains more than it expects: %j', async (grant, field) => {
    expect((await run(granting(grant), all)).fields).toContain(field);
    expect((await run(granting({}), all)).fields).toEqual([]);
  });

  it('a failed test of a policy names the origin of what the grant has beyond it', async () => {
    const { differences, report } = await run(granting({ permissions: ['isShowSideBar'] }), all);
    expect(differences).toEqual([
      {
        field: 'permissions',
        expected: 'none',
        actual: 'isShowSideBar',
        because: [expect.stringMatching(/^"isShowSideBar" from "r" at .*p\.yaml:\d+:\d+$/)],
      },
    ]);
    expect(writeTestReport(report)).toMatch(
      /FAIL one \(.*p\.test\.yaml:4:\d+\)\n.*permissions\n.*none\n.*isShowSideBar/,
    );
    expect(writeTestReport(report)).toMatch(/1 test, 1 failed$/);
  });
});

describe('an expectation', () => {
  it('uses the complete request: claims, body and time', async () => {
    const policy = {
      rules: [
        {
          name: 'in 2026',
          when: 'now.getFullYear() == 2026',
          grant: { templates: ['delays', 'routes'], timezone: 'request' },
        },
      ],
    };
    const body = { embeds: ['routes'], timezone: 'Europe/Lisbon', tenant: 'LAX' };
    const granted = { tenant: 'LAX', templates: ['routes'], embeds: ['routes--LAX'], timezone: 'Europe/Lisbon' };
    expect((await run(policy, granted, { body })).differences).toEqual([]);
    expect((await run(policy, { denied: 'NO_POLICY' }, { now: '2027-01-01T00:00:00Z' })).differences).toEqual([]);
    expect((await run(policy, granted, { body: { ...body, embeds: ['delays'] } })).fields).toEqual([
      'templates',
      'embeds',
    ]);
    expect((await run(policy, { ...granted, tenant: 'ATL' }, { body })).fields).toEqual(['tenant']);
  });

  it.each([
    ['SESSION_INVALID', {}, { user: { org_id: 'LAX' } }],
    ['NO_TENANT', {}, { user: { sub: 'ann' } }],
    ['NO_TENANT', {}, { body: { tenant: 'ATL' } }],
    ['NO_POLICY', { rules: [{ name: 'r', when: 'false', grant: { templates: ['delays'] } }] }, {}],
    ['POLICY_UNDECIDED', restricting({ rls: { v: '""' } }), {}],
    ['EMBED_NOT_GRANTED', {}, { body: { embeds: ['third-one'] } }],
    ['INVALID_REQUEST_BODY', {}, { body: { timezone: 'UTC' } }],
  ])('is denied with %s', async (denied, policy, test) => {
    expect((await run(policy, { denied }, test)).differences).toEqual([]);
    const other = denied === 'NO_POLICY' ? 'NO_TENANT' : 'NO_POLICY';
    expect((await run(policy, { denied: other }, test)).fields).toEqual(['denied']);
    expect((await run(policy, all, test)).fields).toEqual(['denied']);
  });

  it('an expectation of a denial fails if the request is granted', async () => {
    expect((await run({}, { denied: 'NO_POLICY' })).differences).toMatchObject([
      { field: 'denied', expected: 'NO_POLICY', actual: 'granted delays--LAX, routes--LAX' },
    ]);
  });

  it('an expectation of a denial must name the right rule', async () => {
    const denied = 'POLICY_UNDECIDED';
    const missing = restricting({ hideDashboardFilters: ['a'] }, { rls: { v: 'user.claims.zoneinfo' } });
    expect((await run(missing, { denied, by: 'r1' })).differences).toEqual([]);
    expect((await run(missing, { denied, by: 'r0' })).differences).toMatchObject([{ field: 'by', actual: 'r1' }]);
    const empty = restricting({ rls: { v: '"a"' } }, { rls: { w: '"a"' } }, { rls: { v: '"b"' } });
    expect((await run(empty, { denied, by: 'r2' })).differences).toEqual([]);
    expect((await run(empty, { denied, by: 'r1' })).differences).toMatchObject([{ field: 'by', actual: 'r0, r2' }]);
  });

  it('reports a rule that no test matches', async () => {
    const rules = [...basePolicy.rules, { name: 'untried', when: 'false', grant: { templates: ['third-one'] } }];
    const { report } = await run({ rules }, all);
    expect(report.untried).toEqual([{ name: 'untried', at: expect.stringMatching(/p\.yaml:\d+:\d+$/) }]);
    expect(writeTestReport(report)).toContain('In no test does this match:\n  "untried"');
  });
});

describe('a faulty file of tests', () => {
  const test = (expect: object, more: object = {}) => ({ tests: [{ name: 'a', user, expect, ...more }] });
  it.each([
    ['expects nothing', test({}), /expects too little/],
    ['expects no tenant', test({ templates: ['delays'] }), /expects too little/],
    ['expects no template', test({ tenant: 'LAX' }), /expects too little/],
    ['expects an empty list', test({ ...all, restrictions: { rls: { v: [] } } }), /restrictions\.rls\.v/],
    ['expects a grant beside a denial', test({ denied: 'NO_POLICY', templates: ['delays'] }), /cannot be used with/],
    ['names a code that there is not', test({ denied: 'NO_POLICIES' }), /denied/],
    ['names who, where nobody is', test({ denied: 'NO_POLICY', by: 'r' }), /belongs to/],
    [
      'has an unknown field',
      test({ ...all, permission: ['isShowSideBar'] }),
      /tests\[0\]\.expect\.permission: is not a field; did you mean "permissions"/,
    ],
    [
      'has an unknown field of the file',
      { test: [], tests: test(all).tests },
      /test: is not a field; did you mean "tests"\?/,
    ],
    ['has an unknown permission', test({ ...all, permissions: ['isShowSidebar'] }), /permissions\[0\]: .*did you mean/],
    ['has an unknown field of the body', test(all, { body: { roles: [] } }), /body\.roles: is not a field; /],
    ['has no moment', test(all, { now: 'yesterday' }), /now/],
    ['has no test', { tests: [] }, /would always pass/],
    ['has no tests', {}, /tests/],
    ['tests twice', { tests: [...test(all).tests, ...test(all).tests] }, /rename one/],
    ['is no YAML', 'tests: [', /not valid YAML/],
  ])('a faulty file of tests is refused: %s', (_, document, message) => {
    expect(
      faultsOf(document)
        .map((fault) => fault.message)
        .join('\n'),
    ).toMatch(message);
  });

  it('reports all faults with file, line and column', () => {
    const text =
      'tests:\n  - name: a\n    user: {sub: x}\n    expect:\n      templats: [a]\n  - name: b\n    usr: {}\n';
    expect(faultsOf(text).map(({ at }) => at)).toEqual(expect.arrayContaining(['t.test.yaml:5:7', 't.test.yaml:7:5']));
  });

  it('reports a missing policy', async () => {
    const tests = testsOf(JSON.stringify({ policy: 'gone.yaml', ...test(all) }), 'x.test.yaml');
    await expect(runPolicyTests([tests])).rejects.toThrow(/gone\.yaml:1:1: the policy file cannot be read/);
  });
});
