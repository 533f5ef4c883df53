/**
 * Counts what is used, and stores it each second. What no kill may lose is in a journal before its answer leaves; where
 * there is none, or it fails, the answer waits for the store. Other counts are lost if the process is killed before they
 * are stored; a store that cannot be reached loses nothing.
 */
import { handled } from '../../model/handled.js';
import type { Log } from '../../model/log-events.js';
import type { Clock, Ids, ShortTag } from '../../model/ports.js';
import {
  type BatchId,
  type CountUse,
  exactNames,
  type KeepQuota,
  type UsageCounts,
  type UsageJournal,
  type UsageLine,
  type UsedBy,
  type UsedOn,
  usageNames,
} from '../../model/usage.js';
import { createUsageBatches, nothingUsed, type UsageCell } from '../../model/usage-batches.js';
import type { Store } from '../store/store.js';
import type { UsageSum } from '../store/usage.js';

type Deps = {
  readonly store: Pick<Store, 'usage'>;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly shortTag: ShortTag;
  readonly log: Pick<Log, 'warn'>;
  readonly keepQuota: KeepQuota;
  /** Null: answers wait for the store. */
  readonly journal: UsageJournal | null;
};

export type UsageCounter = CountUse & {
  /** Stores what was counted. Never rejects. */
  readonly flush: () => Promise<void>;
};

/** The pseudonym of a user of one tenant. It is the same in all replicas, and needs the installation's key. */
export const personOf = (tag: ShortTag, { dataAppId, clientId, userIdentifier }: UsedBy): string =>
  userIdentifier === null ? '' : tag(['usage', dataAppId, clientId, userIdentifier]).slice(0, 16);

const isExact = (counts: Partial<UsageCounts>): boolean => exactNames.some((name) => (counts[name] ?? 0) > 0);

const keyOf = (tag: ShortTag, of: UsedBy & UsedOn) => ({
  dataAppId: of.dataAppId,
  clientId: of.clientId ?? '',
  person: personOf(tag, of),
  dashboardId: of.dashboardId ?? '',
  metricId: of.metricId ?? '',
});

/** Sends one batch at a time. */
const createWriter = ({ store, clock, ids, shortTag, log, journal }: Deps) => {
  /** The last batch that the store must have before answers leave, and the last that it has. */
  let [owed, done] = [0, 0];
  const sumOf = ({ of, ...sums }: UsageCell): UsageSum => ({ ...keyOf(shortTag, of), ...sums });
  const batches = createUsageBatches({
    ...{ clock, ids, mostCells: Number.POSITIVE_INFINITY },
    hand: async ({ cells, ...batch }) => {
      await store.usage.add({ ...batch, sums: cells.map(sumOf) });
      done = batch.number;
      await journal?.forget(batch);
    },
  });
  const isKept = (of: UsedBy & UsedOn, counts: Partial<UsageCounts>): boolean => {
    if (journal === null) return false;
    const line = { since: clock.now(), ...keyOf(shortTag, of), counts };
    const end = journal.append(batches.gathers(), line);
    if (end !== 'outdated') return end === 'kept';
    batches.renew();
    return journal.append(batches.gathers(), line) === 'kept';
  };
  const write = async (): Promise<void> => {
    try {
      await batches.write();
    } catch (err) {
      log.warn({ event: 'usage.write_failed', err }, 'failed to store what was used; trying again');
    }
  };
  return {
    /** `isUrgent`: its answer waits for the store. */
    add: (of: UsedBy & UsedOn, counts: Partial<UsageCounts>, isUrgent: boolean): void => {
      const isSafe = !isExact(counts) || isKept(of, counts);
      if (isUrgent || !isSafe) owed = batches.gathers().number;
      batches.add(of, counts);
    },
    isOwed: () => owed > done,
    write,
  };
};

/** All who call while `work` runs share the next run. */
const sharingRuns = (work: () => Promise<void>): (() => Promise<void>) => {
  let running: Promise<void> = Promise.resolve();
  let waiting: Promise<void> | null = null;
  const start = (): Promise<void> => {
    waiting = null;
    running = handled(work());
    return running;
  };
  return () => {
    waiting ??= handled(running.then(start));
    return waiting;
  };
};

export const createUsageCounter = (deps: Deps): UsageCounter => {
  const { store, clock, shortTag, keepQuota } = deps;
  const { add, isOwed, write } = createWriter(deps);
  const flush = sharingRuns(write);
  const personOfUser = (by: UsedBy) => personOf(shortTag, by);
  const { note, hold, seat } = keepQuota({ usage: store.usage, clock, flush, personOf: personOfUser });
  return {
    add: (of, counts) => add(of, counts, note(of, counts)),
    stored: () => (isOwed() ? flush() : Promise.resolve()),
    hold,
    seat,
    flush,
  };
};

const hourMs = 3_600_000;

/** Lines as sums of hours. */
const sumsOf = (lines: readonly UsageLine[]): readonly UsageSum[] => {
  const sums = new Map<string, { -readonly [Name in keyof UsageSum]: UsageSum[Name] }>();
  for (const { since, counts, ...key } of lines) {
    const at = new Date(since.getTime() - (since.getTime() % hourMs));
    const name = JSON.stringify([at.getTime(), ...Object.values(key)]);
    const sum = sums.get(name) ?? { at, since, ...key, ...nothingUsed() };
    sums.set(name, sum);
    for (const one of usageNames) sum[one] += counts[one] ?? 0;
  }
  return [...sums.values()];
};

/** Stores what a killed process has kept of a batch. The store knows whether it has the batch already. */
export const storeLeft =
  ({ store }: Pick<Deps, 'store'>) =>
  async (batch: BatchId, lines: readonly UsageLine[]): Promise<void> => {
    await store.usage.add({ ...batch, sums: sumsOf(lines), isLeft: true });
  };
