/** The positions of a dashboard's cards on its grid of 12 columns. */
import type { LayoutCard } from '../../model/dashboard/dashboard.js';
import type { Tile } from '../../model/dashboard/tile.js';
import type { GuestDashboard, GuestMetric } from '../../model/guest/view.js';

export type Place = Omit<LayoutCard, 'metricId'>;
export type PlacedCard = { readonly metric: GuestMetric; readonly place: Place };
export type PlacedTile = { readonly tile: Tile; readonly place: Place };

const columns = 12;

/** Cards in reading order, for narrow screens and screen readers. A metric without a position goes to the end. */
export const cardsOf = ({
  metrics,
  layout,
  tiles = [],
}: Pick<GuestDashboard, 'metrics' | 'layout' | 'tiles'>): readonly PlacedCard[] => {
  const places = new Map(layout.map((card) => [card.metricId, card]));
  const bottom = Math.max(0, ...[...layout, ...tiles].map((card) => card.y + card.h));
  const unplaced = metrics.filter((metric) => !places.has(metric.metricId));
  const cards = metrics.map((metric) => ({
    metric,
    place: within(places.get(metric.metricId) ?? atEnd(bottom, unplaced.indexOf(metric))),
  }));
  return cards.sort(inOrder);
};

const inOrder = (a: { readonly place: Place }, b: { readonly place: Place }): number =>
  a.place.y - b.place.y || a.place.x - b.place.x;

export type TabTile = Extract<Tile, { kind: 'tab' }>;
/** What stands above the first tab, or on a tab. Rows count from its beginning. */
export type Section = { readonly tab: TabTile | undefined; readonly items: readonly (PlacedCard | PlacedTile)[] };

/** The cards with the tiles between them, in reading order. Tabs on which nothing stands are left out. */
export const sectionsOf = (cards: readonly PlacedCard[], tiles: readonly Tile[]): readonly Section[] => {
  const isTab = (tile: Tile): tile is TabTile => tile.kind === 'tab';
  const tabs = tiles.filter(isTab).sort((a, b) => a.y - b.y);
  const others = tiles.filter((tile) => !isTab(tile)).map((tile) => ({ tile, place: within(tile) }));
  const all = [...cards, ...others].sort(inOrder);
  return [undefined, ...tabs]
    .map((tab, index) => {
      const [from, to] = [tab?.y ?? -1, tabs[index]?.y ?? Number.POSITIVE_INFINITY];
      const items = all
        .filter(({ place: { y } }) => from <= y && y < to)
        .map((item) => ({ ...item, place: { ...item.place, y: Math.max(0, item.place.y - from - 1) } }));
      return { tab, items };
    })
    .filter(({ items }) => items.length > 0);
};

export const isNarrow = (item: PlacedCard | PlacedTile): boolean => 'metric' in item && item.place.w <= 6;

type Item = PlacedCard | PlacedTile;

/** Runs of cards, with the tiles between them: a heading stays above its cards. */
const runsOf = (items: readonly Item[]): readonly (readonly Item[])[] =>
  items.reduce<Item[][]>((runs, item) => {
    const last = runs.at(-1);
    if (last === undefined || 'tile' in item || last.some((other) => 'tile' in other)) runs.push([item]);
    else last.push(item);
    return runs;
  }, []);

/**
 * The items in the order in which two columns have no gap: a narrow card stands beside the next narrow one. `alone`: the
 * last ones of an odd number, which take both columns.
 */
export const inTwoColumns = (
  items: readonly Item[],
): { readonly items: readonly Item[]; readonly alone: ReadonlySet<Item> } => {
  const runs = runsOf(items).map((run) => {
    const narrow = run.filter(isNarrow);
    const ordered = run.flatMap((item) => {
      const at = narrow.indexOf(item);
      if (at < 0) return [item];
      return at % 2 === 0 ? narrow.slice(at, at + 2) : [];
    });
    return { ordered, alone: narrow.length % 2 === 1 ? narrow.slice(-1) : [] };
  });
  return { items: runs.flatMap(({ ordered }) => ordered), alone: new Set(runs.flatMap(({ alone }) => alone)) };
};

const atEnd = (bottom: number, index: number): Place => ({
  x: (index % 2) * 6,
  y: bottom + Math.floor(index / 2) * 4,
  w: 6,
  h: 4,
});

const within = ({ x, y, w, h }: Place): Place => {
  const left = Math.min(Math.max(0, Math.floor(x)), columns - 1);
  return {
    x: left,
    y: Math.max(0, Math.floor(y)),
    w: Math.min(Math.max(1, Math.floor(w)), columns - left),
    h: Math.max(1, Math.floor(h)),
  };
};
