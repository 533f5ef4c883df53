/** Cards of a dashboard in two columns, as on a page of medium width and on paper. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Tile } from '../../src/model/dashboard/tile.js';
import type { GuestMetric } from '../../src/model/guest/view.js';
import { inTwoColumns, isNarrow, type PlacedCard, type PlacedTile } from '../../src/web/elements/layout.js';

type Item = PlacedCard | PlacedTile;
const place = (w: number) => ({ x: 0, y: 0, w, h: 4 });
const card = (metricId: string, w: number): PlacedCard => ({
  metric: {
    metricId,
    name: metricId,
    chart: { type: 'bar', dimensions: [], measures: [], isDrillable: false },
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

  it('keep what is below a heading there', () => {
    expect(laid(card('a', 6), heading, card('b', 6), card('c', 6))).toEqual(['a alone', 'heading', 'b', 'c']);
  });

  it('lose nothing and leave no half row empty', () => {
    const items = fc.array(fc.oneof(fc.integer({ min: 1, max: 12 }), fc.constant(null)), { maxLength: 40 });
    fc.assert(
      fc.property(items, (widths) => {
        const given = widths.map((w, at) => (w === null ? { ...heading } : card(String(at), w)));
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
