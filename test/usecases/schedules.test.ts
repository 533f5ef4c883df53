/** Schedules that guests make: who may, what is kept, and what a change does to the next moment. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { calendar } from '../../src/deliver/calendar.js';
import { mostSchedules, type Reports } from '../../src/domain/deliver/reports.js';
import type { Code } from '../../src/domain/refusal.js';
import {
  createGuestSchedule,
  deleteGuestSchedule,
  listGuestDeliveries,
  listGuestSchedules,
  openReport,
  sendGuestSchedule,
  updateGuestSchedule,
} from '../../src/usecases/guest/schedules.js';
import { createWorld, settings, type World } from './world.js';

let world: World;
let dashboardId: string;
let closedId: string;
let found: Awaited<ReturnType<Reports['check']>>;
beforeAll(async () => {
  world = await createWorld();
  await world.template('board');
  await world.template('closed');
  dashboardId = await world.embed('board', undefined, { ...settings, isAllowEmailReports: true });
  closedId = await world.embed('closed');
});
beforeEach(() => {
  found = 'ready';
});
afterAll(() => world.close());

const deps = (more: Partial<Reports> = {}) => ({
  ...world.deps,
  reports: { calendar, hasLinks: true, check: async () => found, ...more },
});
const guest = (userIdentifier: string | undefined, clientId = 'a', isEnableDownloadMetrics = true) =>
  world.mint({ userIdentifier }, { clientId, permissions: { isEnableDownloadMetrics } });
type Guest = Awaited<ReturnType<typeof guest>>;

const recurrence = { every: 'day', at: '08:00', timezone: 'Europe/Berlin' } as const;
const plan = { name: 'Daily', format: 'csv', recurrence } as const;
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
  await refusedWith('updateGuestSchedule UNAUTHORIZED', updateGuestSchedule(deps())(ann, closed));
  await refusedWith('deleteGuestSchedule UNAUTHORIZED', deleteGuestSchedule(deps())(ann, closed));
  await refusedWith('sendGuestSchedule UNAUTHORIZED', sendGuestSchedule(deps())(ann, closed));
  await refusedWith('listGuestDeliveries UNAUTHORIZED', listGuestDeliveries(deps())(ann, closed));
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

test.each(['off', 'no-address'] as const)('nothing is scheduled or sent where reports are %s', async (state) => {
  const ann = await guest('ann');
  const { id: scheduleId } = await create(ann);
  found = state;
  await refusedWith('createGuestSchedule UNAUTHORIZED', create(ann));
  await refusedWith('sendGuestSchedule UNAUTHORIZED', sendGuestSchedule(deps())(ann, { dashboardId, scheduleId }));
  expect(await world.store.deliveries.list(scheduleId, 10)).toEqual([]);
  await deleteGuestSchedule(deps())(ann, { dashboardId, scheduleId });
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
  expect(await openReport(deps())(ann, schedule)).toMatchObject({ name: 'board', metrics: [{ name: 'Sales' }] });
  for (const stranger of [await guest('bob'), await guest('ann', 'b'), await guest(undefined)]) {
    await expect(openReport(deps())(stranger, schedule)).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
  }
  const anew = { ...schedule, dashboardId: 'another' };
  await expect(openReport(deps())(ann, anew)).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
  const reader = await guest('ann', 'a', false);
  await expect(openReport(deps())(reader, schedule)).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
});
