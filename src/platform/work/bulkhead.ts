/** Limits how many tasks run at once and how many wait, so that slow tasks do not use the capacity of others. */
export type BulkheadOptions = { readonly maxConcurrent: number; readonly maxQueued: number };

/** Thrown if the maximum number of tasks is running and the queue is full. */
export class BulkheadFull extends Error {
  override readonly name = 'BulkheadFull';
}

/**
 * Runs the work when a place is free. Rejects with BulkheadFull at once if the queue is full. Rejects with the signal's
 * reason if the signal aborts the wait.
 */
export type Bulkhead = <T>(work: () => Promise<T>, signal: AbortSignal) => Promise<T>;

export const createBulkhead = ({ maxConcurrent, maxQueued }: BulkheadOptions): Bulkhead => {
  let running = 0;
  // A Set keeps the order of arrival and can remove an entry from the middle.
  const waiting = new Set<() => void>();
  const place = (signal: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      const leave = () => {
        waiting.delete(enter);
        reject(signal.reason);
      };
      const enter = () => {
        waiting.delete(enter);
        signal.removeEventListener('abort', leave);
        running += 1;
        resolve();
      };
      if (running < maxConcurrent) return enter();
      if (waiting.size >= maxQueued) return reject(new BulkheadFull('no place is free'));
      waiting.add(enter);
      return signal.addEventListener('abort', leave, { once: true });
    });
  return async (work, signal) => {
    signal.throwIfAborted();
    await place(signal);
    try {
      return await work();
    } finally {
      running -= 1;
      const [next] = waiting;
      next?.();
    }
  };
};
