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

/** Rows of the grid that a single value takes if nothing taller stands beside it; undefined: as many as it was given. */
export const ownRows = (item: Item): number | undefined => {
  if (!('metric' in item) || item.metric.chart.type !== 'singleValue') return undefined;
  const { dimensions, comparison } = item.metric.chart;
  return dimensions.length > 0 || comparison !== undefined ? 3 : 2;
};

/** Items that share rows, from top to bottom: no item of one band reaches into another. */
const bandsOf = (items: readonly Item[]): readonly (readonly Item[])[] => {
  const bands: Item[][] = [];
  let bottom = 0;
  for (const item of items.toSorted(inOrder)) {
    const last = bands.at(-1);
    if (last === undefined || item.place.y >= bottom) bands.push([item]);
    else last.push(item);
    bottom = Math.max(bottom, item.place.y + item.place.h);
  }
  return bands;
};

/** The height of a band. Single values alone need not be as high as they were placed. */
const heightOf = (band: readonly Item[], top: number): number => {
  const given = Math.max(...band.map(({ place }) => place.y + place.h)) - top;
  const own = band.map(ownRows);
  const isOneRow = band.every(({ place }) => place.y === top);
  if (!isOneRow || own.includes(undefined)) return given;
  return Math.min(given, Math.max(...own.map((rows = 0) => rows)));
};

/** Widens the cards of one row up to the next, and the last to the edge. Tiles keep their width. */
const filled = (row: readonly Item[]): readonly Item[] => {
  const ordered = row.toSorted(inOrder);
  const [first] = ordered;
  const isOneRow = ordered.every(({ place }) => place.y === first?.place.y && place.h === first.place.h);
  if (!isOneRow || ordered.some((item) => !('metric' in item))) return row;
  return ordered.map((item, at) => {
    const x = at === 0 ? 0 : item.place.x;
    const end = ordered[at + 1]?.place.x ?? columns;
    return { ...item, place: { ...item.place, x, w: end - x } };
  });
};

/**
 * The items as a wide page shows them: without rows in which nothing stands, single values as high as what they say, and
 * each row filled: a gap is where a card is hidden from this guest, or where the author left one.
 */
export const onGrid = (items: readonly Item[]): readonly Item[] => {
  const bands = bandsOf(items);
  let y = 0;
  return bands.flatMap((band) => {
    const top = Math.min(...band.map(({ place }) => place.y));
    const height = heightOf(band, top);
    const moved = band.map((item) => ({
      ...item,
      place: { ...item.place, y: item.place.y - top + y, h: Math.min(item.place.h, height) },
    }));
    y += height;
    return filled(moved);
  });
};

/** Runs of cards, with the tiles between them: a heading stays above its cards. */
const runsOf = (items: readonly Item[]): readonly (readonly Item[])[] =>
  items.reduce<Item[][]>((runs, item) => {
    const last = runs.at(-1);
    if (last === undefined || 'tile' in item || last.some((other) => 'tile' in other)) runs.push([item]);
    else last.push(item);
    return runs;
  }, []);

/** Narrow cards by twos, in the order of the first of each two, and the last of an odd number. */
const pairsOf = (run: readonly Item[], isOf: (item: Item) => boolean) => {
  const narrow = run.filter((item) => isNarrow(item) && isOf(item));
  const pairs = new Map<Item, readonly Item[]>();
  for (let at = 0; at < narrow.length; at += 2) {
    const [first, ...rest] = narrow.slice(at, at + 2);
    if (first !== undefined) pairs.set(first, [first, ...rest]);
  }
  return { pairs, alone: narrow.length % 2 === 1 ? narrow.slice(-1) : [] };
};

/**
 * The items in the order in which two columns have no gap: a narrow card stands beside the next narrow one, a single value
 * beside a single value, so that neither is as high as a chart. `alone`: the last ones of an odd number, which take both
 * columns.
 */
export const inTwoColumns = (
  items: readonly Item[],
): { readonly items: readonly Item[]; readonly alone: ReadonlySet<Item> } => {
  const runs = runsOf(items).map((run) => {
    const kinds = [
      pairsOf(run, (item) => ownRows(item) === undefined),
      pairsOf(run, (item) => ownRows(item) !== undefined),
    ];
    const pairs = new Map(kinds.flatMap((kind) => [...kind.pairs]));
    const ordered = run.flatMap((item) => (isNarrow(item) ? (pairs.get(item) ?? []) : [item]));
    return { ordered, alone: kinds.flatMap(({ alone }) => alone) };
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
