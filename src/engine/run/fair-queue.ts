/**
 * The line before a datasource. Its places go round the clients that wait, one query each: whoever comes behind a thousand queries of
 * one client waits for one of them, not for all.
 */
import { Refusal } from '../../domain/refusal.js';
import type { Timing } from '../../platform/timing.js';

export type QueueLimits = {
  /** Queries that run at once, and of one client. */
  readonly places: number;
  readonly perClient: number;
  /** Queries that wait, and of one client; one more is refused. */
  readonly waiting: number;
  readonly waitingPerClient: number;
  /** Whoever waited for so long is refused. */
  readonly waitMs: number;
};

export type FairQueue = {
  /** Runs the work in its turn. Throws METRIC_QUERY_ERROR where the line is full or the wait too long, or the signal's reason, which ends the wait. */
  readonly use: <R>(client: string, work: () => Promise<R>, signal?: AbortSignal | undefined) => Promise<R>;
  readonly waiting: () => number;
  readonly isIdle: () => boolean;
};

/** Told of each refusal. */
export type NoteRefused = (why: 'full' | 'late') => void;

const refusal = (message: string, reason: string): Refusal =>
  new Refusal('METRIC_QUERY_ERROR', message, { reason, retryAfterSeconds: 1 });

type Enter = () => void;

/** Who waits: clients in the order in which they are next, the queries of each in the order in which they came. */
const createQueues = () => {
  const queues = new Map<string, Set<Enter>>();
  let total = 0;
  return {
    total: () => total,
    of: (client: string): number => queues.get(client)?.size ?? 0,
    add: (client: string, enter: Enter): void => {
      queues.set(client, (queues.get(client) ?? new Set()).add(enter));
      total += 1;
    },
    remove: (client: string, enter: Enter): void => {
      const queue = queues.get(client);
      if (queue?.delete(enter) !== true) return;
      total -= 1;
      if (queue.size === 0) queues.delete(client);
    },
    /** The first query of the next client that may have a place; the client is then behind all others. */
    next: (mayEnter: (client: string) => boolean): readonly [string, Enter] | undefined => {
      for (const [client, queue] of queues) {
        const [enter] = queue;
        if (enter === undefined || !mayEnter(client)) continue;
        queues.delete(client);
        queues.set(client, queue);
        return [client, enter];
      }
      return undefined;
    },
  };
};

/** How many run, and of whom. */
const createRunning = () => {
  const running = new Map<string, number>();
  let total = 0;
  return {
    total: () => total,
    of: (client: string): number => running.get(client) ?? 0,
    change: (client: string, by: 1 | -1): void => {
      total += by;
      const now = (running.get(client) ?? 0) + by;
      if (now === 0) running.delete(client);
      else running.set(client, now);
    },
  };
};

type Wait = {
  readonly waitMs: number;
  readonly timing: Timing;
  readonly signal: AbortSignal | undefined;
  readonly refused: NoteRefused;
};

/** Resolves when `enter` is called, which `add` hands on; `remove` is called however the wait ends. */
const waitToEnter = (
  { waitMs, timing, signal, refused }: Wait,
  add: (enter: Enter) => void,
  remove: (enter: Enter) => void,
): Promise<void> =>
  new Promise((resolve, reject) => {
    const leaving = (give: () => void) => (): void => {
      cancel();
      signal?.removeEventListener('abort', abort);
      remove(enter);
      give();
    };
    const enter = leaving(resolve);
    const abort = leaving(() => reject(signal?.reason));
    const late = leaving(() => {
      refused('late');
      const message = `The query waited for ${waitMs / 1000} seconds for its turn at the datasource; ask again shortly.`;
      reject(refusal(message, 'query-line-late'));
    });
    const cancel = timing.after(waitMs, late);
    signal?.addEventListener('abort', abort, { once: true });
    add(enter);
  });

export const createFairQueue = (limits: QueueLimits, timing: Timing, refused: NoteRefused): FairQueue => {
  const queues = createQueues();
  const running = createRunning();
  const mayEnter = (client: string): boolean => running.of(client) < limits.perClient;
  const serve = (): void => {
    while (running.total() < limits.places) {
      const next = queues.next(mayEnter);
      if (next === undefined) return;
      const [client, enter] = next;
      running.change(client, 1);
      enter();
    }
  };
  const assertRoom = (client: string): void => {
    // Where a place is free, nobody waits who might have it.
    if (running.total() < limits.places && mayEnter(client)) return;
    const isOwn = queues.of(client) >= limits.waitingPerClient;
    if (!isOwn && queues.total() < limits.waiting) return;
    refused('full');
    const whose = isOwn ? ' of this client' : '';
    throw refusal(`Too many queries${whose} wait for the datasource; ask again shortly.`, 'query-line-full');
  };
  const line = (client: string) => (enter: Enter) => {
    queues.add(client, enter);
    serve();
  };
  return {
    use: async (client, work, signal) => {
      signal?.throwIfAborted();
      assertRoom(client);
      const wait = { waitMs: limits.waitMs, timing, signal, refused };
      await waitToEnter(wait, line(client), (enter) => queues.remove(client, enter));
      try {
        return await work();
      } finally {
        running.change(client, -1);
        serve();
      }
    },
    waiting: queues.total,
    isIdle: () => running.total() + queues.total() === 0,
  };
};
