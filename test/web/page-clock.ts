/** A page's clock, timers and waking for unit tests. Time passes only by `advance`. */
import type { OutageDeps } from '../../src/web/token/outages.js';

type Timer = { readonly run: () => void; readonly atMs: number };

/** Lets promises settle. */
export const settle = () => new Promise<void>((done) => setImmediate(done));

export const createPageClock = () => {
  const timers = new Set<Timer>();
  const wakers = new Set<() => void>();
  /** `skewMs` moves the wall clock and no timer, as a user or a time server does. */
  const state = { nowMs: 0, skewMs: 0, isHidden: false };
  const deps: OutageDeps = {
    startTimer: (run, waitMs) => {
      const timer = { run, atMs: state.nowMs + waitMs };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
    now: () => 1_700_000_000_000 + state.nowMs + state.skewMs,
    isHidden: () => state.isHidden,
    onWake: (run) => {
      wakers.add(run);
      return () => void wakers.delete(run);
    },
    random: () => 0.5,
  };
  const advance = async (ms: number): Promise<void> => {
    const endMs = state.nowMs + ms;
    for (;;) {
      await settle();
      const [next] = [...timers].filter(({ atMs }) => atMs <= endMs).sort((a, b) => a.atMs - b.atMs);
      if (next === undefined) break;
      timers.delete(next);
      state.nowMs = next.atMs;
      next.run();
    }
    state.nowMs = endMs;
  };
  const wake = async (): Promise<void> => {
    for (const run of [...wakers]) run();
    await settle();
  };
  /** The machine sleeps: the wall clock goes on, timers do not. */
  const sleep = (ms: number): void => {
    state.skewMs += ms;
  };
  return { deps, state, timers, wakers, advance, wake, sleep };
};
