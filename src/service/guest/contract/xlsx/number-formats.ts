/** Formats of numbers for cells: percents and amounts, in the order of a language, with the digits of a card. Pure. */
import type { ColumnNumbers } from '../../../../model/datamart/datamart.js';
import { numberParts } from '../../../../model/query/numbers.js';
import { literal } from './date-formats.js';

/** A hyphen would begin the number of a language. */
const symbolCode = (symbol: string): string => (/[-[\]"]/.test(symbol) ? literal(symbol) : `[$${symbol}]`);

const digitsCode = (digits: number): string => (digits === 0 ? '' : `.${'0'.repeat(digits)}`);

/** The format code of a number; undefined: it is written plainly. A percent has one decimal place at least. */
const numberFormatCode = (value: number, hint: ColumnNumbers, language: string): string | undefined => {
  const isPercent = hint.format === 'percent';
  if (!isPercent && hint.currency === undefined) return undefined;
  const parts = numberParts(language, Math.abs(value), { ...hint, notation: 'full' });
  const isMarked = parts.some(({ type }) => type === 'currency' || type === 'percentSign');
  if (!isMarked || parts.some(({ type }) => type === 'exponentInteger')) return undefined;
  const written = parts.find(({ type }) => type === 'fraction')?.value.length ?? 0;
  const digits = digitsCode(isPercent ? Math.max(1, written) : written);
  const first = parts.findIndex(({ type }) => type === 'integer');
  const codes = parts.map(({ type, value: text }, at) => {
    if (at === first) return `${isPercent ? '0' : '#,##0'}${digits}`;
    if (type === 'currency') return symbolCode(text);
    if (type === 'percentSign') return '%';
    return type === 'literal' ? literal(text) : '';
  });
  return codes.join('');
};

/** The format codes of a workbook's numbers, in the order in which cells first need them. */
export type NumberFormatCodes = {
  readonly codes: readonly string[];
  /** Returns the place of the number's format among `codes`; undefined: the number has none. */
  readonly placeOf: (value: number, hint: ColumnNumbers) => number | undefined;
};

export const createNumberFormatCodes = (language: string): NumberFormatCodes => {
  const places = new Map<string, number>();
  const codes: string[] = [];
  return {
    codes,
    placeOf: (value, hint) => {
      const code = numberFormatCode(value, hint, language);
      if (code === undefined) return undefined;
      const place = places.get(code) ?? codes.push(code) - 1;
      places.set(code, place);
      return place;
    },
  };
};
