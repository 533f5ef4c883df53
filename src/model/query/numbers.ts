/**
 * How numbers are written: as amounts, percents, with a unit, short or whole. Cards, alerts and what a model reads write
 * them alike. Pure.
 */

import type { ColumnNumbers } from '../datamart/datamart.js';
import type { AnswerColumn, Cell } from './engine.js';

/** The number in a cell, null if there is none. Big integers and exact decimals arrive as strings. */
export const numberOf = (value: Cell | undefined): number | null => {
  if (typeof value === 'boolean' || value === null || value === undefined || value === '') return null;
  const number = Number(value);
  return Number.isFinite(number) ? number : null;
};

/** The language as Intl has it; English for one that it does not know. */
export const knownLocale = (language: string): string => {
  try {
    return Intl.NumberFormat.supportedLocalesOf(language)[0] ?? 'en';
  } catch (error) {
    if (error instanceof RangeError) return 'en';
    throw error;
  }
};

/** Of a chart: how its numbers are written, and those of single measures. */
export type NumberFormats = ColumnNumbers & {
  readonly numbers?: readonly (ColumnNumbers & { readonly measure: string })[] | undefined;
};

/** How numbers of a measure are written in one answer. `places`: the decimal places that its values need, where the author chose none. */
export type WrittenNumbers = ColumnNumbers & { readonly places?: number | undefined };

/** The most decimal places that a number is written with. */
export const greatestDecimals = 6;

/** How the numbers of a measure are written: as its own settings say, or as the chart's. */
export const numbersOf = (chart: NumberFormats, measure: string): WrittenNumbers =>
  chart.numbers?.find((each) => each.measure === measure) ?? chart;

/**
 * Removes the chart's unit if the chart has several measures. A unit belongs to the chart, not to a measure, so it would be
 * wrong for some of them ("2,600 min" for a count of flights). `format` stays: it only says how numbers are written.
 */
export const withClaimedUnit = <Chart extends ColumnNumbers & { readonly measures: readonly string[] }>(
  chart: Chart,
): Chart => (chart.measures.length > 1 ? { ...chart, unit: undefined } : chart);

/** How the numbers of one of a metric's measures are written. `measures`: the names of all of them. */
export const measureNumbers = (
  chart: NumberFormats & { readonly measures: readonly string[] },
  measure: string,
): ColumnNumbers => {
  const { format, unit, currency, notation, decimals } = numbersOf(withClaimedUnit(chart), measure);
  return { format, unit, currency, notation, decimals };
};

/**
 * The numbers with the decimal places that all of these values of one measure are written with: one measure has one form.
 * Whole numbers need none, and the largest value decides for others. Nothing is found where the author or the currency says it.
 */
export const withPlaces = (numbers: ColumnNumbers, values: readonly (Cell | undefined)[]): WrittenNumbers => {
  if (numbers.decimals !== undefined || numbers.currency !== undefined) return numbers;
  const sizes = values.map((value) => Math.abs(numberOf(value) ?? 0));
  const places = numbers.format === 'percent' ? percentPlaces(sizes) : placesOf(sizes);
  return places === undefined ? numbers : { ...numbers, places };
};

const percentPlaces = (shares: readonly number[]): number | undefined =>
  shares.every((share) => Math.abs(share * 100 - Math.round(share * 100)) < 1e-9) ? undefined : 1;

/** Undefined for whole numbers, which an average beside them need not be, and for values so small that each has its own places. */
const placesOf = (sizes: readonly number[]): number | undefined => {
  const largest = sizes.reduce((one, other) => Math.max(one, other), 0);
  if (sizes.every(Number.isInteger)) return undefined;
  if (largest >= 1000) return 0;
  if (largest >= 1) return 1;
  const places = 1 - Math.floor(Math.log10(largest));
  return places > greatestDecimals ? undefined : places;
};

/** Whether such numbers are written in another way than plain ones. */
export const areFormatted = ({ format, unit, currency, notation, decimals }: ColumnNumbers): boolean =>
  [format === 'percent', unit, currency, notation === 'compact', decimals !== undefined].some(Boolean);

/** The currency code that a cell holds, in capitals; undefined for a cell that holds none. */
export const codeOf = (cell: unknown): string | undefined =>
  typeof cell === 'string' && /^[A-Za-z]{3}$/.test(cell.trim()) ? cell.trim().toUpperCase() : undefined;

/** The cell of a row by the name of its column. A column may have the name of a member of every object. */
type ReadCell = (name: string) => Cell | undefined;

/** How the number of one row is written: in the currency that the row names, where the column has one in each. */
export const numbersInRow = (
  numbers: WrittenNumbers,
  { currencyColumn }: Pick<AnswerColumn, 'currencyColumn'>,
  cellOf: ReadCell,
): WrittenNumbers => {
  if (currencyColumn === undefined || numbers.format === 'percent') return numbers;
  const { currency: _, places: __, ...rest } = numbers;
  const code = codeOf(cellOf(currencyColumn));
  return code === undefined ? rest : { ...rest, currency: code };
};

const valuesOf = (rows: readonly Readonly<Record<string, Cell>>[], name: string): readonly (Cell | undefined)[] =>
  rows.map((row) => row[name]);

/** The values of the columns that have a format, row by row, as a card writes them; undefined: no column has one. */
export const writtenRows = (
  rows: readonly Readonly<Record<string, Cell>>[],
  columns: readonly (Pick<AnswerColumn, 'name' | 'currencyColumn'> & {
    readonly numbers?: ColumnNumbers | undefined;
  })[],
  language: string,
): readonly Readonly<Record<string, string>>[] | undefined => {
  const locale = knownLocale(language);
  const formats = columns.flatMap(({ name, numbers = {}, currencyColumn }) =>
    areFormatted(numbers) || currencyColumn !== undefined
      ? [{ name, numbers: withPlaces(numbers, valuesOf(rows, name)), currencyColumn }]
      : [],
  );
  if (formats.length === 0) return undefined;
  return rows.map((row) => {
    const written = formats.map(({ name, numbers, currencyColumn }) => {
      const own = numbersInRow(numbers, { currencyColumn }, (other) => row[other]);
      return [name, writeNumber(locale, row[name] ?? null, own)] as const;
    });
    return Object.fromEntries(written);
  });
};

/**
 * As writeNumber, with every digit that the value has, if the numbers are neither amounts nor percents nor short: a value
 * and a limit that it passes must not read alike.
 */
export const writeExactly = (locale: string, value: number, hint: ColumnNumbers): string => {
  const { format, currency, notation } = hint;
  const isRounded = format === 'percent' || currency !== undefined || notation === 'compact';
  if (isRounded) return writeNumber(locale, value, hint);
  return withUnit(numberFormat(locale, { maximumFractionDigits: 20 }).format(value), hint);
};

/** A value of a measure with its unit; an em dash for null. */
export const writeNumber = (locale: string, value: Cell, hint: WrittenNumbers): string =>
  withUnit(withoutUnit(locale, value, hint), hint);

const withoutUnit = (locale: string, value: Cell, hint: WrittenNumbers): string => {
  if (value === null) return '—';
  const number = numberOf(value);
  if (number === null) return String(value);
  const isWhole = typeof value === 'string' && /^-?\d+$/.test(value);
  if (isWhole && hint.format !== 'percent' && hint.notation !== 'compact') {
    const digits = givenDigits(hint) ?? (hint.currency === undefined ? exactly(hint.places ?? 0) : {});
    return numberFormat(locale, styleOf(hint, digits)).format(BigInt(value));
  }
  return numberFormat(locale, optionsOf(number, hint)).format(number);
};

/** The parts of a number as writeNumber writes it, without a unit. */
export const numberParts = (locale: string, number: number, hint: ColumnNumbers): readonly Intl.NumberFormatPart[] =>
  numberFormat(locale, optionsOf(number, hint)).formatToParts(number);

/** The decimal places that the author chose. */
const givenDigits = ({ decimals }: ColumnNumbers): Intl.NumberFormatOptions | undefined =>
  decimals === undefined ? undefined : exactly(decimals);

const exactly = (places: number): Intl.NumberFormatOptions => ({
  minimumFractionDigits: places,
  maximumFractionDigits: places,
});

const optionsOf = (number: number, hint: WrittenNumbers): Intl.NumberFormatOptions => {
  const given = givenDigits(hint);
  if (hint.format === 'percent')
    return { style: 'percent', ...(given ?? percentDigits(Math.abs(number), hint.places)) };
  if (hint.notation === 'compact' && Math.abs(number) >= 1000) {
    const short = given ?? { maximumFractionDigits: 1, minimumFractionDigits: 0 };
    return styleOf(hint, { notation: 'compact', ...short });
  }
  return styleOf(
    hint,
    given ?? (hint.currency === undefined ? fractionDigits(number, hint.places) : moneyDigits(number, hint)),
  );
};

/** Keeps a share apart from none and from all. Less than a billionth below all is an error of a sum. */
const percentDigits = (share: number, places: number | undefined): Intl.NumberFormatOptions => {
  if (share !== 0 && share < 0.0005) return { maximumSignificantDigits: 2 };
  const left = 1 - share;
  if (left > 1e-9 && left <= 0.0005) return { maximumFractionDigits: Math.ceil(-Math.log10(left)) - 2 };
  return places === undefined ? { maximumFractionDigits: 1 } : exactly(places);
};

export const styleOf = ({ currency }: ColumnNumbers, options: Intl.NumberFormatOptions): Intl.NumberFormatOptions =>
  currency === undefined ? options : { style: 'currency', currency, currencyDisplay: 'narrowSymbol', ...options };

const numberFormats = new Map<string, Intl.NumberFormat>();

/** One formatter for each language and style: making one takes longer than a thousand uses. */
export const numberFormat = (locale: string, options: Intl.NumberFormatOptions): Intl.NumberFormat => {
  const key = JSON.stringify([locale, options]);
  const made = numberFormats.get(key) ?? createNumberFormat(locale, options);
  numberFormats.set(key, made);
  return made;
};

/** A currency that the browser does not accept is left out, and the number is shown without it. */
const createNumberFormat = (locale: string, options: Intl.NumberFormatOptions): Intl.NumberFormat => {
  try {
    return new Intl.NumberFormat(locale, options);
  } catch (error) {
    if (!(error instanceof RangeError) || options.currency === undefined) throw error;
    return new Intl.NumberFormat(locale, { ...options, style: 'decimal', currency: undefined });
  }
};

/** The currency's own decimal places. An amount that would read as zero keeps two significant digits. */
const moneyDigits = (number: number, hint: ColumnNumbers): Intl.NumberFormatOptions => {
  const size = Math.abs(number);
  if (size >= 1e21 || (size > 0 && size < 1e-6)) return { notation: 'scientific', maximumFractionDigits: 2 };
  const { maximumFractionDigits = 2 } = numberFormat('en', styleOf(hint, {})).resolvedOptions();
  return size > 0 && size < 0.5 * 10 ** -maximumFractionDigits ? { maximumSignificantDigits: 2 } : {};
};

/** Decimal places by magnitude, so that the values of a column line up. Small values keep two significant digits. */
const fractionDigits = (number: number, places: number | undefined): Intl.NumberFormatOptions => {
  const size = Math.abs(number);
  if (size >= 1e21 || (size > 0 && size < 1e-6)) return { notation: 'scientific', maximumFractionDigits: 2 };
  const least = places === undefined ? 0.1 : 0.5 * 10 ** -places;
  if (size > 0 && size < least) return { maximumSignificantDigits: 2 };
  if (places !== undefined) return exactly(places);
  if (size >= 1000 || Number.isInteger(number)) return { minimumFractionDigits: 0, maximumFractionDigits: 0 };
  return size >= 1 ? { minimumFractionDigits: 1, maximumFractionDigits: 1 } : { maximumFractionDigits: 2 };
};

const withUnit = (text: string, { unit }: ColumnNumbers): string =>
  unit === undefined || unit === '' || text === '—' ? text : `${text}\u00a0${unit}`;
