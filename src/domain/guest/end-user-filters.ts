/** What a guest may do with filters of its own: the token's word goes before the embed's. */
import { type Dashboard, isOrCopies, sameName } from '../dashboard/dashboard.js';
import type { AccessSettings, FilterColumns } from '../dashboard/embed.js';
import type { Datamart } from '../datamart/datamart.js';
import type { FilterValue } from '../filter/filter.js';
import { type FilterableColumns, filterableColumns, listColumns, noColumns } from './column-filters.js';
import type { AccessPermissions, GuestGrant } from './grant.js';

/** As it holds for one embed. The columns are those that there are, where filters are allowed; otherwise none. */
export type EffectiveAccess = {
  readonly isAllowEndUserDashboardFilter: boolean;
  readonly dashboardFilterColumns: readonly FilterColumns[];
  readonly isAllowEndUserMetricFilter: boolean;
  readonly metricFilterColumns: readonly FilterColumns[];
  readonly isAllowDashboardFilterNameChange: boolean;
  readonly isAllowMetricFilterNameChange: boolean;
};

/** Whether end-user filters are allowed of a dashboard or of a metric. spec-gap: what nobody allows is not allowed. */
export const areEndUserFiltersAllowed = (
  token: AccessPermissions,
  settings: AccessSettings | null,
): { readonly dashboard: boolean; readonly metric: boolean } => ({
  dashboard: token.isAllowEndUserDashboardFilter ?? settings?.isAllowEndUserDashboardFilter ?? false,
  metric: token.isAllowEndUserMetricFilter ?? settings?.isAllowEndUserMetricFilter ?? false,
});

export type EndUserColumns = { readonly dashboard: FilterableColumns; readonly metric: FilterableColumns };

/** The columns of the embed's datamart that a guest may filter by. spec-gap: a list in the token takes the place of the embed's. */
export const endUserColumns = (
  token: AccessPermissions,
  settings: AccessSettings | null,
  datamart: Datamart | undefined,
): EndUserColumns => {
  const isAllowed = areEndUserFiltersAllowed(token, settings);
  const columns = (isOpen: boolean, list: readonly FilterColumns[] | undefined): FilterableColumns =>
    isOpen && datamart !== undefined ? filterableColumns(datamart, list ?? null) : noColumns;
  return {
    dashboard: columns(isAllowed.dashboard, token.dashboardFilterColumns ?? settings?.dashboardFilterColumns),
    metric: columns(isAllowed.metric, token.metricFilterColumns ?? settings?.metricFilterColumns),
  };
};

/** No setting of an embed allows names to be changed: spec-gap: only a token does. */
export const effectiveAccess = (
  token: AccessPermissions,
  settings: AccessSettings | null,
  datamart: Datamart | undefined,
): EffectiveAccess => {
  const isAllowed = areEndUserFiltersAllowed(token, settings);
  const columns = endUserColumns(token, settings, datamart);
  return {
    isAllowEndUserDashboardFilter: isAllowed.dashboard,
    dashboardFilterColumns: listColumns(columns.dashboard),
    isAllowEndUserMetricFilter: isAllowed.metric,
    metricFilterColumns: listColumns(columns.metric),
    isAllowDashboardFilterNameChange: token.isAllowDashboardFilterNameChange ?? false,
    isAllowMetricFilterNameChange: token.isAllowMetricFilterNameChange ?? false,
  };
};

/**
 * The value that the token enforces for a filter and lets be seen (`isShowOnUrl`). spec-gap: where it enforces several, no one value
 * says what holds; one that is written in SQL is never shown.
 */
export const appliedValue = (
  { dashboardAppFilters }: Pick<GuestGrant, 'dashboardAppFilters'>,
  dashboard: Dashboard,
  name: string,
): FilterValue | undefined => {
  const shown = dashboardAppFilters
    .filter((entry) => entry.isShowOnUrl && isOrCopies(dashboard, entry.dashboardId))
    .flatMap(({ values }) => Object.entries(values))
    .flatMap(([key, value]) => (sameName(key, name) ? [value] : []));
  const [value] = shown;
  if (value === undefined || shown.length > 1) return undefined;
  return typeof value === 'object' && 'sql' in value ? undefined : value;
};
