import { Refusal } from '../../model/refusal.js';
import { usualLimits } from './limits.js';

/** A fixed set of items, each used by one caller at a time. Further callers wait. */
export type Pool<T> = {
  /**
   * Runs the work with an item.
   * @throws METRIC_QUERY_ERROR where too many callers wait, or the wait is too long; the reason of `signal` where it
   * aborts while waiting.
   */
  readonly use: <R>(work: (item: T) => Promise<R>, signal?: AbortSignal) => Promise<R>;
  /** Items in use, and callers that wait for one. */
  readonly count: () => { readonly busy: number; readonly waiting: number };
  /** Resolves when no item is in use and no caller waits. */
  readonly drain: () => Promise<void>;
};

/** How many callers may wait, and for how long each. */
export type WaitLimits = { readonly maxWaiting: number; readonly waitMs: number };

/** How many callers may wait for the connections of one database. Most questions wait in the fair queue instead. */
export const maxWaiting = 1000;

/** Callers that wait for one item each, first come, first served. */
export type WaitQueue<T> = {
  /** Throws as `Pool.use`. */
  readonly wait: (signal?: AbortSignal) => Promise<T>;
  /** Gives the item to the first caller; false where none waits. */
  readonly serve: (item: T) => boolean;
  readonly isEmpty: () => boolean;
  readonly size: () => number;
};

const busy = (): Refusal =>
  new Refusal('METRIC_QUERY_ERROR', 'The datasource is overloaded. Retry later.', {
    reason: 'datasource-busy',
  });

export const createWaitQueue = <T>({ maxWaiting, waitMs }: WaitLimits): WaitQueue<T> => {
  const waiting = new Set<(item: T) => void>();
  return {
    wait: (signal) =>
      new Promise((resolve, reject) => {
        signal?.throwIfAborted();
        if (waiting.size >= maxWaiting) throw busy();
        const stop = (): void => {
          clearTimeout(timer);
          signal?.removeEventListener('abort', leave);
          waiting.delete(take);
        };
        const take = (item: T): void => {
          stop();
          resolve(item);
        };
        const leave = (): void => {
          stop();
          reject(signal?.reason);
        };
        const timer = setTimeout(() => {
          stop();
          reject(busy());
        }, waitMs);
        signal?.addEventListener('abort', leave, { once: true });
        waiting.add(take);
      }),
    serve: (item) => {
      const [first] = waiting;
      if (first === undefined) return false;
      waiting.delete(first);
      first(item);
      return true;
    },
    isEmpty: () => waiting.size === 0,
    size: () => waiting.size,
  };
};

export const createPool = <T>(
  items: readonly T[],
  patience: WaitLimits = { maxWaiting, waitMs: usualLimits.waitMs },
): Pool<T> => {
  const free = [...items];
  const line = createWaitQueue<T>(patience);
  const running = new Set<Promise<unknown>>();

  const lend = async <R>(work: (item: T) => Promise<R>, signal: AbortSignal | undefined): Promise<R> => {
    signal?.throwIfAborted();
    const item = free.pop() ?? (await line.wait(signal));
    try {
      return await work(item);
    } finally {
      if (!line.serve(item)) free.push(item);
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
    count: () => ({ busy: items.length - free.length, waiting: line.size() }),
    drain: async () => {
      while (running.size > 0) await Promise.allSettled(running);
    },
  };
};
