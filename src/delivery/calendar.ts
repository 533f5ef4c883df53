/** The calendar of schedules: cron expressions in time zones, by croner. */
import { Cron } from 'croner';
import type { Calendar } from '../model/schedule/recurrence.js';

/** Without wildcards in the hour, an hour that the clock repeats counts once. With one, each hour that passes counts. */
const options = { mode: '5-part', paused: true, fixedTimeRule: 'no-wildcard' } as const;

/** croner takes an empty name for the machine's own zone, and offsets such as `+01:00`, which know no summer. */
const zonePattern = /^[A-Za-z][A-Za-z0-9_+\-/]{0,99}$/;

export const calendar: Calendar = {
  next: (cron, timezone, after) => {
    if (!zonePattern.test(timezone)) throw new RangeError('The time zone is no name of the IANA database.');
    try {
      return new Cron(cron, { ...options, timezone }).nextRun(after);
    } catch (cause) {
      // croner throws errors of several types for an expression or a zone that it cannot read.
      throw new RangeError(cause instanceof Error ? cause.message : 'The expression could not be read.', { cause });
    }
  },
};
