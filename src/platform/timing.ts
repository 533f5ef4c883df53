/** Time that passes, as against the time of day: it never goes back when a clock is set. */
export type Timing = {
  /** Milliseconds since some moment. */
  readonly nowMs: () => number;
  /** Runs it once, later; answers what keeps it from running. Does not keep the process alive. */
  readonly after: (ms: number, run: () => void) => () => void;
};

/** The machine's. */
export const systemTiming: Timing = {
  nowMs: () => performance.now(),
  after: (ms, run) => {
    const timer = setTimeout(run, ms);
    timer.unref();
    return () => clearTimeout(timer);
  },
};
