/**
 * How many connections this process has to database servers: in all, and to one datasource with all its clients' databases. Where there is
 * no room, the connection that was idle the longest goes; where all are in use, whoever comes waits in line, and not for ever.
 */
import { createLine, type Line, type Patience } from './limiter.js';

export type Quota = { readonly seatsOf: (datasourceId: string) => Seats };

export type Seats = {
  /** Leave for one connection. Throws METRIC_QUERY_ERROR where none comes free in time, the reason of `signal` where that aborts first. */
  readonly take: (signal?: AbortSignal) => Promise<Seat>;
};

export type Seat = {
  /** Nobody uses the connection now: `evict` is called, once, where another needs its seat. */
  readonly rest: (evict: () => Promise<void>) => void;
  /** It is used again; false: it was evicted meanwhile. */
  readonly wake: () => boolean;
  /** The connection is no more. */
  readonly leave: () => void;
};

export type QuotaLimits = Patience & {
  readonly maxConnections: number;
  readonly maxConnectionsPerDatasource: number;
};

type Resting = { readonly datasourceId: string; readonly evict: () => Promise<void> };

/** Those who wait, by datasource; the one whose turn was longest ago is asked first, so that no datasource has all that comes free. */
type Waiting = Map<string, { readonly line: Line<Seat>; count: number }>;

/** Connections there are. */
const createTally = ({ maxConnections, maxConnectionsPerDatasource }: QuotaLimits) => {
  const taken = new Map<string, number>();
  let total = 0;
  const hasRoomIn = (id: string): boolean => (taken.get(id) ?? 0) < maxConnectionsPerDatasource;
  return {
    hasRoom: (id: string): boolean => total < maxConnections && hasRoomIn(id),
    /** Whether a seat of one datasource, once it is left, is one for the other. */
    helps: (seatOf: string, id: string): boolean => seatOf === id || hasRoomIn(id),
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
  const resting = new Map<Seat, Resting>();
  const evict = (seat: Seat, { evict: end }: Resting): void => {
    resting.delete(seat);
    // How a connection ends is no concern of who waits for its seat.
    end().then(seat.leave, seat.leave);
  };
  return {
    add: (seat: Seat, place: Resting): Map<Seat, Resting> => resting.set(seat, place),
    remove: (seat: Seat): boolean => resting.delete(seat),
    evict,
    /** Frees a seat for this datasource, where one of them is in nobody's use. */
    evictFor: (id: string): void => {
      const idle = [...resting].find(([, { datasourceId }]) => helps(datasourceId, id));
      if (idle !== undefined) evict(...idle);
    },
  };
};

const createSeat = (id: string, tally: Tally, resting: ReturnType<typeof createResting>, queue: Queue): Seat => {
  let isLeft = false;
  tally.count(id, 1);
  const seat: Seat = {
    rest: (evict) => {
      const place = { datasourceId: id, evict };
      resting.add(seat, place);
      if (queue.isWaitedFor(id)) resting.evict(seat, place);
    },
    wake: () => resting.remove(seat),
    leave: () => {
      if (isLeft) return;
      isLeft = true;
      resting.remove(seat);
      tally.count(id, -1);
      queue.serveNext();
    },
  };
  return seat;
};

type Queue = { readonly isWaitedFor: (seatOf: string) => boolean; readonly serveNext: () => void };

export const createQuota = (limits: QuotaLimits): Quota => {
  const tally = createTally(limits);
  const resting = createResting(tally);
  const waiting: Waiting = new Map();
  const queue: Queue = {
    isWaitedFor: (seatOf) => [...waiting].some(([id, { line }]) => !line.isEmpty() && tally.helps(seatOf, id)),
    serveNext: () => {
      const next = [...waiting].find(([id, { line }]) => !line.isEmpty() && tally.hasRoom(id));
      next?.[1].line.serve(sit(next[0]));
    },
  };
  const sit = (id: string): Seat => createSeat(id, tally, resting, queue);

  const waitFor = async (id: string, signal: AbortSignal | undefined): Promise<Seat> => {
    const own = waiting.get(id) ?? { line: createLine<Seat>(limits), count: 0 };
    waiting.set(id, own);
    own.count += 1;
    const seat = own.line.wait(signal);
    resting.evictFor(id);
    try {
      return await seat;
    } finally {
      own.count -= 1;
      waiting.delete(id);
      if (own.count > 0) waiting.set(id, own);
    }
  };

  const isFree = (id: string): boolean => tally.hasRoom(id) && (waiting.get(id)?.line.isEmpty() ?? true);
  return { seatsOf: (id) => ({ take: async (signal) => (isFree(id) ? sit(id) : waitFor(id, signal)) }) };
};
