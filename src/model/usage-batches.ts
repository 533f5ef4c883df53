/** Puts counts of use together by hour, and hands them over in batches, each of which counts once. */
import type { Clock, Ids } from './ports.js';
import { type BatchId, type CountUse, type UsageCounts, type UsedBy, type UsedOn, usageNames } from './usage.js';

/** Beyond this number of keys, users, dashboards and metrics are no longer told apart until the next write. */
const mostKeys = 20_000;
const hourMs = 3_600_000;

type Counting = { -readonly [Name in keyof UsageCounts]: number };

/** Counts of one hour. `at`: when it begins. `since`: when the first of them was counted. */
export type UsageCell = UsageCounts & { readonly at: Date; readonly since: Date; readonly of: UsedBy & UsedOn };

/** Who gets the same batch twice counts it once. */
type CellBatch = BatchId & { readonly cells: readonly UsageCell[] };

export const nothingUsed = (): Counting => Object.fromEntries(usageNames.map((name) => [name, 0])) as Counting;

/** Texts of two parts are only equal if the parts are. JSON would be slower. */
const partOf = (text: string | null): string => (text === null ? '-' : `${text.length}:${text}`);

const createCells = (clock: Clock) => {
  let cells = new Map<string, Counting & UsageCell>();
  return {
    add: (of: UsedBy & UsedOn, counts: Partial<UsageCounts>): void => {
      const since = clock.now();
      const atMs = since.getTime() - (since.getTime() % hourMs);
      const short = `${atMs}${partOf(of.dataAppId)}${partOf(of.clientId)}`;
      const full = `${short}${partOf(of.userIdentifier)}${partOf(of.dashboardId)}${partOf(of.metricId)}`;
      const isTold = cells.size < mostKeys || cells.has(full);
      const key = isTold ? full : short;
      let cell = cells.get(key);
      if (cell === undefined) {
        const kept = isTold ? of : { ...of, userIdentifier: null, dashboardId: null, metricId: null };
        cell = { ...nothingUsed(), at: new Date(atMs), since, of: kept };
        cells.set(key, cell);
      }
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
  /** The batch that what is added now will be in, or the first of those. */
  readonly gathers: () => BatchId;
  /** What is added from now on is in batches of another writer. */
  readonly renew: () => void;
  /** Forgets what was counted, but for a batch that may have been taken. */
  readonly drop: () => void;
};

/** `write` must not be called while it runs. */
export const createUsageBatches = ({ clock, ids, mostCells, hand }: Parts): UsageBatches => {
  const cells = createCells(clock);
  let writer = ids.uuid();
  let number = 0;
  let waiting: readonly CellBatch[] = [];
  const handAll = async (): Promise<void> => {
    for (const batch of waiting) {
      await hand(batch);
      waiting = waiting.slice(1);
    }
  };
  const gather = (): void => {
    const taken = cells.take();
    for (let start = 0; start < taken.length; start += mostCells) {
      number += 1;
      waiting = [...waiting, { writer, number, cells: taken.slice(start, start + mostCells) }];
    }
  };
  return {
    add: cells.add,
    gathers: () => ({ writer, number: number + 1 }),
    renew: () => {
      gather();
      writer = ids.uuid();
    },
    write: async () => {
      await handAll();
      gather();
      await handAll();
    },
    drop: () => void cells.take(),
  };
};
