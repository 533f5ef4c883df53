/**
 * A dashboard's cards and tiles as boxes on 12 columns. Boxes never overlap and rise as far as they can; a box that is
 * moved pushes others down. Pure.
 */
import type { TileContent, TilePlace, Tile as TileShape } from '../../model/dashboard/tile.js';

export const columns = 12;
const greatestHeight = 50;
/** So many boxes of the greatest height end before the last row that the service takes. */
const greatestBoxes = 200;

export type Place = { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
export type Card = Place & { readonly metricId: string };
export type Tile = TileShape;

export type Box = Place & {
  readonly id: string;
  readonly content: { readonly kind: 'card'; readonly metricId: string } | (TileContent & { readonly tileId: string });
};
export type Board = readonly Box[];

export type BoardAction =
  | { readonly kind: 'add'; readonly box: Box }
  | { readonly kind: 'remove'; readonly id: string }
  | { readonly kind: 'edit'; readonly id: string; readonly content: TileContent }
  | { readonly kind: 'place'; readonly id: string; readonly place: Place };

const bounded = (value: number, least: number, most: number): number =>
  Math.min(most, Math.max(least, Number.isFinite(value) ? Math.round(value) : least));

/** Returns the place inside the grid. */
const inGrid = ({ x, y, w, h }: Place): Place => {
  const width = bounded(w, 1, columns);
  return {
    x: bounded(x, 0, columns - width),
    y: bounded(y, 0, greatestBoxes * greatestHeight),
    w: width,
    h: bounded(h, 1, greatestHeight),
  };
};

/** Returns the box inside the grid. A tab has a row of its own. */
const fitted = (box: Box): Box => {
  const place = inGrid(box);
  return { ...box, ...(box.content.kind === 'tab' ? { x: 0, y: place.y, w: columns, h: 1 } : place) };
};

const overlap = (a: Place, b: Place): boolean =>
  a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;

/** The box as far up as it can be below those that are settled. No box passes the title of a tab. */
const risen = (box: Box, settled: Board): Box => {
  if (box.content.kind === 'tab') return { ...box, y: bottomOf(settled) };
  const above = settled.filter(({ x, w }) => x < box.x + box.w && box.x < x + w);
  const free = (y: number): boolean => !above.some((other) => overlap({ ...box, y }, other));
  const stops = [0, ...above.map(({ y, h }) => y + h)].toSorted((a, b) => a - b);
  // A box does not rise over another one: it stays below each that is above it.
  const least = bottomOf(above.filter(({ y, content }) => y <= box.y || content.kind === 'tab'));
  return { ...box, y: stops.find((y) => y >= least && free(y)) ?? least };
};

/** Returns the boxes without overlaps or gaps above them. Where two want one place, `first` has it. */
const settle = (board: Board, first: string | null = null): Board => {
  const isFirst = ({ id }: Box): number => (id === first ? 0 : 1);
  const sorted = board.map(fitted).toSorted((a, b) => a.y - b.y || isFirst(a) - isFirst(b) || a.x - b.x);
  const settled: Box[] = [];
  for (const box of sorted) settled.push(risen(box, settled));
  const byId = new Map(settled.map((box) => [box.id, box]));
  return board.map((box) => byId.get(box.id) ?? box);
};

const bottomOf = (board: readonly Place[]): number => Math.max(0, ...board.map(({ y, h }) => y + h));

export const findBox = (board: Board, id: string): Box | undefined => board.find((box) => box.id === id);

/** The boxes from top to bottom, and in a row from its beginning. */
export const inReadingOrder = (board: Board): Board => board.toSorted((a, b) => a.y - b.y || a.x - b.x);

const isSame = (a: Board, b: Board): boolean =>
  a.length === b.length &&
  a.every((box, index) => {
    const other = b[index];
    return other?.content === box.content && (['x', 'y', 'w', 'h'] as const).every((side) => other[side] === box[side]);
  });

/** Returns the board after the action; the same board if the action is not possible or changes nothing. */
export const arrange = (board: Board, action: BoardAction): Board => {
  const next = arranged(board, action);
  return isSame(board, next) ? board : next;
};

const arranged = (board: Board, action: BoardAction): Board => {
  if (action.kind === 'add') {
    const isKnown = findBox(board, action.box.id) !== undefined;
    return board.length >= greatestBoxes || isKnown ? board : settle([...board, action.box], action.box.id);
  }
  const box = findBox(board, action.id);
  if (box === undefined) return board;
  const { content } = box;
  if (action.kind === 'place')
    return settle(
      board.map((one) => (one === box ? { ...box, ...inGrid(action.place) } : one)),
      box.id,
    );
  if (action.kind === 'remove') return settle(board.filter((one) => one !== box));
  if (content.kind === 'card') return board;
  const edited = { ...box, content: { ...action.content, tileId: content.tileId } };
  return settle(board.map((one) => (one === box ? edited : one)));
};

export type Key = 'ArrowLeft' | 'ArrowRight' | 'ArrowUp' | 'ArrowDown';
const steps: Readonly<Record<Key, readonly [number, number]>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

/** Boxes rise, so a box moves down by changing places with the next one below it, and up with the one above it. */
const neighbour = (board: Board, box: Box, isDown: boolean): Box | undefined => {
  const beside = board.filter((other) => other.id !== box.id && other.x < box.x + box.w && box.x < other.x + other.w);
  return isDown
    ? beside.filter(({ y }) => y >= box.y + box.h).toSorted((a, b) => a.y - b.y)[0]
    : beside.filter(({ y }) => y < box.y).toSorted((a, b) => b.y - a.y)[0];
};

/** Returns what an arrow key does with a box: moves it, or changes its size (`isResize`). A tab only moves up and down. */
export const keyAction = (board: Board, id: string, key: Key, isResize: boolean): BoardAction | undefined => {
  const box = findBox(board, id);
  if (box === undefined) return undefined;
  const [dx, dy] = steps[key];
  if (isResize) return { kind: 'place', id, place: inGrid({ ...box, w: box.w + dx, h: box.h + dy }) };
  if (dy === 0) return { kind: 'place', id, place: inGrid({ ...box, x: box.x + dx }) };
  const other = neighbour(board, box, dy > 0);
  if (other === undefined) return undefined;
  return { kind: 'place', id, place: { ...box, y: dy > 0 ? other.y + other.h : other.y } };
};

/** Ids have no control characters, so no card has the id of a tile. */
const boxId = (tileId: string): string => `tile\n${tileId}`;

/** The highest free place of this size, without a gap above it. */
export const freePlace = (board: Board, { w, h }: Pick<Place, 'w' | 'h'>): Place => {
  const places = Array.from({ length: Math.max(1, columns - w + 1) }, (_, x) => {
    const above = board.filter((box) => box.x < x + w && x < box.x + box.w);
    return { x, y: bottomOf(above), w, h };
  });
  return places.reduce((best, place) => (place.y < best.y ? place : best));
};

/** A new tile below all boxes. */
export const boxFor = (board: Board, tileId: string, content: TileContent, size: Pick<Place, 'w' | 'h'>): Box => ({
  id: boxId(tileId),
  content: { ...content, tileId },
  x: 0,
  y: bottomOf(board),
  ...size,
});

export const boardOf = (cards: readonly Card[], tiles: readonly Tile[]): Board =>
  settle([
    ...cards.map(
      ({ metricId, x, y, w, h }): Box => ({ id: metricId, x, y, w, h, content: { kind: 'card', metricId } }),
    ),
    ...tiles.map(({ x, y, w, h, ...content }): Box => ({ id: boxId(content.tileId), x, y, w, h, content })),
  ]);

export const cardsOf = (board: Board): readonly Card[] =>
  board.flatMap(({ content, x, y, w, h }) =>
    content.kind === 'card' ? [{ metricId: content.metricId, x, y, w, h }] : [],
  );

export const tilesOf = (board: Board): readonly Tile[] =>
  board.flatMap(({ content, x, y, w, h }) => (content.kind === 'card' ? [] : [{ ...content, x, y, w, h }]));

export const placesOf = (board: Board): readonly TilePlace[] =>
  tilesOf(board).map(({ tileId, x, y, w, h }) => ({ tileId, x, y, w, h }));
