import { Enough } from './batches.js';
import { ReaderGone, refuseGone, refuseLate } from './database.js';
import { createLimiter } from './limiter.js';

/** How a driver's connection is handled; none of these is asked twice at a time for one connection. */
export type Driver<Connection> = {
  /** `lost` is called when the connection breaks while nobody uses it. */
  readonly connect: (lost: () => void) => Promise<Connection>;
  /** Begins a transaction that only reads, with the session's settings as the engine needs them, `timeoutMs` for each statement among them. */
  readonly begin: (connection: Connection, timeoutMs: number) => Promise<void>;
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
};

export type Use = {
  /** How long each statement may run on the server. */
  readonly timeoutMs: number;
  /** How long all of it may take; left out: as long as one statement. */
  readonly totalMs?: number | undefined;
  /** When it aborts, what runs is stopped, and refused. */
  readonly signal?: AbortSignal | undefined;
};

export type Connections<Connection> = {
  /** Lends a connection within a transaction of its own, which is rolled back: nothing of it stays. */
  readonly use: <R>(work: (connection: Connection) => Promise<R>, use: Use) => Promise<R>;
  readonly close: () => Promise<void>;
};

/** The server stops what runs too long; where it does not answer at all, we hang up after this much more. */
const graceMs = 5000;

/** At most `count` connections, each made when it is first needed and again after it broke. */
export const createConnections = <Connection>(driver: Driver<Connection>, count: number): Connections<Connection> => {
  const slots = Array.from({ length: count }, (): { current: Connection | null } => ({ current: null }));
  const limiter = createLimiter(slots);
  const cancelled = new Set<Promise<void>>();
  const kill = (connection: Connection): void => {
    const cancelling = driver.cancel(connection).finally(() => cancelled.delete(cancelling));
    cancelled.add(cancelling);
    driver.destroy(connection);
  };
  const lendSlot = async <R>(
    slot: { current: Connection | null },
    work: (connection: Connection) => Promise<R>,
    use: Use,
  ): Promise<R> => {
    const drop = (): void => {
      slot.current = null;
    };
    slot.current ??= await driver.connect(drop);
    return lend({ driver, connection: slot.current, drop, kill }, work, use);
  };
  return {
    use: async (work, use) => {
      const { signal } = use;
      try {
        return await limiter.use((slot) => lendSlot(slot, work, use), signal);
      } catch (cause) {
        // It left the line.
        return signal?.aborted === true && cause === signal.reason ? refuseGone(cause) : Promise.reject(cause);
      }
    },
    close: async () => {
      await limiter.drain();
      await Promise.all(cancelled);
      await Promise.all(slots.map(({ current }) => (current === null ? undefined : driver.end(current))));
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
  { timeoutMs, totalMs = timeoutMs, signal }: Use,
): Promise<R> => {
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
    return await Promise.race([workWithin(driver, connection, work, timeoutMs), givenUp]);
  } catch (cause) {
    if (stopped === undefined && !(await isRestored(driver, connection, cause))) {
      drop();
      // What was left off still runs, and nobody wants the rest.
      (cause instanceof Enough || cause instanceof ReaderGone ? kill : driver.destroy)(connection);
    }
    if (stopped === 'gone') return refuseGone(cause);
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
  timeoutMs: number,
): Promise<R> => {
  await driver.begin(connection, timeoutMs);
  const result = await work(connection);
  await driver.restore(connection);
  return result;
};
