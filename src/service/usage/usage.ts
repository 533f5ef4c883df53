/**
 * Counts what is used, and stores it: at once for who waits for `stored`, and otherwise each second. What was counted and
 * not stored is lost if the process is killed; a store that cannot be reached loses nothing.
 */
import { handled } from '../../model/handled.js';
import type { Log } from '../../model/log-events.js';
import type { Clock, Ids, Tag } from '../../model/ports.js';
import { type CountUse, type KeepQuota, type UsageCounts, type UsedBy, usageNames } from '../../model/usage.js';
import type { Store } from '../store/store.js';
import type { UsageBatch, UsageSum } from '../store/usage.js';

/** Beyond this number of keys, users, dashboards and metrics are no longer told apart until the next write. */
const mostKeys = 20_000;
const hourMs = 3_600_000;

type Counting = { -readonly [Name in keyof UsageCounts]: number };
type Noted = Parameters<CountUse['add']>[0];
type Cell = Counting & { readonly at: Date; readonly of: Noted };

const nothing = (): Counting => Object.fromEntries(usageNames.map((name) => [name, 0])) as Counting;

const addTo = (cell: Counting, counts: Partial<UsageCounts>): void => {
  for (const name of usageNames) cell[name] += counts[name] ?? 0;
};

const createCells = (clock: Clock) => {
  let cells = new Map<string, Cell>();
  return {
    add: (of: Noted, counts: Partial<UsageCounts>): void => {
      const nowMs = clock.now().getTime();
      const at = new Date(nowMs - (nowMs % hourMs));
      const full = JSON.stringify([
        of.dataAppId,
        of.clientId,
        at.getTime(),
        of.userIdentifier,
        of.dashboardId,
        of.metricId,
      ]);
      const isTold = cells.size < mostKeys || cells.has(full);
      const kept = isTold ? of : { ...of, userIdentifier: null, dashboardId: null, metricId: null };
      const key = isTold ? full : JSON.stringify([of.dataAppId, of.clientId, at.getTime()]);
      const cell = cells.get(key) ?? { ...nothing(), at, of: kept };
      cells.set(key, cell);
      addTo(cell, counts);
    },
    isEmpty: () => cells.size === 0,
    take: (): readonly Cell[] => {
      const taken = [...cells.values()];
      cells = new Map();
      return taken;
    },
  };
};

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
const personOf = async (tag: Tag, { dataAppId, clientId, userIdentifier }: UsedBy): Promise<string> =>
  userIdentifier === null ? '' : (await tag(['usage', dataAppId, clientId, userIdentifier])).slice(0, 16);

/** Sends one batch at a time. */
const createWriter = ({ store, clock, ids, tag, log }: Deps) => {
  const cells = createCells(clock);
  const writer = ids.uuid();
  let number = 0;
  /** A batch that may or may not have been stored. It is sent again as it is: the store takes it once. */
  let unsure: UsageBatch | null = null;
  const sumOf = async ({ of, at, ...counts }: Cell): Promise<UsageSum> => {
    const { dataAppId, clientId, dashboardId, metricId } = of;
    const key = { dataAppId, clientId: clientId ?? '', person: await personOf(tag, of) };
    return { at, ...key, dashboardId: dashboardId ?? '', metricId: metricId ?? '', ...counts };
  };
  const next = async (): Promise<UsageBatch> => {
    const taken = cells.take();
    number += 1;
    return { writer, number, sums: await Promise.all(taken.map(sumOf)) };
  };
  const send = async (batch: UsageBatch): Promise<void> => {
    unsure = batch;
    await store.usage.add(batch);
    unsure = null;
  };
  const write = async (): Promise<void> => {
    try {
      if (unsure !== null) await send(unsure);
      if (!cells.isEmpty()) await send(await next());
    } catch (err) {
      log.warn({ event: 'usage.write_failed', err }, 'failed to store what was used; trying again');
    }
  };
  return { add: cells.add, write };
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
