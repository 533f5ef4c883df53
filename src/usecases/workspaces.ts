import type { ApiKeyCaller, ServiceCaller } from '../domain/caller.js';
import type { Dashboard } from '../domain/dashboard.js';
import type { Metric } from '../domain/metric.js';
import type { Workspace } from '../domain/organization.js';
import { type Page, pageSize, type Store } from '../domain/ports.js';
import { Refusal } from '../domain/refusal.js';

type Deps = { readonly store: Store };
type Caller = ApiKeyCaller | ServiceCaller;
type ListCommand = {
  readonly workspaceName: string;
  readonly isPagination?: boolean | undefined;
  readonly pageNumber?: number | undefined;
};

/** The page that a listing asks for; null: all. */
export const pageOf = ({ isPagination, pageNumber }: Pick<ListCommand, 'isPagination' | 'pageNumber'>): Page | null =>
  isPagination === true ? { number: pageNumber ?? 1, size: pageSize } : null;

/** Throws WORKSPACE_ID_ERROR. */
export const loadWorkspace = async (store: Store, name: string): Promise<Workspace> => {
  const workspace = await store.workspaces.findByName(name);
  if (workspace === undefined)
    throw new Refusal('WORKSPACE_ID_ERROR', `There is no workspace named ${JSON.stringify(name)}.`);
  return workspace;
};

/** A data app's key sees the organization's items and its own data app's; a service token the organization's. */
const dataAppOf = (caller: Caller): string | null => (caller.kind === 'apiKey' ? caller.dataAppId : null);

/** Operation 13. */
export const listDashboards =
  ({ store }: Deps) =>
  async (caller: Caller, command: ListCommand): Promise<readonly Dashboard[]> => {
    const workspace = await loadWorkspace(store, command.workspaceName);
    return store.dashboards.listByWorkspace(workspace.id, dataAppOf(caller), pageOf(command));
  };

/** Operation 14. */
export const listMetrics =
  ({ store }: Deps) =>
  async (caller: Caller, command: ListCommand): Promise<readonly Metric[]> => {
    const workspace = await loadWorkspace(store, command.workspaceName);
    return store.metrics.listByWorkspace(workspace.id, dataAppOf(caller), pageOf(command));
  };

/** What the data app sees of the dashboard: the organization's metrics, and its own clients'. Throws INVALID_DASHBOARD_ID. */
export const listDashboardMetrics =
  ({ store }: Deps) =>
  async (
    { dataAppId }: ApiKeyCaller,
    { workspaceName, dashboardId }: { readonly workspaceName: string; readonly dashboardId: string },
  ): Promise<readonly Metric[]> => {
    const workspace = await loadWorkspace(store, workspaceName);
    const dashboard = await store.dashboards.findByExternalId(dataAppId, dashboardId);
    if (dashboard === undefined || dashboard.workspaceId !== workspace.id) {
      throw new Refusal(
        'INVALID_DASHBOARD_ID',
        `Workspace ${JSON.stringify(workspaceName)} has no dashboard ${JSON.stringify(dashboardId)}.`,
      );
    }
    const placed = await store.dashboards.listMetrics(dashboard.id);
    return placed.map(({ metric }) => metric).filter(({ owner }) => owner === null || owner.dataAppId === dataAppId);
  };
