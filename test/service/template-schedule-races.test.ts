/**
 * A schedule of the host is changed while another change of it is made. Needs a real server, since the embedded database
 * runs one transaction at a time.
 */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { calendar } from '../../src/delivery/calendar.js';
import { hostOwner } from '../../src/model/schedule/host-schedule.js';
import { createTemplateSchedule, updateTemplateSchedule } from '../../src/service/schedules/template-schedules.js';
import type { Store } from '../../src/service/store/store.js';
import { isPostgresThere } from '../suites/postgres.js';
import { createWorld, planDefaults, type World } from './world.js';

describe.skipIf(!(await isPostgresThere()))('at the same time', () => {
  let world: World;
  beforeAll(async () => {
    world = await createWorld('postgres');
    await world.template('delays');
  });
  afterAll(() => world.close());

  /** The store, which calls `wasRead` when a transaction has read a schedule of the host. */
  const watched = (wasRead: () => void): Store => ({
    ...world.store,
    transaction: (work) =>
      world.store.transaction((inner) => {
        const listOfHost: Store['schedules']['listOfHost'] = async (...given) => {
          const found = await inner.schedules.listOfHost(...given);
          wasRead();
          return found;
        };
        return work({ ...inner, schedules: { ...inner.schedules, listOfHost } });
      }),
  });

  test('a change keeps what another one wrote after the schedule was read', async () => {
    const reports = { calendar, hasLinks: true, channels: [], isFor: async () => true };
    const deps = { ...world.deps, ids: { uuid: randomUUID }, reports };
    const recurrence = { every: 'day', at: '08:00', timezone: 'Europe/Berlin' } as const;
    const recipients = { users: ['ann'], roles: [], addresses: [] };
    const plan = { ...planDefaults, name: 'Daily', format: 'csv', recurrence, recipients } as const;
    const made = await createTemplateSchedule(deps)(world.api(), { ...plan, dashboardId: 'delays' });
    const { id: scheduleId, dashboardId } = made;
    let wasRead: (() => void) | undefined;
    const reading = new Promise<void>((resolve) => {
      wasRead = resolve;
    });
    const store = watched(() => wasRead?.());
    const changing = await world.store.transaction(async (other) => {
      await other.dashboards.lock(dashboardId);
      const metricIds = ['delays-count'];
      const change = updateTemplateSchedule({ ...deps, store })(world.api(), { scheduleId, metricIds });
      await reading;
      const dashboardFilter = { State: ['CA'] };
      await other.schedules.change(dashboardId, hostOwner(world.api().dataAppId), scheduleId, { dashboardFilter });
      return { change };
    });
    const both = { dashboardFilter: { State: ['CA'] }, metricIds: ['delays-count'] };
    expect(await changing.change).toMatchObject(both);
  });
});
