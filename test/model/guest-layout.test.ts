import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Dashboard, LayoutCard } from '../../src/model/dashboard/dashboard.js';
import { hostMade, type Metric } from '../../src/model/dashboard/metric.js';
import type { Tile } from '../../src/model/dashboard/tile.js';
import type { GuestLayout } from '../../src/model/guest/layout.js';
import { boardCards, boardTiles, dashboardLayout, ownLayout } from '../../src/model/guest/layout.js';

const ids = ['a', 'b', 'c', 'd', 'e', 'f'];
const card = (metricId: string, y: number): LayoutCard => ({ metricId, x: 0, y, w: 1, h: 1 });

/** Guests made the last two metrics. */
const metricOf = (metricId: string): Metric => ({
  metricId,
  workspaceId: 'w',
  name: metricId,
  definition: { kind: 'visual' } as Metric['definition'],
  lineage: [],
  owner: null,
  ...hostMade,
  guest:
    ids.indexOf(metricId) < 4
      ? null
      : {
          dashboardId: 'board',
          userIdentifier: null,
          isPublished: false,
          card: { x: 0, y: 9, w: 1, h: 1 },
          createdAt: new Date(0),
        },
});

const boardOf = (layout: readonly LayoutCard[]): Dashboard => ({
  id: 'board',
  externalDashboardId: 'board',
  workspaceId: 'w',
  name: 'Board',
  owner: null,
  templateId: null,
  layout,
  gridMargin: [],
  filters: [],
  metadata: null,
  isAllowPrivateMetricsByDefault: true,
});

const anyScene = fc.record({
  present: fc.subarray(ids),
  onBoard: fc.subarray(ids.slice(0, 4)),
  hidden: fc.subarray(ids),
  given: fc.shuffledSubarray(ids),
  again: fc.shuffledSubarray(ids),
  isOwn: fc.boolean(),
});

test('whatever a viewer arranges: it sees its cards and later ones, and what it does not see stays where it was', () => {
  fc.assert(
    fc.property(anyScene, ({ present, onBoard, hidden, given, again, isOwn }) => {
      const metrics = present.map(metricOf);
      const dashboard = boardOf(onBoard.filter((id) => present.includes(id)).map(card));
      const open = new Set(present.filter((id) => !hidden.includes(id)));
      const isKept = ({ metricId }: Metric): boolean => !open.has(metricId);
      const isSeen = ({ metricId }: LayoutCard): boolean => open.has(metricId);
      const place = (order: readonly string[]) =>
        order.filter((id) => open.has(id)).map((id, index) => card(id, index));
      const save = (own: GuestLayout | undefined, order: readonly string[]) =>
        ownLayout({ layout: place(order) }, open, { dashboard, metrics, own, isKept });
      const unseen = (cards: readonly LayoutCard[]) => cards.filter((one) => !isSeen(one));
      const before = boardCards(dashboard, metrics, undefined);
      const first = save(undefined, given);
      const own = isOwn ? save(first, again) : first;
      const after = boardCards(dashboard, metrics, own);
      expect(after.filter(isSeen)).toEqual(place(isOwn ? again : given));
      expect(unseen(after)).toEqual(unseen(before));
      const all = dashboardLayout(place(given), { dashboard, metrics, own: undefined, isKept });
      expect(unseen(all)).toEqual(unseen(dashboard.layout));
      expect(all.every(({ metricId }) => metricOf(metricId).guest === null)).toBe(true);
    }),
    { seed: 5 },
  );
});

test('tiles stand where the viewer put them; later ones go below, a removed one is gone, and a tab keeps its width', () => {
  const place = { x: 0, y: 0, w: 12, h: 1 };
  const heading: Tile = { tileId: 'h', kind: 'heading', text: 'Sales', ...place };
  const tab: Tile = { tileId: 't', kind: 'tab', text: 'More', ...place, y: 5 };
  const later: Tile = { tileId: 'l', kind: 'tab', text: 'Later', ...place, y: 6 };
  const board = (...tiles: Tile[]): Dashboard => ({ ...boardOf([]), tiles });
  const given = { layout: [card('a', 2)], tiles: [{ tileId: 'h', x: 3, y: 9, w: 4, h: 2 }] };
  const saved = ownLayout(
    { ...given, tiles: [...given.tiles, { tileId: 't', x: 3, y: 1, w: 4, h: 2 }] },
    new Set(['a']),
    { dashboard: board(heading, tab), metrics: [metricOf('a')], own: undefined, isKept: () => false },
  );
  const moved = [
    { ...heading, x: 3, y: 9, w: 4, h: 2 },
    { ...tab, y: 1 },
  ];
  expect(boardTiles(board(heading, tab), undefined)).toEqual([heading, tab]);
  expect(boardTiles(board(heading, tab, later), saved)).toEqual([...moved, { ...later, y: 17 }]);
  expect(boardTiles(board(tab), saved)).toEqual(moved.slice(1));
  const onlyCards = { dashboard: board(heading, tab), metrics: [metricOf('a')], own: saved, isKept: () => false };
  expect(boardTiles(board(heading, tab), ownLayout({ layout: [] }, new Set(['a']), onlyCards))).toEqual(moved);
});
