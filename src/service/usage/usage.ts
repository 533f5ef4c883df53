/**
 * Counts what is used, and stores it: at once for who waits for `stored`, and otherwise each second. What was counted and
 * not stored is lost if the process is killed; a store that cannot be reached loses nothing.
 */
import { handled } from '../../model/handled.js';
import type { Log } from '../../model/log-events.js';
import type { Clock, Ids, Tag } from '../../model/ports.js';
import type { CountUse, KeepQuota, UsedBy } from '../../model/usage.js';
import { createUsageBatches, type UsageCell } from '../../model/usage-batches.js';
import type { Store } from '../store/store.js';
import type { UsageSum } from '../store/usage.js';

type Deps = {
  readonly store: Pick<Store, 'usage'>;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly tag: Tag;
  readonly log: Pick<Log, 'warn'>;
  readonly keepQuota: KeepQuota;
};

export type UsageCounter = CountUse & {
  /** Stores what was counted. Never rejects. */
  readonly flush: () => Promise<void>;
};

/** The pseudonym of a user of one tenant. It is the same in all replicas, and needs the installation's key. */
export const personOf = async (tag: Tag, { dataAppId, clientId, userIdentifier }: UsedBy): Promise<string> =>
  userIdentifier === null ? '' : (await tag(['usage', dataAppId, clientId, userIdentifier])).slice(0, 16);

/** Sends one batch at a time. */
const createWriter = ({ store, clock, ids, tag, log }: Deps) => {
  const sumOf = async ({ of, at, ...counts }: UsageCell): Promise<UsageSum> => {
    const { dataAppId, clientId, dashboardId, metricId } = of;
    const key = { dataAppId, clientId: clientId ?? '', person: await personOf(tag, of) };
    return { at, ...key, dashboardId: dashboardId ?? '', metricId: metricId ?? '', ...counts };
  };
  const batches = createUsageBatches({
    ...{ clock, ids, mostCells: Number.POSITIVE_INFINITY },
    hand: async ({ cells, ...batch }) => store.usage.add({ ...batch, sums: await Promise.all(cells.map(sumOf)) }),
  });
  const write = async (): Promise<void> => {
    try {
      await batches.write();
    } catch (err) {
      log.warn({ event: 'usage.write_failed', err }, 'failed to store what was used; trying again');
    }
  };
  return { add: batches.add, write };
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
  const { store, clock, tag, keepQuota } = deps;
  const { add, write } = createWriter(deps);
  const flush = sharingRuns(write);
  const personOfUser = (by: UsedBy) => personOf(tag, by);
  const { note, hold, seat } = keepQuota({ usage: store.usage, clock, flush, personOf: personOfUser });
  return {
    add: (of, counts) => {
      add(of, counts);
      note(of, counts);
    },
    stored: flush,
    hold,
    seat,
    flush,
  };
};
