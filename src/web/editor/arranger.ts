/** Cards and tiles of a dashboard that are moved and sized by pointer and by keyboard, with undo and redo. Pure: no page. */
import type { TileContent, TilePlace } from '../../model/dashboard/tile.js';
import { keyAlong } from '../base/direction.js';
import {
  arrange,
  type Board,
  type Box,
  boardOf,
  boxFor,
  type Card,
  cardsOf,
  columns,
  findBox,
  freePlace,
  type Key,
  keyAction,
  type Place,
  placesOf,
  type Tile,
  tilesOf,
} from './board.js';
import { changed, type History, historyOf, redone, undone } from './history.js';

const keys: readonly string[] = ['ArrowLeft', 'ArrowRight', 'ArrowUp', 'ArrowDown'] satisfies Key[];
export const isArrow = (key: string): key is Key => keys.includes(key);

type Point = { readonly x: number; readonly y: number };
/** Pixels of a column and of a row, gaps included. `isMirrored`: the first column is on the right. */
export type Scale = { readonly column: number; readonly row: number; readonly isMirrored: boolean };
type Grip = { readonly from: Box; readonly isSize: boolean; readonly at: Point; readonly before: Board };

export class Arranger {
  #history: History<Board>;
  #grip: Grip | null = null;

  constructor(cards: readonly Card[], tiles: readonly Tile[]) {
    this.#history = historyOf(boardOf(cards, tiles));
  }

  get boxes(): Board {
    return this.#history.present;
  }

  get cards(): readonly Card[] {
    return cardsOf(this.#history.present);
  }

  get tiles(): readonly Tile[] {
    return tilesOf(this.#history.present);
  }

  get places(): readonly TilePlace[] {
    return placesOf(this.#history.present);
  }

  get isChanged(): boolean {
    return this.#history.past.length > 0;
  }

  get canUndo(): boolean {
    return this.isChanged;
  }

  get canRedo(): boolean {
    return this.#history.future.length > 0;
  }

  undo(): void {
    this.#history = undone(this.#history);
  }

  redo(): void {
    this.#history = redone(this.#history);
  }

  /** Returns the id of the new box. Undefined: the board is full. */
  add(tileId: string, content: TileContent, size: Pick<Place, 'w' | 'h'>): string | undefined {
    const { present } = this.#history;
    const box = boxFor(present, tileId, content, size);
    this.#history = changed(this.#history, arrange(present, { kind: 'add', box }));
    return findBox(this.#history.present, box.id)?.id;
  }

  /** Returns false if the board is full. */
  addCard(metricId: string, size: Pick<Place, 'w' | 'h'>): boolean {
    const { present } = this.#history;
    const box: Box = { id: metricId, content: { kind: 'card', metricId }, ...freePlace(present, size) };
    this.#history = changed(this.#history, arrange(present, { kind: 'add', box }));
    return findBox(this.#history.present, metricId) !== undefined;
  }

  /** Takes boxes off the board, as one step. */
  removeAll(gone: readonly Pick<Box, 'id'>[]): void {
    const left = gone.reduce((board, { id }) => arrange(board, { kind: 'remove', id }), this.#history.present);
    this.#history = changed(this.#history, left);
  }

  edit(id: string, content: TileContent): void {
    this.#history = changed(this.#history, arrange(this.#history.present, { kind: 'edit', id, content }));
  }

  /** Moves a box by an arrow key, or changes its size. Returns the box as it is then. */
  press(id: string, key: Key, isSize: boolean, isMirrored: boolean): Box | undefined {
    const { present } = this.#history;
    const action = keyAction(present, id, keyAlong(key, isMirrored), isSize);
    if (action !== undefined) this.#history = changed(this.#history, arrange(present, action));
    return findBox(this.#history.present, id);
  }

  /** Returns false if another box is held. */
  take(from: Box, isSize: boolean, at: Point): boolean {
    if (this.#grip !== null) return false;
    this.#grip = { from, isSize, at, before: this.#history.present };
    return true;
  }

  /** While a box is held, only what is shown changes. Returns whether one is held. */
  moveTo({ x, y }: Point, { column, row, isMirrored }: Scale): boolean {
    if (this.#grip === null) return false;
    const { from, isSize, at, before } = this.#grip;
    const dx = Math.round((x - at.x) / column) * (isMirrored ? -1 : 1);
    const dy = Math.round((y - at.y) / row);
    const place = isSize
      ? { x: from.x, y: from.y, w: from.w + dx, h: from.h + dy }
      : { x: from.x + dx, y: from.y + dy, w: from.w, h: from.h };
    const isSame = dx === 0 && dy === 0;
    const present = isSame ? before : arrange(before, { kind: 'place', id: from.id, place });
    this.#history = { ...this.#history, present };
    return true;
  }

  /** Makes the move one step of the history. Returns the box that was held, as it is then. */
  drop(): Box | undefined {
    const grip = this.#grip;
    if (grip === null) return undefined;
    this.#grip = null;
    const { present } = this.#history;
    this.#history = changed({ ...this.#history, present: grip.before }, present);
    return findBox(present, grip.from.id);
  }
}

/** The pixels of a column in a grid of this width. */
export const columnOf = (width: number, gap: number): number => (width + gap) / columns;

const greatestLength = 60;

/** What a tile is called where only its name fits. */
export const tileName = (tile: TileContent): string => {
  const text = tile.kind === 'image' ? tile.alt : tile.text;
  return text.length > greatestLength ? `${text.slice(0, greatestLength - 1)}…` : text;
};
