/** Schedules of reports that a guest makes. The recipient is the guest. A report is sent by the right of its moment. */
import type { CatchUp } from '../../domain/deliver/catch-up.js';
import { nextMoment, type Recurrence, recurrenceFault } from '../../domain/deliver/recurrence.js';
import { mostListed, mostSchedules, type Reports } from '../../domain/deliver/reports.js';
import type { Delivery, ReportFormat, Schedule, ScheduleOwner } from '../../domain/deliver/schedule.js';
import { assertReports, notOpen } from '../../domain/guest/access.js';
import type { GuestCaller } from '../../domain/guest/caller.js';
import type { GuestGrant } from '../../domain/guest/grant.js';
import type { Clock, Ids } from '../../domain/ports.js';
import { Refusal } from '../../domain/refusal.js';
import type { Store } from '../../domain/store/store.js';
import { type Opened, openMetricsOf } from '../embeds/lookup.js';
import { assertPermitted, lockDashboard, openDashboard } from './scope.js';

type Deps = { readonly store: Store; readonly clock: Clock; readonly ids: Ids; readonly reports: Reports };

export type CreateSchedule = {
  readonly dashboardId: string;
  readonly name: string;
  readonly format: ReportFormat;
  readonly recurrence: Recurrence;
  readonly catchUp?: CatchUp | undefined;
  readonly isPaused?: boolean | undefined;
};
export type NamedSchedule = { readonly dashboardId: string; readonly scheduleId: string };
export type UpdateSchedule = NamedSchedule & {
  readonly [Field in keyof Omit<CreateSchedule, 'dashboardId'>]?: CreateSchedule[Field] | undefined;
};

const ownerOf = ({ dataAppId, clientId, userIdentifier }: GuestGrant): ScheduleOwner => {
  if (userIdentifier !== null) return { dataAppId, clientId, userIdentifier };
  throw new Refusal('UNAUTHORIZED', 'This token names no user, so no report could be sent to one.', {
    reason: 'report-without-user',
  });
};

const openFor = async (store: Store, grant: GuestGrant, dashboardId: string): Promise<Opened> => {
  const opened = await openDashboard(store, grant, dashboardId);
  assertReports(opened.embed);
  return opened;
};

/** Throws UNAUTHORIZED if the token may not have such a file. */
const assertFormat = ({ reports }: Pick<Deps, 'reports'>, grant: GuestGrant, opened: Opened, format: ReportFormat) => {
  if (format !== 'link') return assertPermitted(grant, opened, 'isEnableDownloadMetrics');
  if (reports.hasLinks) return;
  throw new Refusal('INVALID_REQUEST_BODY', 'format: messages here have no link. Choose pdf, xlsx or csv.', {
    reason: 'report-format',
  });
};

const assertReady = async ({ reports }: Pick<Deps, 'reports'>, owner: ScheduleOwner): Promise<void> => {
  const found = await reports.check(owner);
  if (found === 'ready') return;
  const message =
    found === 'off'
      ? 'Reports by e-mail are not set up here.'
      : 'No report can be sent to you: your login names no e-mail address that reports may go to.';
  throw new Refusal('UNAUTHORIZED', message, { reason: found === 'off' ? 'reports-off' : 'report-without-address' });
};

const assertRecurrence = ({ reports, clock }: Deps, recurrence: Recurrence): void => {
  const fault = recurrenceFault(recurrence, reports.calendar, clock.now());
  if (fault === undefined) return;
  throw new Refusal('INVALID_REQUEST_BODY', `recurrence.${fault}`, { reason: 'report-recurrence' });
};

const missing = (scheduleId: string): Refusal =>
  new Refusal('SCHEDULE_NOT_FOUND', `This dashboard has no schedule ${JSON.stringify(scheduleId)} of this user.`);

const findSchedule = async (store: Store, opened: Opened, owner: ScheduleOwner, id: string): Promise<Schedule> => {
  const found = (await store.schedules.list(opened.dashboard.id, owner)).find((schedule) => schedule.id === id);
  if (found === undefined) throw missing(id);
  return found;
};

/** Throws UNAUTHORIZED, or INVALID_REQUEST_BODY for a recurrence that has no meaning. */
export const createGuestSchedule =
  (deps: Deps) =>
  async ({ grant }: GuestCaller, command: CreateSchedule): Promise<Schedule> => {
    const { dashboardId: openedId, name, format, recurrence, catchUp = 'once', isPaused = false } = command;
    const opened = await openFor(deps.store, grant, openedId);
    const owner = ownerOf(grant);
    assertFormat(deps, grant, opened, format);
    assertRecurrence(deps, recurrence);
    await assertReady(deps, owner);
    const createdAt = deps.clock.now();
    const dashboardId = opened.dashboard.id;
    const nextAt = nextMoment(recurrence, deps.reports.calendar, createdAt);
    const plan = { name, format, recurrence, catchUp, isPaused };
    const schedule = { ...plan, id: deps.ids.uuid(), dashboardId, openedId, owner, nextAt, createdAt };
    await deps.store.transaction(async (store) => {
      await lockDashboard(store, grant, dashboardId);
      const { length } = await store.schedules.list(dashboardId, owner);
      if (length >= mostSchedules) {
        const message = `There are ${length} schedules, and may be ${mostSchedules}: delete one first.`;
        throw new Refusal('INVALID_REQUEST_BODY', message, { reason: 'too-many-schedules' });
      }
      await store.schedules.insert(schedule);
    });
    return schedule;
  };

/** Returns the user's own schedules of the dashboard, oldest first. */
export const listGuestSchedules =
  ({ store }: Pick<Deps, 'store'>) =>
  async ({ grant }: GuestCaller, { dashboardId }: Pick<NamedSchedule, 'dashboardId'>): Promise<readonly Schedule[]> => {
    const opened = await openFor(store, grant, dashboardId);
    return store.schedules.list(opened.dashboard.id, ownerOf(grant));
  };

/** Changes what the caller names. Moments that passed while the schedule was paused are not sent. */
export const updateGuestSchedule =
  (deps: Deps) =>
  async ({ grant }: GuestCaller, { dashboardId, scheduleId, ...change }: UpdateSchedule): Promise<Schedule> => {
    const opened = await openFor(deps.store, grant, dashboardId);
    const owner = ownerOf(grant);
    const { format, recurrence, isPaused } = change;
    if (format !== undefined) assertFormat(deps, grant, opened, format);
    if (recurrence !== undefined) assertRecurrence(deps, recurrence);
    return deps.store.transaction(async (store) => {
      const { id } = await lockDashboard(store, grant, opened.dashboard.id);
      const before = await findSchedule(store, opened, owner, scheduleId);
      const isNew = recurrence !== undefined || (before.isPaused && isPaused === false);
      const { calendar } = deps.reports;
      const nextAt = isNew ? nextMoment(recurrence ?? before.recurrence, calendar, deps.clock.now()) : undefined;
      if (!(await store.schedules.change(id, owner, scheduleId, { ...change, nextAt }))) throw missing(scheduleId);
      return findSchedule(store, opened, owner, scheduleId);
    });
  };

/** Deletes a schedule and its history. Its deliveries that have not left are not sent. */
export const deleteGuestSchedule =
  ({ store }: Pick<Deps, 'store'>) =>
  async ({ grant }: GuestCaller, { dashboardId, scheduleId }: NamedSchedule): Promise<{ readonly id: string }> => {
    const opened = await openFor(store, grant, dashboardId);
    if (!(await store.schedules.delete(opened.dashboard.id, ownerOf(grant), scheduleId))) throw missing(scheduleId);
    return { id: scheduleId };
  };

/** Asks for one report at once. While one is on its way, another one is refused. */
export const sendGuestSchedule =
  (deps: Deps) =>
  async ({ grant }: GuestCaller, { dashboardId, scheduleId }: NamedSchedule): Promise<{ readonly id: string }> => {
    const opened = await openFor(deps.store, grant, dashboardId);
    const owner = ownerOf(grant);
    await assertReady(deps, owner);
    const delivery = {
      id: deps.ids.uuid(),
      moment: deps.clock.now(),
      isRequested: true,
      state: 'due',
      reason: null,
    } as const;
    await deps.store.transaction(async (store) => {
      await lockDashboard(store, grant, opened.dashboard.id);
      const schedule = await findSchedule(store, opened, owner, scheduleId);
      const latest = await store.deliveries.list(scheduleId, mostListed);
      if (latest.some(({ state }) => state === 'due' || state === 'sending')) {
        throw new Refusal('INVALID_REQUEST_BODY', 'A report of this schedule is on its way. Wait until it has ended.', {
          reason: 'report-under-way',
        });
      }
      await store.deliveries.insert(schedule, [delivery], deps.clock.now());
    });
    return { id: delivery.id };
  };

/** Returns the latest deliveries of a schedule, the newest first. */
export const listGuestDeliveries =
  ({ store }: Pick<Deps, 'store'>) =>
  async ({ grant }: GuestCaller, { dashboardId, scheduleId }: NamedSchedule): Promise<readonly Delivery[]> => {
    const opened = await openFor(store, grant, dashboardId);
    await findSchedule(store, opened, ownerOf(grant), scheduleId);
    return store.deliveries.list(scheduleId, mostListed);
  };

/** What a report holds, as this caller may read it now. */
export type OpenReport = {
  readonly name: string;
  readonly metrics: readonly { readonly metricId: string; readonly name: string }[];
};

/**
 * Opens the dashboard of a schedule for its report. Throws UNAUTHORIZED unless this caller is the owner and may have
 * such a report of that same dashboard now.
 */
export const openReport =
  ({ store, reports }: Pick<Deps, 'store' | 'reports'>) =>
  async ({ grant }: GuestCaller, { openedId, dashboardId, owner, format }: Schedule): Promise<OpenReport> => {
    const { dataAppId, clientId, userIdentifier } = ownerOf(grant);
    const isOwner =
      dataAppId === owner.dataAppId && clientId === owner.clientId && userIdentifier === owner.userIdentifier;
    if (!isOwner) throw notOpen('report-of-another-user');
    const opened = await openFor(store, grant, openedId);
    if (opened.dashboard.id !== dashboardId) throw notOpen('dashboard-made-anew');
    assertFormat({ reports }, grant, opened, format);
    const metrics = await openMetricsOf(store, grant, opened.dashboard);
    return { name: opened.dashboard.name, metrics: metrics.map(({ metricId, name }) => ({ metricId, name })) };
  };
