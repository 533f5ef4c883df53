/**
 * Encodes a dashboard's filters in the query of the page's URL. Each filter is a parameter with the filter's exact name:
 *
 * - text: `State=CA`, several as `State=CA&State=NV`
 * - number: `Distance=500` for exactly 500, `Distance=100..500`, `Distance=100..`, `Distance=..500`
 * - date: `Date=2001-03-01`, `Date=2001-03-01..2001-03-31`, with an open end as for numbers, or a period: `Date=Last+30+Days`
 * - boolean: `Late=true`, `Late=false`
 *
 * The parameter `guestlist-fixed=State` marks a value that the token enforces: the filter is locked. Such a value is shown in
 * the URL but not read back, so that a bookmark or another guest's link never turns an old restriction into a choice. All other parameters belong
 * to the page and keep their value and position.
 */
import type { FilterValue } from '../../model/filter/filter.js';
import { readRelative } from '../../model/filter/relative.js';
import type { GuestFilter } from '../../model/guest/view.js';
import type { FilterValues } from '../base/client.js';
import { datesIn, earliest, latest, numberIn, rangeIn, stringsIn, valueFor } from './filter-values.js';

/** Longest query in characters, so that servers accept the URL. A filter that does not fit is left out. */
const longestQuery = 4000;

const fixedMark = 'guestlist-fixed';

type Piece = { readonly raw: string; readonly name: string; readonly text: string };
type Shown = Pick<GuestFilter, 'name' | 'dataType' | 'isSingleChoice' | 'appliedValue'>;

/** The guest's values in a query. Skips values that do not fit their filter; never throws. */
export const readUrlFilters = (search: string, filters: readonly Shown[], prefix: string): FilterValues => {
  const pieces = piecesOf(search);
  const fixed = new Set(textsNamed(pieces, prefix + fixedMark));
  return Object.fromEntries(
    mirrored(filters).flatMap((filter) => {
      const texts = textsNamed(pieces, prefix + filter.name);
      const isLocked = fixed.has(filter.name) || filter.appliedValue !== undefined;
      const value = isLocked ? undefined : decode(filter, texts);
      return value === undefined ? [] : [[filter.name, value]];
    }),
  );
};

/**
 * The names of the filters whose value in the query is left out: it does not fit the filter, or the filter is locked to
 * another value.
 */
export const unfitUrlFilters = (search: string, filters: readonly Shown[], prefix: string): readonly string[] => {
  const pieces = piecesOf(search);
  const fixed = new Set(textsNamed(pieces, prefix + fixedMark));
  const unfit = mirrored(filters).filter((filter) => {
    const texts = pieces.filter(({ name }) => name === prefix + filter.name).map(({ text }) => text);
    if (texts.length === 0 || fixed.has(filter.name)) return false;
    if (filter.appliedValue === undefined)
      return decode(filter, textsNamed(pieces, prefix + filter.name)) === undefined;
    return JSON.stringify(encode(filter, filter.appliedValue)) !== JSON.stringify(texts);
  });
  return unfit.map(({ name }) => name);
};

/** The query with each filter's value: the token's, otherwise the guest's. Empty, or starts with `?`. */
export const writeUrlFilters = (
  search: string,
  filters: readonly Shown[],
  values: FilterValues,
  prefix: string,
): string => {
  const owned = new Map<string, string[]>(mirrored(filters).map(({ name }) => [prefix + name, []]));
  const pieces = piecesOf(search);
  // A mark for an unknown filter belongs to another dashboard on the page.
  const names = new Set(filters.map(({ name }) => name));
  const mark = prefix + fixedMark;
  const marks = pieces.filter(({ name, text }) => name === mark && !names.has(text)).map(({ raw }) => raw);
  const kept = pieces.filter(({ name }) => !owned.has(name) && name !== mark).map(({ raw }) => raw);
  let room = longestQuery - lengthOf([...kept, ...marks]);
  for (const filter of mirrored(filters)) {
    const isLocked = filter.appliedValue !== undefined;
    const texts = encode(filter, filter.appliedValue ?? valueFor(values, filter.name)) ?? [];
    const own = texts.map((text) => rawOf(prefix + filter.name, text));
    const fixed = isLocked && own.length > 0 ? [rawOf(mark, filter.name)] : [];
    const length = lengthOf([...own, ...fixed]);
    if (length > room) continue;
    room -= length;
    owned.set(prefix + filter.name, own);
    marks.push(...fixed);
  }
  return joined(pieces, owned.set(mark, marks));
};

/** The part of the query that these filters wrote, to detect changes by others. */
export const ownUrlFilters = (search: string, filters: readonly Shown[], prefix: string): string => {
  const names = new Set(mirrored(filters).map(({ name }) => prefix + name));
  const pieces = piecesOf(search).filter(({ name }) => names.has(name));
  return pieces.map(({ raw }) => raw).join('&');
};

/** Keeps the position of each owned parameter; new parameters go to the end. */
const joined = (pieces: readonly Piece[], owned: ReadonlyMap<string, readonly string[]>): string => {
  const left = new Map(owned);
  const all = pieces.flatMap(({ raw, name }) => {
    if (!owned.has(name)) return [raw];
    const own = left.get(name) ?? [];
    left.delete(name);
    return own;
  });
  const query = [...all, ...[...left.values()].flat()].join('&');
  return query === '' ? '' : `?${query}`;
};

const mirrored = (filters: readonly Shown[]): readonly Shown[] =>
  filters.filter(({ name }) => name !== fixedMark && isClean(name));

const piecesOf = (search: string): readonly Piece[] => {
  const query = search.replace(/^\?/, '');
  if (query === '') return [];
  return query.split('&').map((raw) => {
    const [[name, text] = ['', '']] = new URLSearchParams(raw);
    return { raw, name, text };
  });
};

const textsNamed = (pieces: readonly Piece[], name: string): readonly string[] => {
  const found = pieces.filter((piece) => piece.name === name);
  return lengthOf(found.map(({ raw }) => raw)) > longestQuery ? [] : found.map(({ text }) => text);
};

const lengthOf = (raws: readonly string[]): number => raws.reduce((sum, raw) => sum + raw.length + 1, 0);

const rawOf = (name: string, text: string): string => `${escaped(name)}=${escaped(text)}`;

/** Like `encodeURIComponent`, but leaves `,`, `:` and `/` readable. */
const escaped = (text: string): string =>
  encodeURIComponent(text)
    .replaceAll('%20', '+')
    .replaceAll(/%(?:2C|3A|2F)/g, decodeURIComponent)
    .replaceAll("'", '%27');

/** Whether the service accepts the text: no NUL, no lone surrogate. */
const isClean = (text: string): boolean => /^[^\0\p{Cs}]*$/u.test(text);

/** The parameter's values; undefined if the filter bar cannot show the value or the service would refuse it. */
const encode = (filter: Shown, value: FilterValue | undefined): readonly string[] | undefined => {
  const texts = textsOf(filter, value);
  return decode(filter, texts) === undefined ? undefined : texts;
};

const textsOf = ({ dataType }: Shown, value: FilterValue | undefined): readonly string[] => {
  switch (dataType) {
    case 'string':
      return stringsIn(value);
    case 'boolean':
      return typeof value === 'boolean' ? [String(value)] : [];
    case 'number': {
      const { min, max } = typeof value === 'number' ? { min: value, max: value } : rangeIn(value);
      return [spanOf(String(min ?? ''), String(max ?? ''))];
    }
    case 'date': {
      if (typeof value !== 'string') return [spanOf(...datesIn(value))];
      const [from = '', to = from, ...more] = value.trim().split(' - ');
      return more.length > 0 || value.includes('..') ? [] : [spanOf(from, to)];
    }
  }
};

const spanOf = (from: string, to: string): string => (from === to ? from : `${from}..${to}`);

const decode = ({ dataType, isSingleChoice }: Shown, texts: readonly string[]): FilterValue | undefined => {
  const [text = '', ...more] = texts;
  if (isSingleChoice && more.length > 0) return undefined;
  if (dataType === 'string') return texts.length > 0 && texts.every(isClean) ? texts : undefined;
  if (texts.length === 0 || more.length > 0) return undefined;
  if (dataType === 'boolean') return text === 'true' || text === 'false' ? text === 'true' : undefined;
  return dataType === 'number' ? numbersOf(text) : datesOf(text);
};

const endsOf = (text: string): readonly [string, string] => {
  const [from = '', to = from, ...more] = text.split('..');
  return more.length > 0 ? ['', ''] : [from, to];
};

const numbersOf = (text: string): FilterValue | undefined => {
  const [min, max] = endsOf(text).map((end) => (end === '' ? undefined : numberOf(end)));
  if (min === undefined && max === undefined) return undefined;
  // False for NaN, so an end that is not a number is refused.
  return Number(min ?? max) <= Number(max ?? min) ? { min, max } : undefined;
};

const numberOf = (text: string): number | string =>
  /^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/.test(text) && Number.isFinite(Number(text)) ? numberIn(text) : Number.NaN;

const datesOf = (text: string): FilterValue | undefined => {
  if (readRelative(text) !== undefined) return text;
  const [from, to] = endsOf(text);
  if (from === '' && to === '') return undefined;
  const [startDate, endDate] = [from || earliest, to || latest];
  const isRange = isDate(startDate) && isDate(endDate) && startDate <= endDate;
  return isRange ? { startDate, endDate } : undefined;
};

/** Whether date controls and the service accept the text: an existing day, written as `YYYY-MM-DD`. */
const isDate = (text: string): boolean => {
  const time = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(text) : Number.NaN;
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text) && text >= '0100' && text < '9999-12-31';
};
