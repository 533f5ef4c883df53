/** Runs one job at a time: a newer one aborts the older, whose outcome is then never reported. */
export type Latest = {
  /** `done` and `failed` are called only while this job is still the newest. */
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
