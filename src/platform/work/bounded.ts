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
