/**
 * Own dashboards: after any sequence of writes by users of two clients, each reader lists exactly the user's own boards
 * and those that users of the same client share, and sees on each only cards that its token opens on the dashboard.
 */
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { GuestCaller } from '../../src/model/guest/caller.js';
import { Refusal } from '../../src/model/refusal.js';
import { createGuestMetric } from '../../src/service/guest/metrics.js';
import {
  createGuestBoard,
  deleteGuestBoard,
  getGuestBoard,
  listGuestBoards,
  updateGuestBoard,
} from '../../src/service/guest/own-boards.js';
import { publishGuestMetric } from '../../src/service/guest/own-metrics.js';
import { getGuestDashboard } from '../../src/service/guest/reads.js';
import { tableRef } from '../engine/world.js';
import { createWorld, settings, type World } from '../service/world.js';
import { countOfCases } from './count.js';

const numRuns = Math.ceil(countOfCases(2000, 2000) / 50);
const seed = Number(process.env.ISOLATION_SEED ?? 20_261_125);

const clients = ['a', 'b'] as const;
const users = ['ann', 'ben', null] as const;
/** The metrics of the host that a token hides. */
const hidings = [[], ['two'], ['board-count', 'three']] as const;
type Guest = {
  readonly client: (typeof clients)[number];
  readonly user: (typeof users)[number];
  readonly hides: (typeof hidings)[number];
  readonly shares: boolean;
};

let world: World;
let embedId: string;
const guests = new Map<string, GuestCaller>();
const callerOf = ({ client, user, hides, shares }: Guest): GuestCaller => {
  const caller = guests.get(JSON.stringify([client, user, hides, shares]));
  if (caller === undefined) throw new Error('no such guest');
  return caller;
};
/** The token of the same user that hides nothing. */
const whole = (guest: Guest): Guest => ({ ...guest, hides: [], shares: true });

/** Host metrics on one dashboard that all clients share, and a private metric of each user. */
const made: { readonly metricId: string; readonly client: string; readonly user: string }[] = [];

const mintAll = async (): Promise<void> => {
  const permissions = { isEnableCreateDashboard: true, isDisableMetricCreation: false };
  for (const client of clients)
    for (const user of users)
      for (const hides of hidings)
        for (const shares of [true, false]) {
          const hidden = hides.length === 0 ? [] : [{ dashboardId: 'board', metricIds: [...hides] }];
          const named = user === null ? {} : { userIdentifier: user };
          const params = { ...named, allowedEmbeds: [embedId], hideDashboardMetrics: hidden };
          const granted = { clientId: client, permissions: { ...permissions, isEnableManageMetrics: shares } };
          guests.set(JSON.stringify([client, user, hides, shares]), await world.mint(params, granted));
        }
};

beforeAll(async () => {
  world = await createWorld();
  const { store, deps } = world;
  const { id } = await world.template('board', { isAllowPrivateMetricsByDefault: true });
  const first = await store.metrics.findById('board-count');
  if (first === undefined) throw new Error('the board has no metric');
  const placed = ['board-count', 'two', 'three'].map((metricId) => ({ metricId, placement: 'METRIC' as const }));
  for (const metricId of ['two', 'three']) await store.metrics.insert({ ...first, metricId });
  await store.dashboards.placeMetrics(id, placed, deps.clock.now());
  const allowed = { isAllowManageMetrics: true, isAllowMetricCreation: true, isAllowDashboardCreation: true };
  embedId = await world.embed('board', undefined, { ...settings, ...allowed });
  await mintAll();
  for (const client of clients)
    for (const user of ['ann', 'ben'] as const) {
      const definition = {
        chart: { type: 'singleValue' as const },
        from: tableRef('sales'),
        measures: [{ name: 'Sales', aggregate: 'COUNT' as const }],
      };
      const caller = callerOf({ client, user, hides: [], shares: true });
      const view = await createGuestMetric(deps)(caller, { dashboardId: embedId, name: `of ${user}`, definition });
      made.push({ metricId: view.metricId, client, user });
    }
});
afterAll(() => world.close());

const aGuest: fc.Arbitrary<Guest> = fc.record({
  client: fc.constantFrom(...clients),
  user: fc.constantFrom('ann', 'ben', 'ann', 'ben', null),
  hides: fc.constantFrom(...hidings),
  shares: fc.constantFrom(true, true, false),
});
const aStep = fc.record({
  by: aGuest,
  does: fc.constantFrom('make', 'make', 'make', 'change', 'share', 'share', 'unshare', 'delete', 'publish'),
  /** Which metrics, of all that there are, and which board, of all that were made. */
  cards: fc.uniqueArray(fc.nat(6), { maxLength: 5 }),
  at: fc.nat(5),
  isShared: fc.constantFrom(true, true, false),
  /** Whether the guest names metrics and boards that its token may not open. */
  guesses: fc.constantFrom(false, false, true),
});
type Step = typeof aStep extends fc.Arbitrary<infer Value> ? Value : never;

type Known = {
  readonly id: string;
  readonly client: string;
  readonly user: string | null;
  version: number;
  cards: readonly string[];
  isShared: boolean;
};
let known: Known[] = [];

const openTo = async (guest: Guest): Promise<ReadonlySet<string>> =>
  new Set(
    (await getGuestDashboard(world.deps)(callerOf(guest), { dashboardId: embedId })).metrics.map(
      ({ metricId }) => metricId,
    ),
  );

const tried = async (work: Promise<unknown>): Promise<boolean> => {
  try {
    await work;
    return true;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return false;
  }
};

const layoutOf = (metricIds: readonly string[]) => metricIds.map((metricId, y) => ({ metricId, x: 0, y, w: 6, h: 1 }));
const chosen = ({ cards, guesses }: Step, open: ReadonlySet<string>): readonly string[] => {
  const all = ['board-count', 'two', 'three', ...made.map(({ metricId }) => metricId)];
  return cards.flatMap((at) => all[at] ?? []).filter((metricId) => guesses || open.has(metricId));
};

let names = 0;
const make = async (step: Step): Promise<void> => {
  const open = await openTo(step.by);
  const cards = chosen(step, open);
  names += 1;
  const { client, user, shares } = step.by;
  const input = { dashboardId: embedId, name: `n${names}`, layout: layoutOf(cards), isShared: step.isShared };
  let id = '';
  const isMade = await tried(createGuestBoard(world.deps)(callerOf(step.by), input).then((board) => (id = board.id)));
  const mayMake = user !== null && cards.every((card) => open.has(card)) && (shares || !step.isShared);
  expect(isMade, JSON.stringify(step)).toBe(mayMake);
  if (isMade) known.push({ id, client, user, version: 1, cards, isShared: step.isShared });
};

/** Another user's board is only taken back, and only while it is shared and by one who may share. */
const mayChange = ({ by, does }: Step, board: Known, isOpen: boolean): boolean => {
  if (by.user === null || board.client !== by.client) return false;
  const isOwn = board.user === by.user;
  if (!isOwn && (!board.isShared || does !== 'unshare')) return false;
  return (by.shares || (!board.isShared && does !== 'share')) && isOpen;
};

const change = async (step: Step, board: Known): Promise<void> => {
  const { by, does } = step;
  const [open, all] = [await openTo(by), await openTo(whole(by))];
  const cards = chosen(step, open);
  const parts = does === 'change' ? { layout: layoutOf(cards) } : { isShared: does === 'share' };
  const input = { dashboardId: embedId, boardId: board.id, version: board.version, ...parts };
  const isChanged = await tried(updateGuestBoard(world.deps)(callerOf(by), input));
  const isOpen = does !== 'change' || cards.every((card) => open.has(card));
  expect(isChanged, JSON.stringify([step, board])).toBe(mayChange(step, board, isOpen));
  if (!isChanged) return;
  board.version += 1;
  if (does === 'change') board.cards = [...cards, ...board.cards.filter((card) => !open.has(card) && all.has(card))];
  else board.isShared = does === 'share';
};

const take = async (step: Step): Promise<void> => {
  const { by, does } = step;
  if (does === 'make') return make(step);
  if (does === 'publish') {
    const metricId = made[step.at % made.length]?.metricId ?? '';
    await tried(publishGuestMetric(world.deps)(callerOf(by), { metricId, isPublished: step.isShared }));
    return;
  }
  // Most steps are about an own board: those about a board of others are refused but for one.
  const isOwnOf = ({ client, user }: Known): boolean => client === by.client && user === by.user;
  const among = step.guesses ? known : known.filter(isOwnOf);
  const board = among[step.at % Math.max(among.length, 1)];
  if (board === undefined) return;
  if (does !== 'delete') return change(step, board);
  const isGone = await tried(deleteGuestBoard(world.deps)(callerOf(by), { dashboardId: embedId, boardId: board.id }));
  const isOwn = by.user !== null && board.client === by.client && board.user === by.user;
  expect(isGone, JSON.stringify([step, board])).toBe(isOwn && (by.shares || !board.isShared));
  if (isGone) known = known.filter((one) => one !== board);
};

const clear = async (): Promise<void> => {
  known = [];
  for (const client of clients)
    for (const user of ['ann', 'ben'] as const) {
      const caller = callerOf({ client, user, hides: [], shares: true });
      for (const { id, isOwn } of await listGuestBoards(world.deps)(caller, { dashboardId: embedId }))
        if (isOwn) await deleteGuestBoard(world.deps)(caller, { dashboardId: embedId, boardId: id });
      for (const { metricId, ...of } of made)
        if (of.client === client && of.user === user)
          await publishGuestMetric(world.deps)(caller, { metricId, isPublished: false });
    }
};

const someReaders = fc.array(aGuest, { minLength: 4, maxLength: 4 });

/** Checks all that the reader sees. Returns how many boards were shared ones, and how many lacked cards. */
const readAs = async (reader: Guest): Promise<{ readonly shared: number; readonly cut: number }> => {
  const [caller, open, on] = [callerOf(reader), await openTo(reader), { dashboardId: embedId }];
  const { client: ofClient, user: ofUser } = reader;
  const seen = known.filter(
    ({ client, user, isShared }) => client === ofClient && (isShared || (user !== null && user === ofUser)),
  );
  const listed = await listGuestBoards(world.deps)(caller, on);
  expect(listed.map(({ id }) => id).toSorted()).toEqual(seen.map(({ id }) => id).toSorted());
  let [shared, cut] = [0, 0];
  for (const board of known) {
    const asked = getGuestBoard(world.deps)(caller, { ...on, boardId: board.id });
    if (!seen.includes(board)) {
      await expect(asked).rejects.toMatchObject({ code: 'BOARD_NOT_FOUND' });
      continue;
    }
    const { layout, isOwn } = await asked;
    const cards = board.cards.filter((card) => open.has(card));
    expect(layout.map(({ metricId }) => metricId)).toEqual(cards);
    if (!isOwn) shared += 1;
    if (cards.length < board.cards.length) cut += 1;
  }
  return { shared, cut };
};

test('a reader sees exactly the own boards and those shared in the client, with the cards that the token opens', async () => {
  let shared = 0;
  let cut = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(aStep, { minLength: 4, maxLength: 10 }), someReaders, async (steps, readers) => {
      await clear();
      for (const step of steps) await take(step);
      for (const reader of readers) {
        const seen = await readAs(reader);
        shared += seen.shared;
        cut += seen.cut;
      }
    }),
    { seed, numRuns },
  );
  // Without shared boards, and boards with cards that their reader does not see, the cases would test nothing.
  if (numRuns < 40) return;
  expect(shared).toBeGreaterThan(numRuns / 10);
  expect(cut).toBeGreaterThan(numRuns / 20);
}, 600_000);

test('a user who may not share cannot share an own board either', async () => {
  const caller = callerOf({ client: 'a', user: 'ann', hides: hidings[0], shares: false });
  const on = { dashboardId: embedId };
  const { id } = await createGuestBoard(world.deps)(caller, { ...on, name: 'Kept', layout: [] });
  const shares = updateGuestBoard(world.deps)(caller, { ...on, boardId: id, version: 1, isShared: true });
  await expect(shares).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
});

test('a shared board is deleted by the user who made it, and by nobody else', async () => {
  const [ann, ben] = (['ann', 'ben'] as const).map((user) =>
    callerOf({ client: 'a', user, hides: hidings[0], shares: true }),
  ) as [ReturnType<typeof callerOf>, ReturnType<typeof callerOf>];
  const on = { dashboardId: embedId };
  const { id } = await createGuestBoard(world.deps)(ann, { ...on, name: 'Shared', layout: [], isShared: true });
  const deleted = (caller: typeof ann) => deleteGuestBoard(world.deps)(caller, { ...on, boardId: id });
  await expect(deleted(ben)).rejects.toMatchObject({ code: 'BOARD_NOT_FOUND' });
  expect((await listGuestBoards(world.deps)(ben, on)).map((board) => board.id)).toContain(id);
  await expect(deleted(ann)).resolves.toEqual({ id });
});
