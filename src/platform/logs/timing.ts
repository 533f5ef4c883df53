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
