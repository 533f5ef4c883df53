/** Numbers in filters, clicks and predicates: JSON numbers, or text if a JSON number would be rounded. */
import type { Scalar } from './filter.js';

/** Sent and accepted as text, since JSON has no such numbers. */
const notFinite: ReadonlySet<unknown> = new Set(['NaN', 'Infinity', '-Infinity']);

export const isNotFinite = (value: unknown): value is string => notFinite.has(value);

const decimalPattern = /^(-?)(0|[1-9][0-9]*)(?:\.([0-9]+))?$/;

/** Whether the text is decimal notation without exponent, plus sign or leading zeros. */
export const isDecimalText = (text: string): boolean => decimalPattern.test(text);

/**
 * Whether the value is a whole number beyond 2^53 - 1 that was sent as a JSON number. JSON.parse may have rounded it,
 * so the caller may have meant another number. It is refused if its column distinguishes such numbers, and must be sent
 * as text.
 */
export const isUnsafeNumber = (value: unknown): boolean =>
  typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value);

export const safeAsText = 'a whole number beyond 9007199254740991 must be sent as text, since JSON rounds it';

/**
 * Whether a number filter accepts the value: a JSON number, decimal text, or the text `NaN`, `Infinity` or `-Infinity`.
 */
export const isNumberValue = (value: unknown): value is number | string =>
  typeof value === 'number'
    ? Number.isFinite(value)
    : typeof value === 'string' && (isDecimalText(value) || isNotFinite(value));

/** An exact decimal number: `units` divided by 10 to the power of `scale`. */
export type Digits = { readonly units: bigint; readonly scale: number };

/** Returns the exact digits of a finite number or of decimal text; undefined for any other value. */
export const digitsOf = (value: Scalar): Digits | undefined => {
  if (typeof value === 'boolean') return undefined;
  const match = decimalPattern.exec(typeof value === 'number' ? plainText(value) : String(value));
  if (match === null) return undefined;
  const [, sign = '', whole = '', fraction = ''] = match;
  return { units: BigInt(`${sign}${whole}${fraction}`), scale: fraction.length };
};

/** Returns the number without an exponent, in the shortest digits that identify it. */
export const plainText = (value: number): string => {
  const text = String(value);
  const match = /^(-?)([0-9])(?:\.([0-9]+))?e([+-][0-9]+)$/.exec(text);
  if (match === null) return text;
  const [, sign = '', first = '', rest = '', exponent = '0'] = match;
  const power = Number(exponent);
  const digits = `${first}${rest}`;
  return power < 0 ? `${sign}0.${'0'.repeat(-power - 1)}${digits}` : `${sign}${digits.padEnd(power + 1, '0')}`;
};

/** NaN is greater than Infinity, as databases sort them. */
const rankOf = (value: Scalar): number => {
  if (value === '-Infinity') return -1;
  if (value === 'Infinity') return 1;
  return value === 'NaN' ? 2 : 0;
};

/** Compares two numbers exactly; negative if `a` is less than `b`. Undefined if one of them is not a number. */
export const compareNumbers = (a: Scalar, b: Scalar): number | undefined => {
  if (!isNumberValue(a) || !isNumberValue(b)) return undefined;
  const [left, right] = [digitsOf(a), digitsOf(b)];
  if (left === undefined || right === undefined) return rankOf(a) - rankOf(b);
  const scale = Math.max(left.scale, right.scale);
  const difference = unitsOf(left, scale) - unitsOf(right, scale);
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
};

/** Returns the number in units of 10 to the power of `-wanted`. `wanted` must not be less than the number's scale. */
export const unitsOf = ({ units, scale }: Digits, wanted: number): bigint => units * 10n ** BigInt(wanted - scale);
