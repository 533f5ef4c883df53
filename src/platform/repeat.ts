import type { Timing } from './timing.js';

/** Runs it again and again, each time so long after the last one ended; answers what ends it. `run` rejects nothing. */
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
