/** Waits between attempts: they double, are capped, and half of each is random, so that pages do not ask in step. */

export type Backoff = {
  /** Failures in a row. */
  readonly failures: number;
  readonly longestMs: number;
};

const firstMs = 1_000;

export const noBackoff: Backoff = { failures: 0, longestMs: firstMs };

/** The wait in milliseconds after these failures. */
export const backoffMs = ({ failures, longestMs }: Backoff, random: () => number): number => {
  const full = Math.min(longestMs, firstMs * 2 ** Math.min(failures - 1, 10));
  return Math.round(full / 2 + (full / 2) * random());
};
