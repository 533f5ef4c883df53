/** Values of the evaluator and their comparison: NULL logic, text by bytes, exact numbers, local time. */
import type { Predicate, Scalar } from '../../src/model/filter/filter.js';
import { compareExact, type Exact, exactOfFloat, parseExact } from './exact.js';

/** Text, dates (`2024-03-05`) and times (`2024-03-05T08:15:30`) are strings; numbers are exact. */
export type Value = string | boolean | Exact | null;

/** The kind of a column's values, named as in the definitions of the test's tables. */
export type ColumnKind = 'text' | 'exact' | 'float' | 'boolean' | 'date' | 'timestamp' | 'instant';

export const kindOf = (datatype: string): ColumnKind => {
  if (datatype === 'VARCHAR') return 'text';
  if (datatype === 'DOUBLE') return 'float';
  if (datatype === 'BOOLEAN') return 'boolean';
  if (datatype === 'DATE') return 'date';
  if (datatype === 'TIMESTAMP') return 'timestamp';
  if (datatype === 'TIMESTAMP WITH TIME ZONE') return 'instant';
  if (/^(BIGINT|INTEGER|DECIMAL\([0-9]+,[0-9]+\))$/.test(datatype)) return 'exact';
  throw new RangeError(`the evaluator knows no type ${datatype}`);
};

/** Completes a date or time, so that dates and times can be compared as text. */
const wholeTime = (text: string): string => {
  const match = /^([0-9-]{10})(?:[T ]([0-9]{2}:[0-9]{2})(?::([0-9]{2})(?:\.([0-9]+))?)?)?$/.exec(text);
  if (match === null) throw new RangeError(`${JSON.stringify(text)} is no date`);
  const [, day, minute = '00:00', second = '00', fraction = ''] = match;
  return `${day}T${minute}:${second}.${fraction.padEnd(6, '0')}`;
};

const isTemporal = (kind: ColumnKind): boolean => kind === 'date' || kind === 'timestamp' || kind === 'instant';

/** Converts a condition's value to the column's kind. */
const operand = (value: Scalar, kind: ColumnKind): Value => {
  if (kind === 'exact') return parseExact(String(value));
  if (kind === 'float') return exactOfFloat(Number(value));
  if (isTemporal(kind)) return wholeTime(String(value));
  return typeof value === 'number' ? String(value) : value;
};

const comparable = (value: Value, kind: ColumnKind): Value =>
  typeof value === 'string' && isTemporal(kind) ? wholeTime(value) : value;

/** Negative, 0 or positive. Both values must be of one kind and not NULL. Text is compared by bytes. */
export const compareValues = (a: Value, b: Value): number => {
  if (typeof a === 'string' && typeof b === 'string') return Buffer.compare(Buffer.from(a), Buffer.from(b));
  if (typeof a === 'boolean' && typeof b === 'boolean') return Number(a) - Number(b);
  if (isExact(a) && isExact(b)) return compareExact(a, b);
  throw new TypeError('two values of different kinds are compared');
};

export const isExact = (value: Value): value is Exact => typeof value === 'object' && value !== null;

/** Returns a text that is equal exactly for equal values. */
export const keyOf = (value: Value): string => (isExact(value) ? `${value.n}/${value.d}` : JSON.stringify(value));

/** Whether the value passes. NULL passes only `isNull`. */
export const passes = (predicate: Predicate, value: Value, kind: ColumnKind): boolean => {
  if (predicate.kind === 'isNull') return value === null;
  if (value === null) return predicate.kind === 'recurring' && predicate.value === null;
  const own = comparable(value, kind);
  const compared = (other: Scalar): number => compareValues(own, operand(other, kind));
  switch (predicate.kind) {
    case 'isNotNull':
      return true;
    case 'oneOf':
      return predicate.values.some((item) => compared(item) === 0);
    case 'noneOf':
      return predicate.values.every((item) => compared(item) !== 0);
    case 'compare':
      return holds[predicate.operator](compared(predicate.value));
    case 'range':
      return (
        (predicate.from === null || compared(predicate.from) >= 0) &&
        (predicate.to === null || (predicate.toIsExclusive ? compared(predicate.to) < 0 : compared(predicate.to) <= 0))
      );
    case 'recurring':
      return recurringOf(String(own), predicate.grain) === predicate.value;
    case 'like':
      return isLike([...String(value)], [...predicate.pattern]);
    case 'relative': {
      const { from, to } = daysOnTheDay[predicate.period] ?? { from: '', to: '' };
      return compared(from) >= 0 && compared(to) < 0;
    }
    case 'inQuery':
      throw new TypeError('the evaluator reads no SQL');
  }
};

/** The day on which every question is asked, and the periods of its conditions, counted by hand. */
export const theDay = '2024-03-31';
export const daysOnTheDay: Readonly<Record<string, { readonly from: string; readonly to: string }>> = {
  Today: { from: '2024-03-31', to: '2024-04-01' },
  'Last 1 Months': { from: '2024-03-01', to: '2024-04-01' },
  'Last 13 Weeks': { from: '2024-01-01', to: '2024-04-01' },
  'Last Quarter': { from: '2023-10-01', to: '2024-01-01' },
  'Next 1 Years': { from: '2024-03-31', to: '2025-03-31' },
  'Year to Date': { from: '2024-01-01', to: '2024-04-01' },
};

/** Of a date without zone: its hour, or its day of the week, Monday first. */
const recurringOf = (time: string, grain: 'hourOfDay' | 'dayOfWeek'): number =>
  grain === 'hourOfDay'
    ? Number(time.slice(11, 13))
    : ((new Date(`${time.slice(0, 10)}T00:00:00Z`).getUTCDay() + 6) % 7) + 1;

const holds = {
  '=': (sign: number) => sign === 0,
  '<>': (sign: number) => sign !== 0,
  '<': (sign: number) => sign < 0,
  '<=': (sign: number) => sign <= 0,
  '>': (sign: number) => sign > 0,
  '>=': (sign: number) => sign >= 0,
} as const;

/** `%` matches any characters, `_` one; `\` escapes the next one. */
const isLike = (text: readonly string[], pattern: readonly string[]): boolean => {
  const [first, ...rest] = pattern;
  if (first === undefined) return text.length === 0;
  if (first === '%') return text.some((_, index) => isLike(text.slice(index), rest)) || isLike([], rest);
  const [head, ...tail] = text;
  if (head === undefined) return false;
  if (first === '_') return isLike(tail, rest);
  if (first === '\\') return head === rest[0] && isLike(tail, rest.slice(1));
  return head === first && isLike(tail, rest);
};
