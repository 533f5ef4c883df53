/**
 * Finds the metrics of a dashboard that read a table whose rows belong to nobody. Each is prepared like a query, in the
 * scope of a client that does not exist, so tables between the named ones and those of custom SQL count too. No row is
 * read.
 */
import type { Dashboard, DashboardContent } from '../../model/dashboard/dashboard.js';
import type { Metric } from '../../model/dashboard/metric.js';
import { wholeProbe } from '../../model/dashboard/type-probes.js';
import { type Datamart, withTenancySettings } from '../../model/datamart/datamart.js';
import type { ApiKeyCaller, ServiceCaller } from '../../model/guest/caller.js';
import { type Engine, isTenancyFault } from '../../model/query/engine.js';
import { Refusal } from '../../model/refusal.js';
import { unknownDatamart } from '../datamarts/tenancy.js';
import type { Store } from '../store/store.js';
import { loadWorkspace } from '../workspaces/workspaces.js';
import { isOwn, loadDashboard } from './content.js';
import { type CheckSource, checkSourceOf, standInClient } from './type-check.js';

type Deps = { readonly store: Store; readonly engine: Pick<Engine, 'check'> };

export type ListUnreadableMetrics = {
  readonly dashboardId: string;
  readonly workspaceName: string;
  readonly datamartName: string;
  /** The version to check. Undefined: what the dashboard has now. */
  readonly content?: Pick<DashboardContent, 'metrics'> | undefined;
  /** The client columns that the embeds of its copies add. */
  readonly tableTenancySettings?: readonly { readonly name: string; readonly clientColumn: string }[] | undefined;
};

export type UnreadableMetric = { readonly metricId: string; readonly name: string; readonly message: string };

const readDatamart = async (
  store: Store,
  { datamartName, tableTenancySettings = [] }: ListUnreadableMetrics,
): Promise<Datamart> => {
  const datamart = await store.datamarts.findByName(datamartName);
  if (datamart === undefined) throw unknownDatamart(datamartName);
  return withTenancySettings(datamart, tableTenancySettings);
};

/** What the checks ask about. Undefined where no client can stand in for all, and so no query could be answered. */
const sourceOf = async (store: Store, datamart: Datamart): Promise<CheckSource | undefined> => {
  const client = await standInClient(store, datamart);
  return client === undefined ? undefined : checkSourceOf(store, datamart, client);
};

const metricsOf = async (
  store: Store,
  dashboard: Dashboard,
  content: ListUnreadableMetrics['content'],
): Promise<readonly Pick<Metric, 'metricId' | 'name' | 'definition'>[]> =>
  content?.metrics ??
  (await store.dashboards.listMetrics(dashboard.id)).filter(isOwn(dashboard)).map(({ metric }) => metric);

/**
 * Returns the metrics with the reason of each. Throws WORKSPACE_ID_ERROR, INVALID_DASHBOARD_ID or INVALID_DATAMART.
 */
export const listUnreadableMetrics =
  ({ store, engine }: Deps) =>
  async (
    caller: ApiKeyCaller | ServiceCaller,
    command: ListUnreadableMetrics,
    signal: AbortSignal,
  ): Promise<readonly UnreadableMetric[]> => {
    const workspace = await loadWorkspace(store, command.workspaceName);
    const dashboard = await loadDashboard(store, caller, workspace, command.dashboardId);
    const source = await sourceOf(store, await readDatamart(store, command));
    if (source === undefined) return [];
    const found: UnreadableMetric[] = [];
    for (const { metricId, name, definition } of await metricsOf(store, dashboard, command.content)) {
      const { definition: asked, conditions } = wholeProbe(definition);
      try {
        await engine.check({ ...source, definition: asked, conditions }, signal);
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof Refusal)) throw error;
        // Other faults are of its columns, its types or the moment, and reported where the metric is run.
        if (isTenancyFault(error)) found.push({ metricId, name, message: error.message });
      }
    }
    return found;
  };
