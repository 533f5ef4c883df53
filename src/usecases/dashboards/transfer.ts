/** Dashboards taken out as files, and brought in as the organization's. */
import { relabelLayout, type SchemaPair } from '../../domain/dashboard/content.js';
import type { Dashboard, DashboardContent, PlacedMetric } from '../../domain/dashboard/dashboard.js';
import { isOpenTo } from '../../domain/guest/access.js';
import type { ApiKeyCaller, ServiceCaller } from '../../domain/guest/caller.js';
import type { Workspace } from '../../domain/organization.js';
import type { Clock, Ids } from '../../domain/ports.js';
import type { SqlRewriter } from '../../domain/query/sql-rewriter.js';
import { Refusal } from '../../domain/refusal.js';
import type { Store } from '../../domain/store/store.js';
import { findEmbed } from '../embeds/lookup.js';
import { loadWorkspace } from '../workspaces.js';
import { contentOf, copyMetrics, insertDashboard, moveContent } from './blueprint.js';

type Deps = { readonly store: Store; readonly clock: Clock; readonly ids: Ids; readonly sqlRewriter: SqlRewriter };
type Exported = { readonly dashboardId: string; readonly name: string; readonly content: DashboardContent };

/** A client's metric leaves with that client's own dashboard alone: in a file of the organization's, it would reach every other client. */
const isOwn = ({ owner }: Dashboard, { metric }: PlacedMetric): boolean =>
  metric.owner === null || (owner !== null && isOpenTo(metric.owner, owner));

const exportOf = async (store: Store, dashboard: Dashboard, metricId: string | null): Promise<Exported> => {
  const placed = (await store.dashboards.listMetrics(dashboard.id)).filter(
    (one) => isOwn(dashboard, one) && (metricId === null || one.metric.metricId === metricId),
  );
  return {
    dashboardId: dashboard.externalDashboardId,
    name: dashboard.name,
    content: contentOf(dashboard, placed),
  };
};

/** Throws INVALID_EMBED_ID. */
export const exportEmbed =
  ({ store }: Pick<Deps, 'store'>) =>
  async ({ dataAppId }: ApiKeyCaller, { embedId }: { readonly embedId: string }): Promise<Exported> => {
    const opened = await findEmbed(store, dataAppId, embedId);
    if (opened === undefined) {
      throw new Refusal('INVALID_EMBED_ID', `This data app has no embed ${JSON.stringify(embedId)}.`);
    }
    return exportOf(store, opened.dashboard, opened.embed.metricId);
  };

/**
 * The workspace's dashboard of that external id, as a service token names it. Throws INVALID_DASHBOARD_ID where there is none, or where clients
 * of several data apps have one: which of them is meant, nobody knows.
 */
export const loadOrganizationDashboard = async (
  store: Store,
  workspace: Workspace,
  dashboardId: string,
): Promise<Dashboard> => {
  const found = (await store.dashboards.listByExternalId(dashboardId)).filter(
    ({ workspaceId }) => workspaceId === workspace.id,
  );
  const [first] = found;
  const isClear = first?.owner === null || found.length === 1;
  if (first !== undefined && isClear) return first;
  throw new Refusal(
    'INVALID_DASHBOARD_ID',
    first === undefined
      ? `Workspace ${JSON.stringify(workspace.name)} has no dashboard ${JSON.stringify(dashboardId)}.`
      : `Several data apps have a dashboard ${JSON.stringify(dashboardId)} in workspace ${JSON.stringify(workspace.name)}; use the API key of one of them.`,
  );
};

/** Throws WORKSPACE_ID_ERROR or INVALID_DASHBOARD_ID. */
export const exportDashboard =
  ({ store }: Pick<Deps, 'store'>) =>
  async (
    _caller: ServiceCaller,
    { dashboardId, workspaceName }: { readonly dashboardId: string; readonly workspaceName: string },
  ): Promise<Exported> => {
    const workspace = await loadWorkspace(store, workspaceName);
    return exportOf(store, await loadOrganizationDashboard(store, workspace, dashboardId), null);
  };

export type ImportDashboard = {
  readonly workspaceName: string;
  readonly importDashboardData: DashboardContent;
  readonly dashboardId?: string | undefined;
  readonly dashboardName?: string | undefined;
  readonly schemaPairs?: readonly SchemaPair[] | undefined;
};

/** Makes a dashboard of the organization: a template. All or nothing. */
export const importDashboard =
  (deps: Deps) =>
  (
    _caller: ServiceCaller,
    command: ImportDashboard,
  ): Promise<{ readonly dashboard: Dashboard; readonly workspaceName: string }> =>
    deps.store.transaction(async (store) => {
      const { ids, clock } = deps;
      const { workspaceName, importDashboardData, schemaPairs = [], dashboardId = ids.uuid() } = command;
      const workspace = await loadWorkspace(store, workspaceName);
      const datamarts = await store.workspaces.listDatamarts(workspace);
      const inner = { ...deps, store };
      const content = await moveContent(inner, importDashboardData, schemaPairs, datamarts, 'INVALID_DASHBOARD_DATA');
      const { metrics, newIds } = copyMetrics(ids, content, workspace, null);
      const dashboard: Dashboard = {
        id: ids.uuid(),
        externalDashboardId: dashboardId,
        workspaceId: workspace.id,
        name: command.dashboardName ?? dashboardId,
        owner: null,
        templateId: null,
        layout: relabelLayout(content.layout, newIds),
        gridMargin: content.gridMargin,
        filters: content.filters,
        metadata: content.metadata ?? null,
        isAllowPrivateMetricsByDefault: content.isAllowPrivateMetricsByDefault ?? false,
      };
      const placements = content.metrics.map(({ placement }) => placement);
      await insertDashboard(store, dashboard, metrics, placements, clock.now());
      return { dashboard, workspaceName };
    });
