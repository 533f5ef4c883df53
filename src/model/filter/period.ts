/**
 * Moves dates by whole calendar periods. Dates have the format of answers and conditions, and keep their local zone.
 */
import { type DateGrain, dateGrains } from '../datamart/dates.js';
import { type Day, dayOf, parseDay, partsOf, writeDay } from './calendar.js';

/** Periods that follow each other without a gap. Weeks start on Monday. */
export const periods = dateGrains;
export type Period = DateGrain;

const pattern = /^([^T ]+?)(?:([T ])(\d{2}):(\d{2})(?::(\d{2})(\.\d+)?)?)?$/;

const inMinutes = { minute: 1, hour: 60, day: 1440, week: 10_080 } as const;
const inMonths = { month: 1, quarter: 3, year: 12 } as const;

/** A date without zone. `minute` is the minute of the day; `rest` is the text after the minute. */
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

/**
 * Range of years that the timestamps of both PostgreSQL and DuckDB can represent. Other databases have smaller ranges.
 */
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
 * Returns `text` (`2024-03-23`, `2024-03-23T10:00:00`) moved by `count` periods; earlier if `count` is negative.
 * Undefined if the text is not a date, or no database can store the result. If the target month does not have the day,
 * the result is the month's last day; for the exclusive end of a range (`isEnd`), the first day of the next month.
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

const isStart: Readonly<Record<Period, (local: Local) => boolean>> = {
  minute: ({ rest }) => /^:00(\.0+)?$/.test(rest),
  hour: (local) => local.minute % 60 === 0 && isStart.minute(local),
  day: (local) => local.minute === 0 && isStart.minute(local),
  // 1970-01-01 was a Thursday.
  week: (local) => (((local.day - 4) % 7) + 7) % 7 === 0 && isStart.day(local),
  month: (local) => partsOf(local.day).date === 1 && isStart.day(local),
  quarter: (local) => partsOf(local.day).month % 3 === 1 && isStart.month(local),
  year: (local) => partsOf(local.day).month === 1 && isStart.month(local),
};

/** Whether the grain is a period, with a start and an end. */
export const isPeriod = (grain: string | undefined): grain is Period => periods.some((period) => period === grain);

/** Whether the text is a date at which a period starts. */
export const isStartOf = (text: string, period: Period): boolean => {
  const local = parse(text);
  return local !== undefined && isStart[period](local);
};
