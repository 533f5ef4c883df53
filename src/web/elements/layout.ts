/** The positions of a dashboard's cards on its grid of 12 columns. */
import type { LayoutCard } from '../../domain/dashboard/dashboard.js';
import type { Tile } from '../../domain/dashboard/tile.js';
import type { GuestDashboard, GuestMetric } from '../../domain/guest/view.js';

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

/** The cards with the tiles between them, in reading order. */
export const withTiles = (cards: readonly PlacedCard[], tiles: readonly Tile[]): readonly (PlacedCard | PlacedTile)[] =>
  [...cards, ...tiles.map((tile) => ({ tile, place: within(tile) }))].sort(inOrder);

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
