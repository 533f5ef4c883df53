/** Slowness is not death: how long a process may be silent before another one takes over its work. */
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { attachLedger, type Ledger, type LedgerTables, openLedger } from '../../src/gateway/ledger/ledger.js';
import { leastSilenceMs, silenceAfter } from '../../src/gateway/ledger/processes.js';
import { createTakeover } from '../../src/gateway/ledger/takeover.js';
import type { Database } from '../../src/platform/databases/database.js';
import type { Timing } from '../../src/platform/work/time.js';
import { openTestDatabase } from '../suites/metadata.js';
import { captureLog } from './harness.js';

let database: Database;
beforeAll(async () => {
  database = await openTestDatabase();
  await openLedger(database.connect<LedgerTables>());
});
afterAll(() => database.close());

let judge: Ledger;
let other: Ledger;
beforeEach(async () => {
  const db = database.connect<LedgerTables>();
  await db.withSchema('guestlist_gateway').deleteFrom('processes').execute();
  judge = await attachLedger(db, true);
  other = await attachLedger(db, true);
});

/** Makes the other process silent for this long, by the database's clock. */
const silentFor = async (ms: number): Promise<void> => {
  await other.db
    .updateTable('processes')
    .set({ beat_at: sql<Date>`now() - make_interval(secs => ${ms / 1000}::double precision)` })
    .where('process_id', '=', other.self.id())
    .execute();
};

const silenceOf = async ({ self, db }: Ledger): Promise<number> => {
  const row = db.selectFrom('processes').select('silence_ms').where('process_id', '=', self.id());
  return (await row.executeTakeFirstOrThrow()).silence_ms;
};

it('a process is dead once it was silent for longer than it said', async () => {
  await other.self.beat(false, 20_000);
  await silentFor(19_000);
  expect((await judge.self.beat(true)).dead).toBe(0);
  await silentFor(21_000);
  expect((await judge.self.beat(true)).dead).toBe(1);
});

it('a judge that is slow itself waits as long for others as for itself', async () => {
  await silentFor(19_000);
  expect((await judge.self.beat(true, 20_000)).dead).toBe(0);
  expect((await judge.self.beat(true, leastSilenceMs)).dead).toBe(1);
});

it('a process that says nothing of it, as those of an earlier version, may be silent for the least time', async () => {
  expect(await silenceOf(other)).toBe(leastSilenceMs);
  await silentFor(leastSilenceMs - 1_000);
  expect((await judge.self.beat(true)).dead).toBe(0);
});

it('a process that was taken for dead is one process again, with the time that it asked for', async () => {
  await other.self.beat(false, 20_000);
  await silentFor(60_000);
  await judge.self.beat(true);
  // The timer and a lease that finds the process missing beat at the same moment.
  const beats = await Promise.all([other.self.beat(true), other.self.beat(false)]);
  expect(beats.map(({ wasDead }) => wasDead)).toEqual([true, false]);
  expect(await silenceOf(other)).toBe(20_000);
  expect(await other.db.selectFrom('processes').select('process_id').execute()).toHaveLength(2);
});

it('the time grows with the delay, between the least and a minute', () => {
  expect([0, 900, 2_500, 100_000].map(silenceAfter)).toEqual([leastSilenceMs, leastSilenceMs, 12_500, 60_000]);
});

/** A timing whose timers a test fires itself, as late as it likes. */
const createHandTiming = () => {
  let nowMs = 0;
  let waiting: (() => void) | undefined;
  let armed = (): void => {};
  const timing: Timing = {
    nowMs: () => nowMs,
    after: (_, run) => {
      waiting = run;
      armed();
      return () => {
        waiting = undefined;
      };
    },
  };
  return {
    timing,
    /** Resolves once a timer waits. */
    waits: () =>
      new Promise<void>((resolve) => {
        armed = resolve;
        if (waiting !== undefined) resolve();
      }),
    /** Fires the timer after this time. */
    fire: (afterMs: number): void => {
      nowMs += afterMs;
      const run = waiting;
      waiting = undefined;
      run?.();
    },
  };
};

it('a heartbeat that came late makes the process ask for more time, and asks for less again after some on time', async () => {
  const { timing, fire, waits } = createHandTiming();
  const { log } = captureLog();
  const beats: Promise<unknown>[] = [];
  const beat: typeof judge.self.beat = (...given) => {
    const next = judge.self.beat(...given);
    beats.push(next);
    return next;
  };
  const takeover = createTakeover({ ledger: { ...judge, self: { ...judge.self, beat } }, finish: [], log, timing });
  const beaten = async (): Promise<void> => {
    await waits();
    await beats.at(-1);
  };
  await beaten();
  expect(await silenceOf(judge)).toBe(leastSilenceMs);
  fire(500 + 4_000);
  await beaten();
  expect(await silenceOf(judge)).toBe(20_000);
  for (let count = 0; count < 200; count += 1) {
    fire(500);
    await beaten();
  }
  expect(await silenceOf(judge)).toBe(leastSilenceMs);
  await takeover.close();
});
