/** Exports dashboards as files, and imports files as dashboards of the organization. */
import { allWritten, relabelLayout, type SchemaPair } from '../../model/dashboard/content.js';
import type { Dashboard, DashboardContent, PlacedMetric } from '../../model/dashboard/dashboard.js';
import { isOpenTo } from '../../model/guest/access.js';
import type { ApiKeyCaller, ServiceCaller } from '../../model/guest/caller.js';
import type { Workspace } from '../../model/organization.js';
import type { Clock, Ids } from '../../model/ports.js';
import type { Engine } from '../../model/query/engine.js';
import type { SqlRewriter } from '../../model/query/sql-rewriter.js';
import { Refusal } from '../../model/refusal.js';
import { findEmbed } from '../embeds/lookup.js';
import type { Store } from '../store/store.js';
import { loadWorkspace } from '../workspaces/workspaces.js';
import { contentOf, copyMetrics, insertDashboard, moveContent } from './blueprint.js';
import { assertTypes } from './type-check.js';

type Deps = {
  readonly store: Store;
  readonly engine: Pick<Engine, 'check'>;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly sqlRewriter: SqlRewriter;
};
type Exported = { readonly dashboardId: string; readonly name: string; readonly content: DashboardContent };

/**
 * Whether the export contains the metric. A client's metric is exported only with that client's own dashboard: in a
 * file of the organization, every other client would get it.
 */
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

/** Exports the dashboard of an embed. Throws INVALID_EMBED_ID. */
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
 * Returns the workspace's dashboard of that external id, for a service token. Throws INVALID_DASHBOARD_ID if there is
 * none, or if several data apps have one and the organization has none, since the id is then ambiguous.
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

/** Exports a dashboard. Throws WORKSPACE_ID_ERROR or INVALID_DASHBOARD_ID. */
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

/** Before the transaction, which must not wait for a customer's database. Throws as the import. */
const assertImport = async (
  deps: Deps,
  { workspaceName, importDashboardData, schemaPairs = [] }: ImportDashboard,
  signal: AbortSignal,
): Promise<void> => {
  const datamarts = await deps.store.workspaces.listDatamarts(await loadWorkspace(deps.store, workspaceName));
  const content = await moveContent(deps, importDashboardData, schemaPairs, datamarts, 'INVALID_DASHBOARD_DATA');
  await assertTypes(deps, { content, datamarts, clientId: null, ...allWritten }, signal);
};

/** Creates a dashboard of the organization, which can be used as a template. If a step fails, nothing is stored. */
export const importDashboard =
  (deps: Deps) =>
  async (
    _caller: ServiceCaller,
    command: ImportDashboard,
    signal: AbortSignal,
  ): Promise<{ readonly dashboard: Dashboard; readonly workspaceName: string }> => {
    await assertImport(deps, command, signal);
    return deps.store.transaction(async (store) => {
      const { ids, clock } = deps;
      const { workspaceName, importDashboardData, schemaPairs = [], dashboardId = ids.uuid() } = command;
      const workspace = await loadWorkspace(store, workspaceName, 'held');
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
        tiles: content.tiles,
        metadata: content.metadata ?? null,
        isAllowPrivateMetricsByDefault: content.isAllowPrivateMetricsByDefault ?? false,
      };
      const placements = content.metrics.map(({ placement }) => placement);
      await insertDashboard(store, dashboard, metrics, placements, clock.now());
      return { dashboard, workspaceName };
    });
  };
