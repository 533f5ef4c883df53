/** A fixed set of things that one user at a time may have; whoever comes when all are out waits in line. */
export type Limiter<T> = {
  /** Who aborts while in line leaves it: then it throws the signal's reason, and nothing was lent. */
  readonly use: <R>(work: (item: T) => Promise<R>, signal?: AbortSignal) => Promise<R>;
  /** Resolves when nothing is in use and nobody waits. */
  readonly drain: () => Promise<void>;
};

export const createLimiter = <T>(items: readonly T[]): Limiter<T> => {
  const free = [...items];
  const waiting: ((item: T) => void)[] = [];
  const running = new Set<Promise<unknown>>();

  const inLine = (signal: AbortSignal | undefined): Promise<T> =>
    new Promise((resolve, reject) => {
      const leave = (): void => {
        waiting.splice(waiting.indexOf(arrive), 1);
        reject(signal?.reason);
      };
      const arrive = (item: T): void => {
        signal?.removeEventListener('abort', leave);
        resolve(item);
      };
      waiting.push(arrive);
      signal?.addEventListener('abort', leave, { once: true });
    });
  const take = async (signal: AbortSignal | undefined): Promise<T> => {
    signal?.throwIfAborted();
    return free.pop() ?? inLine(signal);
  };
  const give = (item: T): void => {
    const next = waiting.shift();
    if (next === undefined) free.push(item);
    else next(item);
  };
  const lend = async <R>(work: (item: T) => Promise<R>, signal: AbortSignal | undefined): Promise<R> => {
    const item = await take(signal);
    try {
      return await work(item);
    } finally {
      give(item);
    }
  };

  return {
    use: (work, signal) => {
      const run = lend(work, signal);
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
