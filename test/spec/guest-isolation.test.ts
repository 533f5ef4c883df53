/**
 * Every write of a guest is refused for everyone without the right: another client, data app or user, and a token that
 * is expired, lacks the permission, or hides the metric.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { boardOf, create, embedOf, everything, guest, openBoard, openSettings, revenueBy } from './guests.js';
import { call, type House, type Input, mint, noon, ok, openHouse, type Pair, refused, setNow } from './house.js';

let house: House;
/** The organization's board, as an embed of data app `shop`. */
let shared: string;
let viewId: string;
let boardId: string;
let byName: Readonly<Record<string, string>>;
const ann = { userIdentifier: 'ann' };
const bob = { userIdentifier: 'bob' };

beforeAll(async () => {
  house = await openHouse();
  await openBoard(house, 'acme-board', 'acme');
  shared = await embedOf(house, 'board');
  const [clients, users] = [await guest(house, 'acme'), await guest(house, 'acme', ann)];
  byName = {
    common: await create(house, clients, 'acme-board', 'Common'),
    private: await create(house, users, 'acme-board', 'Private'),
    shared: await create(house, clients, shared, 'Shared'),
  };
  viewId = (await ok(house, 'createGuestView', { dashboardId: 'acme-board', name: 'Mine' }, { bearer: users })).data.id;
  const board = { dashboardId: 'acme-board', name: 'Mine', layout: [] };
  boardId = (await ok(house, 'createGuestBoard', board, { bearer: users })).data.id;
});
beforeEach(() => setNow(noon));
afterAll(() => house.close());

type Place = {
  readonly dashboardId: string;
  readonly metricId: string;
  readonly viewId: string;
  readonly boardId: string;
};
type Write = (place: Place) => Input;

const card = ({ metricId }: Place) => ({ metricId, x: 0, y: 0, w: 1, h: 1 });
const makes: Write = ({ dashboardId }) => ({ dashboardId, name: 'Intruder', definition: revenueBy() });
const renames: Write = ({ metricId }) => ({ metricId, name: 'Intruder' });
const points: Write = ({ metricId }) => ({ metricId });
const restores: Write = ({ metricId }) => ({ metricId, isArchived: false });
const publishes: Write = ({ metricId }) => ({ metricId, isPublished: true });
const previews: Write = ({ dashboardId, metricId }) => ({
  dashboardId,
  metricId,
  definition: { chart: { type: 'bar' } },
});
const previewsNew: Write = ({ dashboardId }) => ({ dashboardId, definition: revenueBy() });
const arranges: Write = (place) => ({ dashboardId: place.dashboardId, layout: [card(place)] });
const saves: Write = ({ dashboardId }) => ({ dashboardId, name: 'Intruder' });
const lists: Write = ({ dashboardId }) => ({ dashboardId });
const changes: Write = (place) => ({ dashboardId: place.dashboardId, viewId: place.viewId, isDefault: true });
const daily = { every: 'day', at: '08:00', timezone: 'UTC' };
const schedules: Write = ({ dashboardId }) => ({ dashboardId, name: 'Intruder', format: 'pdf', recurrence: daily });
/** Reports are allowed on no board here. */
const ofBoard: Write = ({ dashboardId }) => ({ dashboardId });
const named: Write = ({ dashboardId }) => ({ dashboardId, scheduleId: 'any' });
const addsBoard: Write = ({ dashboardId }) => ({ dashboardId, name: 'Intruder', layout: [] });
const pointsBoard: Write = (place) => ({ dashboardId: place.dashboardId, boardId: place.boardId });
const changesBoard: Write = (place) => ({ ...pointsBoard(place), version: 1, name: 'Intruder' });
const pauses: Write = ({ dashboardId }) => ({ dashboardId, scheduleId: 'any', isPaused: true });
const drops: Write = (place) => ({ dashboardId: place.dashboardId, viewId: place.viewId });

/** Writes that name a metric, and writes that name only a dashboard. */
const onMetrics: readonly [Pair, Write][] = [
  ['updateGuestMetric UNAUTHORIZED', renames],
  ['deleteGuestMetric UNAUTHORIZED', points],
  ['archiveGuestMetric UNAUTHORIZED', points],
  ['archiveGuestMetric UNAUTHORIZED', restores],
  ['getGuestMetricDefinition UNAUTHORIZED', points],
  ['publishGuestMetric UNAUTHORIZED', publishes],
  ['previewGuestMetric UNAUTHORIZED', previews],
  ['saveGuestLayout UNAUTHORIZED', arranges],
];
const onDashboards: readonly [Pair, Write][] = [
  ['createGuestMetric UNAUTHORIZED', makes],
  ['previewGuestMetric UNAUTHORIZED', previewsNew],
  ['listGuestMetrics UNAUTHORIZED', lists],
  ['restoreGuestLayout UNAUTHORIZED', lists],
  ['createGuestView UNAUTHORIZED', saves],
  ['listGuestViews UNAUTHORIZED', lists],
  ['updateGuestView UNAUTHORIZED', changes],
  ['deleteGuestView UNAUTHORIZED', drops],
  ['listGuestBoards UNAUTHORIZED', lists],
  ['createGuestBoard UNAUTHORIZED', addsBoard],
  ['getGuestBoard UNAUTHORIZED', pointsBoard],
  ['updateGuestBoard UNAUTHORIZED', changesBoard],
  ['deleteGuestBoard UNAUTHORIZED', pointsBoard],
  ['createGuestSchedule UNAUTHORIZED', schedules],
  ['previewGuestSchedule UNAUTHORIZED', schedules],
  ['listGuestSchedules UNAUTHORIZED', ofBoard],
  ['listGuestChannels UNAUTHORIZED', ofBoard],
  ['listGuestRecipients UNAUTHORIZED', ofBoard],
  ['listTenantSchedules UNAUTHORIZED', ofBoard],
  ['pauseTenantSchedule UNAUTHORIZED', pauses],
  ['deleteTenantSchedule UNAUTHORIZED', named],
  ['updateGuestSchedule UNAUTHORIZED', named],
  ['deleteGuestSchedule UNAUTHORIZED', named],
  ['sendGuestSchedule UNAUTHORIZED', named],
  ['listGuestDeliveries UNAUTHORIZED', named],
];

const at = (dashboardId: string, metric: string): Place => ({
  dashboardId,
  metricId: byName[metric] ?? '',
  viewId,
  boardId,
});
const nowhere: Place = { dashboardId: 'nowhere', metricId: 'nowhere', viewId: 'nowhere', boardId: 'nowhere' };

/** Everything that authorised guests see. None of it may change. */
const state = async () => {
  const [clients, users] = [await guest(house, 'acme'), await guest(house, 'acme', ann)];
  const seen = async (bearer: string, dashboardId: string) => boardOf(house, bearer, dashboardId);
  return JSON.stringify([
    await seen(clients, 'acme-board'),
    await seen(users, 'acme-board'),
    await seen(clients, shared),
    await ok(house, 'listGuestViews', { dashboardId: 'acme-board' }, { bearer: users }),
    await ok(house, 'getGuestBoard', { dashboardId: 'acme-board', boardId }, { bearer: users }),
  ]);
};

const turnedAway = async (
  writes: readonly [Pair, Write][],
  place: Place,
  elsewhere: Place,
  bearer: string,
): Promise<void> => {
  const before = await state();
  for (const [pair, write] of writes) {
    const message = await refused(pair, house, write(place), { bearer });
    expect(message, pair).toBe(await refused(pair, house, write(elsewhere), { bearer }));
    expect(message, pair).not.toMatch(/acme|Common|Private|Shared/);
  }
  expect(await state()).toBe(before);
};

describe('refusals are the same, whether something exists or not', () => {
  test('another client gets the same refusals, whether something exists or not', async () => {
    const bearer = await guest(house, 'globex');
    await turnedAway([...onMetrics, ...onDashboards], at('acme-board', 'common'), nowhere, bearer);
    await turnedAway([...onMetrics], at(shared, 'shared'), { ...nowhere, dashboardId: shared }, bearer);
  });

  test('the same client of another data app', async () => {
    const { token: bearer } = await ok(
      house,
      'createGuestToken',
      { clientId: 'acme', dataAppName: 'other', permissions: everything },
      { bearer: house.otherKey },
    );
    await turnedAway([...onMetrics, ...onDashboards], at('acme-board', 'common'), nowhere, bearer);
    await turnedAway([...onMetrics, ...onDashboards], at(shared, 'shared'), nowhere, bearer);
  });

  test('another data app that embeds the same dashboard of the organization', async () => {
    const input = { embedType: 'dashboard', dashboardId: 'board', workspaceName: 'shop', accessSettings: openSettings };
    const { id } = await ok(house, 'createEmbed', input, { bearer: house.otherKey });
    const { token: bearer } = await ok(
      house,
      'createGuestToken',
      { clientId: 'acme', dataAppName: 'other', permissions: everything },
      { bearer: house.otherKey },
    );
    expect((await boardOf(house, bearer, id)).metrics.map(({ name }) => name)).not.toContain('Shared');
    await turnedAway([...onMetrics], at(id, 'shared'), { ...nowhere, dashboardId: id }, bearer);
    const listed = await ok(house, 'listEmbedMetrics', { embedId: id, clientId: 'acme' }, { bearer: house.otherKey });
    expect(listed.data.map(({ name }) => name)).not.toContain('Shared');
  });

  test('another user, and a token without a user, for a private metric', async () => {
    const elsewhere = { ...nowhere, dashboardId: 'acme-board' };
    for (const params of [bob, {}])
      await turnedAway([...onMetrics], at('acme-board', 'private'), elsewhere, await guest(house, 'acme', params));
    const input = { dashboardId: 'acme-board', viewId };
    await refused('deleteGuestView VIEW_NOT_FOUND', house, input, { bearer: await guest(house, 'acme', bob) });
  });

  test('a token that hides the metric', async () => {
    const hideDashboardMetrics = [{ dashboardId: 'acme-board', metricIds: [byName.common] }];
    const bearer = await guest(house, 'acme', { hideDashboardMetrics });
    await turnedAway([...onMetrics], at('acme-board', 'common'), { ...nowhere, dashboardId: 'acme-board' }, bearer);
  });

  test('a token whose allowedEmbeds do not contain the dashboard', async () => {
    const bearer = await guest(house, 'acme', { allowedEmbeds: [shared] });
    await turnedAway([...onMetrics, ...onDashboards], at('acme-board', 'common'), nowhere, bearer);
  });

  test('a token of another datamart', async () => {
    const { token: bearer } = await ok(house, 'createGuestToken', {
      clientId: '1',
      dataAppName: 'shop',
      datamartName: 'orders',
      permissions: everything,
    });
    await turnedAway([...onMetrics, ...onDashboards], at(shared, 'shared'), nowhere, bearer);
  });
});

test.each<[string, Input, readonly [Pair, Write][]]>([
  [
    'isDisableMetricCreation',
    { isDisableMetricCreation: true },
    [
      ['createGuestMetric UNAUTHORIZED', makes],
      ['previewGuestMetric UNAUTHORIZED', previewsNew],
    ],
  ],
  [
    'isEnableMetricUpdation',
    { isEnableMetricUpdation: false },
    [
      ['updateGuestMetric UNAUTHORIZED', renames],
      ['getGuestMetricDefinition UNAUTHORIZED', points],
      ['previewGuestMetric UNAUTHORIZED', previews],
    ],
  ],
  [
    'isEnableArchiveMetrics',
    { isEnableArchiveMetrics: false },
    [
      ['deleteGuestMetric UNAUTHORIZED', points],
      ['archiveGuestMetric UNAUTHORIZED', points],
    ],
  ],
  [
    'isEnableManageMetrics',
    { isEnableManageMetrics: false },
    [
      ['archiveGuestMetric UNAUTHORIZED', restores],
      ['publishGuestMetric UNAUTHORIZED', publishes],
    ],
  ],
  [
    'isEnableCustomizeLayout',
    { isEnableCustomizeLayout: false },
    [
      ['saveGuestLayout UNAUTHORIZED', arranges],
      ['restoreGuestLayout UNAUTHORIZED', lists],
    ],
  ],
  [
    'isEnableCreateDashboardView',
    { isEnableCreateDashboardView: false },
    [
      ['createGuestView UNAUTHORIZED', saves],
      ['listGuestViews UNAUTHORIZED', lists],
      ['updateGuestView UNAUTHORIZED', changes],
      ['deleteGuestView UNAUTHORIZED', drops],
    ],
  ],
  [
    'isEnableCreateDashboard',
    { isEnableCreateDashboard: false },
    [
      ['createGuestBoard UNAUTHORIZED', addsBoard],
      ['updateGuestBoard UNAUTHORIZED', changesBoard],
      ['deleteGuestBoard UNAUTHORIZED', pointsBoard],
    ],
  ],
])('%s decides exactly its own writes', async (name, permission, denied) => {
  const before = await state();
  const bearer = await guest(house, 'acme', ann, { ...everything, ...permission });
  for (const [pair, write] of denied)
    expect(await refused(pair, house, write(at('acme-board', 'private')), { bearer })).toContain(name);
  expect(await state()).toBe(before);
  const others = [...onMetrics, ...onDashboards].filter(([pair, write]) => {
    const isDenied = denied.some(([other, same]) => other === pair && same === write);
    return !isDenied && [previews, previewsNew, lists].includes(write);
  });
  for (const [pair, write] of others) {
    const [operation] = pair.split(' ') as ['previewGuestMetric' | 'listGuestViews'];
    const answer = await call(house, operation, write(at('acme-board', 'private')), { bearer });
    expect(answer.status, pair).toBe(200);
  }
});

test.each<[Pair, Write]>([
  ['createGuestMetric TOKEN_EXPIRED', makes],
  ['updateGuestMetric TOKEN_EXPIRED', renames],
  ['deleteGuestMetric TOKEN_EXPIRED', points],
  ['archiveGuestMetric TOKEN_EXPIRED', points],
  ['listGuestMetrics TOKEN_EXPIRED', lists],
  ['getGuestMetricDefinition TOKEN_EXPIRED', points],
  ['publishGuestMetric TOKEN_EXPIRED', publishes],
  ['previewGuestMetric TOKEN_EXPIRED', previewsNew],
  ['saveGuestLayout TOKEN_EXPIRED', arranges],
  ['restoreGuestLayout TOKEN_EXPIRED', lists],
  ['createGuestView TOKEN_EXPIRED', saves],
  ['listGuestViews TOKEN_EXPIRED', lists],
  ['updateGuestView TOKEN_EXPIRED', changes],
  ['deleteGuestView TOKEN_EXPIRED', drops],
  ['listGuestBoards TOKEN_EXPIRED', lists],
  ['createGuestBoard TOKEN_EXPIRED', addsBoard],
  ['getGuestBoard TOKEN_EXPIRED', pointsBoard],
  ['updateGuestBoard TOKEN_EXPIRED', changesBoard],
  ['deleteGuestBoard TOKEN_EXPIRED', pointsBoard],
  ['createGuestSchedule TOKEN_EXPIRED', schedules],
  ['previewGuestSchedule TOKEN_EXPIRED', schedules],
  ['listGuestSchedules TOKEN_EXPIRED', ofBoard],
  ['listGuestChannels TOKEN_EXPIRED', ofBoard],
  ['listGuestRecipients TOKEN_EXPIRED', ofBoard],
  ['listTenantSchedules TOKEN_EXPIRED', ofBoard],
  ['pauseTenantSchedule TOKEN_EXPIRED', pauses],
  ['deleteTenantSchedule TOKEN_EXPIRED', named],
  ['updateGuestSchedule TOKEN_EXPIRED', named],
  ['deleteGuestSchedule TOKEN_EXPIRED', named],
  ['sendGuestSchedule TOKEN_EXPIRED', named],
  ['listGuestDeliveries TOKEN_EXPIRED', named],
])('%s, before any other check', async (pair, write) => {
  const bearer = await mint(house, 'acme', ann, { permissions: everything, expiryTime: 1 });
  const before = await state();
  setNow(new Date(noon.getTime() + 1));
  await refused(pair, house, write(at('acme-board', 'private')), { bearer });
  expect(await state()).toBe(before);
});

test.each<[Pair, Write]>([
  ['createGuestMetric AUTHENTICATION_ERROR', makes],
  ['updateGuestMetric AUTHENTICATION_ERROR', renames],
  ['deleteGuestMetric AUTHENTICATION_ERROR', points],
  ['archiveGuestMetric AUTHENTICATION_ERROR', points],
  ['listGuestMetrics AUTHENTICATION_ERROR', lists],
  ['getGuestMetricDefinition AUTHENTICATION_ERROR', points],
  ['publishGuestMetric AUTHENTICATION_ERROR', publishes],
  ['previewGuestMetric AUTHENTICATION_ERROR', previewsNew],
  ['saveGuestLayout AUTHENTICATION_ERROR', arranges],
  ['restoreGuestLayout AUTHENTICATION_ERROR', lists],
  ['createGuestView AUTHENTICATION_ERROR', saves],
  ['listGuestViews AUTHENTICATION_ERROR', lists],
  ['updateGuestView AUTHENTICATION_ERROR', changes],
  ['deleteGuestView AUTHENTICATION_ERROR', drops],
  ['listGuestBoards AUTHENTICATION_ERROR', lists],
  ['createGuestBoard AUTHENTICATION_ERROR', addsBoard],
  ['getGuestBoard AUTHENTICATION_ERROR', pointsBoard],
  ['updateGuestBoard AUTHENTICATION_ERROR', changesBoard],
  ['deleteGuestBoard AUTHENTICATION_ERROR', pointsBoard],
  ['createGuestSchedule AUTHENTICATION_ERROR', schedules],
  ['previewGuestSchedule AUTHENTICATION_ERROR', schedules],
  ['listGuestSchedules AUTHENTICATION_ERROR', ofBoard],
  ['listGuestChannels AUTHENTICATION_ERROR', ofBoard],
  ['listGuestRecipients AUTHENTICATION_ERROR', ofBoard],
  ['listTenantSchedules AUTHENTICATION_ERROR', ofBoard],
  ['pauseTenantSchedule AUTHENTICATION_ERROR', pauses],
  ['deleteTenantSchedule AUTHENTICATION_ERROR', named],
  ['updateGuestSchedule AUTHENTICATION_ERROR', named],
  ['deleteGuestSchedule AUTHENTICATION_ERROR', named],
  ['sendGuestSchedule AUTHENTICATION_ERROR', named],
  ['listGuestDeliveries AUTHENTICATION_ERROR', named],
])('%s without a guest token, also with a key of the host', async (pair, write) => {
  for (const bearer of [null, 'wrong', house.apiKey, house.serviceToken])
    await refused(pair, house, write(at('acme-board', 'common')), { bearer });
});

test.each<[Pair, Input]>([
  ['updateGuestMetric INVALID_REQUEST_BODY', { metricId: 'any' }],
  ['deleteGuestMetric INVALID_REQUEST_BODY', { metricId: '\u0001' }],
  ['archiveGuestMetric INVALID_REQUEST_BODY', { metricId: 'any', isArchived: 'no' }],
  ['listGuestViews INVALID_REQUEST_BODY', { dashboardId: 'x'.repeat(256) }],
  ['listGuestMetrics INVALID_REQUEST_BODY', { dashboardId: 'x'.repeat(256) }],
  ['getGuestMetricDefinition INVALID_REQUEST_BODY', { metricId: 'x'.repeat(256) }],
  ['deleteGuestView INVALID_REQUEST_BODY', { dashboardId: 'acme-board' }],
  [
    'previewGuestSchedule INVALID_REQUEST_BODY',
    { dashboardId: 'acme-board', name: 'x', format: 'exe', recurrence: daily },
  ],
  [
    'createGuestSchedule INVALID_REQUEST_BODY',
    { dashboardId: 'acme-board', name: 'x', format: 'exe', recurrence: daily },
  ],
  ['listGuestSchedules INVALID_REQUEST_BODY', { dashboardId: 'x'.repeat(256) }],
  ['listGuestChannels INVALID_REQUEST_BODY', { dashboardId: 'x'.repeat(256) }],
  ['listGuestRecipients INVALID_REQUEST_BODY', { dashboardId: 'x'.repeat(256) }],
  ['listTenantSchedules INVALID_REQUEST_BODY', { dashboardId: 'x'.repeat(256) }],
  ['pauseTenantSchedule INVALID_REQUEST_BODY', { dashboardId: 'acme-board', scheduleId: 'any' }],
  ['deleteTenantSchedule INVALID_REQUEST_BODY', { dashboardId: 'acme-board' }],
  [
    'updateGuestSchedule INVALID_REQUEST_BODY',
    { dashboardId: 'acme-board', scheduleId: 'any', to: 'eve@evil.example' },
  ],
  ['deleteGuestSchedule INVALID_REQUEST_BODY', { dashboardId: 'acme-board' }],
  ['sendGuestSchedule INVALID_REQUEST_BODY', { dashboardId: 'acme-board' }],
  ['listGuestDeliveries INVALID_REQUEST_BODY', { dashboardId: 'acme-board' }],
  ['listGuestBoards INVALID_REQUEST_BODY', { dashboardId: 'x'.repeat(256) }],
  ['createGuestBoard INVALID_REQUEST_BODY', { dashboardId: 'acme-board', name: 'No cards' }],
  ['getGuestBoard INVALID_REQUEST_BODY', { dashboardId: 'acme-board', boardId: 'x'.repeat(256) }],
  ['updateGuestBoard INVALID_REQUEST_BODY', { dashboardId: 'acme-board', boardId: 'any', name: 'No version' }],
  ['deleteGuestBoard INVALID_REQUEST_BODY', { dashboardId: 'acme-board', boardId: 'x'.repeat(256) }],
  ['restoreGuestLayout INVALID_REQUEST_BODY', { dashboardId: 'x'.repeat(256) }],
])('a body that breaks the schema is refused: %s', async (pair, input) => {
  await refused(pair, house, input, { bearer: await guest(house, 'acme') });
});
