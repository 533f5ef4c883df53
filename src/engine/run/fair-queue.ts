/**
 * The queue in front of each database. Clients take turns, one query each, so a client with a thousand waiting queries delays every other
 * client by one query and not by a thousand. A loud client's queries run one at a time, while nobody else's runs. A queue exists while a
 * query of its database runs or waits.
 */
import type { LiveQueue } from '../../model/query/live.js';
import type { Reason } from '../../model/reasons.js';
import { Refusal } from '../../model/refusal.js';
import { inSpan } from '../../platform/traces/trace.js';
import type { Timing } from '../../platform/work/time.js';
import { createShares, type Shares } from './shares.js';

export type QueueLimits = {
  /** Queries that run at once. */
  readonly running: number;
  readonly runningPerClient: number;
  /** Queries that wait. One more is refused. */
  readonly waiting: number;
  readonly waitingPerClient: number;
  /** A query that waits longer is refused. */
  readonly waitMs: number;
  /** Whether loud clients are held. Not where a query takes as long as its reader. */
  readonly holdsLoud: boolean;
};

/** A loud client's query starts after so long, although others run: it is never held for good. */
const patienceMs = 200;

export type FairQueue = {
  /**
   * Runs the work in the client's turn.
   * @throws METRIC_QUERY_ERROR where the queue is full or the wait too long; the signal's reason where it aborts while the query waits.
   */
  readonly use: <R>(client: string, work: () => Promise<R>, signal?: AbortSignal | undefined) => Promise<R>;
  readonly waiting: () => number;
  readonly running: () => number;
  readonly isIdle: () => boolean;
};

/** Called for each refused query. */
export type NoteRefused = (why: 'full' | 'late') => void;

/** Called for each query that got its turn, with the milliseconds that it waited. */
export type NoteWaited = (ms: number) => void;

const refusal = (message: string, reason: Reason): Refusal =>
  new Refusal('METRIC_QUERY_ERROR', message, { reason, retryAfterSeconds: 1 });

type Start = () => void;

/** The waiting queries: clients in the order of their turns, and the queries of each client in the order of arrival. */
const createWaiting = () => {
  const queues = new Map<string, Set<Start>>();
  let total = 0;
  return {
    total: () => total,
    of: (client: string): number => queues.get(client)?.size ?? 0,
    add: (client: string, start: Start): void => {
      queues.set(client, (queues.get(client) ?? new Set()).add(start));
      total += 1;
    },
    remove: (client: string, start: Start): void => {
      const queue = queues.get(client);
      if (queue?.delete(start) !== true) return;
      total -= 1;
      if (queue.size === 0) queues.delete(client);
    },
    /** The first query of the next client that may run one. That client's next turn comes after all other clients'. */
    next: (mayRun: (client: string) => boolean): readonly [string, Start] | undefined => {
      for (const [client, queue] of queues) {
        const [start] = queue;
        if (start === undefined || !mayRun(client)) continue;
        queues.delete(client);
        queues.set(client, queue);
        return [client, start];
      }
      return undefined;
    },
  };
};

/** How many queries run, in total and of each client. */
const createRunning = () => {
  const running = new Map<string, number>();
  let total = 0;
  return {
    total: () => total,
    of: (client: string): number => running.get(client) ?? 0,
    clients: (): readonly string[] => [...running.keys()],
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

/** Resolves when `start` is called, which `add` receives. `remove` is called however the wait ends. */
const waitForStart = (
  { waitMs, timing, signal, refused }: Wait,
  add: (start: Start) => void,
  remove: (start: Start) => void,
): Promise<void> =>
  new Promise((resolve, reject) => {
    const ending = (settle: () => void) => (): void => {
      cancel();
      signal?.removeEventListener('abort', abort);
      remove(start);
      settle();
    };
    const start = ending(resolve);
    const abort = ending(() => reject(signal?.reason));
    const late = ending(() => {
      refused('late');
      const message = `The query waited ${waitMs / 1000} s for its turn at the datasource. Retry shortly.`;
      reject(refusal(message, 'query-line-late'));
    });
    const cancel = timing.after(waitMs, late);
    signal?.addEventListener('abort', abort, { once: true });
    add(start);
  });

/** Holds the queries of loud clients. `wake` is called when one that is held may start without anything else having ended. */
const createHold = (shares: Shares, running: ReturnType<typeof createRunning>, timing: Timing, wake: () => void) => {
  const startedMs = new Map<string, number>();
  let waking: (() => void) | undefined;
  const wakeIn = (ms: number): void => {
    waking ??= timing.after(ms, () => {
      waking = undefined;
      wake();
    });
  };
  /** A client that was just found loud has started nothing: its wait begins now. */
  const patientUntil = (client: string): number => {
    const since = startedMs.get(client) ?? timing.nowMs();
    startedMs.set(client, since);
    return since + patienceMs;
  };
  return {
    mayRun: (client: string): boolean => {
      if (!shares.isLoud(client)) {
        startedMs.delete(client);
        return true;
      }
      if (running.of(client) > 0) return false;
      const waitMs = patientUntil(client) - timing.nowMs();
      const isAlone = running.clients().every((other) => shares.isLoud(other));
      if (isAlone || waitMs <= 0) return true;
      wakeIn(waitMs);
      return false;
    },
    started: (client: string): void => {
      if (startedMs.has(client)) startedMs.set(client, timing.nowMs());
    },
    end: (): void => {
      waking?.();
      waking = undefined;
    },
  };
};

const assertRoom = (
  limits: QueueLimits,
  waiting: ReturnType<typeof createWaiting>,
  client: string,
  refused: NoteRefused,
): void => {
  const isOwn = waiting.of(client) >= limits.waitingPerClient;
  if (!isOwn && waiting.total() < limits.waiting) return;
  refused('full');
  const whose = isOwn ? ' of this client' : '';
  throw refusal(`Too many queries${whose} are waiting for the datasource. Retry shortly.`, 'query-line-full');
};

const createFairQueue = (
  limits: QueueLimits,
  timing: Timing,
  { refused, waited, shares }: { readonly refused: NoteRefused; readonly waited: NoteWaited; readonly shares: Shares },
): FairQueue => {
  const waiting = createWaiting();
  const running = createRunning();
  const startNext = (): void => {
    while (running.total() < limits.running) {
      const next = waiting.next(mayRun);
      if (next === undefined) return;
      const [client, start] = next;
      running.change(client, 1);
      hold.started(client);
      start();
    }
  };
  const hold = createHold(shares, running, timing, startNext);
  const mayRun = (client: string): boolean =>
    running.of(client) < limits.runningPerClient && (!limits.holdsLoud || hold.mayRun(client));
  const addFor = (client: string) => (start: Start) => {
    waiting.add(client, start);
    startNext();
  };
  return {
    use: async (client, work, signal) => {
      signal?.throwIfAborted();
      shares.asked(client);
      // A query that can start at once never waits, so the limits of waiting do not apply to it.
      const startsAtOnce = running.total() < limits.running && mayRun(client);
      if (!startsAtOnce) assertRoom(limits, waiting, client, refused);
      const wait = { waitMs: limits.waitMs, timing, signal, refused };
      const arrivedMs = timing.nowMs();
      await inSpan({ name: 'queue' }, () =>
        waitForStart(wait, addFor(client), (start) => waiting.remove(client, start)),
      );
      waited(timing.nowMs() - arrivedMs);
      const ended = shares.begun(client);
      try {
        return await work();
      } finally {
        ended();
        running.change(client, -1);
        startNext();
        if (running.total() + waiting.total() === 0) hold.end();
      }
    },
    waiting: waiting.total,
    running: running.total,
    isIdle: () => running.total() + waiting.total() === 0,
  };
};

/** The queues of all databases, by name. */
export type FairQueues = {
  /** As `FairQueue.use`. `limits` apply while the database's queue exists. */
  readonly use: <R>(
    at: { readonly database: string; readonly client: string; readonly limits: QueueLimits },
    work: () => Promise<R>,
    signal?: AbortSignal | undefined,
  ) => Promise<R>;
  /** Waiting queries of all databases. */
  readonly waiting: () => number;
  /** What runs and waits, by the name of the database. */
  readonly count: () => readonly (LiveQueue & { readonly database: string })[];
};

export const createFairQueues = (timing: Timing, refused: NoteRefused, waited: NoteWaited = () => {}): FairQueues => {
  const queues = new Map<string, FairQueue>();
  /** Outlive the queues: a database is idle between two questions. */
  const shares = new Map<string, Shares>();
  const sharesOf = (database: string): Shares => {
    const known = shares.get(database);
    if (known !== undefined) return known;
    for (const [other, own] of shares) if (own.isEmpty()) shares.delete(other);
    const made = createShares(timing);
    shares.set(database, made);
    return made;
  };
  const find = (database: string, limits: QueueLimits): FairQueue => {
    const queue =
      queues.get(database) ?? createFairQueue(limits, timing, { refused, waited, shares: sharesOf(database) });
    queues.set(database, queue);
    return queue;
  };
  return {
    use: async ({ database, client, limits }, work, signal) => {
      const queue = find(database, limits);
      try {
        return await queue.use(client, work, signal);
      } finally {
        if (queue.isIdle() && queues.get(database) === queue) queues.delete(database);
      }
    },
    count: () =>
      [...queues].map(([database, queue]) => ({ database, running: queue.running(), waiting: queue.waiting() })),
    waiting: () => [...queues.values()].reduce((sum, queue) => sum + queue.waiting(), 0),
  };
};
