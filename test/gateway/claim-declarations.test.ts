/**
 * Declared shapes of claims: objects with optional members, lists, maps, names that are URLs, and a text or a list of
 * texts. Expressions over them are checked when the policy is read; a value of another shape denies.
 */
import { describe, expect, it } from 'vitest';
import type { Session } from '../../src/gateway/authenticate/signed-session.js';
import { ClaimTypeFault, parseClaimType, readClaimType, writeClaimType } from '../../src/gateway/policy/claim-type.js';
import { celClaims, misfits } from '../../src/gateway/policy/claim-values.js';
import { createPolicyStep } from '../../src/gateway/policy/decide.js';
import { createCompilers, explainMisfits } from '../../src/gateway/policy/expression.js';
import { loadPolicy } from '../../src/gateway/policy/load.js';
import { PolicyFaults } from '../../src/gateway/policy/source.js';
import { createTenantStep } from '../../src/gateway/tenant/resolve.js';
import { Refusal } from '../../src/model/refusal.js';
import { basePolicy, policyOf } from './policies.js';

const declared = `
    org_id: string
    o: { id: string, rol: string, per?: string }
    realm_access: { roles: list<string> }
    organization: "map<string, { id?: string }>"
    "https://example.com/org": { organization_id: string }
    groups: string | list<string>
    memberships: [{ id: string, roles?: list<string> }]
    deep: { a: { b: { c: int } } }`;

const policyText = (tenant: string, roles = '"[]"', more = '', claims = declared): string => `version: 1
dataApp: flights
workspace: flights
datamart: flights
session:
  claims:${claims}
  tenant: ${tenant}
  roles: ${roles}
templates:
  delays: { name: Delays }
rules:
  - { name: all, when: "true", grant: { templates: [delays] } }
${more}`;

const sessionOf = (claims: Record<string, unknown>): Session => ({
  ...{ issuer: 'i', subject: 'ann', userIdentifier: 'i|ann', issuedAtMs: null, claims },
});

const tenantStep = createTenantStep(() => {
  throw new Error('no lookup in these tests');
});

const codeOf = (work: () => unknown): unknown => {
  try {
    return work();
  } catch (error) {
    if (error instanceof Refusal) return error.code;
    throw error;
  }
};

const tenantOf = (tenant: string, claims: Record<string, unknown>): unknown =>
  codeOf(() => tenantStep(loadPolicy(policyText(tenant), 'p.yaml'), sessionOf(claims), undefined));

const faultsOf = (text: string): readonly string[] => {
  try {
    loadPolicy(text, 'p.yaml');
    return [];
  } catch (error) {
    if (!(error instanceof PolicyFaults)) throw error;
    return error.faults.map(({ at, message }) => `${at} ${message}`);
  }
};

const resultOf = (source: string, claims: Record<string, unknown>): unknown => {
  const { claims: schema } = loadPolicy(policyText('claims.org_id'), 'p.yaml');
  const compiled = createCompilers(schema).session({ source, at: '', expected: ['bool', 'string', 'list<string>'] });
  if (!('evaluate' in compiled)) throw new Error(compiled.message);
  return compiled.evaluate({ claims: celClaims(claims, schema) });
};

describe('a declaration', () => {
  it.each([
    ['string', 'string'],
    [' list< string > ', 'list<string>'],
    ['list<string>|string', 'string | list<string>'],
    ['map<string,{id?:string}>', 'map<string, { id?: string }>'],
    ['{ "https://x.example/y": string, b?: list<int>, }', '{ "https://x.example/y": string, b?: list<int> }'],
    ['{}', '{}'],
  ])('a declaration is a text: %s', (text, written) => {
    expect(writeClaimType(parseClaimType(text))).toBe(written);
    expect(writeClaimType(parseClaimType(written))).toBe(written);
  });

  it('a declaration is a YAML map or a list with one declaration too, and is kept as its text', () => {
    const { claims } = loadPolicy(policyText('claims.org_id'), 'p.yaml');
    expect(claims).toEqual({
      org_id: 'string',
      o: '{ id: string, rol: string, per?: string }',
      realm_access: '{ roles: list<string> }',
      organization: 'map<string, { id?: string }>',
      'https://example.com/org': '{ organization_id: string }',
      groups: 'string | list<string>',
      memberships: 'list<{ id: string, roles?: list<string> }>',
      deep: '{ a: { b: { c: int } } }',
    });
  });

  it.each([
    ['strin'],
    ['list<>'],
    ['list<string'],
    ['map<int, string>'],
    ['string | int'],
    ['list<string> | list<int>'],
    ['string | list<string> | int'],
    ['{ a: string, a: int }'],
    ['{ a string }'],
    ['{ __proto__: string }'],
    ['string string'],
    [''],
    ['£'],
    [`${'list<'.repeat(7)}string${'>'.repeat(7)}`],
    [[]],
    [['string', 'string']],
    [null],
    [1],
    [{ a: { b: 'nothing' } }],
  ])('a declaration that is no type is refused: %j', (value) => {
    expect(() => readClaimType(value)).toThrow(ClaimTypeFault);
  });

  it('a declaration that is too long or too deep is refused, and never crashes', () => {
    expect(() => readClaimType(`${'list<'.repeat(3_900)}string`)).toThrow('may be nested 6 deep');
    expect(() => readClaimType(`{ ${'a'.repeat(20_000)}: string }`)).toThrow('a type may have 20000 characters');
  });

  it('a wrong declaration is reported with file, line and column', () => {
    expect(faultsOf(policyText('claims.o.id', '"[]"', '', '\n    o:\n      id: string\n      rol: strin'))).toEqual([
      expect.stringMatching(/^p\.yaml:9:12 session\.claims\.o\.rol: "strin" is no type of a claim: /),
    ]);
    expect(faultsOf(policyText('claims.o.id', '"[]"', '', '\n    o: { id: 7 }'))).toEqual([
      expect.stringMatching(/^p\.yaml:7:14 session\.claims\.o\.id: is no type of a claim: /),
    ]);
    expect(faultsOf(policyText('claims.o', '"[]"', '', '\n    "o?": string'))).toEqual([
      expect.stringContaining('every claim may be missing: write its name without ?'),
    ]);
  });

  it('a text with a colon outside of quotes is told to be quoted', () => {
    const [fault] = faultsOf(policyText('claims.o', '"[]"', '', '\n    o: map<string, { id?: string }>'));
    expect(fault).toMatch(/^p\.yaml:7:\d+ not valid YAML: .*between quotes, such as "map<string, \{ id: string \}>"/);
  });

  it('a declaration has a limited depth, and a limited number of members over all claims', () => {
    const deep = `${'{ a: '.repeat(7)}string${' }'.repeat(7)}`;
    expect(faultsOf(policyText('claims.org_id', '"[]"', '', `\n    org_id: string\n    o: ${deep}`)).join()).toContain(
      'may be nested 6 deep',
    );
    const wide = Object.fromEntries(Array.from({ length: 501 }, (_, index) => [`m${index}`, 'string']));
    const session = { ...basePolicy.session, claims: { ...basePolicy.session.claims, wide } };
    expect(() => policyOf({ session })).toThrow('objects in claims have 501 members together, and may have 500');
  });
});

const clerk = { o: { id: 'org_1', rol: 'admin', fpm: 'x' } };

describe('an expression reads', () => {
  it.each([
    ['claims.o.id', clerk, 'org_1'],
    ['has(claims.o.per) ? claims.o.per : "none"', clerk, 'none'],
    ['has(claims.o.per) ? claims.o.per : "none"', { o: { ...clerk.o, per: 'p' } }, 'p'],
    ['claims.realm_access.roles', { realm_access: { roles: ['a'], other: 1 } }, ['a']],
    ['claims.organization.map(name, name)', { organization: { acme: {}, beta: { id: '2' } } }, ['acme', 'beta']],
    ['claims.organization["beta"].id', { organization: { acme: {}, beta: { id: '2' } } }, '2'],
    [
      'claims.organization.map(n, has(claims.organization[n].id), claims.organization[n].id)',
      { organization: { beta: { id: '2' } } },
      new Error('invalid argument'),
    ],
    [
      'claims.organization.map(n, cel.bind(o, claims.organization[n], has(o.id)), claims.organization[n].id)',
      { organization: { acme: {}, beta: { id: '2' } } },
      ['2'],
    ],
    ['claims["https://example.com/org"].organization_id', { 'https://example.com/org': { organization_id: 'x' } }, 'x'],
    ['has(claims["https://example.com/org"]) ? "yes" : "no"', {}, 'no'],
    [
      'has(claims["https://example.com/org"]) ? "yes" : "no"',
      { 'https://example.com/org': { organization_id: '' } },
      'yes',
    ],
    ['claims.groups', { groups: 'one' }, ['one']],
    ['claims.groups', { groups: ['one', 'two'] }, ['one', 'two']],
    ['claims.memberships.map(m, m.id)', { memberships: [{ id: 'a' }, { id: 'b', roles: [] }] }, ['a', 'b']],
    [
      'claims.memberships.filter(m, has(m.roles) && "x" in m.roles).map(m, m.id)',
      { memberships: [{ id: 'a' }, { id: 'b', roles: ['x'] }] },
      ['b'],
    ],
    ['claims.memberships[1].id', { memberships: [{ id: 'a' }, { id: 'b' }] }, 'b'],
    ['claims.deep.a.b.c == 5', { deep: { a: { b: { c: 5 } } } }, true],
    ['"__proto__" in claims.organization', { organization: JSON.parse('{"__proto__": {}}') }, true],
    ['"toString" in claims.organization', { organization: {} }, false],
  ])('an expression reads a nested claim: %s of %j', (source, claims, value) => {
    if (value instanceof Error) expect(() => resultOf(source, claims)).toThrow(value.message);
    else expect(resultOf(source, claims)).toEqual(value);
  });

  it.each([
    ['an object', 'claims.o.id', { o: 'text' }],
    ['an object that is a list', 'claims.o.id', { o: [clerk.o] }],
    ['null', 'claims.o.id', { o: null }],
    ['a missing member', 'claims.o.id', { o: { id: 'org_1' } }],
    ['another member of another type', 'claims.o.id', { o: { ...clerk.o, rol: 1 } }],
    ['an optional member that is null', 'claims.o.id', { o: { ...clerk.o, per: null } }],
    ['a prototype', 'claims.o.id', { o: Object.create(clerk.o) }],
    ['a member of a list', 'claims.memberships[0].id', { memberships: [{ id: 'a' }, {}] }],
    ['a value of a map', 'claims.organization.map(n, n)', { organization: { a: {}, b: 1 } }],
    ['a map that is a list', 'claims.organization.map(n, n)', { organization: ['a'] }],
    ['a name that is not there', 'claims.organization["toString"].id', { organization: {} }],
    ['a list of two', 'claims.groups', { groups: [['a'], ['b']] }],
    [
      'too long a map',
      'claims.organization["0"].id',
      { organization: Object.fromEntries(Array.from({ length: 257 }, (_, i) => [i, { id: 'acme' }])) },
    ],
  ])('an expression reads no value of another shape: %s', (_, tenant, claims) => {
    expect(tenantOf(tenant, claims)).toBe('NO_TENANT');
  });

  it('an expression reads the tenant of the session', () => {
    expect(tenantOf('claims.o.id', clerk)).toBe('org_1');
    expect(tenantOf('claims.organization.map(n, n)', { organization: { acme: {} } })).toBe('acme');
    expect(tenantOf('claims.organization.map(n, n)', { organization: { acme: {}, beta: {} } })).toBe('NO_TENANT');
    expect(tenantOf('claims.groups', { groups: 'acme' })).toBe('acme');
  });

  it('an expression reads no number that JSON may have rounded, however deep', () => {
    const unsafe = { deep: { a: { b: { c: 2 ** 60 } } } };
    expect(tenantOf('string(claims.deep.a.b.c)', unsafe)).toBe('INVALID_REQUEST_BODY');
    expect(tenantOf('string(claims.deep.a.b.c)', { deep: { a: { b: { c: 1 } } } })).toBe('1');
    const { claims } = loadPolicy(policyText('claims.org_id'), 'p.yaml');
    const misfit = { place: 'deep.a.b.c', expected: 'a whole number', given: 'a number' };
    expect(misfits(unsafe, claims)).toEqual(new Map([['deep', misfit]]));
    expect(tenantOf('claims.o.id', { o: { id: 'a', rol: 1, other: 2 ** 60 } })).toBe('NO_TENANT');
  });
});

describe('a claim of another type', () => {
  const { claims: schema } = loadPolicy(policyText('claims.org_id'), 'p.yaml');
  it.each<[object, string]>([
    [{ org_id: ['a'] }, 'org_id: text was expected, a list came'],
    [{ org_id: 7 }, 'org_id: text was expected, a number came'],
    [{ org_id: 'x'.repeat(10_000) }, 'org_id: text was expected, text of more than '],
    [{ groups: { a: 1 } }, 'groups: text or a list of texts was expected, an object came'],
    [{ memberships: 'abc' }, 'memberships: a list was expected, text came'],
    [{ memberships: [{ id: 'a' }, {}] }, 'memberships[1].id: text was expected, nothing came'],
    [{ organization: ['a'] }, 'organization: an object was expected, a list came'],
    [{ deep: { a: { b: { c: true } } } }, 'deep.a.b.c: a whole number was expected, true or false came'],
    [{ o: null }, 'o: an object was expected, null came'],
  ])('is named with its place, what was expected and what came, and without its value: %j', (claims, words) => {
    const [name = ''] = Object.keys(claims);
    expect(explainMisfits(`claims.${name}`, { ...claims }, schema)).toEqual([
      expect.stringContaining(`Claim ${words}`),
    ]);
    expect(explainMisfits('claims.realm_access', { ...claims }, schema)).toEqual([]);
  });

  it('is named by the refusal of a tenant and of a rule that read it, for developers', () => {
    const messageOf = (work: () => unknown): string => {
      try {
        work();
      } catch (error) {
        if (error instanceof Refusal) return error.message;
        throw error;
      }
      return '';
    };
    const words = 'Claim memberships: a list was expected, text came.';
    const policy = loadPolicy(policyText('claims.memberships.map(m, m.id)'), 'p.yaml');
    const session = sessionOf({ memberships: 'abc' });
    expect(messageOf(() => tenantStep(policy, session, undefined))).toMatch(new RegExp(`its claims. ${words}$`));
    const rules = policyText('claims.org_id').replace('when: "true"', 'when: user.claims.memberships.size() > 0');
    const decide = createPolicyStep({ now: () => new Date(0) });
    expect(messageOf(() => decide(loadPolicy(rules, 'p.yaml'), session, 'a', {}))).toMatch(new RegExp(`${words}$`));
  });
});

describe('is refused when the policy is read', () => {
  it.each([
    ['claims.o.idd', 'No such key: idd'],
    ['claims.o', 'gives { id: string, rol: string, per?: string } where string or list<string> is needed'],
    ['claims.organization["x"].name', 'No such key: name'],
    ['claims.memberships.map(m, m.name)', 'No such key: name'],
    ['claims.memberships.map(m, m.roles)', 'gives list<list<string>> where'],
    ['claims.o.id.x', 'Cannot index type'],
    ['has(claims.o.nope) ? "a" : "b"', 'No such key: nope'],
    ['claims.memberships.exists(m, has(m.nope)) ? "a" : "b"', 'No such key: nope'],
    ['claims["https://example.com/org"].nope', 'No such key: nope'],
    ['claims.groups + "x"', 'no such overload'],
    ['claims.deep.a.b.c', 'gives int where'],
  ])('an expression over claims is refused when the policy is read: %s', (tenant, message) => {
    const [fault, ...others] = faultsOf(policyText(JSON.stringify(tenant)));
    expect(others).toEqual([]);
    expect(fault).toMatch(/^p\.yaml:15:\d+ session\.tenant: /);
    expect(fault).toContain(message);
  });

  it('a restriction is refused what it would lose with a member of a claim', () => {
    const restriction = (when: string) =>
      faultsOf(
        policyText(
          'claims.org_id',
          '"[]"',
          `restrictions:\n  - { name: r, when: '${when}', restrict: { isDisableMetricCreation: true } }\n`,
        ),
      );
    expect(restriction('has(user.claims.o.per)').join()).toContain('must not depend on whether a claim is present');
    expect(restriction('has(user.claims["https://example.com/org"])').join()).toContain('must not depend on whether');
    expect(restriction('"acme" in user.claims.organization')).toEqual([]);
  });

  it('an expression is refused that goes through maps and lists of lists for too long', () => {
    const loop =
      'claims.organization.exists(a, claims.organization.exists(b, claims.memberships.exists(m, m.id == a + b)))';
    expect(faultsOf(policyText(JSON.stringify(`${loop} ? "a" : "b"`))).join()).toMatch(/nested 2 deep/);
    const compare =
      'claims.memberships.exists(m, has(m.roles) && claims.organization.exists(n, n in m.roles)) ? "a" : "b"';
    expect(faultsOf(policyText(JSON.stringify(compare))).join()).toMatch(/takes up to 17,\d{3},\d{3} steps/);
  });
});

it('what a nested claim says decides, and is told apart in the cache of decisions', () => {
  const session = {
    ...basePolicy.session,
    claims: { ...basePolicy.session.claims, o: { id: 'string', rol: 'string', per: 'string' } },
  };
  const policy = policyOf({
    session: { ...session, roles: '[claims.o.rol]' },
    rules: [
      { name: 'admins', when: '"admin" in user.roles && user.claims.o.per == "all"', grant: { templates: ['delays'] } },
    ],
  });
  const decide = createPolicyStep({ now: () => new Date(0) } as never);
  const granted = (o: object) =>
    codeOf(() => decide(policy, sessionOf({ org_id: 'LAX', o }), 'LAX', {}).templates.length);
  expect(granted({ id: 'a', rol: 'admin', per: 'all' })).toBe(1);
  expect(granted({ id: 'a', rol: 'user', per: 'all' })).toBe('NO_POLICY');
  expect(granted({ id: 'a', rol: 'admin' })).toBe('POLICY_UNDECIDED');
});
