/** Schedules of reports and alerts that a guest makes. Each message is sent by the right of its recipient and of its moment. */
import type { Metric } from '../../model/dashboard/metric.js';
import { assertReports, notOpen } from '../../model/guest/access.js';
import type { GuestCaller } from '../../model/guest/caller.js';
import type { GuestGrant } from '../../model/guest/grant.js';
import type { GuestReports, MailPreview } from '../../model/guest/mail-preview.js';
import { viewFaults, visibleChoices } from '../../model/guest/saved-view.js';
import type { Clock, Ids, Tag } from '../../model/ports.js';
import { measureNumbers } from '../../model/query/numbers.js';
import { Refusal } from '../../model/refusal.js';
import { concealed, type ToldDelivery, wasAskedLately } from '../../model/schedule/history.js';
import { isMeant } from '../../model/schedule/host-schedule.js';
import type { OpenMetric, OpenReport } from '../../model/schedule/open-report.js';
import {
  assertKind,
  assertRecurrence,
  assertTakesContent,
  changedNext,
  changedPlan,
  hasContent,
  invalidPlan,
  newSchedule,
  type PlanChange,
  type PlanContent,
} from '../../model/schedule/plan.js';
import { everyone, mostRecipients } from '../../model/schedule/recipients.js';
import { type ListedChannel, mostListed, mostSchedules, type Reports, type Way } from '../../model/schedule/reports.js';
import type { ListedSchedule, Schedule, ScheduleOwner, SchedulePlan } from '../../model/schedule/schedule.js';
import { type Opened, openMetricsOf } from '../embeds/lookup.js';
import { assertFormat, assertOn, ownerOf } from '../guest/may-schedule.js';
import { viewChart } from '../guest/reads.js';
import { lockDashboard, openDashboard } from '../guest/scope.js';
import type { Store } from '../store/store.js';
import { alertStatus, assertAlert, openAlert } from './alerts.js';
import { askAddresses, assertRecipients, namingAddresses, unconfirmedOf } from './recipients.js';

type Deps = {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly reports: Reports;
  readonly tag: Tag;
};

export type NamedSchedule = { readonly dashboardId: string; readonly scheduleId: string };

const openFor = async (store: Store, grant: GuestGrant, dashboardId: string): Promise<Opened> => {
  const opened = await openDashboard(store, grant, dashboardId);
  assertReports(opened.embed);
  return opened;
};

const assertReady = async (
  { reports }: Pick<Deps, 'reports'>,
  owner: ScheduleOwner,
  way: Way & Pick<Schedule, 'recipients'>,
): Promise<void> => {
  assertOn({ reports });
  if (way.recipients !== null) return assertRecipients({ reports }, owner, way.openedId, way.recipients);
  const found = await reports.check(owner, way);
  if (found === 'ready') return;
  if (found === 'no-channel') {
    throw new Refusal('UNAUTHORIZED', 'You may not send this dashboard to that channel.', {
      reason: 'report-without-channel',
    });
  }
  const message = 'No report can be sent to you: your login names no e-mail address that reports may go to.';
  throw new Refusal('UNAUTHORIZED', message, { reason: 'report-without-address' });
};

/** Returns the content under the filters' own names. Throws for what the guest may not read. */
const readContent = async (
  { store, clock }: Pick<Deps, 'store' | 'clock'>,
  grant: GuestGrant,
  opened: Opened,
  content: PlanContent,
): Promise<PlanContent> => {
  if (!hasContent(content)) return content;
  const { metricIds } = content;
  const { dashboard } = opened;
  const metrics = await openMetricsOf(store, grant, opened);
  if (metricIds?.some((id) => !metrics.some(({ metricId }) => metricId === id)) === true) {
    throw notOpen('metric-not-on-dashboard');
  }
  const choices = { dashboardFilter: content.dashboardFilter, metricFilter: {}, filterNames: {} };
  const faults = viewFaults(grant, dashboard, metrics, choices, { now: clock.now(), timezone: grant.timezone });
  if (faults.length > 0) {
    throw invalidPlan(`${faults.slice(0, 10).join('; ')}.`, 'view-choices');
  }
  return { dashboardFilter: visibleChoices(grant, dashboard, metrics, choices).dashboardFilter, metricIds };
};

/** The filters that a change names, as they are stored. Throws for what the guest may not read. */
const changedContent = async (
  deps: Pick<Deps, 'store' | 'clock'>,
  grant: GuestGrant,
  opened: Opened,
  { dashboardFilter, metricIds = null }: PlanChange,
): Promise<Partial<PlanContent>> => {
  const read = await readContent(deps, grant, opened, { dashboardFilter: dashboardFilter ?? {}, metricIds });
  return dashboardFilter === undefined ? {} : { dashboardFilter: read.dashboardFilter };
};

/** A schedule as its owner sees it now: without filters that are hidden now. */
const listed = async (
  deps: Pick<Deps, 'store' | 'tag'>,
  grant: GuestGrant,
  opened: Opened,
  schedule: Schedule,
): Promise<ListedSchedule> => {
  const choices = { dashboardFilter: schedule.dashboardFilter, metricFilter: {}, filterNames: {} };
  const { dashboardFilter } = visibleChoices(grant, opened.dashboard, [], choices);
  const status = await alertStatus(deps, grant, opened, schedule);
  return { ...schedule, dashboardFilter, status, unconfirmed: await unconfirmedOf(deps, schedule) };
};

/** Throws unless the guest may make this plan, and an alert of it can tell something. */
const assertOpenPlan = async (deps: Deps, grant: GuestGrant, opened: Opened, plan: SchedulePlan): Promise<void> => {
  const { format, alert, recurrence, channel, recipients } = plan;
  const { calendar } = deps.reports;
  assertFormat(deps, grant, opened, format);
  assertRecurrence(plan, calendar, deps.clock.now());
  assertKind(plan);
  if (recipients !== null && channel !== null) {
    throw invalidPlan('recipients: what goes to a channel has none. Choose null for one of both.', 'alert-invalid');
  }
  if (alert !== null) await assertAlert(deps, grant, opened, alert, { recurrence, calendar, now: deps.clock.now() });
};

export const missingSchedule = (scheduleId: string): Refusal =>
  new Refusal('SCHEDULE_NOT_FOUND', `This dashboard has no schedule ${JSON.stringify(scheduleId)} of this user.`);

const findSchedule = async (store: Store, opened: Opened, owner: ScheduleOwner, id: string): Promise<Schedule> => {
  const found = (await store.schedules.list(opened.dashboard.id, owner)).find((schedule) => schedule.id === id);
  if (found === undefined) throw missingSchedule(id);
  return found;
};

const insertNew = (deps: Deps, grant: GuestGrant, schedule: Schedule): Promise<void> =>
  deps.store.transaction(async (store) => {
    const { dashboardId, owner } = schedule;
    await lockDashboard(store, grant, dashboardId);
    const { length } = await store.schedules.list(dashboardId, owner);
    if (length >= mostSchedules) {
      const message = `There are ${length} schedules, and may be ${mostSchedules}: delete one first.`;
      throw new Refusal('INVALID_REQUEST_BODY', message, { reason: 'too-many-schedules' });
    }
    await store.schedules.insert(schedule);
    await askAddresses(store, deps, schedule);
  });

type AskedPlan = SchedulePlan & { readonly dashboardId: string };

/** The schedule that the guest asks for, which nothing stores yet. Throws unless the guest may make it. */
const planned = async (
  deps: Deps,
  grant: GuestGrant,
  { dashboardId: openedId, ...plan }: AskedPlan,
): Promise<Schedule> => {
  const opened = await openFor(deps.store, grant, openedId);
  const owner = ownerOf(grant);
  await assertOpenPlan(deps, grant, opened, plan);
  assertTakesContent(plan);
  const content = await readContent(deps, grant, opened, plan);
  await assertReady(deps, owner, { ...plan, openedId });
  const place = { id: deps.ids.uuid(), dashboardId: opened.dashboard.id, openedId, owner };
  return newSchedule({ ...plan, ...content }, place, deps.reports.calendar, deps.clock.now());
};

/** Throws UNAUTHORIZED, or INVALID_REQUEST_BODY for a recurrence or an alert that has no meaning. */
export const createGuestSchedule =
  (deps: Deps) =>
  async ({ grant }: GuestCaller, asked: AskedPlan): Promise<ListedSchedule> => {
    const schedule = await planned(deps, grant, asked);
    await insertNew(deps, grant, schedule);
    return { ...schedule, status: null, unconfirmed: await unconfirmedOf(deps, schedule) };
  };

/** Throws INVALID_REQUEST_BODY for what goes to a channel. */
export const assertMail = ({ channel }: Pick<SchedulePlan, 'channel'>): void => {
  if (channel === null) return;
  throw new Refusal('INVALID_REQUEST_BODY', 'channel: what goes to a channel is no mail. Choose null to see one.', {
    reason: 'report-of-a-channel',
  });
};

/**
 * Returns the mail of a schedule that is not made yet, as this guest would get it. It is refused as the schedule would be,
 * and it is read as the guest reads the dashboard: by the token, whatever the user's login would open.
 */
export const previewGuestSchedule =
  (deps: Deps & { readonly reports: Pick<GuestReports, 'preview'> }) =>
  async (caller: GuestCaller, asked: AskedPlan, signal: AbortSignal): Promise<MailPreview> => {
    assertMail(asked);
    const schedule = await planned(deps, caller.grant, asked);
    const opened = await openReport(deps)(caller, schedule, schedule.owner.userIdentifier);
    return deps.reports.preview(caller, { schedule, opened, reader: schedule.owner.userIdentifier }, signal);
  };

/** Returns the user's own schedules of the dashboard, oldest first. */
export const listGuestSchedules =
  (deps: Pick<Deps, 'store' | 'tag'>) =>
  async (
    { grant }: GuestCaller,
    { dashboardId }: Pick<NamedSchedule, 'dashboardId'>,
  ): Promise<readonly ListedSchedule[]> => {
    const opened = await openFor(deps.store, grant, dashboardId);
    const own = await deps.store.schedules.list(opened.dashboard.id, ownerOf(grant));
    return Promise.all(own.map((schedule) => listed(deps, grant, opened, schedule)));
  };

/** Returns the channels that the user may choose for this dashboard. */
export const listGuestChannels =
  ({ store, reports }: Pick<Deps, 'store' | 'reports'>) =>
  async (
    { grant }: GuestCaller,
    { dashboardId }: Pick<NamedSchedule, 'dashboardId'>,
  ): Promise<readonly ListedChannel[]> => {
    await openFor(store, grant, dashboardId);
    return reports.listChannels(ownerOf(grant), dashboardId);
  };

/** Changes what the caller names. Moments that passed while the schedule was paused are not sent. */
export const updateGuestSchedule =
  (deps: Deps) =>
  async (
    { grant }: GuestCaller,
    { dashboardId, scheduleId, ...change }: NamedSchedule & PlanChange,
  ): Promise<ListedSchedule> => {
    const opened = await openFor(deps.store, grant, dashboardId);
    const owner = ownerOf(grant);
    const { format, alert, recurrence, channel, recipients } = change;
    const plan = changedPlan(await findSchedule(deps.store, opened, owner, scheduleId), change);
    const isElsewhere = channel !== undefined || recipients !== undefined;
    if (isElsewhere) await assertReady(deps, owner, plan);
    if (isElsewhere || [format, alert, recurrence].some((part) => part !== undefined)) {
      await assertOpenPlan(deps, grant, opened, plan);
    }
    assertTakesContent(plan);
    const content = await changedContent(deps, grant, opened, change);
    const changed = await deps.store.transaction(async (store) => {
      const { id } = await lockDashboard(store, grant, opened.dashboard.id);
      const before = await findSchedule(store, opened, owner, scheduleId);
      const nextAt = changedNext(before, change, deps.reports.calendar, deps.clock.now());
      const all = { ...change, ...content, nextAt };
      if (!(await store.schedules.change(id, owner, scheduleId, all))) throw missingSchedule(scheduleId);
      const after = await findSchedule(store, opened, owner, scheduleId);
      if (recipients !== undefined) await askAddresses(store, deps, after);
      return after;
    });
    return listed(deps, grant, opened, changed);
  };

/** Deletes a schedule and its history. Its deliveries that have not left are not sent. */
export const deleteGuestSchedule =
  ({ store }: Pick<Deps, 'store'>) =>
  async ({ grant }: GuestCaller, { dashboardId, scheduleId }: NamedSchedule): Promise<{ readonly id: string }> => {
    const opened = await openFor(store, grant, dashboardId);
    if (!(await store.schedules.delete(opened.dashboard.id, ownerOf(grant), scheduleId)))
      throw missingSchedule(scheduleId);
    return { id: scheduleId };
  };

/**
 * Whether a request must wait: while a report is on its way. Of an alert to others, a message that is on its way would
 * tell the maker that another user's rows are in breach, so only the time since the last request counts.
 */
const mustWait = async (store: Store, { id, alert, recipients }: Schedule, now: Date): Promise<boolean> => {
  if (alert === null || recipients === null) return store.deliveries.hasOpen(id);
  return wasAskedLately(await store.deliveries.list(id, mostRecipients), now);
};

/** Asks for one report at once. Shortly after another request it is refused, and while a report is on its way. */
export const sendGuestSchedule =
  (deps: Deps) =>
  async ({ grant }: GuestCaller, { dashboardId, scheduleId }: NamedSchedule): Promise<{ readonly id: string }> => {
    const opened = await openFor(deps.store, grant, dashboardId);
    const owner = ownerOf(grant);
    await assertReady(deps, owner, await findSchedule(deps.store, opened, owner, scheduleId));
    const now = deps.clock.now();
    const delivery = {
      id: deps.ids.uuid(),
      moment: now,
      isRequested: true,
      state: 'due',
      reason: null,
    } as const;
    await deps.store.transaction(async (store) => {
      await lockDashboard(store, grant, opened.dashboard.id);
      const schedule = await findSchedule(store, opened, owner, scheduleId);
      if (await mustWait(store, schedule, now)) {
        throw new Refusal('INVALID_REQUEST_BODY', 'This was asked for a moment ago. Try again in a minute.', {
          reason: 'report-under-way',
        });
      }
      await store.deliveries.insert(schedule, [delivery], now);
    });
    return { id: delivery.id };
  };

/** Returns the latest deliveries of a schedule, the newest first. Of an alert, what other users got is not told. */
export const listGuestDeliveries =
  ({ store, tag }: Pick<Deps, 'store' | 'tag'>) =>
  async ({ grant }: GuestCaller, { dashboardId, scheduleId }: NamedSchedule): Promise<readonly ToldDelivery[]> => {
    const opened = await openFor(store, grant, dashboardId);
    const owner = ownerOf(grant);
    const schedule = await findSchedule(store, opened, owner, scheduleId);
    const found = await store.deliveries.list(scheduleId, schedule.recipients === null ? mostListed : mostRecipients);
    const named = await namingAddresses(
      { tag },
      schedule,
      found.filter(({ state }) => state !== 'shared'),
    );
    if (schedule.alert === null) return named;
    // Addresses get what the owner may see, so the owner may know of theirs.
    const own = new Set([owner.userIdentifier, everyone, ...(schedule.recipients?.addresses ?? [])]);
    return named.map((delivery) => (own.has(delivery.recipient) ? delivery : concealed(delivery)));
  };

/** Whether the schedule's files have the metric. */
const isChosen = (schedule: Schedule, metric: Metric): boolean =>
  schedule.metricIds === null || schedule.metricIds.some((id) => isMeant(schedule, id, metric));

const openMetric = ({ metricId, name, definition }: Metric): OpenMetric => {
  const chart = viewChart(definition);
  const [measure] = chart.measures;
  if (chart.type !== 'singleValue' || measure === undefined) return { metricId, name };
  return { metricId, name, figure: { measure, numbers: measureNumbers(chart, measure) } };
};

/**
 * Opens the dashboard of a schedule for its message. Throws UNAUTHORIZED unless this caller is that user of the owner's
 * tenant and may have such a message of that same dashboard now.
 */
export const openReport =
  (deps: Pick<Deps, 'store' | 'reports' | 'tag'>) =>
  async ({ grant }: GuestCaller, schedule: Schedule, reader: string): Promise<OpenReport> => {
    const { openedId, dashboardId, owner, format, alert } = schedule;
    const { store } = deps;
    const { dataAppId, clientId, userIdentifier } = ownerOf(grant);
    const isReader = dataAppId === owner.dataAppId && clientId === owner.clientId && userIdentifier === reader;
    if (!isReader) throw notOpen('report-of-another-user');
    const opened = await openFor(store, grant, openedId);
    if (opened.dashboard.id !== dashboardId) throw notOpen('dashboard-made-anew');
    assertFormat(deps, grant, opened, format);
    const { name } = opened.dashboard;
    if (alert !== null) {
      const isOfAlert = (metric: Metric) => isMeant(schedule, alert.metricId, metric);
      return { name, metrics: [], alert: await openAlert(deps, grant, opened, alert, isOfAlert) };
    }
    const open = await openMetricsOf(store, grant, opened);
    const metrics = open.filter((metric) => isChosen(schedule, metric));
    return { name, metrics: metrics.map(openMetric), alert: null };
  };
