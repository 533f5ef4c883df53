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
    add: (key: string, nowMs: number): void => {
      const there = find(key, nowMs);
      if (there === undefined) counts.set(key, { count: 1, startedMs: nowMs });
      else there.count += 1;
    },
  };
};
