import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { daysBetween, daysOf, isTimezone } from '../../src/model/filter/date-range.js';

const at = (now: string, timezone: string | null = null) => ({ now: new Date(now), timezone });
// A Thursday.
const noon = at('2024-02-29T12:00:00Z');

describe('date presets', () => {
  test.each([
    ['Today', '2024-02-29', '2024-03-01'],
    ['yesterday', '2024-02-28', '2024-02-29'],
    ['THIS WEEK', '2024-02-26', '2024-03-04'],
    ['Last Week', '2024-02-19', '2024-02-26'],
    ['This Month', '2024-02-01', '2024-03-01'],
    ['Last Month', '2024-01-01', '2024-02-01'],
    ['This Quarter', '2024-01-01', '2024-04-01'],
    ['Last Quarter', '2023-10-01', '2024-01-01'],
    ['This Year', '2024-01-01', '2025-01-01'],
    ['Last Year', '2023-01-01', '2024-01-01'],
    ['Last 7 Days', '2024-02-23', '2024-03-01'],
    ['Last 30 Days', '2024-01-31', '2024-03-01'],
    ['Last 90 Days', '2023-12-02', '2024-03-01'],
    ['Year to Date', '2024-01-01', '2024-03-01'],
    ['Last 3 Months', '2023-11-30', '2024-03-01'],
    ['Last 6 Months', '2023-08-30', '2024-03-01'],
    ['Last 12 Months', '2023-03-01', '2024-03-01'],
    // lightdash#2793: the last days had no end, so rows of future days were counted.
    // metabase#23854: the last months ended before the present one.
  ])('%s is a half-open range of days', (preset, from, to) => {
    expect(daysOf(preset, noon)).toEqual({ from, to });
  });

  test.each([
    ['2024-05-31', 'Last 3 Months', '2024-03-01'],
    ['2023-05-31', 'Last 3 Months', '2023-03-01'],
    ['2024-12-31', 'Last 6 Months', '2024-07-01'],
    ['2024-03-15', 'Last 12 Months', '2023-03-16'],
  ])('on %s, %s begins on %s: twelve months never have a day twice', (day, preset, from) => {
    expect(daysOf(preset, at(`${day}T12:00:00Z`))?.from).toBe(from);
  });

  test('are computed in the timezone of the guest', () => {
    const justAfterMidnightInUtc = '2024-01-01T00:30:00Z';
    expect(daysOf('Today', at(justAfterMidnightInUtc, 'America/Los_Angeles'))?.from).toBe('2023-12-31');
    expect(daysOf('Today', at(justAfterMidnightInUtc, 'Asia/Tokyo'))?.from).toBe('2024-01-01');
    expect(daysOf('This Year', at(justAfterMidnightInUtc, 'America/Los_Angeles'))?.from).toBe('2023-01-01');
  });
});

describe('dates', () => {
  // cube#962: a range ended at the first moment of its last day.
  test('an end date means the whole of that day', () => {
    expect(daysBetween('2024-03-23', '2024-03-23')).toEqual({ from: '2024-03-23', to: '2024-03-24' });
    expect(daysOf('2024-02-28 - 2024-02-29', noon)).toEqual({ from: '2024-02-28', to: '2024-03-01' });
  });

  test('dates may come unpadded too', () => {
    expect(daysBetween('2024-3-23', '2024-4-1')).toEqual({ from: '2024-03-23', to: '2024-04-02' });
  });

  test.each([
    '2024-02-30',
    '2024-13-01',
    'soon',
    '',
    '2024-01-01 - ',
    '2024-01-02 - 2024-01-01',
    '__proto__',
    'constructor',
    '2024-01-01T00:00:00Z',
    '-000000-01-01',
    '-0043-03-15',
    '+002024-01-01',
    '12024-01-01',
  ])('%j is no date', (text) => expect(daysOf(text, noon)).toBeUndefined());

  test.each([
    ['0001-01-01', '0001-01-01', '0001-01-02'],
    ['0099-12-31 - 2024-01-01', '0099-12-31', '2024-01-02'],
    ['9999-12-31', '9999-12-31', '+010000-01-01'],
    ['-000043-03-15', '-000043-03-15', '-000043-03-16'],
    ['-000001-12-31 - 0000-02-28', '-000001-12-31', '0000-02-29'],
    ['+294000-12-31', '+294000-12-31', '+294001-01-01'],
  ])('%s is a range in any year', (text, from, to) => expect(daysOf(text, noon)).toEqual({ from, to }));

  test('every span of real days holds its own length', () => {
    const day = fc.integer({ min: -60_000_000, max: 60_000_000 });
    const write = (value: number) => new Date(value * 86_400_000).toISOString().split('T')[0] ?? '';
    fc.assert(
      fc.property(day, fc.nat(5000), (first, length) => {
        const range = daysBetween(write(first), write(first + length));
        expect(range).toEqual({ from: write(first), to: write(first + length + 1) });
      }),
      { seed: 7 },
    );
  });
});

test('a timezone is an IANA name', () => {
  expect(isTimezone('Europe/Vienna')).toBe(true);
  expect(isTimezone("Europe/Vienna'; SET x")).toBe(false);
  for (const name of ['', '+01:00', '-0800', '1', 'Europe/', 'x'.repeat(100)])
    expect(isTimezone(name), name).toBe(false);
});
