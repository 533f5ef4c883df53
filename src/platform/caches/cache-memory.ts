import type { Clock } from '../../model/ports.js';
import { createLru } from '../work/lru.js';
import type { Cache } from './cache.js';

export type MemoryCacheOptions = {
  readonly clock: Clock;
  /** Maximum number of values. The least recently used value is removed first. */
  readonly maxEntries?: number;
};

/** Creates a cache in this process, limited to `maxEntries` values. */
export const createMemoryCache = ({ clock, maxEntries = 50_000 }: MemoryCacheOptions): Cache => {
  const values = createLru<string, { readonly value: string; readonly expiresAtMs: number }>(maxEntries);
  return {
    get: async (key) => {
      const held = values.get(key);
      if (held === undefined) return null;
      if (clock.now().getTime() < held.expiresAtMs) return held.value;
      values.delete(key);
      return null;
    },
    set: async (key, value, ttlMs) => {
      if (ttlMs > 0) values.set(key, { value, expiresAtMs: clock.now().getTime() + ttlMs });
      else values.delete(key);
    },
    delete: async (key) => {
      values.delete(key);
    },
    deleteByPrefix: async (prefix) => {
      const keys = [...values.keys()].filter((key) => key.startsWith(prefix));
      for (const key of keys) values.delete(key);
      return keys.length;
    },
    close: async () => values.clear(),
  };
};
