/** Reads filter values for the controls of the filter bar, and writes them in words. */
import type { FilterValue } from '../../model/filter/filter.js';
import { type RelativePeriod, type RelativeUnit, readRelative, writeRelative } from '../../model/filter/relative.js';
import type { GuestFilter } from '../../model/guest/view.js';
import type { Text } from '../../model/texts/text.js';
import { type FilterValues, isRecord } from '../base/client.js';
import type { Format } from '../base/format.js';

/** The service requires both ends of a date range; these stand for an open end. */
export const [earliest, latest] = ['1900-01-01', '2999-12-31'];

/** Periods that controls offer, as `writeRelative` names them. The service knows more. */
export const datePresets = [
  'Today',
  'Yesterday',
  'Last 7 Days',
  'Last 30 Days',
  'Last 90 Days',
  'This Week',
  'Last Week',
  'This Month',
  'Last Month',
  'Last 3 Months',
  'Last 6 Months',
  'Last 12 Months',
  'This Quarter',
  'Last Quarter',
  'This Year',
  'Last Year',
  'Year to Date',
] as const;

/** The period that a text names, as the lists of controls spell it. */
export const presetIn = (text: string): string | undefined => {
  const period = readRelative(text);
  return period === undefined ? undefined : writeRelative(period);
};

type Words = Readonly<Record<RelativeUnit, (text: Text, n: number) => string>>;

const calendarWords: Readonly<Record<RelativePeriod['kind'], Words>> = {
  this: {
    day: (text) => text('Today'),
    week: (text) => text('This Week'),
    month: (text) => text('This Month'),
    quarter: (text) => text('This Quarter'),
    year: (text) => text('This Year'),
  },
  last: {
    day: (text) => text('Yesterday'),
    week: (text) => text('Last Week'),
    month: (text) => text('Last Month'),
    quarter: (text) => text('Last Quarter'),
    year: (text) => text('Last Year'),
  },
  next: {
    day: (text) => text('Tomorrow'),
    week: (text) => text('Next Week'),
    month: (text) => text('Next Month'),
    quarter: (text) => text('Next Quarter'),
    year: (text) => text('Next Year'),
  },
  toDate: {
    day: (text) => text('Today'),
    week: (text) => text('Week to Date'),
    month: (text) => text('Month to Date'),
    quarter: (text) => text('Quarter to Date'),
    year: (text) => text('Year to Date'),
  },
};

const countedWords: Readonly<Record<string, Words>> = {
  last: {
    day: (text, n) => text('Last {n} Days', { n }),
    week: (text, n) => text('Last {n} Weeks', { n }),
    month: (text, n) => text('Last {n} Months', { n }),
    quarter: (text, n) => text('Last {n} Quarters', { n }),
    year: (text, n) => text('Last {n} Years', { n }),
  },
  next: {
    day: (text, n) => text('Next {n} Days', { n }),
    week: (text, n) => text('Next {n} Weeks', { n }),
    month: (text, n) => text('Next {n} Months', { n }),
    quarter: (text, n) => text('Next {n} Quarters', { n }),
    year: (text, n) => text('Next {n} Years', { n }),
  },
};

/** The name of a period in the reader's language; undefined if the text names none. */
export const periodInWords = (name: string, text: Text): string | undefined => {
  const period = readRelative(name);
  if (period === undefined) return undefined;
  const { kind, unit, count } = period;
  const words = count === null ? calendarWords : countedWords;
  return words[kind]?.[unit](text, count ?? 1);
};

/** The values that the guest may set: without those of locked filters, whose value the token enforces. */
export const withoutLocked = (values: FilterValues, filters: readonly GuestFilter[]): FilterValues => {
  const locked = new Set(filters.flatMap(({ name, appliedValue }) => (appliedValue === undefined ? [] : [name])));
  return Object.fromEntries(Object.entries(values).filter(([name]) => !locked.has(name)));
};

/** A filter whose value from the page has no effect, and why. */
export type IgnoredFilter = { readonly name: string; readonly reason: 'unknown' | 'locked' };

/** The filters of `values` that the guest may not set: the dashboard does not show them, or the token enforces their value. */
export const ignoredFilters = (values: FilterValues, filters: readonly GuestFilter[]): readonly IgnoredFilter[] =>
  Object.keys(values).flatMap((name): readonly IgnoredFilter[] => {
    const filter = filters.find((each) => each.name === name);
    if (filter === undefined) return [{ name, reason: 'unknown' }];
    return filter.appliedValue === undefined ? [] : [{ name, reason: 'locked' }];
  });

/** The value of a filter. Safe for filters with names such as `constructor`. */
export const valueFor = (values: FilterValues, name: string): FilterValue | undefined =>
  Object.hasOwn(values, name) ? values[name] : undefined;

/**
 * The values of a dashboard's filters in words, one line each: the value that the token enforces, else the guest's.
 * The token may restrict rows in ways that the browser does not know, so a line never says "all".
 */
export const filterNotes = (
  filters: readonly GuestFilter[],
  values: FilterValues,
  format: Format,
  labels: FilterLabels = new Map(),
): readonly string[] => {
  return filters.flatMap((filter) => {
    const { name } = filter;
    const value = inWords(settingOf(filter, values), format, labels.get(name));
    return value === '' ? [] : [format.text('{name}: {value}', { name: filter.label ?? name, value })];
  });
};

/** Labels of the values that options had, by the filter's name and the stored value. */
export type FilterLabels = ReadonlyMap<string, ReadonlyMap<string, string>>;

/** The value that applies: of the token, of the guest, or the author's. */
export const settingOf = (
  { name, appliedValue, defaultValue }: GuestFilter,
  values: FilterValues,
): FilterValue | undefined => appliedValue ?? valueFor(values, name) ?? defaultValue ?? undefined;

/** A filter value in words. Of a long list, the first two values and the number of the others. */
export const inWords = (
  value: FilterValue | undefined,
  format: Format,
  labels?: ReadonlyMap<string, string>,
): string => {
  if (typeof value === 'boolean') return format.yesOrNo(value);
  const [from, to] = datesIn(value).map((date) => (date === '' ? '' : format.dimension(date, 'date')));
  if (from || to) return span(from ?? '', to ?? '', format);
  const { min, max } = rangeIn(value);
  if (min !== undefined || max !== undefined) return span(bound(min, format), bound(max, format), format);
  const period = typeof value === 'string' ? periodInWords(value, format.text) : undefined;
  if (period !== undefined) return period;
  const [first, second, ...rest] =
    typeof value === 'number'
      ? [format.count(value)]
      : stringsIn(value).map((each) => labels?.get(each) ?? format.dimension(each, 'string'));
  return [first, second, rest.length > 0 ? `+${format.count(rest.length)}` : undefined].filter(Boolean).join(', ');
};

const bound = (value: number | string | undefined, format: Format): string => {
  if (value === undefined) return '';
  return typeof value === 'number' ? format.count(value) : format.measure(value, {});
};

const span = (from: string, to: string, { text }: Format): string => {
  if (from === '') return text('up to {to}', { to });
  return to === '' ? text('from {from}', { from }) : `${from} – ${to}`;
};

export const stringsIn = (value: FilterValue | undefined): readonly string[] => {
  if (Array.isArray(value)) return value.map(String);
  return typeof value === 'string' ? [value] : [];
};

export const datesIn = (value: FilterValue | undefined): readonly [string, string] => {
  const read = (end: unknown, open: string) => (typeof end === 'string' && end !== open ? end : '');
  const { startDate, endDate, start, end } = fieldsOf(value);
  return [read(startDate ?? start, earliest), read(endDate ?? end, latest)];
};

const digits = /^-?(?:0|[1-9][0-9]*)$/;

/** A number for the service. A whole number that JSON would round stays a string. */
export const numberIn = (text: string): number | string => {
  const number = Number(text);
  return Number.isInteger(number) && !Number.isSafeInteger(number) && digits.test(text) ? text : number;
};

type Range = { readonly min: number | string | undefined; readonly max: number | string | undefined };

export const rangeIn = (value: FilterValue | undefined): Range => {
  const read = (end: unknown) => {
    if (typeof end === 'number') return end;
    return typeof end === 'string' && digits.test(end) ? numberIn(end) : undefined;
  };
  const { min, max } = fieldsOf(value);
  return { min: read(min), max: read(max) };
};

const fieldsOf = (value: unknown): Readonly<Record<string, unknown>> => (isRecord(value) ? value : {});

/** Whether two sets of filter values are equal. */
export const sameValues = (one: FilterValues, other: FilterValues): boolean => {
  const names = Object.keys(one);
  return (
    names.length === Object.keys(other).length &&
    names.every((name) => Object.hasOwn(other, name) && JSON.stringify(one[name]) === JSON.stringify(other[name]))
  );
};
