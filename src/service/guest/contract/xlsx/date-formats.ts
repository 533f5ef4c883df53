/** Formats of dates for cells: the styles and precisions of a model's column, in the order of a language. Pure. */
import {
  type ColumnDates,
  type DatePrecision,
  type DateStyle,
  dateParts,
  datePrecisions,
  dateStyles,
  styleOf,
} from '../../../../model/datamart/dates.js';

const dateFormatIndex = (style: DateStyle, precision: DatePrecision): number =>
  dateStyles.indexOf(style) * datePrecisions.length + datePrecisions.indexOf(precision);

/** The place of a format among all of them. `hasTime`: of the value, which says the precision if the column does not. */
export const dateFormatOf = (dates: ColumnDates, hasTime: boolean): number => {
  const precision = dates.precision ?? (hasTime ? 'minute' : 'day');
  return dateFormatIndex(styleOf(dates, precision), precision);
};

/** A day, hour and month of one digit, so that a part with two was asked for. */
const sample = new Date(Date.UTC(2001, 1, 3, 4, 5, 6));

/** How many formats there are. */
export const dateFormatCount = dateStyles.length * datePrecisions.length;

/** Each character as itself. Marks of direction and narrow spaces are no part of a format. */
export const literal = (text: string): string =>
  [...text.replaceAll(/[\u200e\u200f\u061c]/g, '').replaceAll(/[\u00a0\u202f]/g, ' ')]
    .map((character) => `\\${character}`)
    .join('');

const letters: Readonly<Partial<Record<Intl.DateTimeFormatPartTypes, string>>> = {
  month: 'm',
  day: 'd',
  hour: 'h',
  minute: 'm',
  second: 's',
};

/** The code of a part. `isLong`: a month by its whole name. */
const codeOf = ({ type, value }: Intl.DateTimeFormatPart, isLong: boolean): string => {
  if (type === 'weekday') return 'dddd';
  if (type === 'dayPeriod') return 'AM/PM';
  const digits = /\d+/.exec(value)?.[0];
  if (type === 'literal' || (digits === undefined && type !== 'month')) return literal(value);
  if (digits === undefined) return isLong ? 'mmmm' : 'mmm';
  const code = type === 'year' ? 'yyyy' : (letters[type] ?? '').repeat(Math.min(2, digits.length));
  // Some languages write a word with the number: 2月.
  const [before = '', after = ''] = value.split(digits);
  return literal(before) + code + literal(after);
};

/**
 * The languages of the elements by the number that a format has for them (MS-LCID). Without one, names of months and days
 * are in the language of the spreadsheet program. Arabic has none: its numbers choose a calendar too.
 */
const languageIds: Readonly<Record<string, string>> = {
  ...{ de: '407', en: '409', es: 'C0A', fr: '40C', it: '410', ja: '411', nl: '413', pl: '415', pt: '816', tr: '41F' },
  ...{ zh: '804', 'en-GB': '809', 'pt-BR': '416' },
};

const languageMark = (language: string): string => {
  const id = languageIds[language] ?? languageIds[language.split('-')[0] ?? ''];
  return id === undefined ? '' : `[$-${id}]`;
};

/**
 * The format codes of all styles and precisions, in the order of `dateFormatIndex`. Every calendar but the Gregorian one
 * would need another number of the year.
 */
export const dateFormatCodes = (language: string): readonly string[] =>
  dateStyles.flatMap((style) =>
    datePrecisions.map((precision) => {
      const settings = { timeZone: 'UTC', calendar: 'gregory', numberingSystem: 'latn' } as const;
      const format = new Intl.DateTimeFormat(language, { ...dateParts({ style }, precision), ...settings });
      const codes = format.formatToParts(sample).map((part) => codeOf(part, style === 'long' || style === 'full'));
      // Only names need a language.
      const mark = codes.some((code) => code.length > 2 && /^[md]+$/.test(code)) ? languageMark(language) : '';
      return mark + codes.join('');
    }),
  );
