/** Sweeps one kind of what is kept for a time. */
import type { Retention, RetentionKind } from '../../src/model/retention.js';
import { type SweepParts, startSweeps } from '../../src/platform/work/retention.js';
import type { Timing } from '../../src/platform/work/time.js';
import type { ServiceTimes } from '../../src/service/store/retention.js';

/** Everything is old enough at once. */
export const noDays: ServiceTimes = { tokensDays: 0, deliveriesDays: 0, usageDays: 0, hourDays: 0 };

/** Sweeps until nothing is left. Returns how many slices it took. */
export const sweepKind = async (
  { kinds }: Pick<Retention, 'kinds'>,
  kind: RetentionKind,
  now: Date,
): Promise<number> => {
  const one = kinds.find((each) => each.kind === kind);
  if (one === undefined) throw new Error(`nothing sweeps ${kind}`);
  for (let slices = 1; ; slices += 1) {
    const end = await one.sweep(now);
    if (end === 'busy') throw new Error('another sweep is running');
    if (end === 'done') return slices;
  }
};

const neverAgain: Timing = { nowMs: () => 0, after: () => () => undefined };

/** One sweep of all kinds, as at the start of a process. */
export const sweepAll = async (parts: SweepParts): Promise<void> => {
  const { first, stop } = startSweeps(parts, neverAgain);
  await first;
  await stop();
};
