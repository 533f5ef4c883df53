/**
 * Loads the metric that a guest wants to change: a metric of its client, on a dashboard that the token opens, through
 * an embed that permits the write.
 */
import type { Dashboard } from '../../model/dashboard/dashboard.js';
import type { Metric, Owner } from '../../model/dashboard/metric.js';
import { assertWrites, type GuestWrite, isMetricKnown, isPermitted, notOpen } from '../../model/guest/access.js';
import type { GuestGrant } from '../../model/guest/grant.js';
import { Refusal } from '../../model/refusal.js';
import { findSource, type Opened, shownMetric } from '../embeds/lookup.js';
import type { MetricChange } from '../store/metrics.js';
import type { Store } from '../store/store.js';
import { assertInScope, opens } from './scope.js';

export type OwnedMetric = Metric & { readonly owner: Owner };
export type Target = { readonly opened: Opened; readonly metric: OwnedMetric };

const isOwned = (metric: Metric | undefined): metric is OwnedMetric => metric !== undefined && metric.owner !== null;

const dashboardsOf = async (store: Store, { metricId, guest }: Metric): Promise<readonly Dashboard[]> => {
  if (guest === null) return store.metrics.listDashboards(metricId);
  const dashboard = await store.dashboards.findById(guest.dashboardId);
  return dashboard === undefined ? [] : [dashboard];
};

const isInScope = async (store: Store, grant: GuestGrant, opened: Opened): Promise<boolean> => {
  if (!opens(grant, opened)) return false;
  try {
    await assertInScope(store, grant, opened);
    return true;
  } catch (error) {
    if (error instanceof Refusal) return false;
    throw error;
  }
};

/** Returns every embed through which the token opens one of these dashboards. */
const openedOf = async (
  store: Store,
  grant: GuestGrant,
  dashboards: readonly Dashboard[],
): Promise<readonly Opened[]> => {
  const found: Opened[] = [];
  for (const dashboard of dashboards) {
    for (const embed of await store.embeds.listByDashboard(grant.dataAppId, dashboard.id)) {
      if (await isInScope(store, grant, { embed, dashboard })) found.push({ embed, dashboard });
    }
  }
  return found;
};

/**
 * Throws UNAUTHORIZED if the token hides a part of the metric: a change would keep that part, and its answer would tell of
 * it.
 */
const assertWhole = async (store: Store, grant: GuestGrant, opened: Opened, metric: Metric): Promise<void> => {
  const source = await findSource(store, opened, grant);
  if (source?.datamart.ruled === undefined) return;
  const shown = shownMetric(metric, source)?.definition;
  if (JSON.stringify(shown) !== JSON.stringify(metric.definition)) throw notOpen('metric-needs-hidden-column');
};

/**
 * Returns the metric, archived or not. Throws UNAUTHORIZED with the same message if the metric does not exist, belongs
 * to the organization, another client or another user, or is hidden on any dashboard. Also throws UNAUTHORIZED if no
 * embed that opens it permits the write, or the token hides a column that the metric reads.
 */
export const loadTarget = async (
  store: Store,
  grant: GuestGrant,
  metricId: string,
  write: GuestWrite,
): Promise<Target> => {
  const metric = (await store.guestMetrics.findById(metricId)) ?? (await store.metrics.findById(metricId));
  if (!isOwned(metric)) throw notOpen('metric-of-nobodys-client');
  const maker = metric.guest?.userIdentifier ?? null;
  // A published metric can be read by all users of the client, but changed only by its maker.
  if (maker !== null && maker !== grant.userIdentifier) throw notOpen('metric-of-another-user');
  const dashboards = await dashboardsOf(store, metric);
  if (!dashboards.every((dashboard) => isMetricKnown(grant, dashboard, metric))) throw notOpen('metric-not-known');
  const [first, ...others] = await openedOf(store, grant, dashboards);
  if (first === undefined) throw notOpen('metric-on-no-open-dashboard');
  const opened = [first, ...others].find(({ embed }) => isPermitted(grant, embed, write)) ?? first;
  assertWrites(grant, opened.embed, write);
  await assertWhole(store, grant, opened, metric);
  return { opened, metric };
};

/** Stores the change. Throws UNAUTHORIZED if the metric was deleted. */
export const changeTarget = async (store: Store, metric: OwnedMetric, change: MetricChange): Promise<void> => {
  const { metricId, owner, guest } = metric;
  const isChanged =
    guest === null
      ? await store.metrics.change(metricId, owner, change)
      : await store.guestMetrics.change(metricId, change);
  if (!isChanged) throw notOpen('metric-gone');
};
