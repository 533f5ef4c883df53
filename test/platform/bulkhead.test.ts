import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BulkheadFull, createBulkhead } from '../../src/platform/work/bulkhead.js';

const never = new AbortController().signal;

/** Jobs that end when the test says so. */
const createWorks = () => {
  const ends: (() => void)[] = [];
  const started: number[] = [];
  const work = (id: number) => () =>
    new Promise<number>((resolve) => {
      started.push(id);
      ends.push(() => resolve(id));
    });
  return { ends, started, work };
};
const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('a bulkhead', () => {
  it('runs so many at once, lets so many wait in order, and refuses the next at once', async () => {
    const run = createBulkhead({ maxConcurrent: 2, maxQueued: 2 });
    const { ends, started, work } = createWorks();
    const answers = [0, 1, 2, 3].map((id) => run(work(id), never));
    await expect(run(work(4), never)).rejects.toBeInstanceOf(BulkheadFull);
    expect(started).toEqual([0, 1]);
    ends[1]?.();
    await settled();
    expect(started).toEqual([0, 1, 2]);
    ends[0]?.();
    await settled();
    ends[2]?.();
    ends[3]?.();
    expect(await Promise.all(answers)).toEqual([0, 1, 2, 3]);
  });

  it('lets one that has waited long enough go, and its place in the queue with it', async () => {
    const run = createBulkhead({ maxConcurrent: 1, maxQueued: 1 });
    const { ends, started, work } = createWorks();
    const first = run(work(0), never);
    const controller = new AbortController();
    const second = run(work(1), controller.signal);
    const reason = new Error('too late');
    controller.abort(reason);
    await expect(second).rejects.toBe(reason);
    const third = run(work(2), never);
    ends[0]?.();
    await first;
    await settled();
    ends[1]?.();
    expect(await third).toBe(2);
    expect(started).toEqual([0, 2]);
  });

  it('gives a place back whatever becomes of the work', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom('ends', 'throws', 'leaves'), { minLength: 1, maxLength: 30 }),
        fc.integer({ min: 1, max: 3 }),
        async (fates, maxConcurrent) => {
          const run = createBulkhead({ maxConcurrent, maxQueued: 30 });
          let running = 0;
          let most = 0;
          const outcomes = await Promise.allSettled(
            fates.map((fate) => {
              const controller = new AbortController();
              const outcome = run(async () => {
                running += 1;
                most = Math.max(most, running);
                await settled();
                running -= 1;
                if (fate === 'throws') throw new Error('failed');
              }, controller.signal);
              if (fate === 'leaves') controller.abort(new Error('left'));
              return outcome;
            }),
          );
          expect(outcomes).toHaveLength(fates.length);
          expect(most).toBeLessThanOrEqual(maxConcurrent);
          expect(running).toBe(0);
          expect(await run(async () => 'free', never)).toBe('free');
        },
      ),
      { seed: 20_261_121, numRuns: 100 },
    );
  });
});
