import type { ColumnRef } from '../../model/datamart/datamart.js';
import { dayOf, parseDay } from '../../model/filter/calendar.js';
import {
  compareNumbers,
  isDecimalText,
  isNotFinite,
  isUnsafeNumber,
  safeAsText,
} from '../../model/filter/exact-number.js';
import type { CompareOperator, Predicate, Scalar } from '../../model/filter/filter.js';
import { columnName } from '../dialect/catalog.js';
import type { Bound, Dialect, Sql } from '../dialect/dialect.js';
import { refuseQuery, refuseUnknown } from '../dialect/refuse.js';
import {
  asDecimal,
  decimalOfCast,
  integerRanges,
  isReadAsText,
  isTemporal,
  type SqlType,
  unboundedDecimal,
} from '../dialect/sql-type.js';

/** A predicate whose values were checked against the column's type. */
export type BoundPredicate =
  | { readonly kind: 'oneOf' | 'noneOf'; readonly texts: readonly string[]; readonly cast: string }
  | { readonly kind: 'compare'; readonly operator: CompareOperator; readonly value: Bound }
  | {
      readonly kind: 'range';
      readonly from: Bound | null;
      readonly to: Bound | null;
      readonly toIsExclusive: boolean;
    }
  | { readonly kind: 'like'; readonly pattern: Bound }
  /** Equal to one of the values of a SELECT's column; `write` writes the SELECT. */
  | { readonly kind: 'inQuery'; readonly write: (dialect: Dialect) => Sql }
  | Extract<Predicate, { kind: 'recurring' }>
  | { readonly kind: 'isNull' }
  | { readonly kind: 'isNotNull' };

/** What the value is compared with: a column, or a named column of the answer. */
type Target = { readonly type: SqlType } & (
  | { readonly ref: ColumnRef; readonly name?: undefined }
  | { readonly name: string }
);

const operators: ReadonlySet<string> = new Set(['=', '<>', '<', '<=', '>', '>=']);

/**
 * Checks a predicate against the column's type. Throws METRIC_QUERY_ERROR for values that cannot be compared exactly.
 */
export const bindPredicate = (predicate: Predicate, target: Target): BoundPredicate => {
  switch (predicate.kind) {
    case 'oneOf':
    case 'noneOf':
      return bindList(predicate.kind, predicate.values, target);
    case 'compare':
      if (!operators.has(predicate.operator)) refuseValue(target, 'is compared by an unknown operator');
      return { kind: 'compare', operator: predicate.operator, value: bindScalar(predicate.value, target) };
    case 'range':
      return bindRange(predicate, target);
    case 'like':
      return { kind: 'like', pattern: bindPattern(predicate.pattern, target) };
    case 'recurring':
      if (!isTemporal(target.type)) refuseValue(target, 'holds no dates, so it has no hours and days of the week');
      if (predicate.value !== null && !Number.isInteger(predicate.value))
        refuseValue(target, 'is compared with no hour or day of the week');
      return predicate;
    case 'isNull':
    case 'isNotNull':
      return { kind: predicate.kind };
    case 'relative':
      throw new TypeError('a relative period that did not become days');
    case 'inQuery':
      return refuseQuery('Only conditions compare with the rows of SQL.', 'query-unsupported');
    default:
      return refuseUnknown('condition', predicate);
  }
};

/** Binds one value for one column. */
export const bindScalar = (value: Scalar, target: Target): Bound => {
  switch (target.type.kind) {
    case 'text':
    case 'enum':
      return { text: textOf(value, target), cast: 'VARCHAR' };
    case 'uuid':
      return { text: uuidOf(value, target), cast: 'UUID' };
    case 'boolean':
      return { text: String(booleanOf(value, target)), cast: 'BOOLEAN' };
    case 'integer':
      return integerOf(value, target);
    case 'decimal':
      return decimalOf(value, target);
    case 'float':
      return { text: floatOf(value, target), cast: target.type.cast };
    case 'date':
    case 'timestamp':
    case 'instant':
      return dateOf(value, target);
    case 'json':
    case 'other':
      if (isReadAsText(target.type)) return { text: textOf(value, target), cast: 'VARCHAR' };
      return refuseValue(target, 'has a type that cannot be compared with a value; use another column');
    default:
      return refuseUnknown('column type', target.type.kind);
  }
};

/** All values of a list get one type that holds each of them. */
const bindList = (kind: 'oneOf' | 'noneOf', values: readonly Scalar[], target: Target): BoundPredicate => {
  if (values.length === 0) refuseValue(target, 'is restricted to an empty list; name at least one value');
  const bound = values.map((value) => bindScalar(value, target));
  const casts = [...new Set(bound.map(({ cast }) => cast))];
  return { kind, texts: bound.map(({ text }) => text), cast: casts.reduce((a, b) => commonCast(a, b, target)) };
};

const nanoseconds = 'TIMESTAMP_NS';
const dateCasts: ReadonlySet<string> = new Set(['DATE', 'TIMESTAMP', nanoseconds]);

const commonCast = (a: string, b: string, target: Target): string => {
  if (a === b) return a;
  if ([a, b].every((cast) => dateCasts.has(cast)))
    return a === nanoseconds || b === nanoseconds ? nanoseconds : 'TIMESTAMP';
  if (a === unboundedDecimal || b === unboundedDecimal) return unboundedDecimal;
  const [left, right] = [asDecimal(a), asDecimal(b)];
  if (left === undefined || right === undefined)
    return refuseValue(target, 'is compared with values of different types');
  const scale = Math.max(left.scale, right.scale);
  const width = Math.max(left.width - left.scale, right.width - right.scale) + scale;
  const greatest = greatestWidth(target.type);
  if (width > greatest) {
    refuseValue(target, `is compared with numbers that have more than ${greatest} digits together`);
  }
  return decimalName(width, scale);
};

const bindRange = (range: Extract<Predicate, { kind: 'range' }>, target: Target): BoundPredicate => {
  if (range.from === null && range.to === null) {
    refuseValue(target, 'is restricted to a range without ends; give at least one end');
  }
  const from = isPassedByAll(range.from, target, 'from') ? null : range.from;
  const to = isPassedByAll(range.to, target, 'to') ? null : range.to;
  return {
    kind: 'range',
    from: from === null ? null : bindScalar(from, target),
    to: to === null ? null : bindScalar(to, target),
    toIsExclusive: range.toIsExclusive,
  };
};

/**
 * Whether every whole number of the column's type is within this end of a range. The last bucket of a column ends above
 * the greatest number of its type, and its first one may begin below the least.
 */
const isPassedByAll = (end: Scalar | null, { type }: Target, side: 'from' | 'to'): boolean => {
  const range = type.kind === 'integer' ? integerRanges.get(type.cast) : undefined;
  if (end === null || range === undefined || isNotFinite(end) || isUnsafeNumber(end)) return false;
  const [least, greatest] = range;
  if (side === 'from') return (compareNumbers(end, String(least)) ?? 0) < 0;
  return (compareNumbers(end, String(greatest)) ?? 0) > 0;
};

const bindPattern = (pattern: string, target: Target): Bound => {
  if (target.type.kind !== 'text' && !isReadAsText(target.type))
    refuseValue(target, 'is not text, so it cannot be matched with a pattern');
  const text = textOf(pattern, target);
  const trailing = /\\*$/.exec(text)?.[0].length ?? 0;
  if (trailing % 2 === 1) refuseValue(target, 'is matched with a pattern that ends in a single backslash; double it');
  return { text, cast: 'VARCHAR' };
};

/** Half a surrogate pair would reach the database as U+FFFD, which makes different texts equal. */
const textOf = (value: Scalar, target: Target): string =>
  typeof value === 'string' && !/\p{Surrogate}/u.test(value)
    ? value
    : refuseValue(target, 'holds text; give well-formed text');

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

const uuidOf = (value: Scalar, target: Target): string =>
  typeof value === 'string' && uuidPattern.test(value)
    ? value
    : refuseValue(target, 'holds UUIDs; give one in lower case with its four hyphens');

const booleanOf = (value: Scalar, target: Target): boolean =>
  typeof value === 'boolean' ? value : refuseValue(target, 'holds booleans; give true or false');

/** A number in decimal notation, as number or text: integers beyond 2^53 and exact decimals are answered as text. */
const plainNumber = (value: Scalar, target: Target): string => {
  if (isUnsafeNumber(value)) refuseValue(target, `holds exact numbers; ${safeAsText}`);
  const text = typeof value === 'number' ? String(value) : value;
  if (typeof text !== 'string' || !isDecimalText(text)) {
    return refuseValue(target, 'holds numbers; give a finite one, written plainly');
  }
  return text;
};

/** Types whose values with a fraction exceed every decimal. */
const withoutFractions: ReadonlySet<string> = new Set(['INT256', 'UINT256']);

const integerOf = (value: Scalar, target: Target): Bound => {
  const text = plainNumber(value, target);
  if (text.includes('.') && !withoutFractions.has(target.type.cast)) return decimalOf(value, target);
  if (text.includes('.')) refuseValue(target, 'holds numbers too long to compare with a fraction; give a whole one');
  const [least, greatest] = integerRanges.get(target.type.cast) ?? [1n, 0n];
  const number = BigInt(text);
  if (number < least || number > greatest) refuseValue(target, `holds numbers from ${least} to ${greatest} only`);
  return { text: String(number), cast: target.type.cast };
};

/** The longest decimal of any database. A longer one would fail on some row, perhaps another tenant's. */
const greatestDecimal = 76;

/** The type follows the value's own digits, so nothing is rounded before the comparison. */
const decimalOf = (value: Scalar, target: Target): Bound => {
  if (isNotFinite(value) && target.type.hasNotFinite === true) return { text: value, cast: unboundedDecimal };
  const text = plainNumber(value, target);
  const [whole = '', fraction = ''] = text.replace('-', '').split('.');
  const width = whole.length + fraction.length;
  const greatest = greatestWidth(target.type);
  if (width > greatest) refuseValue(target, `is compared with a number of more than ${greatest} digits`);
  const { cast, greatestDigits } = target.type;
  const own = greatestDigits === undefined ? decimalOfCast(cast) : asDecimal(cast);
  const digits = own === undefined ? 0 : own.width - own.scale + Math.max(own.scale, fraction.length);
  if (digits > (greatestDigits ?? greatestDecimal)) {
    refuseValue(target, 'holds numbers too long to compare with one of so many decimal places; round it');
  }
  return { text, cast: decimalName(width, fraction.length) };
};

/** The digits of a compared number where the database has no limit of its own: those that every database holds. */
export const greatestWidth = ({ greatestDigits = 38 }: SqlType): number => greatestDigits;

/** No database but that without a limit holds a decimal of so many digits. */
const decimalName = (width: number, scale: number): string =>
  width > greatestDecimal ? unboundedDecimal : `DECIMAL(${width},${scale})`;

const greatestFloat = 3.4028234663852886e38;

/** The nearest 64-bit number, as for every JSON number. The column itself is no more exact. */
const floatOf = (value: Scalar, target: Target): string => {
  if (isNotFinite(value)) return value;
  const number = typeof value === 'string' && isDecimalText(value) ? Number(value) : value;
  if (typeof number !== 'number' || !Number.isFinite(number)) {
    return refuseValue(target, 'holds numbers; give a finite one, written plainly');
  }
  if (target.type.cast === 'FLOAT' && Math.abs(number) > greatestFloat) {
    return refuseValue(target, 'holds 32-bit numbers; give a smaller one');
  }
  return String(number);
};

const datePattern = /^([^T ]+-[0-9]{2}-[0-9]{2})([T ]([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\.[0-9]{1,9})?)?)?$/;

/** Fractional digits of seconds of every database's timestamps. */
const microseconds = 6;

const dateOf = (value: Scalar, target: Target): Bound => {
  const isDate = target.type.kind === 'date';
  if (value === 'Infinity' || value === '-Infinity') return { text: value, cast: isDate ? 'DATE' : 'TIMESTAMP' };
  const match = typeof value === 'string' ? datePattern.exec(value) : null;
  const day = parseDay(match?.[1] ?? '');
  const digits = (match?.[5]?.length ?? 1) - 1;
  if (match === null || day === undefined || digits > Math.max(microseconds, target.type.digits ?? 0)) {
    return refuseValue(target, 'holds dates; give one as 2024-03-23 or 2024-03-23T10:00:00, without a zone');
  }
  const isDay = match[2] === undefined;
  const cast = isDay && isDate ? 'DATE' : 'TIMESTAMP';
  const isFiner = digits > microseconds;
  if (!isHeld(day, cast)) refuseValue(target, 'is compared with a date that no database holds');
  // ISO 8601 allows a time without seconds; some databases do not.
  const time = isDay || match[4] !== undefined ? '' : ':00';
  return { text: `${match[0].replace('T', ' ')}${time}`, cast: isFiner ? nanoseconds : cast };
};

/** The range of dates that PostgreSQL and DuckDB both hold. */
const firstHeld = dayOf(-4713, 11, 25);
const lastHeld = { DATE: dayOf(5_874_897, 1, 1), TIMESTAMP: dayOf(294_246, 1, 1) } as const;

const isHeld = (day: number, cast: keyof typeof lastHeld): boolean => day >= firstHeld && day <= lastHeld[cast];

const refuseValue = (target: Target, fault: string): never =>
  refuseQuery(
    `${target.name === undefined ? `Column ${columnName(target.ref)}` : target.name} ${fault}.`,
    'value-of-wrong-type',
  );
