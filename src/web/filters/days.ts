/** Days of the calendar as texts such as `2001-03-30`, without a time zone; and days as a reader types them. Pure. */

const dayMs = 86_400_000;

const timeOf = (day: string): number => Date.parse(`${day}T00:00:00Z`);
const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10);

const isDay = (text: string): boolean => {
  if (!/^\d{4}-\d\d-\d\d$/.test(text)) return false;
  const time = timeOf(text);
  return !Number.isNaN(time) && dayOf(time) === text;
};

export const addDays = (day: string, count: number): string => dayOf(timeOf(day) + count * dayMs);

/** The same day of another month, or that month's last. */
export const addMonths = (day: string, count: number): string => {
  const at = new Date(timeOf(day));
  const [year, month] = [at.getUTCFullYear(), at.getUTCMonth() + count];
  const last = new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
  return dayOf(Date.UTC(year, month, Math.min(last, at.getUTCDate())));
};

export const monthOf = (day: string): string => `${day.slice(0, 7)}-01`;

/** The reader's own day. */
export const dayIn = (at: Date): string => {
  const two = (part: number): string => String(part).padStart(2, '0');
  return `${String(at.getFullYear()).padStart(4, '0')}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
};

type WeekInfo = { readonly firstDay: number };
type LocaleWithWeeks = Intl.Locale & { readonly weekInfo?: WeekInfo; readonly getWeekInfo?: () => WeekInfo };

/** 1 is Monday, 7 is Sunday. Monday where the browser does not know. */
export const firstWeekday = (language: string): number => {
  const locale: LocaleWithWeeks = new Intl.Locale(language);
  return (locale.getWeekInfo?.() ?? locale.weekInfo)?.firstDay ?? 1;
};

/** 1 is Monday. */
const weekdayOf = (day: string): number => new Date(timeOf(day)).getUTCDay() || 7;

/** How many days the day is after the first of its week. */
export const placeInWeek = (day: string, first: number): number => (weekdayOf(day) - first + 7) % 7;

/** The weeks that have days of this month. Undefined: a day of another month. */
export const weeksOf = (month: string, first: number): readonly (readonly (string | undefined)[])[] => {
  const start = monthOf(month);
  const next = addMonths(start, 1);
  const weeks: (string | undefined)[][] = [];
  for (let week = addDays(start, -placeInWeek(start, first)); week < next; week = addDays(week, 7)) {
    const days = Array.from({ length: 7 }, (_, at) => addDays(week, at));
    weeks.push(days.map((day) => (day >= start && day < next ? day : undefined)));
  }
  return weeks;
};

type Field = 'day' | 'month' | 'year';
const isField = (type: string): type is Field => type === 'day' || type === 'month' || type === 'year';

const formatOf = (language: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat =>
  new Intl.DateTimeFormat(language, { ...options, calendar: 'gregory', timeZone: 'UTC' });

/** In digits only, as readers of this language write a day. */
export const typedDay = (day: string, language: string): string =>
  formatOf(language, { year: 'numeric', month: '2-digit', day: '2-digit' }).format(timeOf(day));

/** Digits of the language as those of numbers here. */
const withLatinDigits = (text: string, language: string): string => {
  const digits = [...new Intl.NumberFormat(language, { useGrouping: false }).format(9_876_543_210)].reverse();
  return [...text].map((letter) => (digits.includes(letter) ? String(digits.indexOf(letter)) : letter)).join('');
};

const plain = (text: string): string =>
  text
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/[.\u200e\u200f]/g, '')
    .trim();

type MonthNames = readonly (readonly string[])[];

const readMonthNames = (language: string): MonthNames => {
  const formats = (['long', 'short'] as const).flatMap((month) => [
    formatOf(language, { month }),
    formatOf(language, { month, day: 'numeric' }),
  ]);
  const namesIn = (month: number): readonly string[] =>
    formats.flatMap((format) =>
      format
        .formatToParts(Date.UTC(2001, month, 1))
        .flatMap(({ type, value }) => (type === 'month' ? [plain(value)] : [])),
    );
  return Array.from({ length: 12 }, (_, month) => namesIn(month));
};

const knownNames = new Map<string, MonthNames>();

/** The number of the month that a word names or begins; undefined if it is not one. */
const monthNamed = (word: string, language: string): number | undefined => {
  const names = knownNames.get(language) ?? readMonthNames(language);
  knownNames.set(language, names);
  const exact = names.findIndex((all) => all.includes(word));
  if (exact >= 0) return exact + 1;
  const begun = names.flatMap((all, month) => (all.some((name) => name.startsWith(word)) ? [month + 1] : []));
  return word.length >= 3 && begun.length === 1 ? begun[0] : undefined;
};

/** Years of two digits are those nearest to this one. */
const wholeYear = (text: string, today: string): number => {
  if (text.length > 2) return Number(text);
  const century = Math.floor(Number(today.slice(0, 4)) / 100) * 100;
  const year = century + Number(text);
  return year > Number(today.slice(0, 4)) + 20 ? year - 100 : year;
};

/**
 * The day that a reader typed: in digits in the order of the language, with the name of a month, or as `2001-03-30`.
 * Without a year, this year. Undefined if the text is no day.
 */
export const readDay = (typed: string, language: string, today: string): string | undefined => {
  const text = plain(withLatinDigits(typed.replaceAll('.', ' '), language));
  if (isDay(text)) return text;
  const words = text.split(/[^\p{L}\p{M}\p{N}]+/u).flatMap((word) => word.match(/\d+|[^\d]+/g) ?? []);
  const numbers = words.filter((word) => /^\d+$/.test(word));
  const named = words.filter((word) => !/^\d+$/.test(word)).map((word) => monthNamed(word, language));
  const month = named.find((each) => each !== undefined);
  const order = formatOf(language, { year: 'numeric', month: '2-digit', day: '2-digit' })
    .formatToParts(0)
    .flatMap(({ type }) => (isField(type) ? [type] : []))
    .filter((field) => field !== 'month' || month === undefined);
  const fields = numbers.length < order.length ? order.filter((field) => field !== 'year') : order;
  if (numbers.length !== fields.length) return undefined;
  const yearFirst = numbers.findIndex((number) => number.length > 2);
  const placed =
    yearFirst === 0 && fields[0] !== 'year' ? ['year', ...fields.filter((field) => field !== 'year')] : fields;
  const numberOf = (field: Field): string | undefined => numbers[placed.indexOf(field)];
  const year = wholeYear(numberOf('year') ?? today.slice(0, 4), today);
  const parts = [String(year).padStart(4, '0'), String(month ?? numberOf('month') ?? ''), numberOf('day') ?? ''];
  const day = parts.map((part) => part.padStart(2, '0')).join('-');
  return isDay(day) ? day : undefined;
};
