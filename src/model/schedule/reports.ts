/** What the service needs to know about the sending of reports, which another part of the process does. */
import type { Audience } from './recipients.js';
import type { Calendar } from './recurrence.js';
import type { ScheduleOwner } from './schedule.js';

/** Where a message of a dashboard goes: to a channel; null: to the owner by e-mail. */
export type Way = { readonly openedId: string; readonly channel: string | null };

export type ListedChannel = { readonly name: string; readonly kind: 'webhook' | 'slack' };

export type Reports = {
  readonly calendar: Calendar;
  /** Whether this installation sends reports. */
  readonly isOn: () => boolean;
  /** Whether reports are sent for users of this data app: that of the policy. `channel`: null for those by e-mail. */
  readonly isFor: (dataAppId: string, channel: string | null) => Promise<boolean>;
  /** The names of the configured channels. */
  readonly channels: readonly string[];
  /** Whether messages can link to a page of the host application. */
  readonly hasLinks: boolean;
  /**
   * `no-address`: this user has no address that reports may go to. `no-channel`: the policy does not grant the channel,
   * or there is none.
   */
  readonly check: (owner: ScheduleOwner, way: Way) => Promise<'ready' | 'no-address' | 'no-channel'>;
  /** Whom this user may send this dashboard to now, besides itself; null: nobody. */
  readonly findAudience: (owner: ScheduleOwner, openedId: string) => Promise<Audience | null>;
  /** The channels that this user may send this dashboard to now. */
  readonly listChannels: (owner: ScheduleOwner, openedId: string) => Promise<readonly ListedChannel[]>;
};

/** The most schedules of one user on one dashboard. */
export const mostSchedules = 20;
/** The most deliveries that the history lists. */
export const mostListed = 100;
