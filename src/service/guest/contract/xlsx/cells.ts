/** Cells of a worksheet (ECMA-376) as XML. Text is always text: no cell is a formula, whatever it starts with. */
import type { TimeGrain } from '../../../../model/dashboard/metric.js';
import { type ColumnDates, precisionOf } from '../../../../model/datamart/dates.js';
import { escapeMarkup } from '../../../../model/markup.js';
import type { AnswerColumn, Cell } from '../../../../model/query/engine.js';
import { dateFormatCount, dateFormatOf } from './date-formats.js';

/** A spreadsheet takes a cell that starts with one of these characters for a formula. */
export const formula = /^[=+\-@\t\r]/;

/** Positions in the list of cell formats in parts.ts. From `dates` on: those of date-formats.ts, then of number-formats.ts. */
export const formats = {
  general: 0,
  day: 1,
  time: 2,
  month: 3,
  year: 4,
  literal: 5,
  bold: 6,
  minute: 7,
  dates: 8,
  numbers: 8 + dateFormatCount,
} as const;

/** The greatest number of characters that a spreadsheet reads from a cell. */
const longestText = 32_767;

/** XML cannot hold most control characters. The format writes them as `_xHHHH_`, and escapes text of that form. */
const controls = /(?![\t\n])[\p{Cc}\ufffe\uffff]/gu;
const unpaired = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

const codeOf = (character: string): string =>
  `_x${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}_`;

export const escapeXml = (text: string): string =>
  escapeMarkup(
    text
      .replaceAll(/_(?=x[0-9a-fA-F]{4}_)/g, '_x005F_')
      .replaceAll(unpaired, '\ufffd')
      .replaceAll(controls, codeOf),
  );

/** The name of a column: A for 0, AA for 26. */
export const columnName = (index: number): string => {
  const letter = String.fromCharCode(65 + (index % 26));
  return index < 26 ? letter : columnName(Math.floor(index / 26) - 1) + letter;
};

export const textCell = (at: string, text: string, format: number = formats.general): string => {
  const shown = text.length > longestText ? `${text.slice(0, longestText - 1)}…` : text;
  // With this format the text stays text, also after somebody edits the cell.
  const style = formula.test(shown) ? formats.literal : format;
  return `<c r="${at}" t="inlineStr"${style === 0 ? '' : ` s="${style}"`}><is><t xml:space="preserve">${escapeXml(shown)}</t></is></c>`;
};

export const numberCell = (at: string, value: number | string, format: number = formats.general): string =>
  `<c r="${at}"${format === 0 ? '' : ` s="${format}"`}><v>${value}</v></c>`;

const dayMs = 86_400_000;
/** Day 25,569 is 1970-01-01. Before day 61, spreadsheets disagree on the calendar. */
const epochDay = 25_569;
const firstSafeDay = 61;

const dates = /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2}):(\d{2}(?:\.\d+)?))?$/;

/** The date as a spreadsheet counts it: days, with the time as a fraction. Undefined if it cannot. */
export const serialOf = (text: string): number | undefined => {
  const [, year, month, day, hours = '0', minutes = '0', seconds = '0'] = dates.exec(text) ?? [];
  if (year === undefined) return undefined;
  const midnight = Date.UTC(Number(year), Number(month) - 1, Number(day)) / dayMs + epochDay;
  const fraction = (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)) / 86_400;
  return midnight < firstSafeDay ? undefined : midnight + fraction;
};

const grainFormats: Readonly<Partial<Record<TimeGrain, number>>> = {
  minute: formats.minute,
  hour: formats.minute,
  month: formats.month,
  year: formats.year,
};

const dateFormat = ({ grain, dates }: Omit<TypedColumn, 'dataType'>, hasTime: boolean): number => {
  const precision = grain === undefined ? dates?.precision : precisionOf(grain);
  // A quarter is not written as a date, and has the format of a day.
  if (dates !== undefined && grain !== 'quarter')
    return formats.dates + dateFormatOf({ style: dates.style, precision }, hasTime);
  return (grain === undefined ? undefined : grainFormats[grain]) ?? (hasTime ? formats.time : formats.day);
};

const dateCell = (at: string, text: string, column: Omit<TypedColumn, 'dataType'>): string => {
  const serial = serialOf(text);
  if (serial === undefined) return textCell(at, text);
  return numberCell(at, serial, dateFormat(column, !Number.isInteger(serial)));
};

/** A spreadsheet keeps 15 digits. */
const exactDigits = 15;

/** Whether a spreadsheet keeps every digit of the number. One that it would round is written as text. */
const isExactText = (text: string): boolean => {
  if (!/^-?\d+(\.\d+)?$/.test(text)) return false;
  const digits = text.replace(/^-?0*\.?0*/, '').replace('.', '');
  return digits.replace(/0+$/, '').length <= exactDigits;
};

export type TypedColumn = Pick<AnswerColumn, 'dataType'> & {
  readonly grain?: TimeGrain | undefined;
  readonly dates?: ColumnDates | undefined;
  /** Returns the place of a number's format among those of number-formats.ts. Left out: numbers have none. */
  readonly numberFormat?: ((value: number) => number | undefined) | undefined;
};

/** Writes a cell with its type. NULL is no cell. */
export const typedCell = (at: string, cell: Cell | undefined, { dataType, ...written }: TypedColumn): string => {
  if (cell === null || cell === undefined) return '';
  if (typeof cell === 'boolean') return `<c r="${at}" t="b"><v>${cell ? 1 : 0}</v></c>`;
  if (dataType === 'date' && typeof cell === 'string') return dateCell(at, cell, written);
  const isNumber = typeof cell === 'number' ? Number.isFinite(cell) : dataType === 'number' && isExactText(cell);
  if (!isNumber) return textCell(at, String(cell));
  const format = written.numberFormat?.(Number(cell));
  return numberCell(at, cell, format === undefined ? formats.general : formats.numbers + format);
};
