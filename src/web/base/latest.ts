/** Runs one job at a time. A newer job aborts the older one, whose result is then dropped. */
export type Latest = {
  /** Calls `done` or `failed` only if no newer job has started. */
  readonly run: <T>(
    job: (signal: AbortSignal) => Promise<T>,
    done: (value: T) => void,
    failed: (error: unknown) => void,
  ) => Promise<void>;
  readonly cancel: () => void;
};

export const createLatest = (): Latest => {
  let current = new AbortController();
  const cancel = () => current.abort();
  return {
    cancel,
    run: async (job, done, failed) => {
      cancel();
      const mine = new AbortController();
      current = mine;
      const outcome = await job(mine.signal).then(
        (value) => () => done(value),
        (error: unknown) => () => failed(error),
      );
      if (!mine.signal.aborted) outcome();
    },
  };
};

/** Rejects if the signal aborts. */
export const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((done, failed) => {
    if (signal.aborted) {
      failed(signal.reason);
      return;
    }
    const timer = setTimeout(done, ms);
    signal.addEventListener(
      'abort',
      () => {
        clearTimeout(timer);
        failed(signal.reason);
      },
      { once: true },
    );
  });
