/** What the service needs to know about the sending of reports, which another part of the process does. */
import type { Calendar } from './recurrence.js';
import type { ScheduleOwner } from './schedule.js';

export type Reports = {
  readonly calendar: Calendar;
  /** Whether messages can link to a page of the host application. */
  readonly hasLinks: boolean;
  /** `off`: this installation sends no reports. `no-address`: this user has no address that reports may go to. */
  readonly check: (owner: ScheduleOwner) => Promise<'ready' | 'off' | 'no-address'>;
};

/** The most schedules of one user on one dashboard. */
export const mostSchedules = 20;
/** The most deliveries that the history lists. */
export const mostListed = 100;
