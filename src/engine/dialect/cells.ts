import { writeYear } from '../../model/filter/calendar.js';
import type { Cell } from '../../model/query/engine.js';

/** A number within 2^53, text beyond. */
export const integerCell = (value: bigint): Cell => {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value.toString();
};

/** A number where it represents the decimal exactly, otherwise text. */
export const decimalCell = (written: string): Cell => {
  // A ZEROFILL column of MySQL writes zeros before the number.
  const text = written.replace(/^(-?)0+(?=[0-9])/, '$1');
  if (/^-?[0-9]+$/.test(text)) return integerCell(BigInt(text));
  const number = Number(text);
  return String(number) === text.replace(/\.?0+$/, '') ? numberCell(number, text) : text;
};

const numberCell = (number: number, text: string): Cell => (Number.isFinite(number) ? number : text);

/** JSON has no NaN and no infinities, so they are text, which distinguishes them from NULL. */
export const floatCell = (value: number): Cell => numberCell(value, String(value));

/** ISO 8601 from `2024-03-05 08:15:30.250000`, `0044-03-15 BC` or `infinity`. */
export const dateCell = (text: string): Cell => {
  if (text[4] === '-' && !text.includes('BC')) return timestampCell(text);
  if (text.endsWith('infinity')) return text.replace('infinity', 'Infinity');
  return timestampCell(eraText(text));
};

/** ISO 8601 has a year 0, which is 1 BC. */
const eraText = (text: string): string => {
  const [digits = ''] = /^[0-9]+/.exec(text) ?? [];
  const year = text.includes('BC') ? 1 - Number(digits) : Number(digits);
  return `${writeYear(year)}${text.slice(digits.length).replace(/ \(?BC\)?/, '')}`;
};

const timestampCell = (text: string): string =>
  text
    .replace(' ', 'T')
    .replace(/(\.[0-9]*?)0+$/, '$1')
    .replace(/\.$/, '');
