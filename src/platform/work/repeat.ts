import { handled } from '../../model/handled.js';
import type { Timing } from '../logs/timing.js';

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
