/** Layouts of a board for one guest: reading and saving. */
import type { Dashboard, LayoutCard } from '../../model/dashboard/dashboard.js';
import type { Metric } from '../../model/dashboard/metric.js';
import type { Tile, TilePlace } from '../../model/dashboard/tile.js';
import { assertWrites, isMadeFor, notOpen } from '../../model/guest/access.js';
import type { GuestCaller } from '../../model/guest/caller.js';
import type { GuestGrant } from '../../model/guest/grant.js';
import {
  type Arrangement,
  boardCards,
  boardTiles,
  dashboardLayout,
  type Given,
  type GuestLayout,
  ownLayout,
} from '../../model/guest/layout.js';
import { metricsFor, type Opened, openMetricsOf } from '../embeds/lookup.js';
import type { Store } from '../store/store.js';
import { lockDashboard, openDashboard } from './scope.js';

/** Returns the user's own layout, else the client's, which tokens without a user save. */
const findLayout = async (store: Store, grant: GuestGrant, dashboard: Dashboard): Promise<GuestLayout | undefined> => {
  const own = await store.guestLayouts.find(dashboard.id, grant);
  if (own !== undefined || grant.userIdentifier === null) return own;
  return store.guestLayouts.find(dashboard.id, { ...grant, userIdentifier: null });
};

type Board = { readonly layout: readonly LayoutCard[]; readonly tiles: readonly Tile[] };

/** Returns the cards of the metrics that are open to this guest, and all tiles. */
export const boardFor = async (
  store: Store,
  grant: GuestGrant,
  dashboard: Dashboard,
  { all, open }: { readonly all: readonly Metric[]; readonly open: readonly Metric[] },
): Promise<Board> => {
  const shown = new Set(open.map(({ metricId }) => metricId));
  const own = await findLayout(store, grant, dashboard);
  const layout = boardCards(dashboard, all, own).filter(({ metricId }) => shown.has(metricId));
  return { layout, tiles: boardTiles(dashboard, own) };
};

/**
 * Whether the guest changes the dashboard's own layout. Tokens without a user do so on their client's dashboard; all
 * other tokens save a layout of their own.
 */
const isDashboardsOwn = (grant: GuestGrant, dashboard: Dashboard): boolean =>
  dashboard.owner !== null && grant.userIdentifier === null;

const saveForAll = async (
  store: Store,
  { layout, tiles }: Given,
  open: ReadonlySet<string>,
  arrangement: Arrangement,
): Promise<void> => {
  const { dashboard, metrics } = arrangement;
  const placed = tiles === undefined ? undefined : boardTiles(dashboard, { cards: layout, known: [], tiles });
  await store.dashboards.setLayout(dashboard.id, dashboardLayout(layout, arrangement), placed);
  for (const { metricId, guest } of metrics) {
    if (guest === null || !open.has(metricId)) continue;
    const card = layout.find((candidate) => candidate.metricId === metricId);
    await store.guestMetrics.change(metricId, {
      card: card === undefined ? null : { x: card.x, y: card.y, w: card.w, h: card.h },
    });
  }
};

const save = async (
  store: Store,
  grant: GuestGrant,
  { embed, dashboard: { id } }: Opened,
  given: Given,
): Promise<void> => {
  const dashboard = await lockDashboard(store, grant, id);
  const metrics = await metricsFor(store, dashboard, grant);
  const open = new Set((await openMetricsOf(store, grant, { embed, dashboard })).map(({ metricId }) => metricId));
  if (given.layout.some(({ metricId }) => !open.has(metricId))) throw notOpen('card-of-a-metric-not-open');
  const isThere = ({ tileId }: TilePlace): boolean => dashboard.tiles?.some((tile) => tile.tileId === tileId) === true;
  if (given.tiles?.every(isThere) === false) throw notOpen('tile-not-on-the-dashboard');
  // Cards of metrics that this token hides keep their positions for other tokens.
  const isKept = (metric: Metric): boolean => !open.has(metric.metricId) && isMadeFor(metric, grant);
  const own = await findLayout(store, grant, dashboard);
  const arrangement = { dashboard, metrics, own, isKept };
  if (isDashboardsOwn(grant, dashboard)) await saveForAll(store, given, open, arrangement);
  else await store.guestLayouts.save(dashboard.id, grant, ownLayout(given, open, arrangement));
};

type SaveLayout = Given & { readonly dashboardId: string };

/** Saves a layout. Throws UNAUTHORIZED if a card's metric is not open to the guest on this dashboard. */
export const saveGuestLayout =
  ({ store }: { readonly store: Store }) =>
  async ({ grant }: GuestCaller, { dashboardId, layout, tiles }: SaveLayout): Promise<readonly LayoutCard[]> => {
    const { embed, dashboard } = await openDashboard(store, grant, dashboardId);
    assertWrites(grant, embed, 'saveGuestLayout');
    await store.transaction((inner) => save(inner, grant, { embed, dashboard }, { layout, tiles }));
    return layout;
  };

/**
 * Deletes the viewer's own layout, and returns the cards that the viewer sees then. A token without a user has no
 * layout of its own on its client's dashboard: that layout is the dashboard's, and stays.
 */
export const restoreGuestLayout =
  ({ store }: { readonly store: Store }) =>
  async ({ grant }: GuestCaller, { dashboardId }: Pick<SaveLayout, 'dashboardId'>): Promise<readonly LayoutCard[]> => {
    const { embed, dashboard } = await openDashboard(store, grant, dashboardId);
    assertWrites(grant, embed, 'restoreGuestLayout');
    return store.transaction(async (inner) => {
      const locked = await lockDashboard(inner, grant, dashboard.id);
      await inner.guestLayouts.delete(locked.id, grant);
      const all = await metricsFor(inner, locked, grant);
      const board = await boardFor(inner, grant, locked, {
        all,
        open: await openMetricsOf(inner, grant, { embed, dashboard: locked }),
      });
      return board.layout;
    });
  };
