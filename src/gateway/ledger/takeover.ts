/**
 * Writes this process's heartbeats, declares silent processes dead, and finishes interrupted work, of this process too.
 * It looks for such work at the start, after each death, and every ten seconds.
 */
import { handled } from '../../model/handled.js';
import type { Log } from '../../platform/logs/log.js';
import { repeat, systemTiming, type Timing } from '../../platform/work/time.js';
import type { Ledger } from './ledger.js';
import { beatEveryMs, leastSilenceMs, silenceAfter } from './processes.js';

/** Finishes interrupted work of one kind. Resolves to the number of items that failed. They are retried soon. */
export type FinishWork = () => Promise<number>;

export type TakeoverOptions = {
  readonly ledger: Pick<Ledger, 'self' | 'isShared'>;
  /** The tasks, in order of execution. */
  readonly finish: readonly FinishWork[];
  readonly log: Log;
  readonly timing?: Timing | undefined;
};

export type Takeover = { readonly close: () => Promise<void> };

const sweepEveryMs = 10_000;
const longestPauseMs = 30_000;

/**
 * Runs all tasks when they are due, one run at a time. After a failed run, the next is due after a pause that doubles.
 */
const createFinishing = ({ finish, log }: TakeoverOptions, timing: Timing) => {
  let dueAtMs = timing.nowMs();
  let failedRuns = 0;
  let running: Promise<void> | null = null;
  const runAll = async (): Promise<void> => {
    let failures = 0;
    for (const one of finish) {
      try {
        failures += await one();
      } catch (err) {
        failures += 1;
        log.warn({ event: 'takeover.failed', err }, 'failed to finish what another process began; retrying');
      }
    }
    failedRuns = failures === 0 ? 0 : failedRuns + 1;
    const pauseMs = failures === 0 ? sweepEveryMs : Math.min(beatEveryMs * 2 ** (failedRuns - 1), longestPauseMs);
    dueAtMs = Math.min(dueAtMs, timing.nowMs() + pauseMs);
  };
  return {
    now: (): void => {
      dueAtMs = timing.nowMs();
    },
    runDue: (): void => {
      if (running !== null || timing.nowMs() < dueAtMs) return;
      // A call of `now()` during the run can make the next run due.
      dueAtMs = Number.POSITIVE_INFINITY;
      running = handled(
        runAll().finally(() => {
          running = null;
        }),
      );
    },
    ended: async (): Promise<void> => void (await running),
  };
};

/** Of the largest delay, this much is left at the next heartbeat: a third after a minute. */
const remembered = 0.99;

const createBeats = ({ ledger, log }: TakeoverOptions, timing: Timing) => {
  const { self, isShared } = ledger;
  let judgesFromMs = Number.NEGATIVE_INFINITY;
  let lastMs = Number.POSITIVE_INFINITY;
  let dueAtMs = timing.nowMs();
  let latestMs = 0;
  let isOut = false;
  /** Resolves to the number of processes that were declared dead. */
  const beat = async (): Promise<number> => {
    const nowMs = timing.nowMs();
    latestMs = Math.max(latestMs * remembered, nowMs - dueAtMs);
    // If this process or the database was paused, the other processes could not write heartbeats either. They first get
    // time to do so.
    if (isOut || nowMs - lastMs > leastSilenceMs) judgesFromMs = nowMs + silenceAfter(latestMs);
    const { dead, wasDead } = await self.beat(nowMs >= judgesFromMs, silenceAfter(latestMs));
    const endMs = timing.nowMs();
    // The delay of the database and of the event loop, as this heartbeat met it.
    latestMs = Math.max(latestMs, endMs - dueAtMs);
    dueAtMs = endMs + beatEveryMs;
    lastMs = nowMs;
    isOut = false;
    if (wasDead)
      log.warn(
        { event: 'process.replaced' },
        'other processes took over the work of this process: it was silent for too long',
      );
    if (dead > 0)
      log.warn({ event: 'process.died', processes: dead }, 'another gateway process died; taking over its work');
    return dead;
  };
  return async (): Promise<number> => {
    try {
      if (isShared) return await beat();
      await self.release();
    } catch (err) {
      if (!isOut)
        log.warn(
          { event: 'process.heartbeat_failed', err },
          'failed to tell the other processes that this one is alive',
        );
      isOut = true;
      dueAtMs = timing.nowMs() + beatEveryMs;
    }
    return 0;
  };
};

export const createTakeover = (options: TakeoverOptions): Takeover => {
  const { timing = systemTiming, ledger, log } = options;
  const finishing = createFinishing(options, timing);
  const beat = createBeats(options, timing);
  const tick = async (): Promise<void> => {
    if ((await beat()) > 0) finishing.now();
    finishing.runDue();
  };
  const first = handled(tick());
  const stop = repeat(timing, beatEveryMs, tick);
  return {
    close: async () => {
      await stop();
      await first;
      await finishing.ended();
      await ledger.self
        .leave()
        .catch((err: unknown) =>
          log.warn({ event: 'process.leave_failed', err }, 'failed to tell the other processes that this one ends'),
        );
    },
  };
};
