/**
 * How many connections this process has to database servers: in all, and to one datasource with all its clients' databases. Where there is
 * no room, the connection that was idle the longest goes; where all are in use, whoever comes waits in line, and not for ever.
 */
import { createWaitQueue, type WaitLimits, type WaitQueue } from './pool.js';

export type ConnectionBudget = { readonly permitsOf: (datasourceId: string) => Permits };

export type Permits = {
  /** Leave for one connection. Throws METRIC_QUERY_ERROR where none comes free in time, the reason of `signal` where that aborts first. */
  readonly take: (signal?: AbortSignal) => Promise<Permit>;
};

export type Permit = {
  /** Nobody uses the connection now: `evict` is called, once, where another needs its permit. */
  readonly rest: (evict: () => Promise<void>) => void;
  /** It is used again; false: it was evicted meanwhile. */
  readonly wake: () => boolean;
  /** The connection is no more. */
  readonly leave: () => void;
};

export type BudgetLimits = WaitLimits & {
  readonly maxConnections: number;
  readonly maxConnectionsPerDatasource: number;
};

type Resting = { readonly datasourceId: string; readonly evict: () => Promise<void> };

/** Those who wait, by datasource; the one whose turn was longest ago is asked first, so that no datasource has all that comes free. */
type Waiting = Map<string, { readonly line: WaitQueue<Permit>; count: number }>;

/** Connections there are. */
const createTally = ({ maxConnections, maxConnectionsPerDatasource }: BudgetLimits) => {
  const taken = new Map<string, number>();
  let total = 0;
  const hasRoomIn = (id: string): boolean => (taken.get(id) ?? 0) < maxConnectionsPerDatasource;
  return {
    hasRoom: (id: string): boolean => total < maxConnections && hasRoomIn(id),
    /** Whether a permit of one datasource, once it is left, is one for the other. */
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

/** Connections that nobody uses now; the one that is idle the longest is the first. */
const createResting = ({ helps }: Tally) => {
  const resting = new Map<Permit, Resting>();
  const evict = (permit: Permit, { evict: end }: Resting): void => {
    resting.delete(permit);
    // How a connection ends is no concern of who waits for its permit.
    end().then(permit.leave, permit.leave);
  };
  return {
    add: (permit: Permit, place: Resting): Map<Permit, Resting> => resting.set(permit, place),
    remove: (permit: Permit): boolean => resting.delete(permit),
    evict,
    /** Frees a permit for this datasource, where one of them is in nobody's use. */
    evictFor: (id: string): void => {
      const idle = [...resting].find(([, { datasourceId }]) => helps(datasourceId, id));
      if (idle !== undefined) evict(...idle);
    },
  };
};

const createPermit = (id: string, tally: Tally, resting: ReturnType<typeof createResting>, queue: Queue): Permit => {
  let isLeft = false;
  tally.count(id, 1);
  const permit: Permit = {
    rest: (evict) => {
      const place = { datasourceId: id, evict };
      resting.add(permit, place);
      if (queue.isWaitedFor(id)) resting.evict(permit, place);
    },
    wake: () => resting.remove(permit),
    leave: () => {
      if (isLeft) return;
      isLeft = true;
      resting.remove(permit);
      tally.count(id, -1);
      queue.serveNext();
    },
  };
  return permit;
};

type Queue = { readonly isWaitedFor: (permitOf: string) => boolean; readonly serveNext: () => void };

export const createConnectionBudget = (limits: BudgetLimits): ConnectionBudget => {
  const tally = createTally(limits);
  const resting = createResting(tally);
  const waiting: Waiting = new Map();
  const queue: Queue = {
    isWaitedFor: (permitOf) => [...waiting].some(([id, { line }]) => !line.isEmpty() && tally.helps(permitOf, id)),
    serveNext: () => {
      const next = [...waiting].find(([id, { line }]) => !line.isEmpty() && tally.hasRoom(id));
      next?.[1].line.serve(sit(next[0]));
    },
  };
  const sit = (id: string): Permit => createPermit(id, tally, resting, queue);

  const waitFor = async (id: string, signal: AbortSignal | undefined): Promise<Permit> => {
    const own = waiting.get(id) ?? { line: createWaitQueue<Permit>(limits), count: 0 };
    waiting.set(id, own);
    own.count += 1;
    const permit = own.line.wait(signal);
    resting.evictFor(id);
    try {
      return await permit;
    } finally {
      own.count -= 1;
      waiting.delete(id);
      if (own.count > 0) waiting.set(id, own);
    }
  };

  const isFree = (id: string): boolean => tally.hasRoom(id) && (waiting.get(id)?.line.isEmpty() ?? true);
  return { permitsOf: (id) => ({ take: async (signal) => (isFree(id) ? sit(id) : waitFor(id, signal)) }) };
};
