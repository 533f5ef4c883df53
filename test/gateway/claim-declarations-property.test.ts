/**
 * Random declarations and random JSON: reading a nested claim never crashes, and never gives a tenant that the JSON does
 * not hold at that path. The rules are stated here a second time, over the JSON itself.
 */
import { Environment } from '@marcbachmann/cel-js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Session } from '../../src/gateway/authenticate/signed-session.js';
import { celClaims } from '../../src/gateway/policy/claim-values.js';
import { createCompilers } from '../../src/gateway/policy/expression.js';
import { createTenantStep } from '../../src/gateway/tenant/resolve.js';
import { Refusal } from '../../src/model/refusal.js';
import { basePolicy, policyOf } from './policies.js';

/** A declaration as the test knows it. */
type Declared =
  | { readonly is: 'string' | 'int' | 'double' | 'bool' | 'texts' }
  | { readonly is: 'list' | 'map'; readonly of: Declared }
  | { readonly is: 'object'; readonly members: readonly { name: string; optional: boolean; of: Declared }[] };

const names = ['id', 'org', 'roles', 'https://x.example/org', 'constructor', 'toString', 'a-b', 'size'];
const ids = ['acme', 'beta', 'org_1'];

const declaration: fc.Arbitrary<Declared> = fc.letrec<{ any: Declared }>((tie) => ({
  any: fc.oneof(
    { depthSize: 'small', withCrossShrink: true, maxDepth: 3 },
    fc.constantFrom<Declared>(
      ...(['string', 'string', 'string', 'int', 'double', 'bool', 'texts'] as const).map((is) => ({ is })),
    ),
    fc.record({ is: fc.constantFrom('list' as const, 'map' as const), of: tie('any') }),
    fc.record({
      is: fc.constant('object' as const),
      members: fc.uniqueArray(fc.record({ name: fc.constantFrom(...names), optional: fc.boolean(), of: tie('any') }), {
        selector: ({ name }) => name,
        maxLength: 4,
      }),
    }),
  ),
})).any;

/** The declaration as a policy writes it: YAML maps for objects, texts for the rest. */
const written = (declared: Declared): unknown => {
  if (declared.is === 'texts') return 'string | list<string>';
  if (declared.is === 'list') return [written(declared.of)];
  if (declared.is === 'map') return `map<string, ${textOf(declared.of)}>`;
  if (declared.is !== 'object') return declared.is;
  return Object.fromEntries(
    declared.members.map(({ name, optional, of }) => [`${name}${optional ? '?' : ''}`, written(of)]),
  );
};
const textOf = (declared: Declared): string => {
  if (declared.is === 'texts') return 'list<string> | string';
  if (declared.is === 'list') return `list<${textOf(declared.of)}>`;
  if (declared.is === 'map') return `map<string,${textOf(declared.of)}>`;
  if (declared.is !== 'object') return declared.is;
  const members = declared.members.map(
    ({ name, optional, of }) => `${JSON.stringify(name)}${optional ? '?' : ''}: ${textOf(of)}`,
  );
  return `{${members.join(',')}}`;
};

const keys = [...names, ...ids, '__proto__'];
const anyJson: fc.Arbitrary<unknown> = fc.letrec<{ any: unknown }>((tie) => ({
  any: fc.oneof(
    { depthSize: 'small', maxDepth: 3 },
    fc.constantFrom<unknown>(null, true, 0, -0, 1.5, 2 ** 60, '', ...ids, '__proto__'),
    fc.array(tie('any'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...keys), tie('any'), { maxKeys: 4 }),
  ),
})).any;

/** JSON of the declared shape, with something else at some places. */
const near = (declared: Declared): fc.Arbitrary<unknown> => {
  const right = ((): fc.Arbitrary<unknown> => {
    if (declared.is === 'string') return fc.constantFrom(...ids);
    if (declared.is === 'int') return fc.integer();
    if (declared.is === 'double') return fc.double();
    if (declared.is === 'bool') return fc.boolean();
    if (declared.is === 'texts')
      return fc.oneof(fc.constantFrom(...ids), fc.array(fc.constantFrom(...ids), { maxLength: 2 }));
    if (declared.is === 'list') return fc.array(near(declared.of), { maxLength: 3 });
    if (declared.is === 'map') return fc.dictionary(fc.constantFrom(...keys), near(declared.of), { maxKeys: 3 });
    if (declared.is !== 'object') throw new Error(`no values of ${declared.is}`);
    const members = declared.members.map(({ name, of }) =>
      fc.option(near(of), { freq: 12 }).map((value): [string, unknown] => [name, value]),
    );
    return fc.tuple(...members).map((all) => Object.fromEntries(all.filter(([, value]) => value !== null)));
  })();
  return fc.oneof({ weight: 14, arbitrary: right }, { weight: 1, arbitrary: anyJson });
};

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const own = (value: Record<string, unknown>, name: string): unknown =>
  Object.getOwnPropertyDescriptor(value, name)?.value;

/** Whether the JSON has the declared shape. */
const fits = (value: unknown, declared: Declared): boolean => {
  switch (declared.is) {
    case 'string':
      return typeof value === 'string';
    case 'int':
      return Number.isSafeInteger(value);
    case 'double':
      return typeof value === 'number';
    case 'bool':
      return value === true || value === false;
    case 'texts':
      return typeof value === 'string' || (Array.isArray(value) && value.every((item) => typeof item === 'string'));
    case 'list':
      return Array.isArray(value) && value.every((item) => fits(item, declared.of));
    case 'map':
      return isObject(value) && Object.values(value).every((item) => fits(item, declared.of));
    case 'object':
      return (
        isObject(value) &&
        declared.members.every(({ name, optional, of }) => {
          const given = own(value, name);
          return given === undefined ? optional : fits(given, of);
        })
      );
  }
};

type Path = readonly (string | number)[];

/** Every path to a text. */
const pathsOf = (declared: Declared): readonly Path[] => {
  if (declared.is === 'string' || declared.is === 'texts') return [[]];
  if (declared.is === 'list')
    return pathsOf(declared.of).flatMap((path) => [
      [0, ...path],
      [1, ...path],
    ]);
  if (declared.is === 'map') return pathsOf(declared.of).flatMap((path) => keys.slice(-4).map((key) => [key, ...path]));
  if (declared.is !== 'object') return [];
  return declared.members.flatMap(({ name, of }) => pathsOf(of).map((path) => [name, ...path]));
};

const at = (value: unknown, [key, ...rest]: Path): unknown => {
  if (key === undefined) return value;
  if (typeof key === 'number') return Array.isArray(value) ? at(value[key], rest) : undefined;
  return isObject(value) ? at(own(value, key), rest) : undefined;
};

const inDots = (path: Path): string =>
  path
    .map((key) => (typeof key === 'string' && /^[a-z_]+$/i.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`))
    .join('');

const sessionOf = (claims: Record<string, unknown>): Session => ({
  ...{ issuer: 'i', subject: 'ann', userIdentifier: 'i|ann', issuedAtMs: null, claims },
});
const tenantStep = createTenantStep(() => {
  throw new Error('no lookup in these tests');
});
const policyWith = (claims: Record<string, unknown>, tenant: string) =>
  policyOf({ session: { claims, tenant, roles: '[]' }, rules: [{ ...basePolicy.rules[0] }] });

type Tried = { readonly declared: Declared; readonly value: unknown; readonly path: Path };

const tried: fc.Arbitrary<Tried> = declaration
  .filter((declared) => pathsOf(declared).length > 0)
  .chain((declared) =>
    fc.record({
      declared: fc.constant(declared),
      value: near(declared),
      path: fc.constantFrom(...pathsOf(declared)),
    }),
  );

const outcomeOf = (tenant: string, declared: Declared, value: unknown): unknown => {
  try {
    return tenantStep(policyWith({ claim: written(declared) }, tenant), sessionOf({ claim: value }), undefined);
  } catch (error) {
    if (error instanceof Refusal) return error.code;
    throw error;
  }
};

describe('a random declaration and random JSON', () => {
  it('give the tenant that the JSON holds at the path, or none', () => {
    fc.assert(
      fc.property(tried, ({ declared, value, path }) => {
        const there = fits(value, declared) ? at(value, path) : undefined;
        const held = [...new Set([there].flat())].filter((one) => one !== undefined);
        const [only] = held;
        const isOne = held.length === 1 && typeof only === 'string' && ids.includes(only);
        const found = outcomeOf(`claims.claim${inDots(path)}`, declared, value);
        if (isOne) expect(found).toBe(only);
        else expect(['NO_TENANT', 'INVALID_REQUEST_BODY', ...held]).toContain(found);
      }),
      { numRuns: 600 },
    );
  });

  it('give `has` what the JSON holds, where the claim has its shape', () => {
    fc.assert(
      fc.property(tried, ({ declared, value, path }) => {
        const members = path.findIndex((key) => typeof key === 'number');
        const named = members === -1 ? path : path.slice(0, members);
        if (named.length === 0 || !named.every((key) => key !== '__proto__')) return;
        const source = `has(claims.claim${inDots(named)}) ? "acme" : "beta"`;
        const found = outcomeOf(source, declared, value);
        if (!fits(value, declared) || at(value, named.slice(0, -1)) === undefined)
          expect(found).toMatch(/^(NO_TENANT|INVALID_REQUEST_BODY)$/);
        else expect(found).toBe(at(value, named) === undefined ? 'beta' : 'acme');
      }),
      { numRuns: 300 },
    );
  });

  it('go through a number of steps that the cost of the expression bounds', () => {
    const schema = {
      organization: 'map<string, { id?: string, roles: list<string> }>',
      memberships: 'list<{ id: string, roles: list<string>, of: map<string, string> }>',
      groups: 'string | list<string>',
    };
    const entries = Array.from({ length: 256 }, (_, index) => `n${index}`);
    const roles = entries.slice(0, 40);
    const of = Object.fromEntries(entries.map((name) => [name, name]));
    const claims = celClaims(
      {
        organization: Object.fromEntries(entries.map((name) => [name, { id: name, roles }])),
        memberships: entries.map((id) => ({ id, roles: [id], of })),
        groups: entries,
      },
      schema,
    );
    const sources = [
      'claims.organization.map(n, claims.organization[n].id)',
      'claims.organization.filter(n, has(claims.organization.x)).map(n, n)',
      'claims.organization.map(n, cel.bind(o, claims.organization[n], has(o.id)), n)',
      'claims.memberships.filter(m, m.id in claims.organization).map(m, m.id)',
      'claims.groups.filter(g, g in claims.groups)',
      'claims.memberships.map(m, m.of.exists(k, k == "none"), m.id)',
      'claims.organization.filter(n, claims.organization[n].roles == claims.groups)',
    ];
    const compilers = createCompilers(schema);
    for (const source of sources) {
      const compiled = compilers.session({ source, at: '', expected: ['list<string>'] });
      if (!('evaluate' in compiled)) throw new Error(`${source}: ${compiled.message}`);
      // The library adds up to three nodes of its own for each entry of a loop.
      expect(countSteps(() => compiled.evaluate({ claims }))).toBeLessThanOrEqual(3 * compiled.cost);
    }
  });
});

/** Counts the nodes that the library evaluates. */
const countSteps = (work: () => unknown): number => {
  let evaluator: { run: (...given: unknown[]) => unknown } | undefined;
  new Environment()
    .registerFunction('evaluator(): bool', function keep(this: never) {
      evaluator = Object.getPrototypeOf(this);
      return true;
    })
    .evaluate('evaluator()');
  if (evaluator === undefined) throw new Error('the library evaluates in another way');
  const { run } = evaluator;
  let steps = 0;
  evaluator.run = function counted(...given) {
    steps += 1;
    return run.apply(this, given);
  };
  try {
    work();
  } finally {
    evaluator.run = run;
  }
  expect(steps).toBeGreaterThan(0);
  return steps;
};
