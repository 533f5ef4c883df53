/** The layout of a dashboard: whatever is done, tiles stay on the 12 columns, never overlap, and none is lost. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { pictureFault, type Tile, type TileContent, tileFaults } from '../../src/model/dashboard/tile.js';
import { importedData } from '../../src/service/dashboards/contract/versions.js';
import { saveGuestLayout } from '../../src/service/guest/contract/boards.js';
import { Arranger } from '../../src/web/editor/arranger.js';
import {
  arrange,
  type Board,
  type BoardAction,
  boardOf,
  boxFor,
  cardsOf,
  columns,
  findBox,
  inReadingOrder,
  keyAction,
  type Place,
  placesOf,
  tilesOf,
} from '../../src/web/editor/board.js';
import * as studio from '../../src/web/studio/base/content.js';

const aNumber = fc.oneof(fc.integer({ min: -3, max: 60 }), fc.constantFrom(Number.NaN, 1e9, 0.5));
const aPlace = fc.record({ x: aNumber, y: aNumber, w: aNumber, h: aNumber });
const anId = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f');
const aContent = fc.oneof(
  fc.constantFrom<TileContent>({ kind: 'heading', text: 'Sales' }, { kind: 'text', text: 'Read me' }),
  fc.constant<TileContent>({ kind: 'tab', text: 'More' }),
);
const aBox = fc.record({ id: anId, place: aPlace, tile: fc.option(aContent, { nil: undefined }) });
const key = fc.constantFrom('ArrowLeft' as const, 'ArrowRight' as const, 'ArrowUp' as const, 'ArrowDown' as const);
const aStep = fc.oneof(
  fc.record({ kind: fc.constant('add' as const), box: aBox }),
  fc.record({ kind: fc.constant('remove' as const), id: anId }),
  fc.record({ kind: fc.constant('edit' as const), id: anId, content: aContent }),
  fc.record({ kind: fc.constant('place' as const), id: anId, place: aPlace }),
  fc.record({ kind: fc.constant('key' as const), id: anId, key, isResize: fc.boolean() }),
);
type Step = typeof aStep extends fc.Arbitrary<infer T> ? T : never;

const actionOf = (board: Board, step: Step): BoardAction | undefined => {
  if (step.kind === 'key') return keyAction(board, step.id, step.key, step.isResize);
  if (step.kind !== 'add') return step;
  const { place, tile, id } = step.box;
  const content = tile === undefined ? { kind: 'card' as const, metricId: id } : { ...tile, tileId: id };
  return { kind: 'add', box: { ...place, id, content } };
};

const areApart = (a: Place, b: Place): boolean =>
  a.x >= b.x + b.w || b.x >= a.x + a.w || a.y >= b.y + b.h || b.y >= a.y + a.h;

const assertSound = (board: Board): void => {
  for (const box of board) {
    const { x, y, w, h } = box;
    for (const value of [x, y, w, h]) expect(Number.isInteger(value) && value >= 0, `${value}`).toBe(true);
    expect([w >= 1, h >= 1, x + w <= columns]).toEqual([true, true, true]);
    if (box.content.kind === 'tab') expect([x, w, h]).toEqual([0, columns, 1]);
    const others = board.filter((other) => other !== box);
    expect(others.filter((other) => !areApart(box, other))).toEqual([]);
    const isHeld = y === 0 || others.some((other) => other.y + other.h === y && !areApart({ ...box, y: y - 1 }, other));
    expect(isHeld, 'nothing is above the box').toBe(true);
  }
};

/** The tab that each box is on. */
const tabsOf = (board: Board): readonly (readonly [string, string | undefined])[] => {
  const tabs = board.filter(({ content }) => content.kind === 'tab').toSorted((a, b) => b.y - a.y);
  return board.map(({ id, y }) => [id, tabs.find((tab) => tab.y < y)?.id]);
};

test('no sequence of actions makes boxes overlap, leave the grid or disappear, and the service takes what comes of it', () => {
  fc.assert(
    fc.property(fc.array(aStep, { minLength: 1, maxLength: 30, size: 'max' }), (steps) => {
      let board: Board = [];
      for (const step of steps) {
        const before = board;
        const action = actionOf(board, step);
        if (action !== undefined) board = arrange(board, action);
        assertSound(board);
        const moved = action !== undefined && action.kind === 'place' ? findBox(before, action.id) : undefined;
        if (moved !== undefined && moved.content.kind !== 'tab') {
          const others = (of: Board) => tabsOf(of).filter(([id]) => id !== moved.id);
          expect(others(board)).toEqual(others(before));
        }
        const gone: string[] = step.kind === 'remove' ? [step.id] : [];
        const left = before.map(({ id }) => id).filter((id) => !gone.includes(id));
        const come = step.kind === 'add' && !left.includes(step.box.id) ? [step.box.id] : [];
        expect(board.map(({ id }) => id)).toEqual([...left, ...come]);
      }
      const [layout, tiles] = [cardsOf(board), placesOf(board)];
      expect(saveGuestLayout.input.safeParse({ dashboardId: 'd', layout, tiles }).success).toBe(true);
      const content = { layout: [], metrics: [], filters: [], gridMargin: [], tiles: tilesOf(board) };
      expect(importedData.safeParse(content).success).toBe(true);
      assertSound(boardOf(layout, tilesOf(board)));
    }),
    { numRuns: 400 },
  );
});

const card = (metricId: string, x: number, y: number, w = 6, h = 4) => ({ metricId, x, y, w, h });
const press = (board: Board, id: string, of: Parameters<typeof keyAction>[2], isResize = false): Board => {
  const action = keyAction(board, id, of, isResize);
  return action === undefined ? board : arrange(board, action);
};
const orderOf = (board: Board) =>
  cardsOf(board)
    .toSorted((a, b) => a.y - b.y || a.x - b.x)
    .map(({ metricId }) => metricId);

test('the arrow keys move a tile past its neighbours and back', () => {
  const board = boardOf([card('a', 0, 0), card('b', 0, 4), card('c', 0, 8)], []);
  const down = press(board, 'a', 'ArrowDown');
  expect(orderOf(down)).toEqual(['b', 'a', 'c']);
  expect(orderOf(press(down, 'a', 'ArrowDown'))).toEqual(['b', 'c', 'a']);
  expect(press(down, 'a', 'ArrowUp')).toEqual(board);
  expect(press(board, 'a', 'ArrowUp')).toBe(board);
  expect(findBox(press(board, 'a', 'ArrowRight'), 'a')).toMatchObject({ x: 1, y: 0 });
  expect(findBox(press(board, 'b', 'ArrowRight', true), 'b')).toMatchObject({ w: 7, h: 4 });
  expect(findBox(press(board, 'a', 'ArrowDown', true), 'c')).toMatchObject({ y: 9 });
});

const place = { x: 0, y: 4, w: 12, h: 1 };
const tab: Tile = { tileId: 'more', kind: 'tab', text: 'More', ...place };
const idOfTab = boxFor([], 'more', tab, tab).id;

test('the arrow keys move a card over the title of a tab, and the title past a card', () => {
  const board = boardOf([card('a', 0, 0), card('b', 0, 5)], [tab]);
  const moved = press(board, 'a', 'ArrowDown');
  expect([findBox(moved, 'a')?.y, findBox(moved, idOfTab)?.y]).toEqual([1, 0]);
  expect(findBox(press(board, idOfTab, 'ArrowUp'), idOfTab)?.y).toBe(0);
  for (const arrow of ['ArrowLeft', 'ArrowRight'] as const)
    for (const isResize of [false, true]) expect(press(board, idOfTab, arrow, isResize)).toBe(board);
});

test('Studio knows how large pictures may be', () => {
  const { mostPictureBytes, mostPictureLength } = studio;
  const begin = 'data:image/png;base64,';
  const pictureOf = (bytes: number): string =>
    `${begin}iVBORw0KGg`.padEnd(begin.length + Math.ceil((bytes / 3) * 4), 'A');
  expect(pictureFault(pictureOf(mostPictureBytes))).toBeUndefined();
  expect(pictureFault(pictureOf(mostPictureBytes + 6))).toContain(`${mostPictureBytes} bytes`);
  const picture = (length: number): Tile => ({
    ...{ tileId: `${length}`, kind: 'image', source: 'x'.repeat(length), alt: 'A' },
    ...{ x: 0, y: 0, w: 1, h: 1 },
  });
  expect(tileFaults([picture(mostPictureLength - 1), picture(1)])).toEqual([]);
  expect(tileFaults([picture(mostPictureLength), picture(1)])).toHaveLength(1);
});

describe('an arranger', () => {
  const two = [
    { metricId: 'a', x: 0, y: 0, w: 6, h: 4 },
    { metricId: 'b', x: 6, y: 0, w: 6, h: 4 },
  ];
  const scale = { column: 100, row: 50, isMirrored: false };
  const held = (arranger: Arranger, id: string) => {
    const tile = arranger.boxes.find((one) => one.id === id);
    if (tile === undefined) throw new Error(`no tile ${id}`);
    return tile;
  };

  test('makes a whole drag one step, which is undone and redone', () => {
    const arranger = new Arranger(two, []);
    expect(arranger.take(held(arranger, 'b'), true, { x: 0, y: 0 })).toBe(true);
    expect(arranger.take(held(arranger, 'a'), true, { x: 0, y: 0 })).toBe(false);
    for (const x of [-60, -110, -210]) arranger.moveTo({ x, y: 60 }, scale);
    expect(arranger.drop()).toMatchObject({ x: 6, w: 4, h: 5 });
    expect(arranger.moveTo({ x: 0, y: 0 }, scale)).toBe(false);
    arranger.undo();
    expect([arranger.cards, arranger.isChanged, arranger.canRedo]).toEqual([two, false, true]);
    arranger.redo();
    expect(arranger.cards[1]).toMatchObject({ w: 4, h: 5 });
  });

  test('takes cards on and off in steps that are undone; a new one stands beside the others where there is room', () => {
    const arranger = new Arranger([{ metricId: 'a', x: 0, y: 0, w: 6, h: 4 }], []);
    expect(arranger.addCard('b', { w: 6, h: 4 })).toBe(true);
    expect(arranger.addCard('c', { w: 12, h: 2 })).toBe(true);
    expect(arranger.cards.slice(1)).toEqual([
      { metricId: 'b', x: 6, y: 0, w: 6, h: 4 },
      { metricId: 'c', x: 0, y: 4, w: 12, h: 2 },
    ]);
    arranger.removeAll([{ id: 'a' }]);
    arranger.removeAll([{ id: 'b' }]);
    expect(arranger.cards).toEqual([{ metricId: 'c', x: 0, y: 0, w: 12, h: 2 }]);
    arranger.undo();
    expect(arranger.cards.map(({ metricId }) => metricId)).toEqual(['b', 'c']);
  });

  test('makes and changes tiles, and removes several boxes at once, in steps that are undone', () => {
    const arranger = new Arranger(two, []);
    const id = arranger.add('h', { kind: 'heading', text: 'Sales' }, { w: 12, h: 1 }) ?? '';
    expect(arranger.tiles).toEqual([{ tileId: 'h', kind: 'heading', text: 'Sales', x: 0, y: 4, w: 12, h: 1 }]);
    arranger.edit(id, { kind: 'heading', text: 'Turnover' });
    arranger.removeAll([{ id }, { id: 'a' }]);
    expect([arranger.tiles, arranger.cards.map(({ metricId }) => metricId)]).toEqual([[], ['b']]);
    arranger.undo();
    expect(arranger.tiles).toMatchObject([{ tileId: 'h', text: 'Turnover' }]);
    expect(arranger.cards).toEqual(two);
    arranger.undo();
    arranger.undo();
    expect([arranger.tiles, arranger.canUndo]).toEqual([[], false]);
  });

  test('a tile that comes back to its place is no step', () => {
    const arranger = new Arranger(two, []);
    arranger.take(held(arranger, 'a'), false, { x: 0, y: 0 });
    arranger.moveTo({ x: 300, y: 300 }, scale);
    arranger.moveTo({ x: 10, y: 10 }, scale);
    arranger.drop();
    expect([arranger.cards, arranger.isChanged]).toEqual([two, false]);
  });

  test('is mirrored where the first column is on the right', () => {
    const arranger = new Arranger(two, []);
    arranger.press('b', 'ArrowRight', true, true);
    expect(held(arranger, 'b').w).toBe(5);
    arranger.take(held(arranger, 'b'), true, { x: 0, y: 0 });
    arranger.moveTo({ x: -100, y: 0 }, { ...scale, isMirrored: true });
    expect(arranger.drop()?.w).toBe(6);
  });
});

test('the reading order names every box once, from top to bottom, and changes no place', () => {
  fc.assert(
    fc.property(fc.array(aBox, { maxLength: 12 }), (boxes) => {
      const board = boxes.reduce<Board>(
        (now, box) => arrange(now, actionOf(now, { kind: 'add', box }) as BoardAction),
        [],
      );
      const read = inReadingOrder(board);
      expect(read.toSorted((a, b) => a.id.localeCompare(b.id))).toEqual(
        board.toSorted((a, b) => a.id.localeCompare(b.id)),
      );
      for (const [index, box] of read.entries()) {
        const next = read[index + 1];
        if (next !== undefined) expect(box.y < next.y || (box.y === next.y && box.x <= next.x)).toBe(true);
      }
    }),
  );
});
