import { hash } from 'node:crypto';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { cohortOf } from '../../src/gateway/rollout/model.js';

const refs = fc
  .uniqueArray(fc.string(), { minLength: 1, maxLength: 50 })
  .map((names) => names.map((name) => hash('sha256', name, 'hex')));
const percents = fc
  .uniqueArray(fc.integer({ min: 1, max: 100 }), { minLength: 1, maxLength: 5 })
  .map((all) => all.toSorted((a, b) => a - b));

it('cohorts nest: a tenant within a percentage is within every larger one, in every roll-out', () => {
  fc.assert(
    fc.property(refs, percents, (tenants, steps) => {
      const within = (percent: number) =>
        tenants.filter((ref) => cohortOf(ref, { canary: [], steps: [percent] }) === 1);
      for (const [index, step] of steps.entries()) {
        const upTo = tenants.filter(
          (ref) => (cohortOf(ref, { canary: [], steps }) ?? Number.POSITIVE_INFINITY) <= index + 1,
        );
        expect(upTo).toEqual(within(step));
      }
      expect(within(100)).toEqual(tenants);
    }),
  );
});

it('the canary comes first with any share, and tenants beyond the last step are left out', () => {
  // Its first eight digits, ca978112, are 79.1 per cent of all.
  const ref = hash('sha256', 'a', 'hex');
  expect(cohortOf(ref, { canary: [ref], steps: [100] })).toBe(0);
  expect(cohortOf(ref, { canary: [], steps: [79] })).toBeUndefined();
  expect(cohortOf(ref, { canary: [], steps: [80] })).toBe(1);
});

it('ten per cent of many tenants are roughly ten per cent', () => {
  const many = Array.from({ length: 10_000 }, (_, index) => hash('sha256', String(index), 'hex'));
  const first = many.filter((ref) => cohortOf(ref, { canary: [], steps: [10, 100] }) === 1).length;
  expect(first).toBeGreaterThan(850);
  expect(first).toBeLessThan(1150);
});
