/** Ends one thing that was opened. */
export type Close = () => void | Promise<void>;

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/**
 * Calls every step in order and waits for each. A failed step does not keep the next ones from running. Rejects with an
 * AggregateError of all failures.
 */
export const closeAll = async (steps: readonly Close[]): Promise<void> => {
  const failures: unknown[] = [];
  for (const step of steps) {
    try {
      await step();
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) {
    throw new AggregateError(failures, `failed to close everything: ${failures.map(textOf).join('; ')}`);
  }
};

/** What was opened so far. */
export type Closers = {
  readonly add: (close: Close) => void;
  /** Closes everything, last opened first. A second call closes nothing. Rejects as `closeAll` does. */
  readonly close: () => Promise<void>;
};

/** Collects what a composition opens, so that it can be closed even if the composition fails halfway. */
export const createClosers = (): Closers => {
  let opened: Close[] = [];
  return {
    add: (close) => void opened.push(close),
    close: () => {
      const steps = opened.toReversed();
      opened = [];
      return closeAll(steps);
    },
  };
};
