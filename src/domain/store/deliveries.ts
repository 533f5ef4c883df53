/** Stores of schedules and of their deliveries. */
import type { AlertState } from '../deliver/alert.js';
import type { HostSchedule, TenantCopy } from '../deliver/host-schedule.js';
import type { ScheduleScope, WatchedSchedule } from '../deliver/operator.js';
import type { PlanChange } from '../deliver/plan.js';
import type { KnownAddress } from '../deliver/recipients.js';
import type { ClaimedDelivery, Delivery, DeliveryReason, Schedule, ScheduleOwner } from '../deliver/schedule.js';

export type ScheduleChange = PlanChange & { readonly nextAt?: Date | null | undefined };

export type ScheduleStore = {
  readonly insert: (schedule: Schedule) => Promise<void>;
  /** Returns the owner's schedules of the dashboard, oldest first. `alertState` is the owner's own. */
  readonly list: (dashboardId: string, owner: ScheduleOwner) => Promise<readonly Schedule[]>;
  /** Returns false if the owner has no such schedule of the dashboard. Also for `delete`. */
  readonly change: (
    dashboardId: string,
    owner: ScheduleOwner,
    scheduleId: string,
    change: ScheduleChange,
  ) => Promise<boolean>;
  /** Deletes the schedule and its deliveries. */
  readonly delete: (dashboardId: string, owner: ScheduleOwner, scheduleId: string) => Promise<boolean>;
  /** Returns schedules of all users with their latest delivery, the newest schedule first; none of the host. */
  readonly listAll: (scope: ScheduleScope, limit: number) => Promise<readonly WatchedSchedule[]>;
  /**
   * Lets a paused schedule send again from the moment that `nextOf` returns. Returns false if the scope has no such
   * schedule. Also for `pauseOf` and `deleteOf`.
   */
  readonly resumeOf: (
    scope: ScheduleScope,
    scheduleId: string,
    nextOf: (schedule: Pick<Schedule, 'recurrence'>) => Date | null,
  ) => Promise<boolean>;
  readonly pauseOf: (scope: ScheduleScope, scheduleId: string) => Promise<boolean>;
  readonly deleteOf: (scope: ScheduleScope, scheduleId: string) => Promise<boolean>;
  /** Returns the host's schedules, or the named one, with what became of the latest moment; the newest first. */
  readonly listOfHost: (dataAppId: string, scheduleId?: string) => Promise<readonly HostSchedule[]>;
  /** Ends what one recipient gets of a schedule. Returns false if the schedule does not exist. */
  readonly stop: (scheduleId: string, recipient: string, now: Date) => Promise<boolean>;
  /** Returns the recipients who ended it. */
  readonly listStopped: (scheduleId: string) => Promise<readonly string[]>;
  /** Pauses the schedule of any user. Returns false if it does not exist. */
  readonly pause: (scheduleId: string) => Promise<boolean>;
  /**
   * Returns schedules that are not paused and whose `nextAt` has come, the earliest first, and locks them until the
   * transaction ends. Leaves out those that another transaction has locked.
   */
  readonly lockPlannable: (now: Date, limit: number) => Promise<readonly Schedule[]>;
  readonly setNext: (scheduleId: string, nextAt: Date | null) => Promise<void>;
  /** As `setNext`, for many in one statement. */
  readonly setNextOf: (schedules: readonly Pick<Schedule, 'id' | 'nextAt'>[]) => Promise<void>;
};

export type NewDelivery = Pick<Delivery, 'id' | 'moment' | 'isRequested'> & {
  readonly state: 'due' | 'skipped';
  readonly reason: DeliveryReason | null;
  /** Left out: the owner; or, if the schedule has recipients, the delivery that finds them. */
  readonly recipient?: string;
  /** Before then it is not sent. Left out: it may be sent at once. */
  readonly attemptAt?: Date;
};

/** A schedule with the moments that its plan decided. */
export type PlannedSchedule = { readonly schedule: Schedule; readonly deliveries: readonly NewDelivery[] };

/** A delivery of its own for each recipient of a moment, or for each tenant of a host's schedule. */
export type NewShare = Pick<Delivery, 'id' | 'recipient'> & {
  /** As of a `NewDelivery`. */
  readonly attemptAt?: Date;
  /** The tenant, of a host's schedule that found its tenants. */
  readonly copy?: TenantCopy;
};

/** Addresses without an account, by client and by a keyed digest. They themselves are in the schedules only. */
export type ReportAddressStore = {
  /** Leaves out those that are known. */
  readonly ensure: (
    owner: Pick<ScheduleOwner, 'dataAppId' | 'clientId'>,
    addresses: readonly { readonly id: string; readonly digest: string }[],
    now: Date,
  ) => Promise<void>;
  readonly find: (
    owner: Pick<ScheduleOwner, 'dataAppId' | 'clientId'>,
    digest: string,
  ) => Promise<KnownAddress | undefined>;
  /**
   * Notes when the address was last asked, if that is still as in `before`. Returns false if it was asked, or not
   * asked, since: of two messages that ask one mailbox at the same time, one goes.
   */
  readonly noteAsked: (id: string, before: Date | null, asked: Date | null) => Promise<boolean>;
  /** Confirms an address that was asked since that time. Returns false for another one, and if it was confirmed before. */
  readonly confirm: (id: string, askedSince: Date, now: Date) => Promise<boolean>;
};

export type Claim = {
  readonly now: Date;
  /** Names the sender's hold. Only its holder can end the delivery. */
  readonly leaseId: string;
  readonly leasedUntil: Date;
  readonly limit: number;
  /** At most this many claims of one client since that time. */
  readonly perClient: { readonly count: number; readonly since: Date };
};

/** How an attempt ended. `isAnswered`: the mail server said that it did not take the message, or never got it. */
export type DeliveryEnd =
  | { readonly state: 'sent'; readonly at: Date }
  | { readonly state: 'failed' | 'skipped'; readonly reason: DeliveryReason; readonly at: Date }
  | {
      readonly state: 'due';
      readonly reason: DeliveryReason;
      readonly at: Date;
      readonly attemptAt: Date;
      readonly isAnswered: boolean;
    };

export type DeliveryStore = {
  /** Leaves out moments of a recipient that the ledger has. Returns how many are new. */
  readonly insert: (schedule: Schedule, deliveries: readonly NewDelivery[], now: Date) => Promise<number>;
  /** As `insert`, for many schedules in few statements. */
  readonly insertPlanned: (planned: readonly PlannedSchedule[], now: Date) => Promise<number>;
  /**
   * Takes deliveries that are due, and those of senders whose lease has ended. Clients with fewer recent claims come
   * first. No two calls return the same delivery while its lease lasts, nor two of one alert to one recipient: each check
   * must know what the last one found. The schedule has that recipient's `alertState`.
   */
  readonly claim: (claim: Claim) => Promise<readonly ClaimedDelivery[]>;
  /**
   * Ends a delivery that found the recipients, and inserts one that is due for each of them at the same moment. Leaves
   * out tenants whose copy was deleted meanwhile. Returns false if the lease was lost or the schedule was deleted.
   */
  readonly share: (deliveryId: string, leaseId: string, shares: readonly NewShare[], now: Date) => Promise<boolean>;
  /**
   * Notes that the message is about to be handed to the mail server. Returns false, and the message must not be sent, if
   * the lease was lost, the schedule was deleted, its recipient ended it, or it was paused or muted and the delivery was
   * not requested.
   */
  readonly handOver: (deliveryId: string, leaseId: string, now: Date) => Promise<boolean>;
  /**
   * Returns false if the lease was lost or the schedule was deleted. Stores what a check of an alert found together with
   * its end, so that what was told and what is known agree. Left out: the state stays.
   */
  readonly finish: (deliveryId: string, leaseId: string, end: DeliveryEnd, alertState?: AlertState) => Promise<boolean>;
  /**
   * Notes that a sent message came back, and pauses its schedule if `isHard`; of a schedule with recipients, only that recipient gets no more. Returns false if no such message was sent,
   * or its return is known.
   */
  readonly bounce: (bounce: { readonly deliveryId: string; readonly isHard: boolean }, at: Date) => Promise<boolean>;
  /** Deliveries that are due and that no sender holds, and for how many seconds the oldest has been due. */
  readonly countWaiting: (now: Date) => Promise<{ readonly count: number; readonly seconds: number }>;
  /** Whether a delivery of the schedule has not ended. */
  readonly hasOpen: (scheduleId: string) => Promise<boolean>;
  /** Returns deliveries of the schedule, or of one tenant of it, the newest moment first. */
  readonly list: (scheduleId: string, limit: number, clientId?: string) => Promise<readonly Delivery[]>;
  /** Deletes deliveries that ended before this time. Returns how many. */
  readonly purge: (before: Date) => Promise<number>;
};
