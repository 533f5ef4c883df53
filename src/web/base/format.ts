/** Writes numbers, dates and names in one language. Dates come without a time zone, so none is applied. */
import type { TimeGrain } from '../../model/dashboard/metric.js';
import { type ColumnDates, dateParts, precisionOf } from '../../model/datamart/dates.js';
import type { AnswerColumn, Cell } from '../../model/query/engine.js';
import {
  codeOf,
  knownLocale,
  type NumberFormats,
  numberFormat,
  numberOf,
  numbersInRow,
  numbersOf,
  styleOf,
  type WrittenNumbers,
  withClaimedUnit,
  withPlaces,
  writeNumber,
} from '../../model/query/numbers.js';
import type { Text, Texts } from '../../model/texts/text.js';
import { isOthers } from './others.js';
import { elementText } from './texts.js';

export type NumberHint = WrittenNumbers;
export { codeOf, type NumberFormats, numberOf, numbersInRow, numbersOf, withClaimedUnit, withPlaces };

/** A moment of an axis, and which of its parts are written. */
export type DateTick = {
  readonly time: number;
  readonly parts: 'year' | 'quarter' | 'month' | 'month-year' | 'day' | 'day-year' | 'time';
};

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
  /** A label of an axis of dates, with the parts that are asked for. */
  readonly timeTick: (tick: DateTick, dates?: ColumnDates) => string;
  readonly count: (value: number) => string;
  /** A moment by the reader's own clock; without its day if that is today. */
  readonly moment: (at: Date, now: Date) => string;
  /** BCP 47 tag of the language. */
  readonly language: string;
  readonly yesOrNo: (value: boolean) => string;
};

/**
 * A formatter for a language, with its `texts`. An unknown language falls back to English, and so do texts that are not
 * given; never throws.
 */
export const createFormat = (language: string, texts?: Texts): Format => {
  const locale = knownLocale(language);
  const text = elementText(locale, texts);
  const yesOrNo = (value: boolean) => (value ? text('Yes') : text('No'));
  const names = namesOf(text);
  const dates = dateFormats(locale, text);
  const integer = new Intl.NumberFormat(locale);
  return {
    text,
    yesOrNo,
    measure: (value, hint) => (typeof value === 'boolean' ? yesOrNo(value) : writeNumber(locale, value, hint)),
    tick: (value, hint) => tickText(locale, value, hint),
    brief: (value, hint) => briefText(locale, value, hint),
    dimension: (value, dataType, grain, written) => {
      if (isOthers(value)) return text('Other');
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
  const quarterOf = (time: number): string => {
    const quarter = Math.floor(new Date(time).getUTCMonth() / 3) + 1;
    return text('Q{quarter} {year}', { quarter, year: write(time, year) });
  };
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
      return quarterOf(time);
    },
    full: (value: Cell, dates: ColumnDates = {}): string => {
      const time = timeOf(value);
      if (time === null) return String(value);
      const precision = dates.precision ?? (time % day === 0 ? 'day' : 'minute');
      return write(time, dateParts(dates, precision));
    },
    tick: ({ time, parts }: DateTick, dates: ColumnDates = {}): string => {
      if (parts === 'time') return write(time, { hour: '2-digit', minute: '2-digit' });
      if (parts === 'year') return write(time, year);
      if (parts === 'quarter') return quarterOf(time);
      const { month, day: dayPart } = dateParts(dates, 'day');
      if (parts === 'day') return write(time, { month, day: dayPart });
      if (parts === 'day-year') return write(time, { month, day: dayPart, ...year });
      // The digits of a month alone could be those of a day.
      if (dates.style === 'short') return write(time, dateParts(dates, 'month'));
      return write(time, parts === 'month' ? { month } : { month, ...year });
    },
  };
};
