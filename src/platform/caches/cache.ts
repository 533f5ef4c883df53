import type { Sharing } from '../redis/sharing.js';

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
