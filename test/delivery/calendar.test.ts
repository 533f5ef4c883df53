/** Moments of schedules, on the days on which clocks change too. */
import { describe, expect, test } from 'vitest';
import { calendar } from '../../src/delivery/calendar.js';

const next = (cron: string, timezone: string, after: string, count: number): readonly string[] => {
  const moments: string[] = [];
  let at: Date | null = new Date(after);
  while (moments.length < count) {
    at = calendar.next(cron, timezone, at);
    if (at === null) break;
    moments.push(at.toISOString());
  }
  return moments;
};

describe('the calendar', () => {
  test('workdays at eight stay at eight when winter time begins', () => {
    expect(next('0 8 * * 1-5', 'Europe/Berlin', '2026-10-22T12:00:00Z', 3)).toEqual([
      '2026-10-23T06:00:00.000Z',
      '2026-10-26T07:00:00.000Z',
      '2026-10-27T07:00:00.000Z',
    ]);
  });

  test('a time that the clock leaves out comes when the clock goes on, on that day', () => {
    expect(next('30 2 * * *', 'Europe/Berlin', '2026-03-28T12:00:00Z', 2)).toEqual([
      '2026-03-29T01:00:00.000Z',
      '2026-03-30T00:30:00.000Z',
    ]);
    expect(next('0 0 * * *', 'America/Santiago', '2026-09-05T12:00:00Z', 2)).toEqual([
      '2026-09-06T04:00:00.000Z',
      '2026-09-07T03:00:00.000Z',
    ]);
  });

  test('a time that the clock repeats comes once, in a list of hours too', () => {
    expect(next('30 2 * * *', 'Europe/Berlin', '2026-10-24T12:00:00Z', 2)).toEqual([
      '2026-10-25T00:30:00.000Z',
      '2026-10-26T01:30:00.000Z',
    ]);
    expect(next('30 2,3 * * *', 'Europe/Berlin', '2026-10-24T12:00:00Z', 3)).toEqual([
      '2026-10-25T00:30:00.000Z',
      '2026-10-25T02:30:00.000Z',
      '2026-10-26T01:30:00.000Z',
    ]);
    expect(next('30 2 * * *', 'Europe/Berlin', '2026-10-25T01:00:00Z', 1)).toEqual(['2026-10-26T01:30:00.000Z']);
  });

  test('every hour means each hour that passes', () => {
    expect(next('30 * * * *', 'Europe/Berlin', '2026-10-25T00:00:00Z', 3)).toEqual([
      '2026-10-25T00:30:00.000Z',
      '2026-10-25T01:30:00.000Z',
      '2026-10-25T02:30:00.000Z',
    ]);
  });

  test('a date that never occurs has no next moment', () => {
    expect(next('0 8 30 2 *', 'Europe/Berlin', '2026-01-01T00:00:00Z', 1)).toEqual([]);
  });

  test.each(['', '+01:00', 'Nowhere/Zone', 'Europe/Berlin\r\nBcc: x'])('refuses the time zone %j', (timezone) => {
    expect(() => calendar.next('0 8 * * *', timezone, new Date(0))).toThrow(RangeError);
  });

  test.each(['0 25 * * *', '0 8 * * MONDAY', 'x', '0 8 1#2 * *'])('refuses the expression %j', (cron) => {
    expect(() => calendar.next(cron, 'Europe/Berlin', new Date(0))).toThrow(RangeError);
  });
});
