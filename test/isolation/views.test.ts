/**
 * Saved views: what a guest reads of them holds no value that only rows hold which its token does not see, whoever of
 * its client saved or changed the view, and nothing of other clients.
 */
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { GuestCaller } from '../../src/model/guest/caller.js';
import { Refusal } from '../../src/model/refusal.js';
import { getGuestDashboard } from '../../src/service/guest/reads.js';
import { createGuestView, deleteGuestView, listGuestViews, updateGuestView } from '../../src/service/guest/views.js';
import { columnRef } from '../engine/world.js';
import { createWorld, salesCount, settings, type World } from '../service/world.js';
import { countOfCases } from './count.js';

const numRuns = Math.ceil(countOfCases(2000, 2000) / 40);
const seed = Number(process.env.ISOLATION_SEED ?? 20_261_124);

const clients = ['a', 'b'] as const;
const users = ['ann', 'ben', null] as const;
/** The states that the tokens of a user see; null: all. */
const restrictions = [null, ['CA'], ['NV', 'NY']] as const;
type Restriction = (typeof restrictions)[number];

let world: World;
const metricId = 'board-count';
const guests = new Map<string, GuestCaller>();
const keyOf = (client: string, user: string | null, states: Restriction) => JSON.stringify([client, user, states]);
const guestOf = (client: string, user: string | null, states: Restriction): GuestCaller => {
  const guest = guests.get(keyOf(client, user, states));
  if (guest === undefined) throw new Error('no such guest');
  return guest;
};
/** Conditions on rows restrict one user, values of a filter the others. */
const restrictedTo = (states: readonly string[], user: string | null) =>
  user === 'ben'
    ? { rlsSettings: [{ metricId, values: { state: [...states] } }] }
    : { dashboardAppFilters: [{ dashboardId: 'board', values: { State: [...states] }, isShowOnUrl: user === null }] };

beforeAll(async () => {
  world = await createWorld();
  const rlsVariables = [{ name: 'state', column: columnRef('shops.state'), isOptional: true }];
  await world.template('board', {}, { ...salesCount, rlsVariables });
  const open = { ...settings, isAllowManageMetrics: true, isAllowCreateDashboardView: true };
  const embed = await world.embed('board', undefined, open);
  const permissions = { isEnableManageMetrics: true, isEnableCreateDashboardView: true };
  for (const clientId of clients)
    for (const userIdentifier of users)
      for (const states of restrictions) {
        const restricted = states === null ? {} : restrictedTo(states, userIdentifier);
        const named = userIdentifier === null ? {} : { userIdentifier };
        const params = { ...named, allowedEmbeds: [embed], ...restricted };
        guests.set(keyOf(clientId, userIdentifier, states), await world.mint(params, { clientId, permissions }));
      }
});
afterAll(() => world.close());

const someStates = fc.subarray(['CA', 'NV', 'NY'], { minLength: 1 });
const aGuest = fc.record({
  client: fc.constantFrom(...clients),
  user: fc.constantFrom(...users),
  states: fc.constantFrom(...restrictions),
});
/** A choice of values that the guest's own list of values shows. */
const aStep = fc.record({
  by: aGuest,
  does: fc.constantFrom('save', 'save', 'change', 'share'),
  states: fc.option(someStates),
  shop: fc.option(fc.constantFrom('s1', 's2', 's3')),
  flags: fc.record({ isShared: fc.boolean(), isDefault: fc.boolean() }),
  at: fc.nat(5),
});
type Step = typeof aStep extends fc.Arbitrary<infer Value> ? Value : never;

/** The shops of `world`, by their state. */
const stateOf = { s1: 'CA', s2: 'NV', s3: 'NY' } as const;
const sees = (states: Restriction, state: string): boolean =>
  states === null || (states as readonly string[]).includes(state);

/** The choices of a step that the guest's own lists of values offer. */
const choicesOf = ({ by, states, shop }: Step) => {
  const seen = (states ?? []).filter((state) => sees(by.states, state));
  return {
    ...(states === null ? {} : { dashboardFilter: seen.length === 0 ? {} : { State: seen } }),
    ...(shop === null ? {} : { metricFilter: sees(by.states, stateOf[shop]) ? { [metricId]: { Shop: shop } } : {} }),
  };
};

const quietly = async (work: Promise<unknown>): Promise<void> => {
  try {
    await work;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
  }
};

let names = 0;
const take = async (step: Step): Promise<void> => {
  const { client, user, states } = step.by;
  const guest = guestOf(client, user, states);
  const on = { dashboardId: 'board' };
  if (step.does === 'save') {
    names += 1;
    return quietly(createGuestView(world.deps)(guest, { ...on, name: `v${names}`, ...choicesOf(step), ...step.flags }));
  }
  const views = await listGuestViews(world.deps)(guest, on);
  const view = views[step.at % Math.max(views.length, 1)];
  if (view === undefined) return;
  const change = step.does === 'share' ? step.flags : choicesOf(step);
  return quietly(updateGuestView(world.deps)(guest, { ...on, viewId: view.id, ...change }));
};

/** The states that a text tells: those named, and those of the shops that are named. */
const toldBy = (text: string): readonly string[] =>
  Object.entries(stateOf).flatMap(([shop, state]) =>
    text.includes(`"${shop}"`) || text.includes(`"${state}"`) ? [state] : [],
  );

const clear = async (): Promise<void> => {
  for (const client of clients)
    for (const user of users) {
      const guest = guestOf(client, user, null);
      for (const view of await listGuestViews(world.deps)(guest, { dashboardId: 'board' }))
        await deleteGuestView(world.deps)(guest, { dashboardId: 'board', viewId: view.id });
    }
};

test('a guest reads no value that only rows hold which its token does not see', async () => {
  let read = 0;
  let told = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(aStep, { minLength: 2, maxLength: 8 }), aGuest, async (steps, reader) => {
      await clear();
      for (const step of steps) await take(step);
      const guest = guestOf(reader.client, reader.user, reader.states);
      const views = await listGuestViews(world.deps)(guest, { dashboardId: 'board' });
      const opened = await getGuestDashboard(world.deps)(guest, { dashboardId: 'board' });
      // A user's own view holds what this user chose, by whichever token. Tokens without a user have views in common.
      const ofOthers = [...views, ...(opened.defaultView === null ? [] : [opened.defaultView])].filter(
        (view) => !view.isOwn || reader.user === null,
      );
      read += ofOthers.length;
      for (const state of toldBy(JSON.stringify(ofOthers))) {
        told += 1;
        expect(sees(reader.states, state), `${state} is told to ${JSON.stringify(reader)}`).toBe(true);
      }
      expect(JSON.stringify(views)).not.toContain('savedUnder');
    }),
    { seed, numRuns },
  );
  // Without shared views that hold values, the cases would test nothing.
  if (numRuns < 50) return;
  expect(read).toBeGreaterThan(numRuns / 5);
  expect(told).toBeGreaterThan(numRuns / 20);
}, 600_000);
