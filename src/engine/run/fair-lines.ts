import type { Timing } from '../../platform/timing.js';
import { createFairLine, type FairLine, type LineLimits, type NoteRefused } from './fair-line.js';

/** A line before each database, while anybody is in it. */
export type FairLines = {
  /** As `FairLine.use`. */
  readonly use: <R>(
    at: { readonly database: string; readonly client: string; readonly limits: LineLimits },
    work: () => Promise<R>,
    signal?: AbortSignal | undefined,
  ) => Promise<R>;
  /** In all lines. */
  readonly waiting: () => number;
};

export const createFairLines = (timing: Timing, refused: NoteRefused): FairLines => {
  const lines = new Map<string, FairLine>();
  const find = (database: string, limits: LineLimits): FairLine => {
    const line = lines.get(database) ?? createFairLine(limits, timing, refused);
    lines.set(database, line);
    return line;
  };
  return {
    use: async ({ database, client, limits }, work, signal) => {
      const line = find(database, limits);
      try {
        return await line.use(client, work, signal);
      } finally {
        if (line.isIdle() && lines.get(database) === line) lines.delete(database);
      }
    },
    waiting: () => [...lines.values()].reduce((sum, line) => sum + line.waiting(), 0),
  };
};
