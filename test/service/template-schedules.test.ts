/** Schedules of the host for all tenants of a template: what is kept, refused and shown. Sending is tested in test/delivery. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { calendar } from '../../src/delivery/calendar.js';
import type { GuestCaller } from '../../src/model/guest/caller.js';
import type { GuestReports } from '../../src/model/guest/mail-preview.js';
import type { Person } from '../../src/model/person.js';
import type { Code } from '../../src/model/refusal.js';
import { tenantRecipient } from '../../src/model/schedule/host-schedule.js';
import { createDashboardEmbed } from '../../src/service/dashboards/embeds.js';
import {
  createTemplateSchedule,
  deleteTemplateSchedule,
  listTemplateDeliveries,
  listTemplateSchedules,
  previewTemplateSchedule,
  sendTemplateSchedule,
  updateTemplateSchedule,
} from '../../src/service/schedules/template-schedules.js';
import { createWorld, planDefaults, settings, type World } from './world.js';

let world: World;
let isOn = true;
beforeAll(async () => {
  world = await createWorld();
  await world.template('delays');
});
beforeEach(() => {
  isOn = true;
});
afterAll(() => world.close());

const deps = (hasLinks = true) => ({
  ...world.deps,
  ids: { uuid: randomUUID },
  reports: {
    ...{ calendar, hasLinks, channels: ['ops'] },
    isFor: async (dataAppId: string, channel: string | null) =>
      (isOn || channel !== null) && dataAppId === world.api().dataAppId,
  },
});
const recurrence = { every: 'day', at: '08:00', timezone: 'Europe/Berlin' } as const;
const recipients = { users: [], roles: ['manager'], addresses: [] };
const plan = { ...planDefaults, dashboardId: 'delays', name: 'Daily', format: 'csv', recurrence, recipients } as const;
const create = (more: object = {}, app: 'app' | 'other' = 'app') =>
  createTemplateSchedule(deps())(world.api(app), { ...plan, ...more });
const remove = (scheduleId: string) => deleteTemplateSchedule(deps())(world.api(), { scheduleId });
const refusedWith = async (pair: string, work: Promise<unknown>, message?: string): Promise<void> => {
  const code = pair.split(' ')[1] as Code;
  const found = message === undefined ? {} : { message: expect.stringContaining(message) };
  await expect(work, pair).rejects.toMatchObject({ code, ...found });
};

test('the host makes, reads, changes and deletes them', async () => {
  const made = await create();
  const { id: scheduleId } = made;
  expect(made).toMatchObject({ templateName: 'delays', isPaused: false, last: null, recipients });
  expect(made.nextAt).toEqual(new Date('2024-01-01T07:00:00Z'));
  const newer = await create({ name: 'Newer' });
  const { store } = world;
  const listed = await listTemplateSchedules({ store })(world.api(), {});
  expect(new Set(listed.map(({ id }) => id))).toEqual(new Set([newer.id, scheduleId]));
  const changed = await updateTemplateSchedule(deps())(world.api(), { scheduleId, name: 'Changed', isPaused: true });
  expect(changed).toEqual({ ...made, name: 'Changed', isPaused: true });
  expect(await listTemplateSchedules({ store })(world.api(), { scheduleId })).toEqual([changed]);
  // What passed during the pause is left out.
  await store.schedules.setNext(scheduleId, new Date('2023-06-01T06:00:00Z'));
  const resumed = await updateTemplateSchedule(deps())(world.api(), { scheduleId, isPaused: false });
  expect(resumed.nextAt).toEqual(made.nextAt);
  const later = await updateTemplateSchedule(deps())(world.api(), {
    ...{ scheduleId, recurrence: { ...recurrence, at: '09:00' }, dashboardFilter: { state: ['CA'] } },
    ...{ metricIds: ['delays-count'], recipients: { users: ['ann'], roles: [], addresses: [] } },
  });
  expect(later).toMatchObject({ dashboardFilter: { State: ['CA'] }, recipients: { users: ['ann'], roles: [] } });
  expect(later.nextAt).toEqual(new Date('2024-01-01T08:00:00Z'));
  expect(await remove(scheduleId)).toEqual({ id: scheduleId });
  await remove(newer.id);
});

test('no guest sees or changes them', async () => {
  const { id } = await create();
  const { store } = world;
  const guest = { dataAppId: world.api().dataAppId, clientId: 'a', userIdentifier: 'ann' };
  expect(await store.schedules.list('board-delays', guest)).toEqual([]);
  expect(await store.schedules.delete('board-delays', guest, id)).toBe(false);
  expect(await store.schedules.listAll({ dataAppId: guest.dataAppId, clientId: 'a' }, 9)).toEqual([]);
  expect(await store.schedules.pauseOf({ dataAppId: guest.dataAppId, clientId: 'a' }, id)).toBe(false);
  await remove(id);
});

test('another data app has none of them', async () => {
  const { id: scheduleId } = await create();
  const { store } = world;
  const other = world.api('other');
  expect(await listTemplateSchedules({ store })(other, {})).toEqual([]);
  const named = { scheduleId };
  await refusedWith('listTemplateSchedules SCHEDULE_NOT_FOUND', listTemplateSchedules({ store })(other, named));
  await refusedWith('updateTemplateSchedule SCHEDULE_NOT_FOUND', updateTemplateSchedule(deps())(other, named));
  await refusedWith('deleteTemplateSchedule SCHEDULE_NOT_FOUND', deleteTemplateSchedule(deps())(other, named));
  await refusedWith('listTemplateDeliveries SCHEDULE_NOT_FOUND', listTemplateDeliveries({ store })(other, named));
  await refusedWith(
    'createTemplateSchedule INVALID_REQUEST_BODY',
    create({}, 'other'),
    'No report is sent for data app',
  );
  const unknown = { scheduleId: randomUUID() };
  await refusedWith('sendTemplateSchedule SCHEDULE_NOT_FOUND', sendTemplateSchedule(deps())(world.api(), unknown));
  await remove(scheduleId);
});

test.each([
  ['recurrence.at', { recurrence: { ...recurrence, at: '25:00' } }],
  ['recipients: expected at least one', { recipients: { users: [], roles: [], addresses: [] } }],
  ['metricIds[1]: the template has no such metric', { metricIds: ['delays-count', 'theirs'] }],
  ['dashboardFilter["Country"]', { dashboardFilter: { Country: ['US'] } }],
  ['dashboardFilter["State"]: takes', { dashboardFilter: { State: { from: 1 } } }],
  ['format: filters and metrics', { format: 'link', metricIds: ['delays-count'] }],
  ['channel: files go by e-mail only', { channel: 'ops' }],
  ['channel: expected one of ops', { format: 'link', channel: 'theirs' }],
])('what could send nothing is refused with its place: %s', async (message, more: object) => {
  await refusedWith('createTemplateSchedule INVALID_REQUEST_BODY', create(more), message);
  const { id: scheduleId } = await create();
  const change = updateTemplateSchedule(deps())(world.api(), { scheduleId, ...more });
  await refusedWith('updateTemplateSchedule INVALID_REQUEST_BODY', change, message);
  await remove(scheduleId);
});

const alert = {
  metricId: 'delays-count',
  measure: 'Sales',
  condition: { is: 'above', value: 5 },
  quietHours: null,
} as const;
const quietAllDay = { from: '07:00', to: '09:00' };

test.each([
  ['alert: required for the format alert', { alert: null }],
  ['alert: belongs to the format alert only', { format: 'csv' }],
  ['alert.metricId: the template has no such metric', { alert: { ...alert, metricId: 'theirs' } }],
  ['alert.measure: expected one of "Sales"', { alert: { ...alert, measure: 'Rows' } }],
  ['alert.condition: newKey needs a metric with groups', { alert: { ...alert, condition: { is: 'newKey' } } }],
  ['alert.quietHours: every moment of the recurrence', { alert: { ...alert, quietHours: quietAllDay } }],
  ['alert.quietHours: expected times of day', { alert: { ...alert, quietHours: { from: '7', to: '9' } } }],
  ['format: filters and metrics', { dashboardFilter: { State: ['CA'] } }],
  ['channel: expected one of ops', { channel: 'theirs' }],
])('an alert that could tell nothing is refused with its place: %s', async (message, more: object) => {
  const asked = create({ format: 'alert', alert, ...more });
  await refusedWith('createTemplateSchedule INVALID_REQUEST_BODY', asked, message);
});

test('an alert is kept with its channel, also where no mail is sent, and never becomes a report', async () => {
  isOn = false;
  const made = await create({ format: 'alert', alert, channel: 'ops' });
  expect(made).toMatchObject({ alert, channel: 'ops', format: 'alert' });
  const { id: scheduleId } = made;
  const update = (more: object) => updateTemplateSchedule(deps())(world.api(), { scheduleId, ...more });
  const condition = { is: 'below', value: 1 } as const;
  expect(await update({ alert: { ...alert, condition } })).toMatchObject({ alert: { condition }, channel: 'ops' });
  await refusedWith('updateTemplateSchedule INVALID_REQUEST_BODY', update({ channel: null }), 'No report is sent');
  isOn = true;
  expect(await update({ channel: null })).toMatchObject({ channel: null });
  await refusedWith('updateTemplateSchedule INVALID_REQUEST_BODY', update({ format: 'csv' }), 'an alert stays');
  await remove(scheduleId);
  const report = await create();
  const asAlert = updateTemplateSchedule(deps())(world.api(), { scheduleId: report.id, format: 'alert', alert });
  await refusedWith('updateTemplateSchedule INVALID_REQUEST_BODY', asAlert, 'an alert stays');
  await remove(report.id);
});

test('one whose channel the configuration lost can be paused and renamed still, and nothing else', async () => {
  const { id: scheduleId } = await create({ format: 'alert', alert, channel: 'ops' });
  const without = { ...deps(), reports: { ...deps().reports, channels: [] } };
  const update = (more: object) => updateTemplateSchedule(without)(world.api(), { scheduleId, ...more });
  expect(await update({ isPaused: true, name: 'Off' })).toMatchObject({ isPaused: true, name: 'Off', channel: 'ops' });
  const other = update({ recurrence: { ...recurrence, at: '09:00' } });
  await refusedWith('updateTemplateSchedule INVALID_REQUEST_BODY', other, 'channel: expected null');
  expect(await update({ channel: null })).toMatchObject({ channel: null });
  await remove(scheduleId);
});

test.each([
  ['what an alert found', { format: 'alert', alert } as const],
  ['whether a file could be read', { format: 'csv' } as const],
])('a person who sees no data is not told %s', async (_, format) => {
  const { id: scheduleId } = await create({ ...format, isPaused: true });
  const { store } = world;
  const [schedule] = await store.schedules.listOfHost(world.api().dataAppId, scheduleId);
  if (schedule === undefined) throw new Error('the schedule is there');
  const moment = world.deps.clock.now();
  const skipped = (user: string, reason: 'nothing-to-tell' | 'no-right') =>
    ({
      id: `found-${user}-${scheduleId}`,
      moment,
      isRequested: false,
      state: 'skipped',
      reason,
      recipient: tenantRecipient('a', user),
    }) as const;
  await store.deliveries.insert(schedule, [skipped('ann', 'nothing-to-tell'), skipped('bob', 'no-right')], moment);
  const reasonsFor = async (caller = world.api()) =>
    (await listTemplateDeliveries({ store })(caller, { scheduleId })).map(({ state, reason }) => [state, reason]);
  const lastFor = async (caller = world.api()) =>
    (await listTemplateSchedules({ store })(caller, { scheduleId }))[0]?.last?.counts;
  const person: Person = { ...{ issuer: 'i', subject: 's', name: 'Sue', roles: ['publisher'] }, seesData: false };
  const blind = { ...world.api(), person };
  const seen = [
    ['skipped', 'no-right'],
    ['skipped', 'nothing-to-tell'],
  ];
  expect((await reasonsFor()).toSorted()).toEqual(seen);
  expect(await reasonsFor({ ...blind, person: { ...person, seesData: true } })).toHaveLength(2);
  expect(await lastFor()).toEqual({ skipped: 2 });
  expect((await reasonsFor(blind)).toSorted()).toEqual([
    ['checked', null],
    ['skipped', 'no-right'],
  ]);
  expect(await lastFor(blind)).toEqual({ checked: 2 });
  await remove(scheduleId);
});

test.each([
  ['a message of an alert is on its way', { format: 'alert', alert } as const],
  ['a file is tried again', { format: 'csv' } as const],
])('a person who sees no data is not told by a refusal that %s', async (_, format) => {
  const { id: scheduleId } = await create({ ...format, isPaused: true });
  const { store } = world;
  const [schedule] = await store.schedules.listOfHost(world.api().dataAppId, scheduleId);
  if (schedule === undefined) throw new Error('the schedule is there');
  const moment = world.deps.clock.now();
  const open = { id: `open-ann-${scheduleId}`, moment, isRequested: false, state: 'due', reason: null } as const;
  await store.deliveries.insert(schedule, [{ ...open, recipient: tenantRecipient('a', 'ann') }], moment);
  const send = (caller = world.api()) => sendTemplateSchedule(deps())(caller, { scheduleId });
  await refusedWith('sendTemplateSchedule INVALID_REQUEST_BODY', send(), 'on its way');
  const person: Person = { ...{ issuer: 'i', subject: 's', name: 'Sue', roles: ['publisher'] }, seesData: false };
  const blind = { ...world.api(), person };
  await send(blind);
  await refusedWith('sendTemplateSchedule INVALID_REQUEST_BODY', send(blind), 'asked for');
  await remove(scheduleId);
});

test('templates, links and mail that are not there are said', async () => {
  await refusedWith('createTemplateSchedule INVALID_DASHBOARD_ID', create({ dashboardId: 'unknown' }), '"unknown"');
  const copy = await world.clone('delays', 'delays--a');
  expect(copy).not.toBe('');
  // A tenant's copy is no template.
  await refusedWith('createTemplateSchedule INVALID_DASHBOARD_ID', create({ dashboardId: 'delays--a' }));
  const link = createTemplateSchedule(deps(false))(world.api(), { ...plan, format: 'link' });
  await refusedWith('createTemplateSchedule INVALID_REQUEST_BODY', link, 'mail.dashboardUrl');
  isOn = false;
  await refusedWith('createTemplateSchedule INVALID_REQUEST_BODY', create(), 'GUESTLIST_SMTP_URL');
});

test('a template has at most twenty', async () => {
  const made = await Promise.all(Array.from({ length: 20 }, () => create()));
  await refusedWith('createTemplateSchedule INVALID_REQUEST_BODY', create(), 'may be 20');
  for (const { id } of made) await remove(id);
});

test('one report is asked for at a time, and the history names tenants and users', async () => {
  const { id: scheduleId } = await create({ isPaused: true });
  const { store } = world;
  const { id } = await sendTemplateSchedule(deps())(world.api(), { scheduleId });
  const again = sendTemplateSchedule(deps())(world.api(), { scheduleId });
  await refusedWith('sendTemplateSchedule INVALID_REQUEST_BODY', again, 'on its way');
  const now = world.deps.clock.now();
  const [claimed] = await store.deliveries.claim({
    ...{ now, leaseId: 'l', limit: 1, leasedUntil: new Date(now.getTime() + 60_000) },
    perClient: { count: 9, since: now },
  });
  expect(claimed).toMatchObject({ id, clientId: '', recipient: '' });
  const board = await store.dashboards.findByExternalId(world.api().dataAppId, 'delays--a');
  const shares = [
    {
      id: 'd1',
      recipient: tenantRecipient('a', 'x|ann@customer.example'),
      copy: { clientId: 'a', dashboardId: board?.id ?? '' },
    },
    { id: 'd2', recipient: tenantRecipient('gone', ''), copy: { clientId: 'gone', dashboardId: 'no-board' } },
  ];
  expect(await store.deliveries.share(id, 'l', shares, now)).toBe(true);
  const list = (more: object = {}, caller = world.api()) =>
    listTemplateDeliveries({ store })(caller, { scheduleId, ...more });
  const expected = { id: 'd1', clientId: 'a', recipient: 'x|ann@customer.example', state: 'due' };
  expect(await list()).toMatchObject([expected]);
  expect(await list({ clientId: 'a' })).toMatchObject([expected]);
  expect(await list({ clientId: 'b' })).toEqual([]);
  const person: Person = { ...{ issuer: 'i', subject: 's', name: 'Sue', roles: ['auditor'] }, seesData: false };
  expect(await list({}, { ...world.api(), person })).toMatchObject([{ recipient: 'x|a…@customer.example' }]);
  expect((await listTemplateSchedules({ store })(world.api(), { scheduleId }))[0]?.last).toEqual({
    moment: now,
    counts: { due: 1 },
  });
  isOn = false;
  const off = sendTemplateSchedule(deps())(world.api(), { scheduleId });
  await refusedWith('sendTemplateSchedule INVALID_REQUEST_BODY', off, 'No report is sent');
  await remove(scheduleId);
});

describe('the mail before it is made', () => {
  const read: { readonly caller: GuestCaller; readonly reader: string; readonly metrics: readonly string[] }[] = [];
  beforeAll(async () => {
    for (const [clientId, isAllowEmailReports] of [
      ['a', true],
      ['b', true],
      ['c', false],
    ] as const)
      await createDashboardEmbed(world.deps)(
        world.api(),
        {
          ...{ dashboardId: `delays-${clientId}`, clientId, workspaceName: 'space', templateDashboardId: 'delays' },
          accessSettings: { ...settings, isAllowEmailReports },
          ...{ isImportMetrics: true, isAllowPrivateMetricsByDefault: false, isRenameDashboard: false },
        },
        new AbortController().signal,
      );
  });
  beforeEach(() => {
    read.length = 0;
  });

  /** Each tenant has a user ann, who is a manager and may log in. */
  const preview = async (more: object = {}, reports: Partial<GuestReports> = {}) => {
    const port: GuestReports = {
      ...{ ...world.deps.reports, ...deps().reports, isOn: () => true, check: async () => 'ready' },
      openReader: async ({ clientId, userIdentifier }) => {
        if (userIdentifier !== 'ann') return null;
        const permissions = { isEnableDownloadMetrics: true };
        return { caller: await world.mint({ userIdentifier }, { clientId, permissions }), roles: ['manager'] };
      },
      copyIdOf: (name, clientId) => `${name}-${clientId}`,
      preview: async (caller, { reader, opened }) => {
        read.push({ caller, reader, metrics: opened.metrics.map(({ metricId }) => metricId) });
        return { subject: 'Daily', html: '', text: '', files: [] };
      },
      ...reports,
    };
    const asked = { ...plan, clientId: 'a', user: 'ann', ...more };
    const { signal } = new AbortController();
    return previewTemplateSchedule({ ...deps(), reports: port, tag: world.deps.tag })(world.api(), asked, signal);
  };

  test.each(['a', 'b'])(
    'is read as the user of tenant %s whom the host names, of the copy of that tenant',
    async (clientId) => {
      const copy = await world.store.dashboards.findByExternalId(world.api().dataAppId, `delays-${clientId}`);
      const [placed] = await world.store.dashboards.listMetrics(copy?.id ?? '');
      expect(await preview({ clientId, metricIds: ['delays-count'] })).toMatchObject({ subject: 'Daily' });
      expect(read).toMatchObject([{ reader: 'ann', metrics: [placed?.metric.metricId] }]);
      expect(read[0]?.caller.grant).toMatchObject({ clientId, userIdentifier: 'ann' });
      expect(await listTemplateSchedules({ store: world.store })(world.api(), {})).toEqual([]);
    },
  );

  test.each([
    ['who may not log in', { user: 'bob', recipients: { users: ['bob'], roles: [], addresses: [] } }, 'UNAUTHORIZED'],
    [
      'whom the report does not name',
      { recipients: { users: ['bob'], roles: ['head'], addresses: [] } },
      'UNAUTHORIZED',
    ],
    ['whose tenant gets no reports', { clientId: 'c' }, 'UNAUTHORIZED'],
    ['of a tenant without a copy', { clientId: 'd' }, 'INVALID_DASHBOARD_ID'],
    ['of a template that is not there', { dashboardId: 'none' }, 'INVALID_DASHBOARD_ID'],
    ['who gets it in a channel', { channel: 'ops' }, 'INVALID_REQUEST_BODY'],
    ['who is one of no recipients', { recipients: { users: [], roles: [], addresses: [] } }, 'INVALID_REQUEST_BODY'],
  ] as const)('is not read for a user %s', async (_, more, code) => {
    await expect(preview(more)).rejects.toMatchObject({ code });
    expect(read).toEqual([]);
  });

  test('is not read for a user without an address, nor of a copy that the gateway does not know', async () => {
    await expect(preview({}, { check: async () => 'no-address' })).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
    await expect(preview({}, { copyIdOf: () => 'delays-b' })).rejects.toMatchObject({ code: 'INVALID_DASHBOARD_ID' });
    expect(read).toEqual([]);
  });

  test('is not read as another user than the one who is named', async () => {
    const asBob = async () => ({
      caller: await world.mint({ userIdentifier: 'bob' }, { clientId: 'a' }),
      roles: ['manager'],
    });
    await expect(preview({}, { openReader: asBob })).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
    expect(read).toEqual([]);
  });
});
