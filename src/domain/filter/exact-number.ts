/** Numbers as filters, clicks and predicates give them: JSON numbers, or text where a JSON number would be rounded. */
import type { Scalar } from './filter.js';

/** Answered and taken as text: JSON has no numbers for them. */
const notFinite: ReadonlySet<unknown> = new Set(['NaN', 'Infinity', '-Infinity']);

export const isNotFinite = (value: unknown): value is string => notFinite.has(value);

const decimalPattern = /^(-?)(0|[1-9][0-9]*)(?:\.([0-9]+))?$/;

/** Decimal notation without an exponent, a plus sign or leading zeros. */
export const isDecimalText = (text: string): boolean => decimalPattern.test(text);

/**
 * A whole number beyond 2^53 - 1 that came as a JSON number. JSON.parse may have rounded it: the caller may have meant another one. It is refused wherever
 * it is compared with a column that tells the two apart, and has to be sent as text.
 */
export const isUnsafeNumber = (value: unknown): boolean =>
  typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value);

export const safeAsText = 'a whole number beyond 9007199254740991 must be sent as text, since JSON rounds it';

/** What a number filter takes: a JSON number, decimal text, or the text of what JSON has no number for. */
export const isNumberValue = (value: unknown): value is number | string =>
  typeof value === 'number'
    ? Number.isFinite(value)
    : typeof value === 'string' && (isDecimalText(value) || isNotFinite(value));

export type Digits = { readonly units: bigint; readonly scale: number };

/** Every digit of a number or of decimal text; undefined for what is neither, and for what is not finite. */
export const digitsOf = (value: Scalar): Digits | undefined => {
  if (typeof value === 'boolean') return undefined;
  const match = decimalPattern.exec(typeof value === 'number' ? plainText(value) : String(value));
  if (match === null) return undefined;
  const [, sign = '', whole = '', fraction = ''] = match;
  return { units: BigInt(`${sign}${whole}${fraction}`), scale: fraction.length };
};

/** Without an exponent, by the shortest digits that name the number. */
const plainText = (value: number): string => {
  const text = String(value);
  const match = /^(-?)([0-9])(?:\.([0-9]+))?e([+-][0-9]+)$/.exec(text);
  if (match === null) return text;
  const [, sign = '', first = '', rest = '', exponent = '0'] = match;
  const power = Number(exponent);
  const digits = `${first}${rest}`;
  return power < 0 ? `${sign}0.${'0'.repeat(-power - 1)}${digits}` : `${sign}${digits.padEnd(power + 1, '0')}`;
};

/** NaN is above Infinity, as databases sort them. */
const rankOf = (value: Scalar): number => {
  if (value === '-Infinity') return -1;
  if (value === 'Infinity') return 1;
  return value === 'NaN' ? 2 : 0;
};

/** Below 0 where `a` is less than `b`, exactly; undefined where one of them is no number. */
export const compareNumbers = (a: Scalar, b: Scalar): number | undefined => {
  if (!isNumberValue(a) || !isNumberValue(b)) return undefined;
  const [left, right] = [digitsOf(a), digitsOf(b)];
  if (left === undefined || right === undefined) return rankOf(a) - rankOf(b);
  const scale = Math.max(left.scale, right.scale);
  const difference = unitsOf(left, scale) - unitsOf(right, scale);
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
};

export const unitsOf = ({ units, scale }: Digits, wanted: number): bigint => units * 10n ** BigInt(wanted - scale);
