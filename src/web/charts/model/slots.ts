/**
 * Which colour a value of a dimension has: the one that the author pinned, or the next place of the palette when the value
 * first appears. A dashboard has one memory, so that a value keeps its colour whatever the filters are.
 */
import type { AnswerColumn, Cell } from '../../../domain/query/engine.js';
import type { Row } from './columns.js';

/** A place of the palette, beyond its end too; a colour that the author pinned; null: what is no value, as “Other”. */
export type Slot = number | string | null;

/** Equal for equal values only: NULL, an empty text and “(none)” are three. */
export const valueKey = (value: Cell | undefined): string => JSON.stringify(value ?? null);

/** Identifies the values of these columns in a row. */
export const rowKey = (row: Row, columns: readonly Pick<AnswerColumn, 'name'>[]): string =>
  JSON.stringify(columns.map(({ name }) => row[name] ?? null));

type Dimension = Pick<AnswerColumn, 'name' | 'valueColours'>;
/** By the value's key. */
type Pins = ReadonlyMap<string, string>;

export class SlotMemory {
  /** By dimension. */
  readonly #places = new Map<string, Map<string, number>>();
  readonly #pins = new Map<string, Map<string, string>>();

  /** The slot of a value. A place whose colour is pinned to another value of the dimension is left out. */
  slotOf(dimension: Dimension, value: Cell, palette: readonly string[]): Slot {
    const pins = this.#pinned(dimension);
    const key = valueKey(value);
    return pins.get(key) ?? this.#placeOf(dimension.name, key, palette, pins);
  }

  /** The slot of a row's values of all these dimensions. */
  slotOfRow(row: Row, dimensions: readonly Dimension[], palette: readonly string[]): Slot {
    const [first] = dimensions;
    if (first !== undefined && dimensions.length === 1) return this.slotOf(first, row[first.name] ?? null, palette);
    const names = JSON.stringify(dimensions.map(({ name }) => name));
    return this.#placeOf(names, rowKey(row, dimensions), palette, new Map());
  }

  /** All pins of the dimension that answers had so far. */
  #pinned({ name, valueColours = [] }: Dimension): Pins {
    const pins = this.#pins.get(name) ?? new Map<string, string>();
    this.#pins.set(name, pins);
    for (const { value, colour } of valueColours) pins.set(valueKey(value), colour);
    return pins;
  }

  #placeOf(dimension: string, key: string, palette: readonly string[], pins: Pins): number {
    const places = this.#places.get(dimension) ?? new Map<string, number>();
    this.#places.set(dimension, places);
    const known = places.get(key);
    if (known !== undefined) return known;
    const taken = new Set([...pins.values()].map((colour) => colour.toLowerCase()));
    const isTaken = (place: number) => taken.has((palette[place % palette.length] ?? '').toLowerCase());
    let place = Math.max(-1, ...places.values()) + 1;
    for (let tried = 0; isTaken(place) && tried < palette.length; tried += 1) place += 1;
    places.set(key, place);
    return place;
  }
}
