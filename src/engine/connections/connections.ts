import { DependencyUnavailable } from '../../domain/unavailable.js';
import { ReadLimitReached } from './batches.js';
import type { Permit, Permits } from './budget.js';
import { ReaderFailed, refuseLate } from './database.js';
import { createPool } from './pool.js';

/** How a driver's connection is handled; none of these is asked twice at a time for one connection. */
export type Driver<Connection> = {
  /** `lost` is called when the connection breaks while nobody uses it. */
  readonly connect: (lost: () => void) => Promise<Connection>;
  /** Begins a transaction that only reads, with the session's settings as the engine needs them. */
  readonly begin: (connection: Connection, settings: LoanSettings) => Promise<void>;
  /** Rolls back, and leaves nothing of what the transaction did to the session. */
  readonly restore: (connection: Connection) => Promise<void>;
  readonly end: (connection: Connection) => Promise<void>;
  /** Ends it at once, whatever runs; the server may learn of it late. */
  readonly destroy: (connection: Connection) => void;
  /** Has the server stop what runs on the connection, by way of another one. Never throws: it logs. */
  readonly cancel: (connection: Connection) => Promise<void>;
  /** Whether the server told this error, so that the connection is in a known state. */
  readonly isAnswer: (cause: unknown) => boolean;
  /** Whether the server stopped the statement because it ran too long. */
  readonly isTimeout: (cause: unknown) => boolean;
  /** Whether there is no server now, or it ended the connection: another one may answer. */
  readonly isLost: (cause: unknown) => boolean;
};

/** What holds for one loan of a connection. */
export type LoanSettings = {
  /** For each statement. */
  readonly timeoutMs: number;
  /** Whose question it is, as the database may be told of it; empty: no client's. */
  readonly client: string;
  /** How long all of it may take; left out: as long as one statement. */
  readonly totalMs?: number | undefined;
  /** When it aborts, what runs is stopped, and refused. */
  readonly signal?: AbortSignal | undefined;
  /** Nothing has left the work before it ends: where the connection was lost, it is done once more on another one. */
  readonly isRepeatable?: boolean | undefined;
};

export type Connections<Connection> = {
  /**
   * Lends a connection within a transaction of its own, which is rolled back: nothing of it stays. Throws DependencyUnavailable
   * where the server is away.
   */
  readonly use: <R>(work: (connection: Connection) => Promise<R>, settings: LoanSettings) => Promise<R>;
  readonly close: () => Promise<void>;
};

/** The server stops what runs too long; where it does not answer at all, we hang up after this much more. */
const graceMs = 5000;

type Permitted<Connection> = { readonly connection: Connection; readonly permit: Permit };
type Slot<Connection> = { current: Permitted<Connection> | null };

/** At most `count` connections, each made when it is first needed, and again after it broke or its permit was needed elsewhere. */
export const createConnections = <Connection>(
  driver: Driver<Connection>,
  count: number,
  permits: Permits,
): Connections<Connection> => {
  const slots = Array.from({ length: count }, (): Slot<Connection> => ({ current: null }));
  const limiter = createPool(slots);
  const { kill, settled } = createKilling(driver);
  const once = <R>(work: (connection: Connection) => Promise<R>, settings: LoanSettings): Promise<R> =>
    limiter.use(async (slot) => {
      if (slot.current?.permit.wake() !== true) slot.current = await connect(driver, permits, slot, settings.signal);
      const { connection, permit } = slot.current;
      try {
        return await lend({ driver, connection, drop: () => drop(slot, permit), kill }, work, settings);
      } finally {
        rest(driver, slot);
      }
    }, settings.signal);
  return {
    use: async (work, settings) => {
      const { signal, isRepeatable = false } = settings;
      for (let tries = isRepeatable ? 2 : 1; ; tries -= 1) {
        try {
          return await once(work, settings);
        } catch (cause) {
          if (signal?.aborted === true && cause === signal.reason) throw cause;
          if (!driver.isLost(cause)) throw cause;
          if (tries === 1) throw new DependencyUnavailable('datasource-lost', 'The datasource does not answer.', cause);
        }
      }
    },
    close: async () => {
      await limiter.drain();
      await settled();
      await Promise.all(slots.map(({ current }) => current !== null && end(driver, current)));
    },
  };
};

const drop = <Connection>(slot: Slot<Connection>, permit: Permit): void => {
  if (slot.current?.permit === permit) slot.current = null;
  permit.leave();
};

const connect = async <Connection>(
  driver: Driver<Connection>,
  permits: Permits,
  slot: Slot<Connection>,
  signal: AbortSignal | undefined,
): Promise<Permitted<Connection>> => {
  const permit = await permits.take(signal);
  try {
    return { connection: await driver.connect(() => drop(slot, permit)), permit };
  } catch (cause) {
    permit.leave();
    throw cause;
  }
};

const end = async <Connection>(
  driver: Driver<Connection>,
  { connection, permit }: Permitted<Connection>,
): Promise<void> => {
  permit.wake();
  await driver.end(connection).finally(permit.leave);
};

const rest = <Connection>(driver: Driver<Connection>, slot: Slot<Connection>): void => {
  const { current } = slot;
  current?.permit.rest(async () => {
    slot.current = null;
    await driver.end(current.connection);
  });
};

/** Ends connections with what runs on them at the server. */
const createKilling = <Connection>(driver: Driver<Connection>) => {
  const cancelled = new Set<Promise<void>>();
  return {
    kill: (connection: Connection): void => {
      const cancelling = driver.cancel(connection).finally(() => cancelled.delete(cancelling));
      cancelled.add(cancelling);
      driver.destroy(connection);
    },
    settled: async (): Promise<void> => {
      await Promise.all(cancelled);
    },
  };
};

type Loan<Connection> = {
  readonly driver: Driver<Connection>;
  readonly connection: Connection;
  readonly drop: () => void;
  readonly kill: (connection: Connection) => void;
};

const lend = async <Connection, R>(
  { driver, connection, drop, kill }: Loan<Connection>,
  work: (connection: Connection) => Promise<R>,
  settings: LoanSettings,
): Promise<R> => {
  const { timeoutMs, totalMs = timeoutMs, signal } = settings;
  signal?.throwIfAborted();
  let stopped: 'late' | 'gone' | undefined;
  let giveUp: (cause: unknown) => void = () => undefined;
  // A driver may never say what became of a statement whose connection we ended.
  const givenUp = new Promise<never>((_, reject) => {
    giveUp = reject;
  });
  const stop = (why: 'late' | 'gone'): void => {
    if (stopped !== undefined) return;
    stopped = why;
    drop();
    kill(connection);
    giveUp(new Error('the connection was ended'));
  };
  const leave = (): void => stop('gone');
  const timer = setTimeout(() => stop('late'), totalMs + graceMs);
  signal?.addEventListener('abort', leave, { once: true });
  try {
    return await Promise.race([workWithin(driver, connection, work, settings), givenUp]);
  } catch (cause) {
    if (stopped === undefined && !(await isRestored(driver, connection, cause))) {
      drop();
      // What was left off still runs, and nobody wants the rest.
      (cause instanceof ReadLimitReached || cause instanceof ReaderFailed ? kill : driver.destroy)(connection);
    }
    if (stopped === 'gone') throw signal?.reason;
    if (stopped === 'late' || driver.isTimeout(cause))
      return refuseLate(stopped === 'late' ? totalMs : timeoutMs, cause);
    throw cause;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', leave);
  }
};

/** Whether the connection can be used again after this failure. */
const isRestored = async <Connection>(
  driver: Driver<Connection>,
  connection: Connection,
  cause: unknown,
): Promise<boolean> => {
  if (!driver.isAnswer(cause)) return false;
  return driver.restore(connection).then(
    () => true,
    () => false,
  );
};

const workWithin = async <Connection, R>(
  driver: Driver<Connection>,
  connection: Connection,
  work: (connection: Connection) => Promise<R>,
  settings: LoanSettings,
): Promise<R> => {
  await driver.begin(connection, settings);
  const result = await work(connection);
  await driver.restore(connection);
  return result;
};
