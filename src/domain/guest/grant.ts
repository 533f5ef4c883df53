import type { FilterColumns } from '../dashboard/embed.js';
import type { FilterValue } from '../filter/filter.js';

/** What a guest token grants, with every name resolved at mint. Lives on the server; the token is only a reference to it. */
export type GuestGrant = {
  readonly id: string;
  readonly dataAppId: string;
  readonly clientId: string;
  readonly userIdentifier: string | null;
  readonly timezone: string | null;
  /** The datamart this token is scoped to, where it named one. */
  readonly datamartId: string | null;
  /** The datasource this token is scoped to, where it named one. */
  readonly datasourceId: string | null;
  /** Ids of embeds. Null: the token named none, so every embed of its data app that is open to its client. */
  readonly allowedEmbeds: readonly string[] | null;
  readonly rlsSettings: readonly MetricValues[];
  readonly appFilters: readonly MetricValues[];
  /** `dashboardId` is internal here. */
  readonly dashboardAppFilters: readonly DashboardValues[];
  readonly hideDashboardFilters: readonly string[];
  readonly hideDashboardMetrics: readonly { readonly dashboardId: string; readonly metricIds: readonly string[] }[];
  /**
   * The dashboards that the token's lists and restrictions named when it was made. One that was made anew under such a name since
   * is another one, which those restrictions do not bind: it is not opened. Tokens of earlier releases have none.
   */
  readonly pinnedDashboards?: readonly PinnedDashboard[] | undefined;
  readonly accessPermissions: AccessPermissions;
  readonly permissions: GuestPermissions;
  readonly createdAt: Date;
  /** Null: never expires. */
  readonly expiresAt: Date | null;
};

/** `dashboardId` is internal here. */
export type PinnedDashboard = { readonly externalDashboardId: string; readonly dashboardId: string };

export type FilterValues = Readonly<Record<string, FilterValue>>;
export type MetricValues = { readonly metricId: string; readonly values: FilterValues };
export type DashboardValues = {
  readonly dashboardId: string;
  readonly values: FilterValues;
  readonly isShowOnUrl: boolean;
};

/** The interface's `params.accessPermissions`: these take precedence over the embed's access settings. */
export type AccessPermissions = {
  readonly isAllowEndUserDashboardFilter?: boolean | undefined;
  readonly dashboardFilterColumns?: readonly FilterColumns[] | undefined;
  readonly isAllowEndUserMetricFilter?: boolean | undefined;
  readonly metricFilterColumns?: readonly FilterColumns[] | undefined;
  readonly isAllowDashboardFilterNameChange?: boolean | undefined;
  readonly isAllowMetricFilterNameChange?: boolean | undefined;
};

/** The interface's `permissions`, as the token brought them. */
export type GuestPermissions = { readonly [Name in GuestPermission]?: boolean | undefined };

export const guestPermissionNames = [
  'isEnableArchiveMetrics',
  'isEnableManageMetrics',
  'isEnableCreateDashboardView',
  'isEnableMetricUpdation',
  'isEnableCustomizeLayout',
  'isEnableUnderlyingData',
  'isEnableDownloadMetrics',
  'isShowSideBar',
  'isShowDashboardName',
  'isDisableMetricCreation',
] as const;
export type GuestPermission = (typeof guestPermissionNames)[number];
