/** Schedules as operators see them: what is sent to whom and what became of it, and never what a message says. */
import type { Delivery, Schedule } from './schedule.js';

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
