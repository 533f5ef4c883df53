/** Rights to the column in a policy: how restrictions combine, what is sent, and where nothing may be sent. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createPolicyDecision } from '../../src/gateway/policy/decide.js';
import { isGrantSubset } from '../../src/gateway/policy/grant-subset.js';
import { loadPolicy } from '../../src/gateway/policy/load.js';
import { findUnknownNames, type NameCatalogue } from '../../src/gateway/policy/names.js';
import type { Policy } from '../../src/gateway/policy/policy.js';
import { recordOf } from '../../src/gateway/policy/record.js';
import { evaluateCase } from '../../src/gateway/policy-tools/dry-run.js';
import { factsOf, viewOf } from '../../src/gateway/policy-tools/grant-facts.js';
import { changesBetween, effectOfAll } from '../../src/gateway/policy-tools/plan-changes.js';
import type { Capability } from '../../src/model/capability.js';
import { isAsStrict, stricterMask } from '../../src/model/datamart/masks.js';
import { analyst, createMovableClock, startGateway } from './harness.js';
import { basePolicy, policyOf } from './policies.js';

type Restrict = { readonly hideColumns?: readonly string[]; readonly maskColumns?: Readonly<Record<string, string>> };
const session = { issuer: 'i', subject: 'ann', userIdentifier: 'i|ann', issuedAtMs: null, claims: {} };
const decision = createPolicyDecision(createMovableClock());
const decideBy = (policy: Policy, clientId: string) => decision(policy, session, clientId, {}).grant;
const [email, salary, born] = ['main.people.email', 'main.people.salary', 'main.people.born'];
const restriction = (restrict: Restrict, index = 0) => ({ name: `r${index}`, when: 'true', restrict });
const rules = [{ name: 'all', when: 'true', grant: { templates: ['delays'] } }];
const restricting = (...all: readonly Restrict[]) => policyOf({ rules, restrictions: all.map(restriction) });
const shownBy = (...all: readonly Restrict[]) => {
  const { hideColumns, maskColumns } = decideBy(restricting(...all), 'LAX').restriction;
  return { hideColumns, maskColumns: Object.fromEntries(maskColumns) };
};

const aMask = fc.constantFrom(
  ...['hash', 'last4', 'first', 'year', 'null'],
  ...['bucket(2)', 'bucket(6)', 'bucket(9)', 'bucket(18)', 'bucket(1000)', 'bucket(999999999)'],
);
const aRestrict: fc.Arbitrary<Restrict> = fc
  .record({
    hideColumns: fc.subarray([email, salary, born]),
    maskColumns: fc.dictionary(fc.constantFrom(email, salary, born), aMask),
  })
  .filter(({ hideColumns, maskColumns }) => hideColumns.length + Object.keys(maskColumns).length > 0);

describe('masks of several restrictions', () => {
  it('hidden beats masked, and the stricter mask wins', () => {
    expect(shownBy({ maskColumns: { [email]: 'last4' } }, { hideColumns: [email] })).toEqual({
      hideColumns: [email],
      maskColumns: {},
    });
    const masks = (one: string, other: string) =>
      shownBy({ maskColumns: { [email]: one } }, { maskColumns: { [email]: other } }).maskColumns[email];
    expect(masks('hash', 'hash')).toBe('hash');
    expect(masks('hash', 'null')).toBe('null');
    expect(masks('hash', 'last4')).toBe('null');
    expect(masks('first', 'last4')).toBe('null');
    expect(masks('bucket(10)', 'bucket(1000)')).toBe('bucket(1000)');
    expect(masks('bucket(6)', 'bucket(9)')).toBe('bucket(18)');
    expect(masks('bucket(999999999)', 'bucket(2)')).toBe('null');
  });

  it('the order of masks does not matter, and the result is as strict as each', () => {
    fc.assert(
      fc.property(aMask, aMask, aMask, (a, b, c) => {
        const all = stricterMask(stricterMask(a, b), c);
        expect(stricterMask(a, stricterMask(b, c))).toBe(all);
        expect(stricterMask(stricterMask(c, b), a)).toBe(all);
        for (const one of [a, b, c]) expect(isAsStrict(all, one)).toBe(true);
      }),
    );
  });

  it('a further restriction, and an override of a tenant, never shows more', () => {
    fc.assert(
      fc.property(fc.array(aRestrict, { maxLength: 2 }), aRestrict, (some, more) => {
        const before = decideBy(restricting(...some), 'LAX');
        const tenants = [{ name: 'o', clientIds: ['LAX'], restrictions: [{ ...restriction(more), name: 'own' }] }];
        const restrictions = some.map(restriction);
        for (const policy of [restricting(...some, more), policyOf({ rules, restrictions, tenants })]) {
          const after = decideBy(policy, 'LAX');
          expect(isGrantSubset(after, { ...after, restriction: before.restriction })).toBe(true);
          const isSame = JSON.stringify(shownBy(...some)) === JSON.stringify(shownBy(...some, more));
          // A token of before may live on only if nothing was added.
          expect(isGrantSubset({ ...after, restriction: before.restriction }, after)).toBe(isSame);
        }
      }),
      { numRuns: 150 },
    );
  });

  it('are in the record of the decision, with the restrictions that they come from', () => {
    const policy = restricting(
      { maskColumns: { [email]: 'hash' } },
      { maskColumns: { [email]: 'null' } },
      { hideColumns: [salary] },
    );
    const records = recordOf(decision(policy, session, 'LAX', {})).filter(({ field }) => /Columns/.test(field));
    expect(
      records.map(({ field, value, from }) => [
        field,
        value,
        from.map(({ name, says, counts }) => [name, says, counts]),
      ]),
    ).toEqual([
      ['hideColumns', salary, [['r2', salary, true]]],
      [
        `maskColumns.${email}`,
        'null',
        [
          ['r0', 'hash', false],
          ['r1', 'null', true],
        ],
      ],
    ]);
  });
});

describe('the token request', () => {
  const start = (capabilities: readonly Capability[], restrict: Restrict) =>
    startGateway({ capabilities, policy: restricting(restrict) });

  it('has the columns, where the service knows rules for them', async () => {
    const { granted, upstream } = await start(['column-rules'], {
      hideColumns: [salary],
      maskColumns: { [email]: 'hash' },
    });
    await granted(analyst);
    expect(upstream.lastMint()).toMatchObject({ params: { hideColumns: [salary], maskColumns: { [email]: 'hash' } } });
  });

  it.each([{ hideColumns: [salary] }, { maskColumns: { [email]: 'hash' } }])(
    'is not sent to another service: the user is denied, and nothing is minted (%j)',
    async (restrict) => {
      const { refused, upstream } = await start([], restrict);
      expect(await refused(analyst)).toMatchObject({ status: 403, code: 'POLICY_UNDECIDED' });
      expect(upstream.lastMint()).toBeUndefined();
    },
  );
});

describe('the tools of a policy', () => {
  const factsUnder = async (...all: readonly Restrict[]) => {
    const dryRun = await evaluateCase(restricting(...all), { claims: analyst, body: {}, now: new Date() });
    if (!dryRun.isGranted) throw new Error('denied');
    return { facts: factsOf(viewOf(dryRun)) };
  };

  it.each<readonly [Restrict, Restrict, string]>([
    [{ hideColumns: [born] }, { hideColumns: [born], maskColumns: { [email]: 'hash' } }, 'loss'],
    [{ maskColumns: { [email]: 'hash' } }, { hideColumns: [email] }, 'loss'],
    [{ hideColumns: [email] }, { maskColumns: { [email]: 'hash' } }, 'gain'],
    [{ maskColumns: { [email]: 'null' } }, { maskColumns: { [email]: 'hash' } }, 'gain'],
    [{ maskColumns: { [email]: 'last4' } }, { maskColumns: { [email]: 'hash' } }, 'both'],
    [{ maskColumns: { [salary]: 'bucket(10)' } }, { maskColumns: { [salary]: 'bucket(100)' } }, 'loss'],
  ])('a plan tells a gain from a loss: %j, then %j', async (before, after, effect) => {
    expect(effectOfAll(changesBetween(await factsUnder(before), await factsUnder(after)))).toBe(effect);
  });

  it('names of columns, and masks of other values, are found with their place', () => {
    const text = JSON.stringify({
      ...basePolicy,
      rules,
      restrictions: [
        restriction({
          hideColumns: ['main.people.emial'],
          maskColumns: { [salary]: 'hash', 'main.people.full': 'first' },
        }),
      ],
    });
    const catalogue: NameCatalogue = {
      ...{ otherWorkspaces: null, boards: [], missing: [], dashboardsThere: [], embedsThere: [], tables: null },
      ...{ missingDatamarts: [], connectionType: null },
      allColumns: [
        { column: email, kind: 'text', isComputed: false },
        { column: salary, kind: 'integer', isComputed: false },
        { column: 'main.people.full', kind: null, isComputed: true },
      ],
    };
    const found = findUnknownNames(loadPolicy(text, 'p.yaml').names, catalogue);
    expect(found.map(({ message }) => message)).toEqual([
      expect.stringContaining('Did you mean "main.people.email"?'),
      expect.stringContaining('hash does not suit'),
      expect.stringContaining('is computed'),
    ]);
    for (const { at } of found) expect(at).toMatch(/^p\.yaml:1:\d+$/);
    expect(findUnknownNames(loadPolicy(text, 'p.yaml').names, { ...catalogue, allColumns: null })).toEqual([]);
  });

  it('refuses what is no mask and no column', () => {
    for (const restrict of [
      { maskColumns: { [email]: 'rot13' } },
      { maskColumns: { [email]: 'bucket(0)' } },
      { hideColumns: ['email'] },
    ]) {
      expect(() => restricting(restrict as Restrict)).toThrow();
    }
  });
});
