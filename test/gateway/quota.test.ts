/** Limits by plan in a policy: how they combine, what is sent, and where no token may be made. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createPolicyDecision } from '../../src/gateway/policy/decide.js';
import { isGrantSubset } from '../../src/gateway/policy/grant-subset.js';
import { recordOf } from '../../src/gateway/policy/record.js';
import { evaluateCase } from '../../src/gateway/policy-tools/dry-run.js';
import { factsOf, viewOf } from '../../src/gateway/policy-tools/grant-facts.js';
import { changesBetween, effectOfAll } from '../../src/gateway/policy-tools/plan-changes.js';
import { isQuotaWithin, type Quota, quotaNames, smallestQuota } from '../../src/model/quota.js';
import { analyst, createMovableClock, startGateway } from './harness.js';
import { policyOf } from './policies.js';

const rules = [{ name: 'all', when: 'true', grant: { templates: ['delays'] } }];
const session = { issuer: 'i', subject: 'ann', userIdentifier: 'i|ann', issuedAtMs: null, claims: {} };
const decision = createPolicyDecision(createMovableClock());
const limiting = (...all: readonly Quota[]) =>
  policyOf({
    rules,
    restrictions: all.map((quota, at) => ({ name: `plan ${at}`, when: 'true', restrict: { quota } })),
  });
const decided = (...all: readonly Quota[]) => decision(limiting(...all), session, 'LAX', {});

const aQuota: fc.Arbitrary<Quota> = fc
  .record({ queriesPerDay: fc.nat(5), exportsPerDay: fc.nat(5), seats: fc.nat(5) }, { requiredKeys: [] })
  .filter((quota) => Object.keys(quota).length > 0);

describe('quotas of several restrictions', () => {
  it('of each limit the smallest applies, whatever the order', () => {
    expect(decided({ queriesPerDay: 9, seats: 3 }, { queriesPerDay: 4 }).grant.restriction.quota).toEqual({
      ...{ queriesPerDay: 4, seats: 3 },
    });
    fc.assert(
      fc.property(fc.array(aQuota, { maxLength: 4 }), (all) => {
        const smallest = smallestQuota(all);
        expect(smallestQuota(all.toReversed())).toEqual(smallest);
        for (const quota of all) expect(isQuotaWithin(smallest, quota)).toBe(true);
        for (const name of quotaNames)
          if (smallest[name] !== undefined) expect(all.map((quota) => quota[name])).toContain(smallest[name]);
      }),
    );
  });

  it('a token with a larger limit is not kept when the policy lowers it', () => {
    fc.assert(
      fc.property(aQuota, aQuota, (before, now) => {
        const { grant } = decided(now);
        const earlier = { ...grant, restriction: { ...grant.restriction, quota: before } };
        expect(isGrantSubset(earlier, grant)).toBe(isQuotaWithin(before, now));
      }),
      { numRuns: 50 },
    );
    const { grant } = decided({ seats: 5 });
    expect(isGrantSubset({ ...grant, restriction: { ...grant.restriction, quota: {} } }, grant)).toBe(false);
  });

  it('a tenant’s own plan is a restriction of its override', () => {
    const tenants = [
      {
        ...{ name: 'small plan', clientIds: ['LAX'] },
        restrictions: [{ name: 'small', when: 'true', restrict: { quota: { queriesPerDay: 2 } } }],
      },
    ];
    const restrictions = [{ name: 'all', when: 'true', restrict: { quota: { queriesPerDay: 100 } } }];
    const policy = policyOf({ rules, restrictions, tenants });
    expect(decision(policy, session, 'LAX', {}).grant.restriction.quota).toEqual({ queriesPerDay: 2 });
    expect(decision(policy, session, 'SFO', {}).grant.restriction.quota).toEqual({ queriesPerDay: 100 });
  });

  it('an explanation says whose limit counts', () => {
    const records = recordOf(decided({ seats: 5 }, { seats: 3 })).filter(({ field }) => field.startsWith('quota'));
    expect(records).toMatchObject([
      {
        ...{ field: 'quota.seats', value: 3 },
        from: [
          { name: 'plan 0', says: 5, counts: false },
          { name: 'plan 1', says: 3, counts: true },
        ],
      },
    ]);
  });

  it.each([[{ seats: -1 }], [{ seats: 1.5 }], [{ seats: '5' }], [{ mints: 5 }], [{}]])(
    'what is no quota is refused when the policy is read: %j',
    (quota) => {
      expect(() => limiting(quota as never)).toThrow();
    },
  );
});

it.each<readonly [Quota, Quota, string]>([
  [{ seats: 5 }, { seats: 6 }, 'gain'],
  [{ seats: 5 }, { seats: 4 }, 'loss'],
  [{ seats: 5 }, { seats: 5, exportsPerDay: 1 }, 'loss'],
  [{ seats: 5, exportsPerDay: 1 }, { exportsPerDay: 1 }, 'gain'],
])('a plan of changes tells a larger limit from a smaller one: %j, then %j', async (before, after, effect) => {
  const facts = async (quota: Quota) => {
    const dryRun = await evaluateCase(limiting(quota), { claims: analyst, body: {}, now: new Date() });
    if (!dryRun.isGranted) throw new Error('denied');
    return { facts: factsOf(viewOf(dryRun)) };
  };
  expect(effectOfAll(changesBetween(await facts(before), await facts(after)))).toBe(effect);
});

describe('the token request of a tenant with a plan', () => {
  const quota = { queriesPerDay: 500, seats: 5 };

  it('has its limits, where the service counts by them', async () => {
    const { granted, upstream } = await startGateway({ capabilities: ['quotas'], policy: limiting(quota) });
    await granted(analyst);
    expect(upstream.lastMint()).toMatchObject({ params: { quota } });
  });

  it('is not sent to a service that would not limit anything', async () => {
    const { refused, upstream } = await startGateway({ capabilities: [], policy: limiting(quota) });
    expect(await refused(analyst)).toMatchObject({ status: 403, code: 'POLICY_UNDECIDED' });
    expect(upstream.lastMint()).toBeUndefined();
  });
});
