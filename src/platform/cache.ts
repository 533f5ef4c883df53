/**
 * A cache of short strings with a time to live. It may forget anything at any time, and never fails its caller, but where
 * something must be gone: an implementation that cannot be reached answers "not there" and says so in the log.
 */
export type Cache = {
  /** Null where nothing is held, or it has expired, or the cache cannot be reached. */
  readonly get: (key: string) => Promise<string | null>;
  /** Holds `value` for `ttlMs` milliseconds; nothing is held where that is not positive. */
  readonly set: (key: string, value: string, ttlMs: number) => Promise<void>;
  readonly delete: (key: string) => Promise<void>;
  /** Deletes every key that begins so, and answers how many. Rejects where the cache cannot be reached: what must be gone may be there. */
  readonly deleteByPrefix: (prefix: string) => Promise<number>;
  readonly close: () => Promise<void>;
};
