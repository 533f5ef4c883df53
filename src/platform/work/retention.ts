/** Sweeps what is old enough: at the start and every hour, slice by slice. */
import { handled } from '../../model/handled.js';
import type { Log } from '../../model/log-events.js';
import type { Clock } from '../../model/ports.js';
import type { Retention } from '../../model/retention.js';
import { breathe } from './breathe.js';
import { repeat, systemTiming, type Timing } from './time.js';

export type SweepParts = Retention & {
  readonly clock: Clock;
  readonly log: Pick<Log, 'warn'>;
};

type IsEnding = () => boolean;

/** Sweeps one kind. `failed`: the other kinds go on. `stopped`: the process ends, or another one is sweeping. */
const sweepKind = async (
  { sweep, kind }: Retention['kinds'][number],
  now: Date,
  { log }: SweepParts,
  isEnding: IsEnding,
): Promise<'done' | 'failed' | 'stopped'> => {
  try {
    for (;;) {
      if (isEnding()) return 'stopped';
      const end = await sweep(now);
      if (end !== 'more') return end === 'done' ? 'done' : 'stopped';
      await breathe();
    }
  } catch (err) {
    log.warn({ event: 'retention.failed', kind, err }, 'failed to delete what is old enough; retrying in an hour');
    return 'failed';
  }
};

/**
 * Goes through all kinds. Never rejects. A kind that fails does not stop the others. Ends where another process is
 * sweeping: that one goes on.
 */
const sweepAll = async (parts: SweepParts, isEnding: IsEnding): Promise<void> => {
  const { kinds, noteSwept, clock, log } = parts;
  const now = clock.now();
  let isWhole = true;
  for (const one of kinds) {
    const end = await sweepKind(one, now, parts, isEnding);
    if (end === 'stopped') return;
    isWhole &&= end === 'done';
  }
  if (!isWhole) return;
  try {
    await noteSwept(now);
  } catch (err) {
    log.warn({ event: 'retention.failed', kind: 'all', err }, 'failed to note a sweep; retrying in an hour');
  }
};

const hourMs = 3_600_000;

type Sweeps = {
  /** The sweep at the start. Never rejects. */
  readonly first: Promise<void>;
  /** Ends the sweeps, and waits for a running slice. */
  readonly stop: () => Promise<void>;
};

export const startSweeps = (parts: SweepParts, timing: Timing = systemTiming): Sweeps => {
  let isEnding = false;
  const run = () => sweepAll(parts, () => isEnding);
  const first = handled(run());
  const stopRepeating = repeat(timing, hourMs, run);
  return {
    first,
    stop: async () => {
      isEnding = true;
      await stopRepeating();
      await first;
    },
  };
};
