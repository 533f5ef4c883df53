/**
 * Limits the connections of this process to database servers: in total, and per datasource with its clients'
 * databases. At the limit, the connection idle the longest is closed. Where none is idle, the caller waits, for a
 * limited time.
 */
import type { LiveConnections } from '../../model/query/live.js';
import { createWaitQueue, type WaitLimits, type WaitQueue } from './pool.js';

export type ConnectionBudget = {
  readonly permitsOf: (datasourceId: string) => Permits;
  readonly count: (datasourceId: string) => LiveConnections;
};

export type Permits = {
  /**
   * Acquires the right to one connection.
   * @throws METRIC_QUERY_ERROR where none is released in time; the reason of `signal` where it aborts first.
   */
  readonly acquire: (signal?: AbortSignal) => Promise<Permit>;
};

export type Permit = {
  /** Marks the connection as idle. `evict` is called, at most once, where another caller needs the permit. */
  readonly markIdle: (evict: () => Promise<void>) => void;
  /** Marks the connection as in use. False where it was evicted meanwhile. */
  readonly markInUse: () => boolean;
  /** Releases the permit after the connection was closed. */
  readonly release: () => void;
};

export type BudgetLimits = WaitLimits & {
  readonly maxConnections: number;
  readonly maxConnectionsPerDatasource: number;
};

type IdleConnection = { readonly datasourceId: string; readonly evict: () => Promise<void> };

/** Waiting callers by datasource, least recently served first, so no datasource takes every released permit. */
type Waiting = Map<string, { readonly line: WaitQueue<Permit>; count: number }>;

/** Counts the permits in use. */
const createTally = ({ maxConnections, maxConnectionsPerDatasource }: BudgetLimits) => {
  const taken = new Map<string, number>();
  let total = 0;
  const hasRoomIn = (id: string): boolean => (taken.get(id) ?? 0) < maxConnectionsPerDatasource;
  return {
    of: (id: string): number => taken.get(id) ?? 0,
    hasRoom: (id: string): boolean => total < maxConnections && hasRoomIn(id),
    /** Whether releasing a permit of `permitOf` makes room for datasource `id`. */
    helps: (permitOf: string, id: string): boolean => permitOf === id || hasRoomIn(id),
    count: (id: string, by: 1 | -1): void => {
      total += by;
      const left = (taken.get(id) ?? 0) + by;
      if (left === 0) taken.delete(id);
      else taken.set(id, left);
    },
  };
};

type Tally = ReturnType<typeof createTally>;

/** The idle connections, longest idle first. */
const createIdle = ({ helps }: Tally) => {
  const idle = new Map<Permit, IdleConnection>();
  const evict = (permit: Permit, { evict: end }: IdleConnection): void => {
    idle.delete(permit);
    // The permit is released however closing the connection ends.
    end().then(permit.release, permit.release);
  };
  return {
    add: (permit: Permit, connection: IdleConnection): Map<Permit, IdleConnection> => idle.set(permit, connection),
    remove: (permit: Permit): boolean => idle.delete(permit),
    of: (id: string): number => [...idle.values()].filter(({ datasourceId }) => datasourceId === id).length,
    evict,
    /** Evicts an idle connection whose permit makes room for this datasource. */
    evictFor: (id: string): void => {
      const longest = [...idle].find(([, { datasourceId }]) => helps(datasourceId, id));
      if (longest !== undefined) evict(...longest);
    },
  };
};

const createPermit = (id: string, tally: Tally, idle: ReturnType<typeof createIdle>, queue: Queue): Permit => {
  let isReleased = false;
  tally.count(id, 1);
  const permit: Permit = {
    markIdle: (evict) => {
      const connection = { datasourceId: id, evict };
      idle.add(permit, connection);
      if (queue.isWaitedFor(id)) idle.evict(permit, connection);
    },
    markInUse: () => idle.remove(permit),
    release: () => {
      if (isReleased) return;
      isReleased = true;
      idle.remove(permit);
      tally.count(id, -1);
      queue.serveNext();
    },
  };
  return permit;
};

type Queue = { readonly isWaitedFor: (permitOf: string) => boolean; readonly serveNext: () => void };

export const createConnectionBudget = (limits: BudgetLimits): ConnectionBudget => {
  const tally = createTally(limits);
  const idle = createIdle(tally);
  const waiting: Waiting = new Map();
  const queue: Queue = {
    isWaitedFor: (permitOf) => [...waiting].some(([id, { line }]) => !line.isEmpty() && tally.helps(permitOf, id)),
    serveNext: () => {
      const next = [...waiting].find(([id, { line }]) => !line.isEmpty() && tally.hasRoom(id));
      next?.[1].line.serve(createFor(next[0]));
    },
  };
  const createFor = (id: string): Permit => createPermit(id, tally, idle, queue);

  const waitFor = async (id: string, signal: AbortSignal | undefined): Promise<Permit> => {
    const own = waiting.get(id) ?? { line: createWaitQueue<Permit>(limits), count: 0 };
    waiting.set(id, own);
    own.count += 1;
    const permit = own.line.wait(signal);
    idle.evictFor(id);
    try {
      return await permit;
    } finally {
      own.count -= 1;
      waiting.delete(id);
      if (own.count > 0) waiting.set(id, own);
    }
  };

  const isFree = (id: string): boolean => tally.hasRoom(id) && (waiting.get(id)?.line.isEmpty() ?? true);
  return {
    permitsOf: (id) => ({ acquire: async (signal) => (isFree(id) ? createFor(id) : waitFor(id, signal)) }),
    count: (id) => {
      const open = tally.of(id);
      return { open, busy: open - idle.of(id), waiting: waiting.get(id)?.line.size() ?? 0 };
    },
  };
};
