/**
 * What was revoked, as this process knows it: a copy of the ledger's epochs. It counts as knowledge for a second; after that
 * the ledger is asked before anything is answered, and where it cannot be asked, nothing is. A database of this process alone is
 * written by nobody else: the copy of that is never old.
 */
import { Refusal } from '../../domain/refusal.js';
import type { Log } from '../../platform/log.js';
import { repeat } from '../../platform/repeat.js';
import type { Sharing } from '../../platform/sharing.js';
import { systemTiming, type Timing } from '../../platform/timing.js';
import { type EpochRow, listEpochsAfter } from '../ledger/epochs.js';
import type { Ledger } from '../ledger/ledger.js';
import type { Scope } from './scopes.js';

/** The epochs as they are known just now. */
export type KnownEpochs = {
  /** One text for these scopes in this order. It differs, once anything was revoked for one of them. */
  readonly markOf: (scopes: readonly Scope[]) => string;
  /** When sessions of one of these scopes were revoked last; null: never. */
  readonly revokedAtMs: (scopes: readonly Scope[]) => number | null;
};

export type Epochs = {
  /** At most a second old. Asks the ledger only where it is older; rejects with UPSTREAM_UNAVAILABLE where that fails. */
  readonly current: () => KnownEpochs | Promise<KnownEpochs>;
  /** As `current`, but asks nobody; undefined where the ledger would have to be asked. */
  readonly known: () => KnownEpochs | undefined;
  /** As the ledger has it after this call began. Rejects with UPSTREAM_UNAVAILABLE. */
  readonly latest: () => Promise<KnownEpochs>;
  /** Of what was just written: tells the other gateways to look, and looks. It counts here at once. Rejects with UPSTREAM_UNAVAILABLE. */
  readonly publish: () => Promise<void>;
  /** Of what is known now; 0 where nobody else writes. */
  readonly ageMs: () => number;
  readonly close: () => void;
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
/** An answer that took so long that it is old already is asked for again. */
const asksAtMost = 3;
const topic = 'epochs';

const unknown = (cause: unknown): Refusal =>
  new Refusal(
    'UPSTREAM_UNAVAILABLE',
    "The gateway's database cannot be asked right now whether this access was revoked. Try again shortly.",
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
        // Two looks may overlap, and the later one answer first.
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
  const late = new Promise<never>((_, reject) => {
    cancel = timing.after(askTimeoutMs, () => reject(new Error(`the ledger took longer than ${askTimeoutMs} ms`)));
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    cancel();
  }
};

/** Looks at the ledger. Who asks while a look is under way gets the next one, which all who came meanwhile share. */
const createLook = (look: () => Promise<void>) => {
  let running: Promise<void> | null = null;
  let next: Promise<void> | null = null;
  const start = (): Promise<void> => {
    next = null;
    const mine: Promise<void> = look().finally(() => {
      if (running === mine) running = null;
    });
    running = mine;
    return mine;
  };
  return (): Promise<void> => {
    if (running === null) return start();
    next ??= running.then(start, start);
    return next;
  };
};

/** Keeps asking while the ledger is shared. Opens nothing by itself: the first request does the first look. */
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
  // A look that fails is logged, and the next caller gets its error.
  const lookAside = (): Promise<void> => look().catch(() => {});
  const unsubscribe = sharing.subscribe(topic, () => void lookAside());
  const stopPolling = ledger.isShared ? repeat(timing, pollMs, lookAside) : () => {};
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
      stopPolling();
    },
  };
};
