import type { Dashboard } from '../../model/dashboard/dashboard.js';
import type { Metric } from '../../model/dashboard/metric.js';
import type { ApiKeyCaller, ServiceCaller } from '../../model/guest/caller.js';
import type { ConnectionType, Workspace, WorkspaceSettings } from '../../model/organization.js';
import { type Paged, pageItems, pageOf } from '../../model/page.js';
import type { Ids } from '../../model/ports.js';
import { Refusal } from '../../model/refusal.js';
import type { Slices } from '../../model/slices.js';
import { assertUnused, usersToName } from '../common/still-in-use.js';
import type { Store } from '../store/store.js';

type Deps = { readonly store: Store };
type Caller = ApiKeyCaller | ServiceCaller;
type ListCommand = Paged & { readonly workspaceName: string };

/**
 * Returns the workspace of that name. `held`: it cannot be deleted until the transaction of `store` ends. Throws
 * WORKSPACE_ID_ERROR.
 */
export const loadWorkspace = async (store: Store, name: string, how?: 'held'): Promise<Workspace> => {
  const workspace = await store.workspaces.findByName(name);
  if (workspace === undefined || (how === 'held' && !(await store.workspaces.hold(workspace.id))))
    throw new Refusal('WORKSPACE_ID_ERROR', `There is no workspace named ${JSON.stringify(name)}.`);
  return workspace;
};

type Connection =
  | { readonly connectionType: 'DATASOURCE'; readonly datasourceName: string }
  | { readonly connectionType: 'DATAMART'; readonly datamartName: string }
  | { readonly connectionType: Exclude<ConnectionType, 'DATASOURCE' | 'DATAMART'> };

export type CreateWorkspace = WorkspaceSettings & Connection & { readonly name: string };

/** Changes to the settings of a workspace. A missing setting keeps its value; null removes it. */
type ChangedSettings = { readonly [Name in keyof WorkspaceSettings]: WorkspaceSettings[Name] | null };
export type UpdateWorkspace = ChangedSettings & Connection & { readonly name: string };

type Connected = Pick<Workspace, 'connectionType' | 'datasourceId' | 'datamartId'>;

const connect = async (store: Store, command: Connection): Promise<Connected> => {
  const { connectionType } = command;
  if (connectionType === 'DATASOURCE') {
    const datasource = await store.datasources.findSummary(command.datasourceName);
    // Held, since a deletion of the datasource before the write would make the write fail.
    if (datasource !== undefined && (await store.datasources.hold(datasource.id)))
      return { connectionType, datasourceId: datasource.id, datamartId: null };
    const name = JSON.stringify(command.datasourceName);
    throw new Refusal('INVALID_DATASOURCE_NAME', `datasourceName: there is no datasource named ${name}.`);
  }
  if (connectionType === 'DATAMART') {
    // Locked, since a deletion of the datamart before the write would make the write fail.
    const datamart = await store.datamarts.lockByName(command.datamartName);
    if (datamart !== undefined) return { connectionType, datasourceId: null, datamartId: datamart.id };
    const name = JSON.stringify(command.datamartName);
    throw new Refusal('INVALID_DATAMART_NAME', `datamartName: there is no datamart named ${name}.`);
  }
  return { connectionType, datasourceId: null, datamartId: null };
};

const pick = <T>(given: T | null | undefined, there: T | undefined): T | undefined =>
  given === undefined ? there : (given ?? undefined);

const withSettings = (there: WorkspaceSettings, given: ChangedSettings): WorkspaceSettings => ({
  llmName: pick(given.llmName, there.llmName),
  aiCopilotLlms: pick(given.aiCopilotLlms, there.aiCopilotLlms),
  isEnableMetricSuggestions: pick(given.isEnableMetricSuggestions, there.isEnableMetricSuggestions),
  isEnableMetricSummary: pick(given.isEnableMetricSummary, there.isEnableMetricSummary),
  summaryType: pick(given.summaryType, there.summaryType),
  customSummaryPrompt: pick(given.customSummaryPrompt, there.customSummaryPrompt),
  themeName: pick(given.themeName, there.themeName),
});

/**
 * Operation 12. Throws INVALID_DATASOURCE_NAME, INVALID_DATAMART_NAME or WORKSPACE_NAME_ALREADY_EXISTS. Of two
 * simultaneous calls with one name, one succeeds.
 */
export const createWorkspace =
  ({ store, ids }: Deps & { readonly ids: Ids }) =>
  (_caller: Caller, command: CreateWorkspace): Promise<Workspace> =>
    store.transaction(async (inner) => {
      const { name } = command;
      const connected = await connect(inner, command);
      const workspace: Workspace = { id: ids.uuid(), name, ...connected, ...withSettings({}, command) };
      if (await inner.workspaces.insert(workspace)) return workspace;
      throw new Refusal(
        'WORKSPACE_NAME_ALREADY_EXISTS',
        `A workspace named ${JSON.stringify(name)} exists already; choose another name.`,
      );
    });

const doesNotExist = (name: string): Refusal =>
  new Refusal('WORKSPACE_DOES_NOT_EXIST', `There is no workspace named ${JSON.stringify(name)}.`);

/**
 * Operation 12. Replaces the connection. Throws WORKSPACE_DOES_NOT_EXIST, INVALID_DATASOURCE_NAME or
 * INVALID_DATAMART_NAME.
 */
export const updateWorkspace =
  ({ store }: Deps) =>
  (_caller: Caller, command: UpdateWorkspace): Promise<Workspace> =>
    store.transaction(async (inner) => {
      const there = await inner.workspaces.findByName(command.name);
      if (there === undefined || !(await inner.workspaces.hold(there.id))) throw doesNotExist(command.name);
      const connected = await connect(inner, command);
      const workspace: Workspace = { id: there.id, name: there.name, ...connected, ...withSettings(there, command) };
      await inner.workspaces.update(workspace);
      return workspace;
    });

/**
 * Deletes a workspace without dashboards, and the metrics that were kept aside in it. Throws WORKSPACE_DOES_NOT_EXIST, or
 * STILL_IN_USE; then nothing is changed.
 */
export const deleteWorkspace =
  ({ store }: Deps) =>
  (_caller: ServiceCaller, { name }: { readonly name: string }): Promise<Workspace> =>
    store.transaction(async (inner) => {
      const workspace = await inner.workspaces.findByName(name);
      if (workspace === undefined || !(await inner.workspaces.lock(workspace.id))) throw doesNotExist(name);
      assertUnused(
        `Workspace ${JSON.stringify(name)}`,
        { dashboard: await inner.workspaces.listDashboardIds(workspace.id, usersToName) },
        'Delete the dashboards first: those of clients with the API key of their data app, then the templates.',
      );
      await inner.workspaces.remove(workspace.id);
      return workspace;
    });

/** Returns the workspaces, ordered by name. */
export const listWorkspaces =
  ({ store }: Deps) =>
  async (_caller: Caller, command: Pick<ListCommand, 'isPagination' | 'pageNumber'>): Promise<Slices<Workspace>> =>
    store.workspaces.list(pageOf(command));

/** Returns the data app whose items the caller sees in addition to the organization's; null for a service token. */
const dataAppOf = (caller: Caller): string | null => (caller.kind === 'apiKey' ? caller.dataAppId : null);

/** Operation 13. Returns the workspace's dashboards. */
export const listDashboards =
  ({ store }: Deps) =>
  async (caller: Caller, command: ListCommand): Promise<Slices<Dashboard>> => {
    const workspace = await loadWorkspace(store, command.workspaceName);
    return store.dashboards.listByWorkspace(workspace.id, dataAppOf(caller), pageOf(command));
  };

/** Operation 14. Returns the workspace's metrics. */
export const listMetrics =
  ({ store }: Deps) =>
  async (caller: Caller, command: ListCommand): Promise<Slices<Metric>> => {
    const workspace = await loadWorkspace(store, command.workspaceName);
    return store.metrics.listByWorkspace(workspace.id, dataAppOf(caller), pageOf(command));
  };

/**
 * Returns the dashboard's metrics that the data app may see: those of the organization and of its own clients. Throws
 * INVALID_DASHBOARD_ID.
 */
export const listDashboardMetrics =
  ({ store }: Deps) =>
  async (
    { dataAppId }: ApiKeyCaller,
    { workspaceName, dashboardId, ...paged }: ListCommand & { readonly dashboardId: string },
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
    const metrics = placed.map(({ metric }) => metric);
    return pageItems(
      metrics.filter(({ owner }) => owner === null || owner.dataAppId === dataAppId),
      paged,
    );
  };
