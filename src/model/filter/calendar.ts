/**
 * Calendar days of the proleptic Gregorian calendar, written as in ISO 8601. Years 0000 to 9999 have four digits; other
 * years have a sign and at least six digits (`-000043` is 44 BC). JavaScript's Date has a smaller range than the dates
 * of PostgreSQL and DuckDB.
 */

/** A calendar day as the number of days since 1970-01-01. */
export type Day = number;

export type DayParts = { readonly year: number; readonly month: number; readonly date: number };

/** Days in 400 years, after which the calendar repeats. */
const daysOfEra = 146_097;

/** Returns the day. `month` starts at 1 and may be outside of 1 to 12. */
export const dayOf = (year: number, month: number, date: number): Day => {
  const shifted = year + Math.floor((month - 1) / 12);
  const era = Math.floor(shifted / 400);
  const at = new Date(0);
  at.setUTCFullYear(2000 + shifted - era * 400, (((month - 1) % 12) + 12) % 12, 1);
  return at.getTime() / 86_400_000 + (era - 5) * daysOfEra + date - 1;
};

export const partsOf = (day: Day): DayParts => {
  const era = Math.floor(day / daysOfEra);
  const at = new Date((day - era * daysOfEra) * 86_400_000);
  return { year: at.getUTCFullYear() + era * 400, month: at.getUTCMonth() + 1, date: at.getUTCDate() };
};

/** Returns the year as ISO 8601 writes it: four digits, or a sign and at least six digits. */
export const writeYear = (year: number): string =>
  year >= 0 && year <= 9999
    ? String(year).padStart(4, '0')
    : `${year < 0 ? '-' : '+'}${String(Math.abs(year)).padStart(6, '0')}`;

export const writeDay = (day: Day): string => {
  const { year, month, date } = partsOf(day);
  return [writeYear(year), String(month).padStart(2, '0'), String(date).padStart(2, '0')].join('-');
};

const dayPattern = /^([0-9]{4}|[+-][0-9]{6,7})-([0-9]{1,2})-([0-9]{1,2})$/;

/**
 * Returns the day, or undefined if the text is not a date. `2024-3-23` is accepted. `-000000-01-01` is not, since that
 * year is written 0000.
 */
export const parseDay = (text: string): Day | undefined => {
  const match = dayPattern.exec(text);
  if (match === null) return undefined;
  const [year, month, date] = match.slice(1).map(Number) as [number, number, number];
  const day = dayOf(year, month, date);
  const back = partsOf(day);
  const isReal = back.year === year && back.month === month && back.date === date;
  return isReal && /^[0-9]/.test(text) === (year >= 0 && year <= 9999) && !Object.is(year, -0) ? day : undefined;
};
