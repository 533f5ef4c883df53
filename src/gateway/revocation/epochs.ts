/**
 * Revocation epochs. An epoch is a counter in the ledger for one scope (scopes.ts): a tenant, a user, a user in a tenant, a
 * policy, a data app, or everything. It starts at 0, only grows, and is raised by each revocation of its scope and by each
 * change of a tenant's state, in the same transaction. The epochs of all scopes that a token depends on are part of its cache
 * key, and are compared again after the mint and before the answer: so no gateway answers a token from before a revocation.
 *
 * This file is the process's copy of the epochs. The copy may be used for one second after it was read. After that, the ledger
 * is read first; while it cannot be read, requests are refused. An embedded ledger has no other writer: its copy never ages.
 */
import { handled } from '../../model/handled.js';
import { Refusal } from '../../model/refusal.js';
import type { Log } from '../../platform/logs/log.js';
import type { Sharing } from '../../platform/redis/sharing.js';
import { repeat, systemTiming, type Timing } from '../../platform/work/time.js';
import { type EpochRow, listEpochsAfter } from '../ledger/epochs.js';
import type { Ledger } from '../ledger/ledger.js';
import type { Scope } from './scopes.js';

/** One state of the copy of the epochs. */
export type KnownEpochs = {
  /** Returns the epochs of these scopes, in this order, as one text. The text changes when one of them is raised. */
  readonly markOf: (scopes: readonly Scope[]) => string;
  /** Returns the time of the last revocation of sessions of these scopes. Null if there was none. */
  readonly revokedAtMs: (scopes: readonly Scope[]) => number | null;
};

export type Epochs = {
  /**
   * Returns a copy that is at most one second old. Reads the ledger only if the copy is older. Rejects with
   * UPSTREAM_UNAVAILABLE if that fails.
   */
  readonly current: () => KnownEpochs | Promise<KnownEpochs>;
  /** As `current`, but never reads the ledger. Returns undefined if the copy is too old. */
  readonly known: () => KnownEpochs | undefined;
  /** Returns a copy that was read after this call began. Rejects with UPSTREAM_UNAVAILABLE. */
  readonly latest: () => Promise<KnownEpochs>;
  /**
   * Call after raising epochs. Tells the other gateways to read the ledger, and reads it. Rejects with
   * UPSTREAM_UNAVAILABLE.
   */
  readonly publish: () => Promise<void>;
  /** Returns the age of the copy. 0 for an embedded ledger. */
  readonly ageMs: () => number;
  /** Resolves once a running read has ended. */
  readonly close: () => Promise<void>;
};

export type EpochsOptions = {
  readonly ledger: Ledger;
  readonly sharing: Pick<Sharing, 'publish' | 'subscribe'>;
  readonly log: Log;
  readonly timing?: Timing | undefined;
};

const maxAgeMs = 1_000;
const pollMs = 350;
const askTimeoutMs = 3_000;
/** Maximum number of reads if the ledger responds so slowly that the result is already too old. */
const asksAtMost = 3;
const topic = 'epochs';

const unknown = (cause: unknown): Refusal =>
  new Refusal(
    'UPSTREAM_UNAVAILABLE',
    "The gateway's database is unavailable, so it is not known whether this access was revoked. Try again shortly.",
    { reason: 'ledger-unreachable', cause },
  );

type Copy = KnownEpochs & { readonly note: (rows: readonly EpochRow[]) => void; readonly newest: () => bigint };

const createCopy = (): Copy => {
  const known = new Map<Scope, EpochRow>();
  let newest = 0n;
  return {
    newest: () => newest,
    note: (rows) => {
      for (const row of rows) {
        // Reads may overlap, so the later one can finish first.
        if ((known.get(row.scope)?.change ?? -1n) < row.change) known.set(row.scope, row);
        if (row.change > newest) newest = row.change;
      }
    },
    markOf: (scopes) => scopes.map((scope) => known.get(scope)?.epoch ?? '0').join('.'),
    revokedAtMs: (scopes) =>
      scopes.reduce<number | null>((latest, scope) => {
        const at = known.get(scope)?.revokedAtMs ?? null;
        return at !== null && (latest === null || at > latest) ? at : latest;
      }, null),
  };
};

const inTime = async <T>(work: Promise<T>, timing: Timing): Promise<T> => {
  let cancel = (): void => {};
  const late = handled(
    new Promise<never>((_, reject) => {
      cancel = timing.after(askTimeoutMs, () => reject(new Error(`the ledger took longer than ${askTimeoutMs} ms`)));
    }),
  );
  try {
    return await Promise.race([work, late]);
  } finally {
    cancel();
  }
};

/** Shares reads of the ledger. All calls during a read share the next read. */
const createLook = (look: () => Promise<void>) => {
  let running: Promise<void> | null = null;
  let next: Promise<void> | null = null;
  const start = (): Promise<void> => {
    next = null;
    const mine: Promise<void> = handled(
      look().finally(() => {
        if (running === mine) running = null;
      }),
    );
    running = mine;
    return mine;
  };
  return (): Promise<void> => {
    if (running === null) return start();
    next ??= handled(running.then(start, start));
    return next;
  };
};

/**
 * Creates the copy of the epochs. Reads a shared ledger every 350 ms until `close`. Reads an embedded ledger first at
 * the first request.
 */
export const createEpochs = ({ ledger, sharing, log, timing = systemTiming }: EpochsOptions): Epochs => {
  const copy = createCopy();
  let knownAtMs = Number.NEGATIVE_INFINITY;
  let isOut = false;
  let isClosed = false;
  const look = createLook(async () => {
    const askedAtMs = timing.nowMs();
    try {
      copy.note(await inTime(listEpochsAfter(ledger, copy.newest()), timing));
      if (isOut) log.info({ event: 'ledger.recovered' }, 'the ledger answers again');
      isOut = false;
      knownAtMs = Math.max(knownAtMs, askedAtMs);
    } catch (cause) {
      const line = { event: 'ledger.disconnected', err: cause } as const;
      if (!isOut && !isClosed) log.error(line, 'the ledger does not answer; after a second, requests are refused');
      isOut = true;
      throw unknown(cause);
    }
  });
  const isFresh = (): boolean =>
    ledger.isShared ? timing.nowMs() - knownAtMs <= maxAgeMs : knownAtMs > Number.NEGATIVE_INFINITY;
  const latest = (): Promise<KnownEpochs> => look().then(() => copy);
  const ask = async (): Promise<KnownEpochs> => {
    for (let asked = 0; asked < asksAtMost; asked += 1) {
      await look();
      if (isFresh()) return copy;
    }
    throw unknown(new Error('what the ledger said was too old each time'));
  };
  // `look` logs a failed read. The next caller reads again and gets its own error.
  const readInBackground = (): Promise<void> => look().catch(() => {});
  const unsubscribe = sharing.subscribe(topic, () => void readInBackground());
  const stopPolling = ledger.isShared ? repeat(timing, pollMs, readInBackground) : async () => {};
  return {
    current: () => (isFresh() ? copy : ask()),
    known: () => (isFresh() ? copy : undefined),
    latest,
    ageMs: () => (ledger.isShared ? timing.nowMs() - knownAtMs : 0),
    publish: async () => {
      await sharing.publish(topic);
      await look();
    },
    close: () => {
      isClosed = true;
      unsubscribe();
      return stopPolling();
    },
  };
};
