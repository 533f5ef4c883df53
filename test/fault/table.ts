/** The table that `npm run faults` prints: one line for each fault. */
import { appendFileSync } from 'node:fs';
import type { Outcome } from './clients.js';

export type Line = {
  readonly fault: string;
  /** Number of answers by status; 0: the connection was cut. */
  readonly answers: string;
  readonly longestMs: number;
  /** Milliseconds from the end of the fault to the first correct answer: the median and the maximum of all rounds. */
  readonly goodAgainMs: number;
  readonly goodAgainMaxMs: number;
  readonly acknowledged: number;
  /** Number of acknowledged changes that no longer hold. */
  readonly lost: number;
};

export const countStatuses = (statuses: Iterable<number>): string => {
  const counts = new Map<number, number>();
  for (const status of statuses) counts.set(status, (counts.get(status) ?? 0) + 1);
  return [...counts]
    .toSorted(([a], [b]) => a - b)
    .map(([status, count]) => `${status}: ${count}`)
    .join(', ');
};

export const middleOf = (values: readonly number[]): number =>
  Math.round(values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0);

export const longestOf = (outcomes: readonly Outcome[]): number =>
  Math.round(outcomes.reduce((longest, { tookMs }) => Math.max(longest, tookMs), 0));

/** Adds a line for `run.mjs` to print. Does nothing if the test runs without `run.mjs`. */
export const writeLine = (line: Line): void => {
  const file = process.env.FAULTS_TABLE;
  if (file !== undefined) appendFileSync(file, `${JSON.stringify(line)}\n`);
};
