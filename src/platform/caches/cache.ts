import type { Clock } from '../../model/ports.js';
import type { Sharing } from '../redis/sharing.js';
import { createLru } from '../work/lru.js';

/**
 * A cache of short strings with a time to live. It may lose any value at any time. Only `deleteByPrefix` rejects,
 * because its caller must know whether the values are removed. If the cache cannot be reached, the other functions log
 * the failure and behave as if no value was stored.
 */
export type Cache = {
  /** Returns null if there is no value, if the value has expired, or if the cache cannot be reached. */
  readonly get: (key: string) => Promise<string | null>;
  /** Stores `value` for `ttlMs` milliseconds. Stores nothing if `ttlMs` is not positive. */
  readonly set: (key: string, value: string, ttlMs: number) => Promise<void>;
  readonly delete: (key: string) => Promise<void>;
  /**
   * Deletes every key with this prefix and returns their number. Rejects if the cache cannot be reached, because the
   * values may still be stored.
   */
  readonly deleteByPrefix: (prefix: string) => Promise<number>;
  /** How several processes share work, if the cache is shared. */
  readonly sharing?: Sharing;
  readonly close: () => Promise<void>;
};

type MemoryCacheOptions = {
  readonly clock: Clock;
  /** Maximum number of values. The least recently used value is removed first. */
  readonly maxEntries?: number;
};

/** Creates a cache in this process, limited to `maxEntries` values. */
export const createMemoryCache = ({ clock, maxEntries = 50_000 }: MemoryCacheOptions): Cache => {
  const values = createLru<string, { readonly value: string; readonly expiresAtMs: number }>(maxEntries, {
    isOver: ({ expiresAtMs }) => clock.now().getTime() >= expiresAtMs,
  });
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
