/** Saved views that are shared, and the one that a dashboard opens with. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { getGuestDashboard } from '../../src/service/guest/reads.js';
import { createGuestView, deleteGuestView, listGuestViews, updateGuestView } from '../../src/service/guest/views.js';
import { columnRef } from '../engine/world.js';
import { createWorld, salesCount, settings, type World } from './world.js';

let world: World;
let dashboardId: string;
beforeAll(async () => {
  world = await createWorld();
  const rlsVariables = [{ name: 'state', column: columnRef('shops.state'), isOptional: true }];
  await world.template('board', {}, { ...salesCount, rlsVariables });
  const open = { ...settings, isAllowManageMetrics: true, isAllowCreateDashboardView: true };
  dashboardId = await world.embed('board', undefined, open);
});
afterAll(() => world.close());

const guest = (userIdentifier: string, clientId = 'a', params = {}, isEnableManageMetrics = true) =>
  world.mint(
    { userIdentifier, allowedEmbeds: [dashboardId], ...params },
    { clientId, permissions: { isEnableManageMetrics, isEnableCreateDashboardView: true } },
  );
const namesSeenBy = async (caller: Awaited<ReturnType<typeof guest>>) =>
  (await listGuestViews(world.deps)(caller, { dashboardId })).map(({ name }) => name);

test('users of the client see a shared view, and no view that is not shared; another client sees and changes none', async () => {
  const [mona, omar, other] = [await guest('mona'), await guest('omar'), await guest('mona', 'b')];
  const shared = await createGuestView(world.deps)(mona, { dashboardId, name: 'Shared', isShared: true });
  await createGuestView(world.deps)(mona, { dashboardId, name: 'Own' });
  expect([await namesSeenBy(mona), await namesSeenBy(omar), await namesSeenBy(other)]).toEqual([
    ['Own', 'Shared'],
    ['Shared'],
    [],
  ]);
  const named = { dashboardId, viewId: shared.id };
  const missing = { code: 'VIEW_NOT_FOUND' };
  await expect(updateGuestView(world.deps)(other, { ...named, isDefault: true })).rejects.toMatchObject(missing);
  await expect(deleteGuestView(world.deps)(other, named)).rejects.toMatchObject(missing);
  await deleteGuestView(world.deps)(omar, named);
});

test('a user without isEnableManageMetrics shares no view, and changes no shared one', async () => {
  const omar = await guest('omar', 'a', {}, false);
  const own = await createGuestView(world.deps)(omar, { dashboardId, name: 'Omar' });
  const shared = await createGuestView(world.deps)(await guest('mona'), { dashboardId, name: 'All', isShared: true });
  const refused = { code: 'UNAUTHORIZED' };
  for (const change of [
    { viewId: own.id, isShared: true },
    { viewId: shared.id, isDefault: true },
  ])
    await expect(updateGuestView(world.deps)(omar, { dashboardId, ...change })).rejects.toMatchObject(refused);
  await expect(deleteGuestView(world.deps)(omar, { dashboardId, viewId: shared.id })).rejects.toMatchObject(refused);
});

test('the view that the dashboard opens with has no filter that the token hides', async () => {
  const dashboardFilter = { State: ['TX'] };
  const opening = { dashboardId, name: 'First', dashboardFilter, isShared: true, isDefault: true };
  await createGuestView(world.deps)(await guest('mia'), opening);
  const openedBy = async (params: object) =>
    (await getGuestDashboard(world.deps)(await guest('nina', 'a', params), { dashboardId })).defaultView;
  expect(await openedBy({})).toMatchObject({ name: 'First', dashboardFilter });
  expect((await openedBy({ hideDashboardFilters: ['State'] }))?.dashboardFilter).toEqual({});
});

test('a token with a hidden filter, whose default restricts its rows, sees no value that another token chose', async () => {
  const values = { 'board-count': { Shop: 's2' } };
  const view = { dashboardId, name: 'One shop', metricFilter: values, isShared: true };
  const { id } = await createGuestView(world.deps)(await guest('xia'), view);
  const readBy = async (params: object) =>
    (await listGuestViews(world.deps)(await guest('will', 'a', params), { dashboardId })).find((one) => one.id === id)
      ?.metricFilter;
  expect(await readBy({})).toEqual(values);
  expect(await readBy({ hideDashboardFilters: ['State'] })).toEqual({ 'board-count': {} });
});

test('values chosen by a token that sees other rows stay with their user, also once another token changed a part', async () => {
  const seeing = (state: string) => ({
    dashboardAppFilters: [{ dashboardId: 'board', values: { State: [state] }, isShowOnUrl: true }],
  });
  const dashboardFilter = { State: ['NV'] };
  const view = { dashboardId, name: 'Nevada', dashboardFilter, metricFilter: {}, isShared: true };
  const { id } = await createGuestView(world.deps)(await guest('zoe', 'a', seeing('NV')), view);
  const readBy = async (user: string, params: object) =>
    (await listGuestViews(world.deps)(await guest(user, 'a', params), { dashboardId })).find((one) => one.id === id)
      ?.dashboardFilter;
  const isRead = async () => [
    await readBy('zoe', seeing('CA')),
    await readBy('yan', {}),
    await readBy('yan', seeing('NV')),
    await readBy('yan', seeing('CA')),
  ];
  expect(await isRead()).toEqual([dashboardFilter, dashboardFilter, dashboardFilter, {}]);
  const moved = await guest('zoe', 'a', seeing('CA'));
  await updateGuestView(world.deps)(moved, { dashboardId, viewId: id, filterNames: {}, metricFilter: {} });
  expect(await isRead()).toEqual([dashboardFilter, dashboardFilter, {}, {}]);
});

const metricId = 'board-count';
test.each([
  ['conditions on rows', (value: string) => ({ rlsSettings: [{ metricId, values: { state: [value] } }] })],
  ['filters of a metric', (value: string) => ({ appFilters: [{ metricId, values: { Shop: [value] } }] })],
])('tokens that differ by %s get no values of each other', async (kind, restricting) => {
  const metricFilter = { [metricId]: { Shop: 's2' } };
  const view = { dashboardId, name: kind, metricFilter, isShared: true };
  const { id } = await createGuestView(world.deps)(await guest('vera', 'a', restricting('NV')), view);
  const readBy = async (value: string) =>
    (await listGuestViews(world.deps)(await guest('uma', 'a', restricting(value)), { dashboardId })).find(
      (one) => one.id === id,
    )?.metricFilter;
  expect(await readBy('NV')).toEqual(metricFilter);
  expect(await readBy('CA')).toEqual({ [metricId]: {} });
});
