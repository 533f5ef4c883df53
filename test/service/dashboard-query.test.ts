import { expect, test } from 'vitest';
import type { GuestCaller } from '../../src/model/guest/caller.js';
import type { DashboardPart } from '../../src/model/guest/view.js';
import { Refusal } from '../../src/model/refusal.js';
import { asReady } from '../../src/service/guest/as-ready.js';
import { queryGuestDashboard } from '../../src/service/guest/dashboard-query.js';
import { revokeGuestTokens } from '../../src/service/guest-tokens/guest-token-admin.js';
import { stays } from '../engine/world.js';
import { createWorld, type World } from './world.js';

test("the guest's dashboard filter and the token's hold for each metric", async () => {
  const world = await createWorld();
  try {
    await world.template('board');
    const metricId = await world.clone('board', 'one');
    const query = async (caller: Awaited<ReturnType<typeof world.mint>>, dashboardFilter: Record<string, string>) => {
      const input = { dashboardId: 'one', dashboardFilter, metrics: [{ metricId }] };
      for await (const part of await queryGuestDashboard(world.deps)(caller, input, stays)) {
        if ('reply' in part) return Number(part.reply.answer.rows[0]?.Sales);
      }
      throw new Error('the metric has no answer');
    };
    const all = await query(await world.mint({}), {});
    const chosen = await query(await world.mint({}), { State: 'CA' });
    const values = { State: 'CA' };
    const caller = await world.mint({ dashboardAppFilters: [{ dashboardId: 'one', values, isShowOnUrl: true }] });
    expect([chosen < all, await query(caller, {})]).toEqual([true, chosen]);
  } finally {
    await world.close();
  }
});

const openGates = (count: number) => {
  const gates: (() => void)[] = [];
  const started: number[] = [];
  const jobs = Array.from({ length: count }, (_, index) => async () => {
    started.push(index);
    await new Promise<void>((open) => {
      gates[index] = open;
    });
    return index;
  });
  return { jobs, gates, started };
};

test('results come in the order in which they are ready, and six jobs run at a time', async () => {
  const { jobs, gates, started } = openGates(8);
  const results = asReady(jobs, 6, new AbortController().signal);
  const order: number[] = [];
  const first = results.next();
  expect(started).toEqual([0, 1, 2, 3, 4, 5]);
  gates[4]?.();
  order.push((await first).value ?? -1);
  expect(started).toEqual([0, 1, 2, 3, 4, 5, 6]);
  for (const index of [6, 0, 7, 1, 2, 3, 5]) {
    const next = results.next();
    await Promise.resolve();
    gates[index]?.();
    order.push((await next).value ?? -1);
  }
  expect(order).toEqual([4, 6, 0, 7, 1, 2, 3, 5]);
  expect((await results.next()).done).toBe(true);
});

test('no job starts after the caller has disconnected', async () => {
  const { jobs, gates, started } = openGates(8);
  const gone = new AbortController();
  const results = asReady(jobs, 6, gone.signal);
  const first = results.next();
  gone.abort();
  for (const open of gates) open();
  await first;
  for await (const _ of results) void _;
  expect(started).toEqual([0, 1, 2, 3, 4, 5]);
});

const late = new Date(Date.UTC(2024, 0, 2));
type Ended = readonly [how: string, code: string, end: (world: World, caller: GuestCaller) => Promise<Date>];
const endings: readonly Ended[] = [
  ['expires', 'TOKEN_EXPIRED', async () => late],
  [
    'is revoked',
    'AUTHENTICATION_ERROR',
    async ({ deps, api }, { grant: { clientId } }) => {
      await revokeGuestTokens(deps)(api(), { clientId });
      return deps.clock.now();
    },
  ],
];

test.each(endings)('a metric that waited is not read once the token %s', async (_, code, end) => {
  const world = await createWorld();
  try {
    await world.template('board');
    const metricId = await world.clone('board', 'one');
    let now = world.deps.clock.now();
    const deps = { ...world.deps, clock: { now: () => now } };
    const caller = await world.mint({}, { expiryTime: 3_600_000 });
    // A reader who takes one line and then waits keeps the last metric waiting.
    const metrics = [...Array.from({ length: 12 }, (__, at) => ({ metricId: `none-${at}` })), { metricId }];
    const parts = await queryGuestDashboard(deps)(caller, { dashboardId: 'one', metrics }, stays);
    const read: DashboardPart[] = [];
    for await (const part of parts) {
      if (read.length === 0) now = await end(world, caller);
      read.push(part);
    }
    const part = read.find((one) => one.metricId === metricId);
    const failure = part !== undefined && 'failure' in part ? part.failure : undefined;
    expect([part, failure instanceof Refusal ? failure.code : undefined]).toEqual([{ metricId, failure }, code]);
  } finally {
    await world.close();
  }
});
