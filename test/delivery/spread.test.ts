/**
 * Many schedules of one moment: each has its place in the window, and a tenant with most of them delays nobody else. On the
 * real ledger, with an injected clock.
 */
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { calendar } from '../../src/delivery/calendar.js';
import { createPlanner, leavesAt } from '../../src/delivery/planner.js';
import type { Store } from '../../src/service/store/store.js';
import { createStore } from '../../src/service/store/store.js';
import type { Tables } from '../../src/service/store/tables.js';
import { openTestDatabase, type TestDatabase } from '../suites/metadata.js';
import { isPostgresThere } from '../suites/postgres.js';
import { testSealer } from '../suites/sealer.js';
import { dashboardSample, insertOrganization } from '../suites/store-samples.js';
import { insertSchedules, mostInAMinute, sendMorning } from './morning.mjs';

const moment = new Date('2026-10-26T08:00:00Z');
/** The milliseconds after a moment at which a message of this key leaves. */
const spreadMs = (key: string, windowMs: number): number =>
  leavesAt(key, moment, windowMs, moment).getTime() - moment.getTime();

describe('a place in the window', () => {
  test('is the same at each moment, within the window, and never before now', () => {
    fc.assert(
      fc.property(
        fc.uuid(),
        fc.integer({ min: 1, max: 3_300_000 }),
        fc.integer({ min: 0, max: 1e7 }),
        (id, ms, late) => {
          const place = spreadMs(id, ms);
          expect(place).toBeGreaterThanOrEqual(0);
          expect(place).toBeLessThan(ms);
          const next = new Date(moment.getTime() + 3_600_000);
          expect(leavesAt(id, next, ms, next)).toEqual(new Date(next.getTime() + place));
          const now = new Date(moment.getTime() + late);
          expect(leavesAt(id, moment, ms, now).getTime()).toBe(Math.max(now.getTime(), moment.getTime() + place));
        },
      ),
    );
  });

  test.each([
    ['random ids', () => randomUUID() as string],
    ['ids that differ little', (index: number) => `one-schedule/${index}`],
  ])('is spread evenly over %s', (_, idOf) => {
    const buckets = new Array<number>(20).fill(0);
    for (let index = 0; index < 10_000; index += 1) {
      const at = spreadMs(idOf(index), 20);
      buckets[at] = (buckets[at] ?? 0) + 1;
    }
    // 500 are expected in each; a bucket leaves these bounds less than once in a billion runs.
    for (const found of buckets) expect(Math.abs(found - 500)).toBeLessThan(150);
  });
});

/** `window`, in seconds. Over its whole length the machine can send half of all messages. */
const sizes = { large: 450, tenants: 10, each: 5, window: 60, perSecond: 4, perMinute: 200 };

describe.skipIf(!(await isPostgresThere()))('a morning', () => {
  let database: TestDatabase;
  let store: Store;
  let place: { readonly dashboardId: string; readonly dataAppId: string };
  beforeAll(async () => {
    database = await openTestDatabase('postgres');
    store = createStore(database.connect<Tables>(), testSealer);
    const { workspace, owner } = await insertOrganization(store);
    const board = dashboardSample(workspace.id);
    await store.dashboards.insert(board);
    place = { dashboardId: board.id, dataAppId: owner.dataAppId };
  }, 60_000);
  afterAll(async () => {
    await database.close();
  });

  const { large, tenants, each, window, perSecond, perMinute } = sizes;
  const others = Array.from({ length: tenants }, (_, index) => `small-${index}`);

  /** Returns the second at which each message left, from an empty ledger. */
  const run = async (withLarge: boolean) => {
    await database.connect<Tables>().withSchema('guestlist').deleteFrom('schedules').execute();
    if (withLarge) await insertSchedules(store, { ...place, clientId: 'large', count: large, moment });
    for (const clientId of others) await insertSchedules(store, { ...place, clientId, count: each, moment });
    const ids = { uuid: randomUUID };
    const plan = createPlanner({ store, calendar, clock: { now: () => moment }, ids, spreadMs: window * 1000 });
    while ((await plan()) > 0);
    const { sent } = await sendMorning(store, { moment, seconds: window + 5, perSecond, perMinute });
    return sent;
  };

  test('one tenant that has nine of ten schedules of a morning delays the others by two seconds at most', async () => {
    const alone = new Map((await run(false)).map(({ scheduleId, second }) => [scheduleId, second]));
    expect(alone.size).toBe(tenants * each);
    const sent = await run(true);
    const left = new Map(sent.map(({ scheduleId, second }) => [scheduleId, second]));
    expect(sent).toHaveLength(left.size);
    for (const [id, second] of alone) {
      const due = Math.ceil(spreadMs(id, window * 1000) / 1000);
      expect(second, id).toBeGreaterThanOrEqual(due);
      expect((left.get(id) ?? Number.NaN) - second, id).toBeLessThanOrEqual(2);
    }
    // Nothing is idle meanwhile: the large tenant gets what the others leave, and no more than its rate.
    const ofLarge = sent.filter(({ clientId }) => clientId === 'large');
    expect(ofLarge.length).toBeGreaterThan(0);
    for (const { scheduleId, second } of ofLarge)
      expect(second * 1000).toBeGreaterThanOrEqual(spreadMs(scheduleId, window * 1000));
    expect(mostInAMinute(sent, 'large')).toBeLessThanOrEqual(perMinute);
  }, 600_000);
});
