/**
 * Dates in filter values: names of periods, `<from> - <to>` and single days. They become half-open ranges of calendar days in
 * the guest's timezone. An end date includes the whole day.
 */
import { dayOf, parseDay, writeDay } from './calendar.js';
import { readRelative, spanOf } from './relative.js';

/** The time and zone for relative dates. `timezone` is an IANA name; null means UTC. */
export type Moment = { readonly now: Date; readonly timezone: string | null };

/** `from` is inclusive and `to` exclusive, both in the format of `writeDay`. */
export type DayRange = { readonly from: string; readonly to: string };

/** Cache of zones by requested name, since a lookup by Intl takes a millisecond. */
const knownZones = new Map<string, string>();
const greatestMemory = 1000;

/**
 * Returns the IANA timezone as Intl spells it, ignoring the case of `name`. Undefined for any other name, including
 * offsets such as `+01:00`.
 */
export const findTimezone = (name: string): string | undefined => {
  const known = knownZones.get(name);
  if (known !== undefined) return known;
  if (!/^[A-Za-z][A-Za-z0-9_+/-]{0,63}$/.test(name)) return undefined;
  try {
    const { timeZone } = new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions();
    if (knownZones.size >= greatestMemory) knownZones.clear();
    knownZones.set(name, timeZone);
    return timeZone;
  } catch {
    // Intl reports an unknown zone only by throwing.
    return undefined;
  }
};

export const isTimezone = (name: string): boolean => findTimezone(name) !== undefined;

/** Returns the calendar day at the moment, in its timezone, as `writeDay` writes it. */
export const todayOf = ({ now, timezone }: Moment): string => {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: timezone ?? 'UTC',
    calendar: 'gregory',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
  });
  const parts = new Map(format.formatToParts(now).map(({ type, value }) => [type, Number(value)]));
  return writeDay(dayOf(Number(parts.get('year')), Number(parts.get('month')), Number(parts.get('day'))));
};

/** Returns the days that the name of a period means on the day `today`. Undefined if `name` is none of relative.ts. */
export const relativeDays = (name: string, today: string): DayRange | undefined => {
  const [period, day] = [readRelative(name), parseDay(today)];
  if (period === undefined || day === undefined) return undefined;
  const [from, to] = spanOf(period, day);
  return { from: writeDay(from), to: writeDay(to) };
};

/**
 * Returns the days from `from` to `to`, both included. Undefined if one is not a date (`2024-3-23` is one), or `to` is
 * before `from`.
 */
export const daysBetween = (from: string, to: string): DayRange | undefined => {
  const [first, last] = [parseDay(from.trim()), parseDay(to.trim())];
  if (first === undefined || last === undefined || last < first) return undefined;
  return { from: writeDay(first), to: writeDay(last + 1) };
};

/**
 * Returns the days that `text` names: a relative period, `<from> - <to>`, or one date. Undefined if the text is
 * none of these.
 */
export const daysOf = (text: string, moment: Moment): DayRange | undefined => {
  const named = readRelative(text) === undefined ? undefined : relativeDays(text, todayOf(moment));
  if (named !== undefined) return named;
  const [from, to, ...rest] = text.split(' - ');
  if (from === undefined || rest.length > 0) return undefined;
  return daysBetween(from, to ?? from);
};
