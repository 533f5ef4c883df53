import { refuseLate } from './database.js';
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
  /** Ends it at once, whatever runs. */
  readonly destroy: (connection: Connection) => void;
  /** Whether the server told this error, so that the connection is in a known state. */
  readonly isAnswer: (cause: unknown) => boolean;
  /** Whether the server stopped the statement because it ran too long. */
  readonly isTimeout: (cause: unknown) => boolean;
};

export type Connections<Connection> = {
  /** Lends a connection within a transaction of its own, which is rolled back: nothing of it stays. */
  readonly use: <R>(work: (connection: Connection) => Promise<R>, timeoutMs: number) => Promise<R>;
  readonly close: () => Promise<void>;
};

/** The server stops what runs too long; where it does not answer at all, we hang up after this much more. */
const graceMs = 5000;

/** At most `count` connections, each made when it is first needed and again after it broke. */
export const createConnections = <Connection>(driver: Driver<Connection>, count: number): Connections<Connection> => {
  const slots = Array.from({ length: count }, (): { current: Connection | null } => ({ current: null }));
  const limiter = createLimiter(slots);
  return {
    use: (work, timeoutMs) =>
      limiter.use(async (slot) => {
        const drop = (): void => {
          slot.current = null;
        };
        slot.current ??= await driver.connect(drop);
        return lend(driver, slot.current, drop, work, timeoutMs);
      }),
    close: async () => {
      await limiter.drain();
      await Promise.all(slots.map(({ current }) => (current === null ? undefined : driver.end(current))));
    },
  };
};

const lend = async <Connection, R>(
  driver: Driver<Connection>,
  connection: Connection,
  drop: () => void,
  work: (connection: Connection) => Promise<R>,
  timeoutMs: number,
): Promise<R> => {
  let isLate = false;
  const hangUp = (): void => {
    drop();
    driver.destroy(connection);
  };
  const timer = setTimeout(() => {
    isLate = true;
    hangUp();
  }, timeoutMs + graceMs);
  try {
    await driver.begin(connection, timeoutMs);
    const result = await work(connection);
    await driver.restore(connection);
    return result;
  } catch (cause) {
    if (driver.isAnswer(cause)) await driver.restore(connection).catch(hangUp);
    else hangUp();
    if (isLate || driver.isTimeout(cause)) return refuseLate(timeoutMs, cause);
    throw cause;
  } finally {
    clearTimeout(timer);
  }
};
