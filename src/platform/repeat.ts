import type { Timing } from './timing.js';

/**
 * Calls `run` repeatedly, `everyMs` milliseconds after the previous call ended. Returns a function that stops it. `run`
 * must not reject.
 */
export const repeat = (timing: Timing, everyMs: number, run: () => Promise<void>): (() => void) => {
  let isEnded = false;
  let cancel = (): void => {};
  const next = (): void => {
    if (isEnded) return;
    cancel = timing.after(everyMs, () => void run().finally(next));
  };
  next();
  return () => {
    isEnded = true;
    cancel();
  };
};
