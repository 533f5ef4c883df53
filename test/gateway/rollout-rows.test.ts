/** The rows of a large roll-out are written and read in slices, with the same result as at once. */
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { beforeAll, expect, it } from 'vitest';
import type { ItemState } from '../../src/gateway/ledger/tables.js';
import { createRolloutLedger } from '../../src/gateway/rollout/ledger.js';
import type { RolloutLedger } from '../../src/gateway/rollout/model.js';
import { rolloutStatus } from '../../src/gateway/rollout/plan.js';
import { createMovableClock } from './harness.js';
import { openTestLedger } from './ledgers.js';

const count = 1_230;
const id = randomUUID();
const dashboardOf = (index: number): string => `delays--${String(index).padStart(6, '0')}`;
const states: readonly ItemState[] = ['waiting', 'conflict', 'applied'];

let ledger: RolloutLedger;
beforeAll(async () => {
  const opened = await openTestLedger();
  ledger = createRolloutLedger(opened, createMovableClock());
  const options = { canary: [], steps: [100], maxFailures: 0, onConflict: 'leave', isAdopting: false } as const;
  const rollout = {
    id,
    template: 'delays',
    version: 'v',
    workspace: 'w',
    options,
    state: 'running',
    startedBy: null,
  } as const;
  const items = Array.from({ length: count }, (_, index) => ({
    dashboardId: dashboardOf(index),
    tenantRef: `ref-${index}`,
    clientId: `client-${index}`,
    template: 'delays',
    version: null,
    cohort: 1,
  }));
  const version = { template: 'delays', version: 'v', content: '{}', label: null, recorded_at: new Date(0) };
  await opened.db.insertInto('template_versions').values(version).execute();
  await ledger.insert(rollout, items);
  await sql`update guestlist_gateway.rollout_items set conflicts = '[]',
    state = (array['waiting', 'conflict', 'applied'])[substr(dashboard_id, 9)::integer % 3 + 1]`.execute(opened.db);
});

const expected = (state: ItemState): readonly string[] =>
  Array.from({ length: count }, (_, index) => index)
    .filter((index) => states[index % 3] === state)
    .map(dashboardOf);

it('lists the ids of all dashboards in a state', async () => {
  expect(await ledger.listIds(id, ['waiting', 'conflict', 'applied'])).toHaveLength(count);
  expect(await ledger.listIds(id, ['waiting'], 1)).toEqual(expected('waiting'));
  expect(await ledger.listIds(id, ['failed'])).toEqual([]);
});

it('the status of a roll-out names every tenant that needs attention, at once or page by page', async () => {
  const whole = await rolloutStatus(ledger, id);
  expect(whole.tenants.map(({ dashboardId }) => dashboardId)).toEqual(expected('conflict'));
  expect(whole.next).toBeNull();
  const paged: unknown[] = [];
  for (let after: string | null = ''; after !== null; ) {
    const { tenants, next }: Awaited<ReturnType<typeof rolloutStatus>> = await rolloutStatus(ledger, id, {
      after,
      limit: 300,
    });
    expect(tenants.length).toBeLessThanOrEqual(300);
    paged.push(...tenants);
    after = next;
  }
  expect(paged).toEqual(whole.tenants);
});

it('a status that is read while the roll-out ends says that it ended, or that it is at work', async () => {
  const lease = await ledger.lease(id);
  let ended = false;
  // The roll-out ends after the first of the reads, whichever that is.
  const end = async (): Promise<void> => {
    if (ended) return;
    ended = true;
    await ledger.setState(id, 'finished');
    await lease?.release();
  };
  const ending: RolloutLedger = {
    ...ledger,
    find: async (...args) => {
      const found = await ledger.find(...args);
      await end();
      return found;
    },
    isLeased: async (...args) => {
      const isLeased = await ledger.isLeased(...args);
      await end();
      return isLeased;
    },
  };
  const { state, isAtWork } = await rolloutStatus(ending, id);
  expect(state === 'finished' || isAtWork).toBe(true);
});
