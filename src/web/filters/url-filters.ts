/**
 * A dashboard's filters in the query of a page's address, one parameter for each by the filter's name, case and all:
 *
 * - text: `State=CA`, several as `State=CA&State=NV`
 * - number: `Distance=500` for just that, `Distance=100..500`, `Distance=100..`, `Distance=..500`
 * - date: `Date=2001-03-01`, `Date=2001-03-01..2001-03-31`, with an open end as numbers, or a preset: `Date=Last+30+Days`
 * - boolean: `Late=true`, `Late=false`
 *
 * Each `guestlist-fixed=State` beside them says that `State` shows what the token enforces: to be seen, not read back. So neither
 * a bookmark nor another guest's link turns a restriction of then into a choice of now. Whatever else the query holds is the
 * page's own, and stays as and where it is.
 */
import type { FilterValue } from '../../domain/filter.js';
import type { GuestFilter } from '../../domain/guest-view.js';
import type { FilterValues } from '../base/client.js';
import { datesIn, earliest, latest, numberIn, rangeIn, stringsIn, valueFor } from './filter-values.js';

/** Characters of a query that servers still take. What does not fit is left out, a filter at a time. */
export const longestQuery = 4000;

const fixedMark = 'guestlist-fixed';

type Piece = { readonly raw: string; readonly name: string; readonly text: string };
type Shown = Pick<GuestFilter, 'name' | 'dataType' | 'appliedValue'>;

/** What the guest chose, as the query has it. What is no value of its filter is not there; nothing is thrown. */
export const readUrlFilters = (search: string, filters: readonly Shown[], prefix: string): FilterValues => {
  const pieces = piecesOf(search);
  const fixed = new Set(textsNamed(pieces, prefix + fixedMark));
  return Object.fromEntries(
    mirrored(filters).flatMap((filter) => {
      const texts = textsNamed(pieces, prefix + filter.name);
      const value = fixed.has(filter.name) ? undefined : decode(filter, texts);
      return value === undefined ? [] : [[filter.name, value]];
    }),
  );
};

/** The query with what the guest chose, or else what the token shows, of each filter; `''` or with its `?`. */
export const writeUrlFilters = (
  search: string,
  filters: readonly Shown[],
  values: FilterValues,
  prefix: string,
): string => {
  const owned = new Map<string, string[]>(mirrored(filters).map(({ name }) => [prefix + name, []]));
  const pieces = piecesOf(search);
  // A mark of a filter that this dashboard does not have is another dashboard's.
  const names = new Set(filters.map(({ name }) => name));
  const mark = prefix + fixedMark;
  const marks = pieces.filter(({ name, text }) => name === mark && !names.has(text)).map(({ raw }) => raw);
  const kept = pieces.filter(({ name }) => !owned.has(name) && name !== mark).map(({ raw }) => raw);
  let room = longestQuery - lengthOf([...kept, ...marks]);
  for (const filter of mirrored(filters)) {
    const chosen = encode(filter, valueFor(values, filter.name));
    const texts = chosen ?? encode(filter, filter.appliedValue) ?? [];
    const own = texts.map((text) => rawOf(prefix + filter.name, text));
    const fixed = chosen === undefined && own.length > 0 ? [rawOf(mark, filter.name)] : [];
    const length = lengthOf([...own, ...fixed]);
    if (length > room) continue;
    room -= length;
    owned.set(prefix + filter.name, own);
    marks.push(...fixed);
  }
  return joined(pieces, owned.set(mark, marks));
};

/** What of the query these filters own, to see whether it is still as it was. */
export const ownUrlFilters = (search: string, filters: readonly Shown[], prefix: string): string => {
  const names = new Set(mirrored(filters).map(({ name }) => prefix + name));
  const pieces = piecesOf(search).filter(({ name }) => names.has(name));
  return pieces.map(({ raw }) => raw).join('&');
};

/** Each owned name's pieces where its first stood, new ones at the end. */
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

/** As `encodeURIComponent`, but what may stand in a query for people to read stays. */
const escaped = (text: string): string =>
  encodeURIComponent(text)
    .replaceAll('%20', '+')
    .replaceAll(/%(?:2C|3A|2F)/g, decodeURIComponent)
    .replaceAll("'", '%27');

/** What the service takes as text: no NUL, no half of a surrogate pair. */
const isClean = (text: string): boolean => /^[^\0\p{Cs}]*$/u.test(text);

/** Undefined where the filter bar could not show the value, or the service would refuse it. */
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

const decode = ({ dataType }: Shown, texts: readonly string[]): FilterValue | undefined => {
  const [text = '', ...more] = texts;
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
  // A comparison with NaN is false.
  return Number(min ?? max) <= Number(max ?? min) ? { min, max } : undefined;
};

const numberOf = (text: string): number | string =>
  /^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/.test(text) && Number.isFinite(Number(text)) ? numberIn(text) : Number.NaN;

const preset =
  /^(?:today|yesterday|(?:this|last) (?:week|month|quarter|year)|last (?:7|30) days|last (?:3|6|12) months)$/i;

const datesOf = (text: string): FilterValue | undefined => {
  if (preset.test(text)) return text;
  const [from, to] = endsOf(text);
  if (from === '' && to === '') return undefined;
  const [startDate, endDate] = [from || earliest, to || latest];
  const isRange = isDate(startDate) && isDate(endDate) && startDate <= endDate;
  return isRange ? { startDate, endDate } : undefined;
};

/** Whether a control for dates can show it, and the service reads it: a real day, with all its digits. */
const isDate = (text: string): boolean => {
  const time = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(text) : Number.NaN;
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text) && text >= '0100' && text < '9999-12-31';
};
