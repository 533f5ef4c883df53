/** Writes numbers, dates and names in one language. Dates come without a time zone, so none is applied. */
import type { Chart } from '../../domain/dashboard/chart.js';
import type { TimeGrain } from '../../domain/dashboard/metric.js';
import { type ColumnDates, dateParts, precisionOf } from '../../domain/datamart/dates.js';
import type { GuestChart } from '../../domain/guest/view.js';
import type { AnswerColumn, Cell } from '../../domain/query/engine.js';
import { createText, type Text, type Texts } from '../languages/text.js';

export type NumberHint = Pick<Chart, 'format' | 'unit' | 'currency' | 'notation'>;

export type Format = {
  /** The element's own texts. */
  readonly text: Text;
  /** A measure's value with its unit; an em dash for null. */
  readonly measure: (value: Cell, hint: NumberHint) => string;
  /** A round number of an axis: compact, without unit, with all of its digits, so that no two ticks read the same. */
  readonly tick: (value: number, hint: NumberHint) => string;
  /** A measure's value where there is little room: compact, without unit, rounded. */
  readonly brief: (value: number, hint: NumberHint) => string;
  /**
   * A dimension's value. NULL, an empty text and a text that reads like either have three names. With a grain, a date is written as its period (Q1 2001), a day of the week as its name, and an
   * hour of the day as a time. `dates`: how dates are written, if not as usual. Numbers keep their digits, so that
   * neighbours differ. Whole numbers get no thousands separator: they are mostly years, orders, postcodes.
   */
  readonly dimension: (
    value: Cell,
    dataType: AnswerColumn['dataType'],
    grain?: TimeGrain,
    dates?: ColumnDates,
  ) => string;
  /** A label of the time axis: month and year in January, the month on its first day, otherwise the day or the time. */
  readonly timeTick: (time: number, dates?: ColumnDates) => string;
  readonly count: (value: number) => string;
  /** A moment by the reader's own clock; without its day if that is today. */
  readonly moment: (at: Date, now: Date) => string;
  /** BCP 47 tag of the language. */
  readonly language: string;
  readonly yesOrNo: (value: boolean) => string;
};

/**
 * Removes the chart's unit if the chart has several measures. A unit belongs to the chart, not to a measure, so it would be
 * wrong for some of them ("2,600 min" for a count of flights). `format` stays: it only says how numbers are written.
 */
export const withClaimedUnit = (chart: GuestChart): GuestChart =>
  chart.measures.length > 1 ? { ...chart, unit: undefined } : chart;

/**
 * A formatter for a language, with its `texts`. An unknown language falls back to English, and so do texts that are not
 * given; never throws.
 */
export const createFormat = (language: string, texts?: Texts): Format => {
  const locale = knownLocale(language);
  const text = createText(locale, texts);
  const yesOrNo = (value: boolean) => (value ? text('Yes') : text('No'));
  const names = namesOf(text);
  const dates = dateFormats(locale, text);
  const integer = new Intl.NumberFormat(locale);
  return {
    text,
    yesOrNo,
    measure: (value, hint) =>
      typeof value === 'boolean' ? yesOrNo(value) : withUnit(measureText(locale, value, hint), hint),
    tick: (value, hint) => tickText(locale, value, hint),
    brief: (value, hint) => briefText(locale, value, hint),
    dimension: (value, dataType, grain, written) => {
      if (value === null) return names.nothing;
      if (value === '') return names.empty;
      const named = grain === undefined ? null : dates.grain(value, grain, written);
      if (named !== null) return named;
      if (dataType === 'date') return dates.full(value, written);
      if (dataType === 'number') return numberOf(value) === null ? String(value) : everyDigit(locale, value);
      return typeof value === 'boolean' ? yesOrNo(value) : names.text(String(value));
    },
    timeTick: dates.tick,
    count: (value) => integer.format(value),
    moment: (at, now) => {
      const isToday = at.toDateString() === now.toDateString();
      const day = isToday ? {} : ({ day: 'numeric', month: 'short' } as const);
      return new Intl.DateTimeFormat(locale, { hour: '2-digit', minute: '2-digit', ...day }).format(at);
    },
    language: locale,
  };
};

/** The number in a cell, null if there is none. Big integers and exact decimals arrive as strings. */
export const numberOf = (value: Cell | undefined): number | null => {
  if (typeof value === 'boolean' || value === null || value === undefined || value === '') return null;
  const number = Number(value);
  return Number.isFinite(number) ? number : null;
};

/** Milliseconds since 1970 of a date without zone, read as UTC. Null if the cell is not a date. */
export const timeOf = (value: Cell | undefined): number | null => {
  if (typeof value !== 'string') return null;
  const text = value.replace(' ', 'T');
  const time = Date.parse(/^\d{4}-\d{2}-\d{2}$/.test(text) || /(?:Z|[+-]\d{2}:?\d{2})$/.test(text) ? text : `${text}Z`);
  return Number.isNaN(time) ? null : time;
};

/** `averageDelay` and `average_delay` become `Average delay`. A name with spaces or in capitals stays as it is. */
export const humanise = (name: string): string => {
  if (/\s/.test(name) || /^[A-Z0-9]+$/.test(name)) return name;
  const words = name
    .replaceAll(/[_-]+/g, ' ')
    .replaceAll(/([a-z\d])([A-Z])/g, (_, before: string, capital: string) => `${before} ${capital.toLowerCase()}`)
    .trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
};

/** The title of a column in the reader's language; without a label, its name as words. */
export const titleOf = ({ name, label }: Pick<AnswerColumn, 'name' | 'label'>): string => label ?? humanise(name);

const knownLocale = (language: string): string => {
  try {
    return Intl.NumberFormat.supportedLocalesOf(language)[0] ?? 'en';
  } catch (error) {
    if (error instanceof RangeError) return 'en';
    throw error;
  }
};

/** Names of NULL and of the empty text, and of texts: one that reads like one of the two, or like nothing, is quoted. */
const namesOf = (text: Text) => {
  const [nothing, empty] = [text('(none)'), text('(empty text)')];
  const isLike = (value: string) => ['', nothing, empty].includes(value.replaceAll(/[“”]/g, '').trim());
  return { nothing, empty, text: (value: string) => (isLike(value) ? `“${value}”` : value) };
};

/** Two values never read the same. Exact decimals and large integers arrive as strings, which `Number` would round. */
const everyDigit = (locale: string, value: string | number | true | false): string => {
  const number = Number(value);
  const exact = typeof value === 'string' && /^-?\d+(\.\d+)?$/.test(value) ? (value as `${number}`) : number;
  const isWhole = Number.isInteger(number) && !String(value).includes('.');
  const isTiny = number !== 0 && Math.abs(number) < 1e-6;
  const options: Intl.NumberFormatOptions = isWhole
    ? { useGrouping: false }
    : { maximumSignificantDigits: 21, ...(isTiny ? { notation: 'scientific' } : {}) };
  return numberFormat(locale, options).format(exact);
};

const measureText = (locale: string, value: Cell, hint: NumberHint): string => {
  if (value === null) return '—';
  const number = numberOf(value);
  if (number === null) return String(value);
  const isWhole = typeof value === 'string' && /^-?\d+$/.test(value);
  if (isWhole && hint.format !== 'percent' && hint.notation !== 'compact') {
    const digits = hint.currency === undefined ? { maximumFractionDigits: 0 } : {};
    return numberFormat(locale, styleOf(hint, digits)).format(BigInt(value));
  }
  return numberFormat(locale, optionsOf(number, hint)).format(number);
};

const optionsOf = (number: number, hint: NumberHint): Intl.NumberFormatOptions => {
  if (hint.format === 'percent') return { style: 'percent', ...percentDigits(Math.abs(number)) };
  if (hint.notation === 'compact' && Math.abs(number) >= 1000) {
    return styleOf(hint, { notation: 'compact', maximumFractionDigits: 1, minimumFractionDigits: 0 });
  }
  return styleOf(hint, hint.currency === undefined ? fractionDigits(number) : moneyDigits(number, hint));
};

/** Keeps a share apart from none and from all. Less than a billionth below all is an error of a sum. */
const percentDigits = (share: number): Intl.NumberFormatOptions => {
  if (share !== 0 && share < 0.0005) return { maximumSignificantDigits: 2 };
  const left = 1 - share;
  return { maximumFractionDigits: left > 1e-9 && left <= 0.0005 ? Math.ceil(-Math.log10(left)) - 2 : 1 };
};

const styleOf = ({ currency }: NumberHint, options: Intl.NumberFormatOptions): Intl.NumberFormatOptions =>
  currency === undefined ? options : { style: 'currency', currency, currencyDisplay: 'narrowSymbol', ...options };

const compactText = (locale: string, value: number, hint: NumberHint, digits: Intl.NumberFormatOptions): string => {
  if (hint.format === 'percent') return numberFormat(locale, { style: 'percent', ...digits }).format(value);
  const isVanishing = value !== 0 && Math.abs(value) < 1e-6;
  return numberFormat(
    locale,
    styleOf(hint, { notation: isVanishing ? 'scientific' : 'compact', ...digits, minimumFractionDigits: 0 }),
  ).format(value);
};

/** A round number has few digits. Those after the twelfth come from adding up steps. */
const tickText = (locale: string, value: number, hint: NumberHint): string =>
  compactText(locale, value === 0 ? 0 : value, hint, { maximumSignificantDigits: 12 });

const briefText = (locale: string, value: number, hint: NumberHint): string => {
  const isTiny = value !== 0 && Math.abs(value) < (hint.format === 'percent' ? 0.001 : 0.1);
  const digits = isTiny ? { maximumSignificantDigits: 3 } : { maximumFractionDigits: Math.abs(value) < 10 ? 2 : 1 };
  return compactText(locale, value, hint, digits);
};

const numberFormats = new Map<string, Intl.NumberFormat>();

/** One formatter for each language and style: making one takes longer than a thousand uses. */
const numberFormat = (locale: string, options: Intl.NumberFormatOptions): Intl.NumberFormat => {
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
const moneyDigits = (number: number, hint: NumberHint): Intl.NumberFormatOptions => {
  const size = Math.abs(number);
  if (size >= 1e21 || (size > 0 && size < 1e-6)) return { notation: 'scientific', maximumFractionDigits: 2 };
  const { maximumFractionDigits = 2 } = numberFormat('en', styleOf(hint, {})).resolvedOptions();
  return size > 0 && size < 0.5 * 10 ** -maximumFractionDigits ? { maximumSignificantDigits: 2 } : {};
};

/** Decimal places by magnitude, so that the values of a column line up. Small values keep two significant digits. */
const fractionDigits = (number: number): Intl.NumberFormatOptions => {
  const size = Math.abs(number);
  if (size >= 1e21 || (size > 0 && size < 1e-6)) return { notation: 'scientific', maximumFractionDigits: 2 };
  if (size > 0 && size < 0.1) return { maximumSignificantDigits: 2 };
  if (size >= 1000 || Number.isInteger(number)) return { minimumFractionDigits: 0, maximumFractionDigits: 0 };
  return size >= 1 ? { minimumFractionDigits: 1, maximumFractionDigits: 1 } : { maximumFractionDigits: 2 };
};

const withUnit = (text: string, { unit }: NumberHint): string =>
  unit === undefined || unit === '' || text === '—' ? text : `${text}\u00a0${unit}`;

const day = 86_400_000;
const hour = 3_600_000;
/** Any Monday. */
const monday = Date.UTC(2001, 0, 1);

type Parts = Intl.DateTimeFormatOptions;

const dateFormats = (locale: string, text: Text) => {
  const known = new Map<string, Intl.DateTimeFormat>();
  const write = (time: number, parts: Parts): string => {
    const key = JSON.stringify(parts);
    const format = known.get(key) ?? new Intl.DateTimeFormat(locale, { ...parts, timeZone: 'UTC' });
    known.set(key, format);
    return format.format(time);
  };
  const year: Parts = { year: 'numeric' };
  return {
    /** Null if the value is not one of the grain's. */
    grain: (value: Cell, grain: TimeGrain, dates: ColumnDates = {}): string | null => {
      const number = numberOf(value);
      if (grain === 'dayOfWeek')
        return number !== null && number >= 1 && number <= 7
          ? write(monday + (number - 1) * day, { weekday: 'long' })
          : null;
      if (grain === 'hourOfDay')
        return number !== null && number >= 0 && number < 24 ? write(number * hour, { hour: 'numeric' }) : null;
      const time = timeOf(value);
      if (time === null) return null;
      const precision = precisionOf(grain);
      if (precision !== undefined) return write(time, dateParts(dates, precision));
      const quarter = Math.floor(new Date(time).getUTCMonth() / 3) + 1;
      return text('Q{quarter} {year}', { quarter, year: write(time, year) });
    },
    full: (value: Cell, dates: ColumnDates = {}): string => {
      const time = timeOf(value);
      if (time === null) return String(value);
      const precision = dates.precision ?? (time % day === 0 ? 'day' : 'minute');
      return write(time, dateParts(dates, precision));
    },
    tick: (time: number, dates: ColumnDates = {}): string => {
      if (time % day !== 0) return write(time, { hour: '2-digit', minute: '2-digit' });
      const at = new Date(time);
      const { month, day: dayPart } = dateParts(dates, 'day');
      if (at.getUTCDate() !== 1) return write(time, { month, day: dayPart });
      // The digits of a month alone could be those of a day.
      if (dates.style === 'short') return write(time, dateParts(dates, 'month'));
      return at.getUTCMonth() === 0 ? `${write(time, { month })} ${write(time, year)}` : write(time, { month });
    },
  };
};
