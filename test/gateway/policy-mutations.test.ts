/**
 * Random changes of a policy file: the result is a valid policy, or has faults with their places. No other error is
 * ever thrown.
 */
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { loadPolicy } from '../../src/gateway/policy/load.js';
import { PolicyFaults } from '../../src/gateway/policy/source.js';
import { basePolicy } from './policies.js';

const shipped = readFileSync(new URL('../../config/policies/flights.yaml', import.meta.url), 'utf8');
const full = {
  knownTenants: true,
  ...basePolicy,
  rules: [
    {
      name: 'all',
      when: 'user.claims.level > 1 && now.getHours("UTC") < 18',
      grant: {
        templates: ['delays'],
        embeds: ['e-1'],
        permissions: ['isShowSideBar'],
        accessPermissions: {
          isAllowEndUserDashboardFilter: true,
          dashboardFilterColumns: [{ tableName: 'main.flights', columns: ['origin'] }],
        },
        channels: ['ops'],
        schedule: true,
        addressDomains: ['partner.example'],
        expiryMinutes: 5,
        timezone: 'request',
      },
    },
  ],
  restrictions: [
    {
      name: 'r',
      when: '"x" in user.roles',
      restrict: {
        dashboardFilters: { State: 'user.claims.states' },
        hideMetrics: { delays: ['m'], 'e-1': ['n'] },
        hideColumns: ['main.flights.delay'],
        maskColumns: { 'main.flights.origin': 'bucket(10)' },
      },
    },
  ],
  tenants: [
    {
      name: 'o',
      clientIds: ['LAX', 'ATL'],
      withoutRules: ['all'],
      expiryMinutes: 5,
      templates: { delays: { name: 'Late' } },
      rules: [{ name: 'own', when: 'true', grant: { templates: ['routes'] } }],
      restrictions: [{ name: 'own', when: 'true', restrict: { rls: { level: 'user.claims.level' } } }],
    },
  ],
  tenantFiles: ['a.tenants.yaml'],
};
const beside = `version: 1\ntenants: ${JSON.stringify(full.tenants.map((tenant) => ({ ...tenant, templates: {} })))}\n`;

const load = (text: string, other = beside): readonly string[] => {
  try {
    loadPolicy(text, 'p.yaml', [{ file: 'a.tenants.yaml', text: other }]);
    return [];
  } catch (error) {
    if (!(error instanceof PolicyFaults)) throw error;
    expect(error.faults.length).toBeGreaterThan(0);
    return error.faults.map(({ at }) => at);
  }
};
const placed = (ats: readonly string[]) => ats.every((at) => /^(p|a\.tenants)\.yaml:[1-9]\d*:[1-9]\d*$/.test(at));

type Path = readonly (string | number)[];
const pathsOf = (value: unknown, path: Path = []): readonly Path[] =>
  typeof value !== 'object' || value === null
    ? [path]
    : [
        path,
        ...Object.entries(value).flatMap(([key, child]) =>
          pathsOf(child, [...path, Array.isArray(value) ? Number(key) : key]),
        ),
      ];

/** Replaces the value at the path. */
const replaceAt = (value: unknown, [key, ...rest]: Path, by: unknown): unknown => {
  if (key === undefined) return by;
  const copy: unknown = Array.isArray(value) ? [...value] : { ...(value as object) };
  Object.defineProperty(copy, key, {
    value: replaceAt(Reflect.get(value as object, key), rest, by),
    enumerable: true,
    configurable: true,
    writable: true,
  });
  return copy;
};

const odd = fc.oneof(
  fc.anything({ withNullPrototype: false, maxDepth: 2 }).filter((value) => {
    try {
      return JSON.stringify(value) !== undefined;
    } catch {
      return false;
    }
  }),
  fc.constantFrom(
    '__proto__',
    'constructor',
    '',
    '\ud800',
    'x'.repeat(5000),
    -1,
    1e308,
    null,
    true,
    [],
    {},
    'all',
    'LAX',
  ),
  fc.constantFrom(
    'user.',
    'has(user.claims.x)',
    '((((',
    'now',
    '[1, 2',
    '"a" + 1',
    'user.roles.map(r, r)',
    'true ? 1 : "x"',
  ),
);

describe('a randomly changed policy', () => {
  it('is loaded if it was not changed', () => {
    expect(load(JSON.stringify(full))).toEqual([]);
    expect(load(shipped, 'version: 1\ntenants: [{name: n, clientIds: [LAX], expiryMinutes: 3}]')).toEqual([]);
  });

  it.each([
    ['the policy', full, (changed: string) => load(changed)],
    ['a file of overrides', parse(beside) as object, (changed: string) => load(JSON.stringify(full), changed)],
  ])('in one value of %s is valid or has faults with places', (_, document, loadChanged) => {
    const paths = pathsOf(document);
    fc.assert(
      fc.property(fc.constantFrom(...paths), odd, (path, value) => {
        expect(loadChanged(JSON.stringify(replaceAt(document, path, value), null, 2) ?? '')).toSatisfy(placed);
      }),
      { numRuns: 150 },
    );
  });

  it('in its text is valid or has faults with places', () => {
    const edit = fc.record({
      at: fc.nat(shipped.length),
      length: fc.nat(30),
      text: fc.oneof(
        fc.string({ maxLength: 8 }),
        fc.constantFrom(
          '\n',
          ':',
          '- ',
          '&a ',
          '*a',
          '!!binary ',
          '{',
          '}',
          '[',
          '"',
          '|',
          '---\n',
          '\t',
          '? ',
          '<<: ',
          '%YAML 3\n',
          '\u0000',
        ),
      ),
    });
    fc.assert(
      fc.property(fc.array(edit, { minLength: 1, maxLength: 3 }), (edits) => {
        const changed = edits.reduce(
          (text, { at, length, text: by }) => text.slice(0, at) + by + text.slice(at + length),
          shipped,
        );
        expect(load(changed)).toSatisfy(placed);
      }),
      { numRuns: 150 },
    );
  });

  it('a randomly changed policy with aliases that cannot be resolved, or would fill the memory, has faults', () => {
    const bomb = Array.from(
      { length: 12 },
      (_, index) =>
        `a${index}: &a${index} [${Array.from({ length: 9 }, () => (index === 0 ? 'x' : `*a${index - 1}`)).join(', ')}]`,
    );
    for (const text of [bomb.join('\n'), 'version: *nowhere', 'version: &a [*a]', '*a : 1', '? [a]\n: 1', '']) {
      expect(load(text).length, text.slice(0, 40)).toBeGreaterThan(0);
    }
  });
});
