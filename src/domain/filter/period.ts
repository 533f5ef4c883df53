/** Dates as answers and conditions write them, moved by whole periods of the calendar, in whatever zone they are local to. */
import { type Day, dayOf, parseDay, partsOf, writeDay } from './calendar.js';

/** A stretch of time that others of its kind follow. Weeks start on Monday. */
export const periods = ['minute', 'hour', 'day', 'week', 'month', 'quarter', 'year'] as const;
export type Period = (typeof periods)[number];

const pattern = /^([^T ]+?)(?:([T ])(\d{2}):(\d{2})(?::(\d{2})(\.\d+)?)?)?$/;

const inMinutes = { minute: 1, hour: 60, day: 1440, week: 10_080 } as const;
const inMonths = { month: 1, quarter: 3, year: 12 } as const;

/** A date without zone: `minute` of the day, and `rest` is what stands after the minute. */
type Local = { readonly day: Day; readonly minute: number; readonly hasTime: boolean; readonly rest: string };

const parse = (text: string): Local | undefined => {
  const match = pattern.exec(text);
  const day = /^.*-\d{2}-\d{2}$/.test(match?.[1] ?? '') ? parseDay(match?.[1] ?? '') : undefined;
  if (match === null || day === undefined) return undefined;
  const [hour, minute] = [Number(match[3] ?? 0), Number(match[4] ?? 0)];
  const rest = `:${match[5] ?? '00'}${match[6] ?? ''}`;
  return hour < 24 && minute < 60
    ? { day, minute: hour * 60 + minute, hasTime: match[2] !== undefined, rest }
    : undefined;
};

/** What every database that has dates so far keeps as a timestamp. */
const [leastYear, greatestYear] = [-4712, 294_245];

const write = ({ day, minute, hasTime, rest }: Local): string | undefined => {
  const at = day + Math.floor(minute / 1440);
  const { year } = partsOf(at);
  if (year < leastYear || year > greatestYear) return undefined;
  const time = ((minute % 1440) + 1440) % 1440;
  const clock = [Math.floor(time / 60), time % 60].map((part) => String(part).padStart(2, '0')).join(':');
  return hasTime ? `${writeDay(at)}T${clock}${rest}` : writeDay(at);
};

/**
 * `text` (`2024-03-23`, `2024-03-23T10:00:00`) so many periods later, or earlier where `count` is below 0; undefined where it is no date, or no database
 * has the other one. A day that the month lacks is its last, and as the end that a range leaves out (`isEnd`) the first of the next month.
 */
export const movePeriods = (text: string, period: Period, count: number, isEnd = false): string | undefined => {
  const local = parse(text);
  if (local === undefined) return undefined;
  if (period === 'minute' || period === 'hour' || period === 'day' || period === 'week') {
    const hasTime = local.hasTime || period === 'minute' || period === 'hour';
    return write({ ...local, hasTime, minute: local.minute + count * inMinutes[period] });
  }
  const { year, month, date } = partsOf(local.day);
  const target = month + count * inMonths[period];
  const next = dayOf(year, target + 1, 1);
  const moved = dayOf(year, target, date);
  if (moved < next) return write({ ...local, day: moved });
  return write(isEnd ? { ...local, day: next, minute: 0, rest: ':00' } : { ...local, day: next - 1 });
};
