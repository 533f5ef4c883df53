/**
 * Rows shared between replicas through Redis. They are sealed and bound to their key: who reads Redis sees no rows,
 * and who writes to it can neither add rows nor move one client's rows to another. While Redis is down or slow, every
 * replica queries for itself.
 */
import type { Clock } from '../../model/ports.js';
import { Refusal } from '../../model/refusal.js';
import { findUnavailable } from '../../model/unavailable.js';
import type { Cache } from '../../platform/caches/cache.js';
import { createSealedValues } from '../../platform/keys/sealed-values.js';
import type { Sealer } from '../../platform/keys/sealing.js';
import { type SharedWork, type Sharing, WaitedTooLong } from '../../platform/redis/sharing.js';
import type { Timing } from '../../platform/work/time.js';
import type { Log } from '../connections/database.js';
import { refuseQuery } from '../dialect/refuse.js';
import type { RunResult } from '../run/run.js';

export type SharedOptions = {
  readonly sharing: Pick<Sharing, 'once' | 'publish' | 'subscribe'>;
  readonly cache: Pick<Cache, 'deleteByPrefix'>;
  readonly sealer: Sealer;
  readonly clock: Clock;
  readonly timing: Timing;
  readonly log: Log;
};

export type Found = {
  readonly rows: RunResult;
  /** By this process's clock. */
  readonly madeAtMs: number;
  /** Made by another replica, or earlier by this one. */
  readonly isFound: boolean;
};

export type Wanted = {
  readonly key: string;
  readonly ttlMs: number;
  readonly make: () => Promise<RunResult>;
  /** Whether no caller waits any more; then `make` throws `Ended`. */
  readonly isEnded: () => boolean;
  /** Asked after `make`: false where a `forget` matched the rows meanwhile. */
  readonly mayKeep: () => boolean;
};

export type SharedRows = {
  /** One replica at a time makes the rows. Rejects as `make` does. */
  readonly load: (wanted: Wanted) => Promise<Found>;
  readonly deleteByPrefix: (prefix: string) => Promise<void>;
  /** Tells the other replicas to drop their copies. Delivery is not guaranteed. */
  readonly tellDrop: () => Promise<void>;
  readonly onDrop: (heard: () => void) => () => void;
};

/**
 * In characters. Longer values are not shared, because they would delay every other command of the Redis connection.
 */
const maxTextLength = 4 * 1024 * 1024;
/** The work was abandoned because its last caller disconnected. */
export class Ended extends Error {
  override readonly name = 'Ended';
}

/** After a failure, Redis is not asked for this long, so questions do not wait for its timeout. */
const restMs = 2_000;
const topic = 'guestlist:rows:drop';

/** Failures that concern this replica alone. Another replica may succeed. */
const ownReasons = new Set(['query-line-full', 'query-line-late', 'datasource-busy']);

const createCodec = (sealer: Sealer, clock: Clock) => {
  const sealed = createSealedValues<readonly [madeAtMs: number, rows: RunResult]>({
    sealer,
    read: (json) => (Array.isArray(json) && Number.isFinite(json[0]) ? [json[0], json[1]] : undefined),
    // A failure that passes is each replica's own: its text would not say that it passes.
    isSharedFailure: (refusal) =>
      refusal.code === 'METRIC_QUERY_ERROR' &&
      !ownReasons.has(refusal.reason) &&
      findUnavailable(refusal) === undefined,
    isCode: (code) => code === 'METRIC_QUERY_ERROR',
    unknownFailure: () =>
      new Refusal('METRIC_QUERY_ERROR', 'The query failed. Retry it.', { reason: 'failed-elsewhere' }),
  });
  return {
    encode: (key: string, rows: RunResult, madeAtMs: number): string => sealed.encode(key, [madeAtMs, rows]),
    /** Undefined for rows older than `ttlMs` too. The clocks of two replicas may differ, so rows made in the future count as made now. */
    decode: (key: string, text: string, ttlMs: number): Found | undefined => {
      const opened = sealed.decode(key, text);
      if (opened === undefined) return undefined;
      const nowMs = clock.now().getTime();
      const madeAtMs = Math.min(opened[0], nowMs);
      return nowMs - madeAtMs < ttlMs ? { rows: opened[1], madeAtMs, isFound: true } : undefined;
    },
    encodeFailure: sealed.encodeFailure,
    decodeFailure: sealed.decodeFailure,
  };
};

type Codec = ReturnType<typeof createCodec>;
type Seen = { readonly text: string; readonly found: Found };

/** The work in the shape that `Sharing` runs. `seen` holds the rows that it made or found, decoded. */
const workOf = (codec: Codec, clock: Clock, { key, ttlMs, make, mayKeep }: Wanted) => {
  const seen: { own?: Seen; other?: Seen } = {};
  const work: SharedWork = {
    isGood: (text) => {
      const found = codec.decode(key, text, ttlMs);
      if (found !== undefined) seen.other = { text, found };
      return found !== undefined;
    },
    make: async () => {
      const madeAtMs = clock.now().getTime();
      const rows = await make();
      const text = mayKeep() ? codec.encode(key, rows, madeAtMs) : '';
      seen.own = { text, found: { rows, madeAtMs, isFound: false } };
      const isKept = text !== '' && text.length <= maxTextLength;
      return { text, lifeMs: isKept ? madeAtMs + ttlMs - clock.now().getTime() : 0 };
    },
    discard: async () => {},
    encodeFailure: (error) => codec.encodeFailure(key, error),
    decodeFailure: (failure) => codec.decodeFailure(key, failure),
  };
  return { seen, work };
};

export const createSharedRows = ({ sharing, cache, sealer, clock, timing, log }: SharedOptions): SharedRows => {
  const codec = createCodec(sealer, clock);
  let restUntilMs = Number.NEGATIVE_INFINITY;
  const loadAlone = async ({ make }: Wanted): Promise<Found> => {
    const madeAtMs = clock.now().getTime();
    return { rows: await make(), madeAtMs, isFound: false };
  };
  const loadShared = async (wanted: Wanted): Promise<Found> => {
    const { seen, work } = workOf(codec, clock, wanted);
    const { text, isShared } = await sharing.once(wanted.key, work);
    if (!isShared) restUntilMs = timing.nowMs() + restMs;
    const made = [seen.own, seen.other].find((one) => one?.text === text)?.found;
    // An earlier call of this process may have made the text, so `seen` does not hold its rows.
    return made ?? codec.decode(wanted.key, text, wanted.ttlMs) ?? loadAlone(wanted);
  };
  const tryToLoad = async (wanted: Wanted): Promise<Found> => {
    for (;;) {
      try {
        return await (timing.nowMs() < restUntilMs ? loadAlone(wanted) : loadShared(wanted));
      } catch (error) {
        // Another caller abandoned the work; this one starts again.
        if (!(error instanceof Ended) || wanted.isEnded()) throw error;
      }
    }
  };
  return {
    load: async (wanted) => {
      try {
        return await tryToLoad(wanted);
      } catch (error) {
        if (!(error instanceof WaitedTooLong)) throw error;
        const message =
          'The same query is running on another replica and exceeded the time limit. Narrow it with a filter.';
        return refuseQuery(message, 'waited-too-long');
      }
    },
    deleteByPrefix: async (prefix) => {
      try {
        await cache.deleteByPrefix(prefix);
      } catch (err) {
        // The keys are unreachable after the epoch changed, and expire.
        log.warn(
          { event: 'cache.delete_failed', err },
          'failed to delete cached rows in Redis; no key leads to them, and they expire',
        );
      }
    },
    tellDrop: () => sharing.publish(topic),
    onDrop: (heard) => sharing.subscribe(topic, heard),
  };
};
