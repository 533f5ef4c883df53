/** How dates of a column are written, as two choices. Pure functions. */
import {
  type ColumnDates,
  type DatePrecision,
  type DateStyle,
  datePrecisions,
  dateStyles,
} from '../../../model/datamart/dates.js';
import { createFormat } from '../../base/format.js';
import type { Choice } from '../../base/options.js';
import { sampleDate } from '../../editor/dated.js';

/** Each style by an example in the language. */
export const styleChoices = (language: string, precision: DatePrecision | undefined): readonly Choice[] => {
  const format = createFormat(language);
  const write = (style?: DateStyle): string =>
    format.dimension(sampleDate, 'date', undefined, { style, precision: precision ?? 'day' });
  return [
    ['', `Usual: ${write()}`],
    ...dateStyles.map(
      (style) => [style, `${style.charAt(0).toUpperCase()}${style.slice(1)}: ${write(style)}`] as const,
    ),
  ];
};

const precisionText: Readonly<Record<DatePrecision, string>> = {
  year: 'Year only',
  month: 'Month and year',
  day: 'Day, no time',
  minute: 'Time to the minute',
  second: 'Time to the second',
};

export const precisionChoices: readonly Choice[] = [
  ['', 'Time if it has one'],
  ...datePrecisions.map((value) => [value, precisionText[value]] as const),
];

/** Null: as usual, which is what a column has at first. */
const orNull = (dates: ColumnDates): ColumnDates | null => {
  const parts = Object.entries(dates).filter(([, value]) => value !== undefined);
  return parts.length === 0 ? null : Object.fromEntries(parts);
};

/** An empty text is the usual style. */
export const withDateStyle = (dates: ColumnDates | null | undefined, text: string): ColumnDates | null =>
  orNull({ ...dates, style: dateStyles.find((one) => one === text) });

/** An empty text is the precision of the value. */
export const withDatePrecision = (dates: ColumnDates | null | undefined, text: string): ColumnDates | null =>
  orNull({ ...dates, precision: datePrecisions.find((one) => one === text) });
