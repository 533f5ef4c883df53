/** Finding what an id stands for, the same way for every operation. */
import type { Epoch } from '../../domain/brand.js';
import type { Dashboard } from '../../domain/dashboard/dashboard.js';
import { type Embed, joinModelOf } from '../../domain/dashboard/embed.js';
import type { Metric, Owner } from '../../domain/dashboard/metric.js';
import { type Datamart, withTenancySettings } from '../../domain/datamart/datamart.js';
import type { TenantScope } from '../../domain/datamart/tenant.js';
import { isKnownAtMint, isMetricOpen, isOpenTo } from '../../domain/guest/access.js';
import type { GuestGrant } from '../../domain/guest/grant.js';
import { type Datasource, reachesDatamart } from '../../domain/organization.js';
import type { ContentStore } from '../../domain/store/store.js';
import { loadTenantScope } from '../datamarts/tenant-scope.js';
import { findScopedDatamart, type SourceScope } from './source.js';

export type Opened = { readonly embed: Embed; readonly dashboard: Dashboard };

/** The embed that an id names, be it an embed's or a dashboard's (both share one namespace), with its dashboard. */
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

/** The metrics that the host put on a dashboard's board and into its gallery. */
export const metricsOf = async (store: ContentStore, dashboard: Dashboard): Promise<readonly Metric[]> =>
  (await store.dashboards.listMetrics(dashboard.id)).map(({ metric }) => metric);

/**
 * The same, then those that guests of this client made there: all of its users', the private ones too. Whoever shows them to a guest asks
 * `isMetricOpen` of each.
 */
export const metricsFor = async (
  store: ContentStore,
  dashboard: Dashboard,
  client: Owner,
): Promise<readonly Metric[]> => [
  ...(await metricsOf(store, dashboard)),
  ...(await store.guestMetrics.list(dashboard.id, client)),
];

/** What the guest may read of the dashboard's metrics: the host's that its token knows, then those of its client's guests. */
export const openMetricsOf = async (
  store: ContentStore,
  grant: GuestGrant,
  dashboard: Dashboard,
): Promise<readonly Metric[]> => {
  const placed = await store.dashboards.listMetrics(dashboard.id);
  const known = placed.filter((item) => isKnownAtMint(grant, item)).map(({ metric }) => metric);
  const made = await store.guestMetrics.list(dashboard.id, grant);
  return [...known, ...made].filter((metric) => isMetricOpen(grant, dashboard, metric));
};

/**
 * What the host's backend reads for a client. spec-gap: of what guests made, the private metrics too (it is the host who publishes them),
 * the archived ones no more; of what the host made, all.
 */
export const listedMetrics = async (
  store: ContentStore,
  dashboard: Dashboard,
  client: Owner,
): Promise<readonly Metric[]> =>
  (await metricsFor(store, dashboard, client)).filter(
    ({ owner, guest, isArchived }) => isOpenTo(owner, client) && (guest === null || !isArchived),
  );

/** Where an embed's rows come from. */
export type Source = {
  readonly datamart: Datamart;
  readonly datasource: Datasource;
  readonly joinModel: 'single' | 'multi';
};

/**
 * The embed's datamart, or its workspace's where the embed names none: of several, the one that `scope` means. spec-gap: a
 * workspace may be connected to another source after the embed was made; what it does not reach now is not read, until the embed
 * or the workspace names it again.
 */
export const findSource = async (
  store: ContentStore,
  { embed, dashboard }: Opened,
  scope: SourceScope,
): Promise<Source | undefined> => {
  const workspace = await store.workspaces.findById(dashboard.workspaceId);
  if (workspace === undefined) return undefined;
  const name = embed.accessSettings?.datamartName;
  const datamart =
    name === undefined ? await findScopedDatamart(store, workspace, scope) : await store.datamarts.findByName(name);
  if (datamart === undefined || !reachesDatamart(workspace, datamart)) return undefined;
  const datasource = await store.datasources.findById(datamart.datasourceId);
  if (datasource === undefined) return undefined;
  return {
    datamart: withTenancySettings(datamart, embed.accessSettings?.tableTenancySettings ?? []),
    datasource,
    joinModel: joinModelOf(embed.accessSettings),
  };
};

/** The source with the rows of one client. Throws CLIENT_ID_ERROR where the id does not fit the datamart. */
export type ScopedSource = Source & {
  readonly tenant: TenantScope;
  readonly dataAppId: string;
  readonly epoch: Epoch;
};
/** Whose rows, and as of which of its epochs. */
export type Reader = { readonly dataAppId: string; readonly clientId: string; readonly epoch: Epoch };
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
