/** Operation 15: filter mappings and gallery metrics of a workspace's dashboards. All or nothing, over all of them. */
import type { Dashboard, PlacedMetric } from '../../domain/dashboard/dashboard.js';
import { type FilterMapping, findPlaced, mapFilters } from '../../domain/dashboard/dashboard.js';
import { lineageOfCopy, type Metric, maxLineage } from '../../domain/dashboard/metric.js';
import type { Datamart } from '../../domain/datamart/datamart.js';
import { isOpenTo } from '../../domain/guest/access.js';
import type { ApiKeyCaller, ServiceCaller } from '../../domain/guest/caller.js';
import type { Workspace } from '../../domain/organization.js';
import type { Clock, Ids } from '../../domain/ports.js';
import { Refusal } from '../../domain/refusal.js';
import type { Store } from '../../domain/store/store.js';
import { loadWorkspace } from '../workspaces.js';
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
 * spec-gap: an API key changes its own data app's dashboards, and the organization's while no other data app shows them: the mapping of a filter
 * decides what that filter restricts, and nobody decides it for another data app's guests.
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
      `Dashboard ${quote(dashboardId)} is not this data app's alone: use a service token.`,
      { reason: 'dashboard-shared' },
    );
  }
  return dashboard;
};

/** As it is now, and as nobody else changes it until this is done. */
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

/** A metric of the workspace that this dashboard may hold: the organization's, or its own client's. */
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

/** On a client's dashboard, the client's copy: one that a removal left behind is taken up again. */
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
    // What is there stays where it is, on the board or in the gallery.
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
  // spec-gap: a metric that is on the board goes with its card, which without it would show nothing.
  return { ...dashboard, layout: dashboard.layout.filter(({ metricId }) => there.has(metricId)) };
};

/** Throws WORKSPACE_ID_ERROR, INVALID_DASHBOARD_ID, INVALID_METRIC_ID or INVALID_REQUEST_BODY, and then nothing of it is kept. */
export const updateWorkspaceDashboards =
  (deps: Deps) =>
  async (caller: Caller, command: UpdateWorkspaceDashboards): Promise<undefined> => {
    assertCredential(caller, command);
    await deps.store.transaction(async (store) => {
      const workspace = await loadWorkspace(store, command.workspaceName);
      const datamarts = await store.workspaces.listDatamarts(workspace);
      // In one order everywhere: two updates that name the same dashboards wait for each other, and never both.
      for (const update of command.dashboards.toSorted((a, b) => (a.dashboardId < b.dashboardId ? -1 : 1))) {
        const dashboard = await lockDashboard(store, caller, workspace, update.dashboardId);
        const mapped = withFilters(dashboard, update.filters ?? [], datamarts);
        await store.dashboards.update(await updateGallery({ ...deps, store }, mapped, update));
      }
    });
    return undefined;
  };
