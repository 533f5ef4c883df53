import { refuseLate } from './database.js';
import { createLimiter } from './limiter.js';
import type { Seat, Seats } from './quota.js';

/** How a driver's connection is handled; none of these is asked twice at a time for one connection. */
export type Driver<Connection> = {
  /** `lost` is called when the connection breaks while nobody uses it. */
  readonly connect: (lost: () => void) => Promise<Connection>;
  /** Begins a transaction that only reads, with the session's settings as the engine needs them. */
  readonly begin: (connection: Connection, settings: LoanSettings) => Promise<void>;
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

/** What holds for one loan of a connection. */
export type LoanSettings = {
  /** For each statement. */
  readonly timeoutMs: number;
  /** Whose question it is, as the database may be told of it; empty: no client's. */
  readonly client: string;
};

export type Connections<Connection> = {
  /** Lends a connection within a transaction of its own, which is rolled back: nothing of it stays. */
  readonly use: <R>(work: (connection: Connection) => Promise<R>, settings: LoanSettings) => Promise<R>;
  readonly close: () => Promise<void>;
};

/** The server stops what runs too long; where it does not answer at all, we hang up after this much more. */
const graceMs = 5000;

type Seated<Connection> = { readonly connection: Connection; readonly seat: Seat };
type Slot<Connection> = { current: Seated<Connection> | null };

/** At most `count` connections, each made when it is first needed, and again after it broke or its seat was needed elsewhere. */
export const createConnections = <Connection>(
  driver: Driver<Connection>,
  count: number,
  seats: Seats,
): Connections<Connection> => {
  const slots = Array.from({ length: count }, (): Slot<Connection> => ({ current: null }));
  const limiter = createLimiter(slots);
  return {
    use: (work, settings) =>
      limiter.use(async (slot) => {
        if (slot.current?.seat.wake() !== true) slot.current = await connect(driver, seats, slot);
        const { connection, seat } = slot.current;
        try {
          return await lend(driver, connection, () => drop(slot, seat), work, settings);
        } finally {
          rest(driver, slot);
        }
      }),
    close: async () => {
      await limiter.drain();
      await Promise.all(slots.map(({ current }) => current !== null && end(driver, current)));
    },
  };
};

const drop = <Connection>(slot: Slot<Connection>, seat: Seat): void => {
  if (slot.current?.seat === seat) slot.current = null;
  seat.leave();
};

const connect = async <Connection>(
  driver: Driver<Connection>,
  seats: Seats,
  slot: Slot<Connection>,
): Promise<Seated<Connection>> => {
  const seat = await seats.take();
  try {
    return { connection: await driver.connect(() => drop(slot, seat)), seat };
  } catch (cause) {
    seat.leave();
    throw cause;
  }
};

const end = async <Connection>(driver: Driver<Connection>, { connection, seat }: Seated<Connection>): Promise<void> => {
  seat.wake();
  await driver.end(connection).finally(seat.leave);
};

const rest = <Connection>(driver: Driver<Connection>, slot: Slot<Connection>): void => {
  const { current } = slot;
  current?.seat.rest(async () => {
    slot.current = null;
    await driver.end(current.connection);
  });
};

const lend = async <Connection, R>(
  driver: Driver<Connection>,
  connection: Connection,
  drop: () => void,
  work: (connection: Connection) => Promise<R>,
  settings: LoanSettings,
): Promise<R> => {
  const { timeoutMs } = settings;
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
    await driver.begin(connection, settings);
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
