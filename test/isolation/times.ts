/** Local times and time grains, computed only with the calendar and `Intl`. */

import type { TimeGrain } from '../../src/model/dashboard/metric.js';
import type { Period } from '../../src/model/filter/period.js';
import { type Exact, exact, floor } from './exact.js';

const formats = new Map<string, Intl.DateTimeFormat>();
const formatOf = (zone: string): Intl.DateTimeFormat => {
  const known = formats.get(zone);
  if (known !== undefined) return known;
  const made = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  });
  formats.set(zone, made);
  return made;
};

/** Returns the local time of the zone for a UTC time such as `2024-03-31T01:30:00`. */
export const toLocal = (utc: string, zone: string): string => {
  const [seconds = '', fraction] = utc.split('.');
  const parts = new Map(
    formatOf(zone)
      .formatToParts(new Date(`${seconds}Z`))
      .map(({ type, value }) => [type, value]),
  );
  const part = (name: Intl.DateTimeFormatPartTypes): string => parts.get(name) ?? '';
  const local = `${part('year')}-${part('month')}-${part('day')}T${part('hour')}:${part('minute')}:${part('second')}`;
  return fraction === undefined ? local : `${local}.${fraction}`;
};

const dayInMs = 86_400_000;
const daysSinceEpoch = (day: string): number => Date.parse(`${day}T00:00:00Z`) / dayInMs;
const dayAfterEpoch = (days: number): string => new Date(days * dayInMs).toISOString().slice(0, 10);
/** From 1 (Monday) to 7 (Sunday). 1970-01-01 was a Thursday. */
const weekday = (day: string): number => ((((daysSinceEpoch(day) + 3) % 7) + 7) % 7) + 1;

/** Truncates a date or time. Grains of a day or more give a date, shorter ones a time. */
export const truncate = (value: string, grain: TimeGrain): string | Exact => {
  const [day = '', time = '00:00:00'] = value.split('T');
  const [year, month = '01'] = day.split('-');
  const [hour = '00', minute = '00'] = time.split(':');
  switch (grain) {
    case 'minute':
      return `${day}T${hour}:${minute}:00`;
    case 'hour':
      return `${day}T${hour}:00:00`;
    case 'day':
      return day;
    case 'week':
      return dayAfterEpoch(daysSinceEpoch(day) - (weekday(day) - 1));
    case 'month':
      return `${year}-${month}-01`;
    case 'quarter':
      return `${year}-${String(Math.floor((Number(month) - 1) / 3) * 3 + 1).padStart(2, '0')}-01`;
    case 'year':
      return `${year}-01-01`;
    case 'hourOfDay':
      return exact(BigInt(hour));
    case 'dayOfWeek':
      return exact(BigInt(weekday(day)));
  }
};

/** Returns the start of the period that many periods earlier, in the format of `truncate` for that grain. */
export const periodsBefore = (start: string, grain: Period, count: number): string => {
  const [day = '', time = ''] = start.split('T');
  if (grain === 'minute' || grain === 'hour') {
    const step = grain === 'minute' ? 60_000 : 3_600_000;
    return new Date(Date.parse(`${day}T${time}Z`) - count * step).toISOString().slice(0, 19);
  }
  if (grain === 'day' || grain === 'week')
    return dayAfterEpoch(daysSinceEpoch(day) - count * (grain === 'week' ? 7 : 1));
  const months = { month: 1, quarter: 3, year: 12 }[grain] * count;
  const [year = 0, month = 1] = day.split('-').map(Number);
  return new Date(Date.UTC(year, month - 1 - months, 1)).toISOString().slice(0, 10);
};

/** Microseconds from 1970 to a date or time. */
export const microsOf = (time: string): bigint => {
  const [seconds = '', fraction = ''] = (time.includes('T') ? time : `${time}T00:00:00`).split('.');
  return BigInt(Date.parse(`${seconds}Z`)) * 1000n + BigInt(fraction.padEnd(6, '0'));
};

export const timeOfMicros = (micros: Exact): string => {
  const whole = floor(micros).n;
  const fraction = ((whole % 1_000_000n) + 1_000_000n) % 1_000_000n;
  const seconds = new Date(Number((whole - fraction) / 1000n)).toISOString().slice(0, 19);
  return `${seconds}.${String(fraction).padStart(6, '0')}`;
};
