/** Dates as answers and conditions write them, moved by whole periods of the calendar, in whatever zone they are local to. */
import type { Period } from './metric.js';

const pattern = /^(\d{4})-(\d{2})-(\d{2})(?:([T ])(\d{2}):(\d{2})(?::(\d{2})(\.\d+)?)?)?$/;

const inMs = { minute: 60_000, hour: 3_600_000, day: 86_400_000, week: 604_800_000 } as const;
const inMonths = { month: 1, quarter: 3, year: 12 } as const;

/** A date without zone that calendars have: `rest` is what stands after the minute. */
type Local = { readonly at: Date; readonly hasTime: boolean; readonly rest: string };

const utc = (year: number, month: number, day: number, hour = 0, minute = 0): Date => {
  const at = new Date(0);
  // The years 0 to 99 would be taken for those of the twentieth century.
  at.setUTCFullYear(year, month, day);
  at.setUTCHours(hour, minute);
  return at;
};

const parse = (text: string): Local | undefined => {
  const match = pattern.exec(text);
  if (match === null) return undefined;
  const [year, month, day, hour = 0, minute = 0] = [1, 2, 3, 5, 6]
    .filter((index) => match[index] !== undefined)
    .map((index) => Number(match[index])) as [number, number, number, number?, number?];
  const at = utc(year, month - 1, day, hour, minute);
  const isReal = at.getUTCMonth() === month - 1 && at.getUTCDate() === day && hour < 24 && minute < 60;
  return isReal ? { at, hasTime: match[4] !== undefined, rest: `:${match[7] ?? '00'}${match[8] ?? ''}` } : undefined;
};

const write = (at: Date, hasTime: boolean, rest: string): string | undefined => {
  const year = at.getUTCFullYear();
  if (year < 1 || year > 9999) return undefined;
  const [day = '', time = ''] = at.toISOString().split('T');
  return hasTime ? `${day}T${time.slice(0, 5)}${rest}` : day;
};

/**
 * `text` (`2024-03-23`, `2024-03-23T10:00:00`) so many periods later, or earlier where `count` is below 0; undefined where it is no date, or no calendar
 * has the other one. A day that the month lacks is its last, and as the end that a range leaves out (`isEnd`) the first of the next month.
 */
export const movePeriods = (text: string, period: Period, count: number, isEnd = false): string | undefined => {
  const local = parse(text);
  if (local === undefined) return undefined;
  const { at, hasTime, rest } = local;
  if (period === 'minute' || period === 'hour') {
    return write(new Date(at.getTime() + count * inMs[period]), true, rest);
  }
  if (period === 'day' || period === 'week') return write(new Date(at.getTime() + count * inMs[period]), hasTime, rest);
  const month = at.getUTCMonth() + count * inMonths[period];
  const last = utc(at.getUTCFullYear(), month + 1, 0);
  if (at.getUTCDate() <= last.getUTCDate()) {
    return write(utc(at.getUTCFullYear(), month, at.getUTCDate(), at.getUTCHours(), at.getUTCMinutes()), hasTime, rest);
  }
  if (isEnd) return write(utc(at.getUTCFullYear(), month + 1, 1), hasTime, ':00');
  last.setUTCHours(at.getUTCHours(), at.getUTCMinutes());
  return write(last, hasTime, rest);
};
