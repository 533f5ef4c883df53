/**
 * Dates as a filter takes them: presets, `<from> - <to>` and single days, as half-open ranges of calendar days in the
 * guest's timezone. An end date means the whole of that day.
 */
import { type Day, dayOf, parseDay, partsOf, writeDay } from './calendar.js';

/** When and where a relative date is read. `timezone` is an IANA name; null reads as UTC. */
export type Moment = { readonly now: Date; readonly timezone: string | null };

/** `from` inclusive, `to` exclusive, both as `writeDay` has them. */
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

/** spec-gap: weeks start on Monday; `Last N …` ends with today, included. */
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
  'last 3 months': (today) => [monthsFrom(today, -3), today + 1],
  'last 6 months': (today) => [monthsFrom(today, -6), today + 1],
  'last 12 months': (today) => [monthsFrom(today, -12), today + 1],
};

/** Zones by the names they were found by: Intl takes a millisecond for each look-up. */
const knownZones = new Map<string, string>();
const greatestMemory = 1000;

/** An IANA timezone as Intl spells it, whatever the case of the name. Undefined for any other name: offsets such as `+01:00` are none. */
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
    // Intl says "unknown zone" by throwing; there is no other way to ask.
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

/** The days from `from` to `to`, both included; undefined where one is no date (`2024-3-23` is), or they are in disorder. */
export const daysBetween = (from: string, to: string): DayRange | undefined => {
  const [first, last] = [parseDay(from.trim()), parseDay(to.trim())];
  if (first === undefined || last === undefined || last < first) return undefined;
  return { from: writeDay(first), to: writeDay(last + 1) };
};

/** The days that `text` names: a preset (any case), `<from> - <to>`, or one date; undefined where it names none. */
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
