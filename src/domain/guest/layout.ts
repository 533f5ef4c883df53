/** The cards of a board as one viewer has arranged them, and what of a new arrangement is kept where. */
import type { Dashboard, LayoutCard } from '../dashboard/dashboard.js';
import type { Metric } from '../dashboard/metric.js';

/** `known`: the metrics that were there when it was saved; those without a card were taken off the board. */
export type GuestLayout = { readonly cards: readonly LayoutCard[]; readonly known: readonly string[] };

/** The last row that a card may begin in. */
export const lastRow = 10_000;

const bottomOf = (cards: readonly LayoutCard[]): number =>
  Math.min(lastRow, Math.max(0, ...cards.map(({ y, h }) => y + h)));

const withId = ({ metricId, guest }: Metric): readonly LayoutCard[] =>
  guest === null || guest.card === null ? [] : [{ ...guest.card, metricId }];

/**
 * Every card of the board, whoever may see it; `metrics` are all that the client has there. What came after `own` was saved is below it.
 */
export const boardCards = (
  dashboard: Dashboard,
  metrics: readonly Metric[],
  own: GuestLayout | undefined,
): readonly LayoutCard[] => {
  const base = [...dashboard.layout, ...metrics.flatMap(withId)];
  if (own === undefined) return base;
  const bottom = bottomOf(own.cards);
  const later = base.filter(({ metricId }) => !own.known.includes(metricId));
  return [...own.cards, ...later.map((card) => ({ ...card, y: Math.min(lastRow, card.y + bottom) }))];
};

/** Where a new card goes that was given no place. */
export const nextCard = (cards: readonly LayoutCard[]) => ({ x: 0, y: bottomOf(cards), w: 6, h: 4 });

/** What of a board a new arrangement must not lose: the cards of metrics that `isKept`, which its viewer does not see. */
export type Arrangement = {
  readonly dashboard: Dashboard;
  readonly metrics: readonly Metric[];
  readonly own: GuestLayout | undefined;
  readonly isKept: (metric: Metric) => boolean;
};

const keptCards = ({ dashboard, metrics, own, isKept }: Arrangement): readonly LayoutCard[] => {
  const kept = new Set(metrics.filter(isKept).map(({ metricId }) => metricId));
  return boardCards(dashboard, metrics, own).filter(({ metricId }) => kept.has(metricId));
};

/** The viewer's own arrangement: its cards, those it does not see where they were, and which metrics it knew. */
export const ownLayout = (
  given: readonly LayoutCard[],
  open: ReadonlySet<string>,
  arrangement: Arrangement,
): GuestLayout => {
  const { metrics, own } = arrangement;
  const cards = [...given, ...keptCards(arrangement)];
  const wasKnown = new Set([...(own?.known ?? []), ...open, ...cards.map(({ metricId }) => metricId)]);
  return { cards, known: metrics.map(({ metricId }) => metricId).filter((id) => wasKnown.has(id)) };
};

/** The dashboard's own arrangement: cards of what the host made. Those of guests' metrics are with the metrics. */
export const dashboardLayout = (given: readonly LayoutCard[], arrangement: Arrangement): readonly LayoutCard[] => {
  const hosts = new Set(arrangement.metrics.flatMap(({ metricId, guest }) => (guest === null ? [metricId] : [])));
  return [...given, ...keptCards({ ...arrangement, own: undefined })].filter(({ metricId }) => hosts.has(metricId));
};
