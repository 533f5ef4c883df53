import { createLru } from './lru.js';

const maxKeys = 50_000;

/** Creates counters in this process. Each key has its own window of `lengthMs` milliseconds. */
export const createCounts = (lengthMs: number) => {
  const counts = createLru<string, { count: number; readonly startedMs: number }>(maxKeys);
  const find = (key: string, nowMs: number) => {
    const there = counts.get(key);
    const isCurrent = there !== undefined && nowMs >= there.startedMs && nowMs < there.startedMs + lengthMs;
    return isCurrent ? there : undefined;
  };
  return {
    /** Returns the remaining milliseconds of the key's window if its count has reached `most`, otherwise 0. */
    waitMs: (key: string, most: number, nowMs: number): number => {
      const there = find(key, nowMs);
      return there === undefined || there.count < most ? 0 : there.startedMs + lengthMs - nowMs;
    },
    /** Returns the key's new count, and the remaining milliseconds of its window. */
    add: (key: string, nowMs: number, by = 1): { readonly count: number; readonly endsInMs: number } => {
      const there = find(key, nowMs) ?? { count: 0, startedMs: nowMs };
      if (there.count === 0) counts.set(key, there);
      there.count += by;
      return { count: there.count, endsInMs: there.startedMs + lengthMs - nowMs };
    },
  };
};
