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
