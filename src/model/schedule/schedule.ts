/** Schedules of reports and alerts, and the ledger of their deliveries. */
import type { FilterValue } from '../filter/filter.js';
import type { Alert, AlertState } from './alert.js';
import type { CatchUp } from './catch-up.js';
import { mailFaultNames } from './mail-faults.js';
import type { Recipients } from './recipients.js';
import type { Recurrence } from './recurrence.js';

/**
 * What a message holds. `png`: a picture in the message. `csv`: one file for each metric. `link`: no file, only the dashboard's address. `alert`: the value
 * of one metric, if there is something to tell.
 */
export const reportFormats = ['pdf', 'png', 'xlsx', 'csv', 'link', 'alert'] as const;
export type ReportFormat = (typeof reportFormats)[number];

/** The guest who made a schedule, and who receives it unless it has recipients; or the host: see host-schedule.ts. */
export type ScheduleOwner = {
  readonly dataAppId: string;
  readonly clientId: string;
  readonly userIdentifier: string;
};

/** What the owner chooses. */
export type SchedulePlan = {
  readonly name: string;
  readonly format: ReportFormat;
  readonly recurrence: Recurrence;
  readonly catchUp: CatchUp;
  readonly isPaused: boolean;
  /** Until then nothing is sent but what the owner asks for at once; null: no such time. */
  readonly mutedUntil: Date | null;
  /** What is told; null exactly if the format is another one than `alert`. */
  readonly alert: Alert | null;
  /** The name of the operator's channel that gets it; null: it goes by e-mail. */
  readonly channel: string | null;
  /** Who gets it by e-mail; null: the owner alone. */
  readonly recipients: Recipients | null;
  /** Filters that the owner set, by their names. They only narrow what the owner may see. Empty without files. */
  readonly dashboardFilter: Readonly<Record<string, FilterValue>>;
  /** The metrics of the files; null: all that the owner may open. */
  readonly metricIds: readonly string[] | null;
};

export type Schedule = SchedulePlan & {
  readonly id: string;
  /** The stored dashboard; of a host's schedule, the template. A later dashboard of the same external id is another one. */
  readonly dashboardId: string;
  /** The id by which the owner opened the dashboard: an embed's or a dashboard's. */
  readonly openedId: string;
  readonly owner: ScheduleOwner;
  /** The earliest moment not decided yet; null if there is none. */
  readonly nextAt: Date | null;
  readonly createdAt: Date;
  /** What the last check found; null before the first one, and for reports. */
  readonly alertState: AlertState | null;
};

/** What the last check found, as far as it was made by the right and the rule that hold now. */
export type AlertStatus = Pick<AlertState, 'isBreached' | 'since'>;

/** A schedule as its owner sees it. `status` is null for a report, and if no check was made by the owner's right. */
export type ListedSchedule = Schedule & {
  readonly status: AlertStatus | null;
  /** The addresses of its recipients that nobody has confirmed. */
  readonly unconfirmed: readonly string[];
};

/**
 * `due` waits for its attempt. `sending` is held by a sender until its lease ends. The others are final. `shared`: each
 * recipient has a delivery of its own.
 */
export const deliveryStates = ['due', 'sending', 'sent', 'failed', 'skipped', 'shared'] as const;
export type DeliveryState = (typeof deliveryStates)[number];

/** Why a delivery was not sent, or not yet. */
export const deliveryReasons = [
  'attempts-used-up',
  'channel-address',
  'channel-refused',
  'channel-unanswered',
  'channel-unreachable',
  'content-failed',
  'content-too-large',
  'mail-bounced',
  ...mailFaultNames,
  'measure-not-numeric',
  'metric-changed',
  'missed',
  'muted',
  'no-address',
  'no-channel',
  'no-recipients',
  'no-right',
  'no-right-to-share',
  'not-confirmed',
  'not-decided',
  'nothing-to-tell',
  'paused',
  'quiet-hours',
  'stopped',
  'tenant-suspended',
  'too-many-recipients',
  'too-many-rows',
] as const;
export type DeliveryReason = (typeof deliveryReasons)[number];

/** One message: of one schedule, at one moment, to one recipient. */
export type Delivery = {
  readonly id: string;
  readonly scheduleId: string;
  /** The tenant; empty for the delivery of a host's schedule that finds the tenants. */
  readonly clientId: string;
  /**
   * The user identifier of the recipient, or the digest of an address; `everyone` for the delivery that finds the
   * recipients. Of a host's schedule, it names the tenant too: see `tenantRecipient`.
   */
  readonly recipient: string;
  readonly moment: Date;
  /** Whether the owner asked for it at once. A pause does not stop it. */
  readonly isRequested: boolean;
  readonly state: DeliveryState;
  readonly reason: DeliveryReason | null;
  readonly attempts: number;
  /** The end of the latest attempt; null before it. */
  readonly finishedAt: Date | null;
};

/**
 * A delivery that one sender holds. A host's schedule is given as that of the delivery's tenant: with the tenant as the
 * owner's, and the tenant's copy as the dashboard.
 */
export type ClaimedDelivery = Delivery & {
  readonly schedule: Schedule;
  /** How often the message was handed to a mail server that has not answered. */
  readonly handovers: number;
};

/** A schedule of any user, with its latest delivery. It has neither values that the user chose nor what an alert found. */
export type WatchedSchedule = Omit<Schedule, 'alertState' | 'alert' | 'dashboardFilter' | 'metricIds'> & {
  readonly last: Pick<Delivery, 'moment' | 'state' | 'reason' | 'finishedAt'> | null;
};

/** The schedules of a data app, of one of its clients, or of one dashboard. */
export type ScheduleScope = {
  readonly dataAppId: string;
  readonly clientId?: string;
  /** The stored dashboard. */
  readonly dashboardId?: string;
};

export type SchedulesOfAll = {
  /** Those of all tenants, or of one: the newest first, and at most `mostWatched`. */
  readonly list: (
    clientId?: string,
  ) => Promise<{ readonly schedules: readonly WatchedSchedule[]; readonly hasMore: boolean }>;
  /** Moments that passed during a pause are not sent. Returns false if there is no such schedule. */
  readonly setPaused: (scheduleId: string, isPaused: boolean) => Promise<boolean>;
};

/** The most schedules that operators read at once. */
export const mostWatched = 5_000;
