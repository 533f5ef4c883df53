/** The time that replicas share is the database's, whatever their own clocks say. */
import { expect, test } from 'vitest';
import { openDatabaseClock } from '../../src/platform/databases/database-clock.js';
import type { Timing } from '../../src/platform/work/time.js';
import { captureLog } from '../gateway/harness.js';

const start = Date.parse('2026-03-01T12:00:00Z');
const minuteMs = 60_000;

/** A database, and a process with a clock of its own, over the same elapsed time. */
const createPlace = () => {
  let elapsedMs = 0;
  let answersAfterMs = 0;
  let isAway = false;
  let ownMs = 0;
  let run: (() => void) | undefined;
  const timing: Timing = {
    nowMs: () => elapsedMs,
    after: (_, next) => {
      run = next;
      return () => {
        run = undefined;
      };
    },
  };
  const { log, lines } = captureLog();
  return {
    lines,
    set: (given: { aheadMs?: number; answersAfterMs?: number; isAway?: boolean }) => {
      ownMs = given.aheadMs ?? ownMs;
      answersAfterMs = given.answersAfterMs ?? answersAfterMs;
      isAway = given.isAway ?? isAway;
    },
    pass: (ms: number) => {
      elapsedMs += ms;
    },
    /** Lets the next reading happen. */
    read: async () => {
      run?.();
      await new Promise((resolve) => setImmediate(resolve));
    },
    open: () =>
      openDatabaseClock({
        timing,
        log,
        clock: { now: () => new Date(start + elapsedMs + ownMs) },
        read: async () => {
          if (isAway) throw new Error('away');
          elapsedMs += answersAfterMs / 2;
          const at = new Date(start + elapsedMs);
          elapsedMs += answersAfterMs / 2;
          return at;
        },
      }),
    trueMs: () => start + elapsedMs,
  };
};

test('a process whose clock is twenty minutes ahead has the time of the database, and says by how much it differs', async () => {
  const place = createPlace();
  place.set({ aheadMs: 20 * minuteMs, answersAfterMs: 80 });
  const { clock, skewMs } = await place.open();
  place.pass(5_000);
  expect(clock.now().getTime()).toBe(place.trueMs());
  expect(skewMs()).toBe(20 * minuteMs);
  expect(place.lines).toMatchObject([{ event: 'clock.skewed', skewMs: 20 * minuteMs }]);
});

test('a clock that is set while the process runs changes nothing but the skew, which is told once and taken back', async () => {
  const place = createPlace();
  const { clock, skewMs } = await place.open();
  expect(place.lines).toEqual([]);
  place.set({ aheadMs: -3 * minuteMs });
  place.pass(10_000);
  await place.read();
  await place.read();
  expect([clock.now().getTime(), skewMs()]).toEqual([place.trueMs(), -3 * minuteMs]);
  place.set({ aheadMs: 0 });
  await place.read();
  expect(place.lines.map(({ event }) => event)).toEqual(['clock.skewed', 'clock.agrees']);
});

test('while the database is away, or answers too late to tell the time, the time is counted on', async () => {
  const place = createPlace();
  const { clock } = await place.open();
  place.set({ isAway: true });
  place.pass(10 * minuteMs);
  await place.read();
  expect(clock.now().getTime()).toBe(place.trueMs());
  place.set({ isAway: false, answersAfterMs: 30_000 });
  await place.read();
  expect(clock.now().getTime()).toBe(place.trueMs());
});
