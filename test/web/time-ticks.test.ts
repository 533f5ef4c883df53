/** The labels of axes of dates: at the data's own periods, and never over each other. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type DateGrain, dateGrains } from '../../src/model/datamart/dates.js';
import { createFormat } from '../../src/web/base/format.js';
import { textWidth } from '../../src/web/charts/model/drawing.js';
import { nextPeriod } from '../../src/web/charts/model/plot.js';
import { grainOfTimes, type TimeTick, timeTicks } from '../../src/web/charts/model/time-ticks.js';

const english = createFormat('en');
const widthOf = (tick: TimeTick): number => textWidth(english.timeTick(tick)) + 16;

/** This many periods, from the one that starts at the date. */
const periods = (from: string, grain: DateGrain, count: number): readonly number[] => {
  const times = [Date.parse(`${from}Z`)];
  while (times.length < count) times.push(nextPeriod(times.at(-1) ?? 0, grain));
  return times;
};

const ticksOf = (times: readonly number[], grain: DateGrain, width: number): readonly TimeTick[] =>
  timeTicks({ first: times[0] ?? 0, last: times.at(-1) ?? 0 }, grain, { width, widthOf });
const labels = (times: readonly number[], grain: DateGrain, width: number): readonly string[] =>
  ticksOf(times, grain, width).map((tick) => english.timeTick(tick));

describe('labels of an axis of dates', () => {
  it('stand at each month of months, with the year at the first and at each January', () => {
    expect(labels(periods('2025-11-01', 'month', 4), 'month', 400)).toEqual(['Nov 2025', 'Dec', 'Jan 2026', 'Feb']);
  });

  it('are at wider steps of the calendar where months have no room', () => {
    const months = periods('2024-02-01', 'month', 24);
    expect(labels(months, 'month', 600)).toEqual([
      'Apr 2024',
      'Jul',
      'Oct',
      'Jan 2025',
      'Apr',
      'Jul',
      'Oct',
      'Jan 2026',
    ]);
    expect(labels(months, 'month', 160)).toEqual(['2025', '2026']);
  });

  it('name quarters, and those of a business that do not start in January', () => {
    expect(labels(periods('2025-01-01', 'quarter', 3), 'quarter', 500)).toEqual(['Q1 2025', 'Q2 2025', 'Q3 2025']);
    const own = periods('2025-02-01', 'quarter', 9);
    expect(own).toEqual(expect.arrayContaining(ticksOf(own, 'quarter', 300).map(({ time }) => time)));
  });

  it('are days, then months, of half a year of days', () => {
    expect(labels(periods('2025-06-01', 'day', 5), 'day', 500)).toEqual(['Jun 1', 'Jun 2', 'Jun 3', 'Jun 4', 'Jun 5']);
    expect(labels(periods('2025-06-01', 'day', 181), 'day', 500)).toEqual([
      'Jun 2025',
      'Jul',
      'Aug',
      'Sep',
      'Oct',
      'Nov',
    ]);
  });

  it('have the hour within a day, and the day at midnight', () => {
    expect(labels(periods('2025-06-01T18:00:00', 'hour', 13), 'hour', 200).map((label) => label.slice(0, 5))).toEqual([
      '06:00',
      'Jun 2',
      '06:00',
    ]);
  });

  it('name a single moment', () => {
    expect(labels(periods('2025-06-01', 'month', 1), 'month', 300)).toEqual(['Jun 2025']);
  });

  it('lie on periods of the data, inside the range, and do not meet', () => {
    const start = fc.date({ min: new Date('1990-01-01'), max: new Date('2040-01-01'), noInvalidDate: true });
    fc.assert(
      fc.property(
        fc.constantFrom(...dateGrains),
        start,
        fc.integer({ min: 1, max: 900 }),
        fc.integer({ min: 40, max: 1600 }),
        (grain, at, count, width) => {
          const from = at.toISOString().slice(0, grain === 'day' || grain === 'week' ? 10 : 7);
          const whole = from.length === 7 ? `${from}-01` : from;
          const times = periods(whole, grain, count);
          const ticks = ticksOf(times, grain, width);
          const span = Math.max(1, (times.at(-1) ?? 0) - (times[0] ?? 0));
          expect(ticks.length).toBeGreaterThan(0);
          ticks.forEach((tick, place) => {
            expect(times).toContain(tick.time);
            const before = ticks[place - 1];
            if (before === undefined) return;
            const distance = ((tick.time - before.time) / span) * width;
            expect(distance).toBeGreaterThanOrEqual((widthOf(tick) + widthOf(before)) / 2);
          });
        },
      ),
      { numRuns: 500 },
    );
  });

  it('follow the widest period of data that are not grouped', () => {
    const times = (...dates: readonly string[]): readonly number[] => dates.map((date) => Date.parse(`${date}Z`));
    expect(grainOfTimes(times('2025-01-01', '2026-01-01'))).toBe('year');
    expect(grainOfTimes(times('2025-01-01', '2025-03-01'))).toBe('month');
    expect(grainOfTimes(times('2025-01-01', '2025-03-02'))).toBe('day');
    expect(grainOfTimes(times('2025-01-01T10:20:00', '2025-03-02'))).toBe('minute');
  });
});
