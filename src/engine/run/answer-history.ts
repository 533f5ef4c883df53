/**
 * How questions were answered over the last day, in steps of ten minutes: in the memory of this process, and bounded.
 * Counts by tenant and dashboard, and durations by size, never a question or a row.
 */
import type { Clock } from '../../model/ports.js';
import type { AnswerFigures, AnswerHistory, AnswersOf } from '../../model/query/watch.js';

type Owner = { readonly dataAppId: string; readonly clientId: string | null };

/** `isKept`: it cost no query of its own. */
export type Answered = Owner & {
  readonly dashboardId: string | null;
  readonly ms: number;
  readonly isKept: boolean;
  readonly isFailed: boolean;
};

const stepMs = 600_000;
const steps = 144;
/** Pairs of tenant and dashboard that a step tells apart. What comes after them is counted without names. */
const mostCells = 200;
const mostListed = 50;

/** Each size of durations is a fifth larger than the one before. */
const growth = 1.2;
const sizeOf = (ms: number): number => (ms < 1 ? 0 : 1 + Math.floor(Math.log(ms) / Math.log(growth)));
/** The middle of a size, in milliseconds. */
const middleOf = (size: number): number => (size === 0 ? 0.5 : growth ** (size - 0.5));

type Counts = { answers: number; kept: number; failed: number; freshAtMs: number; readonly sizes: Map<number, number> };
/** Null: the counts of many. */
type Cell = Counts & { readonly of: (Owner & Pick<Answered, 'dashboardId'>) | null };
type Step = { readonly startMs: number; readonly cells: Map<string, Cell> };

const noCounts = (): Counts => ({ answers: 0, kept: 0, failed: 0, freshAtMs: 0, sizes: new Map() });

const addAll = (counts: readonly Counts[]): Counts => {
  const sum = noCounts();
  for (const one of counts) {
    sum.answers += one.answers;
    sum.kept += one.kept;
    sum.failed += one.failed;
    sum.freshAtMs = Math.max(sum.freshAtMs, one.freshAtMs);
    for (const [size, count] of one.sizes) sum.sizes.set(size, (sum.sizes.get(size) ?? 0) + count);
  }
  return sum;
};

/** The duration that this share of the answers did not exceed. */
const percentile = (sizes: ReadonlyMap<number, number>, share: number): number | null => {
  const ordered = [...sizes].toSorted(([one], [other]) => one - other);
  const all = ordered.reduce((sum, [, count]) => sum + count, 0);
  let seen = 0;
  for (const [size, count] of ordered) {
    seen += count;
    if (seen >= share * all) return Math.round(middleOf(size));
  }
  return null;
};

const figuresOf = ({ answers, kept, failed, sizes }: Counts): AnswerFigures => ({
  ...{ answers, kept, failed },
  ...{ p50: percentile(sizes, 0.5), p95: percentile(sizes, 0.95) },
});

const count = (cell: Cell, { ms, isKept, isFailed }: Answered, nowMs: number): void => {
  if (isFailed) {
    cell.failed += 1;
    return;
  }
  cell.answers += 1;
  if (isKept) cell.kept += 1;
  else cell.freshAtMs = nowMs;
  const size = sizeOf(ms);
  cell.sizes.set(size, (cell.sizes.get(size) ?? 0) + 1);
};

/** The cells by a name within a data app, those with the most answers first. */
const grouped = <Name extends object>(cells: readonly Cell[], nameOf: (of: NonNullable<Cell['of']>) => Name) => {
  const groups = new Map<string, { readonly name: Name; readonly own: Cell[] }>();
  for (const cell of cells) {
    if (cell.of === null) continue;
    const name = nameOf(cell.of);
    const key = JSON.stringify(name);
    const group = groups.get(key) ?? { name, own: [] };
    group.own.push(cell);
    groups.set(key, group);
  }
  const all = [...groups.values()].map(({ name, own }) => {
    const sum = addAll(own);
    return { ...name, ...figuresOf(sum), freshAt: sum.freshAtMs === 0 ? null : new Date(sum.freshAtMs) };
  });
  return all.toSorted((one, other) => other.answers - one.answers).slice(0, mostListed);
};

const isOf = ({ of }: Cell, { dataAppId, clientId, dashboardId }: AnswersOf): boolean => {
  if (dataAppId === undefined && clientId === undefined && dashboardId === undefined) return true;
  if (of === null || (dataAppId ?? of.dataAppId) !== of.dataAppId) return false;
  return (clientId ?? of.clientId) === of.clientId && (dashboardId ?? of.dashboardId) === of.dashboardId;
};

const readAll = (kept: readonly Step[], of: AnswersOf): Omit<AnswerHistory, 'since' | 'stepMinutes'> => {
  const ofStep = kept.map(({ startMs, cells }) => ({
    startMs,
    cells: [...cells.values()].filter((one) => isOf(one, of)),
  }));
  const all = ofStep.flatMap(({ cells }) => cells);
  return {
    steps: ofStep
      .filter(({ cells }) => cells.length > 0)
      .map(({ startMs, cells }) => ({ at: new Date(startMs), ...figuresOf(addAll(cells)) })),
    tenants: grouped(all, ({ dataAppId, clientId }) => ({ dataAppId, clientId })),
    dashboards: grouped(all, ({ dataAppId, dashboardId }) => ({ dataAppId, dashboardId })),
    others: addAll(all.filter((cell) => cell.of === null)).answers,
  };
};

export const createAnswerHistory = (clock: Clock) => {
  const startedMs = clock.now().getTime();
  let kept: readonly Step[] = [];
  const current = (nowMs: number): Step => {
    const startMs = nowMs - (nowMs % stepMs);
    const last = kept.at(-1);
    if (last !== undefined && last.startMs >= startMs) return last;
    const step = { startMs, cells: new Map<string, Cell>() };
    kept = [...kept, step].filter((one) => startMs - one.startMs < steps * stepMs);
    return step;
  };
  return {
    note: (answered: Answered): void => {
      const nowMs = clock.now().getTime();
      const { cells } = current(nowMs);
      const { dataAppId, clientId, dashboardId } = answered;
      const key = JSON.stringify([dataAppId, clientId, dashboardId]);
      const isNamed = cells.has(key) || cells.size < mostCells;
      const cell = cells.get(isNamed ? key : '') ?? {
        ...noCounts(),
        of: isNamed ? { dataAppId, clientId, dashboardId } : null,
      };
      cells.set(isNamed ? key : '', cell);
      count(cell, answered, nowMs);
    },
    read: (of: AnswersOf): AnswerHistory => {
      const nowMs = clock.now().getTime();
      const fromMs = Math.max(startedMs, nowMs - steps * stepMs);
      const within = kept.filter(({ startMs }) => startMs + stepMs > fromMs);
      return { since: new Date(fromMs), stepMinutes: stepMs / 60_000, ...readAll(within, of) };
    },
    /** Forgets the names and the counts of those that are meant. */
    forget: (isMeant: (owner: Owner) => boolean): void => {
      for (const { cells } of kept)
        for (const [key, { of }] of cells) if (of !== null && isMeant(of)) cells.delete(key);
    },
  };
};
