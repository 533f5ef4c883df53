import type { Capability } from '../capability.js';
import type { FilterColumns } from '../dashboard/embed.js';
import type { ColumnRules } from '../datamart/column-rules.js';
import type { FilterValue } from '../filter/filter.js';
import type { Quota } from '../quota.js';
import { namesOf } from '../record-of.js';

/**
 * What a guest token grants. All names were resolved at mint. It is stored on the server; the token is only a reference
 * to it.
 */
export type GuestGrant = {
  readonly id: string;
  readonly dataAppId: string;
  readonly clientId: string;
  readonly userIdentifier: string | null;
  readonly timezone: string | null;
  /** Id of the datamart that this token is scoped to, or null. */
  readonly datamartId: string | null;
  /** Id of the datasource that this token is scoped to, or null. */
  readonly datasourceId: string | null;
  /** Ids of embeds. Null if the token named none: it opens every embed of its data app that is open to its client. */
  readonly allowedEmbeds: readonly string[] | null;
  readonly rlsSettings: readonly MetricValues[];
  readonly appFilters: readonly MetricValues[];
  /** Here, `dashboardId` is the internal id. */
  readonly dashboardAppFilters: readonly DashboardValues[];
  readonly hideDashboardFilters: readonly string[];
  readonly hideDashboardMetrics: readonly { readonly dashboardId: string; readonly metricIds: readonly string[] }[];
  /** Columns that are hidden or masked, in whatever reads them. */
  readonly columnRules: ColumnRules;
  /**
   * The dashboards that the token's lists and restrictions named at mint. A dashboard that was created later under such
   * a name is not opened, since the restrictions do not apply to it. Undefined in tokens of earlier releases.
   */
  readonly pinnedDashboards?: readonly PinnedDashboard[] | undefined;
  readonly quota: Quota;
  readonly accessPermissions: AccessPermissions;
  readonly permissions: GuestPermissions;
  readonly createdAt: Date;
  /** Null: the token never expires. */
  readonly expiresAt: Date | null;
};

/** A dashboard as named at mint. `dashboardId` is the internal id. */
export type PinnedDashboard = { readonly externalDashboardId: string; readonly dashboardId: string };

export type FilterValues = Readonly<Record<string, FilterValue>>;
export type MetricValues = { readonly metricId: string; readonly values: FilterValues };
export type DashboardValues = {
  readonly dashboardId: string;
  readonly values: FilterValues;
  readonly isShowOnUrl: boolean;
};

/** The interface's `params.accessPermissions`. They take precedence over the embed's access settings. */
export type AccessPermissions = { readonly [Name in AccessSwitch]?: boolean | undefined } & {
  readonly [Name in AccessColumns]?: readonly FilterColumns[] | undefined;
};

export const accessSwitches = [
  'isAllowEndUserDashboardFilter',
  'isAllowEndUserMetricFilter',
  'isAllowDashboardFilterNameChange',
  'isAllowMetricFilterNameChange',
] as const;
export type AccessSwitch = (typeof accessSwitches)[number];

export const accessColumns = ['dashboardFilterColumns', 'metricFilterColumns'] as const;
export type AccessColumns = (typeof accessColumns)[number];

/** The interface's `permissions` and those that Guestlist adds, as the token request gave them. */
export type GuestPermissions = { readonly [Name in GuestPermission]?: boolean | undefined };

/** Permissions that are not of the interface, each with the capability of the services that know it. */
export const addedPermissions = {
  isEnableCreateDashboard: 'guest-boards',
} as const satisfies Readonly<Record<string, Capability>>;

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
  ...namesOf(addedPermissions),
] as const;
export type GuestPermission = (typeof guestPermissionNames)[number];
