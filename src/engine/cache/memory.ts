import type { Clock } from '../../model/ports.js';
import { createLru } from '../../platform/work/lru.js';
import type { RunResult } from '../run/run.js';

/** `madeAtMs`: when its statement began, by this process's clock. */
export type Kept = { readonly rows: RunResult; readonly madeAtMs: number; readonly datasourceId: string };

/** Rows in this process, limited by their size. Rows are immutable, so all callers get the same objects. */
export type Memory = {
  /** Undefined where the rows are missing or older than `ttlMs`. */
  readonly find: (key: string, ttlMs: number) => Kept | undefined;
  readonly keep: (key: string, kept: Kept, ttlMs: number) => void;
  readonly drop: (isMeant: (key: string, kept: Kept) => boolean) => void;
  /** Drops expired rows. */
  readonly sweep: () => void;
  readonly bytes: () => number;
};

export type MemoryOptions = { readonly clock: Clock; readonly maxBytes: number; readonly evicted: () => void };

type Entry = Kept & { readonly expiresAtMs: number };

/** The approximate size in V8. Column names are shared by all rows and not counted. */
const bytesOf = ({ rows }: RunResult): number => {
  let bytes = 512;
  for (const row of rows) {
    bytes += 32;
    for (const cell of row) bytes += typeof cell === 'string' ? 32 + 2 * cell.length : 16;
  }
  return bytes;
};

export const createMemoryCache = ({ clock, maxBytes, evicted }: MemoryOptions): Memory => {
  // One answer may take a quarter of the cache, so it cannot evict everything else.
  const maxEntryBytes = maxBytes / 4;
  const entries = createLru<string, Entry>(Math.max(1, maxBytes), { sizeOf: ({ rows }) => bytesOf(rows), evicted });
  const isGood = ({ madeAtMs, expiresAtMs }: Entry, nowMs: number): boolean =>
    // If the clock was set back, the entry would live too long, so it counts as expired.
    nowMs >= madeAtMs && nowMs < expiresAtMs;
  const drop: Memory['drop'] = (isMeant) => {
    for (const [key, kept] of [...entries.entries()]) if (isMeant(key, kept)) entries.delete(key);
  };
  return {
    find: (key, ttlMs) => {
      const entry = entries.get(key);
      if (entry === undefined) return undefined;
      const nowMs = clock.now().getTime();
      if (isGood(entry, nowMs) && nowMs < entry.madeAtMs + ttlMs) return entry;
      entries.delete(key);
      return undefined;
    },
    keep: (key, kept, ttlMs) => {
      if (bytesOf(kept.rows) <= maxEntryBytes) entries.set(key, { ...kept, expiresAtMs: kept.madeAtMs + ttlMs });
    },
    drop,
    sweep: () => {
      const nowMs = clock.now().getTime();
      drop((_key, kept) => !isGood(kept as Entry, nowMs));
    },
    bytes: () => entries.calculatedSize,
  };
};
