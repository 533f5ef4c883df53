/** Bounds how many works run at once, and how many wait: what is slow takes its own places and nobody else's. */
export type BulkheadOptions = { readonly maxConcurrent: number; readonly maxQueued: number };

/** No place is free, and none to wait in. */
export class BulkheadFull extends Error {
  override readonly name = 'BulkheadFull';
}

/** Runs the work in its turn. Throws BulkheadFull at once, or the signal's reason where that ends the wait. */
export type Bulkhead = <T>(work: () => Promise<T>, signal: AbortSignal) => Promise<T>;

export const createBulkhead = ({ maxConcurrent, maxQueued }: BulkheadOptions): Bulkhead => {
  let running = 0;
  // A Set keeps the order of arrival, and lets go of one in the middle.
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
