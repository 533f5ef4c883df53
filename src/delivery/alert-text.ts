/** Says what a check of an alert found. Names and values come from guests, hosts and tenants' rows, and are never markup. */
import type { ColumnNumbers } from '../model/datamart/datamart.js';
import { dateParts, precisionOf } from '../model/datamart/dates.js';
import type { Cell } from '../model/query/engine.js';
import { writeExactly } from '../model/query/numbers.js';
import type { AlertCondition, CellDates } from '../model/schedule/alert.js';
import type { Speech } from '../model/texts/messages.js';
import { plainLine } from './plain-line.js';

/** What one check found, as the recipient's own token read it. */
export type AlertText = {
  readonly metricId: string;
  readonly metricName: string;
  readonly measure: string;
  readonly condition: AlertCondition;
  readonly isBreached: boolean;
  /** Whether a breach began or ended with this check. */
  readonly hasChanged: boolean;
  /** Whether what the recipient may see has changed since the last message. */
  readonly isAnew: boolean;
  readonly value: number | null;
  /** The dimensions of the row with the value. */
  readonly at: readonly Cell[];
  /** How dates of the dimensions are written, in their order. Undefined: as usual. */
  readonly dates?: readonly CellDates[] | undefined;
  /** How the values of the measure are written. Undefined: plainly. */
  readonly numbers?: ColumnNumbers | undefined;
  readonly before: number | null;
  /** In percent. */
  readonly change: number | null;
  readonly appeared: readonly (readonly Cell[])[];
};

export type AlertKind = 'breach' | 'recovery' | 'check';

/** What a message is about, in one word. */
export const titles = { breach: 'Alert', recovery: 'Recovered', check: 'Checked' } as const;

export const kindOf = ({ hasChanged, isBreached, appeared }: AlertText): AlertKind => {
  if (appeared.length > 0 || (hasChanged && isBreached)) return 'breach';
  return hasChanged ? 'recovery' : 'check';
};

const mostRows = 20;
const longestCell = 100;

const cut = (text: string): string => {
  const letters = [...text];
  return letters.length <= longestCell ? text : `${letters.slice(0, longestCell - 1).join('')}…`;
};

/** A date as answers write it, with its time if it has one. */
const datePattern = /^(\d{4})-(\d{2})-(\d{2})(?:T(\d{2}):(\d{2}):(\d{2}))?$/;

type Parts = Intl.DateTimeFormatOptions;

/** A period by its name, and any other date as the metric says. Without a style, a day is written as the language does. */
const partsOf = ({ grain, ...dates }: CellDates, isDay: boolean): Parts => {
  const precision = grain === undefined ? dates.precision : precisionOf(grain);
  if (dates.style === undefined && (precision === undefined || precision === 'day' || precision === 'minute')) {
    const hasTime = precision === undefined ? !isDay : precision === 'minute';
    return hasTime ? { dateStyle: 'medium', timeStyle: 'short' } : { dateStyle: 'medium' };
  }
  return dateParts(dates, precision ?? (isDay ? 'day' : 'minute'));
};

/** In the reader's language; undefined for a text that is no date. Times are shown as the answer has them. */
const dateText = (text: string, { locale, text: say }: Speech, dates: CellDates): string | undefined => {
  const [, year, month, day, hour = '00', minute = '00', second = '00'] = datePattern.exec(text) ?? [];
  if (year === undefined) return undefined;
  const moment = new Date(0);
  moment.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  moment.setUTCHours(Number(hour), Number(minute), Number(second));
  const write = (parts: Parts): string => new Intl.DateTimeFormat(locale, { ...parts, timeZone: 'UTC' }).format(moment);
  if (dates.grain !== 'quarter') return write(partsOf(dates, hour === '00' && minute === '00'));
  const quarter = Math.ceil(Number(month) / 3);
  return say('Q{quarter} {year}', { quarter, year: write({ year: 'numeric' }) });
};

const numberText = (value: number, { locale }: Speech, numbers: ColumnNumbers = {}): string =>
  writeExactly(locale, value, numbers);

const cellText = (cell: Cell, speech: Speech, dates: CellDates = {}): string => {
  if (typeof cell === 'number') return numberText(cell, speech);
  const line = cell === null ? '' : plainLine(String(cell));
  return cut(dateText(line, speech, dates) ?? line) || speech.text('(empty)');
};
/** The dimensions of a row as one text. */
const rowText = (cells: readonly Cell[], { dates }: AlertText, speech: Speech): string =>
  new Intl.ListFormat(speech.locale, { type: 'unit', style: 'short' }).format(
    cells.map((cell, at) => cellText(cell, speech, dates?.[at])),
  );

/** Rounded to what a reader can use; the values beside it are exact. */
const percentText = (value: number, { locale }: Speech): string =>
  new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 2 }).format(value / 100);

const limitText = ({ condition, isBreached, numbers }: AlertText, speech: Speech): string => {
  const { text } = speech;
  switch (condition.is) {
    case 'above': {
      const limit = numberText(condition.value, speech, numbers);
      return isBreached
        ? text('The value is above {limit}.', { limit })
        : text('The value is not above {limit}.', { limit });
    }
    case 'below': {
      const limit = numberText(condition.value, speech, numbers);
      return isBreached
        ? text('The value is below {limit}.', { limit })
        : text('The value is not below {limit}.', { limit });
    }
    case 'changeAbove': {
      const limit = percentText(condition.percent, speech);
      return isBreached
        ? text('The change is above {limit}.', { limit })
        : text('The change is not above {limit}.', { limit });
    }
    case 'changeBelow': {
      const limit = percentText(condition.percent, speech);
      return isBreached
        ? text('The change is below {limit}.', { limit })
        : text('The change is not below {limit}.', { limit });
    }
    case 'missing':
      return text(isBreached ? 'The data is missing.' : 'The data is there.');
    case 'newKey':
      return text('A row that appears is told once.');
  }
};

/** The value that was looked at; null: there was none, or the alert is about rows. */
export const writtenValue = ({ value, numbers }: AlertText, speech: Speech): string | null =>
  value === null ? null : numberText(value, speech, numbers);

const changeText = (
  { before: earlier, value, change: percent, numbers }: AlertText,
  speech: Speech,
): readonly string[] => {
  if (earlier === null || value === null) return [];
  const before = numberText(earlier, speech, numbers);
  if (percent === null) return [speech.text('Before: {before}.', { before })];
  const change = percentText(percent, speech);
  return [speech.text('Before: {before}. The change is {change}.', { before, change })];
};

/** Marks names and values, so that nothing in them is read as markup. */
type Quote = (text: string) => string;

const appearedText = (alert: AlertText, speech: Speech, quote: Quote): string => {
  const { appeared, metricName } = alert;
  const { text } = speech;
  const name = quote(plainLine(metricName));
  if (appeared.length === 0) return text('{name}: no new rows.', { name });
  const told = appeared.slice(0, mostRows);
  const rows = told.map((cells) => quote(rowText(cells, alert, speech))).join('; ');
  const n = appeared.length - told.length;
  return n === 0
    ? text('{name}: new: {rows}.', { name, rows })
    : text('{name}: new: {rows} and {n} more.', { name, rows, n });
};

const valueText = (alert: AlertText, speech: Speech, quote: Quote): string => {
  const { text } = speech;
  const name = quote(plainLine(alert.metricName));
  const measure = quote(plainLine(alert.measure));
  const row = quote(rowText(alert.at, alert, speech));
  const isWhole = alert.at.length === 0;
  if (alert.value === null) {
    return isWhole
      ? text('{name}: {measure} has no value.', { name, measure })
      : text('{name}: {measure} has no value ({row}).', { name, measure, row });
  }
  const value = numberText(alert.value, speech, alert.numbers);
  return isWhole
    ? text('{name}: {measure} is {value}.', { name, measure, value })
    : text('{name}: {measure} is {value} ({row}).', { name, measure, value, row });
};

/** The sentences of a message, in the reader's language. */
export const sentencesOf = (alert: AlertText, speech: Speech, quote: Quote): readonly string[] => {
  const { condition, isAnew } = alert;
  const anew = 'What you may see has changed since the last message, so this alert began anew.';
  return [
    condition.is === 'newKey' ? appearedText(alert, speech, quote) : valueText(alert, speech, quote),
    ...(condition.is === 'changeAbove' || condition.is === 'changeBelow' ? changeText(alert, speech) : []),
    limitText(alert, speech),
    ...(isAnew ? [speech.text(anew)] : []),
  ];
};
