/** A dashboard or metric that a data app shows. Embed ids and dashboard ids of a data app share one namespace. */
import { namesOf } from '../record-of.js';

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

/** What an embed lets users do, by the setting that allows it. */
export const allowances = {
  isAllowEmailReports: 'Reports by e-mail.',
  isAllowManageMetrics: 'Restoring archived metrics.',
  isAllowCreateDashboardView: 'Saved views.',
  isAllowMetricCreation: 'Creating metrics.',
  isAllowMetricDeletion: 'Archiving and deleting metrics.',
  isAllowMetricLayoutChange: 'Changing the layout of the board.',
  isAllowMetricUpdate: 'Changing metrics.',
  isAllowUnderlyingData: 'The rows behind a chart.',
} as const;
export const allowanceNames = namesOf(allowances);

/** The interface's "Access settings", with unchanged names, and those that Guestlist adds. */
export type AccessSettings = { readonly [Name in keyof typeof allowances]: boolean } & {
  readonly datamartName?: string | undefined;
  readonly isAllowAiPilot?: boolean | undefined;
  readonly isAllowEndUserDashboardFilter?: boolean | undefined;
  readonly dashboardFilterColumns?: readonly FilterColumns[] | undefined;
  readonly isAllowEndUserMetricFilter?: boolean | undefined;
  readonly metricFilterColumns?: readonly FilterColumns[] | undefined;
  readonly joinModel?: 'single' | 'multi' | undefined;
  readonly isIncrementalJoin?: boolean | undefined;
  readonly metricCreationMode: 'DRAG_DROP' | 'CHAT';
  readonly tableTenancySettings?: readonly { readonly name: string; readonly clientColumn: string }[] | undefined;
  /** Not of the interface: whether guests may have own dashboards, made of this one's cards. */
  readonly isAllowDashboardCreation?: boolean | undefined;
};

/** The settings that a client's copy takes from its template. The datamart is not one: tenants may have their own. */
export type CopySettings = { readonly name: string; readonly accessSettings: Omit<AccessSettings, 'datamartName'> };

/** Changes to access settings. A missing or undefined setting is kept. */
export type SettingsChange = { readonly [Name in keyof AccessSettings]?: AccessSettings[Name] | undefined };

const required = [...allowanceNames, 'metricCreationMode'] as const;

/** Returns the names of required settings that are missing. */
export const missingSettings = (settings: SettingsChange): readonly string[] =>
  required.filter((name) => settings[name] === undefined);

/**
 * Returns how an embed's metrics join. spec-gap: the default is `multi`, or `single` if the legacy `isIncrementalJoin`
 * is false.
 */
export const joinModelOf = (settings: AccessSettings | null): 'single' | 'multi' =>
  settings?.joinModel ?? (settings?.isIncrementalJoin === false ? 'single' : 'multi');
