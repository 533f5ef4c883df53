/** Relative periods against a second, naive calendar: it walks day by day over UTC dates. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { daysOf, relativeDays, todayOf } from '../../src/model/filter/date-range.js';
import {
  greatestCount,
  type RelativePeriod,
  readRelative,
  relativeUnits,
  writeRelative,
} from '../../src/model/filter/relative.js';

const day = 86_400_000;
const textOf = (time: number): string => new Date(time).toISOString().slice(0, 10);
const monthOf = (time: number): number => new Date(time).getUTCFullYear() * 12 + new Date(time).getUTCMonth();
const dateOf = (time: number): number => new Date(time).getUTCDate();

/** Equal for days of one calendar period. */
const keyOf = (unit: RelativePeriod['unit'], time: number): number => {
  switch (unit) {
    case 'day':
      return time / day;
    case 'week': {
      let monday = time;
      while (new Date(monday).getUTCDay() !== 1) monday -= day;
      return monday / day / 7;
    }
    case 'month':
      return monthOf(time);
    case 'quarter':
      return Math.floor(monthOf(time) / 3);
    case 'year':
      return Math.floor(monthOf(time) / 12);
  }
};

/** Steps from `start` until `ends`; returns the first day that ends. */
const walk = (start: number, step: 1 | -1, ends: (time: number) => boolean): number => {
  let time = start;
  while (!ends(time)) time += step * day;
  return time;
};

/** The first day of the period and the day after its last. */
const reference = ({ kind, unit, count }: RelativePeriod, today: number): readonly [number, number] => {
  const key = keyOf(unit, today);
  const isBefore = (wanted: number) => (time: number) => Math.round(keyOf(unit, time)) < Math.round(wanted);
  const isAfter = (wanted: number) => (time: number) => Math.round(keyOf(unit, time)) > Math.round(wanted);
  if (kind === 'toDate') return [walk(today, -1, isBefore(key)) + day, today + day];
  if (kind === 'this') return [walk(today, -1, isBefore(key)) + day, walk(today, 1, isAfter(key))];
  if (count === null) {
    const start = walk(today, -1, isBefore(key)) + day;
    const end = walk(today, 1, isAfter(key));
    return kind === 'last'
      ? [walk(start - day, -1, isBefore(key - 1)) + day, start]
      : [end, walk(end, 1, isAfter(key + 1))];
  }
  const days = { day: count, week: 7 * count }[unit as string];
  if (days !== undefined)
    return kind === 'last' ? [today - (days - 1) * day, today + day] : [today, today + days * day];
  const months = { month: count, quarter: 3 * count, year: 12 * count }[unit as string] ?? 0;
  if (kind === 'last') {
    const target = monthOf(today) - months;
    const excluded = walk(today, -1, (time) => monthOf(time) === target && dateOf(time) <= dateOf(today));
    return [excluded + day, today + day];
  }
  const target = monthOf(today) + months;
  return [
    today,
    walk(today, 1, (time) => monthOf(time) > target || (monthOf(time) === target && dateOf(time) >= dateOf(today))),
  ];
};

const period = fc.oneof(
  fc.record({
    kind: fc.constantFrom('this' as const, 'last' as const, 'next' as const),
    unit: fc.constantFrom(...relativeUnits),
    count: fc.constant(null),
  }),
  fc.record({
    kind: fc.constant('toDate' as const),
    unit: fc.constantFrom('week' as const, 'month' as const, 'quarter' as const, 'year' as const),
    count: fc.constant(null),
  }),
  fc.record({
    kind: fc.constantFrom('last' as const, 'next' as const),
    unit: fc.constantFrom(...relativeUnits),
    count: fc.integer({ min: 1, max: 60 }),
  }),
);

/** Ends of months, leap days and the days around them come up often. */
const someDay = fc.oneof(
  fc.integer({ min: -25_000, max: 40_000 }).map((at) => at * day),
  fc
    .record({ year: fc.integer({ min: 1999, max: 2029 }), month: fc.nat(11), date: fc.integer({ min: -2, max: 2 }) })
    .map(({ year, month, date }) => Date.UTC(year, month, date)),
);

describe('relative periods', () => {
  test('have the days that a walk over the calendar finds', () => {
    fc.assert(
      fc.property(period, someDay, (one, today) => {
        const [from, to] = reference(one, today);
        expect(relativeDays(writeRelative(one), textOf(today))).toEqual({ from: textOf(from), to: textOf(to) });
      }),
      { numRuns: 1500, seed: 11 },
    );
  });

  test('are read from the names that they are written with, in any case', () => {
    fc.assert(
      fc.property(period, fc.boolean(), (one, isUpper) => {
        const name = writeRelative(one);
        expect(readRelative(isUpper ? name.toUpperCase() : ` ${name.toLowerCase()} `)).toEqual(one);
      }),
    );
  });

  test('twelve last months and twelve next months have no day twice, also on leap days', () => {
    for (const today of ['2024-02-29', '2024-01-31', '2023-12-31', '2024-03-30']) {
      expect(relativeDays('Last 12 Months', today)?.from.slice(5)).not.toBe(today.slice(5));
      expect(relativeDays('Next 12 Months', today)?.from).toBe(today);
    }
    expect(relativeDays('Next 12 Months', '2024-02-29')?.to).toBe('2025-03-01');
    expect(relativeDays('Next 1 Month', '2024-01-31')?.to).toBe('2024-03-01');
  });

  test.each([
    'Last 0 Days',
    'Last -1 Days',
    'Last 01 Days',
    'Last 1.5 Days',
    `Last ${greatestCount + 1} Days`,
    'Last 99999 Years',
    'This 2 Weeks',
    'This Day to Date',
    'Day to Date',
    'Last Days',
    'Last Fortnight',
    'Next',
    'to date',
    'constructor',
    '__proto__ to date',
    'Last 30 Days; DROP TABLE x',
  ])('%j names no period', (text) => {
    expect(readRelative(text)).toBeUndefined();
    expect(daysOf(text, { now: new Date(0), timezone: null })).toBeUndefined();
  });
});

/** From the west of the date line to its east; the zones with daylight saving change at different hours. */
const zones = [
  'Pacific/Pago_Pago',
  'America/Los_Angeles',
  'America/Sao_Paulo',
  'UTC',
  'Europe/Berlin',
  'Africa/Cairo',
  'Asia/Kolkata',
  'Australia/Lord_Howe',
  'Pacific/Kiritimati',
] as const;

/** The date in the zone, by another way through Intl: Swedish dates are ISO 8601. */
const dateIn = (now: Date, zone: string): string => new Intl.DateTimeFormat('sv-SE', { timeZone: zone }).format(now);

/** Hours around changes to and from daylight saving time in 2024. */
const changes = [
  '2024-03-10T10:00Z',
  '2024-03-31T01:00Z',
  '2024-04-26T00:00Z',
  '2024-10-06T15:30Z',
  '2024-10-27T01:00Z',
  '2024-11-03T09:00Z',
];

test('the present day is the one of the reader, through daylight saving and on both sides of the date line', () => {
  const moment = fc.oneof(
    fc.integer({ min: 0, max: 2_000_000_000 }).map((seconds) => new Date(seconds * 1000)),
    fc
      .tuple(fc.constantFrom(...changes), fc.integer({ min: -40, max: 40 }))
      .map(([at, hours]) => new Date(Date.parse(at) + hours * 1_800_000)),
  );
  fc.assert(
    fc.property(moment, fc.constantFrom(...zones), period, (now, timezone, one) => {
      const today = dateIn(now, timezone);
      expect(todayOf({ now, timezone })).toBe(today);
      const [from, to] = reference(one, Date.parse(`${today}T00:00:00Z`));
      expect(daysOf(writeRelative(one), { now, timezone })).toEqual({ from: textOf(from), to: textOf(to) });
    }),
    { numRuns: 1000, seed: 12 },
  );
});
