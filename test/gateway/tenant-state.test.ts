import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { newestOf, stateOf, type TenantEventKind, withEvent } from '../../src/gateway/tenant/state.js';
import { foldState, type Happened, noMoments, tenantEventKinds } from './tenant-events.js';

const events = fc.array(fc.record({ kind: fc.constantFrom(...tenantEventKinds), at: fc.integer({ min: 0, max: 6 }) }), {
  maxLength: 12,
});
const shuffled = events.chain((given) =>
  fc.tuple(
    fc.constant(given),
    fc.shuffledSubarray([...given, ...given], { minLength: given.length * 2, maxLength: given.length * 2 }),
  ),
);
const momentsOf = (given: readonly Happened[]) =>
  given.reduce((moments, { kind, at }) => withEvent(moments, kind, new Date(at)), noMoments);

describe('the state of a tenant', () => {
  it('is that of the events in the order they happened, in whatever order and however often they arrive', () => {
    fc.assert(
      fc.property(shuffled, ([given, delivered]) => {
        const moments = momentsOf(delivered);
        expect(stateOf(moments)).toBe(foldState(given));
        expect(newestOf(moments)?.getTime() ?? null).toBe(
          given.length === 0 ? null : Math.max(...given.map(({ at }) => at)),
        );
      }),
      { seed: 20_261_121, numRuns: 5000 },
    );
  });

  it.each([
    ['nothing but logins', [], 'active'],
    ['resumed after a deletion', ['deleted@1', 'resumed@2'], 'deleted'],
    ['suspended after a deletion', ['deleted@1', 'suspended@2'], 'deleted'],
    ['signed up anew', ['deleted@1', 'signed-up@2'], 'active'],
    ['signed up before the deletion', ['signed-up@1', 'deleted@2'], 'deleted'],
    ['deleted and signed up at one moment', ['deleted@1', 'signed-up@1'], 'deleted'],
    ['suspended and resumed at one moment', ['suspended@1', 'resumed@1'], 'suspended'],
    ['suspended in a former life', ['suspended@1', 'deleted@2', 'signed-up@3'], 'active'],
  ])("a tenant's state follows from its events: %s", (_, texts, state) => {
    const given = texts.map((text): Happened => {
      const [kind, at] = text.split('@');
      return { kind: kind as TenantEventKind, at: Number(at) };
    });
    expect([stateOf(momentsOf(given)), foldState(given)]).toEqual([state, state]);
  });
});
