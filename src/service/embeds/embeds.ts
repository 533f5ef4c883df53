/** Operation 2, and the lists of a data app's embeds and their metrics. */
import type { Dashboard } from '../../model/dashboard/dashboard.js';
import type { AccessSettings, Embed } from '../../model/dashboard/embed.js';
import type { Metric } from '../../model/dashboard/metric.js';
import { isOpenTo } from '../../model/guest/access.js';
import type { ApiKeyCaller } from '../../model/guest/caller.js';
import type { Workspace } from '../../model/organization.js';
import { type Page, type Paged, pageItems, pageOf } from '../../model/page.js';
import type { Clock, Ids } from '../../model/ports.js';
import { Refusal } from '../../model/refusal.js';
import { mapSlices, type Slices, sliceOf } from '../../model/slices.js';
import { holdDataApp } from '../data-apps/data-apps.js';
import type { Store } from '../store/store.js';
import { findEmbed, listedMetrics, metricsOf } from './lookup.js';
import { assertTenancySettings, findWorkspaceDatamart, loadEmbedDatamart, loadEmbedWorkspace } from './source.js';

export type CreateEmbed = {
  readonly embedType: 'dashboard' | 'metric';
  readonly dashboardId: string;
  readonly metricId?: string | undefined;
  readonly workspaceName: string;
  readonly name?: string | undefined;
  readonly accessSettings?: AccessSettings | undefined;
};

type Deps = { readonly store: Store; readonly clock: Clock; readonly ids: Ids };

const unknownDashboard = (id: string): Refusal =>
  new Refusal('INVALID_DASHBOARD_ID', `The workspace has no dashboard ${JSON.stringify(id)}.`);

const loadDashboard = async (store: Store, dataAppId: string, workspaceId: string, id: string): Promise<Dashboard> => {
  const dashboard = await store.dashboards.findByExternalId(dataAppId, id);
  if (dashboard === undefined || dashboard.workspaceId !== workspaceId) {
    throw unknownDashboard(id);
  }
  return dashboard;
};

const loadMetricOf = async (store: Store, dataAppId: string, dashboard: Dashboard, id: string): Promise<Metric> => {
  const metric = (await metricsOf(store, dashboard)).find(({ metricId }) => metricId === id);
  // A dashboard of the organization may hold metrics of other data apps' clients. They are reported as missing.
  if (metric === undefined || (metric.owner !== null && metric.owner.dataAppId !== dataAppId)) {
    throw new Refusal(
      'INVALID_METRIC_ID',
      `Dashboard ${JSON.stringify(dashboard.externalDashboardId)} has no metric ${JSON.stringify(id)}.`,
    );
  }
  return metric;
};

/**
 * Returns the dashboard and metric, and keeps them from being deleted until the transaction ends. The data app is
 * locked first, as in its deletion, so that the two cannot deadlock.
 */
const holdContent = async (
  store: Store,
  caller: ApiKeyCaller,
  workspace: Workspace,
  command: CreateEmbed,
): Promise<{ readonly dashboard: Dashboard; readonly metric: Metric | null }> => {
  const { dataAppId } = caller;
  const { dashboardId, metricId } = command;
  await holdDataApp(store, caller);
  const { id } = await loadDashboard(store, dataAppId, workspace.id, dashboardId);
  const dashboard = await store.dashboards.lock(id);
  if (dashboard === undefined) throw unknownDashboard(dashboardId);
  const metric = metricId === undefined ? null : await loadMetricOf(store, dataAppId, dashboard, metricId);
  return { dashboard, metric };
};

const insertEmbed = async (
  { clock, ids }: Deps,
  store: Store,
  caller: ApiKeyCaller,
  command: CreateEmbed,
): Promise<Embed> => {
  const workspace = await loadEmbedWorkspace(store, command.workspaceName);
  const datamartName = command.accessSettings?.datamartName;
  const datamart =
    datamartName === undefined
      ? await findWorkspaceDatamart(store, workspace)
      : await loadEmbedDatamart(store, workspace, datamartName);
  assertTenancySettings(datamart, command.accessSettings);
  const { dashboard, metric } = await holdContent(store, caller, workspace, command);
  const embedId = ids.uuid();
  const embed: Embed = {
    embedId,
    dataAppId: caller.dataAppId,
    embedType: command.embedType,
    dashboardId: dashboard.id,
    metricId: metric?.metricId ?? null,
    name: command.name ?? embedId,
    description: null,
    accessSettings: command.accessSettings ?? null,
    createdAt: clock.now(),
  };
  if (!(await store.embeds.insert(embed))) throw new Error('a random embed id was taken');
  return embed;
};

/**
 * Operation 2: creates an embed of an existing dashboard or metric. Throws INVALID_DASHBOARD_ID or INVALID_METRIC_ID
 * (404) if it does not exist.
 */
export const createEmbed =
  (deps: Deps) =>
  (caller: ApiKeyCaller, command: CreateEmbed): Promise<Embed> =>
    deps.store.transaction((store) => insertEmbed(deps, store, caller, command));

type Listed = { readonly embed: Embed; readonly dashboard: Dashboard; readonly metric: Metric | null };

const selectEmbeds = async (
  store: Store,
  dataAppId: string,
  embedId: string | undefined,
  page: Page | null,
): Promise<Slices<Embed>> => {
  if (embedId === undefined) return store.embeds.listByDataApp(dataAppId, page);
  const embed = await store.embeds.findById(dataAppId, embedId);
  return sliceOf(embed === undefined || (page?.number ?? 1) > 1 ? [] : [embed]);
};

/**
 * Returns the embeds with their content. Embeds whose dashboard or metric was deleted meanwhile are left out, since
 * they were deleted with it.
 */
const withContent = async (store: Store, embeds: readonly Embed[]): Promise<readonly Listed[]> => {
  const metricIds = embeds.flatMap(({ metricId }) => metricId ?? []);
  const shown = await store.dashboards.listByIds([...new Set(embeds.map(({ dashboardId }) => dashboardId))]);
  const dashboards = new Map(shown.map((dashboard) => [dashboard.id, dashboard]));
  const metrics = new Map((await store.metrics.listByIds(metricIds)).map((metric) => [metric.metricId, metric]));
  return embeds.flatMap((embed) => {
    const dashboard = dashboards.get(embed.dashboardId);
    const metric = embed.metricId === null ? null : metrics.get(embed.metricId);
    return dashboard === undefined || metric === undefined ? [] : [{ embed, dashboard, metric }];
  });
};

/** Returns only the data app's own embeds. */
export const listEmbeds =
  ({ store }: Pick<Deps, 'store'>) =>
  async (
    caller: ApiKeyCaller,
    command: { readonly isPagination: boolean; readonly pageNumber: number; readonly embedId?: string | undefined },
  ): Promise<Slices<Listed>> => {
    const embeds = await selectEmbeds(store, caller.dataAppId, command.embedId, pageOf(command));
    return mapSlices(embeds, (slice) => withContent(store, slice));
  };

/**
 * Returns the metrics that a client reads through an embed. Throws EMBED_PARAM_ERROR if the embed belongs to another
 * client.
 */
export const listEmbedMetrics =
  ({ store }: Pick<Deps, 'store'>) =>
  async (
    caller: ApiKeyCaller,
    { embedId, clientId, ...paged }: Paged & { readonly embedId: string; readonly clientId: string },
  ): Promise<readonly Metric[]> => {
    const opened = await findEmbed(store, caller.dataAppId, embedId);
    if (opened === undefined)
      throw new Refusal('INVALID_EMBED_ID', `This data app has no embed ${JSON.stringify(embedId)}.`);
    const client = { dataAppId: caller.dataAppId, clientId };
    if (!isOpenTo(opened.dashboard.owner, client)) {
      throw new Refusal(
        'EMBED_PARAM_ERROR',
        `Embed ${JSON.stringify(embedId)} is not of client ${JSON.stringify(clientId)}.`,
      );
    }
    const metrics = await listedMetrics(store, opened.dashboard, client);
    const { metricId } = opened.embed;
    return pageItems(metricId === null ? metrics : metrics.filter((metric) => metric.metricId === metricId), paged);
  };
