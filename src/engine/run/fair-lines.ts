import type { Timing } from '../../platform/timing.js';
import { createFairQueue, type FairQueue, type NoteRefused, type QueueLimits } from './fair-queue.js';

/** A line before each database, while anybody is in it. */
export type FairQueues = {
  /** As `FairQueue.use`. */
  readonly use: <R>(
    at: { readonly database: string; readonly client: string; readonly limits: QueueLimits },
    work: () => Promise<R>,
    signal?: AbortSignal | undefined,
  ) => Promise<R>;
  /** In all lines. */
  readonly waiting: () => number;
};

export const createFairQueues = (timing: Timing, refused: NoteRefused): FairQueues => {
  const lines = new Map<string, FairQueue>();
  const find = (database: string, limits: QueueLimits): FairQueue => {
    const line = lines.get(database) ?? createFairQueue(limits, timing, refused);
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
