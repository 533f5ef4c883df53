/**
 * How dates are written: a closed set of styles and precisions. The order of the parts and the names of months are those
 * of the reader's language, so no pattern is stored. Pure.
 */

/** `short`: digits only. `medium`: a short name of the month. `long`: its whole name. `full`: the day of the week too. */
export const dateStyles = ['short', 'medium', 'long', 'full'] as const;
export type DateStyle = (typeof dateStyles)[number];

/** The smallest part that is written. */
export const datePrecisions = ['year', 'month', 'day', 'minute', 'second'] as const;
export type DatePrecision = (typeof datePrecisions)[number];

/** Periods by which dates are grouped and that follow each other without a gap. Weeks start on Monday. */
export const dateGrains = ['minute', 'hour', 'day', 'week', 'month', 'quarter', 'year'] as const;
export type DateGrain = (typeof dateGrains)[number];

/**
 * A missing style is the usual one. A missing precision is that of the value: the day, and the time if it has one.
 * Dates that are grouped into periods are always written as their period; only the style holds for them.
 */
export type ColumnDates = {
  readonly style?: DateStyle | undefined;
  readonly precision?: DatePrecision | undefined;
};

/** What is written of a period. A quarter is named, and what recurs has no date. */
const ofPeriod: Readonly<Partial<Record<string, DatePrecision>>> = {
  minute: 'minute',
  hour: 'minute',
  day: 'day',
  week: 'day',
  month: 'month',
  year: 'year',
};

/** The precision of a period of this grain; undefined if a period of it is not written as a date. */
export const precisionOf = (grain: string): DatePrecision | undefined => ofPeriod[grain];

/** The style of dates of which none is said: a month alone by its whole name, and a day with the short one. */
export const styleOf = ({ style }: ColumnDates, precision: DatePrecision): DateStyle =>
  style ?? (precision === 'month' ? 'long' : 'medium');

const months = { short: '2-digit', medium: 'short', long: 'long', full: 'long' } as const;

/** The parts of a date as `Intl.DateTimeFormat` takes them. */
export const dateParts = (dates: ColumnDates, precision: DatePrecision): Intl.DateTimeFormatOptions => {
  const style = styleOf(dates, precision);
  const month = { year: 'numeric', month: months[style] } as const;
  const weekday = style === 'full' ? ({ weekday: 'long' } as const) : {};
  const day = { ...month, day: style === 'short' ? '2-digit' : 'numeric', ...weekday } as const;
  const minute = { ...day, hour: '2-digit', minute: '2-digit' } as const;
  const parts = { year: { year: 'numeric' }, month, day, minute, second: { ...minute, second: '2-digit' } } as const;
  return parts[precision];
};
