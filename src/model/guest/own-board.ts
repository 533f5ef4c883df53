/**
 * A guest's own dashboard: cards of a dashboard that the guest opens, with a layout and tiles of its own. It holds no
 * data. Its reader opens the dashboard below it, and reads each card through that, so it never shows more than that.
 */
import type { LayoutCard } from '../dashboard/dashboard.js';
import type { Tile } from '../dashboard/tile.js';

/** A picture would cost too much room for each user. */
export type BoardTile = Exclude<Tile, { readonly kind: 'image' }>;

export type BoardContent = { readonly layout: readonly LayoutCard[]; readonly tiles: readonly BoardTile[] };

/** A board as one guest sees it in a list. `isOwn`: whether this guest made it. */
export type ListedBoard = {
  readonly id: string;
  readonly name: string;
  /** Whether all users of the client see the board. */
  readonly isShared: boolean;
  readonly isOwn: boolean;
};

/** `version` grows by one with each change. */
export type OwnBoard = ListedBoard & BoardContent & { readonly version: number };

/** Returns only the cards of metrics that its reader may read. */
export const shownBoard = (board: OwnBoard, open: ReadonlySet<string>): OwnBoard => ({
  ...board,
  layout: board.layout.filter(({ metricId }) => open.has(metricId)),
});

/**
 * Returns the cards to store: the given ones, and those of `before` that the writer does not see but that still exist
 * for this user. Another token of the user may show them.
 */
export const storedCards = (
  given: readonly LayoutCard[],
  before: readonly LayoutCard[],
  isKept: (metricId: string) => boolean,
): readonly LayoutCard[] => [...given, ...before.filter(({ metricId }) => isKept(metricId))];
