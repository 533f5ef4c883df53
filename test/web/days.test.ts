/** Days of the calendar, and days as readers type them. */
import { readdirSync } from 'node:fs';
import { basename } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  addDays,
  addMonths,
  firstWeekday,
  placeInWeek,
  readDay,
  typedDay,
  weeksOf,
} from '../../src/web/filters/days.js';

const languages = readdirSync(new URL('../../src/languages', import.meta.url)).map((file) => basename(file, '.json'));
const today = '2026-11-29';
const days = fc
  .date({ min: new Date('1980-01-01'), max: new Date('2045-01-01'), noInvalidDate: true })
  .map((at) => at.toISOString().slice(0, 10));

describe('days of the calendar', () => {
  it('end a month early rather than leave it', () => {
    expect(addMonths('2024-01-31', 1)).toBe('2024-02-29');
    expect(addMonths('2024-03-31', -1)).toBe('2024-02-29');
    expect(addMonths('2024-12-05', 1)).toBe('2025-01-05');
    expect(addDays('2024-02-28', 2)).toBe('2024-03-01');
  });

  it('stand in the weeks of their month, each once', () => {
    expect(weeksOf('2001-02-15', 1)).toHaveLength(5);
    fc.assert(
      fc.property(days, fc.integer({ min: 1, max: 7 }), (day, first) => {
        const weeks = weeksOf(day, first);
        expect(weeks.flat().filter((each) => each === day)).toHaveLength(1);
        const week = weeks.find((each) => each.includes(day)) ?? [];
        expect(week.indexOf(day)).toBe(placeInWeek(day, first));
        expect(week).toHaveLength(7);
      }),
    );
  });

  it('begin the week as the language does', () => {
    expect([firstWeekday('de'), firstWeekday('en-US'), firstWeekday('ar-EG')]).toEqual([1, 7, 6]);
  });
});

describe('a typed day', () => {
  it('is read in the order of the language, with names of months, without a year, and as ISO', () => {
    const read = (text: string, language = 'en') => readDay(text, language, today);
    expect(read('3/30/2001')).toBe('2001-03-30');
    expect(read('30.3.2001', 'de')).toBe('2001-03-30');
    expect(read('30. März 2001', 'de')).toBe('2001-03-30');
    expect(read('2001-03-30', 'de')).toBe('2001-03-30');
    expect(read('Mar 30, 2001')).toBe('2001-03-30');
    expect(read('30 march')).toBe('2026-03-30');
    expect(read('3/30')).toBe('2026-03-30');
    expect(read('3/30/01')).toBe('2001-03-30');
    expect(read('3/30/99')).toBe('1999-03-30');
    expect(read('2001/3/30')).toBe('2001-03-30');
    expect(read('٣٠/٣/٢٠٠١', 'ar-EG')).toBe('2001-03-30');
    expect(read('2001年3月30日', 'ja')).toBe('2001-03-30');
  });

  it.each(['', 'soon', '30', '13/45/2001', '2/30/2001', '1/2/3/4', 'ju 3'])(
    'is not read from %j, which names none',
    (text) => {
      expect(readDay(text, 'en', today)).toBeUndefined();
    },
  );

  it('is read as every language writes it', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...languages),
        days,
        fc.constantFrom('digits', 'medium', 'long'),
        (language, day, style) => {
          const written =
            style === 'digits'
              ? typedDay(day, language)
              : new Intl.DateTimeFormat(language, {
                  year: 'numeric',
                  month: style === 'long' ? 'long' : 'short',
                  day: 'numeric',
                  timeZone: 'UTC',
                }).format(new Date(`${day}T00:00:00Z`));
          expect([written, readDay(written, language, today)]).toEqual([written, day]);
        },
      ),
      { numRuns: 600 },
    );
  });

  it('never fails, whatever is typed', () => {
    fc.assert(
      fc.property(fc.constantFrom(...languages), fc.string({ unit: 'grapheme', maxLength: 24 }), (language, text) => {
        const day = readDay(text, language, today);
        if (day !== undefined) expect(addDays(day, 0)).toBe(day);
      }),
      { numRuns: 600 },
    );
  });
});
