/**
 * Caches rows per client and data app. A key holds everything that its rows depend on, including the datamart's
 * version and the client's epoch: after a change, a revocation or an erasure, earlier rows are never found again,
 * even if this process missed the notification. The cache is below the use cases, which decide whether the caller may
 * ask.
 */
import type { Clock } from '../../model/ports.js';
import { closeAll } from '../../platform/work/close-all.js';
import { repeat, systemTiming, type Timing } from '../../platform/work/time.js';
import type { RunResult } from '../run/run.js';
import { type CacheKeyParts, createKeys } from './key.js';
import { createMemoryCache } from './memory.js';
import { createSharedRows, Ended, type Found, type SharedOptions } from './shared.js';
import { createSingleFlight } from './single-flight.js';

/**
 * Where rows came from: this process's memory (hit; stale: they are older than they may be kept, and marked), another
 * replica (shared), a query already running (joined), the database (miss), or the database without caching (uncached).
 */
export type CacheOutcome = 'hit' | 'stale' | 'shared' | 'joined' | 'miss' | 'uncached';

/** `mayBeStale`: rows of the datamart's `cacheStaleSeconds` may be answered. Then the caller has them read anew. */
export type Wanted = CacheKeyParts & { readonly mayBeStale?: boolean | undefined };

export type ResultCacheOptions = {
  /** Keys are made with it. The same for all replicas. */
  readonly secret: Buffer;
  readonly clock: Clock;
  /** How long answers are cached where the datamart does not say; 0: not at all. */
  readonly ttlSeconds: number;
  /** Limit of this process's memory for rows. */
  readonly maxBytes: number;
  /** Rows shared between replicas; null for a single process. */
  readonly shared: Omit<SharedOptions, 'clock' | 'timing' | 'log'> | null;
  readonly timing?: Timing | undefined;
};

type Noted = {
  readonly answered: (outcome: CacheOutcome) => void;
  readonly evicted: () => void;
};

export type ResultCache = {
  /**
   * The rows, cached or made. One caller over all replicas makes them and the others wait for it. A caller that
   * disconnects does not cancel the query for the others. A failure goes to every waiting caller and is not cached.
   */
  readonly load: (parts: Wanted, make: Read, signal?: AbortSignal | undefined) => Promise<RunResult>;
  readonly forgetDatasource: (datasourceId: string) => void;
  /** As `Engine.forgetClient`. */
  readonly forgetClient: (dataAppId: string, clientId: string | null) => Promise<void>;
  readonly bytes: () => number;
  readonly close: () => Promise<void>;
};

const sweepEveryMs = 30_000;

/** Rows that are being made. They are cached only if no `forget` matched them meanwhile. */
type Load = {
  readonly key: string;
  readonly datasourceId: string;
  readonly ttlMs: number;
  /** How long they stay in this process. */
  readonly keptMs: number;
  isForgotten: boolean;
};

type Options = ResultCacheOptions & { readonly log: SharedOptions['log']; readonly noted: Noted };

type Read = (signal: AbortSignal | undefined) => Promise<RunResult>;

/** After the last caller disconnected, an error of the query is replaced by `Ended`. */
const unlessEnded = async (signal: AbortSignal, read: Read): Promise<RunResult> => {
  const assertWanted = (): void => {
    if (signal.aborted) throw new Ended('nobody waits for these rows any more');
  };
  assertWanted();
  try {
    return await read(signal);
  } catch (error) {
    assertWanted();
    throw error;
  }
};

/** The caches of this process and of the replicas. */
const createStores = ({ clock, timing = systemTiming, maxBytes, shared: sharing, noted, log }: Options) => {
  const memory = createMemoryCache({ clock, maxBytes, evicted: noted.evicted });
  const shared = sharing === null ? null : createSharedRows({ ...sharing, clock, timing, log });
  const loads = new Set<Load>();
  const makeAlone = async (make: () => Promise<RunResult>): Promise<Found> => {
    const madeAtMs = clock.now().getTime();
    return { rows: await make(), madeAtMs, isFound: false };
  };
  const forget = (isMeant: (key: string, datasourceId: string) => boolean): void => {
    memory.drop((key, kept) => isMeant(key, kept.datasourceId));
    for (const load of loads) if (isMeant(load.key, load.datasourceId)) load.isForgotten = true;
  };
  const ends = [
    repeat(timing, sweepEveryMs, async () => memory.sweep()),
    shared?.onDrop(() => forget(() => true)) ?? (() => {}),
  ];
  return {
    memory,
    shared,
    forget,
    make: async (load: Load, signal: AbortSignal, read: Read): Promise<RunResult> => {
      const { key, datasourceId, ttlMs, keptMs } = load;
      const make = (): Promise<RunResult> => unlessEnded(signal, read);
      loads.add(load);
      try {
        const wanted = { key, ttlMs, make, isEnded: () => signal.aborted, mayKeep: () => !load.isForgotten };
        const found = await (shared === null ? makeAlone(make) : shared.load(wanted));
        if (!load.isForgotten) memory.keep(key, { ...found, datasourceId }, keptMs);
        noted.answered(found.isFound ? 'shared' : 'miss');
        return found.rows;
      } finally {
        loads.delete(load);
      }
    },
    close: () => closeAll(ends),
  };
};

export const createResultCache = (options: Options): ResultCache => {
  const { noted } = options;
  const keys = createKeys(options.secret);
  const { memory, shared, forget, make: makeAndKeep, close } = createStores(options);
  const flights = createSingleFlight<RunResult>();
  return {
    load: async (parts, make, signal) => {
      signal?.throwIfAborted();
      const { datamart, datasource } = parts.question;
      const ttlMs = 1000 * (datamart.cacheTtlSeconds ?? options.ttlSeconds);
      const keptMs = ttlMs + 1000 * (datamart.cacheStaleSeconds ?? 0);
      if (ttlMs <= 0) {
        // Not joined with a running query either: it may have started before the change that the caller wants to see.
        noted.answered('uncached');
        return make(signal);
      }
      const { text: key } = keys.keyOf(parts);
      const kept = memory.find(key, parts.mayBeStale === true ? keptMs : ttlMs);
      if (kept !== undefined) {
        const isStale = options.clock.now().getTime() >= kept.madeAtMs + ttlMs;
        noted.answered(isStale ? 'stale' : 'hit');
        return isStale ? { ...kept.rows, readAtMs: kept.madeAtMs } : kept.rows;
      }
      const load: Load = { key, datasourceId: datasource.id, ttlMs, keptMs, isForgotten: false };
      const work = (ended: AbortSignal): Promise<RunResult> => makeAndKeep(load, ended, make);
      const { result, isJoined } = flights.join(key, work, signal);
      if (isJoined) noted.answered('joined');
      return result;
    },
    forgetDatasource: (id) => forget((_key, datasourceId) => datasourceId === id),
    forgetClient: async (dataAppId, clientId) => {
      const prefix = keys.prefixOf(dataAppId, clientId);
      forget((key) => key.startsWith(prefix));
      if (shared === null) return;
      await shared.tellDrop();
      await shared.deleteByPrefix(prefix);
    },
    bytes: memory.bytes,
    close,
  };
};
