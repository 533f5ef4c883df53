/**
 * Dates as a filter takes them: presets, `<from> - <to>` and single days, as half-open ranges of calendar days in the
 * guest's timezone. An end date means the whole of that day.
 */

/** When and where a relative date is read. `timezone` is an IANA name; null reads as UTC. */
export type Moment = { readonly now: Date; readonly timezone: string | null };

/** `from` inclusive, `to` exclusive, both `YYYY-MM-DD`. */
export type DayRange = { readonly from: string; readonly to: string };

/** A calendar day as the number of days since 1970-01-01. */
type Day = number;
const dayInMs = 86_400_000;

const dayOf = (year: number, month: number, day: number): Day => Date.UTC(year, month, day) / dayInMs;
const partsOf = (day: Day): { year: number; month: number; date: number; weekday: number } => {
  const at = new Date(day * dayInMs);
  return {
    year: at.getUTCFullYear(),
    month: at.getUTCMonth(),
    date: at.getUTCDate(),
    weekday: (at.getUTCDay() + 6) % 7,
  };
};
const write = (day: Day): string => new Date(day * dayInMs).toISOString().slice(0, 10);

const monthsFrom = (day: Day, months: number): Day => {
  const { year, month, date } = partsOf(day);
  const lastOfTarget = partsOf(dayOf(year, month + months + 1, 0)).date;
  return dayOf(year, month + months, Math.min(date, lastOfTarget));
};

type Span = (today: Day) => readonly [from: Day, to: Day];

const startOfWeek = (day: Day): Day => day - partsOf(day).weekday;
const startOfMonth = (day: Day, months = 0): Day => dayOf(partsOf(day).year, partsOf(day).month + months, 1);
const startOfQuarter = (day: Day, quarters = 0): Day =>
  dayOf(partsOf(day).year, Math.floor(partsOf(day).month / 3) * 3 + quarters * 3, 1);
const startOfYear = (day: Day, years = 0): Day => dayOf(partsOf(day).year + years, 0, 1);

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

/** Whether a name is an IANA timezone. Offsets such as `+01:00` are not. */
export const isTimezone = (name: string): boolean => {
  if (!/^[A-Za-z][A-Za-z0-9_+/-]{0,63}$/.test(name)) return false;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    // Intl says "unknown zone" by throwing; there is no other way to ask.
    return false;
  }
};

const today = ({ now, timezone }: Moment): Day => {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: timezone ?? 'UTC',
    calendar: 'gregory',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
  });
  const parts = new Map(format.formatToParts(now).map(({ type, value }) => [type, Number(value)]));
  return dayOf(Number(parts.get('year')), Number(parts.get('month')) - 1, Number(parts.get('day')));
};

const parseDay = (text: string): Day | undefined => {
  const match = /^(\d{4})-(\d{1,2})-(\d{1,2})$/.exec(text.trim());
  if (match === null) return undefined;
  const [year, month, date] = match.slice(1).map(Number) as [number, number, number];
  const day = dayOf(year, month - 1, date);
  const back = partsOf(day);
  // Date.UTC takes the years 0 to 99 for those of the twentieth century.
  return back.year === year && back.month === month - 1 && back.date === date ? day : undefined;
};

/** After it, a day has no name of ten characters; it is what comes after the last end that a range can have. */
const lastDay = dayOf(9999, 11, 31);

/** The days from `from` to `to`, both included; undefined where one is no date (`2024-3-23` is), they are in disorder, or not over before 9999-12-31. */
export const daysBetween = (from: string, to: string): DayRange | undefined => {
  const [first, last] = [parseDay(from), parseDay(to)];
  if (first === undefined || last === undefined || last < first || last >= lastDay) return undefined;
  return { from: write(first), to: write(last + 1) };
};

/** The days that `text` names: a preset (any case), `<from> - <to>`, or one date; undefined where it names none. */
export const daysOf = (text: string, moment: Moment): DayRange | undefined => {
  const name = text.trim().toLowerCase();
  const span = Object.hasOwn(presets, name) ? presets[name] : undefined;
  if (span !== undefined) {
    const [from, to] = span(today(moment));
    return { from: write(from), to: write(to) };
  }
  const [from, to, ...rest] = text.split(' - ');
  if (from === undefined || rest.length > 0) return undefined;
  return daysBetween(from, to ?? from);
};
