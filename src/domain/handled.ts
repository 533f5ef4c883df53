/**
 * Returns a promise that is kept, and awaited later. Whoever awaits it gets its rejection. Without this, a rejection
 * that comes before that ends the process. Each kept promise passes through it (test/kept-promises.test.ts).
 */
export const handled = <Kept extends Promise<unknown>>(kept: Kept): Kept => {
  kept.catch(() => undefined);
  return kept;
};
