/** Puts counts of use together by hour, and hands them over in batches, each of which counts once. */
import type { Clock, Ids } from './ports.js';
import { type CountUse, type UsageCounts, type UsedBy, type UsedOn, usageNames } from './usage.js';

/** Beyond this number of keys, users, dashboards and metrics are no longer told apart until the next write. */
const mostKeys = 20_000;
const hourMs = 3_600_000;

type Counting = { -readonly [Name in keyof UsageCounts]: number };

/** Counts of one hour. `at`: when it begins. */
export type UsageCell = UsageCounts & { readonly at: Date; readonly of: UsedBy & UsedOn };

/** `number` rises with each batch of a writer, so that who gets one twice counts it once. */
type CellBatch = { readonly writer: string; readonly number: number; readonly cells: readonly UsageCell[] };

export const nothingUsed = (): Counting => Object.fromEntries(usageNames.map((name) => [name, 0])) as Counting;

const createCells = (clock: Clock) => {
  let cells = new Map<string, Counting & UsageCell>();
  return {
    add: (of: UsedBy & UsedOn, counts: Partial<UsageCounts>): void => {
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
      const cell = cells.get(key) ?? { ...nothingUsed(), at, of: kept };
      cells.set(key, cell);
      for (const name of usageNames) cell[name] += counts[name] ?? 0;
    },
    take: (): readonly UsageCell[] => {
      const taken = [...cells.values()];
      cells = new Map();
      return taken;
    },
  };
};

type Parts = {
  readonly clock: Clock;
  readonly ids: Ids;
  /** Of one batch. */
  readonly mostCells: number;
  readonly hand: (batch: CellBatch) => Promise<void>;
};

type UsageBatches = Pick<CountUse, 'add'> & {
  /**
   * Hands over what was counted, one batch at a time. Rejects as `hand` does; the same batch is then the next one, since it
   * may have been taken.
   */
  readonly write: () => Promise<void>;
  /** Forgets what was counted, but for a batch that may have been taken. */
  readonly drop: () => void;
};

/** `write` must not be called while it runs. */
export const createUsageBatches = ({ clock, ids, mostCells, hand }: Parts): UsageBatches => {
  const cells = createCells(clock);
  const writer = ids.uuid();
  let number = 0;
  let waiting: readonly CellBatch[] = [];
  const handAll = async (): Promise<void> => {
    for (const batch of waiting) {
      await hand(batch);
      waiting = waiting.slice(1);
    }
  };
  return {
    add: cells.add,
    write: async () => {
      await handAll();
      const taken = cells.take();
      for (let start = 0; start < taken.length; start += mostCells) {
        number += 1;
        waiting = [...waiting, { writer, number, cells: taken.slice(start, start + mostCells) }];
      }
      await handAll();
    },
    drop: () => void cells.take(),
  };
};
