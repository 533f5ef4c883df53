/** The layout of a dashboard: whatever is done, tiles stay on the 12 columns, never overlap, and none is lost. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { saveGuestLayout } from '../../src/contract/guest-boards.js';
import { Arranger } from '../../src/web/editor/arranger.js';
import {
  arrange,
  type Board,
  type BoardAction,
  boardOf,
  cardsOf,
  columns,
  findTile,
  inGrid,
  keyAction,
  type Place,
  type Tile,
} from '../../src/web/editor/board.js';

const aNumber = fc.oneof(fc.integer({ min: -3, max: 60 }), fc.constantFrom(Number.NaN, 1e9, 0.5));
const aPlace = fc.record({ x: aNumber, y: aNumber, w: aNumber, h: aNumber });
const anId = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f');
const aTab = fc.constantFrom('first', 'second', 'third');
const aTile = fc.record({
  id: anId,
  place: aPlace,
  content: fc.oneof(
    anId.map((metricId): Tile['content'] => ({ kind: 'metric', metricId })),
    fc.constant<Tile['content']>({ kind: 'heading', text: 'Sales' }),
  ),
});
const key = fc.constantFrom('ArrowLeft' as const, 'ArrowRight' as const, 'ArrowUp' as const, 'ArrowDown' as const);
const aStep = fc.oneof(
  fc.record({ kind: fc.constant('addTile' as const), tab: aTab, tile: aTile }),
  fc.record({ kind: fc.constant('removeTile' as const), id: anId }),
  fc.record({ kind: fc.constant('place' as const), id: anId, place: aPlace }),
  fc.record({ kind: fc.constant('toTab' as const), id: anId, tab: aTab }),
  fc.record({ kind: fc.constant('addTab' as const), id: aTab, name: fc.constantFrom('Two', ' ') }),
  fc.record({ kind: fc.constant('removeTab' as const), id: aTab }),
  fc.record({ kind: fc.constant('key' as const), id: anId, key, isResize: fc.boolean() }),
);
type Step = typeof aStep extends fc.Arbitrary<infer T> ? T : never;

const actionOf = (board: Board, step: Step): BoardAction | undefined => {
  if (step.kind === 'key') return keyAction(board, step.id, step.key, step.isResize);
  if (step.kind !== 'addTile') return step;
  const { place, content, id } = step.tile;
  return {
    ...step,
    tile: { ...place, id, content: content.kind === 'metric' ? { ...content, metricId: id } : content },
  };
};

const areApart = (a: Place, b: Place): boolean =>
  a.x >= b.x + b.w || b.x >= a.x + a.w || a.y >= b.y + b.h || b.y >= a.y + a.h;

const assertSound = ({ tabs }: Board): void => {
  for (const { tiles } of tabs) {
    for (const tile of tiles) {
      const { x, y, w, h } = tile;
      expect([inGrid(tile), x + w <= columns]).toEqual([{ x, y, w, h }, true]);
      const others = tiles.filter((other) => other !== tile);
      expect(others.filter((other) => !areApart(tile, other))).toEqual([]);
      const isHeld =
        y === 0 || others.some((other) => other.y + other.h === y && !areApart({ ...tile, y: y - 1 }, other));
      expect(isHeld, 'nothing is above the tile').toBe(true);
    }
  }
};

test('no sequence of actions makes tiles overlap, leave the grid or disappear', () => {
  fc.assert(
    fc.property(fc.array(aStep, { minLength: 1, maxLength: 30, size: 'max' }), (steps) => {
      let board = boardOf('Board', []);
      for (const step of steps) {
        const before = board.tabs.flatMap(({ tiles }) => tiles.map(({ id }) => id)).toSorted();
        const action = actionOf(board, step);
        if (action !== undefined) board = arrange(board, action);
        assertSound(board);
        const after = board.tabs.flatMap(({ tiles }) => tiles.map(({ id }) => id)).toSorted();
        if (step.kind !== 'addTile' && step.kind !== 'removeTile') expect(after).toEqual(before);
        expect(board.tabs.length).toBeGreaterThan(0);
      }
      const layout = cardsOf(board);
      expect(saveGuestLayout.input.safeParse({ dashboardId: 'd', layout }).success).toBe(true);
      assertSound(boardOf('Board', layout));
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
  const board = boardOf('Board', [card('a', 0, 0), card('b', 0, 4), card('c', 0, 8)]);
  const down = press(board, 'a', 'ArrowDown');
  expect(orderOf(down)).toEqual(['b', 'a', 'c']);
  expect(orderOf(press(down, 'a', 'ArrowDown'))).toEqual(['b', 'c', 'a']);
  expect(press(down, 'a', 'ArrowUp')).toEqual(board);
  expect(press(board, 'a', 'ArrowUp')).toBe(board);
  expect(findTile(press(board, 'a', 'ArrowRight'), 'a')?.tile).toMatchObject({ x: 1, y: 0 });
  expect(findTile(press(board, 'b', 'ArrowRight', true), 'b')?.tile).toMatchObject({ w: 7, h: 4 });
  expect(findTile(press(board, 'a', 'ArrowDown', true), 'c')?.tile).toMatchObject({ y: 9 });
});

test('the tiles of a removed tab go to the tab before it, and the last tab stays', () => {
  const board = boardOf('Board', [card('a', 0, 0)]);
  const two = arrange(board, { kind: 'addTab', id: 'second', name: 'Two' });
  const moved = arrange(two, { kind: 'toTab', id: 'a', tab: 'second' });
  expect(moved.tabs.map(({ tiles }) => tiles.length)).toEqual([0, 1]);
  expect(arrange(moved, { kind: 'removeTab', id: 'second' })).toEqual(board);
  expect(arrange(board, { kind: 'removeTab', id: 'first' })).toBe(board);
});

describe('an arranger', () => {
  const two = [
    { metricId: 'a', x: 0, y: 0, w: 6, h: 4 },
    { metricId: 'b', x: 6, y: 0, w: 6, h: 4 },
  ];
  const scale = { column: 100, row: 50, isMirrored: false };
  const held = (arranger: Arranger, id: string) => {
    const tile = arranger.tiles.find((one) => one.id === id);
    if (tile === undefined) throw new Error(`no tile ${id}`);
    return tile;
  };

  test('makes a whole drag one step, which is undone and redone', () => {
    const arranger = new Arranger(two);
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

  test('a tile that comes back to its place is no step', () => {
    const arranger = new Arranger(two);
    arranger.take(held(arranger, 'a'), false, { x: 0, y: 0 });
    arranger.moveTo({ x: 300, y: 300 }, scale);
    arranger.moveTo({ x: 10, y: 10 }, scale);
    arranger.drop();
    expect([arranger.cards, arranger.isChanged]).toEqual([two, false]);
  });

  test('is mirrored where the first column is on the right', () => {
    const arranger = new Arranger(two);
    arranger.press('b', 'ArrowRight', true, true);
    expect(held(arranger, 'b').w).toBe(5);
    arranger.take(held(arranger, 'b'), true, { x: 0, y: 0 });
    arranger.moveTo({ x: -100, y: 0 }, { ...scale, isMirrored: true });
    expect(arranger.drop()?.w).toBe(6);
  });
});
