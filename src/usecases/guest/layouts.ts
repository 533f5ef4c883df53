/** How the cards of a board stand for one guest, and how it moves them. */
import type { Dashboard, LayoutCard } from '../../domain/dashboard/dashboard.js';
import type { Metric } from '../../domain/dashboard/metric.js';
import { assertWrites, isMadeFor, notOpen } from '../../domain/guest/access.js';
import type { GuestCaller } from '../../domain/guest/caller.js';
import type { GuestGrant } from '../../domain/guest/grant.js';
import type { GuestLayout } from '../../domain/guest/layout.js';
import { type Arrangement, boardCards, dashboardLayout, ownLayout } from '../../domain/guest/layout.js';
import type { Store } from '../../domain/store/store.js';
import { metricsFor, openMetricsOf } from '../embeds/lookup.js';
import { lockDashboard, openDashboard } from './scope.js';

/** The user's own arrangement, or the client's, which those tokens save that name no user. */
export const findLayout = async (
  store: Store,
  grant: GuestGrant,
  dashboard: Dashboard,
): Promise<GuestLayout | undefined> => {
  const own = await store.guestLayouts.find(dashboard.id, grant);
  if (own !== undefined || grant.userIdentifier === null) return own;
  return store.guestLayouts.find(dashboard.id, { ...grant, userIdentifier: null });
};

/** The cards that this guest sees: of all the metrics that its client has on the dashboard, those that are open to it. */
export const layoutFor = async (
  store: Store,
  grant: GuestGrant,
  dashboard: Dashboard,
  { all, open }: { readonly all: readonly Metric[]; readonly open: readonly Metric[] },
): Promise<readonly LayoutCard[]> => {
  const shown = new Set(open.map(({ metricId }) => metricId));
  const cards = boardCards(dashboard, all, await findLayout(store, grant, dashboard));
  return cards.filter(({ metricId }) => shown.has(metricId));
};

/** A client's dashboard is arranged by tokens that name no user; everybody else arranges it for themselves. */
const isDashboardsOwn = (grant: GuestGrant, dashboard: Dashboard): boolean =>
  dashboard.owner !== null && grant.userIdentifier === null;

const saveForAll = async (
  store: Store,
  layout: readonly LayoutCard[],
  open: ReadonlySet<string>,
  arrangement: Arrangement,
): Promise<void> => {
  const { dashboard, metrics } = arrangement;
  await store.dashboards.setLayout(dashboard.id, dashboardLayout(layout, arrangement));
  for (const { metricId, guest } of metrics) {
    if (guest === null || !open.has(metricId)) continue;
    const card = layout.find((candidate) => candidate.metricId === metricId);
    await store.guestMetrics.change(metricId, {
      card: card === undefined ? null : { x: card.x, y: card.y, w: card.w, h: card.h },
    });
  }
};

const save = async (store: Store, grant: GuestGrant, id: string, layout: readonly LayoutCard[]): Promise<void> => {
  const dashboard = await lockDashboard(store, grant, id);
  const metrics = await metricsFor(store, dashboard, grant);
  const open = new Set((await openMetricsOf(store, grant, dashboard)).map(({ metricId }) => metricId));
  if (layout.some(({ metricId }) => !open.has(metricId))) throw notOpen('card-of-a-metric-not-open');
  // What the token hides stays where it is for the tokens that do not hide it.
  const isKept = (metric: Metric): boolean => !open.has(metric.metricId) && isMadeFor(metric, grant);
  const own = await findLayout(store, grant, dashboard);
  const arrangement = { dashboard, metrics, own, isKept };
  if (isDashboardsOwn(grant, dashboard)) await saveForAll(store, layout, open, arrangement);
  else await store.guestLayouts.save(dashboard.id, grant, ownLayout(layout, open, arrangement));
};

type SaveLayout = { readonly dashboardId: string; readonly layout: readonly LayoutCard[] };

/** Throws UNAUTHORIZED where a card's metric is not open to the guest on this dashboard. */
export const saveGuestLayout =
  ({ store }: { readonly store: Store }) =>
  async ({ grant }: GuestCaller, { dashboardId, layout }: SaveLayout): Promise<readonly LayoutCard[]> => {
    const { embed, dashboard } = await openDashboard(store, grant, dashboardId);
    assertWrites(grant, embed, 'saveGuestLayout');
    await store.transaction((inner) => save(inner, grant, dashboard.id, layout));
    return layout;
  };
