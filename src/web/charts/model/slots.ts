/**
 * Which colour a value of a dimension has: the one that the author pinned, or the next place of the palette when the value
 * first appears. A dashboard has one memory, so that a value keeps its colour whatever the filters are.
 */
import type { AnswerColumn, Cell } from '../../../model/query/engine.js';
import { isOthers } from '../../base/others.js';
import type { Row } from './columns.js';

/** A place of the palette, beyond its end too; a colour that the author pinned; null: what is no value, as “Other”. */
export type Slot = number | string | null;

/** By dimension, then by the value's key. Begins as `{}`, so that the script needs nothing of this file. */
export type SlotMemory = { places?: Map<string, Map<string, number>>; pins?: Map<string, Map<string, string>> };

/** Equal for equal values only: NULL, an empty text and “(none)” are three. */
export const valueKey = (value: Cell | undefined): string => JSON.stringify(value ?? null);

/** Identifies the values of these columns in a row. */
export const rowKey = (row: Row, columns: readonly Pick<AnswerColumn, 'name'>[]): string =>
  JSON.stringify(columns.map(({ name }) => row[name] ?? null));

type Dimension = Pick<AnswerColumn, 'name' | 'valueColours'>;
/** By the value's key. */
type Pins = ReadonlyMap<string, string>;

/** The slot of a value. A place whose colour is pinned to another value of the dimension is left out. */
export const slotOf = (memory: SlotMemory, dimension: Dimension, value: Cell, palette: readonly string[]): Slot => {
  if (isOthers(value)) return null;
  const pins = pinned(memory, dimension);
  const key = valueKey(value);
  return pins.get(key) ?? placeOf(memory, dimension.name, key, { palette, pins });
};

/** The slot of a row's values of all these dimensions. */
export const slotOfRow = (
  memory: SlotMemory,
  row: Row,
  dimensions: readonly Dimension[],
  palette: readonly string[],
): Slot => {
  const [first] = dimensions;
  if (first !== undefined && dimensions.length === 1) return slotOf(memory, first, row[first.name] ?? null, palette);
  if (dimensions.some(({ name }) => isOthers(row[name]))) return null;
  const names = JSON.stringify(dimensions.map(({ name }) => name));
  return placeOf(memory, names, rowKey(row, dimensions), { palette, pins: new Map() });
};

const within = <Value>(all: Map<string, Map<string, Value>>, dimension: string): Map<string, Value> => {
  const own = all.get(dimension) ?? new Map<string, Value>();
  all.set(dimension, own);
  return own;
};

/** The colours that answers have fixed so far for values of the dimension. */
const pinned = (memory: SlotMemory, { name, valueColours = [] }: Dimension): Pins => {
  memory.pins ??= new Map();
  const pins = within(memory.pins, name);
  for (const { value, colour } of valueColours) pins.set(valueKey(value), colour);
  return pins;
};

const placeOf = (
  memory: SlotMemory,
  dimension: string,
  key: string,
  { palette, pins }: { readonly palette: readonly string[]; readonly pins: Pins },
): number => {
  memory.places ??= new Map();
  const places = within(memory.places, dimension);
  const known = places.get(key);
  if (known !== undefined) return known;
  const taken = new Set([...pins.values()].map((colour) => colour.toLowerCase()));
  const isTaken = (place: number) => taken.has((palette[place % palette.length] ?? '').toLowerCase());
  let place = Math.max(-1, ...places.values()) + 1;
  for (let tried = 0; isTaken(place) && tried < palette.length; tried += 1) place += 1;
  places.set(key, place);
  return place;
};
