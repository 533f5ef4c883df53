/** Says when the closed periods of a rollup are to be checked and built. */
import type { Rollup } from '../../model/datamart/datamart.js';
import { type Calendar, nextMoment } from '../../model/schedule/recurrence.js';

const defaultMinutes = 60;
const minuteMs = 60_000;

/** Whether a rollup that was looked at then is due. */
export const isRefreshDue = (
  { everyMinutes, at, timezone }: Rollup['refresh'],
  calendar: Calendar,
  { last, now }: { readonly last: Date; readonly now: Date },
): boolean => {
  const minutes = everyMinutes ?? (at === undefined ? defaultMinutes : Number.POSITIVE_INFINITY);
  if (now.getTime() - last.getTime() >= minutes * minuteMs) return true;
  if (at === undefined || timezone === undefined) return false;
  const next = nextMoment({ every: 'day', at, timezone }, calendar, last);
  return next !== null && next.getTime() <= now.getTime();
};
