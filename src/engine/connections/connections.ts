import { handled } from '../../model/handled.js';
import { closeAll } from '../../platform/work/close-all.js';
import { ReadLimitReached } from './batches.js';
import type { Permit, Permits } from './budget.js';
import { passingFault } from './connection-faults.js';
import { ReaderFailed, refuseLate } from './database.js';
import type { FaultOf } from './driver-faults.js';
import { createPool } from './pool.js';

/** Handles one driver's connections. Calls for one connection never overlap. */
export type Driver<Connection> = {
  /** `lost` is called when the connection breaks while idle. */
  readonly connect: (lost: () => void) => Promise<Connection>;
  /** Begins a read-only transaction with the session settings that the engine needs. */
  readonly begin: (connection: Connection, settings: LoanSettings) => Promise<void>;
  /** Rolls back and restores the session's state. */
  readonly restore: (connection: Connection) => Promise<void>;
  readonly end: (connection: Connection) => Promise<void>;
  /** Closes the connection at once. A running statement may go on at the server. */
  readonly destroy: (connection: Connection) => void;
  /** Cancels the statement at the server, over another connection. Never throws: logs. */
  readonly cancel: (connection: Connection, requestId?: string) => Promise<void>;
  /** Whether the server itself reported this error, so the connection is in a known state. */
  readonly isAnswer: (cause: unknown) => boolean;
  /** What the error means. After `lost`, another connection may work. */
  readonly faultOf: FaultOf;
};

/** Settings for one use of a connection. */
export type LoanSettings = {
  /** For each statement. */
  readonly timeoutMs: number;
  /** The clientId that the database is told; empty for no client. */
  readonly client: string;
  /** Limit for the whole use; left out: as for one statement. */
  readonly totalMs?: number | undefined;
  /** Aborting it cancels the running statement. */
  readonly signal?: AbortSignal | undefined;
  /** The request that it belongs to, for the log. */
  readonly requestId?: string | undefined;
  /** The work has no effect before it ends, so after a lost connection it runs once more on another one. */
  readonly isRepeatable?: boolean | undefined;
};

export type Connections<Connection> = {
  /**
   * Runs the work in a transaction of its own, which is rolled back.
   * @throws DependencyUnavailable where the server is unreachable or has no room; the reason of the signal where it aborts.
   */
  readonly use: <R>(work: (connection: Connection) => Promise<R>, settings: LoanSettings) => Promise<R>;
  readonly close: () => Promise<void>;
};

/** The server enforces the time limit itself. A server that does not answer is disconnected after this much more. */
const graceMs = 5000;

type Permitted<Connection> = { readonly connection: Connection; readonly permit: Permit };
type Slot<Connection> = { current: Permitted<Connection> | null };

/** At most `count` connections. Each is opened at first use, and again after it broke or was evicted. */
export const createConnections = <Connection>(
  driver: Driver<Connection>,
  count: number,
  permits: Permits,
): Connections<Connection> => {
  const slots = Array.from({ length: count }, (): Slot<Connection> => ({ current: null }));
  const limiter = createPool(slots);
  const { kill, settled } = createKilling(driver);
  const once = <R>(
    work: (connection: Connection) => Promise<R>,
    settings: LoanSettings,
    isAgain: boolean,
  ): Promise<R> =>
    limiter.use(async (slot) => {
      // What ended one connection has often ended the idle ones too, and not all of them have said so yet.
      if (isAgain && slot.current?.permit.markInUse() === true) {
        const { connection, permit } = slot.current;
        drop(slot, permit);
        driver.destroy(connection);
      }
      if (slot.current?.permit.markInUse() !== true)
        slot.current = await connect(driver, permits, slot, settings.signal);
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
          return await once(work, settings, isRepeatable && tries === 1);
        } catch (cause) {
          if (signal?.aborted === true && cause === signal.reason) throw cause;
          const fault = driver.faultOf(cause);
          if (fault !== 'lost' || tries === 1) throw passingFault(fault, cause) ?? cause;
        }
      }
    },
    close: async () => {
      await limiter.drain();
      await settled();
      await closeAll(
        slots.map(
          ({ current }) =>
            async () =>
              void (current !== null && (await end(driver, current))),
        ),
      );
    },
  };
};

const drop = <Connection>(slot: Slot<Connection>, permit: Permit): void => {
  if (slot.current?.permit === permit) slot.current = null;
  permit.release();
};

const connect = async <Connection>(
  driver: Driver<Connection>,
  permits: Permits,
  slot: Slot<Connection>,
  signal: AbortSignal | undefined,
): Promise<Permitted<Connection>> => {
  const permit = await permits.acquire(signal);
  try {
    return { connection: await driver.connect(() => drop(slot, permit)), permit };
  } catch (cause) {
    permit.release();
    throw cause;
  }
};

const end = async <Connection>(
  driver: Driver<Connection>,
  { connection, permit }: Permitted<Connection>,
): Promise<void> => {
  permit.markInUse();
  await driver.end(connection).finally(permit.release);
};

const rest = <Connection>(driver: Driver<Connection>, slot: Slot<Connection>): void => {
  const { current } = slot;
  current?.permit.markIdle(async () => {
    slot.current = null;
    await driver.end(current.connection);
  });
};

/** Closes connections and cancels what runs on them at the server. */
const createKilling = <Connection>(driver: Driver<Connection>) => {
  const cancelled = new Set<Promise<void>>();
  return {
    kill: (connection: Connection, requestId?: string): void => {
      const cancelling = handled(driver.cancel(connection, requestId).finally(() => cancelled.delete(cancelling)));
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
  readonly kill: (connection: Connection, requestId?: string) => void;
};

const lend = async <Connection, R>(
  { driver, connection, drop, kill }: Loan<Connection>,
  work: (connection: Connection) => Promise<R>,
  settings: LoanSettings,
): Promise<R> => {
  const { timeoutMs, totalMs = timeoutMs, signal, requestId } = settings;
  signal?.throwIfAborted();
  let stopped: 'late' | 'gone' | undefined;
  let giveUp: (cause: unknown) => void = () => undefined;
  // After the connection was closed, a driver may never settle its statement.
  const givenUp = handled(
    new Promise<never>((_, reject) => {
      giveUp = reject;
    }),
  );
  const stop = (why: 'late' | 'gone'): void => {
    if (stopped !== undefined) return;
    stopped = why;
    drop();
    kill(connection, requestId);
    giveUp(new Error('the connection was ended'));
  };
  const leave = (): void => stop('gone');
  const timer = setTimeout(() => stop('late'), totalMs + graceMs);
  signal?.addEventListener('abort', leave, { once: true });
  try {
    return await Promise.race([workWithin(driver, connection, work, settings), givenUp]);
  } catch (cause) {
    // The server may say nothing here either, so this ends with the limit too.
    const isGood =
      stopped !== undefined ||
      (await Promise.race([isRestored(driver, connection, cause), givenUp.catch(() => false)]));
    if (!isGood) {
      drop();
      // The statement still runs at the server, and its result is no longer needed.
      if (cause instanceof ReadLimitReached || cause instanceof ReaderFailed) kill(connection, requestId);
      else driver.destroy(connection);
    }
    if (stopped === 'gone') throw signal?.reason;
    if (stopped === 'late' || driver.faultOf(cause) === 'late')
      return refuseLate(stopped === 'late' ? totalMs : timeoutMs, cause);
    throw cause;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', leave);
  }
};

/** Whether the connection is usable after this failure. */
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
