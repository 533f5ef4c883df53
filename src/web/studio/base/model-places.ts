/**
 * Where a person put the tables of a diagram. Tables that nobody moved stand where the layout puts them. Pure functions.
 */
import { type Layout, measures, type Point } from './model-layout.js';

/** By table, `schema.table`. */
export type Places = ReadonlyMap<string, Point>;

/** Farther than this, nothing is found again. */
const farthest = 20_000;

const clamped = (value: number): number => Math.min(farthest, Math.max(0, Math.round(value)));

const isPlace = (value: unknown): value is Point => {
  const { x, y } = (value ?? {}) as Partial<Record<'x' | 'y', unknown>>;
  return [x, y].every((one) => typeof one === 'number' && Number.isFinite(one));
};

/** Returns no place for what is not one. */
export const placesIn = (stored: string | null): Places => {
  try {
    const entries = Object.entries((JSON.parse(stored ?? '{}') ?? {}) as Record<string, unknown>);
    return new Map(
      entries.flatMap(([table, place]) =>
        isPlace(place) ? [[table, { x: clamped(place.x), y: clamped(place.y) }]] : [],
      ),
    );
  } catch {
    return new Map();
  }
};

export const movedTo = (places: Places, table: string, { x, y }: Point): Places =>
  new Map([...places, [table, { x: clamped(x), y: clamped(y) }]]);

/** The layout with the tables where a person put them. The plane grows with them. */
export const withPlaces = (layout: Layout, places: Places): Layout => {
  const boxes = new Map(
    [...layout.boxes].map(([table, box]) => {
      const place = places.get(table);
      return [table, place === undefined ? box : { ...box, x: place.x, y: place.y }] as const;
    }),
  );
  let [width, height] = [layout.width, layout.height];
  for (const [table, box] of boxes) {
    if (!places.has(table)) continue;
    width = Math.max(width, box.x + box.width + measures.margin);
    height = Math.max(height, box.y + box.height + measures.margin);
  }
  return { boxes, width, height };
};

/** One step of a key. */
const stepPixels = 24;

const steps: Readonly<Record<string, readonly [number, number]>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

/** Where a key moves a box. Undefined: the key moves nothing. */
export const steppedBy = ({ x, y }: Point, key: string): Point | undefined => {
  const step = steps[key];
  return step === undefined
    ? undefined
    : { x: clamped(x + step[0] * stepPixels), y: clamped(y + step[1] * stepPixels) };
};
