import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Dashboard, LayoutCard } from '../../src/domain/dashboard/dashboard.js';
import { hostMade, type Metric } from '../../src/domain/dashboard/metric.js';
import type { GuestLayout } from '../../src/domain/guest/layout.js';
import { boardCards, dashboardLayout, ownLayout } from '../../src/domain/guest/layout.js';

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
        ownLayout(place(order), open, { dashboard, metrics, own, isKept });
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
