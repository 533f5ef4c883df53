/**
 * The guest-token request of a grant: every restriction bound to every granted dashboard and, where it binds metrics,
 * to every metric of them that is not hidden. What the service does not know there, it refuses at mint.
 */
import type { GuestTokenRequest } from '../contract/guest-tokens.js';
import type { Bound, BoundValues } from './combine.js';
import type { Session } from './identity.js';
import type { ListedMetric, ListMetrics } from './metric-lists.js';
import type { Grant } from './policy.js';
import type { ProvisionedDashboard } from './provision.js';

export type GuestRequestOf = {
  readonly dataApp: string;
  readonly clientId: string;
  readonly session: Session;
  readonly grant: Grant;
  readonly dashboards: readonly ProvisionedDashboard[];
};

type Params = NonNullable<GuestTokenRequest['params']>;
type Listed = { readonly dashboard: ProvisionedDashboard; readonly metrics: readonly ListedMetric[] };
type WireValues = Record<string, string | number | boolean | string[]>;

const wireValue = (value: Bound): string | number | boolean | string[] =>
  typeof value === 'object' ? [...value] : value;

const wireValues = (values: BoundValues): WireValues =>
  Object.fromEntries([...values].map(([name, value]) => [name, wireValue(value)]));

/** Whether the request names the metrics of its dashboards. */
export const needsMetrics = ({ restriction }: Grant): boolean =>
  restriction.rls.size + restriction.appFilters.size + restriction.hideMetrics.size > 0;

/** The ids to hide; a name that no metric bears is taken for the id of the template's metric, and checked at mint. */
const hiddenOf = ({ dashboard, metrics }: Listed, { restriction }: Grant): readonly string[] => {
  const hidden = (restriction.hideMetrics.get(dashboard.template) ?? []).flatMap((name) => {
    const found = metrics.filter((metric) => metric.name === name || metric.metricId === name);
    return found.length === 0 ? [name] : found.map(({ metricId }) => metricId);
  });
  return [...new Set(hidden)].toSorted();
};

const metricParams = (listed: readonly Listed[], grant: Grant): Params => {
  const { rls, appFilters } = grant.restriction;
  const hidden = listed.map((item) => ({ dashboardId: item.dashboard.id, metricIds: [...hiddenOf(item, grant)] }));
  const shown = new Set(
    listed.flatMap(({ metrics }, index) =>
      metrics.map(({ metricId }) => metricId).filter((metricId) => !hidden[index]?.metricIds.includes(metricId)),
    ),
  );
  const metricIds = [...shown].toSorted();
  const hideDashboardMetrics = hidden.filter((item) => item.metricIds.length > 0);
  return {
    ...(rls.size === 0 ? {} : { rlsSettings: metricIds.map((metricId) => ({ metricId, values: wireValues(rls) })) }),
    ...(appFilters.size === 0
      ? {}
      : { appFilters: metricIds.map((metricId) => ({ metricId, values: wireValues(appFilters) })) }),
    ...(hideDashboardMetrics.length === 0 ? {} : { hideDashboardMetrics }),
  };
};

const dashboardParams = (dashboards: readonly ProvisionedDashboard[], { restriction }: Grant): Params => {
  const { dashboardFilters, hideDashboardFilters } = restriction;
  return {
    ...(dashboardFilters.size === 0
      ? {}
      : {
          dashboardAppFilters: dashboards.map(({ id }) => ({
            dashboardId: id,
            values: wireValues(dashboardFilters),
            isShowOnUrl: false,
          })),
        }),
    ...(hideDashboardFilters.length === 0 ? {} : { hideDashboardFilters: [...hideDashboardFilters] }),
  };
};

const accessParams = ({ accessPermissions }: Grant): Params => {
  if (accessPermissions === null) return {};
  const { dashboardFilterColumns, metricFilterColumns, ...switches } = accessPermissions;
  const copy = (columns: typeof dashboardFilterColumns) =>
    columns?.map(({ tableName, columns: names }) => ({ tableName, columns: [...names] }));
  return {
    accessPermissions: {
      ...switches,
      ...(dashboardFilterColumns === undefined ? {} : { dashboardFilterColumns: copy(dashboardFilterColumns) }),
      ...(metricFilterColumns === undefined ? {} : { metricFilterColumns: copy(metricFilterColumns) }),
    },
  };
};

const listAll = (
  { dashboards, clientId, grant }: GuestRequestOf,
  listMetrics: ListMetrics,
): readonly Listed[] | Promise<readonly Listed[]> =>
  needsMetrics(grant)
    ? Promise.all(
        dashboards.map(async (dashboard) => ({ dashboard, metrics: await listMetrics(dashboard.id, clientId) })),
      )
    : [];

/** Deterministic: equal grants give equal requests. */
export const guestRequestOf = async (of: GuestRequestOf, listMetrics: ListMetrics): Promise<GuestTokenRequest> => {
  const { dataApp, clientId, session, grant, dashboards } = of;
  return {
    clientId,
    dataAppName: dataApp,
    params: {
      allowedEmbeds: dashboards.map(({ id }) => id).toSorted(),
      ...dashboardParams(dashboards, grant),
      ...metricParams(await listAll(of, listMetrics), grant),
      userIdentifier: session.userIdentifier,
      ...(grant.timezone === null ? {} : { timezone: grant.timezone }),
      ...accessParams(grant),
    },
    permissions: grant.permissions,
    expiryTime: grant.expiryMs,
  };
};
