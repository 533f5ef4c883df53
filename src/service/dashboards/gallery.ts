/**
 * Operation 15: changes filter mappings and gallery metrics of a workspace's dashboards. If one change fails, nothing
 * is stored.
 */
import type { Dashboard, PlacedMetric } from '../../model/dashboard/dashboard.js';
import { type FilterMapping, findPlaced, mapFilters } from '../../model/dashboard/dashboard.js';
import { lineageOfCopy, type Metric, maxLineage } from '../../model/dashboard/metric.js';
import type { Datamart } from '../../model/datamart/datamart.js';
import { isOpenTo } from '../../model/guest/access.js';
import type { ApiKeyCaller, ServiceCaller } from '../../model/guest/caller.js';
import type { Workspace } from '../../model/organization.js';
import type { Clock, Ids } from '../../model/ports.js';
import { Refusal } from '../../model/refusal.js';
import type { Store } from '../store/store.js';
import { loadWorkspace } from '../workspaces/workspaces.js';
import { loadOrganizationDashboard } from './transfer.js';

type Deps = { readonly store: Store; readonly clock: Clock; readonly ids: Ids };
type Caller = ServiceCaller | ApiKeyCaller;

type DashboardUpdate = {
  readonly dashboardId: string;
  readonly filters?: readonly FilterMapping[] | undefined;
  readonly appendMetrics?: readonly { readonly metricId: string }[] | undefined;
  readonly removedMetrics?: readonly string[] | undefined;
};

export type UpdateWorkspaceDashboards = {
  readonly workspaceName: string;
  readonly dashboards: readonly DashboardUpdate[];
};

const quote = (name: string): string => JSON.stringify(name);

const assertCredential = (caller: Caller, { dashboards }: UpdateWorkspaceDashboards): void => {
  const isGallery = dashboards.some(
    ({ appendMetrics, removedMetrics }) => appendMetrics !== undefined || removedMetrics !== undefined,
  );
  if (caller.kind === 'apiKey' && isGallery) {
    throw new Refusal('AUTHENTICATION_ERROR', 'appendMetrics and removedMetrics need a service token.', {
      reason: 'gallery-by-api-key',
    });
  }
};

/**
 * Returns a dashboard that the API key may change. spec-gap: these are the dashboards of its own data app, and those of
 * the organization that no other data app shows. The mapping of a filter decides what the filter restricts, so a key
 * must not change it for guests of another data app.
 */
const loadForKey = async (
  store: Store,
  { dataAppId }: ApiKeyCaller,
  workspace: Workspace,
  dashboardId: string,
): Promise<Dashboard> => {
  const dashboard = await store.dashboards.findByExternalId(dataAppId, dashboardId);
  if (dashboard === undefined || dashboard.workspaceId !== workspace.id) {
    throw new Refusal(
      'INVALID_DASHBOARD_ID',
      `Workspace ${quote(workspace.name)} has no dashboard ${quote(dashboardId)}.`,
    );
  }
  if (dashboard.owner === null && (await store.embeds.isSharedBeyond(dataAppId, dashboard.id))) {
    throw new Refusal(
      'INVALID_DASHBOARD_ID',
      `Dashboard ${quote(dashboardId)} is also used by another data app: use a service token.`,
      { reason: 'dashboard-shared' },
    );
  }
  return dashboard;
};

/** Returns the current dashboard, and locks it until the transaction ends. */
const lockDashboard = async (
  store: Store,
  caller: Caller,
  workspace: Workspace,
  dashboardId: string,
): Promise<Dashboard> => {
  const found =
    caller.kind === 'apiKey'
      ? await loadForKey(store, caller, workspace, dashboardId)
      : await loadOrganizationDashboard(store, workspace, dashboardId);
  const locked = await store.dashboards.lock(found.id);
  if (locked === undefined)
    throw new Refusal('INVALID_DASHBOARD_ID', `Dashboard ${quote(dashboardId)} was deleted meanwhile.`);
  return locked;
};

const withFilters = (
  dashboard: Dashboard,
  mappings: readonly FilterMapping[],
  datamarts: readonly Datamart[],
): Dashboard => {
  const mapped = mapFilters(dashboard, mappings, datamarts);
  if ('filters' in mapped) return { ...dashboard, filters: mapped.filters };
  throw new Refusal(
    'INVALID_REQUEST_BODY',
    `dashboards[${quote(dashboard.externalDashboardId)}].filters: ${mapped.faults.slice(0, 10).join('; ')}.`,
    { reason: 'filter-mapping' },
  );
};

const unavailable = (metricId: string, dashboard: Dashboard, why: string): Refusal =>
  new Refusal(
    'INVALID_METRIC_ID',
    `Metric ${quote(metricId)} ${why} dashboard ${quote(dashboard.externalDashboardId)}.`,
  );

/**
 * Returns a metric of the workspace that this dashboard may hold: one of the organization, or of the dashboard's
 * client.
 */
const loadAppended = async (store: Store, dashboard: Dashboard, metricId: string): Promise<Metric> => {
  const metric = await store.metrics.findById(metricId);
  const isThere = metric !== undefined && metric.workspaceId === dashboard.workspaceId;
  const isAllowed =
    isThere && (metric.owner === null || (dashboard.owner !== null && isOpenTo(metric.owner, dashboard.owner)));
  if (!isAllowed || lineageOfCopy(metric).length > maxLineage) {
    throw unavailable(metricId, dashboard, 'is not available to the gallery of');
  }
  return metric;
};

/**
 * Returns the metric to place: on a client's dashboard, the client's copy of it. A copy that an earlier removal left
 * unplaced is used again.
 */
const copyFor = async ({ store, ids }: Deps, dashboard: Dashboard, metric: Metric): Promise<Metric> => {
  const { owner } = dashboard;
  if (owner === null || metric.owner !== null) return metric;
  const [left] = await store.metrics.listUnplacedCopies(metric.metricId, owner);
  if (left !== undefined) return left;
  const copy: Metric = { ...metric, metricId: ids.uuid(), lineage: lineageOfCopy(metric), owner };
  if (!(await store.metrics.insert(copy))) throw new Error('a random metric id was taken');
  return copy;
};

const append = async (
  deps: Deps,
  dashboard: Dashboard,
  placed: readonly PlacedMetric[],
  { appendMetrics = [] }: DashboardUpdate,
): Promise<readonly PlacedMetric[]> => {
  let result = placed;
  for (const { metricId } of appendMetrics) {
    const metric = await loadAppended(deps.store, dashboard, metricId);
    // A metric that is already on the dashboard keeps its placement.
    if (findPlaced(result, metricId) !== undefined) continue;
    const copy = await copyFor(deps, dashboard, metric);
    result = [...result, { metric: copy, placement: 'GALLERY', placedAt: deps.clock.now() }];
  }
  return result;
};

const remove = (
  dashboard: Dashboard,
  placed: readonly PlacedMetric[],
  { removedMetrics = [] }: DashboardUpdate,
): readonly PlacedMetric[] => {
  const gone = removedMetrics.map((metricId) => {
    const found = findPlaced(placed, metricId);
    if (found === undefined) throw unavailable(metricId, dashboard, 'is not on');
    return found;
  });
  return placed.filter((one) => !gone.includes(one));
};

const updateGallery = async (deps: Deps, dashboard: Dashboard, update: DashboardUpdate): Promise<Dashboard> => {
  if (update.appendMetrics === undefined && update.removedMetrics === undefined) return dashboard;
  const before = await deps.store.dashboards.listMetrics(dashboard.id);
  const after = await append(deps, dashboard, remove(dashboard, before, update), update);
  await deps.store.dashboards.placeMetrics(
    dashboard.id,
    after.map(({ metric, placement }) => ({ metricId: metric.metricId, placement })),
    deps.clock.now(),
  );
  const there = new Set(after.map(({ metric }) => metric.metricId));
  // spec-gap: removing a metric also removes its card, which would show nothing.
  return { ...dashboard, layout: dashboard.layout.filter(({ metricId }) => there.has(metricId)) };
};

/**
 * Throws WORKSPACE_ID_ERROR, INVALID_DASHBOARD_ID, INVALID_METRIC_ID or INVALID_REQUEST_BODY; then nothing is changed.
 */
export const updateWorkspaceDashboards =
  (deps: Deps) =>
  async (caller: Caller, command: UpdateWorkspaceDashboards): Promise<undefined> => {
    assertCredential(caller, command);
    await deps.store.transaction(async (store) => {
      const workspace = await loadWorkspace(store, command.workspaceName);
      const datamarts = await store.workspaces.listDatamarts(workspace);
      // All updates lock dashboards in the same order, so that two of them cannot deadlock.
      for (const update of command.dashboards.toSorted((a, b) => (a.dashboardId < b.dashboardId ? -1 : 1))) {
        const dashboard = await lockDashboard(store, caller, workspace, update.dashboardId);
        const mapped = withFilters(dashboard, update.filters ?? [], datamarts);
        await store.dashboards.update(await updateGallery({ ...deps, store }, mapped, update));
      }
    });
    return undefined;
  };
