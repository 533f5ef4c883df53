/** Loads the controls, and tries again until they are there. */
import { type Backoff, backoffMs, noBackoff } from '../token/backoff.js';

const longestMs = 30_000;

export const loadControls = (backoff: Backoff = { ...noBackoff, longestMs }): void => {
  import('./controls.js').catch((error: unknown) => {
    console.warn('guestlist: the controls of the page did not load; trying again', error);
    const next = { ...backoff, failures: backoff.failures + 1 };
    setTimeout(() => loadControls(next), backoffMs(next, Math.random));
  });
};
