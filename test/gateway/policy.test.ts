import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Session } from '../../src/gateway/authenticate/signed-session.js';
import type { EmbedTokenBody } from '../../src/gateway/common/wire.js';
import { intersectBound } from '../../src/gateway/policy/combine.js';
import { createPolicyStep } from '../../src/gateway/policy/decide.js';
import { createTenants } from '../../src/gateway/tenant/resolve.js';
import { guestPermissionNames } from '../../src/model/guest/grant.js';
import type { Refusal } from '../../src/model/refusal.js';
import { captureLog } from './harness.js';
import { basePolicy, policyOf } from './policies.js';

const clock = { now: () => new Date('2026-03-04T05:06:07Z') };
const sessionOf = (claims: Record<string, unknown> = {}): Session => ({
  issuer: 'i',
  subject: 'ann',
  userIdentifier: 'i|ann',
  issuedAtMs: null,
  claims: { org_id: 'LAX', ...claims },
});
const decide = (overrides: object, claims: Record<string, unknown> = {}, asked: EmbedTokenBody = {}) =>
  createPolicyStep(clock)(policyOf(overrides), sessionOf(claims), 'LAX', asked);
const codeOf = (work: () => unknown): string => {
  try {
    work();
  } catch (error) {
    return (error as Refusal).code;
  }
  return 'OK';
};
const rule = (name: string, grant: object, when = 'true') => ({
  name,
  when,
  grant: { templates: ['delays'], ...grant },
});
const restriction = (name: string, restrict: object, when = 'true') => ({ name, when, restrict });

describe('how two rules combine', () => {
  it('grants what either of them grants, with the shortest expiry and the first timezone', () => {
    const column = (tableName: string, ...columns: string[]) => ({ tableName, columns });
    const grant = decide({
      rules: [
        rule('a', {
          permissions: ['isEnableDownloadMetrics'],
          accessPermissions: {
            isAllowEndUserDashboardFilter: true,
            dashboardFilterColumns: [column('main.flights', 'origin', 'delay')],
          },
          expiryMinutes: 90,
        }),
        rule('b', {
          templates: ['routes'],
          permissions: ['isShowSideBar'],
          accessPermissions: {
            isAllowEndUserDashboardFilter: true,
            dashboardFilterColumns: [column('main.flights', 'date'), column('main.airports', 'state')],
          },
          timezone: '"Europe/Lisbon"',
        }),
        rule('c', { templates: ['third-one'], timezone: '"UTC"' }),
        rule('never', { permissions: ['isEnableUnderlyingData'], expiryMinutes: 1 }, 'false'),
      ],
    });
    expect(grant.templates.map(({ template }) => template)).toEqual(['delays', 'routes', 'third-one']);
    expect(Object.entries(grant.permissions).filter(([, value]) => value)).toEqual([
      ['isEnableDownloadMetrics', true],
      ['isShowSideBar', true],
    ]);
    expect(Object.keys(grant.permissions)).toEqual(guestPermissionNames);
    expect(grant.accessPermissions).toEqual({
      isAllowEndUserDashboardFilter: true,
      dashboardFilterColumns: [column('main.airports', 'state'), column('main.flights', 'date', 'delay', 'origin')],
    });
    expect(grant.expiryMs).toBe(60 * 60_000);
    expect(grant.timezone).toBe('Europe/Lisbon');
  });
});

describe('how two restrictions combine', () => {
  it('intersects values, and unites hidden and disabled items', () => {
    const { restriction: combined, permissions } = decide({
      restrictions: [
        restriction('a', {
          dashboardFilters: { State: '["CA", "NV", "OR"]', Carrier: '"AA"' },
          hideMetrics: { routes: ['Busiest'] },
          hideDashboardFilters: ['Date'],
        }),
        restriction('b', {
          dashboardFilters: { State: '["NV", "CA", "WA"]' },
          rls: { level: '3' },
          hideMetrics: { routes: ['Longest'] },
          isDisableMetricCreation: true,
        }),
        restriction('never', { dashboardFilters: { State: '"TX"' } }, 'false'),
      ],
    });
    expect([...combined.dashboardFilters]).toEqual([
      ['Carrier', 'AA'],
      ['State', ['CA', 'NV']],
    ]);
    expect(combined.shownFilters).toEqual([]);
    expect([...combined.rls]).toEqual([['level', 3]]);
    expect([...combined.hideMetrics]).toEqual([['routes', ['Busiest', 'Longest']]]);
    expect(combined.hideDashboardFilters).toEqual(['Date']);
    expect(permissions.isDisableMetricCreation).toBe(true);
  });

  it('shows the value of a filter only if every restriction that binds it says so, and none hides the filter', () => {
    const state = (values: string, show?: true) => ({ dashboardFilters: { State: values }, ...(show && { show }) });
    const shown = (...restricts: object[]) =>
      decide({ restrictions: restricts.map((restrict, index) => restriction(`r${index}`, restrict)) }).restriction
        .shownFilters;
    expect(shown(state('["CA", "NV"]', true), state('["CA"]', true))).toEqual(['State']);
    expect(shown(state('["CA", "NV"]', true), state('["CA"]'))).toEqual([]);
    expect(shown(state('["CA", "NV"]'), state('["CA"]', true))).toEqual([]);
    expect(shown(state('"CA"', true), { dashboardFilters: { Carrier: '"AA"' } })).toEqual(['State']);
    expect(shown(state('"CA"', true), { hideDashboardFilters: ['state'] })).toEqual([]);
  });

  it.each([
    ['"CA"', '"NV"'],
    ['"CA"', '["NV", "OR"]'],
    ['["CA"]', '["NV"]'],
    ['1', '2'],
    ['1', '"1"'],
    ['true', 'false'],
    ['"CA"', 'user.claims.states'],
  ])('denies if %s and %s leave nothing', (left, right) => {
    const restrictions = [left, right].map((value, index) => restriction(`r${index}`, { rls: { v: value } }));
    expect(codeOf(() => decide({ restrictions }, { states: ['NV'] }))).toBe('POLICY_UNDECIDED');
  });

  it('leak 18: the most permissive rule does not void a restriction', () => {
    const grant = decide(
      {
        rules: [rule('all', { templates: ['delays', 'routes', 'third-one'] }), rule('some', {})],
        restrictions: [restriction('tenant', { rls: { state: 'user.claims.region' } }, 'tenant.id == "LAX"')],
      },
      { region: 'CA' },
    );
    expect([...grant.restriction.rls]).toEqual([['state', 'CA']]);
  });
});

describe('leak 9: an expression that cannot be evaluated denies', () => {
  it.each([
    ['a claim that is missing', {}, 'user.claims.region == "CA"'],
    ['a claim of another type', { region: 7 }, 'user.claims.region == "CA"'],
    ['a list with something else in it', { states: ['CA', 7] }, '"CA" in user.claims.states'],
    ['a list that is too long', { states: Array.from({ length: 257 }, String) }, '"1" in user.claims.states'],
    ['a wrong type behind has()', { states: 'CA' }, 'has(user.claims.states) && "CA" in user.claims.states'],
    ['a number that is not whole', { level: 1.5 }, 'user.claims.level > 0'],
    ['roles that are no list', { roles: 'admin' }, 'true'],
    ['roles that are no strings', { roles: [['admin']] }, 'true'],
  ])('leak 9: an expression that cannot be evaluated denies: %s', (_, claims, when) => {
    expect(codeOf(() => decide({ rules: [rule('r', {}, when), rule('all', {})] }, claims))).toBe('POLICY_UNDECIDED');
  });

  it.each([['""'], ['[""]'], ['["CA", ""]'], ['user.claims.states'], ['user.claims.region']])(
    'a filter value of %s',
    (value) => {
      const restrictions = [restriction('r', { dashboardFilters: { State: value } })];
      expect(codeOf(() => decide({ restrictions }, { states: [], region: '' }))).toBe('POLICY_UNDECIDED');
    },
  );

  it('a number that JSON may have rounded is no value of a filter or variable', () => {
    const session = { ...basePolicy.session, claims: { ...basePolicy.session.claims, amount: 'double' } };
    const bound = (value: number, claim: string) => () =>
      decide(
        { session, restrictions: [restriction('r', { rls: { least: `user.claims.${claim}` } })] },
        { [claim]: value },
      );
    for (const value of [2 ** 53, -(2 ** 60), 1e300])
      for (const claim of ['amount', 'level']) expect(codeOf(bound(value, claim))).toBe('INVALID_REQUEST_BODY');
    for (const value of [2 ** 53 - 1, 0.1, -7])
      expect(bound(value, 'amount')().restriction.rls.get('least')).toBe(value);
  });

  it.each([
    ['a whole number', { level: 2 ** 53 }, 'user.claims.level > 0', 'level'],
    ['a text', { region: -(2 ** 60) }, 'user.claims.region == "CA"', 'region'],
    ['a list of texts', { states: ['CA', 2 ** 53] }, '"CA" in user.claims.states', 'states'],
  ])('a number that JSON may have rounded is refused by the name of its claim, which is declared as %s', (...given) => {
    const [, claims, when, name] = given;
    expect(() => decide({ rules: [rule('r', {}, when)] }, claims)).toThrow(
      expect.objectContaining({
        code: 'INVALID_REQUEST_BODY',
        message: `The session's claim "${name}": a whole number beyond 9007199254740991 must be sent as text, since JSON rounds it.`,
      }),
    );
  });

  it('a claim with a number that JSON may have rounded matters only where an expression reads it', () => {
    const unread = { rules: [rule('r', {}, 'user.claims.region == "CA"')] };
    expect(codeOf(() => decide(unread, { region: 'CA', level: 2 ** 53 }))).toBe('OK');
    expect(codeOf(() => decide(unread, { level: 2 ** 53 }))).toBe('POLICY_UNDECIDED');
  });

  it('a timezone that does not exist', () => {
    const rules = [rule('r', { timezone: 'user.claims.zoneinfo' })];
    expect(decide({ rules }, { zoneinfo: 'America/Los_Angeles' }).timezone).toBe('America/Los_Angeles');
    for (const zoneinfo of ['Mars/Olympus', '+01:00', "UTC'; DROP TABLE", '']) {
      expect(codeOf(() => decide({ rules }, { zoneinfo }))).toBe('POLICY_UNDECIDED');
    }
  });
});

describe('a timezone that the request may choose', () => {
  const rules = [rule('r', { timezone: 'request' })];
  it("is the body's IANA name, or none", () => {
    expect(decide({ rules }, {}, { timezone: 'Europe/Lisbon' }).timezone).toBe('Europe/Lisbon');
    expect(decide({ rules }).timezone).toBeNull();
    expect(codeOf(() => decide({ rules }, {}, { timezone: 'nowhere' }))).toBe('INVALID_REQUEST_BODY');
    expect(codeOf(() => decide({}, {}, { timezone: 'UTC' }))).toBe('INVALID_REQUEST_BODY');
  });
});

describe('the tenant', () => {
  const tenantOf = (tenant: string, claims: Record<string, unknown>, asked?: string) => {
    const session = { ...policyOf().claims };
    const policy = policyOf({ session: { claims: session, tenant, roles: '[]' } });
    return createTenants({ clock, log: captureLog().log }).of(policy, sessionOf(claims), asked);
  };

  it('is the only one, or the one of several that the body chooses', () => {
    expect(tenantOf('claims.org_id', {})).toBe('LAX');
    expect(tenantOf('claims.orgs', { orgs: ['ATL'] })).toBe('ATL');
    expect(tenantOf('claims.orgs', { orgs: ['ATL', 'ATL'] })).toBe('ATL');
    expect(tenantOf('claims.orgs', { orgs: ['ATL', 'SFO'] }, 'SFO')).toBe('SFO');
    expect(codeOf(() => tenantOf('claims.orgs', { orgs: ['ATL', 'SFO'] }))).toBe('NO_TENANT');
    expect(codeOf(() => tenantOf('claims.orgs', { orgs: ['ATL', 'SFO'] }, 'LAX'))).toBe('NO_TENANT');
  });

  it.each([
    ['claims.org_id', { org_id: 2 ** 53 }],
    ['claims.orgs', { orgs: ['ATL', 2 ** 53] }],
    ['string(claims.level)', { level: -(2 ** 53) }],
  ])('of %s is refused by the name of the claim if JSON may have rounded it', (expression, claims) => {
    expect(() => tenantOf(expression, claims)).toThrow(
      expect.objectContaining({
        code: 'INVALID_REQUEST_BODY',
        message: expect.stringContaining(`claim "${Object.keys(claims)[0]}": a whole number beyond 9007199254740991`),
      }),
    );
  });

  it.each([
    ['claims.org_id', { org_id: undefined }],
    ['claims.org_id', { org_id: '' }],
    ['claims.org_id', { org_id: 7 }],
    ['claims.org_id', { org_id: 'a\u0007' }],
    ['claims.org_id', { org_id: 'a\ud800' }],
    ['claims.org_id', { org_id: 'x'.repeat(256) }],
    ['claims.orgs', { orgs: [] }],
    ['claims.orgs', { orgs: ['ATL', ''] }],
    ['claims.orgs', {}],
  ])('a tenant from %s with %j is refused', (expression, claims) => {
    expect(codeOf(() => tenantOf(expression, claims))).toBe('NO_TENANT');
  });
});

describe('laws', () => {
  const seed = { seed: 20_261_120, numRuns: 300 };
  const states = ['CA', 'NV', 'OR', 'WA'];
  const bound = fc.oneof(
    fc.constantFrom(...states),
    fc.uniqueArray(fc.constantFrom(...states), { minLength: 1 }),
    fc.integer({ min: 0, max: 2 }),
    fc.boolean(),
  );
  const admitted = (value: unknown): readonly unknown[] =>
    value === null ? [] : Array.isArray(value) ? value : [value];

  it('an intersection contains what both contain, in any order', () => {
    fc.assert(
      fc.property(bound, bound, (left, right) => {
        const both = admitted(intersectBound(left, right)).toSorted();
        const wanted = admitted(left)
          .filter((value) => admitted(right).includes(value))
          .toSorted();
        expect(both).toEqual(wanted);
        expect(admitted(intersectBound(right, left)).toSorted()).toEqual(both);
      }),
      seed,
    );
  });

  const permission = fc.constantFrom('isShowSideBar', 'isEnableUnderlyingData', 'isEnableDownloadMetrics');
  const rules = fc
    .array(
      fc.record({
        templates: fc.uniqueArray(fc.constantFrom('delays', 'routes', 'third-one'), { minLength: 1 }),
        permissions: fc.uniqueArray(permission),
      }),
      { minLength: 1, maxLength: 4 },
    )
    .map((grants) => grants.map((grant, index) => rule(`g${index}`, grant)));
  const restrictions = fc
    .array(
      fc.record({
        rls: fc.dictionary(
          fc.constantFrom('state', 'home'),
          bound.map((value) => JSON.stringify(value)),
          { maxKeys: 2 },
        ),
        dashboardFilters: fc.dictionary(
          fc.constantFrom('State'),
          bound.map((value) => JSON.stringify(value)),
        ),
        hideDashboardFilters: fc.uniqueArray(fc.constantFrom('Date', 'State'), { minLength: 1 }),
      }),
      { minLength: 1, maxLength: 4 },
    )
    .map((list) => list.map((restrict, index) => restriction(`r${index}`, restrict)));
  const outcome = (overrides: object) => {
    try {
      return decide(overrides);
    } catch (error) {
      expect((error as Refusal).code).toBe('POLICY_UNDECIDED');
      return null;
    }
  };

  it('adding a restriction never widens', () => {
    fc.assert(
      fc.property(rules, restrictions, (granting, all) => {
        const fewer = outcome({ rules: granting, restrictions: all.slice(0, -1) });
        const more = outcome({ rules: granting, restrictions: all });
        if (fewer === null) expect(more).toBeNull();
        if (fewer === null || more === null) return;
        expect(more.templates).toEqual(fewer.templates);
        for (const field of ['rls', 'dashboardFilters'] as const) {
          for (const [name, value] of fewer.restriction[field]) {
            const narrowed = admitted(more.restriction[field].get(name));
            expect(narrowed.length).toBeGreaterThan(0);
            expect(admitted(value)).toEqual(expect.arrayContaining([...narrowed]));
          }
        }
        expect(more.restriction.hideDashboardFilters).toEqual(
          expect.arrayContaining([...fewer.restriction.hideDashboardFilters]),
        );
      }),
      seed,
    );
  });

  it('adding a rule removes neither a grant nor a restriction', () => {
    fc.assert(
      fc.property(
        rules.filter(({ length }) => length > 1),
        restrictions,
        (granting, all) => {
          const more = outcome({ rules: granting, restrictions: all });
          const fewer = outcome({ rules: granting.slice(0, -1), restrictions: all });
          if (fewer === null || more === null) {
            expect(more).toBe(fewer);
            return;
          }
          expect(more.templates).toEqual(expect.arrayContaining([...fewer.templates]));
          for (const [name, value] of Object.entries(fewer.permissions)) {
            if (value) expect(more.permissions).toMatchObject({ [name]: true });
          }
          expect(more.restriction).toEqual(fewer.restriction);
        },
      ),
      seed,
    );
  });
});
