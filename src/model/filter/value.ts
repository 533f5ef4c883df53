import { type DayRange, daysBetween, daysOf, type Moment } from './date-range.js';
import { compareNumbers, isNotFinite, isNumberValue } from './exact-number.js';
import type { FilterDataType, FilterValue, Predicate } from './filter.js';
import { movePeriods } from './period.js';

/** The predicate for a value, or what was expected instead. */
export type Reading = { readonly predicate: Predicate } | { readonly expected: string };

const isText = (value: unknown): value is string => typeof value === 'string';

const days = (range: DayRange | undefined): Reading =>
  range === undefined
    ? {
        expected:
          'a period such as "Last 30 Days", a date, an instant as answers write it, "<from> - <to>", or {startDate, endDate} in order, as YYYY-MM-DD',
      }
    : { predicate: { kind: 'range', from: range.from, to: range.to, toIsExclusive: true } };

const readString = (value: FilterValue): Reading => {
  const values = Array.isArray(value) ? value : [value];
  return values.length > 0 && values.every(isText)
    ? { predicate: { kind: 'oneOf', values } }
    : { expected: 'a string, or an array of at least one string' };
};

const isEnd = (value: unknown): value is number | string | null =>
  value === null || (isNumberValue(value) && !isNotFinite(value));

/**
 * Accepts text for numbers, since answers contain text for numbers that JSON would round. Whether a number is exact
 * enough depends on its column.
 */
const readNumber = (value: FilterValue): Reading => {
  if (isNumberValue(value)) return { predicate: { kind: 'compare', operator: '=', value } };
  if (typeof value === 'object' && ('min' in value || 'max' in value)) {
    const { min = null, max = null } = value as { min?: unknown; max?: unknown };
    const isOrdered =
      isEnd(min) && isEnd(max) && (min === null || max === null || (compareNumbers(min, max) ?? 1) <= 0);
    if (isOrdered && (min !== null || max !== null)) {
      return { predicate: { kind: 'range', from: min, to: max, toIsExclusive: false } };
    }
  }
  return {
    expected:
      'a number, its decimal text, or {min, max} with at least one of them, min not above max; a whole number beyond 9007199254740991 goes as text',
  };
};

/** Whether the text is an instant as answers write it, and not a day. */
const isInstant = (text: string): boolean => movePeriods(text, 'day', 0) === text && text.includes('T');

const readDate = (value: FilterValue, moment: Moment): Reading => {
  if (isText(value) && (isInstant(value) || value === 'Infinity' || value === '-Infinity')) {
    return { predicate: { kind: 'compare', operator: '=', value } };
  }
  if (isText(value)) return days(daysOf(value, moment));
  if (typeof value === 'object' && 'startDate' in value) return days(daysBetween(value.startDate, value.endDate));
  if (typeof value === 'object' && 'start' in value) return days(daysBetween(value.start, value.end));
  return days(undefined);
};

const readBoolean = (value: FilterValue): Reading =>
  typeof value === 'boolean' ? { predicate: { kind: 'compare', operator: '=', value } } : { expected: 'true or false' };

/**
 * Returns the predicate that `value` means for a filter of this data type. Strings become IN, numbers `=` or BETWEEN,
 * booleans `=`, and dates half-open ranges in the moment's timezone. An empty array is refused, since it could mean
 * "nothing" or "everything".
 */
export const readFilterValue = (dataType: FilterDataType, value: FilterValue, moment: Moment): Reading => {
  if (typeof value === 'object' && 'sql' in value) {
    return { expected: 'a plain value: {sql, columnName} is for the host application alone' };
  }
  switch (dataType) {
    case 'string':
      return readString(value);
    case 'number':
      return readNumber(value);
    case 'date':
      return readDate(value, moment);
    case 'boolean':
      return readBoolean(value);
  }
};

/**
 * As `readFilterValue`, for a value of the host: its settings, tokens or backend. Such a value may also be a SELECT.
 */
export const readHostFilterValue = (dataType: FilterDataType, value: FilterValue, moment: Moment): Reading =>
  typeof value === 'object' && 'sql' in value
    ? { predicate: { kind: 'inQuery', sql: value.sql, columnName: value.columnName } }
    : readFilterValue(dataType, value, moment);
