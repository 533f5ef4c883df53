/** A fixed set of things that one user at a time may have; whoever comes when all are out waits in line. */
export type Limiter<T> = {
  readonly use: <R>(work: (item: T) => Promise<R>) => Promise<R>;
  /** Resolves when nothing is in use and nobody waits. */
  readonly drain: () => Promise<void>;
};

export const createLimiter = <T>(items: readonly T[]): Limiter<T> => {
  const free = [...items];
  const waiting: ((item: T) => void)[] = [];
  const running = new Set<Promise<unknown>>();

  const take = (): Promise<T> => {
    const item = free.pop();
    return item === undefined ? new Promise((resolve) => waiting.push(resolve)) : Promise.resolve(item);
  };
  const give = (item: T): void => {
    const next = waiting.shift();
    if (next === undefined) free.push(item);
    else next(item);
  };
  const lend = async <R>(work: (item: T) => Promise<R>): Promise<R> => {
    const item = await take();
    try {
      return await work(item);
    } finally {
      give(item);
    }
  };

  return {
    use: (work) => {
      const run = lend(work);
      running.add(run);
      const forget = (): void => {
        running.delete(run);
      };
      run.then(forget, forget);
      return run;
    },
    drain: async () => {
      while (running.size > 0) await Promise.allSettled(running);
    },
  };
};
