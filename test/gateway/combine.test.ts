import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { loadPolicy } from '../../src/gateway/policy/load.js';
import { evaluateCase } from '../../src/gateway/policy-tools/dry-run.js';
import { factsOf, viewOf } from '../../src/gateway/policy-tools/grant-facts.js';
import { bodyOf, claimsOf, documentOf, type PolicyModel, policyModel, type UserModel, user } from './policy-models.js';

const now = new Date('2026-03-04T05:06:07Z');
const seed = { seed: 20_261_123, numRuns: 60 };

/** Returns what a policy grants a user, without the timezone; or the code of the denial. */
const outcomeOf = async (model: PolicyModel, who: UserModel) => {
  const policy = loadPolicy(JSON.stringify(documentOf(model)), 'p.yaml');
  const dryRun = await evaluateCase(policy, { claims: claimsOf(who), body: bodyOf(who), now });
  if (!dryRun.isGranted) return dryRun.refusal.code;
  const { timezone, ...facts } = Object.fromEntries(factsOf(viewOf(dryRun)));
  return facts;
};

describe('the combination of rules', () => {
  it('is the same in any order of rules and restrictions, except for the timezone', async () => {
    await fc.assert(
      fc.asyncProperty(policyModel, user, async (model, who) => {
        const { rules, restrictions } = model;
        const reversed = { ...model, rules: rules.toReversed(), restrictions: restrictions.toReversed() };
        const rotated = { ...model, rules: [...rules.slice(1), ...rules.slice(0, 1)] };
        const outcome = await outcomeOf(model, who);
        expect(await outcomeOf(reversed, who)).toEqual(outcome);
        expect(await outcomeOf(rotated, who)).toEqual(outcome);
      }),
      seed,
    );
  });

  it('is not changed by a repeated rule or restriction', async () => {
    await fc.assert(
      fc.asyncProperty(policyModel, user, async (model, who) => {
        const doubled = {
          ...model,
          rules: [...model.rules, ...model.rules],
          restrictions: [...model.restrictions, ...model.restrictions],
        };
        expect(await outcomeOf(doubled, who)).toEqual(await outcomeOf(model, who));
      }),
      seed,
    );
  });
});
