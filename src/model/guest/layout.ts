/** The layout of a board as one viewer arranged it, and the rules for storing a new layout. */
import type { Dashboard, LayoutCard } from '../dashboard/dashboard.js';
import type { GridCard, Metric } from '../dashboard/metric.js';
import { placedTile, type Tile, type TilePlace } from '../dashboard/tile.js';

/**
 * A viewer's layout. `known` holds the ids of the metrics that existed when it was saved; those without a card were
 * removed from the board. Without `tiles`, tiles stand where the dashboard has them.
 */
export type GuestLayout = {
  readonly cards: readonly LayoutCard[];
  readonly known: readonly string[];
  readonly tiles?: readonly TilePlace[] | undefined;
};

/** The last row in which a card may start. */
export const lastRow = 10_000;

const bottomOf = (cards: readonly GridCard[]): number =>
  Math.min(lastRow, Math.max(0, ...cards.map(({ y, h }) => y + h)));

const withId = ({ metricId, guest }: Metric): readonly LayoutCard[] =>
  guest === null || guest.card === null ? [] : [{ ...guest.card, metricId }];

/**
 * Returns every card of the board; the caller must remove those that its viewer may not see. `metrics` are all metrics
 * of the client on the dashboard. Cards of metrics that were added after `own` was saved are placed below it.
 */
export const boardCards = (
  dashboard: Dashboard,
  metrics: readonly Metric[],
  own: GuestLayout | undefined,
): readonly LayoutCard[] => {
  const base = [...dashboard.layout, ...metrics.flatMap(withId)];
  if (own === undefined) return base;
  const later = base.filter(({ metricId }) => !own.known.includes(metricId));
  return [...own.cards, ...later.map((card) => below(own, card))];
};

const below = <T extends GridCard>({ cards, tiles = [] }: GuestLayout, card: T): T => ({
  ...card,
  y: Math.min(lastRow, card.y + bottomOf([...cards, ...tiles])),
});

/** Returns every tile of the board. Tiles that were added after `own` was saved are placed below it. */
export const boardTiles = ({ tiles = [] }: Dashboard, own: GuestLayout | undefined): readonly Tile[] => {
  const places = own?.tiles;
  if (own === undefined || places === undefined) return tiles;
  return tiles.map((tile) => {
    const place = places.find(({ tileId }) => tileId === tile.tileId);
    return placedTile(tile, place ?? below(own, tile));
  });
};

/** Returns the position of a new card that was given none. */
export const nextCard = (cards: readonly LayoutCard[]) => ({ x: 0, y: bottomOf(cards), w: 6, h: 4 });

/**
 * The board that a new layout applies to. Cards of metrics for which `isKept` returns true must not be lost, although
 * the viewer does not see them.
 */
export type Arrangement = {
  readonly dashboard: Dashboard;
  readonly metrics: readonly Metric[];
  readonly own: GuestLayout | undefined;
  readonly isKept: (metric: Metric) => boolean;
};

/** What a guest saves. Without `tiles`, tiles stay where they are. */
export type Given = {
  readonly layout: readonly LayoutCard[];
  readonly tiles?: readonly TilePlace[] | undefined;
};

const keptCards = ({ dashboard, metrics, own, isKept }: Arrangement): readonly LayoutCard[] => {
  const kept = new Set(metrics.filter(isKept).map(({ metricId }) => metricId));
  return boardCards(dashboard, metrics, own).filter(({ metricId }) => kept.has(metricId));
};

/**
 * Returns the viewer's own layout: the given cards, the unseen cards at their old positions, and the ids of the known
 * metrics.
 */
export const ownLayout = (given: Given, open: ReadonlySet<string>, arrangement: Arrangement): GuestLayout => {
  const { metrics, own } = arrangement;
  const cards = [...given.layout, ...keptCards(arrangement)];
  const wasKnown = new Set([...(own?.known ?? []), ...open, ...cards.map(({ metricId }) => metricId)]);
  const tiles = given.tiles ?? own?.tiles;
  return {
    cards,
    known: metrics.map(({ metricId }) => metricId).filter((id) => wasKnown.has(id)),
    ...(tiles === undefined ? {} : { tiles }),
  };
};

/**
 * Returns the dashboard's own layout: cards of metrics that the host made. Cards of guests' metrics are stored with the
 * metrics.
 */
export const dashboardLayout = (given: readonly LayoutCard[], arrangement: Arrangement): readonly LayoutCard[] => {
  const hosts = new Set(arrangement.metrics.flatMap(({ metricId, guest }) => (guest === null ? [metricId] : [])));
  return [...given, ...keptCards({ ...arrangement, own: undefined })].filter(({ metricId }) => hosts.has(metricId));
};
