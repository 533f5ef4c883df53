/**
 * Dates in filter values: presets, `<from> - <to>` and single days. They become half-open ranges of calendar days in
 * the guest's timezone. An end date includes the whole day.
 */
import { type Day, dayOf, parseDay, partsOf, writeDay } from './calendar.js';

/** The time and zone for relative dates. `timezone` is an IANA name; null means UTC. */
export type Moment = { readonly now: Date; readonly timezone: string | null };

/** `from` is inclusive and `to` exclusive, both in the format of `writeDay`. */
export type DayRange = { readonly from: string; readonly to: string };

const weekdayOf = (day: Day): number => (((day + 3) % 7) + 7) % 7;

const monthsFrom = (day: Day, months: number): Day => {
  const { year, month, date } = partsOf(day);
  const lastOfTarget = partsOf(dayOf(year, month + months + 1, 0)).date;
  return dayOf(year, month + months, Math.min(date, lastOfTarget));
};

type Span = (today: Day) => readonly [from: Day, to: Day];

const startOfWeek = (day: Day): Day => day - weekdayOf(day);
const startOfMonth = (day: Day, months = 0): Day => dayOf(partsOf(day).year, partsOf(day).month + months, 1);
const startOfQuarter = (day: Day, quarters = 0): Day =>
  dayOf(partsOf(day).year, Math.floor((partsOf(day).month - 1) / 3) * 3 + quarters * 3 + 1, 1);
const startOfYear = (day: Day, years = 0): Day => dayOf(partsOf(day).year + years, 1, 1);

/**
 * spec-gap: weeks start on Monday; `Last N …` includes today. `Last N Months` begins on the day after today's date N
 * months ago, or after the last day of that month if it is shorter.
 */
const presets: Readonly<Record<string, Span>> = {
  today: (today) => [today, today + 1],
  yesterday: (today) => [today - 1, today],
  'this week': (today) => [startOfWeek(today), startOfWeek(today) + 7],
  'last week': (today) => [startOfWeek(today) - 7, startOfWeek(today)],
  'this month': (today) => [startOfMonth(today), startOfMonth(today, 1)],
  'last month': (today) => [startOfMonth(today, -1), startOfMonth(today)],
  'this quarter': (today) => [startOfQuarter(today), startOfQuarter(today, 1)],
  'last quarter': (today) => [startOfQuarter(today, -1), startOfQuarter(today)],
  'this year': (today) => [startOfYear(today), startOfYear(today, 1)],
  'last year': (today) => [startOfYear(today, -1), startOfYear(today)],
  'last 7 days': (today) => [today - 6, today + 1],
  'last 30 days': (today) => [today - 29, today + 1],
  'last 90 days': (today) => [today - 89, today + 1],
  'year to date': (today) => [startOfYear(today), today + 1],
  'last 3 months': (today) => [monthsFrom(today, -3) + 1, today + 1],
  'last 6 months': (today) => [monthsFrom(today, -6) + 1, today + 1],
  'last 12 months': (today) => [monthsFrom(today, -12) + 1, today + 1],
};

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

const today = ({ now, timezone }: Moment): Day => {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: timezone ?? 'UTC',
    calendar: 'gregory',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
  });
  const parts = new Map(format.formatToParts(now).map(({ type, value }) => [type, Number(value)]));
  return dayOf(Number(parts.get('year')), Number(parts.get('month')), Number(parts.get('day')));
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
 * Returns the days that `text` names: a preset (in any case), `<from> - <to>`, or one date. Undefined if the text is
 * none of these.
 */
export const daysOf = (text: string, moment: Moment): DayRange | undefined => {
  const name = text.trim().toLowerCase();
  const span = Object.hasOwn(presets, name) ? presets[name] : undefined;
  if (span !== undefined) {
    const [from, to] = span(today(moment));
    return { from: writeDay(from), to: writeDay(to) };
  }
  const [from, to, ...rest] = text.split(' - ');
  if (from === undefined || rest.length > 0) return undefined;
  return daysBetween(from, to ?? from);
};
