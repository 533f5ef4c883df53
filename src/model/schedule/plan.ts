/** Rules of a schedule's plan that hold for guests and for the host. Who may choose what is decided elsewhere. */
import { Refusal } from '../refusal.js';
import { type Calendar, nextMoment, recurrenceFault } from './recurrence.js';
import type { ReportFormat, Schedule, SchedulePlan } from './schedule.js';

/** What a change names. What is left out keeps its value. */
export type PlanChange = { readonly [Field in keyof SchedulePlan]?: SchedulePlan[Field] | undefined };

/** What the files of a report hold. */
export type PlanContent = Pick<SchedulePlan, 'dashboardFilter' | 'metricIds'>;

export const invalidPlan = (
  message: string,
  reason: 'alert-invalid' | 'report-format' | 'report-recipients' | 'report-recurrence' | 'view-choices',
): Refusal => new Refusal('INVALID_REQUEST_BODY', message, { reason });

const isFile = (format: ReportFormat): boolean => format !== 'alert' && format !== 'link';

/** Throws unless the plan has moments to come. */
export const assertRecurrence = ({ recurrence }: SchedulePlan, calendar: Calendar, now: Date): void => {
  const fault = recurrenceFault(recurrence, calendar, now);
  if (fault !== undefined) throw invalidPlan(`recurrence.${fault}`, 'report-recurrence');
};

/** Throws unless the plan is one of a report without an alert, or one of an alert. Files go to no channel. */
export const assertKind = ({ format, alert, channel }: SchedulePlan): void => {
  if (format === 'alert' && alert === null) {
    throw invalidPlan('alert: required for the format alert.', 'alert-invalid');
  }
  if (format !== 'alert' && alert !== null) {
    throw invalidPlan('alert: belongs to the format alert only.', 'alert-invalid');
  }
  if (channel !== null && isFile(format)) {
    throw invalidPlan('channel: files go by e-mail only. Choose alert or link as the format.', 'alert-invalid');
  }
};

export const hasContent = ({ dashboardFilter, metricIds }: PlanContent): boolean =>
  Object.keys(dashboardFilter).length > 0 || metricIds !== null;

/** Throws for chosen filters or metrics of a plan without files. */
export const assertTakesContent = (plan: SchedulePlan): void => {
  if (isFile(plan.format) || !hasContent(plan)) return;
  const message = 'format: filters and metrics are chosen for files only. Choose pdf, png, xlsx or csv.';
  throw invalidPlan(message, 'report-format');
};

/** The schedule as the change leaves it. Throws if the change makes an alert of a report, or the reverse. */
export const changedPlan = <Planned extends Schedule>(before: Planned, change: PlanChange): Planned => {
  const named = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
  const plan = { ...before, ...named };
  if ((plan.format === 'alert') === (before.format === 'alert')) return plan;
  const message = 'format: an alert stays an alert, and a report a report. Make a new schedule.';
  throw invalidPlan(message, 'alert-invalid');
};

/** The next moment after a change; undefined: it stays. Moments that passed during a pause are left out. */
export const changedNext = (
  before: Pick<Schedule, 'isPaused' | 'recurrence'>,
  { recurrence, isPaused }: PlanChange,
  calendar: Calendar,
  now: Date,
): Date | null | undefined => {
  const isNew = recurrence !== undefined || (before.isPaused && isPaused === false);
  return isNew ? nextMoment(recurrence ?? before.recurrence, calendar, now) : undefined;
};

export const newSchedule = (
  plan: SchedulePlan,
  place: Pick<Schedule, 'id' | 'dashboardId' | 'openedId' | 'owner'>,
  calendar: Calendar,
  createdAt: Date,
): Schedule => ({
  ...{ ...plan, ...place, createdAt, alertState: null },
  nextAt: nextMoment(plan.recurrence, calendar, createdAt),
});
