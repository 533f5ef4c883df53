/** Which moments of a schedule are sent after the sender stood still. */
import { type Calendar, nextMoment, type Recurrence } from './recurrence.js';

/** What happens to moments that passed while nothing was sent: none is sent, the latest one is, or each is. */
export const catchUps = ['skip', 'once', 'all'] as const;
export type CatchUp = (typeof catchUps)[number];

/** A moment is missed if it is older than this. Until then it is sent under every rule. */
const punctualMs = 3_600_000;
/** Moments older than this are not listed one by one. A schedule has at most one moment an hour. */
const reachMs = 35 * 86_400_000;

export type DueMoments = {
  /** To send now, the oldest first. */
  readonly due: readonly Date[];
  /** Not to send: missed. Those older than `reachMs` are left out, but for the first. */
  readonly skipped: readonly Date[];
  /** The next moment after now; null if there is none. */
  readonly nextAt: Date | null;
};

const momentsUntil = (recurrence: Recurrence, calendar: Calendar, first: Date, now: Date) => {
  const moments: Date[] = [];
  let at: Date | null = first;
  while (at !== null && at <= now) {
    moments.push(at);
    at = nextMoment(recurrence, calendar, new Date(Math.max(at.getTime(), now.getTime() - reachMs)));
  }
  return { moments, nextAt: at };
};

const isSent = (catchUp: CatchUp, moment: Date, isLatest: boolean, now: Date): boolean => {
  if (catchUp === 'all') return true;
  if (!isLatest) return false;
  return catchUp === 'once' || now.getTime() - moment.getTime() <= punctualMs;
};

/**
 * Decides about the moments from `plannedAt`, the earliest one not decided yet, until now. Each is either due or skipped,
 * and `nextAt` is after now: the next call decides about none of them again.
 */
export const dueMoments = (
  { recurrence, catchUp }: { readonly recurrence: Recurrence; readonly catchUp: CatchUp },
  calendar: Calendar,
  plannedAt: Date,
  now: Date,
): DueMoments => {
  const { moments, nextAt } = momentsUntil(recurrence, calendar, plannedAt, now);
  const due = moments.filter((moment, index) => isSent(catchUp, moment, index === moments.length - 1, now));
  return { due, skipped: moments.filter((moment) => !due.includes(moment)), nextAt };
};
