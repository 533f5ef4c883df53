/**
 * When a schedule sends: a cron expression or a friendly form, in a time zone. Pure rules; the calendar itself is a port,
 * because time zones need a library.
 */
import { isTimezone } from '../filter/date-range.js';

export const weekdays = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] as const;
export type Weekday = (typeof weekdays)[number];

/**
 * Five fields of cron. The minute is one number, so that a schedule sends at most once an hour. Friendly forms: `at` is a
 * time of day as `HH:MM`; `day` of a month is 1 to 31 or `last`, and a month without that day is left out.
 */
export type Recurrence = { readonly timezone: string } & (
  | { readonly cron: string }
  | { readonly every: 'day' | 'workday'; readonly at: string }
  | { readonly every: 'week'; readonly on: readonly Weekday[]; readonly at: string }
  | { readonly every: 'month'; readonly day: number | 'last'; readonly at: string }
);

/**
 * Reads moments of a cron expression in a time zone. A time of day that the clock leaves out comes when the clock goes
 * on; one that the clock repeats comes once, the first time. An hour field with `*` means each hour that passes.
 */
export type Calendar = {
  /** Returns the first moment after `after`; null if there is none. Throws a RangeError if it cannot read the texts. */
  readonly next: (cron: string, timezone: string, after: Date) => Date | null;
};

/** A time of day as `HH:MM`. */
export const timePattern = /^(?:[01]\d|2[0-3]):[0-5]\d$/;
const fieldPattern = /^[\d*,/\-A-Z#]{1,60}$/i;

const daysOf = (recurrence: Exclude<Recurrence, { readonly cron: string }>): string => {
  switch (recurrence.every) {
    case 'day':
      return '* * *';
    case 'workday':
      return '* * 1-5';
    case 'week':
      return `* * ${recurrence.on.map((day) => weekdays.indexOf(day)).join(',')}`;
    case 'month':
      return `${recurrence.day === 'last' ? 'L' : recurrence.day} * *`;
  }
};

/** Returns the five fields of cron. */
const cronOf = (recurrence: Recurrence): string => {
  if ('cron' in recurrence) return recurrence.cron;
  const [hour, minute] = recurrence.at.split(':').map(Number);
  return `${minute} ${hour} ${daysOf(recurrence)}`;
};

const friendlyFault = (recurrence: Exclude<Recurrence, { readonly cron: string }>): string | undefined => {
  if (!timePattern.test(recurrence.at)) return 'at: expected a time of day such as "08:00".';
  if (recurrence.every === 'week' && recurrence.on.length === 0) return 'on: expected at least one day of the week.';
  if (recurrence.every === 'month' && recurrence.day !== 'last') {
    const { day } = recurrence;
    if (!Number.isInteger(day) || day < 1 || day > 31) return 'day: expected a number from 1 to 31, or "last".';
  }
  return undefined;
};

const cronFault = (cron: string): string | undefined => {
  const fields = cron.split(' ');
  if (fields.length !== 5) return 'cron: expected five fields separated by single spaces, such as "0 8 * * 1-5".';
  if (!/^[0-5]?\d$/.test(fields[0] ?? '')) {
    return 'cron: expected one number as the minute, because a schedule sends at most once an hour.';
  }
  return fields.every((field) => fieldPattern.test(field)) ? undefined : 'cron: a field has a character of no meaning.';
};

/** Returns what is wrong with a recurrence, with its path and how to mend it. Undefined: it has a next moment. */
export const recurrenceFault = (recurrence: Recurrence, calendar: Calendar, now: Date): string | undefined => {
  const fault = 'cron' in recurrence ? cronFault(recurrence.cron) : friendlyFault(recurrence);
  if (fault !== undefined) return fault;
  if (!isTimezone(recurrence.timezone)) {
    return 'timezone: expected a name of the IANA time zones, such as "Europe/Berlin".';
  }
  try {
    const isEver = calendar.next(cronOf(recurrence), recurrence.timezone, now) !== null;
    return isEver ? undefined : 'cron: expected a date that occurs; this one never does.';
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return `cron: ${error.message}`;
  }
};

/** Returns the first moment after `after`; null if there is none. */
export const nextMoment = (recurrence: Recurrence, calendar: Calendar, after: Date): Date | null =>
  calendar.next(cronOf(recurrence), recurrence.timezone, after);
