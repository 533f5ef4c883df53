/**
 * For a promise that is stored and awaited later. If it is rejected before anything awaits it, Node would end the process.
 * This attaches a handler, so that the rejection only reaches the code that awaits the promise. A test of the sources
 * (test/conventions.test.ts) refuses a stored promise without it.
 */
export const handled = <Kept extends Promise<unknown>>(kept: Kept): Kept => {
  kept.catch(() => undefined);
  return kept;
};
