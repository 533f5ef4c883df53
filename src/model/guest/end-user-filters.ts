/** Filters that guests add themselves: what token and embed allow. The token takes precedence over the embed. */
import { type Dashboard, isOrCopies, sameName } from '../dashboard/dashboard.js';
import type { AccessSettings, FilterColumns } from '../dashboard/embed.js';
import type { Datamart } from '../datamart/datamart.js';
import type { FilterValue } from '../filter/filter.js';
import { type FilterableColumns, filterableColumns, listColumns, noColumns } from './column-filters.js';
import type { AccessColumns, AccessPermissions, AccessSwitch, GuestGrant } from './grant.js';

/**
 * Access to end-user filters through one embed. The lists name the columns that exist; they are empty if filters are
 * not allowed.
 */
export type EffectiveAccess = { readonly [Name in AccessSwitch]: boolean } & {
  readonly [Name in AccessColumns]: readonly FilterColumns[];
};

/** Whether end-user filters are allowed for a dashboard and for a metric. spec-gap: the default is no. */
export const areEndUserFiltersAllowed = (
  token: AccessPermissions,
  settings: AccessSettings | null,
): { readonly dashboard: boolean; readonly metric: boolean } => ({
  dashboard: token.isAllowEndUserDashboardFilter ?? settings?.isAllowEndUserDashboardFilter ?? false,
  metric: token.isAllowEndUserMetricFilter ?? settings?.isAllowEndUserMetricFilter ?? false,
});

export type EndUserColumns = { readonly dashboard: FilterableColumns; readonly metric: FilterableColumns };

/**
 * Returns the columns of the embed's datamart that a guest may filter by. spec-gap: a list in the token replaces the
 * embed's.
 */
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

/**
 * Returns the effective access to end-user filters. spec-gap: only a token can allow filter names to be changed, since
 * embeds have no setting for it.
 */
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
 * Returns the value that the token enforces for a filter and allows to be shown (`isShowOnUrl`). spec-gap: undefined if
 * the token enforces several values, since no single value is correct. A SQL value is never shown.
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
