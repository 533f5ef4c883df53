/** Time: what passes, what the clock of this machine shows, and work that repeats. */

import { handled } from '../../model/handled.js';
import type { Clock } from '../../model/ports.js';

/** Elapsed time, unlike the time of day: it never goes back when a clock is set. */
export type Timing = {
  /** Milliseconds since an arbitrary moment. */
  readonly nowMs: () => number;
  /**
   * Calls `run` once after `ms` milliseconds. Returns a function that cancels the call. The timer does not keep the
   * process alive.
   */
  readonly after: (ms: number, run: () => void) => () => void;
};

/** The timing of this machine. */
export const systemTiming: Timing = {
  nowMs: () => performance.now(),
  after: (ms, run) => {
    const timer = setTimeout(run, ms);
    timer.unref();
    return () => clearTimeout(timer);
  },
};

/** The machine's clock. Only what starts a process passes it on; everything else is given a clock. */
export const systemClock: Clock = { now: () => new Date() };

/**
 * Calls `run` repeatedly, `everyMs` milliseconds after the previous call ended. Returns a function that stops it and
 * resolves once a running call has ended. `run` must not reject.
 */
export const repeat = (timing: Timing, everyMs: number, run: () => Promise<void>): (() => Promise<void>) => {
  let isEnded = false;
  let cancel = (): void => {};
  let running: Promise<void> = Promise.resolve();
  const next = (): void => {
    if (isEnded) return;
    cancel = timing.after(everyMs, () => {
      running = handled(run().finally(next));
    });
  };
  next();
  return () => {
    isEnded = true;
    cancel();
    return running;
  };
};
