import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FilterValue } from '../../src/model/filter/filter.js';
import { readFilterValue } from '../../src/model/filter/value.js';
import type { GuestFilter } from '../../src/model/guest/view.js';
import { numberIn } from '../../src/web/filters/filter-values.js';
import { readUrlFilters, unfitUrlFilters, writeUrlFilters } from '../../src/web/filters/url-filters.js';

const filter = (name: string, dataType: GuestFilter['dataType'], appliedValue?: FilterValue): GuestFilter => ({
  name,
  dataType,
  defaultValue: null,
  appliedValue,
});
const filters = [
  filter('State', 'string'),
  filter('Distance', 'number'),
  filter('Date', 'date'),
  filter('Late', 'boolean'),
];
const kinds = new Map(filters.map(({ name, dataType }) => [name, dataType]));
const write = (values: Record<string, FilterValue>, search = '', prefix = '') =>
  writeUrlFilters(search, filters, values, prefix);
const read = (search: string, prefix = '') => readUrlFilters(search, filters, prefix);
/** The value as JSON sends it: without undefined fields. */
const sent = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

const day = fc
  .date({ min: new Date('1900-01-02'), max: new Date('2999-12-30'), noInvalidDate: true })
  .map((date) => date.toISOString().slice(0, 10));
const clean = fc.string({ unit: 'grapheme', maxLength: 12 }).filter((text) => /^[^\0\p{Cs}]*$/u.test(text));
const number = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => (value === 0 ? 0 : numberIn(String(value)))),
  fc.bigInt({ min: -(10n ** 18n), max: 10n ** 18n }).map((value) => numberIn(String(value))),
);
const ordered = <T extends string | number>(ends: readonly [T, T], isLess: (a: T, b: T) => boolean): readonly [T, T] =>
  isLess(ends[1], ends[0]) ? [ends[1], ends[0]] : ends;
const orderedNumbers = (ends: readonly [string | number, string | number]) =>
  ordered(ends, (a, b) => Number(a) < Number(b));
const orderedDays = (ends: readonly [string, string]) => ordered(ends, (a, b) => a < b);
const presets = ['Today', 'yesterday', 'This Week', 'Last Quarter', 'Last 7 Days', 'LAST 30 DAYS', 'Last 12 Months'];

/** Values that the filter bar produces for each type. */
const choices: fc.Arbitrary<Record<string, FilterValue>> = fc.record(
  {
    State: fc.array(clean, { minLength: 1, maxLength: 5 }),
    Distance: fc.oneof(
      fc
        .tuple(number, number)
        .map(orderedNumbers)
        .map(([min, max]) => ({ min, max })),
      number.map((min) => ({ min })),
      number.map((max) => ({ max })),
    ),
    Date: fc.oneof(
      fc
        .tuple(day, day)
        .map(orderedDays)
        .map(([startDate, endDate]) => ({ startDate, endDate })),
      day.map((startDate) => ({ startDate, endDate: '2999-12-31' })),
      day.map((endDate) => ({ startDate: '1900-01-01', endDate })),
      fc.constantFrom(...presets),
    ),
    Late: fc.boolean(),
  },
  { requiredKeys: [] },
);

const ownNames = new Set(['State', 'Distance', 'Date', 'Late', 'guestlist-fixed']);
/** Queries that pages may have themselves. */
const pageQuery = fc
  .array(
    fc.oneof(
      fc.constantFrom('', 'user=lax-analyst', 'a', 'a=', 'a=%20b+c', 'state=oauth', 'x=1&x=2', 'q=%E0%A4%A', '=', '%'),
      fc.webQueryParameters(),
    ),
    { maxLength: 5 },
  )
  .map((parts) => parts.join('&'))
  .filter((query) => query !== '' && [...new URLSearchParams(query).keys()].every((name) => !ownNames.has(name)))
  .map((query) => `?${query}`);

describe('the filters in a query, written and read', () => {
  it('filters in a query are written so that people can read them', () => {
    expect(write({ State: ['CA', 'Nový Kraj', 'a, b: c/d'] })).toBe('?State=CA&State=Nov%C3%BD+Kraj&State=a,+b:+c/d');
    // The text is written as browsers write it; otherwise the URL would seem changed each time.
    expect(write({ State: ['L’Aquila', "Coeur d'Alene"] })).toBe('?State=L%E2%80%99Aquila&State=Coeur+d%27Alene');
    expect(write({ Distance: { min: 100, max: 500 }, Late: false })).toBe('?Distance=100..500&Late=false');
    expect(write({ Distance: { max: 0.5 } })).toBe('?Distance=..0.5');
    expect(write({ Distance: { min: 500, max: 500 } })).toBe('?Distance=500');
    expect(read('?Distance=9007199254740993..')).toEqual({ Distance: { min: '9007199254740993' } });
    expect(write({ Date: { startDate: '2001-03-01', endDate: '2999-12-31' } })).toBe('?Date=2001-03-01..');
    expect(write({ Date: 'Last 30 Days' })).toBe('?Date=Last+30+Days');
  });

  it('reads back what it wrote, beside any other query', () => {
    fc.assert(
      fc.property(
        choices,
        fc.option(pageQuery, { nil: '' }),
        fc.constantFrom('', 'b.', '&='),
        (values, page, prefix) => {
          expect(sent(read(write(values, page, prefix), prefix))).toEqual(sent(values));
        },
      ),
      { numRuns: 500 },
    );
  });

  it('gives two different choices two different queries', () => {
    fc.assert(
      fc.property(choices, choices, (one, other) => {
        const isSame = JSON.stringify(sent(one)) === JSON.stringify(sent(other));
        expect(write(one) === write(other)).toBe(isSame);
      }),
    );
  });

  it('reads other spellings of a value', () => {
    expect(read(write({ State: 'CA', Distance: 5, Date: '2001-03-01 - 2001-03-31' }))).toEqual({
      State: ['CA'],
      Distance: { min: 5, max: 5 },
      Date: { startDate: '2001-03-01', endDate: '2001-03-31' },
    });
    expect(read(write({ Date: { start: '2001-03-01', end: '2001-03-01' } }))).toEqual({
      Date: { startDate: '2001-03-01', endDate: '2001-03-01' },
    });
  });

  it('removes its own parameters again, and keeps the page’s query byte for byte and in order', () => {
    fc.assert(
      fc.property(choices, fc.option(pageQuery, { nil: '' }), (values, page) => {
        const written = write(values, page);
        expect(written.startsWith(page)).toBe(true);
        expect(write(values, written)).toBe(written);
        expect(write({}, written)).toBe(page);
      }),
      { numRuns: 500 },
    );
    expect(write({ State: ['NV', 'NY'] }, '?a&State=CA&b=%20&State=OR&c')).toBe('?a&State=NV&State=NY&b=%20&c');
  });
});

describe('a hostile query', () => {
  const hostile = fc.array(
    fc.oneof(
      fc
        .tuple(fc.constantFrom(...ownNames, '__proto__', 'constructor'), fc.string({ unit: 'binary' }))
        .map(([name, text]) => `${name}=${text}`),
      fc
        .tuple(
          fc.constantFrom(...ownNames),
          fc.constantFrom(
            '%00',
            '%',
            '%ED%A0%80',
            '..',
            '1..',
            '9..1',
            '1e999',
            'NaN..',
            '0x10',
            '2001-02-30',
            '..9999-12-31',
          ),
        )
        .map(([name, text]) => `${name}=${text}`),
      fc.string(),
    ),
  );

  it('never throws, and never yields a value that the service would refuse', () => {
    const moment = { now: new Date('2001-06-30'), timezone: null };
    fc.assert(
      fc.property(hostile, (parts) => {
        for (const [name, value] of Object.entries(read(`?${parts.join('&')}`))) {
          expect(readFilterValue(kinds.get(name) ?? 'string', value, moment)).toHaveProperty('predicate');
          expect(JSON.stringify(value)).not.toMatch(/\\u0000|\\ud[89a-f]/i);
        }
      }),
      { numRuns: 2000 },
    );
  });

  it.each([
    ['a number that is none', '?Distance=many'],
    ['ends in disorder', '?Distance=9..1&Date=2001-03-02..2001-03-01'],
    ['nothing between two open ends', '?Distance=..&Date=..'],
    ['a day that no calendar has', '?Date=2001-02-30'],
    ['a year that dates are not read in', '?Date=0050-01-01'],
    ['a number beyond all', '?Distance=1e999'],
    ['a preset that there is not', '?Date=Next+Fortnight'],
    ['two where there can be one', '?Late=true&Late=false'],
    ['a yes in other words', '?Late=TRUE'],
    ['another spelling of a name, which may be the page’s own', '?state=CA&STATE=NV'],
    ['NUL', '?State=a%00b'],
    ['very much', `?State=${'x'.repeat(1_000_000)}`],
    ['very many', `?${'State=x&'.repeat(100_000)}`],
  ])('filters in a hostile query are ignored: %s', (_, search) => {
    expect(read(search)).toEqual({});
  });

  it('treats `__proto__` like any other filter name', () => {
    const named = [filter('__proto__', 'string'), filter('constructor', 'string')];
    expect(writeUrlFilters('', named, {}, '')).toBe('');
    const values = readUrlFilters('?__proto__=x', named, '');
    expect(Object.entries(values)).toEqual([['__proto__', ['x']]]);
    expect(Object.getPrototypeOf(values)).toBe(Object.prototype);
    expect(readUrlFilters('?__proto__=x', filters, '')).toEqual({});
  });
});

describe('values that are left out of a query', () => {
  it('leaves out what the filter bar cannot show', () => {
    const odd: Record<string, FilterValue> = {
      State: [],
      Distance: { min: 9, max: 1 },
      Date: '2001-3-1',
      Late: 'yes',
    };
    expect(write(odd, '?a=1')).toBe('?a=1');
    expect(write({ State: { sql: 'SELECT 1', columnName: 'x' }, Distance: Number.NaN, Date: { min: 1 } })).toBe('');
    expect(write({ State: ['\ud800'], Date: { startDate: '1900-01-01', endDate: '2999-12-31' } })).toBe('');
  });

  it('leaves out only the filter that would make the URL too long', () => {
    const many = Array.from({ length: 2000 }, (_, index) => `state ${index}`);
    expect(write({ State: many, Late: true }, '?a')).toBe('?a&Late=true');
    const most = 'x'.repeat(4000 - '?State='.length);
    expect(write({ State: [most] })).toHaveLength(4000);
    expect(read(write({ State: [most] }))).toEqual({ State: [most] });
    expect(write({ State: [`${most}x`] })).toBe('');
  });
});

describe('values that the token enforces', () => {
  const enforced = [filter('State', 'string', ['CA', 'NV']), filter('Late', 'boolean', true), filter('Date', 'date')];

  it('are shown whatever the guest has chosen, and never read as a choice', () => {
    const search = writeUrlFilters('?a=1', enforced, { Date: 'Today' }, '');
    expect(search).toBe('?a=1&State=CA&State=NV&Late=true&Date=Today&guestlist-fixed=State&guestlist-fixed=Late');
    expect(readUrlFilters(search, enforced, '')).toEqual({ Date: 'Today' });
    expect(writeUrlFilters(search, enforced, { State: ['CA'], Date: 'Today' }, '')).toBe(search);
    expect(readUrlFilters('?State=CA&Late=false', enforced, '')).toEqual({});
  });

  it('are left out of a link with another value, which is told', () => {
    const unfit = (search: string) => unfitUrlFilters(search, enforced, '');
    expect(unfit('?State=CA&State=NV&Late=true')).toEqual([]);
    expect(unfit('?State=CA&Late=false&Date=soon')).toEqual(['State', 'Late', 'Date']);
    expect(unfit('?State=CA&guestlist-fixed=State')).toEqual([]);
    expect(unfitUrlFilters(`?State=${'x'.repeat(4000)}`, filters, '')).toEqual(['State']);
  });

  it('are not carried by a link to a guest whose token enforces another value, or none', () => {
    const search = writeUrlFilters('', enforced, {}, 'b.');
    expect(search).toContain('b.guestlist-fixed=State');
    expect(readUrlFilters(search, filters, 'b.')).toEqual({});
    expect(writeUrlFilters(search, filters, {}, 'b.')).toBe('');
    expect(writeUrlFilters(search, [filter('State', 'string', 'TX')], {}, 'b.')).toBe(
      '?b.State=TX&b.Late=true&b.guestlist-fixed=Late&b.guestlist-fixed=State',
    );
  });

  it('give no parameter to a filter that is named like the mark', () => {
    const named = [filter('guestlist-fixed', 'string', 'x')];
    expect(writeUrlFilters('?guestlist-fixed=y', named, { 'guestlist-fixed': ['z'] }, '')).toBe('?guestlist-fixed=y');
    expect(readUrlFilters('?guestlist-fixed=y', named, '')).toEqual({});
  });
});
