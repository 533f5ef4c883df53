/** A dashboard or metric that a data app shows. Embed ids and dashboard ids of a data app share one namespace. */
export type Embed = {
  readonly embedId: string;
  readonly dataAppId: string;
  readonly embedType: 'dashboard' | 'metric';
  readonly dashboardId: string;
  readonly metricId: string | null;
  readonly name: string;
  readonly description: string | null;
  readonly accessSettings: AccessSettings | null;
  readonly createdAt: Date;
};

export type FilterColumns = { readonly tableName: string; readonly columns: readonly string[] };

/** The interface's "Access settings", with unchanged names, and those that Guestlist adds. */
export type AccessSettings = {
  readonly datamartName?: string | undefined;
  readonly isAllowAiPilot?: boolean | undefined;
  readonly isAllowEmailReports: boolean;
  readonly isAllowManageMetrics: boolean;
  readonly isAllowCreateDashboardView: boolean;
  readonly isAllowEndUserDashboardFilter?: boolean | undefined;
  readonly dashboardFilterColumns?: readonly FilterColumns[] | undefined;
  readonly isAllowEndUserMetricFilter?: boolean | undefined;
  readonly metricFilterColumns?: readonly FilterColumns[] | undefined;
  readonly isAllowMetricCreation: boolean;
  readonly isAllowMetricDeletion: boolean;
  readonly isAllowMetricLayoutChange: boolean;
  readonly isAllowMetricUpdate: boolean;
  readonly isAllowUnderlyingData: boolean;
  readonly joinModel?: 'single' | 'multi' | undefined;
  readonly isIncrementalJoin?: boolean | undefined;
  readonly metricCreationMode: 'DRAG_DROP' | 'CHAT';
  readonly tableTenancySettings?: readonly { readonly name: string; readonly clientColumn: string }[] | undefined;
  /** Not of the interface: whether guests may have own dashboards, made of this one's cards. */
  readonly isAllowDashboardCreation?: boolean | undefined;
};

/** Changes to access settings. A missing or undefined setting is kept. */
export type SettingsChange = { readonly [Name in keyof AccessSettings]?: AccessSettings[Name] | undefined };

const required = [
  'isAllowEmailReports',
  'isAllowManageMetrics',
  'isAllowCreateDashboardView',
  'isAllowMetricCreation',
  'isAllowMetricDeletion',
  'isAllowMetricLayoutChange',
  'isAllowMetricUpdate',
  'isAllowUnderlyingData',
  'metricCreationMode',
] as const satisfies readonly (keyof AccessSettings)[];

/** Returns the names of required settings that are missing. */
export const missingSettings = (settings: SettingsChange): readonly string[] =>
  required.filter((name) => settings[name] === undefined);

/**
 * Returns how an embed's metrics join. spec-gap: the default is `multi`, or `single` if the legacy `isIncrementalJoin`
 * is false.
 */
export const joinModelOf = (settings: AccessSettings | null): 'single' | 'multi' =>
  settings?.joinModel ?? (settings?.isIncrementalJoin === false ? 'single' : 'multi');
