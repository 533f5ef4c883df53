/** Layouts that guests save, and their views. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { guestLimits } from '../../src/model/guest/metric.js';
import { boardOf, create, embedOf, guest, openBoard } from './guests.js';
import { call, type House, type Input, metricOf, noon, ok, openHouse, refused, setNow } from './house.js';

let house: House;
let acme: string;
let ann: string;
let bob: string;
let globex: string;

beforeAll(async () => {
  house = await openHouse();
  await openBoard(house, 'acme-board', 'acme');
  acme = await guest(house, 'acme');
  ann = await guest(house, 'acme', { userIdentifier: 'ann' });
  bob = await guest(house, 'acme', { userIdentifier: 'bob' });
  globex = await guest(house, 'globex');
});
beforeEach(() => setNow(noon));
afterAll(() => house.close());

const layoutOf = async (bearer: string, dashboardId: string) => (await boardOf(house, bearer, dashboardId)).layout;
const arrange = (bearer: string, dashboardId: string, layout: readonly Input[]) =>
  ok(house, 'saveGuestLayout', { dashboardId, layout }, { bearer });
const card = (metricId: string, y = 0) => ({ metricId, x: 0, y, w: 6, h: 2 });
const ids = (cards: readonly { readonly metricId: string }[]) => cards.map(({ metricId }) => metricId);

describe('PUT /api/v2/guest/dashboards/{dashboardId}/layout', () => {
  test('on a client’s dashboard, a token without a user arranges it for all users of the client', async () => {
    await openBoard(house, 'for-all', 'acme');
    const [revenue, spare] = [
      await metricOf(house, 'for-all', 'acme', 'revenue'),
      await metricOf(house, 'for-all', 'acme', 'spare'),
    ];
    const own = await create(house, acme, 'for-all', 'Own');
    const layout = [card(spare), card(own, 2), card(revenue, 4)];
    expect(await arrange(acme, 'for-all', layout)).toEqual({ data: { layout }, error: null });
    for (const bearer of [acme, ann]) {
      const seen = await layoutOf(bearer, 'for-all');
      expect(seen.toSorted((a, b) => a.y - b.y)).toEqual(layout);
    }
    await arrange(acme, 'for-all', [card(revenue)]);
    expect(await layoutOf(bob, 'for-all')).toEqual([card(revenue)]);
  });

  test('a user’s layout applies only to that user', async () => {
    await openBoard(house, 'own', 'acme');
    const revenue = await metricOf(house, 'own', 'acme', 'revenue');
    const before = await layoutOf(bob, 'own');
    await arrange(ann, 'own', [card(revenue, 7)]);
    expect(await layoutOf(ann, 'own')).toEqual([card(revenue, 7)]);
    expect(await layoutOf(bob, 'own')).toEqual(before);
    expect(await layoutOf(acme, 'own')).toEqual(before);
  });

  test("on a dashboard of the organization, the layout applies to the client's users until they save their own", async () => {
    const shared = await embedOf(house, 'board');
    const before = await layoutOf(globex, shared);
    await arrange(acme, shared, [card('revenue', 3)]);
    expect(await layoutOf(acme, shared)).toEqual([card('revenue', 3)]);
    expect(await layoutOf(ann, shared)).toEqual([card('revenue', 3)]);
    await arrange(ann, shared, [card('by-region')]);
    expect(await layoutOf(ann, shared)).toEqual([card('by-region')]);
    expect(await layoutOf(bob, shared)).toEqual([card('revenue', 3)]);
    expect(await layoutOf(globex, shared)).toEqual(before);
    const other = await embedOf(house, 'board');
    expect(await layoutOf(acme, other)).toEqual([card('revenue', 3)]);
  });

  test('cards of later metrics are below the others; removed cards stay removed', async () => {
    await openBoard(house, 'later', 'acme');
    const revenue = await metricOf(house, 'later', 'acme', 'revenue');
    await arrange(ann, 'later', [card(revenue)]);
    const later = await create(house, acme, 'later', 'Later', { card: { x: 3, y: 1, w: 4, h: 2 } });
    expect(await layoutOf(ann, 'later')).toEqual([card(revenue), { metricId: later, x: 3, y: 3, w: 4, h: 2 }]);
    const mine = await create(house, ann, 'later', 'Mine', { card: { x: 8, y: 0, w: 4, h: 2 } });
    expect(await layoutOf(ann, 'later')).toContainEqual({ metricId: mine, x: 8, y: 0, w: 4, h: 2 });
    expect(ids(await layoutOf(bob, 'later'))).not.toContain(mine);
  });

  test.each<[string, Input]>([
    ['without user', {}],
    ['of a user', { userIdentifier: 'cleo' }],
  ])('cards that are hidden from a token %s are not lost when this token saves the layout', async (_, params) => {
    const dashboardId = `hiding-${Object.keys(params).length}`;
    await openBoard(house, dashboardId, 'acme');
    const [revenue, guarded] = [
      await metricOf(house, dashboardId, 'acme', 'revenue'),
      await metricOf(house, dashboardId, 'acme', 'guarded'),
    ];
    const own = await create(house, acme, dashboardId, 'Own');
    const hiding = await guest(house, 'acme', {
      ...params,
      hideDashboardMetrics: [{ dashboardId, metricIds: ['guarded', own] }],
    });
    const seeing = await guest(house, 'acme', params);
    const hidden = (await layoutOf(seeing, dashboardId)).filter(({ metricId }) => [guarded, own].includes(metricId));
    expect(hidden).toHaveLength(2);
    await refused('saveGuestLayout UNAUTHORIZED', house, { dashboardId, layout: [card(guarded)] }, { bearer: hiding });
    await arrange(hiding, dashboardId, [card(revenue, 9)]);
    expect(await layoutOf(hiding, dashboardId)).toEqual([card(revenue, 9)]);
    const seen = await layoutOf(seeing, dashboardId);
    expect(seen).toHaveLength(3);
    expect(seen).toEqual(expect.arrayContaining([card(revenue, 9), ...hidden]));
  });

  test('every metric must be open to the guest and occur once, and every card must be on the grid', async () => {
    const revenue = await metricOf(house, 'acme-board', 'acme', 'revenue');
    const mine = await create(house, ann, 'acme-board', 'Mine');
    for (const metricId of ['nowhere', 'revenue', mine])
      await refused(
        'saveGuestLayout UNAUTHORIZED',
        house,
        { dashboardId: 'acme-board', layout: [card(metricId)] },
        { bearer: bob },
      );
    const twice = { dashboardId: 'acme-board', layout: [card(revenue), card(revenue, 2)] };
    expect(await refused('saveGuestLayout INVALID_REQUEST_BODY', house, twice, { bearer: acme })).toContain('once');
    const wide = { dashboardId: 'acme-board', layout: [{ ...card(revenue), w: 13 }] };
    await refused('saveGuestLayout INVALID_REQUEST_BODY', house, wide, { bearer: acme });
  });
});

describe('tiles of a layout', () => {
  const place = { x: 0, w: 12, h: 1 };
  const heading = { tileId: 'h', kind: 'heading', text: 'Sales', ...place, y: 50 };
  const tab = { tileId: 'more', kind: 'tab', text: 'More', ...place, y: 60 };
  const moved = { tileId: 'h', x: 2, y: 0, w: 6, h: 2 };
  const tilesOf = async (bearer: string, dashboardId: string) => (await boardOf(house, bearer, dashboardId)).tiles;
  const openTiled = async (dashboardId: string): Promise<string> => {
    await openBoard(house, dashboardId, 'acme');
    const at = { workspaceName: 'shop', dashboardId };
    const { data, digest } = await ok(house, 'getDashboardContent', at);
    const content = { ...data, tiles: [heading, tab] };
    await ok(house, 'replaceDashboardContent', { ...at, content, expectedDigest: digest });
    return metricOf(house, dashboardId, 'acme', 'revenue');
  };

  test('a user’s places are the user’s; those of a token without a user are the dashboard’s', async () => {
    const revenue = await openTiled('tiled');
    const save = (bearer: string, tiles: readonly Input[]) =>
      ok(house, 'saveGuestLayout', { dashboardId: 'tiled', layout: [card(revenue, 5)], tiles }, { bearer });
    await save(ann, [moved, { ...moved, tileId: 'more', y: 3 }]);
    const anns = [
      { ...heading, ...moved },
      { ...tab, y: 3 },
    ];
    expect(await tilesOf(ann, 'tiled')).toEqual(anns);
    expect(await tilesOf(bob, 'tiled')).toEqual([heading, tab]);
    await arrange(ann, 'tiled', [card(revenue, 4)]);
    expect(await tilesOf(ann, 'tiled')).toEqual(anns);
    await save(acme, [moved, { ...moved, tileId: 'more', y: 9 }]);
    expect(await tilesOf(bob, 'tiled')).toEqual([
      { ...heading, ...moved },
      { ...tab, y: 9 },
    ]);
    const { data } = await ok(house, 'getDashboardContent', { workspaceName: 'shop', dashboardId: 'tiled' });
    expect(data.tiles?.map(({ y }: { y: number }) => y)).toEqual([0, 9]);
  });

  test('a tile of another dashboard, and one that is named twice, are refused', async () => {
    const revenue = await openTiled('tiled-once');
    const save = { dashboardId: 'tiled-once', layout: [card(revenue)] };
    const other = { ...save, tiles: [{ ...moved, tileId: 'elsewhere' }] };
    await refused('saveGuestLayout UNAUTHORIZED', house, other, { bearer: ann });
    const twice = { ...save, tiles: [moved, moved] };
    expect(await refused('saveGuestLayout INVALID_REQUEST_BODY', house, twice, { bearer: ann })).toContain('once');
    expect(await tilesOf(ann, 'tiled-once')).toEqual([heading, tab]);
  });
});

describe('DELETE /api/v2/guest/dashboards/{dashboardId}/layout', () => {
  const restore = async (bearer: string, dashboardId: string) =>
    (await ok(house, 'restoreGuestLayout', { dashboardId }, { bearer })).data.layout;
  const isOwn = async (bearer: string, dashboardId: string) => (await boardOf(house, bearer, dashboardId)).hasOwnLayout;

  test('the guest sees the cards of the client, else of the dashboard; the layouts of others stay', async () => {
    const board = await embedOf(house, 'board');
    await restore(acme, board);
    const original = await layoutOf(globex, board);
    const layouts = { acme: [card('revenue', 1)], ann: [card('revenue', 2)], bob: [card('revenue', 3)] };
    await arrange(acme, board, layouts.acme);
    await arrange(ann, board, layouts.ann);
    await arrange(bob, board, layouts.bob);
    await arrange(globex, board, layouts.bob);
    expect([await isOwn(ann, board), await isOwn(acme, board)]).toEqual([true, true]);
    expect(await restore(ann, board)).toEqual(layouts.acme);
    expect(await isOwn(ann, board)).toBe(false);
    expect(await layoutOf(ann, board)).toEqual(layouts.acme);
    expect(await restore(acme, board)).toEqual(original);
    expect(await layoutOf(ann, board)).toEqual(original);
    for (const bearer of [bob, globex]) expect(await layoutOf(bearer, board)).toEqual(layouts.bob);
    expect(await restore(ann, board)).toEqual(original);
    await restore(bob, board);
    await restore(globex, board);
  });

  test('a token without a user has no layout of its own on its client’s dashboard', async () => {
    await openBoard(house, 'kept', 'acme');
    const revenue = await metricOf(house, 'kept', 'acme', 'revenue');
    await arrange(acme, 'kept', [card(revenue, 5)]);
    expect(await isOwn(acme, 'kept')).toBe(false);
    expect(await restore(acme, 'kept')).toEqual([card(revenue, 5)]);
    expect(await layoutOf(ann, 'kept')).toEqual([card(revenue, 5)]);
  });

  test('the answer has no card of a metric that the token hides, and only who may arrange is told of the layout', async () => {
    const board = await embedOf(house, 'board');
    const hiding = await guest(house, 'acme', {
      userIdentifier: 'dora',
      hideDashboardMetrics: [{ dashboardId: 'board', metricIds: ['revenue'] }],
    });
    expect(ids(await restore(hiding, board))).not.toContain('revenue');
    const reader = await guest(house, 'acme', {}, { isEnableCustomizeLayout: false });
    expect(await isOwn(reader, board)).toBeUndefined();
  });
});

describe('GET|POST|DELETE /api/v2/guest/dashboards/{dashboardId}/views', () => {
  const save = (bearer: string, name: string, parts: Input = {}, dashboardId = 'acme-board') =>
    ok(house, 'createGuestView', { dashboardId, name, ...parts }, { bearer });
  const views = async (bearer: string, dashboardId = 'acme-board') =>
    (await ok(house, 'listGuestViews', { dashboardId }, { bearer })).data;

  test('a view stores filter choices under the filters’ own names, only for its user', async () => {
    const revenue = await metricOf(house, 'acme-board', 'acme', 'revenue');
    const { data, error } = await save(ann, 'Mine', {
      dashboardFilter: { rEGION: ['north'], Sold: 'Last 30 Days' },
      metricFilter: { [revenue]: { size: { min: 10 } } },
    });
    expect(error).toBeNull();
    expect(data).toEqual({
      id: data.id,
      name: 'Mine',
      dashboardFilter: { Region: ['north'], Sold: 'Last 30 Days' },
      metricFilter: { [revenue]: { Amount: { min: 10 } } },
      filterNames: {},
      isShared: false,
      isDefault: false,
      isOwn: true,
    });
    expect(await views(ann)).toEqual([data]);
    for (const bearer of [bob, acme]) expect(await views(bearer)).toEqual([]);
    await refused(
      'deleteGuestView VIEW_NOT_FOUND',
      house,
      { dashboardId: 'acme-board', viewId: data.id },
      { bearer: bob },
    );
    await ok(house, 'deleteGuestView', { dashboardId: 'acme-board', viewId: data.id }, { bearer: ann });
    expect(await views(ann)).toEqual([]);
    await refused(
      'deleteGuestView VIEW_NOT_FOUND',
      house,
      { dashboardId: 'acme-board', viewId: data.id },
      { bearer: ann },
    );
  });

  test('the name of a view is unique for user and dashboard; of two simultaneous creates, exactly one succeeds', async () => {
    const both = await Promise.all(
      [1, 2].map(() => call(house, 'createGuestView', { dashboardId: 'acme-board', name: 'Twice' }, { bearer: bob })),
    );
    expect(both.map(({ status }) => status).toSorted()).toEqual([200, 400]);
    const input = { dashboardId: 'acme-board', name: 'Twice' };
    await refused('createGuestView VIEW_ALREADY_EXISTS', house, input, { bearer: bob });
    await save(acme, 'Twice');
    const shared = await embedOf(house, 'board');
    await save(bob, 'Twice', {}, shared);
    await save(globex, 'Twice', {}, shared);
    expect((await views(globex, shared)).map(({ name }) => name)).toEqual(['Twice']);
  });

  test.each<[string, Input, string]>([
    ['an unknown filter', { dashboardFilter: { Nothing: 'x' } }, 'dashboardFilter["Nothing"]: there is no such filter'],
    ['a value that does not fit', { dashboardFilter: { Amount: 'much' } }, 'dashboardFilter["Amount"]: takes a number'],
    ['one filter twice', { dashboardFilter: { Region: 'a', region: 'b' } }, 'twice'],
    ['an unknown metric', { metricFilter: { nowhere: {} } }, 'metricFilter["nowhere"]: there is no such metric'],
    ['SQL', { dashboardFilter: { Region: { sql: 'select 1', columnName: 'x' } } }, 'dashboardFilter.Region'],
  ])('a view with %s is refused', async (_, parts, fault) => {
    const input = { dashboardId: 'acme-board', name: 'Bad', ...parts };
    expect(await refused('createGuestView INVALID_REQUEST_BODY', house, input, { bearer: acme })).toContain(fault);
  });

  test('filters can be renamed if isAllowDashboardFilterNameChange allows it and names stay different', async () => {
    const input = { dashboardId: 'acme-board', name: 'Renamed', filterNames: { region: 'Where' } };
    await refused('createGuestView UNAUTHORIZED', house, input, { bearer: acme });
    const renaming = await guest(house, 'acme', { accessPermissions: { isAllowDashboardFilterNameChange: true } });
    for (const filterNames of [{ Region: 'sold' }, { Nothing: 'x' }, { Region: 'Same', Sold: 'same' }])
      await refused('createGuestView INVALID_REQUEST_BODY', house, { ...input, filterNames }, { bearer: renaming });
    const { data } = await ok(house, 'createGuestView', input, { bearer: renaming });
    expect(data.filterNames).toEqual({ Region: 'Where' });
    await ok(
      house,
      'createGuestView',
      { ...input, name: 'Swapped', filterNames: { Region: 'Sold', Sold: 'Region' } },
      { bearer: renaming },
    );
  });

  test('a view neither stores nor returns anything that its token hides', async () => {
    const revenue = await metricOf(house, 'acme-board', 'acme', 'revenue');
    const user = { userIdentifier: 'dora' };
    const seeing = await guest(house, 'acme', user);
    const hiding = await guest(house, 'acme', {
      ...user,
      hideDashboardFilters: ['Region'],
      hideDashboardMetrics: [{ dashboardId: 'acme-board', metricIds: ['revenue'] }],
    });
    const parts = { dashboardFilter: { Region: 'north', Paid: true }, metricFilter: { [revenue]: { Amount: 1 } } };
    await save(seeing, 'All', parts);
    expect(await views(hiding)).toMatchObject([{ dashboardFilter: { Paid: true }, metricFilter: {} }]);
    expect((await views(hiding))[0]?.dashboardFilter).not.toHaveProperty('Region');
    expect(await views(seeing)).toMatchObject([parts]);
    const input = { dashboardId: 'acme-board', name: 'Hidden', ...parts };
    const message = await refused('createGuestView INVALID_REQUEST_BODY', house, input, { bearer: hiding });
    expect(message).toContain('dashboardFilter["Region"]: there is no such filter');
    expect(message).toContain('there is no such metric');
  });

  test('a shared view is seen by all users of the client and by nobody else; isEnableManageMetrics shares it', async () => {
    const manager = await guest(house, 'acme', { userIdentifier: 'mona' });
    const user = { userIdentifier: 'otto' };
    const reader = await guest(house, 'acme', user, { isEnableManageMetrics: false });
    const board = await embedOf(house, 'board');
    const place = { dashboardId: board };
    const { data: shared } = await save(
      manager,
      'For all',
      { dashboardFilter: { Region: 'north' }, isShared: true },
      board,
    );
    const named = { ...place, viewId: shared.id };
    expect(await views(reader, board)).toEqual([{ ...shared, isOwn: false }]);
    for (const other of [globex, await guest(house, 'globex', { userIdentifier: 'mona' })]) {
      expect((await views(other, board)).map(({ name }) => name)).not.toContain('For all');
      await refused('updateGuestView VIEW_NOT_FOUND', house, { ...named, isDefault: true }, { bearer: other });
      await refused('deleteGuestView VIEW_NOT_FOUND', house, named, { bearer: other });
    }
    const { data: own } = await save(reader, 'Own', {}, board);
    await refused('createGuestView UNAUTHORIZED', house, { ...place, name: 'x', isShared: true }, { bearer: reader });
    const share = { ...place, viewId: own.id, isShared: true };
    await refused('updateGuestView UNAUTHORIZED', house, share, { bearer: reader });
    await refused('updateGuestView UNAUTHORIZED', house, { ...named, isDefault: true }, { bearer: reader });
    await refused('deleteGuestView UNAUTHORIZED', house, named, { bearer: reader });
    await refused('updateGuestView VIEW_NOT_FOUND', house, { ...share, name: 'Mine' }, { bearer: manager });
    await ok(house, 'updateGuestView', { ...named, isShared: false }, { bearer: manager });
    expect(await views(reader, board)).toEqual([own]);
    await ok(house, 'deleteGuestView', named, { bearer: manager });
  });

  test('the dashboard opens with the own default, else with the shared one; a change keeps what it leaves out', async () => {
    const manager = await guest(house, 'acme', { userIdentifier: 'mia' });
    const reader = await guest(house, 'acme', { userIdentifier: 'omar' });
    const board = await embedOf(house, 'board');
    const opens = async (bearer: string) => (await boardOf(house, bearer, board)).defaultView?.name ?? null;
    const change = async (viewId: string, parts: Input, bearer = manager) =>
      (await ok(house, 'updateGuestView', { dashboardId: board, viewId, ...parts }, { bearer })).data;
    const filter = { dashboardFilter: { Region: ['north'] } };
    const { data: first } = await save(manager, 'First', { ...filter, isShared: true, isDefault: true }, board);
    expect([await opens(reader), await opens(manager), await opens(globex)]).toEqual(['First', 'First', null]);
    const { data: own } = await save(reader, 'Own', { isDefault: true }, board);
    expect([await opens(reader), await opens(manager)]).toEqual(['Own', 'First']);
    const { data: second } = await save(manager, 'Second', { isShared: true, isDefault: true }, board);
    expect((await views(manager, board)).map(({ name, isDefault }) => [name, isDefault])).toEqual([
      ['First', false],
      ['Second', true],
    ]);
    expect(await change(first.id, { name: 'Renamed' })).toEqual({ ...first, name: 'Renamed', isDefault: false });
    const named = { dashboardId: board, viewId: first.id };
    await refused('updateGuestView VIEW_ALREADY_EXISTS', house, { ...named, name: 'Second' }, { bearer: manager });
    await refused('updateGuestView INVALID_REQUEST_BODY', house, { ...named, name: 'Other' }, { bearer: reader });
    const both = { ...named, isShared: false, isDefault: true };
    await refused('updateGuestView INVALID_REQUEST_BODY', house, both, { bearer: reader });
    await change(own.id, { isDefault: false }, reader);
    expect(await opens(reader)).toBe('Second');
    expect(await change(second.id, { isShared: false })).toMatchObject({ isDefault: false, isShared: false });
    expect(await opens(reader)).toBeNull();
    const hiding = await guest(house, 'acme', { hideDashboardFilters: ['Region'] });
    await change(first.id, { isDefault: true });
    expect((await boardOf(house, hiding, board)).defaultView).toMatchObject({ name: 'Renamed', dashboardFilter: {} });
    for (const { id } of [first, second])
      await ok(house, 'deleteGuestView', { ...named, viewId: id }, { bearer: manager });
  });

  test('the number and size of views are limited', async () => {
    const user = { userIdentifier: 'eve' };
    const bearer = await guest(house, 'acme', user);
    await save(bearer, 'First');
    await house.stored(async (store) => {
      const app = await store.dataApps.findByName('shop');
      const dataAppId = app?.id ?? '';
      const board = await store.dashboards.findByExternalId(dataAppId, 'acme-board');
      const viewer = { dataAppId, clientId: 'acme', ...user };
      for (let made = 1; made < guestLimits.views; made += 1) {
        const view = {
          id: `eve-${made}`,
          name: `View ${made}`,
          dashboardFilter: {},
          metricFilter: {},
          filterNames: {},
          isShared: false,
          isDefault: false,
        };
        await store.guestViews.insert(board?.id ?? '', viewer, view, noon);
      }
    });
    const input = { dashboardId: 'acme-board', name: 'One more' };
    const message = await refused('createGuestView INVALID_REQUEST_BODY', house, input, { bearer });
    expect(message).toContain(`may be ${guestLimits.views}`);
    const long = { ...input, dashboardFilter: { Region: Array.from({ length: 20 }, () => 'x'.repeat(4000)) } };
    await refused('createGuestView INVALID_REQUEST_BODY', house, long, { bearer: acme });
  });
});
