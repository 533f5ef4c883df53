/**
 * Periods that are named by their distance from today, such as `This Month`, `Last 30 Days` and `Year to Date`. Case
 * does not matter. Weeks start on Monday.
 */
import { type Day, dayOf, partsOf } from './calendar.js';

export const relativeUnits = ['day', 'week', 'month', 'quarter', 'year'] as const;
export type RelativeUnit = (typeof relativeUnits)[number];

/**
 * `count` null: the whole calendar period that holds today (`this`), the one before it or the one after it. Otherwise
 * so many periods that end, or begin, with today. `toDate`: from the start of the calendar period to today.
 */
export type RelativePeriod = {
  readonly kind: 'this' | 'last' | 'next' | 'toDate';
  readonly unit: RelativeUnit;
  /** Only of `last` and `next`. */
  readonly count: number | null;
};

/** The greatest number of periods that a name may count. */
export const greatestCount = 1000;

const ofDays: Readonly<Record<string, RelativePeriod>> = {
  today: { kind: 'this', unit: 'day', count: null },
  yesterday: { kind: 'last', unit: 'day', count: null },
  tomorrow: { kind: 'next', unit: 'day', count: null },
};

const unitOf = (text: string | undefined): RelativeUnit | undefined => relativeUnits.find((unit) => unit === text);

/** Returns the period that the text names; undefined if it names none. */
export const readRelative = (text: string): RelativePeriod | undefined => {
  const name = text.trim().toLowerCase();
  if (Object.hasOwn(ofDays, name)) return ofDays[name];
  const [, beginning, unitToDate] = /^(?:(this|last|next) [a-z]+|([a-z]+) to date)$/.exec(name) ?? [];
  const calendar = unitOf(unitToDate ?? name.split(' ')[1]);
  if (calendar !== undefined && calendar !== 'day') {
    if (unitToDate !== undefined) return { kind: 'toDate', unit: calendar, count: null };
    if (beginning === 'this' || beginning === 'last' || beginning === 'next')
      return { kind: beginning, unit: calendar, count: null };
  }
  const [, side, digits, counted] = /^(last|next) ([1-9][0-9]{0,3}) ([a-z]+?)s?$/.exec(name) ?? [];
  const [unit, count] = [unitOf(counted), Number(digits)];
  if (unit === undefined || count > greatestCount || (side !== 'last' && side !== 'next')) return undefined;
  return { kind: side, unit, count };
};

const titles: Readonly<Record<RelativeUnit, string>> = {
  day: 'Day',
  week: 'Week',
  month: 'Month',
  quarter: 'Quarter',
  year: 'Year',
};

/** Returns the period's name as the project writes it. */
export const writeRelative = (period: RelativePeriod): string => {
  const title = titles[period.unit];
  if (period.kind === 'toDate') return `${title} to Date`;
  if (period.kind === 'this') return period.unit === 'day' ? 'Today' : `This ${title}`;
  const [side, ofDay] = period.kind === 'last' ? ['Last', 'Yesterday'] : ['Next', 'Tomorrow'];
  if (period.count === null) return period.unit === 'day' ? ofDay : `${side} ${title}`;
  return `${side} ${period.count} ${title}s`;
};

const inMonths = { month: 1, quarter: 3, year: 12 } as const;
const inDays = { day: 1, week: 7 } as const;

/** The first day of the calendar period that is `count` periods after the one of `day`. */
const startOf = (unit: RelativeUnit, day: Day, count: number): Day => {
  if (unit === 'day') return day + count;
  // 1970-01-01 was a Thursday.
  if (unit === 'week') return day - ((((day + 3) % 7) + 7) % 7) + 7 * count;
  const { year, month } = partsOf(day);
  const months = inMonths[unit];
  return dayOf(year, Math.floor((month - 1) / months) * months + 1 + count * months, 1);
};

/** The day after today's date so many months ago, or after the last day of that month if it is shorter. */
const monthsBefore = (today: Day, months: number): Day => {
  const { year, month, date } = partsOf(today);
  return Math.min(dayOf(year, month - months, date), dayOf(year, month - months + 1, 0)) + 1;
};

/** Today's date in so many months, or the first day of the month after it if that one is shorter. */
const monthsAfter = (today: Day, months: number): Day => {
  const { year, month, date } = partsOf(today);
  return Math.min(dayOf(year, month + months, date), dayOf(year, month + months + 1, 1));
};

const counted = (side: 'last' | 'next', unit: RelativeUnit, count: number, today: Day): readonly [Day, Day] => {
  if (unit === 'day' || unit === 'week') {
    const days = count * inDays[unit];
    return side === 'last' ? [today - days + 1, today + 1] : [today, today + days];
  }
  const months = count * inMonths[unit];
  return side === 'last' ? [monthsBefore(today, months), today + 1] : [today, monthsAfter(today, months)];
};

/** Returns the first day of the period, and the day after its last. Periods of `Last N` and `Next N` include today. */
export const spanOf = (period: RelativePeriod, today: Day): readonly [from: Day, to: Day] => {
  const { kind, unit, count } = period;
  if (kind === 'toDate') return [startOf(unit, today, 0), today + 1];
  if (kind === 'this') return [startOf(unit, today, 0), startOf(unit, today, 1)];
  if (count !== null) return counted(kind, unit, count, today);
  const first = kind === 'last' ? -1 : 1;
  return [startOf(unit, today, first), startOf(unit, today, first + 1)];
};
