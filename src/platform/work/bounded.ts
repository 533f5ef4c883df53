/**
 * Maps all items, at most `limit` of them at a time. The results keep the order of the items. Rejects with the first
 * failure.
 */
export const mapBounded = async <T, R>(
  items: readonly T[],
  limit: number,
  work: (item: T) => Promise<R>,
): Promise<R[]> => {
  const results: R[] = [];
  // All workers read from this one iterator, so each item is processed once.
  const queue = items.entries();
  const worker = async (): Promise<void> => {
    for (const [index, item] of queue) results[index] = await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, worker));
  return results;
};

/**
 * Runs `work` on all items in order, at most `width` at once. Starts no further item once `isEnough` returns true or an
 * item fails. Waits for the running items, then throws the first failure.
 */
export const eachOf = async <T>(
  items: readonly T[],
  width: number,
  work: (item: T) => Promise<void>,
  isEnough: () => boolean = () => false,
): Promise<void> => {
  let next = 0;
  const failures: unknown[] = [];
  const run = async (): Promise<void> => {
    while (next < items.length && failures.length === 0 && !isEnough()) {
      const item = items[next++] as T;
      try {
        await work(item);
      } catch (error) {
        failures.push(error);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(width, items.length) }, run));
  if (failures.length > 0) throw failures[0];
};
