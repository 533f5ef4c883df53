/** Schedules that guests make: who may, what is kept, and what a change does to the next moment. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { calendar } from '../../src/delivery/calendar.js';
import type { Code } from '../../src/model/refusal.js';
import { Refusal } from '../../src/model/refusal.js';
import type { Audience } from '../../src/model/schedule/recipients.js';
import { mostSchedules, type Reports } from '../../src/model/schedule/reports.js';
import { reportFormats } from '../../src/model/schedule/schedule.js';
import { findEmbed } from '../../src/service/embeds/lookup.js';
import { getGuestDashboard } from '../../src/service/guest/reads.js';
import { listGuestRecipients } from '../../src/service/schedules/recipients.js';
import {
  createGuestSchedule,
  deleteGuestSchedule,
  listGuestChannels,
  listGuestDeliveries,
  listGuestSchedules,
  openReport,
  previewGuestSchedule,
  sendGuestSchedule,
  updateGuestSchedule,
} from '../../src/service/schedules/schedules.js';
import {
  deleteTenantSchedule,
  listTenantSchedules,
  pauseTenantSchedule,
} from '../../src/service/schedules/tenant-schedules.js';
import { createWorld, planDefaults, settings, type World } from './world.js';

let world: World;
let dashboardId: string;
let closedId: string;
let isOn: boolean;
let audience: Audience | null;
let found: Awaited<ReturnType<Reports['check']>>;
beforeAll(async () => {
  world = await createWorld();
  await world.template('board');
  await world.template('closed');
  dashboardId = await world.embed('board', undefined, { ...settings, isAllowEmailReports: true });
  closedId = await world.embed('closed');
});
beforeEach(() => {
  isOn = true;
  found = 'ready';
  audience = null;
});
afterAll(() => world.close());

const deps = (more: Partial<Reports> = {}) => ({
  ...world.deps,
  reports: {
    ...{ calendar, isOn: () => isOn, isFor: async () => isOn, hasLinks: true, channels: [] },
    check: async () => found,
    listChannels: async () => [],
    findAudience: async () => audience,
    ...more,
  },
});
const guest = (userIdentifier: string | undefined, clientId = 'a', isEnableDownloadMetrics = true) =>
  world.mint({ userIdentifier }, { clientId, permissions: { isEnableDownloadMetrics } });
type Guest = Awaited<ReturnType<typeof guest>>;

const recurrence = { every: 'day', at: '08:00', timezone: 'Europe/Berlin' } as const;
const plan = { ...planDefaults, name: 'Daily', format: 'csv', recurrence } as const;
const create = async (who: Guest, more: object = {}) =>
  createGuestSchedule(deps())(who, { dashboardId, ...plan, ...more });
const refusedWith = async (pair: string, work: Promise<unknown>): Promise<void> => {
  const code = pair.split(' ')[1] as Code;
  await expect(work, pair).rejects.toMatchObject({ code });
};

test('a guest lists, changes and deletes its own schedules', async () => {
  const ann = await guest('ann');
  const made = await create(ann);
  expect(made.nextAt).toEqual(new Date('2024-01-01T07:00:00Z'));
  expect(await listGuestSchedules(deps())(ann, { dashboardId })).toEqual([made]);
  const named = { dashboardId, scheduleId: made.id };
  const changed = await updateGuestSchedule(deps())(ann, { ...named, name: 'Changed', format: 'link' });
  expect(changed).toEqual({ ...made, name: 'Changed', format: 'link' });
  const later = { ...recurrence, at: '09:00' };
  const moved = await updateGuestSchedule(deps())(ann, { ...named, recurrence: later });
  expect(moved.nextAt).toEqual(new Date('2024-01-01T08:00:00Z'));
  expect(await deleteGuestSchedule(deps())(ann, named)).toEqual({ id: made.id });
  expect(await listGuestSchedules(deps())(ann, { dashboardId })).toEqual([]);
});

test('a pause leaves out what passes meanwhile', async () => {
  const ann = await guest('ann');
  const { id: scheduleId } = await create(ann, { isPaused: true });
  await world.store.schedules.setNext(scheduleId, new Date('2023-06-01T06:00:00Z'));
  const resumed = await updateGuestSchedule(deps())(ann, { dashboardId, scheduleId, isPaused: false });
  expect(resumed.nextAt).toEqual(new Date('2024-01-01T07:00:00Z'));
  await deleteGuestSchedule(deps())(ann, { dashboardId, scheduleId });
});

test('a report is asked for once at a time, and is in the history', async () => {
  const ann = await guest('ann');
  const { id: scheduleId } = await create(ann);
  const named = { dashboardId, scheduleId };
  const { id } = await sendGuestSchedule(deps())(ann, named);
  await refusedWith('sendGuestSchedule INVALID_REQUEST_BODY', sendGuestSchedule(deps())(ann, named));
  expect(await listGuestDeliveries(deps())(ann, named)).toMatchObject([
    { id, state: 'due', isRequested: true, recipient: 'ann' },
  ]);
  await deleteGuestSchedule(deps())(ann, named);
});

test('users of the same client, and the same user of another client, have none of it', async () => {
  const { id: scheduleId } = await create(await guest('ann'));
  const named = { dashboardId, scheduleId };
  for (const stranger of [await guest('Ann'), await guest('bob'), await guest('ann', 'b')]) {
    expect(await listGuestSchedules(deps())(stranger, { dashboardId })).toEqual([]);
    const change = { ...named, isPaused: true };
    await refusedWith('updateGuestSchedule SCHEDULE_NOT_FOUND', updateGuestSchedule(deps())(stranger, change));
    await refusedWith('deleteGuestSchedule SCHEDULE_NOT_FOUND', deleteGuestSchedule(deps())(stranger, named));
    await refusedWith('sendGuestSchedule SCHEDULE_NOT_FOUND', sendGuestSchedule(deps())(stranger, named));
    await refusedWith('listGuestDeliveries SCHEDULE_NOT_FOUND', listGuestDeliveries(deps())(stranger, named));
  }
  await deleteGuestSchedule(deps())(await guest('ann'), named);
});

test('nobody schedules where the embed does not allow it, or without a user', async () => {
  const nobody = await guest(undefined);
  await refusedWith('createGuestSchedule UNAUTHORIZED', create(nobody));
  await refusedWith('listGuestSchedules UNAUTHORIZED', listGuestSchedules(deps())(nobody, { dashboardId }));
  const ann = await guest('ann');
  const closed = { dashboardId: closedId, scheduleId: 'any' };
  await refusedWith('createGuestSchedule UNAUTHORIZED', create(ann, { dashboardId: closedId }));
  await refusedWith('listGuestSchedules UNAUTHORIZED', listGuestSchedules(deps())(ann, closed));
  await refusedWith('listGuestChannels UNAUTHORIZED', listGuestChannels(deps())(ann, closed));
  await refusedWith('updateGuestSchedule UNAUTHORIZED', updateGuestSchedule(deps())(ann, closed));
  await refusedWith('deleteGuestSchedule UNAUTHORIZED', deleteGuestSchedule(deps())(ann, closed));
  await refusedWith('sendGuestSchedule UNAUTHORIZED', sendGuestSchedule(deps())(ann, closed));
  await refusedWith('listGuestDeliveries UNAUTHORIZED', listGuestDeliveries(deps())(ann, closed));
});

const alert = {
  metricId: 'board-count',
  measure: 'Sales',
  condition: { is: 'above', value: 5 },
  quietHours: null,
} as const;
const createAlert = (who: Guest, more: object = {}) => create(who, { format: 'alert', alert, ...more });

test('an alert needs no permission to download, and stays an alert', async () => {
  const reader = await guest('reader', 'a', false);
  const made = await createAlert(reader, { mutedUntil: new Date('2024-02-01') });
  expect(made).toMatchObject({ alert, mutedUntil: new Date('2024-02-01'), status: null });
  const named = { dashboardId, scheduleId: made.id };
  const condition = { is: 'missing' } as const;
  const change = { ...named, alert: { ...alert, condition }, mutedUntil: null };
  expect(await updateGuestSchedule(deps())(reader, change)).toMatchObject({ alert: { condition }, mutedUntil: null });
  expect(await listGuestSchedules(deps())(reader, { dashboardId })).toMatchObject([{ alert: { condition } }]);
  const asReport = { ...named, format: 'link' as const };
  await refusedWith('updateGuestSchedule INVALID_REQUEST_BODY', updateGuestSchedule(deps())(reader, asReport));
  await deleteGuestSchedule(deps())(reader, named);
});

test.each([
  ['without a rule', { alert: null }, 'alert: required'],
  ['on a report', { format: 'csv' }, 'alert: belongs to the format alert'],
  ['of another column', { alert: { ...alert, measure: 'Profit' } }, 'alert.measure: expected one of "Sales"'],
  ['of new rows without groups', { alert: { ...alert, condition: { is: 'newKey' } } }, 'needs a metric with groups'],
  ['in malformed quiet hours', { alert: { ...alert, quietHours: { from: '7', to: '8' } } }, 'expected times of day'],
  [
    'that is always quiet',
    { alert: { ...alert, quietHours: { from: '07:00', to: '09:00' } } },
    'every moment of the recurrence',
  ],
])('an alert %s is refused', async (_, more, message) => {
  const work = createAlert(await guest('ann'), more);
  await expect(work).rejects.toMatchObject({ code: 'INVALID_REQUEST_BODY', message: expect.stringContaining(message) });
});

test('an alert on a metric that is hidden, or of another dashboard, is refused', async () => {
  const hidden = await world.mint(
    { userIdentifier: 'ann', hideDashboardMetrics: [{ dashboardId: 'board', metricIds: ['board-count'] }] },
    { permissions: { isEnableDownloadMetrics: true } },
  );
  await refusedWith('createGuestSchedule UNAUTHORIZED', createAlert(hidden));
  const other = { alert: { ...alert, metricId: 'closed-count' } };
  await refusedWith('createGuestSchedule UNAUTHORIZED', createAlert(await guest('ann'), other));
});

test('the status of an alert is shown to the right that it was found by, and to no other', async () => {
  const restricted = (state: string) =>
    world.mint(
      {
        userIdentifier: 'ann',
        dashboardAppFilters: [{ dashboardId: 'board', values: { State: state }, isShowOnUrl: false }],
      },
      { permissions: { isEnableDownloadMetrics: true } },
    );
  const ann = await restricted('CA');
  const made = await createAlert(ann);
  const named = { dashboardId, scheduleId: made.id };
  const opened = await openReport(deps())(ann, made, 'ann');
  const { right, rule } = opened.alert ?? { right: '', rule: '' };
  const since = '2024-01-01T00:00:00.000Z';
  const state = { right, rule, isBreached: true, since, value: 6, keys: [], isAnew: false };
  const delivery = { id: 'd', moment: new Date(since), isRequested: true, state: 'due', reason: null } as const;
  const now = new Date(since);
  await world.store.deliveries.insert(made, [delivery], now);
  const claim = { now, leaseId: 'l', leasedUntil: new Date('2024-01-02'), limit: 1 };
  await world.store.deliveries.claim({ ...claim, perClient: { count: 10, since: now } });
  await world.store.deliveries.finish('d', 'l', { state: 'sent', at: now }, state);
  const statusFor = async (who: Guest) => (await listGuestSchedules(deps())(who, { dashboardId }))[0]?.status;
  expect(await statusFor(await restricted('CA'))).toEqual({ isBreached: true, since });
  expect(await statusFor(await restricted('NV'))).toBeNull();
  expect(await statusFor(await guest('ann'))).toBeNull();
  const quieter = { ...alert, quietHours: { from: '22:00', to: '06:00' } };
  expect(await updateGuestSchedule(deps())(ann, { ...named, alert: quieter })).toMatchObject({ status: { since } });
  const higher = { ...alert, condition: { is: 'above', value: 7 } } as const;
  expect(await updateGuestSchedule(deps())(ann, { ...named, alert: higher })).toMatchObject({ status: null });
  await deleteGuestSchedule(deps())(ann, named);
});

test('files need the permission to download, and links a page to link to', async () => {
  const reader = await guest('reader', 'a', false);
  await refusedWith('createGuestSchedule UNAUTHORIZED', create(reader));
  const { id: scheduleId } = await create(reader, { format: 'link' });
  const change = { dashboardId, scheduleId, format: 'pdf' as const };
  await refusedWith('updateGuestSchedule UNAUTHORIZED', updateGuestSchedule(deps())(reader, change));
  const without = createGuestSchedule(deps({ hasLinks: false }));
  const link = { dashboardId, ...plan, format: 'link' as const };
  await refusedWith('createGuestSchedule INVALID_REQUEST_BODY', without(reader, link));
  await deleteGuestSchedule(deps())(reader, { dashboardId, scheduleId });
});

test.each([
  ['are off', () => (isOn = false)],
  ['have no address', () => (found = 'no-address')],
])('nothing is scheduled or sent where reports %s', async (_, end) => {
  const ann = await guest('ann');
  const { id: scheduleId } = await create(ann);
  end();
  await refusedWith('createGuestSchedule UNAUTHORIZED', create(ann));
  await refusedWith('sendGuestSchedule UNAUTHORIZED', sendGuestSchedule(deps())(ann, { dashboardId, scheduleId }));
  expect(await world.store.deliveries.list(scheduleId, 10)).toEqual([]);
  await deleteGuestSchedule(deps())(ann, { dashboardId, scheduleId });
});

test('a report keeps filters and metrics that its user may read, under their own names', async () => {
  const ann = await guest('ann');
  const made = await create(ann, { dashboardFilter: { state: ['CA'] }, metricIds: ['board-count'] });
  expect(made).toMatchObject({ dashboardFilter: { State: ['CA'] }, metricIds: ['board-count'] });
  const named = { dashboardId, scheduleId: made.id };
  const update = (change: object) => updateGuestSchedule(deps())(ann, { ...named, ...change });
  expect(await update({ name: 'Kept' })).toMatchObject({ dashboardFilter: { State: ['CA'] } });
  await refusedWith('updateGuestSchedule INVALID_REQUEST_BODY', update({ format: 'link' }));
  await refusedWith('updateGuestSchedule INVALID_REQUEST_BODY', update({ dashboardFilter: { Other: 1 } }));
  await refusedWith('updateGuestSchedule UNAUTHORIZED', update({ metricIds: ['closed-count'] }));
  const without = await update({ format: 'link', dashboardFilter: {}, metricIds: null });
  expect(without).toMatchObject({ dashboardFilter: {}, metricIds: null });
  await deleteGuestSchedule(deps())(ann, named);
});

test.each([
  ['another dashboard’s metric', 'UNAUTHORIZED', { metricIds: ['closed-count'] }],
  ['a filter that is not there', 'INVALID_REQUEST_BODY', { dashboardFilter: { Other: ['CA'] } }],
  ['a value of another type', 'INVALID_REQUEST_BODY', { dashboardFilter: { State: { from: '2024-01-01' } } }],
  ['filters of an alert', 'INVALID_REQUEST_BODY', { format: 'alert', alert, dashboardFilter: { State: ['CA'] } }],
  ['metrics of a link', 'INVALID_REQUEST_BODY', { format: 'link', metricIds: ['board-count'] }],
])('a report of %s is refused', async (_, code, more) => {
  await refusedWith(`createGuestSchedule ${code}`, create(await guest('ann'), more));
});

test('a filter or metric that is hidden from the token is neither taken nor shown', async () => {
  const seeing = await guest('ann');
  const hidden = await world.mint(
    {
      userIdentifier: 'ann',
      hideDashboardFilters: ['State'],
      hideDashboardMetrics: [{ dashboardId: 'board', metricIds: ['board-count'] }],
    },
    { permissions: { isEnableDownloadMetrics: true } },
  );
  const filtered = { dashboardFilter: { State: ['CA'] } };
  await refusedWith('createGuestSchedule INVALID_REQUEST_BODY', create(hidden, filtered));
  await refusedWith('createGuestSchedule UNAUTHORIZED', create(hidden, { metricIds: ['board-count'] }));
  const { id: scheduleId } = await create(seeing, { ...filtered, metricIds: ['board-count'] });
  const filtersFor = async (who: Guest) =>
    (await listGuestSchedules(deps())(who, { dashboardId })).map(({ id, dashboardFilter }) => [id, dashboardFilter]);
  expect(await filtersFor(hidden)).toEqual([[scheduleId, {}]]);
  expect(await filtersFor(seeing)).toEqual([[scheduleId, filtered.dashboardFilter]]);
  await deleteGuestSchedule(deps())(seeing, { dashboardId, scheduleId });
});

const each = (...names: readonly string[]) =>
  names.reduce<readonly Record<string, boolean>[]>(
    (all, name) => all.flatMap((one) => [true, false].map((is) => ({ ...one, [name]: is }))),
    [{}],
  );

test.each(each('isOpen', 'hasUser', 'isOn', 'mayDownload', 'hasLinks'))(
  'a dashboard names the formats that can be scheduled, and no other: %o',
  async (given) => {
    isOn = given.isOn === true;
    const may = deps({ hasLinks: given.hasLinks === true });
    const who = await guest(given.hasUser === true ? 'offered' : undefined, 'a', given.mayDownload);
    const id = given.isOpen === true ? dashboardId : closedId;
    const { scheduleFormats = [] } = await getGuestDashboard(may)(who, { dashboardId: id });
    const made: string[] = [];
    for (const format of reportFormats) {
      const asked = { dashboardId: id, ...plan, format, ...(format === 'alert' ? { alert } : {}) };
      await createGuestSchedule(may)(who, asked).then(
        async (schedule) => {
          made.push(format);
          await deleteGuestSchedule(may)(who, { dashboardId: id, scheduleId: schedule.id });
        },
        (error) => expect(error).toMatchObject({ name: 'Refusal' }),
      );
    }
    expect(scheduleFormats).toEqual(made);
    const view = await getGuestDashboard(may)({ ...who, isView: true }, { dashboardId: id });
    expect([view.scheduleFormats, view.chat, view.hasSummary]).toEqual([undefined, undefined, undefined]);
    expect(view.permissions).toMatchObject({ isEnableCreateDashboard: false, isDisableMetricCreation: true });
    expect(made.length > 0).toBe(given.isOpen && given.hasUser && given.isOn);
  },
);

test('a view of a person without access to data opens with no view that the user saved', async () => {
  const viewer = await guest('viewer');
  const { store } = deps();
  const opened = await findEmbed(store, viewer.grant.dataAppId, dashboardId);
  if (opened === undefined) throw new Error('there is no such dashboard');
  const choices = { dashboardFilter: {}, metricFilter: {}, filterNames: {}, savedUnder: undefined };
  const saved = { id: randomUUID(), name: 'Mine', isShared: false, isDefault: true, ...choices };
  await store.guestViews.insert(opened.dashboard.id, viewer.grant, saved, new Date());
  const opensWith = async (isBlind: { readonly isBlind?: true }) =>
    (await getGuestDashboard(deps())({ ...viewer, isView: true, ...isBlind }, { dashboardId })).defaultView;
  expect((await opensWith({}))?.name).toBe('Mine');
  expect(await opensWith({ isBlind: true })).toBeNull();
});

test('a recurrence without a meaning is refused with its place', async () => {
  const ann = await guest('ann');
  for (const bad of [
    { ...recurrence, at: '25:00' },
    { ...recurrence, timezone: 'Mars/Base' },
    { cron: '* * * * *', timezone: 'UTC' },
  ]) {
    const refusal = {
      code: 'INVALID_REQUEST_BODY',
      message: expect.stringMatching(/^recurrence\.(at|timezone|cron): /),
    };
    await expect(create(ann, { recurrence: bad })).rejects.toMatchObject(refusal);
  }
});

test('a user has a bounded number of schedules', async () => {
  const many = await guest('many');
  for (let made = 0; made < mostSchedules; made += 1) await create(many);
  await refusedWith('createGuestSchedule INVALID_REQUEST_BODY', create(many));
  expect(await listGuestSchedules(deps())(many, { dashboardId })).toHaveLength(mostSchedules);
});

test('a report opens for its owner alone, and for the dashboard that it was made for', async () => {
  const ann = await guest('ann');
  const schedule = await create(ann);
  expect(await openReport(deps())(ann, schedule, 'ann')).toMatchObject({ name: 'board', metrics: [{ name: 'Sales' }] });
  for (const stranger of [await guest('bob'), await guest('ann', 'b'), await guest(undefined)]) {
    await expect(openReport(deps())(stranger, schedule, 'ann')).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
  }
  const anew = { ...schedule, dashboardId: 'another' };
  await expect(openReport(deps())(ann, anew, 'ann')).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
  const reader = await guest('ann', 'a', false);
  await expect(openReport(deps())(reader, schedule, 'ann')).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
});

const everyone: Audience = {
  users: [
    { userIdentifier: 'ann', address: 'ann@customer.example' },
    { userIdentifier: 'bob', address: null },
  ],
  roles: ['sales'],
  domains: ['partner.example'],
};

test('only those whom the policy lets send to others, and manage what others made', async () => {
  const olga = await guest('olga');
  const { id: scheduleId } = await create(olga);
  const named = { dashboardId, scheduleId };
  expect(await listGuestRecipients(deps())(olga, { dashboardId })).toBeNull();
  await refusedWith('createGuestSchedule UNAUTHORIZED', create(olga, { recipients: { ...none, roles: ['sales'] } }));
  await refusedWith('listTenantSchedules UNAUTHORIZED', listTenantSchedules(deps())(olga, { dashboardId }));
  await refusedWith(
    'pauseTenantSchedule UNAUTHORIZED',
    pauseTenantSchedule(deps())(olga, { ...named, isPaused: true }),
  );
  await refusedWith('deleteTenantSchedule UNAUTHORIZED', deleteTenantSchedule(deps())(olga, named));
  audience = everyone;
  const stranger = await guest('olga', 'b');
  expect(await listTenantSchedules(deps())(stranger, { dashboardId })).toEqual([]);
  await refusedWith(
    'pauseTenantSchedule SCHEDULE_NOT_FOUND',
    pauseTenantSchedule(deps())(stranger, { ...named, isPaused: true }),
  );
  await refusedWith('deleteTenantSchedule SCHEDULE_NOT_FOUND', deleteTenantSchedule(deps())(stranger, named));
  const bob = await guest('bob');
  const listed = await listTenantSchedules(deps())(bob, { dashboardId });
  expect(listed.find(({ id }) => id === scheduleId)?.owner).toMatchObject({ clientId: 'a', userIdentifier: 'olga' });
  expect(listed.every(({ owner }) => owner.clientId === 'a')).toBe(true);
  expect(await pauseTenantSchedule(deps())(bob, { ...named, isPaused: true })).toEqual({ id: scheduleId });
  expect(await listGuestSchedules(deps())(olga, { dashboardId })).toMatchObject([{ isPaused: true }]);
  expect(await deleteTenantSchedule(deps())(bob, named)).toEqual({ id: scheduleId });
  expect(await listGuestSchedules(deps())(olga, { dashboardId })).toEqual([]);
});

const none = { users: [], roles: [], addresses: [] };
test.each([
  ['nobody', none, ': expected a user'],
  ['a user of whom nothing is known', { ...none, users: ['ann', 'eve'] }, '.users[1]'],
  ['an address of another domain', { ...none, addresses: ['eve@evil.example'] }, '.addresses[0]'],
])('recipients that are %s are refused', async (_, recipients, place) => {
  audience = everyone;
  const work = create(await guest('ann'), { recipients });
  const message = expect.stringContaining(`recipients${place}`);
  await expect(work).rejects.toMatchObject({ code: 'INVALID_REQUEST_BODY', message });
});

test('what goes to a channel has no recipients', async () => {
  audience = everyone;
  const ann = await guest('ann');
  const recipients = { ...none, users: ['bob'] };
  const both = createAlert(ann, { recipients, channel: 'team' });
  await refusedWith('createGuestSchedule INVALID_REQUEST_BODY', both);
  const { id: scheduleId } = await create(ann, { recipients });
  const change = { dashboardId, scheduleId, format: 'link', channel: 'team' } as const;
  await refusedWith('updateGuestSchedule INVALID_REQUEST_BODY', updateGuestSchedule(deps())(ann, change));
  const mine = await updateGuestSchedule(deps())(ann, { dashboardId, scheduleId, recipients: null });
  expect(mine.recipients).toBeNull();
  await deleteGuestSchedule(deps())(ann, { dashboardId, scheduleId });
});

test('whether an alert to others can be sent again does not depend on what others were told', async () => {
  audience = everyone;
  const ann = await guest('ann');
  const { id: scheduleId } = await createAlert(ann, { recipients: { ...none, users: ['bob'] } });
  const named = { dashboardId, scheduleId };
  const now = deps().clock.now();
  const sendAfter = (seconds: number) =>
    sendGuestSchedule({ ...deps(), clock: { now: () => new Date(now.getTime() + seconds * 1000) } })(ann, named);
  await sendAfter(0);
  await refusedWith('sendGuestSchedule INVALID_REQUEST_BODY', sendAfter(59));
  expect(await world.store.deliveries.hasOpen(scheduleId)).toBe(true);
  expect(await sendAfter(61)).toEqual({ id: expect.any(String) });
  await deleteGuestSchedule(deps())(ann, named);
});

test('a schedule whose maker may no longer send to others can still be paused and deleted by its maker', async () => {
  audience = everyone;
  const ann = await guest('ann');
  const recipients = { ...none, users: ['bob'] };
  const { id: scheduleId } = await create(ann, { recipients });
  const named = { dashboardId, scheduleId };
  audience = null;
  await refusedWith('sendGuestSchedule UNAUTHORIZED', sendGuestSchedule(deps())(ann, named));
  await refusedWith('updateGuestSchedule UNAUTHORIZED', updateGuestSchedule(deps())(ann, { ...named, recipients }));
  expect(await updateGuestSchedule(deps())(ann, { ...named, isPaused: true })).toMatchObject({ isPaused: true });
  expect(await deleteGuestSchedule(deps())(ann, named)).toEqual({ id: scheduleId });
});

test('a mail that cannot be drawn now is refused as the sending says, and leaves no schedule', async () => {
  const ann = await guest('preview');
  const preview = () => Promise.reject(new Refusal('METRIC_QUERY_ERROR', 'It cannot be drawn now.'));
  const without = { ...deps(), reports: { ...deps().reports, preview } };
  const asked = previewGuestSchedule(without)(ann, { dashboardId, ...plan }, new AbortController().signal);
  await refusedWith('previewGuestSchedule METRIC_QUERY_ERROR', asked);
  expect(await listGuestSchedules(deps())(ann, { dashboardId })).toEqual([]);
});
