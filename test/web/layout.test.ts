/** Cards of a dashboard on a wide page, and in two columns, as on a page of medium width and on paper. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Tile } from '../../src/model/dashboard/tile.js';
import type { GuestMetric } from '../../src/model/guest/view.js';
import { inTwoColumns, isNarrow, onGrid, type PlacedCard, type PlacedTile } from '../../src/web/elements/layout.js';

type Item = PlacedCard | PlacedTile;
const place = (w: number) => ({ x: 0, y: 0, w, h: 4 });
const card = (metricId: string, w: number, type = 'bar'): PlacedCard => ({
  metric: {
    metricId,
    name: metricId,
    chart: { type, dimensions: [], measures: [], isDrillable: false },
    filters: [],
  } as GuestMetric,
  place: place(w),
});
const heading: PlacedTile = {
  tile: { kind: 'heading', tileId: 'h', text: 'h', x: 0, y: 0, w: 12, h: 1 } as Tile,
  place: place(12),
};
const nameOf = (item: Item): string => ('metric' in item ? item.metric.metricId : 'heading');
const laid = (...items: readonly Item[]) => {
  const { items: ordered, alone } = inTwoColumns(items);
  return ordered.map((item) => `${nameOf(item)}${alone.has(item) ? ' alone' : ''}`);
};

describe('two columns', () => {
  it('have narrow cards side by side, and an odd last one over both', () => {
    expect(laid(card('a', 6), card('wide', 12), card('b', 4), card('c', 3))).toEqual(['a', 'b', 'wide', 'c alone']);
  });

  it('have single values beside single values, so that neither is as high as a chart', () => {
    const value = (name: string) => card(name, 3, 'singleValue');
    expect(laid(card('a', 6), value('n'), card('b', 6))).toEqual(['a', 'b', 'n alone']);
    expect(laid(value('n'), card('a', 6), value('m'))).toEqual(['n', 'm', 'a alone']);
  });

  it('keep what is below a heading there', () => {
    expect(laid(card('a', 6), heading, card('b', 6), card('c', 6))).toEqual(['a alone', 'heading', 'b', 'c']);
  });

  it('lose nothing and leave no half row empty', () => {
    const kinds = fc.record({ w: fc.integer({ min: 1, max: 12 }), type: fc.constantFrom('bar', 'singleValue') });
    const items = fc.array(fc.oneof(kinds, fc.constant(null)), { maxLength: 40 });
    fc.assert(
      fc.property(items, (all) => {
        const given = all.map((one, at) => (one === null ? { ...heading } : card(String(at), one.w, one.type)));
        const { items: ordered, alone } = inTwoColumns(given);
        expect(new Set(ordered)).toEqual(new Set(given));
        expect(ordered).toHaveLength(given.length);
        let used = 0;
        for (const item of ordered) {
          const span = isNarrow(item) && !alone.has(item) ? 1 : 2;
          expect(used + span).toBeLessThanOrEqual(2);
          used = (used + span) % 2;
        }
        expect(used).toBe(0);
      }),
    );
  });
});

describe('a wide page', () => {
  const at = (x: number, y: number, w: number, h: number, type = 'bar'): PlacedCard => ({
    ...card(`${x} ${y}`, w, type),
    place: { x, y, w, h },
  });
  const placesOf = (...items: readonly Item[]) => onGrid(items).map(({ place: { x, y, w, h } }) => [x, y, w, h]);

  it('has no row in which nothing stands, as where a token hides cards', () => {
    expect(placesOf(at(0, 4, 12, 4), at(0, 12, 12, 2))).toEqual([
      [0, 0, 12, 4],
      [0, 4, 12, 2],
    ]);
  });

  it('has rows of single values as high as what they say, and moves the others up', () => {
    const value = (x: number) => at(x, 0, 6, 4, 'singleValue');
    expect(placesOf(value(0), value(6), at(0, 4, 12, 4))).toEqual([
      [0, 0, 6, 2],
      [6, 0, 6, 2],
      [0, 2, 12, 4],
    ]);
    // Beside a chart, the chart decides.
    expect(placesOf(at(0, 0, 9, 4), at(9, 0, 3, 4, 'singleValue'))).toEqual([
      [0, 0, 9, 4],
      [9, 0, 3, 4],
    ]);
  });

  it('fills each row, as where a token hides a card of it', () => {
    expect(placesOf(at(0, 0, 6, 4), at(0, 4, 6, 4))).toEqual([
      [0, 0, 12, 4],
      [0, 4, 12, 4],
    ]);
    expect(placesOf(at(2, 0, 3, 4), at(6, 0, 3, 4))).toEqual([
      [0, 0, 6, 4],
      [6, 0, 6, 4],
    ]);
    // A heading or a text is as wide as its author made it.
    const text = { ...heading, place: { x: 0, y: 0, w: 4, h: 1 } };
    expect(placesOf(text)).toEqual([[0, 0, 4, 1]]);
  });

  it('loses nothing, and no two of its cards overlap that did not before', () => {
    const cell = fc.record({
      ...{ x: fc.integer({ min: 0, max: 11 }), y: fc.integer({ min: 0, max: 9 }), w: fc.integer({ min: 1, max: 12 }) },
      ...{ h: fc.integer({ min: 1, max: 5 }), type: fc.constantFrom('bar', 'singleValue') },
    });
    type Box = { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
    const overlap = (a: Box, b: Box) => a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;
    fc.assert(
      fc.property(fc.array(cell, { maxLength: 12 }), (cells) => {
        const apart = cells
          .map((each) => ({ ...each, w: Math.min(each.w, 12 - each.x) }))
          .reduce<(Box & { type: string })[]>(
            (all, each) => (all.some((one) => overlap(one, each)) ? all : all.concat(each)),
            [],
          );
        const laidOut = onGrid(apart.map(({ x, y, w, h, type }) => at(x, y, w, h, type))).map(({ place }) => place);
        expect(laidOut).toHaveLength(apart.length);
        for (const [index, one] of laidOut.entries()) {
          expect(one.x + one.w).toBeLessThanOrEqual(12);
          for (const other of laidOut.slice(index + 1)) expect(overlap(one, other)).toBe(false);
        }
      }),
    );
  });
});
