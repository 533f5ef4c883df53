/** Writes numbers, dates and names in one language. Dates come without a time zone, so none is applied. */
import type { GuestChart } from '../../domain/guest/view.js';
import type { AnswerColumn, Cell } from '../../domain/query/engine.js';

export type NumberHint = { readonly format?: 'number' | 'percent' | undefined; readonly unit?: string | undefined };

export type Format = {
  /** A measure's value with its unit; an em dash for null. */
  readonly measure: (value: Cell, hint: NumberHint) => string;
  /** A measure's value on an axis: compact, without unit. */
  readonly tick: (value: number, hint: NumberHint) => string;
  /** A dimension's value. Numbers below 10,000 (years) get no thousands separator. */
  readonly dimension: (value: Cell, dataType: AnswerColumn['dataType']) => string;
  /** A label of the time axis: month and year in January, the month on its first day, otherwise the day or the time. */
  readonly timeTick: (time: number) => string;
  readonly count: (value: number) => string;
};

/**
 * Removes the chart's unit if the chart has several measures. A unit belongs to the chart, not to a measure, so it would be
 * wrong for some of them ("2,600 min" for a count of flights). `format` stays: it only says how numbers are written.
 */
export const withClaimedUnit = (chart: GuestChart): GuestChart =>
  chart.measures.length > 1 ? { ...chart, unit: undefined } : chart;

/** A formatter for a language. An unknown language falls back to English; never throws. */
export const createFormat = (language: string): Format => {
  const locale = knownLocale(language);
  const dimensionNumber = new Intl.NumberFormat(locale, { maximumFractionDigits: 2, useGrouping: 'min2' });
  const dates = dateFormats(locale);
  const integer = new Intl.NumberFormat(locale);
  const compact = new Intl.NumberFormat(locale, { notation: 'compact', maximumFractionDigits: 1 });
  const percentTick = new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 1 });
  return {
    measure: (value, hint) => withUnit(measureText(locale, value, hint), hint),
    tick: (value, hint) => (hint.format === 'percent' ? percentTick : compact).format(value),
    dimension: (value, dataType) => {
      if (value === null || value === '') return '(none)';
      if (dataType === 'date') return dates.full(value);
      if (dataType === 'number')
        return numberOf(value) === null ? String(value) : dimensionNumber.format(Number(value));
      return typeof value === 'boolean' ? yesOrNo(value) : String(value);
    },
    timeTick: dates.tick,
    count: (value) => integer.format(value),
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

export const yesOrNo = (value: boolean): string => (value ? 'Yes' : 'No');

const knownLocale = (language: string): string => {
  try {
    return Intl.NumberFormat.supportedLocalesOf(language)[0] ?? 'en';
  } catch (error) {
    if (error instanceof RangeError) return 'en';
    throw error;
  }
};

const measureText = (locale: string, value: Cell, { format }: NumberHint): string => {
  if (value === null) return '—';
  const number = numberOf(value);
  if (number === null) return typeof value === 'boolean' ? yesOrNo(value) : String(value);
  if (format === 'percent') {
    return new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 1 }).format(number);
  }
  if (typeof value === 'string' && /^-?\d+$/.test(value)) return new Intl.NumberFormat(locale).format(BigInt(value));
  return new Intl.NumberFormat(locale, fractionDigits(number)).format(number);
};

/** Decimal places by magnitude, so that the values of a column line up. */
const fractionDigits = (number: number): Intl.NumberFormatOptions => {
  const size = Math.abs(number);
  if (size >= 1000 || Number.isInteger(number)) return { maximumFractionDigits: 0 };
  return size >= 1 ? { minimumFractionDigits: 1, maximumFractionDigits: 1 } : { maximumFractionDigits: 2 };
};

const withUnit = (text: string, { unit }: NumberHint): string =>
  unit === undefined || unit === '' || text === '—' ? text : `${text}\u00a0${unit}`;

const day = 86_400_000;

const dateFormats = (locale: string) => {
  const make = (options: Intl.DateTimeFormatOptions) => {
    const format = new Intl.DateTimeFormat(locale, { ...options, timeZone: 'UTC' });
    return (time: number) => format.format(time);
  };
  const date = make({ day: 'numeric', month: 'short', year: 'numeric' });
  const dateTime = make({ day: 'numeric', month: 'short', year: 'numeric', hour: '2-digit', minute: '2-digit' });
  const year = make({ year: 'numeric' });
  const month = make({ month: 'short' });
  const dayOfMonth = make({ day: 'numeric', month: 'short' });
  const clock = make({ hour: '2-digit', minute: '2-digit' });
  return {
    full: (value: Cell): string => {
      const time = timeOf(value);
      if (time === null) return String(value);
      return time % day === 0 ? date(time) : dateTime(time);
    },
    tick: (time: number): string => {
      if (time % day !== 0) return clock(time);
      const at = new Date(time);
      if (at.getUTCDate() !== 1) return dayOfMonth(time);
      return at.getUTCMonth() === 0 ? `${month(time)} ${year(time)}` : month(time);
    },
  };
};
