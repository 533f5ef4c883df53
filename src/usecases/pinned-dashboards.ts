/** Which dashboards a token means by the names that it was made with. */

import type { Dashboard } from '../domain/dashboard/dashboard.js';
import { isOpenTo } from '../domain/guest/access.js';
import type { GuestGrant, PinnedDashboard } from '../domain/guest/grant.js';
import type { MintScope } from './mint-scope.js';

type Restrictions = Pick<GuestGrant, 'rlsSettings' | 'appFilters' | 'dashboardAppFilters' | 'hideDashboardMetrics'>;

const pin = ({ id, externalDashboardId }: Dashboard): PinnedDashboard => ({ externalDashboardId, dashboardId: id });

const named = async ({ store }: MintScope, restrictions: Restrictions): Promise<readonly Dashboard[]> => {
  const ids = [...restrictions.dashboardAppFilters, ...restrictions.hideDashboardMetrics].map(
    (entry) => entry.dashboardId,
  );
  const found = await Promise.all([...new Set(ids)].map((id) => store.dashboards.findById(id)));
  return found.filter((dashboard) => dashboard !== undefined);
};

const holding = async ({ store, ...client }: MintScope, restrictions: Restrictions): Promise<readonly Dashboard[]> => {
  const ids = [...restrictions.rlsSettings, ...restrictions.appFilters].map(({ metricId }) => metricId);
  const found = await Promise.all([...new Set(ids)].map((id) => store.metrics.listDashboards(id)));
  return found.flat().filter(({ owner }) => isOpenTo(owner, client));
};

/**
 * The dashboards of `allowedEmbeds`, those that a restriction names, and those that hold a metric that one names. What a
 * restriction names goes first: of two of one name, that one is meant.
 */
export const pinDashboards = async (
  scope: MintScope,
  restrictions: Restrictions,
): Promise<readonly PinnedDashboard[]> => {
  const first = await named(scope, restrictions);
  const others = [...(scope.allowed ?? []).map(({ dashboard }) => dashboard), ...(await holding(scope, restrictions))];
  const all = [
    ...first,
    ...others.filter(
      (other) => !first.some(({ externalDashboardId }) => externalDashboardId === other.externalDashboardId),
    ),
  ];
  return all.filter(({ id }, index) => all.findIndex((other) => other.id === id) === index).map(pin);
};
