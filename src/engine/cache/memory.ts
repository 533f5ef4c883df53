import type { Clock } from '../../domain/ports.js';
import { createSizedLru } from '../../platform/lru.js';
import type { RunResult } from '../run/run.js';

/** `madeAtMs`: when its statement was begun, by this process's clock. */
export type Kept = { readonly rows: RunResult; readonly madeAtMs: number; readonly datasourceId: string };

/** Rows in this process, bounded by the bytes that they take. Nobody changes rows: all who ask get the same ones. */
export type Memory = {
  /** Undefined where there are none, or they are as old as `ttlMs`. */
  readonly find: (key: string, ttlMs: number) => Kept | undefined;
  readonly keep: (key: string, kept: Kept, ttlMs: number) => void;
  readonly drop: (isMeant: (key: string, kept: Kept) => boolean) => void;
  /** Drops what nobody will find any more. */
  readonly sweep: () => void;
  readonly bytes: () => number;
};

export type MemoryOptions = { readonly clock: Clock; readonly maxBytes: number; readonly evicted: () => void };

type Entry = Kept & { readonly expiresAtMs: number };

/** About what V8 takes for them: names of columns are common to all rows, and are not in them. */
export const bytesOf = ({ rows }: RunResult): number => {
  let bytes = 512;
  for (const row of rows) {
    bytes += 32;
    for (const cell of row) bytes += typeof cell === 'string' ? 32 + 2 * cell.length : 16;
  }
  return bytes;
};

export const createMemoryCache = ({ clock, maxBytes, evicted }: MemoryOptions): Memory => {
  // One answer may take a quarter of the room, so that it does not turn everything else out.
  const maxEntryBytes = maxBytes / 4;
  const entries = createSizedLru<string, Entry>(Math.max(1, maxBytes), ({ rows }) => bytesOf(rows), evicted);
  const isGood = ({ madeAtMs, expiresAtMs }: Entry, nowMs: number): boolean =>
    // A clock that was set back would have it live longer than it may.
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
