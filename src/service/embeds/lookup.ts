/** Finds what an id refers to, in the same way for every operation. */
import type { Epoch } from '../../model/brand.js';
import type { Dashboard } from '../../model/dashboard/dashboard.js';
import { type Embed, joinModelOf } from '../../model/dashboard/embed.js';
import type { Metric, Owner } from '../../model/dashboard/metric.js';
import { hasColumnRules, withColumnRules } from '../../model/datamart/column-rules.js';
import { type Datamart, withTenancySettings } from '../../model/datamart/datamart.js';
import type { TenantScope } from '../../model/datamart/tenant.js';
import { isKnownAtMint, isMetricOpen, isOpenTo } from '../../model/guest/access.js';
import type { GuestGrant } from '../../model/guest/grant.js';
import { shownDefinition, withShownFilters } from '../../model/guest/shown-columns.js';
import { type Datasource, reachesDatamart } from '../../model/organization.js';
import { Refusal } from '../../model/refusal.js';
import { loadTenantScope } from '../datamarts/tenant-scope.js';
import type { ContentStore } from '../store/content.js';
import { findScopedDatamart, type NamedSource, type SourceScope } from './source.js';

export type Opened = { readonly embed: Embed; readonly dashboard: Dashboard };

/** Returns the embed of an embed's or dashboard's id (both share one namespace), with its dashboard. */
export const findEmbed = async (store: ContentStore, dataAppId: string, id: string): Promise<Opened | undefined> => {
  const direct = await store.embeds.findById(dataAppId, id);
  if (direct !== undefined) {
    const dashboard = await store.dashboards.findById(direct.dashboardId);
    return dashboard === undefined ? undefined : { embed: direct, dashboard };
  }
  const dashboard = await store.dashboards.findByExternalId(dataAppId, id);
  if (dashboard === undefined) return undefined;
  const embed = await store.embeds.findByDashboard(dataAppId, dashboard.id);
  return embed === undefined ? undefined : { embed, dashboard };
};

/** Returns the metrics that the host placed on a dashboard's board or in its gallery. */
export const metricsOf = async (store: ContentStore, dashboard: Dashboard): Promise<readonly Metric[]> =>
  (await store.dashboards.listMetrics(dashboard.id)).map(({ metric }) => metric);

/**
 * Returns the metrics of `metricsOf`, then those that guests of this client made there, including private metrics of
 * all its users. A caller that shows them to a guest must check each with `isMetricOpen`.
 */
export const metricsFor = async (
  store: ContentStore,
  dashboard: Dashboard,
  client: Owner,
): Promise<readonly Metric[]> => [
  ...(await metricsOf(store, dashboard)),
  ...(await store.guestMetrics.list(dashboard.id, client)),
];

/**
 * Returns the dashboard's metrics that the guest may read: the host's metrics that its token knows, then those of its
 * client's guests. Of metrics that name a column that the token hides, what is left without it, if anything is.
 */
export const openMetricsOf = async (
  store: ContentStore,
  grant: GuestGrant,
  opened: Opened,
): Promise<readonly Metric[]> => {
  const { dashboard } = opened;
  const placed = await store.dashboards.listMetrics(dashboard.id);
  const known = placed.filter((item) => isKnownAtMint(grant, item)).map(({ metric }) => metric);
  const made = await store.guestMetrics.list(dashboard.id, grant);
  const open = [...known, ...made].filter((metric) => isMetricOpen(grant, dashboard, metric));
  const source = hasColumnRules(grant.columnRules) ? await findSource(store, opened, grant) : undefined;
  return source === undefined ? open : open.flatMap((metric) => shownMetric(metric, source) ?? []);
};

/** Returns the metric without hidden columns; undefined if it needs one. */
export const shownMetric = (metric: Metric, { datamart }: Pick<Source, 'datamart'>): Metric | undefined => {
  const definition = shownDefinition(metric.definition, datamart);
  if (definition === undefined) return undefined;
  return definition === metric.definition ? metric : { ...metric, definition };
};

/** Returns the dashboard with the columns by which the guest may set its filters. */
export const withOpenFilters = async (store: ContentStore, grant: SourceScope, opened: Opened): Promise<Opened> => {
  const source = hasColumnRules(grant.columnRules) ? await findSource(store, opened, grant) : undefined;
  return source === undefined ? opened : { ...opened, dashboard: withShownFilters(opened.dashboard, source.datamart) };
};

/**
 * Returns the metrics that the host's backend may read for a client. spec-gap: they include private metrics of guests
 * (the host publishes them) but not archived ones, and all metrics that the host made.
 */
export const listedMetrics = async (
  store: ContentStore,
  dashboard: Dashboard,
  client: Owner,
): Promise<readonly Metric[]> =>
  (await metricsFor(store, dashboard, client)).filter(
    ({ owner, guest, isArchived }) => isOpenTo(owner, client) && (guest === null || !isArchived),
  );

/** The datamart and datasource that an embed reads. */
export type Source = {
  readonly datamart: Datamart;
  readonly datasource: Datasource;
  readonly joinModel: 'single' | 'multi';
};

/**
 * Returns the embed's source, as `findScopedDatamart` chooses it. `scope`: what the token names.
 * spec-gap: a workspace may be connected to another source after the embed was created. A datamart that it does not
 * reach is not read until the embed or the workspace names it again.
 */
export const findSource = async (
  store: ContentStore,
  { embed, dashboard }: Opened,
  scope: SourceScope,
): Promise<Source | undefined> => {
  const workspace = await store.workspaces.findById(dashboard.workspaceId);
  if (workspace === undefined) return undefined;
  const datamart = await findScopedDatamart(store, workspace, scope, embed.accessSettings?.datamartName);
  if (datamart === undefined || !reachesDatamart(workspace, datamart)) return undefined;
  const datasource = await store.datasources.findById(datamart.datasourceId);
  if (datasource === undefined) return undefined;
  return {
    datamart: withColumnRules(
      withTenancySettings(datamart, embed.accessSettings?.tableTenancySettings ?? []),
      scope.columnRules,
    ),
    datasource,
    joinModel: joinModelOf(embed.accessSettings),
  };
};

/**
 * Throws DATASOURCE_NAME_ERROR unless the embed reads what the token names. Only embeds of a workspace with several
 * sources read another source than their own.
 */
export const assertReads = (
  id: string,
  source: Source | undefined,
  { datamartId, datasourceId }: NamedSource,
): void => {
  const isRead =
    (datamartId === null || datamartId === source?.datamart.id) &&
    (datasourceId === null || datasourceId === source?.datasource.id);
  if (isRead) return;
  const fields = [datasourceId === null ? [] : 'datasourceName', datamartId === null ? [] : 'datamartName'].flat();
  throw new Refusal(
    'DATASOURCE_NAME_ERROR',
    `${fields.join(' and ')}: embed ${JSON.stringify(id)} does not read this source. Its workspace must be of type MULTI_DATASOURCE or MULTI_DATAMART; and of a datasource with several datamarts, the token must name one by datamartName.`,
    { reason: 'source-not-of-embed' },
  );
};

/** A source with the tenant scope of one client. */
export type ScopedSource = Source & {
  readonly tenant: TenantScope;
  readonly dataAppId: string;
  readonly epoch: Epoch;
};
/** The client whose rows are read, and its epoch when the caller was authenticated. */
export type Reader = { readonly dataAppId: string; readonly clientId: string; readonly epoch: Epoch };
/**
 * Returns the source with the tenant scope of the reader. Throws CLIENT_ID_ERROR if the client id does not fit the
 * datamart.
 */
export const scopeSource = async (
  store: ContentStore,
  source: Source,
  { dataAppId, clientId, epoch }: Reader,
): Promise<ScopedSource> => ({
  ...source,
  tenant: await loadTenantScope(store, source.datamart, clientId),
  dataAppId,
  epoch,
});
