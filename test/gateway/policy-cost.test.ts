/**
 * A policy that could block the event loop is refused when it is loaded, and lists in a session have a maximum length.
 */
import { describe, expect, it } from 'vitest';
import type { Session } from '../../src/gateway/authenticate/signed-session.js';
import { celClaims } from '../../src/gateway/policy/claim-values.js';
import { variablesOf } from '../../src/gateway/policy/decide.js';
import { createCompilers } from '../../src/gateway/policy/expression.js';
import { maxClaimList, maxClaimText, maxExpressionCost } from '../../src/gateway/policy/expression-cost.js';
import { type PolicyFault, PolicyFaults } from '../../src/gateway/policy/source.js';
import { basePolicy, policyOf } from './policies.js';

const faultsOf = (load: () => unknown): readonly PolicyFault[] => {
  try {
    load();
    return [];
  } catch (error) {
    if (error instanceof PolicyFaults) return error.faults;
    throw error;
  }
};

const claims = { groups: 'list<string>', teams: 'list<string>', region: 'string' } as const;

const compile = (source: string) => createCompilers(claims).policy({ source, at: 'p.yaml:1:1', expected: ['bool'] });

const costOf = (source: string): number => {
  const compiled = compile(source);
  if (!('cost' in compiled)) throw new Error(compiled.message);
  return compiled.cost;
};

const many = maxClaimList;

describe('the maximum cost of an expression is computed from its text', () => {
  it.each([
    ['user.id == tenant.id', 5],
    ['"a" in user.roles', 4 + many],
    ['user.roles.exists(r, r == "a")', 3 + many * 4],
    ['user.roles.exists(r, r in user.claims.groups)', 3 + many * (1 + 5 + many)],
    ['user.roles.filter(r, r == "a").exists(r, r == "b")', 4 + 2 * many * 4],
    ['user.roles.map(a, user.claims.groups).exists(g, g.exists(b, b == "c"))', 4 + many * 4 + many * (3 + many * 4)],
    ['["a", "b"].all(a, a in user.roles)', 4 + 2 * (1 + 4 + many)],
    ['(user.roles + user.claims.groups).exists(r, r == "a")', 7 + 2 * many + 2 * many * 4],
    ['(user.id == "x" ? user.roles : []).exists(r, r == "a")', 9 + many * 4],
    ['cel.bind(all, user.roles + user.roles, all.exists(r, r == "a"))', 8 + 2 * many + 2 * many * 4],
    ['user.claims.region.split(",").exists(p, p == "a")', 6 + maxClaimText * 5],
  ])('the maximum cost of an expression is computed from its text: %s', (source, cost) => {
    expect(costOf(source)).toBe(cost);
  });

  it('comparing all roles with all groups is within the limit', () => {
    expect(costOf('user.roles.exists(r, user.claims.groups.exists(g, g == r))')).toBeLessThan(maxExpressionCost);
  });

  it('an expression with `now` is evaluated for each minute of an hour', () => {
    expect(costOf('now > timestamp("2026-01-01T00:00:00Z") && "a" in user.roles')).toBeGreaterThan(80 * many);
  });
});

describe('is refused when the policy is loaded', () => {
  const faultOf = (when: string): string =>
    faultsOf(() =>
      policyOf({
        session: { ...basePolicy.session, tenant: 'claims.region', roles: 'claims.groups', claims },
        rules: [{ name: 'r', when, grant: { templates: ['delays'] } }],
      }),
    )
      .map(({ at, message }) => `${at} ${message}`)
      .join();

  it.each([
    'user.roles.exists(a, user.claims.groups.exists(b, a + b == "x" || a.startsWith(b) || b.contains(a)))',
    'user.roles.map(a, user.claims.groups).exists(all, all.exists(b, b == "c" || b == "d"))',
    'user.roles.exists(r, user.claims.region.split(",").exists(p, p == r))',
    '(user.roles + user.claims.groups).exists(a, (user.roles + user.claims.groups).exists(b, a == b))',
    'user.roles.exists(a, user.claims.groups.exists(b, a == b)) || user.roles.exists(a, user.claims.teams.exists(b, a == b))',
  ])('an expression of too high a cost is refused when the policy is loaded: %s', (when) => {
    const fault = faultOf(when);
    expect(fault).toMatch(
      /^test\.yaml:\d+:\d+ rules\.0\.when: takes up to [\d,]{7,} steps where each list has 256 entries; /,
    );
    expect(fault).toContain('an expression may take 300,000');
    expect(fault).toContain(when);
  });

  it('a comparison of two lists for each minute', () => {
    const fault = faultOf('user.roles.exists(r, r in user.claims.groups) && now.getHours() < 18');
    expect(fault).toContain('because what reads `now` is evaluated up to 80 times');
  });

  it('a policy whose expressions together cost too much', () => {
    const when = 'user.roles.exists(r, user.claims.groups.exists(g, g == r))';
    const rules = Array.from({ length: 4 }, (_, index) => ({
      name: `r${index}`,
      when,
      grant: { templates: ['delays'] },
    }));
    const [fault, ...others] = faultsOf(() =>
      policyOf({ session: { ...basePolicy.session, tenant: 'claims.region', roles: 'claims.groups', claims }, rules }),
    );
    expect(others).toEqual([]);
    expect(fault?.message).toMatch(
      /^the expressions that one request evaluates take up to 1,\d{3},\d{3} steps together/,
    );
    expect(fault?.message).toContain(`(${when})`);
  });

  it('an override that makes a policy cost too much', () => {
    const when = 'user.roles.exists(r, user.claims.groups.exists(g, g == r))';
    const rules = (from: number, to: number) =>
      Array.from({ length: to - from }, (_, index) => ({
        name: `r${from + index}`,
        when,
        grant: { templates: ['delays'] },
      }));
    const faults = faultsOf(() =>
      policyOf({
        session: { ...basePolicy.session, tenant: 'claims.region', roles: 'claims.groups', claims },
        rules: rules(0, 2),
        tenants: [{ name: 'dear', clientIds: ['acme', 'beta'], rules: rules(2, 5) }],
      }),
    );
    expect(faults.map(({ message }) => message)).toEqual([expect.stringMatching(/^with the overrides of "acme", the/)]);
  });
});

describe('lists and texts in a session have a limit', () => {
  it('a longer list or text counts as a claim of the wrong type', () => {
    const list = (length: number) => Array.from({ length }, (_, index) => `g${index}`);
    const read = celClaims({ groups: list(many), teams: list(many + 1), region: 'x'.repeat(maxClaimText + 1) }, claims);
    expect(read).toEqual({ groups: list(many), teams: null, region: null });
  });

  it('more roles than an expression may iterate over are denied', () => {
    const policy = policyOf({
      session: { tenant: 'claims.region', roles: 'claims.groups + claims.teams', claims },
    });
    const list = (name: string, length: number) => Array.from({ length }, (_, index) => `${name}${index}`);
    const session = (given: object) =>
      ({ issuer: 'i', subject: 's', userIdentifier: 'i|s', claims: given }) as unknown as Session;
    const variables = (teams: number) =>
      variablesOf(policy, session({ groups: list('g', many), teams: list('t', teams) }), 'acme', new Date(0));
    expect(variables(0).user.roles).toHaveLength(many);
    expect(() => variables(1)).toThrow(/more_than_256_roles/);
  });
});
