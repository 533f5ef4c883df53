import { expect, it } from 'vitest';
import { createMemoryCache } from '../../src/platform/caches/cache.js';
import { createLru } from '../../src/platform/work/lru.js';
import { describeCache } from '../suites/cache.js';

const createClock = () => {
  let nowMs = 1_800_000_000_000;
  return {
    now: () => new Date(nowMs),
    advance: (ms: number) => {
      nowMs += ms;
    },
  };
};
const clock = createClock();
const cache = createMemoryCache({ clock });

describeCache('memory', {
  cache: () => cache,
  key: (name) => `test:${name}`,
  pass: async (ms) => clock.advance(ms),
});

it('holds no more than it is allowed, and drops what was not used for longest', async () => {
  const small = createMemoryCache({ clock, maxEntries: 2 });
  await small.set('a', '1', 1000);
  await small.set('b', '2', 1000);
  await small.get('a');
  await small.set('c', '3', 1000);
  expect(await Promise.all(['a', 'b', 'c'].map((key) => small.get(key)))).toEqual(['1', null, '3']);
  await small.close();
  expect(await small.get('a')).toBeNull();
});

it('values that have expired take no room until the maximum', () => {
  let nowMs = 0;
  const cache = createLru<number, { readonly untilMs: number }>(100_000, { isOver: ({ untilMs }) => nowMs >= untilMs });
  for (; nowMs < 6_000; nowMs += 1) {
    // One of ten lives on.
    cache.set(nowMs, { untilMs: nowMs % 10 === 0 ? 1_000_000 : nowMs + 50 });
    const living = [...cache.values()].filter(({ untilMs }) => untilMs > nowMs).length;
    expect(cache.size).toBeLessThanOrEqual(Math.max(500, 2 * living + 1));
  }
  expect(cache.size).toBeGreaterThan(600);
});
