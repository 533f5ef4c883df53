/**
 * The time of the metadata database, which the replicas of an installation share: leases and due moments go by it, so
 * that a replica whose own clock is wrong does nothing early, late or twice. It is read now and then and counted on from
 * there by elapsed time, which no change of a clock moves.
 */
import { type Kysely, sql } from 'kysely';
import type { Log } from '../../model/log-events.js';
import type { Clock } from '../../model/ports.js';
import { repeat, systemTiming, type Timing } from '../work/time.js';

export type DatabaseClock = {
  readonly clock: Clock;
  /** Milliseconds by which the process's own clock is ahead of the database's; negative: behind. */
  readonly skewMs: () => number;
  readonly close: () => Promise<void>;
};

export type DatabaseClockOptions = {
  /** Reads the database's time. */
  readonly read: () => Promise<Date>;
  /** The process's own clock. */
  readonly clock: Clock;
  readonly log: Pick<Log, 'info' | 'warn'>;
  readonly timing?: Timing;
};

const readEveryMs = 10_000;
/** Milliseconds of skew that are reported. */
export const tolerableSkewMs = 2_000;
/** An answer that took longer says too little about the time. */
const slowestReadMs = 1_000;

type Sample = { readonly databaseMs: number; readonly atMs: number; readonly roundTripMs: number };

export const readDatabaseTime = async (db: Kysely<unknown>): Promise<Date> => {
  const { rows } = await sql<{ at: Date }>`select clock_timestamp() as at`.execute(db);
  const [row] = rows;
  if (row === undefined) throw new Error('the database gave no time');
  return row.at;
};

const sampleOf = async ({ read, timing = systemTiming }: DatabaseClockOptions): Promise<Sample> => {
  const beganMs = timing.nowMs();
  const at = await read();
  const roundTripMs = timing.nowMs() - beganMs;
  return { databaseMs: at.getTime() + roundTripMs / 2, atMs: beganMs + roundTripMs, roundTripMs };
};

/** Rejects if the database cannot be read. */
export const openDatabaseClock = async (options: DatabaseClockOptions): Promise<DatabaseClock> => {
  const { clock: own, log, timing = systemTiming } = options;
  let sample = await sampleOf(options);
  let isReported = false;
  const nowMs = (): number => sample.databaseMs + timing.nowMs() - sample.atMs;
  const skewMs = (): number => Math.round(own.now().getTime() - nowMs());
  const report = (): void => {
    const isSkewed = Math.abs(skewMs()) > tolerableSkewMs;
    if (isSkewed && !isReported)
      log.warn(
        { event: 'clock.skewed', skewMs: skewMs() },
        "the clock of this process differs from the metadata database's; leases and schedules go by the database's",
      );
    if (!isSkewed && isReported)
      log.info({ event: 'clock.agrees' }, "the clock agrees with the metadata database's again");
    isReported = isSkewed;
  };
  report();
  const refresh = async (): Promise<void> => {
    try {
      const next = await sampleOf(options);
      if (next.roundTripMs <= Math.max(slowestReadMs, sample.roundTripMs)) sample = next;
    } catch {
      // The database cannot be reached, which others log. The time is counted on from the last reading.
    }
    report();
  };
  const stop = repeat(timing, readEveryMs, refresh);
  return { clock: { now: () => new Date(nowMs()) }, skewMs, close: stop };
};
