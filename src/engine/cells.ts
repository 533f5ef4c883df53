import type { Cell } from '../domain/ports.js';

/** Numbers within 2^53, text beyond. */
export const integerCell = (value: bigint): Cell => {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value.toString();
};

/** A number where a number says the decimal exactly, text otherwise; NaN and the infinities are null. */
export const decimalCell = (text: string): Cell => {
  if (/^-?[0-9]+$/.test(text)) return integerCell(BigInt(text));
  const number = Number(text);
  if (!Number.isFinite(number)) return null;
  return String(number) === text.replace(/\.?0+$/, '') ? number : text;
};

/** JSON has no word for NaN and the infinities. */
export const floatCell = (value: number): Cell => (Number.isFinite(value) ? value : null);

/** ISO 8601 out of `2024-03-05 08:15:30.250000`. */
export const timestampCell = (text: string): Cell =>
  text
    .replace(' ', 'T')
    .replace(/(\.[0-9]*?)0+$/, '$1')
    .replace(/\.$/, '');
