/**
 * Rows of questions that were asked before, for the same client of the same data app. A key holds everything that its rows depend on,
 * the datamart's version and the client's epoch too: what was changed, revoked or erased is never found again, whoever missed to be
 * told of it. It lies beneath the use cases: whether a caller may ask at all was decided before.
 */
import type { Clock } from '../../domain/ports.js';
import { repeat } from '../../platform/repeat.js';
import { systemTiming, type Timing } from '../../platform/timing.js';
import type { RunResult } from '../run/run.js';
import { type CacheKeyParts, createKeys } from './key.js';
import { createMemoryCache } from './memory.js';
import { createSharedRows, Ended, type Found, type SharedOptions } from './shared.js';
import { createSingleFlight } from './single-flight.js';

/** How an answer came about: from this process's memory, from another replica, with somebody else's, by asking, or as one that is never kept. */
export type CacheOutcome = 'hit' | 'shared' | 'joined' | 'miss' | 'uncached';

export type ResultCacheOptions = {
  /** Of all replicas: keys are made with it. */
  readonly secret: Buffer;
  readonly clock: Clock;
  /** For how long answers are kept where the datamart does not say; 0: not at all. */
  readonly ttlSeconds: number;
  /** What they may take in this process. */
  readonly maxBytes: number;
  /** With other replicas; null: this process is alone. */
  readonly shared: Omit<SharedOptions, 'clock' | 'timing' | 'log'> | null;
  readonly timing?: Timing | undefined;
};

type Noted = {
  readonly answered: (outcome: CacheOutcome) => void;
  readonly evicted: () => void;
};

export type ResultCache = {
  /**
   * The rows, kept or made. One caller of a key makes them, over all replicas, and the others take part; nobody's leaving ends it for the
   * others. A failure is everybody's who waits for it, and is not kept.
   */
  readonly load: (parts: CacheKeyParts, make: Read, signal?: AbortSignal | undefined) => Promise<RunResult>;
  readonly forgetDatasource: (datasourceId: string) => void;
  /** As `Engine.forgetClient`. */
  readonly forgetClient: (dataAppId: string, clientId: string | null) => Promise<void>;
  readonly bytes: () => number;
  readonly close: () => void;
};

const sweepEveryMs = 30_000;

/** Rows on their way: when they come, they are kept only if nobody meant them to be forgotten meanwhile. */
type Load = { readonly key: string; readonly datasourceId: string; readonly ttlMs: number; isForgotten: boolean };

type Options = ResultCacheOptions & { readonly log: SharedOptions['log']; readonly noted: Noted };

type Read = (signal: AbortSignal | undefined) => Promise<RunResult>;

/** However it fails once nobody waits for it, that is no failure of the query's. */
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

/** What is kept, here and by the replicas. */
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
      const { key, datasourceId, ttlMs } = load;
      const make = (): Promise<RunResult> => unlessEnded(signal, read);
      loads.add(load);
      try {
        const wanted = { key, ttlMs, make, isEnded: () => signal.aborted, mayKeep: () => !load.isForgotten };
        const found = await (shared === null ? makeAlone(make) : shared.load(wanted));
        if (!load.isForgotten) memory.keep(key, { ...found, datasourceId }, ttlMs);
        noted.answered(found.isFound ? 'shared' : 'miss');
        return found.rows;
      } finally {
        loads.delete(load);
      }
    },
    close: () => {
      for (const end of ends) end();
    },
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
      if (ttlMs <= 0) {
        // Not with another's, either: that one may have been begun before what the caller means to see.
        noted.answered('uncached');
        return make(signal);
      }
      const { text: key } = keys.keyOf(parts);
      const kept = memory.find(key, ttlMs);
      if (kept !== undefined) {
        noted.answered('hit');
        return kept.rows;
      }
      const load: Load = { key, datasourceId: datasource.id, ttlMs, isForgotten: false };
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
