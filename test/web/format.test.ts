import { describe, expect, it } from 'vitest';
import type { TimeGrain } from '../../src/model/dashboard/metric.js';
import type { ColumnDates } from '../../src/model/datamart/dates.js';
import { createFormat, humanise, numberOf, timeOf, withClaimedUnit } from '../../src/web/base/format.js';

const english = createFormat('en');

describe('format', () => {
  it('writes shares as percent, and units beside numbers', () => {
    expect(english.measure(0.2221, { format: 'percent' })).toBe('22.2%');
    expect(english.measure(18.03, { unit: 'min' })).toBe('18.0\u00a0min');
    expect(english.measure(1234567, {})).toBe('1,234,567');
    expect(english.measure(null, { unit: 'min' })).toBe('—');
  });

  it('keeps every digit of an integer that arrives as a string', () => {
    expect(english.measure('9007199254740993', {})).toBe('9,007,199,254,740,993');
  });

  it('follows the language, and falls back to English for an unknown one', () => {
    expect(createFormat('de').measure(1234.5, {})).toBe('1.235');
    expect(createFormat('not a language').measure(1234, {})).toBe('1,234');
  });

  it('shows dates unchanged in any time zone of the machine', () => {
    expect(english.dimension('2001-01-01', 'date')).toBe('Jan 1, 2001');
    expect(english.dimension('2001-01-01T00:03:00', 'date')).toContain('Jan 1, 2001');
    expect(timeOf('2001-01-01 00:00:00')).toBe(Date.UTC(2001, 0, 1));
    expect(timeOf('soon')).toBeNull();
    // metabase#55966: an hour that clocks skip where the reader is was drawn an hour later.
    expect(timeOf('2025-03-30T02:00:00')).toBe(Date.UTC(2025, 2, 30, 2));
    expect(english.timeTick({ time: Date.UTC(2025, 2, 30, 2), parts: 'time' })).toMatch(/^0?2:00/);
    // metabase#33923: dates before 1910 were written with the local mean time of their zone.
    expect(english.dimension('1903-04-05', 'date')).toBe('Apr 5, 1903');
  });

  it('writes the unit only if the chart has one measure', () => {
    const chart = { type: 'bar', format: 'number', unit: 'min', dimensions: ['hour'], isDrillable: false } as const;
    expect(english.measure(20, withClaimedUnit({ ...chart, measures: ['delay'] }))).toBe('20\u00a0min');
    expect(english.measure(20, withClaimedUnit({ ...chart, measures: ['delay', 'flights'] }))).toBe('20');
    const shares = withClaimedUnit({ ...chart, format: 'percent', measures: ['late', 'early'] });
    expect(english.measure(0.2, shares)).toBe('20%');
  });

  it('keeps small numbers apart from zero, and reads large ones (metabase#2866)', () => {
    expect([0.4, 0.04, 0.0004].map((value) => english.measure(value, {}))).toEqual(['0.4', '0.04', '0.0004']);
    expect(english.measure(0.000012, {})).toBe('0.000012');
    expect(english.measure('1.2e14', {})).toBe('120,000,000,000,000');
    expect(english.measure(0.00001, { format: 'percent' })).toBe('0.001%');
    expect(english.tick(0.00002, {})).toBe('0.00002');
  });

  // metabase#20488: a fall from 1,000,000 to 1 was shown as 100%, as if nothing were left.
  it('keeps a share of almost all apart from all', () => {
    const shares = [-0.999999, 0.9996, 0.99995, 0.9994, 1, 0.1 + 0.2 + 0.7, 1.0004];
    expect(shares.map((value) => english.measure(value, { format: 'percent' })).join(' ')).toBe(
      '-99.9999% 99.96% 99.995% 99.9% 100% 100% 100%',
    );
  });

  // metabase#20552: an axis of averages was labelled 0, 1, 1, 2, 2, 3.
  it.each([
    [[0, 0.5, 1, 1.5, 2], {}, '0 0.5 1 1.5 2'],
    [[0.1, 0.1001, 0.1002], {}, '0.1 0.1001 0.1002'],
    [[10_000, 10_050, 10_100], {}, '10K 10.05K 10.1K'],
    [[1_000_000, 1_020_000, 1_040_000], {}, '1M 1.02M 1.04M'],
    [[99_999_960, 99_999_980, 100_000_000], {}, '99.99996M 99.99998M 100M'],
    [[1_000_000, 1_020_000], { currency: 'EUR' }, '€1M €1.02M'],
    [[0.455, 0.456, 0.457], { format: 'percent' }, '45.5% 45.6% 45.7%'],
    [[0.4551, 0.45515], { format: 'percent' }, '45.51% 45.515%'],
  ] as const)('labels no two ticks of an axis alike: %j %j', (ticks, hint, labels) => {
    expect(ticks.map((value) => english.tick(value, hint)).join(' ')).toBe(labels);
  });

  // metabase#32815, metabase#9986: the zero of an axis was labelled -0.00000000018.
  it('labels the zero of an axis as zero, and leaves out what adding up steps leaves', () => {
    expect([-0, 0.1 + 0.2, 0.7 + 0.1].map((value) => english.tick(value, {}))).toEqual(['0', '0.3', '0.8']);
  });

  it('writes amounts of a currency, and compact numbers', () => {
    expect(english.measure(1234.5, { currency: 'EUR' })).toBe('€1,234.50');
    expect(createFormat('de').measure(12.5, { currency: 'EUR' })).toBe('12,50\u00a0€');
    expect(english.measure(1_234_567, { notation: 'compact' })).toBe('1.2M');
  });

  it('gives money the decimals of its currency at any size', () => {
    const usd = [0, 0.5, 12, 1234.5, 999.999, 1_234_567.891, -1234.5].map((value) =>
      english.measure(value, { currency: 'USD' }),
    );
    expect(usd).toEqual(['$0.00', '$0.50', '$12.00', '$1,234.50', '$1,000.00', '$1,234,567.89', '-$1,234.50']);
    expect([0.4, 12, 1234.5].map((value) => english.measure(value, { currency: 'JPY' }))).toEqual([
      '¥0.4',
      '¥12',
      '¥1,235',
    ]);
    expect(english.measure(1234.5, { currency: 'KWD' })).toContain('1,234.500');
    expect(english.measure('1234', { currency: 'USD' })).toBe('$1,234.00');
    expect(english.measure(0.0042, { currency: 'USD' })).toBe('$0.0042');
    expect(english.measure(1_234_567, { currency: 'USD', notation: 'compact' })).toBe('$1.2M');
  });

  it('tells any two numbers of a dimension apart (metabase#4803)', () => {
    const write = (value: string | number) => english.dimension(value, 'number');
    expect([0.0001, 0.0002, 0.0003, 0.0004, 0.0005, 0.0006].map(write)).toEqual([
      '0.0001',
      '0.0002',
      '0.0003',
      '0.0004',
      '0.0005',
      '0.0006',
    ]);
    expect(['9007199254740993', '9007199254740992'].map(write)).toEqual(['9007199254740993', '9007199254740992']);
    expect(['0.12345678901234567891', '0.12345678901234567892'].map(write)).toEqual([
      '0.12345678901234567891',
      '0.12345678901234567892',
    ]);
    expect(new Set([1e-7, 2e-7, 1.5e-9, 0.1, 0.3, 0.1 + 0.2, -0.1].map(write)).size).toBe(7);
    expect([12.011, 12.019, 0.1].map(write)).toEqual(['12.011', '12.019', '0.1']);
    expect(createFormat('de').dimension(0.0003, 'number')).toBe('0,0003');
  });

  it('gives NULL, an empty text and texts that read like either different names (metabase#36251)', () => {
    for (const format of [english, createFormat('de')]) {
      const [nothing, empty] = [format.dimension(null, 'string'), format.dimension('', 'string')];
      const values = [null, '', ' ', nothing, `${nothing} `, empty, `“${nothing}”`, '“”', 'x'];
      const names = values.map((value) => format.dimension(value, 'string'));
      expect(new Set(names).size).toBe(values.length);
      expect(names.every((name) => name.trim() !== '')).toBe(true);
    }
    expect(['(none)', 'x'].map((value) => english.dimension(value, 'string'))).toEqual(['“(none)”', 'x']);
  });

  it('writes a date by its grain', () => {
    expect(english.dimension('2001-01-01', 'date', 'month')).toBe('January 2001');
    expect(english.dimension('2001-04-01', 'date', 'quarter')).toBe('Q2 2001');
    expect(english.dimension('2001-01-01', 'date', 'year')).toBe('2001');
    expect(english.dimension(1, 'number', 'dayOfWeek')).toBe('Monday');
    expect(english.dimension(15, 'number', 'hourOfDay')).toMatch(/^3\sPM$/);
    expect(createFormat('de').dimension('2001-01-01', 'date', 'month')).toBe('Januar 2001');
  });

  it('writes a date in the style and precision of its column', () => {
    const at = '2001-03-05T07:08:09';
    const write = (language: string, dates: ColumnDates, value = at) =>
      createFormat(language).dimension(value, 'date', undefined, dates).replaceAll('\u202f', ' ');
    expect(write('en', { style: 'short' })).toBe('03/05/2001, 07:08 AM');
    expect(write('en', { style: 'short' }, '2001-03-05')).toBe('03/05/2001');
    expect(write('de', { style: 'short', precision: 'day' })).toBe('05.03.2001');
    expect(write('en', { style: 'medium', precision: 'second' })).toBe('Mar 5, 2001, 07:08:09 AM');
    expect(write('de', { style: 'full', precision: 'day' })).toBe('Montag, 5. März 2001');
    expect(write('ja', { style: 'long', precision: 'month' })).toBe('2001年3月');
    expect(write('en', { precision: 'year' })).toBe('2001');
    expect(write('en', { precision: 'day' })).toBe('Mar 5, 2001');
    expect(write('en', { style: 'full' }, 'soon')).toBe('soon');
  });

  it('writes a period as such in the style of its column, whatever its precision', () => {
    const dates: ColumnDates = { style: 'short', precision: 'second' };
    const write = (grain: TimeGrain) => english.dimension('2001-02-01', 'date', grain, dates);
    expect((['year', 'quarter', 'month', 'week', 'day'] as const).map(write)).toEqual([
      '2001',
      'Q1 2001',
      '02/2001',
      '02/01/2001',
      '02/01/2001',
    ]);
    expect(write('hour')).toMatch(/^02\/01\/2001, 12:00\sAM$/);
    expect(english.dimension('2001-02-01', 'date', 'month', { precision: 'year' })).toBe('February 2001');
    expect(english.dimension(1, 'number', 'dayOfWeek', dates)).toBe('Monday');
  });

  it('writes an axis of time in the style of its column', () => {
    const ticks = (dates?: ColumnDates) => [
      english.timeTick({ time: Date.UTC(2001, 0, 1), parts: 'month-year' }, dates),
      english.timeTick({ time: Date.UTC(2001, 2, 1), parts: 'month' }, dates),
      english.timeTick({ time: Date.UTC(2001, 2, 5), parts: 'day' }, dates),
      english.timeTick({ time: Date.UTC(2001, 2, 5), parts: 'day-year' }, dates),
    ];
    expect(ticks()).toEqual(['Jan 2001', 'Mar', 'Mar 5', 'Mar 5, 2001']);
    expect(ticks({ precision: 'year' })).toEqual(ticks());
    expect(ticks({ style: 'long' })).toEqual(['January 2001', 'March', 'March 5', 'March 5, 2001']);
    expect(ticks({ style: 'short' })).toEqual(['01/2001', '03/2001', '03/05', '03/05/2001']);
  });

  it('does not group a year or an hour', () => {
    expect(english.dimension(2001, 'number')).toBe('2001');
    expect(english.dimension(10_248, 'number')).toBe('10248');
    expect(english.dimension(10_248.5, 'number')).toBe('10,248.5');
  });

  it('makes names readable, and keeps readable ones', () => {
    expect(humanise('averageDelay')).toBe('Average delay');
    expect(humanise('average_delay')).toBe('Average delay');
    expect(humanise('Share of LAX')).toBe('Share of LAX');
    expect(humanise('ID')).toBe('ID');
  });

  it('returns null for a cell that is not a number', () => {
    expect([numberOf('abc'), numberOf(''), numberOf(true), numberOf(null), numberOf('12.5')]).toEqual([
      null,
      null,
      null,
      null,
      12.5,
    ]);
  });
});

it('numbers have the decimal places that their author chose, whatever else they are', () => {
  const write = (value: number | string, hint: object) => createFormat('en').measure(value, hint);
  expect(write(1234.567, { decimals: 2, unit: 'min' })).toBe('1,234.57\u00a0min');
  expect(write(25, { decimals: 1 })).toBe('25.0');
  expect(write('9007199254740993', { decimals: 1 })).toBe('9,007,199,254,740,993.0');
  expect(write(1234.5, { decimals: 0, currency: 'EUR' })).toBe('€1,235');
  expect(write(0.1234, { decimals: 2, format: 'percent' })).toBe('12.34%');
  expect(write(1_234_567, { decimals: 2, notation: 'compact' })).toBe('1.23M');
});
