/** Own dashboards of guests: made of the cards of a dashboard that the token opens, and read only through it. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { guestLimits } from '../../src/model/guest/metric.js';
import { boardOf, create, embedOf, everything, guest, openBoard, openSettings } from './guests.js';
import { call, type House, type Input, metricOf, noon, ok, openHouse, refused, setNow } from './house.js';

let house: House;
let ann: string;
let revenue: string;
let spare: string;
const dashboardId = 'acme-board';

beforeAll(async () => {
  house = await openHouse();
  await openBoard(house, dashboardId, 'acme');
  ann = await guest(house, 'acme', { userIdentifier: 'ann' });
  revenue = await metricOf(house, dashboardId, 'acme', 'revenue');
  spare = await metricOf(house, dashboardId, 'acme', 'spare');
});
beforeEach(() => setNow(noon));
afterAll(() => house.close());

const card = (metricId: string, y = 0) => ({ metricId, x: 0, y, w: 6, h: 2 });
const heading = { kind: 'heading', tileId: 'h', text: 'Mornings', x: 0, y: 9, w: 12, h: 1 };
const make = async (bearer: string, name: string, parts: Input = {}) =>
  (await ok(house, 'createGuestBoard', { dashboardId, name, layout: [card(revenue)], ...parts }, { bearer })).data;
const read = async (bearer: string, boardId: string, at = dashboardId) =>
  (await ok(house, 'getGuestBoard', { dashboardId: at, boardId }, { bearer })).data;
const listed = async (bearer: string) => (await ok(house, 'listGuestBoards', { dashboardId }, { bearer })).data;
const change = async (bearer: string, boardId: string, version: number, parts: Input) =>
  (await ok(house, 'updateGuestBoard', { dashboardId, boardId, version, ...parts }, { bearer })).data;
const user = (userIdentifier: string, params: Input = {}, permissions: Input = everything) =>
  guest(house, 'acme', { userIdentifier, ...params }, permissions);

test('a user makes, reads, changes and deletes one; two tabs do not overwrite each other', async () => {
  const made = await make(ann, 'Mine', { tiles: [heading] });
  expect(made).toEqual({
    ...{ id: expect.any(String), name: 'Mine', isShared: false, isOwn: true, version: 1 },
    ...{ layout: [card(revenue)], tiles: [heading] },
  });
  expect(await read(ann, made.id)).toEqual(made);
  const { id, name, isShared, isOwn } = made;
  expect(await listed(ann)).toEqual([{ id, name, isShared, isOwn }]);
  expect((await boardOf(house, ann, dashboardId)).boards).toEqual(await listed(ann));
  const changed = await change(ann, id, 1, { name: 'Ours', layout: [card(spare), card(revenue, 2)] });
  expect(changed).toEqual({ ...made, name: 'Ours', version: 2, layout: [card(spare), card(revenue, 2)] });
  const stale = { dashboardId, boardId: id, version: 1, name: 'Stale' };
  await refused('updateGuestBoard BOARD_CHANGED', house, stale, { bearer: ann });
  expect(await read(ann, id)).toEqual(changed);
  await make(ann, 'Second');
  const taken = { dashboardId, name: 'Ours', layout: [] };
  await refused('createGuestBoard BOARD_ALREADY_EXISTS', house, taken, { bearer: ann });
  const renamed = { dashboardId, boardId: id, version: 2, name: 'Second' };
  await refused('updateGuestBoard BOARD_ALREADY_EXISTS', house, renamed, { bearer: ann });
  for (const board of await listed(ann))
    await ok(house, 'deleteGuestBoard', { dashboardId, boardId: board.id }, { bearer: ann });
  expect(await listed(ann)).toEqual([]);
  const gone = { dashboardId, boardId: id };
  await refused('getGuestBoard BOARD_NOT_FOUND', house, gone, { bearer: ann });
  await refused('deleteGuestBoard BOARD_NOT_FOUND', house, gone, { bearer: ann });
  await refused('updateGuestBoard BOARD_NOT_FOUND', house, { ...gone, version: 2, name: 'x' }, { bearer: ann });
});

describe('both the token and the embed must allow it, and it belongs to a user', () => {
  const input = { dashboardId, name: 'Refused', layout: [] };

  test('a token that leaves the permission out, or names no user, makes none', async () => {
    const { isEnableCreateDashboard: _, ...others } = everything;
    for (const bearer of [await user('dan', {}, others), await guest(house, 'acme')]) {
      await refused('createGuestBoard UNAUTHORIZED', house, input, { bearer });
      expect((await boardOf(house, bearer, dashboardId)).permissions.isEnableCreateDashboard).toBe(false);
      expect((await boardOf(house, bearer, dashboardId)).boards).toBeUndefined();
    }
    expect((await boardOf(house, ann, dashboardId)).permissions.isEnableCreateDashboard).toBe(true);
  });

  test('an embed without the setting has none, whatever the token says', async () => {
    const { isAllowDashboardCreation: _, ...accessSettings } = openSettings;
    const closed = await embedOf(house, 'board', { accessSettings });
    const at = { ...input, dashboardId: closed };
    const one = { dashboardId: closed, boardId: 'any' };
    await refused('createGuestBoard UNAUTHORIZED', house, at, { bearer: ann });
    await refused('listGuestBoards UNAUTHORIZED', house, { dashboardId: closed }, { bearer: ann });
    await refused('getGuestBoard UNAUTHORIZED', house, one, { bearer: ann });
    const shown = await boardOf(house, ann, closed);
    expect(shown.boards).toBeUndefined();
    expect(shown.permissions.isEnableCreateDashboard).toBe(false);
  });

  test('a user who lost the permission still reads it, and changes nothing', async () => {
    const { id } = await make(await user('lea'), 'Kept');
    const later = await user('lea', {}, { ...everything, isEnableCreateDashboard: false });
    expect((await read(later, id)).name).toBe('Kept');
    const named = { dashboardId, boardId: id };
    await refused('updateGuestBoard UNAUTHORIZED', house, { ...named, version: 1, name: 'x' }, { bearer: later });
    await refused('deleteGuestBoard UNAUTHORIZED', house, named, { bearer: later });
  });
});

describe('it shows what its reader’s token shows', () => {
  test('a hidden metric is absent, cannot be added, and stays for a token that shows it', async () => {
    const { id } = await make(await user('eve'), 'Both', { layout: [card(revenue), card(spare, 2)] });
    const hide = { hideDashboardMetrics: [{ dashboardId, metricIds: [spare] }] };
    const hiding = await user('eve', hide);
    expect((await read(hiding, id)).layout).toEqual([card(revenue)]);
    const adds = { dashboardId, boardId: id, version: 1, layout: [card(spare)] };
    const unknown = { ...adds, layout: [card('nowhere')] };
    const texts = [];
    for (const input of [adds, unknown])
      texts.push(await refused('updateGuestBoard UNAUTHORIZED', house, input, { bearer: hiding }));
    expect(texts[0]).toBe(texts[1]);
    expect((await change(hiding, id, 1, { layout: [card(revenue, 5)] })).layout).toEqual([card(revenue, 5)]);
    expect((await read(await user('eve'), id)).layout).toEqual([card(revenue, 5), card(spare, 2)]);
  });

  test('a card is queried through the dashboard: the token’s restrictions hold, and no board changes them', async () => {
    const region = { dashboardAppFilters: [{ dashboardId, values: { Region: ['north'] } }] };
    const [whole, north] = [await user('max'), await user('max', region)];
    await make(whole, 'Numbers');
    const rowsOf = async (bearer: string) =>
      (await ok(house, 'queryGuestMetric', { dashboardId, metricId: revenue }, { bearer })).data;
    expect(await rowsOf(north)).not.toEqual(await rowsOf(whole));
  });

  test('a dashboard that is no longer granted has no boards to list or open', async () => {
    const { id } = await make(ann, 'Left');
    const elsewhere = await embedOf(house, 'board');
    const bearer = await user('ann', { allowedEmbeds: [elsewhere] });
    await refused('listGuestBoards UNAUTHORIZED', house, { dashboardId }, { bearer });
    await refused('getGuestBoard UNAUTHORIZED', house, { dashboardId, boardId: id }, { bearer });
    const through = { dashboardId: elsewhere, boardId: id };
    await refused('getGuestBoard BOARD_NOT_FOUND', house, through, { bearer });
  });

  test('a private metric of its maker is absent for the readers of a shared one', async () => {
    const mona = await user('mona');
    const own = await create(house, mona, dashboardId, 'Of Mona');
    const { id } = await make(mona, 'With an own metric', { layout: [card(own), card(revenue, 2)], isShared: true });
    expect((await read(mona, id)).layout).toHaveLength(2);
    expect((await read(await user('otto'), id)).layout).toEqual([card(revenue, 2)]);
    const asked = await call(house, 'queryGuestMetric', { dashboardId, metricId: own }, { bearer: await user('otto') });
    expect(asked.status).toBe(403);
  });
});

describe('sharing', () => {
  const reading = { ...everything, isEnableManageMetrics: false };

  test('needs isEnableManageMetrics; all users of the client see it, and nobody else', async () => {
    const [mia, omar] = [await user('mia'), await user('omar', {}, reading)];
    const { id } = await make(mia, 'For all', { isShared: true });
    expect(await read(omar, id)).toMatchObject({ name: 'For all', isShared: true, isOwn: false });
    expect(await read(await guest(house, 'acme'), id)).toMatchObject({ name: 'For all' });
    const shared = await embedOf(house, 'board');
    const mine = { dashboardId: shared, name: 'Of the organization’s', layout: [], isShared: true };
    const { data } = await ok(house, 'createGuestBoard', mine, { bearer: mia });
    const stranger = await guest(house, 'globex', { userIdentifier: 'mia' });
    expect((await boardOf(house, stranger, shared)).boards).toEqual([]);
    const named = { dashboardId: shared, boardId: data.id };
    await refused('getGuestBoard BOARD_NOT_FOUND', house, named, { bearer: stranger });
    const takes = { ...named, version: 1, isShared: false };
    await refused('updateGuestBoard BOARD_NOT_FOUND', house, takes, { bearer: stranger });
    await refused('deleteGuestBoard BOARD_NOT_FOUND', house, named, { bearer: stranger });
    const all = { dashboardId, name: 'Too', layout: [], isShared: true };
    await refused('createGuestBoard UNAUTHORIZED', house, all, { bearer: omar });
    const own = await make(omar, 'Own');
    const shares = { dashboardId, boardId: own.id, version: 1, isShared: true };
    await refused('updateGuestBoard UNAUTHORIZED', house, shares, { bearer: omar });
  });

  test('a manager takes back what another user shares, and changes nothing else of it', async () => {
    const [mia, kim] = [await user('mia'), await user('kim')];
    const { id } = await make(mia, 'Shared too', { isShared: true });
    const named = { dashboardId, boardId: id, version: 1 };
    for (const parts of [{ name: 'Kim’s' }, { layout: [] }, { tiles: [] }, { isShared: false, name: 'x' }, {}])
      await refused('updateGuestBoard INVALID_REQUEST_BODY', house, { ...named, ...parts }, { bearer: kim });
    await refused('deleteGuestBoard BOARD_NOT_FOUND', house, { dashboardId, boardId: id }, { bearer: kim });
    await change(kim, id, 1, { isShared: false });
    await refused('getGuestBoard BOARD_NOT_FOUND', house, { dashboardId, boardId: id }, { bearer: kim });
    expect(await read(mia, id)).toMatchObject({ isShared: false, version: 2 });
  });

  test('one who may no longer share changes and deletes no shared one', async () => {
    const { id } = await make(await user('sue'), 'Sue’s', { isShared: true });
    const later = await user('sue', {}, reading);
    const named = { dashboardId, boardId: id };
    await refused('updateGuestBoard UNAUTHORIZED', house, { ...named, version: 1, name: 'x' }, { bearer: later });
    await refused('deleteGuestBoard UNAUTHORIZED', house, named, { bearer: later });
  });
});

test('number and size are limited, and a tile is a heading, a text or a tab', async () => {
  const bearer = await user('ida');
  for (let made = 0; made < guestLimits.boards; made += 1) await make(bearer, `Board ${made}`, { layout: [] });
  const input = { dashboardId, name: 'One more', layout: [] };
  expect(await refused('createGuestBoard INVALID_REQUEST_BODY', house, input, { bearer })).toContain('20');
  const text = { kind: 'text', text: 'x'.repeat(3900), x: 0, y: 0, w: 12, h: 2 };
  const picture = {
    kind: 'image',
    tileId: 'p',
    source: 'data:image/png;base64,iVBORw0KGgo=',
    alt: 'x',
    x: 0,
    y: 0,
    w: 1,
    h: 1,
  };
  for (const parts of [
    { tiles: Array.from({ length: 20 }, (_, tile) => ({ ...text, tileId: `${tile}` })) },
    { tiles: [picture] },
    { tiles: [heading, heading] },
    { layout: [card(revenue), card(revenue, 2)] },
    { layout: Array.from({ length: 201 }, (_, at) => card(`m${at}`)) },
  ])
    await refused('createGuestBoard INVALID_REQUEST_BODY', house, { ...input, ...parts }, { bearer: ann });
});
