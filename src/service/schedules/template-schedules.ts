/**
 * Reports that the host schedules for all tenants that have a copy of a template. They are kept, planned and sent as those
 * of guests. Nothing here decides who may see what: each message is decided when it leaves.
 */
import type { Dashboard } from '../../model/dashboard/dashboard.js';
import { type ApiKeyCaller, seesData } from '../../model/guest/caller.js';
import type { GuestReports, MailPreview, MailReader } from '../../model/guest/mail-preview.js';
import { readDashboardFilter } from '../../model/guest/saved-view.js';
import type { Clock, Ids, Tag } from '../../model/ports.js';
import { Refusal } from '../../model/refusal.js';
import { maskedAddress } from '../../model/schedule/address.js';
import { concealed, dependsOnRows, type ToldDelivery, wasAskedLately } from '../../model/schedule/history.js';
import {
  concealedHost,
  type HostSchedule,
  hostOwner,
  mostHostListed,
  namingUsers,
  type ToldHostSchedule,
} from '../../model/schedule/host-schedule.js';
import {
  assertKind,
  assertRecurrence,
  assertTakesContent,
  changedNext,
  changedPlan,
  invalidPlan,
  newSchedule,
  type PlanChange,
  type PlanContent,
} from '../../model/schedule/plan.js';
import { hasNone, isNamed } from '../../model/schedule/recipients.js';
import { mostSchedules, type Reports } from '../../model/schedule/reports.js';
import type { Schedule, ScheduleOwner, SchedulePlan } from '../../model/schedule/schedule.js';
import { holdDataApp } from '../data-apps/data-apps.js';
import type { Store } from '../store/store.js';
import { assertHostAlert, findTemplateDatamart } from './alerts.js';
import { assertMail, openReport } from './schedules.js';

type Deps = {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly reports: Pick<Reports, 'calendar' | 'channels' | 'hasLinks' | 'isFor'>;
};

/** The data app whose users get it. */
type DataApp = Pick<ApiKeyCaller, 'dataAppId' | 'dataAppName'>;
type Named = { readonly scheduleId: string };
type CreateTemplateSchedule = Omit<SchedulePlan, 'mutedUntil'> & { readonly dashboardId: string };

const assertOn = async (
  { reports }: Deps,
  { dataAppId, dataAppName }: DataApp,
  channel: string | null,
): Promise<void> => {
  if (await reports.isFor(dataAppId, channel)) return;
  throw new Refusal(
    'INVALID_REQUEST_BODY',
    `No report is sent for data app ${JSON.stringify(dataAppName)}: set mail.from, GUESTLIST_SMTP_URL and gateway.publicOrigin, and use a key of the policy's data app.`,
    { reason: 'reports-off' },
  );
};

const missing = (scheduleId: string): Refusal =>
  new Refusal('SCHEDULE_NOT_FOUND', `This data app has no schedule ${JSON.stringify(scheduleId)} for tenants.`);

const findSchedule = async (store: Store, { dataAppId }: ApiKeyCaller, id: string): Promise<HostSchedule> => {
  const [found] = await store.schedules.listOfHost(dataAppId, id);
  if (found === undefined) throw missing(id);
  return found;
};

/** Throws for a plan that could send nothing. */
const assertHostPlan = ({ reports, clock }: Deps, plan: SchedulePlan): void => {
  const { format, channel, recipients } = plan;
  const { calendar, hasLinks, channels } = reports;
  assertRecurrence(plan, calendar, clock.now());
  if (recipients === null || hasNone(recipients)) {
    throw invalidPlan('recipients: expected at least one user or role.', 'report-recipients');
  }
  assertKind(plan);
  if (format === 'link' && !hasLinks) {
    const message = 'format: messages here have no link. Set mail.dashboardUrl, or choose another format.';
    throw invalidPlan(message, 'report-format');
  }
  if (channel !== null && !channels.includes(channel)) {
    const expected =
      channels.length === 0 ? 'null: the configuration has no channels' : `one of ${channels.join(', ')}`;
    throw invalidPlan(`channel: expected ${expected}.`, 'alert-invalid');
  }
  assertTakesContent(plan);
};

/** Returns the content under the template's own names. Throws INVALID_REQUEST_BODY for what the template lacks. */
const readContent = async (
  { store, clock, reports: { calendar } }: Deps,
  template: Dashboard,
  { dashboardFilter, metricIds, recurrence, alert }: SchedulePlan,
): Promise<PlanContent> => {
  const read = readDashboardFilter(template, dashboardFilter, { now: clock.now(), timezone: recurrence.timezone });
  if ('faults' in read) throw invalidPlan(`${read.faults.slice(0, 10).join('; ')}.`, 'view-choices');
  const metrics = metricIds === null && alert === null ? [] : await store.dashboards.listMetrics(template.id);
  const known = new Map(metrics.map(({ metric }) => [metric.metricId, metric]));
  const unknown = metricIds?.findIndex((id) => !known.has(id)) ?? -1;
  if (unknown >= 0) throw invalidPlan(`metricIds[${unknown}]: the template has no such metric.`, 'view-choices');
  if (alert !== null) {
    const metric = known.get(alert.metricId);
    if (metric === undefined) throw invalidPlan('alert.metricId: the template has no such metric.', 'alert-invalid');
    const datamart = await findTemplateDatamart(store, template);
    assertHostAlert(alert, metric, datamart, { recurrence, calendar, now: clock.now() });
  }
  return { dashboardFilter: read.dashboardFilter, metricIds };
};

const insertNew = (deps: Deps, caller: ApiKeyCaller, schedule: Schedule): Promise<void> =>
  deps.store.transaction(async (store) => {
    await holdDataApp(store, caller);
    if ((await store.dashboards.lock(schedule.dashboardId)) === undefined) throw noTemplate(schedule.openedId);
    const { length } = await store.schedules.list(schedule.dashboardId, schedule.owner);
    if (length >= mostSchedules) {
      const message = `There are ${length} schedules of this template, and may be ${mostSchedules}: delete one first.`;
      throw new Refusal('INVALID_REQUEST_BODY', message, { reason: 'too-many-schedules' });
    }
    await store.schedules.insert(schedule);
  });

const noTemplate = (dashboardId: string): Refusal =>
  new Refusal('INVALID_DASHBOARD_ID', `The organization has no dashboard ${JSON.stringify(dashboardId)}.`);

/** Throws INVALID_DASHBOARD_ID, or INVALID_REQUEST_BODY for a plan that could send nothing. */
export const createTemplateSchedule =
  (deps: Deps) =>
  async (caller: ApiKeyCaller, { dashboardId: openedId, ...given }: CreateTemplateSchedule): Promise<HostSchedule> => {
    const plan = { ...given, mutedUntil: null };
    await assertOn(deps, caller, plan.channel);
    const template = await deps.store.dashboards.findTemplate(openedId);
    if (template === undefined) throw noTemplate(openedId);
    assertHostPlan(deps, plan);
    const createdAt = deps.clock.now();
    const content = await readContent(deps, template, plan);
    const place = { id: deps.ids.uuid(), dashboardId: template.id, openedId, owner: hostOwner(caller.dataAppId) };
    const schedule = newSchedule({ ...plan, ...content }, place, deps.reports.calendar, createdAt);
    await insertNew(deps, caller, schedule);
    return { ...schedule, templateName: template.externalDashboardId, last: null };
  };

type PreviewTemplateSchedule = CreateTemplateSchedule & { readonly clientId: string; readonly user: string };
type PreviewDeps = Omit<Deps, 'reports'> & { readonly reports: GuestReports; readonly tag: Tag };

/** Throws UNAUTHORIZED unless a message of this plan would reach the user now. Returns the user as the delivery reads. */
const readerOf = async (
  { reports }: PreviewDeps,
  owner: ScheduleOwner,
  { recipients, openedId }: Pick<SchedulePlan, 'recipients'> & { readonly openedId: string },
): Promise<MailReader> => {
  const { userIdentifier } = owner;
  const found = await reports.openReader(owner);
  const isMeant = found !== null && recipients !== null && isNamed(recipients, { userIdentifier, roles: found.roles });
  if (found === null || !isMeant) {
    const message =
      'user: this user would get no such message. Choose a user whom the report names, and who may log in.';
    throw new Refusal('UNAUTHORIZED', message, { reason: 'report-to-nobody' });
  }
  if ((await reports.check(owner, { openedId, channel: null })) === 'ready') return found;
  const message =
    'user: no report can be sent to this user, whose login names no e-mail address that reports may go to.';
  throw new Refusal('UNAUTHORIZED', message, { reason: 'report-without-address' });
};

/** The tenant's copy that the gateway grants. Throws INVALID_DASHBOARD_ID if the tenant has none. */
const copyOf = async (
  { store, reports }: PreviewDeps,
  { dataAppId }: DataApp,
  { id, externalDashboardId: name }: Dashboard,
  clientId: string,
): Promise<Pick<Schedule, 'dashboardId' | 'openedId'>> => {
  const openedId = reports.copyIdOf(name, clientId);
  const copies = await store.dashboards.listCopies(id, dataAppId);
  const copy = copies.find((one) => one.clientId === clientId && one.externalDashboardId === openedId);
  if (copy !== undefined) return { dashboardId: copy.id, openedId: copy.externalDashboardId };
  throw new Refusal(
    'INVALID_DASHBOARD_ID',
    `This tenant has no copy of ${JSON.stringify(name)}, so it gets no report.`,
  );
};

/**
 * Returns the mail of a report that is not made yet, as this user of this tenant would get it now: by the user's own
 * right, as a delivery reads it. Throws as making it would, UNAUTHORIZED if the user would get none, and
 * METRIC_QUERY_ERROR if it cannot be read now. The caller decides who may see a user's rows.
 */
export const previewTemplateSchedule =
  (deps: PreviewDeps) =>
  async (
    app: DataApp,
    { clientId, user, dashboardId: name, ...given }: PreviewTemplateSchedule,
    signal: AbortSignal,
  ): Promise<MailPreview> => {
    const plan = { ...given, mutedUntil: null };
    assertMail(plan);
    await assertOn(deps, app, plan.channel);
    const template = await deps.store.dashboards.findTemplate(name);
    if (template === undefined) throw noTemplate(name);
    assertHostPlan(deps, plan);
    const content = await readContent(deps, template, plan);
    const copy = await copyOf(deps, app, template, clientId);
    const ofTenant = { ...hostOwner(app.dataAppId), clientId };
    const reader = await readerOf(deps, { ...ofTenant, userIdentifier: user }, { ...plan, ...copy });
    const place = { ...copy, id: deps.ids.uuid(), owner: ofTenant };
    const schedule = newSchedule({ ...plan, ...content }, place, deps.reports.calendar, deps.clock.now());
    const opened = await openReport(deps)(reader.caller, schedule, user);
    return deps.reports.preview(reader.caller, { schedule, opened, reader: user }, signal);
  };

const told = (caller: ApiKeyCaller, schedule: HostSchedule): ToldHostSchedule =>
  seesData(caller) ? schedule : concealedHost(schedule);

/** Returns the newest first, or the named one. */
export const listTemplateSchedules =
  ({ store }: Pick<Deps, 'store'>) =>
  async (
    caller: ApiKeyCaller,
    { scheduleId }: { readonly scheduleId?: string | undefined },
  ): Promise<readonly ToldHostSchedule[]> => {
    const found =
      scheduleId === undefined
        ? await store.schedules.listOfHost(caller.dataAppId)
        : [await findSchedule(store, caller, scheduleId)];
    return found.map((schedule) => told(caller, schedule));
  };

/** What a schedule may change even if its template or the configuration lost a part of it: it can be paused at any time. */
const always: ReadonlySet<string> = new Set(['name', 'catchUp', 'isPaused'] satisfies (keyof SchedulePlan)[]);

/** The content as the change leaves it. Throws INVALID_REQUEST_BODY for a plan that could send nothing. */
const changedContent = async (
  deps: Deps,
  template: Dashboard,
  [before, change]: readonly [HostSchedule, PlanChange],
): Promise<Partial<PlanContent>> => {
  if (Object.entries(change).every(([field, value]) => value === undefined || always.has(field))) return {};
  const plan = changedPlan(before, change);
  assertHostPlan(deps, plan);
  return readContent(deps, template, plan);
};

/** Changes what the caller names. Moments that passed while the schedule was paused are not sent. */
export const updateTemplateSchedule =
  (deps: Deps) =>
  async (caller: ApiKeyCaller, { scheduleId, ...change }: Named & PlanChange): Promise<ToldHostSchedule> => {
    const { channel } = await findSchedule(deps.store, caller, scheduleId);
    if (change.channel !== undefined && change.channel !== channel) await assertOn(deps, caller, change.channel);
    return deps.store.transaction(async (store) => {
      const { dashboardId } = await findSchedule(store, caller, scheduleId);
      const template = await store.dashboards.lock(dashboardId);
      if (template === undefined) throw missing(scheduleId);
      // Another change may have come before the lock.
      const before = await findSchedule(store, caller, scheduleId);
      const content = await changedContent({ ...deps, store }, template, [before, change]);
      const nextAt = changedNext(before, change, deps.reports.calendar, deps.clock.now());
      const owner = hostOwner(caller.dataAppId);
      await store.schedules.change(template.id, owner, scheduleId, { ...change, ...content, nextAt });
      return told(caller, await findSchedule(store, caller, scheduleId));
    });
  };

/** Deletes a schedule and its history. What has not left is not sent. */
export const deleteTemplateSchedule =
  ({ store }: Pick<Deps, 'store'>) =>
  async (caller: ApiKeyCaller, { scheduleId }: Named): Promise<{ readonly id: string }> => {
    const { dashboardId } = await findSchedule(store, caller, scheduleId);
    if (!(await store.schedules.delete(dashboardId, hostOwner(caller.dataAppId), scheduleId)))
      throw missing(scheduleId);
    return { id: scheduleId };
  };

/**
 * Whether a request must wait: while a report is on its way. An alert that is on its way says that a user's rows are in
 * breach, and a file that is tried again that a query failed, so for a person who sees no data only the time since the
 * last request counts.
 */
const mustWait = async (
  store: Store,
  caller: ApiKeyCaller,
  { id, format }: HostSchedule,
  now: Date,
): Promise<boolean> =>
  !dependsOnRows({ format }) || seesData(caller)
    ? store.deliveries.hasOpen(id)
    : wasAskedLately(await store.deliveries.list(id, mostHostListed), now);

/** Asks for one report of each tenant at once. While one is on its way, another one is refused. */
export const sendTemplateSchedule =
  (deps: Deps) =>
  async (caller: ApiKeyCaller, { scheduleId }: Named): Promise<{ readonly id: string }> => {
    const { channel } = await findSchedule(deps.store, caller, scheduleId);
    await assertOn(deps, caller, channel);
    const moment = deps.clock.now();
    const delivery = { id: deps.ids.uuid(), moment, isRequested: true, state: 'due', reason: null } as const;
    await deps.store.transaction(async (store) => {
      const { dashboardId } = await findSchedule(store, caller, scheduleId);
      await store.dashboards.lock(dashboardId);
      const schedule = await findSchedule(store, caller, scheduleId);
      if (await mustWait(store, caller, schedule, moment)) {
        const message =
          'A report of this schedule was asked for a moment ago, or is on its way. Try again in a minute.';
        throw new Refusal('INVALID_REQUEST_BODY', message, { reason: 'report-under-way' });
      }
      await store.deliveries.insert(schedule, [delivery], moment);
    });
    return { id: delivery.id };
  };

/** Returns the latest deliveries, the newest first. A person who sees no data sees no address, and not what rows decide. */
export const listTemplateDeliveries =
  ({ store }: Pick<Deps, 'store'>) =>
  async (
    caller: ApiKeyCaller,
    { scheduleId, clientId }: Named & { readonly clientId?: string | undefined },
  ): Promise<readonly ToldDelivery[]> => {
    const schedule = await findSchedule(store, caller, scheduleId);
    const found = namingUsers(await store.deliveries.list(scheduleId, mostHostListed, clientId));
    const shown = found.filter(({ state }) => state !== 'shared');
    if (seesData(caller)) return shown;
    const masked = shown.map((each) => ({ ...each, recipient: maskedAddress(each.recipient) }));
    return dependsOnRows(schedule) ? masked.map(concealed) : masked;
  };
