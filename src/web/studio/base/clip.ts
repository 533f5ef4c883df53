/**
 * Cards and tiles as a text for the clipboard. The text that is pasted may come from anywhere: its frame is checked here,
 * and the service checks every definition, tile and filter with its own schema before it writes anything.
 */
import type { Tile, TileContent } from '../../../model/dashboard/tile.js';
import type { Card, TemplateData, TemplateFilter, TemplateMetric } from './content.js';

type Place = Pick<Card, 'x' | 'y' | 'w' | 'h'>;
/** A metric without an id, lineage or placement: what is pasted is new, and no setting of a token applies to it. */
type CopiedMetric = Pick<TemplateMetric, 'name' | 'definition'> & { readonly cards: readonly Place[] };
type CopiedTile = TileContent & Place;

export type Clip = {
  readonly metrics: readonly CopiedMetric[];
  readonly tiles: readonly CopiedTile[];
  /** The filters of the dashboard that the metrics were copied from. */
  readonly filters: readonly TemplateFilter[];
};

const mark = 'guestlist-dashboard-parts';
const version = 1;
const mostLength = 4_000_000;
const mostParts = 200;
const greatestName = 255;

const placeIn = ({ x, y, w, h }: Place): Place => ({ x, y, w, h });

/** The chosen metrics and tiles as text. A metric takes all of its cards along. */
export const clipOf = (
  { metrics, layout, tiles = [], filters }: TemplateData,
  isChosen: (id: { readonly metricId: string } | { readonly tileId: string }) => boolean,
): string => {
  const copied = metrics.filter(isChosen).map(({ metricId, name, definition }) => ({
    name,
    definition,
    cards: layout.filter((card) => card.metricId === metricId).map(placeIn),
  }));
  const clip: Clip = {
    metrics: copied,
    tiles: tiles.filter(isChosen).map(({ tileId: _, ...tile }) => tile),
    filters: copied.length === 0 ? [] : filters,
  };
  return JSON.stringify({ guestlist: mark, version, ...clip });
};

type Fields = Readonly<Record<string, unknown>>;
const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isWhole = (value: unknown, least: number, most: number): boolean =>
  typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most;
const isPlace = (value: unknown): value is Place =>
  isFields(value) &&
  isWhole(value.x, 0, 11) &&
  isWhole(value.y, 0, 10_000) &&
  isWhole(value.w, 1, 12) &&
  isWhole(value.h, 1, 1000);

const isName = (value: unknown): boolean => typeof value === 'string' && value !== '' && value.length <= greatestName;
const hasOnly = (value: Fields, names: readonly string[]): boolean =>
  Object.keys(value).every((name) => names.includes(name)) && names.every((name) => Object.hasOwn(value, name));
const isList = (value: unknown, isItem: (item: unknown) => boolean): boolean =>
  Array.isArray(value) && value.length <= mostParts && value.every(isItem);

const isMetric = (value: unknown): boolean =>
  isFields(value) &&
  hasOnly(value, ['name', 'definition', 'cards']) &&
  isName(value.name) &&
  isFields(value.definition) &&
  isList(value.cards, (card) => isPlace(card) && hasOnly(card, ['x', 'y', 'w', 'h']));
const isTile = (value: unknown): boolean => isPlace(value) && !Object.hasOwn(value, 'tileId');
const isFilter = (value: unknown): boolean =>
  isFields(value) && isName(value.name) && isList(value.applyOnTables, isFields);

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** Reads a text of the clipboard. Throws an error for the author if it is none that Studio has copied. */
export const readClip = (text: string): Clip => {
  if (text.length > mostLength) throw new Error('What the clipboard holds is too large to be pasted here.');
  const value = parsed(text);
  if (!isFields(value) || value.guestlist !== mark)
    throw new Error('The clipboard holds no cards or tiles. Copy some on the canvas of a dashboard first.');
  if (value.version !== version) throw new Error('Another version of Studio copied this. Copy it again.');
  const { guestlist: _, version: __, ...clip } = value;
  const isSound =
    hasOnly(clip, ['metrics', 'tiles', 'filters']) &&
    isList(clip.metrics, isMetric) &&
    isList(clip.tiles, isTile) &&
    isList(clip.filters, isFilter);
  if (!isSound) throw new Error('What the clipboard holds is damaged: it is not as Studio copies it. Copy it again.');
  return clip as Clip;
};

/** The filters of the copied metrics that the dashboard lacks. A filter is known by its name, as in the policy. */
export const missingFilters = ({ filters }: TemplateData, clip: Clip): readonly TemplateFilter[] =>
  clip.filters.filter(({ name }) => !filters.some((own) => own.name.toLowerCase() === name.toLowerCase()));

const freeName = (name: string, taken: readonly string[]): string => {
  for (let number = 1; ; number += 1) {
    const end = number === 1 ? '' : ` ${number}`;
    const free = `${name.slice(0, greatestName - end.length)}${end}`;
    if (!taken.includes(free)) return free;
  }
};

/** What was pasted, by the ids that the content has for it until it is stored. */
export type Pasted = { readonly data: TemplateData; readonly namesById: ReadonlyMap<string, string> };

/** The data with the clip below all else, under new ids, and with these filters. */
export const withClip = (
  data: TemplateData,
  clip: Clip,
  filters: readonly TemplateFilter[],
  newId: () => string,
): Pasted => {
  const places = [...clip.metrics.flatMap(({ cards }) => cards), ...clip.tiles];
  const top = Math.min(...places.map(({ y }) => y));
  const bottom = Math.max(0, ...[...data.layout, ...(data.tiles ?? [])].map(({ y, h }) => y + h));
  const below = <P extends Place>(place: P): P => ({ ...place, y: place.y - top + bottom });
  const names = data.metrics.map(({ name }) => name);
  const namesById = new Map<string, string>();
  const layout: Card[] = [];
  const metrics = clip.metrics.map(({ name, definition, cards }): TemplateMetric => {
    const metricId = newId();
    const free = freeName(name, [...names, ...namesById.values()]);
    namesById.set(metricId, free);
    for (const card of cards) layout.push({ metricId, ...below(card) });
    return { metricId, name: free, definition, lineage: [], placement: cards.length === 0 ? 'GALLERY' : 'METRIC' };
  });
  const tiles = clip.tiles.map((tile): Tile => ({ ...below(tile), tileId: newId() }));
  return {
    namesById,
    data: {
      ...data,
      metrics: [...data.metrics, ...metrics],
      layout: [...data.layout, ...layout],
      tiles: [...(data.tiles ?? []), ...tiles],
      filters: [...data.filters, ...filters],
    },
  };
};

/** The data without the chosen metrics and tiles. */
export const withoutParts = (
  data: TemplateData,
  isChosen: (id: { readonly metricId: string } | { readonly tileId: string }) => boolean,
): TemplateData => ({
  ...data,
  metrics: data.metrics.filter((metric) => !isChosen(metric)),
  layout: data.layout.filter((card) => !isChosen(card)),
  tiles: (data.tiles ?? []).filter((tile) => !isChosen(tile)),
});

/** What is pasted, for a sentence that goes on with what becomes of it. */
export const inNumbers = ({ metrics, tiles }: Clip): string => {
  const count = (number: number, word: string): readonly string[] =>
    number === 0 ? [] : [`${number} ${word}${number === 1 ? '' : 's'}`];
  const parts = [...count(metrics.length, 'card'), ...count(tiles.length, 'tile')];
  return `${parts.join(' and ') || 'Nothing'} ${metrics.length + tiles.length === 1 ? 'is' : 'are'}`;
};

/** The message with the names of metrics in place of the ids that they had for a moment. */
export const withNames = (message: string, namesById: ReadonlyMap<string, string>): string =>
  [...namesById].reduce((text, [id, name]) => text.replaceAll(`metrics["${id}"]`, `“${name}”`), message);
