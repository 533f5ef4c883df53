/** The tag of an answer changes with the content, the client and the token's restrictions, and with nothing else. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { MetricDefinition } from '../../src/model/dashboard/metric.js';
import type { GuestCaller } from '../../src/model/guest/caller.js';
import type { DashboardPart } from '../../src/model/guest/view.js';
import { createTag } from '../../src/platform/caches/tags.js';
import { answerTag } from '../../src/service/guest/answer-tag.js';
import { queryGuestDashboard } from '../../src/service/guest/dashboard-query.js';
import { queryGuestMetric } from '../../src/service/guest/reads.js';
import { columnRef, metric, stays } from '../engine/world.js';
import { createWorld, type World } from './world.js';

/** The same answer for every client: the table is shared. */
const shops: MetricDefinition = metric('shops', {
  dimensions: [{ name: 'State', column: columnRef('shops.state') }],
  measures: [{ name: 'Shops', aggregate: 'COUNT' }],
  sort: [{ name: 'State', direction: 'ASC' }],
});

let world: World;
let ofA: string;
let ofB: string;
beforeAll(async () => {
  world = await createWorld();
  await world.template('board', {}, shops);
  ofA = await world.clone('board', 'one', 'a');
  ofB = await world.clone('board', 'two', 'b');
});
afterAll(() => world.close());

const ask = async (caller: GuestCaller, metricId = ofA, parts: object = {}) => {
  const query = { metricId, dashboardId: metricId === ofA ? 'one' : 'two', ...parts };
  return queryGuestMetric(world.deps)(caller, query, stays);
};

test('the tag of an answer is the same for a new token of the same restrictions, whatever the time', async () => {
  const first = await ask(await world.mint());
  const second = await ask(await world.mint({}, { expiryTime: 60_000 }));
  expect(second.tag).toBe(first.tag);
});

test('the tag of an answer differs where the content differs', async () => {
  const caller = await world.mint();
  const whole = await ask(caller);
  const part = await ask(caller, ofA, { dashboardFilter: { State: 'CA' } });
  expect(part.answer.rows.length).toBeLessThan(whole.answer.rows.length);
  expect(part.tag).not.toBe(whole.tag);
});

test('the tag of an answer differs by client, also where the content is the same', async () => {
  const a = await ask(await world.mint());
  const b = await ask(await world.mint({}, { clientId: 'b' }), ofB);
  expect(b.answer).toEqual(a.answer);
  expect(b.tag).not.toBe(a.tag);
  // A metric of the organization that both of them read.
  const tagOf = async (clientId: string) => answerTag(world.deps.tag, (await world.mint({}, { clientId })).grant, a);
  expect([await tagOf('a'), (await tagOf('b')) === a.tag]).toEqual([a.tag, false]);
});

test('the tag of an answer differs by user and by restriction, also where the content is the same', async () => {
  const tags = [
    await ask(await world.mint()),
    await ask(await world.mint({ userIdentifier: 'u1' })),
    await ask(await world.mint({ userIdentifier: 'u2' })),
    await ask(await world.mint({ timezone: 'Asia/Tokyo' })),
    await ask(
      await world.mint({
        dashboardAppFilters: [{ dashboardId: 'one', values: { State: ['CA', 'NV', 'NY'] }, isShowOnUrl: false }],
      }),
    ),
  ].map(({ tag, answer }) => [tag, answer.totalRecords] as const);
  expect(new Set(tags.map(([, total]) => total)).size).toBe(1);
  expect(new Set(tags.map(([tag]) => tag)).size).toBe(tags.length);
});

test('nobody without the key computes it', async () => {
  const reply = await ask(await world.mint());
  const other = createTag(Buffer.alloc(32, 8));
  const parts = [['x', 1], { a: null }];
  expect(await other(parts)).not.toBe(await world.deps.tag(parts));
  expect(await other(parts)).toBe(await createTag(Buffer.alloc(32, 8))(parts));
  expect(reply.tag).toMatch(/^[\w-]{43}$/);
});

test('parts are not joined: no other list of parts has the same tag', async () => {
  const { tag, shortTag } = world.deps;
  const lists = [[['a', 'b']], [['a'], ['b']], ['a', 'b'], ['ab'], ['a\nb'], [], ['']];
  expect(new Set(await Promise.all(lists.map((list) => tag(list)))).size).toBe(lists.length);
  // The short way gives the same tags: they are stored.
  expect(lists.map((list) => shortTag(list))).toEqual(await Promise.all(lists.map((list) => tag(list))));
});

test("another client's digest is answered with rows of one's own, as an unknown one", async () => {
  const read = async (caller: GuestCaller, metricId: string, digest: string): Promise<DashboardPart | undefined> => {
    const query = { dashboardId: caller.grant.clientId === 'a' ? 'one' : 'two', metrics: [{ metricId, digest }] };
    for await (const part of await queryGuestDashboard(world.deps)(caller, query, stays)) return part;
    return undefined;
  };
  const { tag } = await ask(await world.mint());
  const b = await world.mint({}, { clientId: 'b' });
  expect(await read(b, ofB, tag)).toHaveProperty('reply');
  expect(await read(b, ofA, tag)).toHaveProperty('failure');
  expect(await read(await world.mint(), ofA, tag)).toEqual({ metricId: ofA, digest: tag });
});
