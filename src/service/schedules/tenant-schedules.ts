/** Schedules of all users: those of a tenant on a dashboard, for those whom the policy lets manage them, and for operators. */
import { assertReports } from '../../model/guest/access.js';
import type { GuestCaller } from '../../model/guest/caller.js';
import type { GuestGrant } from '../../model/guest/grant.js';
import type { Clock } from '../../model/ports.js';
import { type ToldSchedule, toldSchedule } from '../../model/schedule/history.js';
import { nextMoment } from '../../model/schedule/recurrence.js';
import type { Reports } from '../../model/schedule/reports.js';
import { mostWatched, type ScheduleScope, type SchedulesOfAll } from '../../model/schedule/schedule.js';
import { ownerOf } from '../guest/may-schedule.js';
import { openDashboard } from '../guest/scope.js';
import type { Store } from '../store/store.js';
import { loadAudience } from './recipients.js';
import { missingSchedule, type NamedSchedule } from './schedules.js';

type Deps = {
  readonly store: Store;
  readonly clock: Clock;
  readonly reports: Pick<Reports, 'isOn' | 'hasLinks' | 'findAudience' | 'calendar'>;
};

/** Throws UNAUTHORIZED unless the guest may manage the tenant's schedules of the dashboard now. */
const scopeFor = async ({ store, reports }: Deps, grant: GuestGrant, openedId: string): Promise<ScheduleScope> => {
  const { embed, dashboard } = await openDashboard(store, grant, openedId);
  assertReports(embed);
  const { dataAppId, clientId } = grant;
  await loadAudience({ reports }, ownerOf(grant), openedId);
  return { dataAppId, clientId, dashboardId: dashboard.id };
};

/** Returns the newest first, without values that their users chose, and without what alerts found. */
export const listTenantSchedules =
  (deps: Deps) =>
  async (
    { grant }: GuestCaller,
    { dashboardId }: Pick<NamedSchedule, 'dashboardId'>,
  ): Promise<readonly ToldSchedule[]> => {
    const found = await deps.store.schedules.listAll(await scopeFor(deps, grant, dashboardId), mostWatched);
    return found.map(toldSchedule);
  };

/** Pauses or resumes a schedule. Moments that passed during a pause are not sent. */
export const pauseTenantSchedule =
  (deps: Deps) =>
  async (
    { grant }: GuestCaller,
    { dashboardId, scheduleId, isPaused }: NamedSchedule & { readonly isPaused: boolean },
  ): Promise<{ readonly id: string }> => {
    const { store, clock, reports } = deps;
    const scope = await scopeFor(deps, grant, dashboardId);
    const isDone = isPaused
      ? await store.schedules.pauseOf(scope, scheduleId)
      : await store.schedules.resumeOf(scope, scheduleId, ({ recurrence }) =>
          nextMoment(recurrence, reports.calendar, clock.now()),
        );
    if (!isDone) throw missingSchedule(scheduleId);
    return { id: scheduleId };
  };

/** Deletes a schedule and its history. What has not left is not sent. */
export const deleteTenantSchedule =
  (deps: Deps) =>
  async ({ grant }: GuestCaller, { dashboardId, scheduleId }: NamedSchedule): Promise<{ readonly id: string }> => {
    const scope = await scopeFor(deps, grant, dashboardId);
    if (!(await deps.store.schedules.deleteOf(scope, scheduleId))) throw missingSchedule(scheduleId);
    return { id: scheduleId };
  };

/** What operators see of the schedules of all users of a data app, and how they pause them. */
export const schedulesOfAll = (
  {
    store: { schedules },
    reports: { calendar },
    clock,
  }: {
    readonly store: Pick<Store, 'schedules'>;
    readonly reports: Pick<Reports, 'calendar'>;
    readonly clock: Clock;
  },
  /** Undefined: it is not there yet, and has no schedules. */
  findDataAppId: () => Promise<string | undefined>,
): SchedulesOfAll => ({
  list: async (clientId) => {
    const dataAppId = await findDataAppId();
    if (dataAppId === undefined) return { schedules: [], hasMore: false };
    const scope = { dataAppId, ...(clientId === undefined ? {} : { clientId }) };
    const found = await schedules.listAll(scope, mostWatched + 1);
    return { schedules: found.slice(0, mostWatched), hasMore: found.length > mostWatched };
  },
  setPaused: async (scheduleId, isPaused) => {
    const dataAppId = await findDataAppId();
    if (dataAppId === undefined) return false;
    const scope = { dataAppId };
    if (isPaused) return schedules.pauseOf(scope, scheduleId);
    return schedules.resumeOf(scope, scheduleId, ({ recurrence }) => nextMoment(recurrence, calendar, clock.now()));
  },
});
