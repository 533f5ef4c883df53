/**
 * The metrics of a dashboard whose content is replaced: finds the stored metric for each metric of the new content, and
 * writes it.
 */
import { canonicalJson, isSameJson } from '../../model/canonical-json.js';
import type { Dashboard, DashboardContent, PlacedMetric } from '../../model/dashboard/dashboard.js';
import { hostMade, lineageOfCopy, type Metric } from '../../model/dashboard/metric.js';
import type { Clock, Ids } from '../../model/ports.js';
import { Refusal } from '../../model/refusal.js';
import type { Store } from '../store/store.js';

type Deps = { readonly store: Store; readonly clock: Clock; readonly ids: Ids };
type Given = DashboardContent['metrics'][number];

/**
 * `own`: metrics that the dashboard's export contains. `others`: metrics that are not part of the content; they stay
 * unchanged.
 */
export type Placed = { readonly own: readonly PlacedMetric[]; readonly others: readonly PlacedMetric[] };

const invalid = (metricId: string, fault: string): Refusal =>
  new Refusal('INVALID_DASHBOARD_DATA', `metrics[${JSON.stringify(metricId)}]: ${fault}.`);

/**
 * Returns the metric of that id, else its copy on the dashboard if the content does not name the copy by its own id.
 */
const findOwn = (own: readonly PlacedMetric[], content: DashboardContent, { metricId }: Given): Metric | undefined => {
  const named = new Set(content.metrics.map((metric) => metric.metricId));
  const direct = own.find(({ metric }) => metric.metricId === metricId);
  const copy = own.find(({ metric }) => metric.lineage[0] === metricId && !named.has(metric.metricId));
  return (direct ?? copy)?.metric;
};

/**
 * Returns a metric that an earlier replacement removed from a dashboard of this owner: by its own id, or as the copy of
 * the metric that the content names.
 */
const findKeptAside = async (store: Store, dashboard: Dashboard, { metricId }: Given): Promise<Metric | undefined> => {
  const { owner, workspaceId } = dashboard;
  const direct = await store.metrics.findById(metricId);
  const isOwned =
    direct !== undefined && canonicalJson(direct.owner) === canonicalJson(owner) && direct.workspaceId === workspaceId;
  if (isOwned && (await store.metrics.listDashboards(metricId)).length === 0) return direct;
  if (owner === null) return undefined;
  const [copy] = await store.metrics.listUnplacedCopies(metricId, owner);
  return copy;
};

/**
 * Changes name and definition. Owner, lineage and changes by guests belong to the metric and stay, since settings of
 * tokens apply to it by these.
 */
const change = async (store: Store, dashboard: Dashboard, metric: Metric, given: Given): Promise<string> => {
  const { metricId } = metric;
  if (given.metricId === metricId && !isSameJson(given.lineage, metric.lineage))
    throw invalid(metricId, 'its lineage cannot be changed, since settings of guest tokens refer to it');
  if (given.name === metric.name && isSameJson(given.definition, metric.definition)) return metricId;
  if (canonicalJson(metric.owner) !== canonicalJson(dashboard.owner))
    throw invalid(metricId, "it belongs to the organization, and cannot be changed through one client's dashboard");
  await store.metrics.update({ ...metric, name: given.name, definition: given.definition });
  return metricId;
};

const make = async ({ store, ids }: Deps, { owner, workspaceId }: Dashboard, given: Given): Promise<string> => {
  const { name, definition } = given;
  const metricId = ids.uuid();
  const metric = { metricId, workspaceId, name, definition, lineage: lineageOfCopy(given), owner, ...hostMade };
  if (!(await store.metrics.insert(metric))) throw new Error('a random metric id was taken');
  return metricId;
};

/**
 * Writes and places the metrics, in the transaction of `store`. Returns the stored ids by the content's ids. Metrics
 * that the content does not name stay stored but unplaced, so that a later content can use them under their ids. Throws
 * INVALID_DASHBOARD_DATA.
 */
export const writeMetrics = async (
  deps: Deps,
  dashboard: Dashboard,
  { own, others }: Placed,
  content: DashboardContent,
): Promise<ReadonlyMap<string, string>> => {
  const { store, clock } = deps;
  const newIds = new Map<string, string>();
  for (const given of content.metrics) {
    const found = findOwn(own, content, given) ?? (await findKeptAside(store, dashboard, given));
    const isTaken = found !== undefined && [...newIds.values()].includes(found.metricId);
    if (isTaken) throw invalid(given.metricId, 'another metric of the content means the same stored metric');
    newIds.set(
      given.metricId,
      found === undefined ? await make(deps, dashboard, given) : await change(store, dashboard, found, given),
    );
  }
  const placed = content.metrics.map(({ metricId, placement }) => ({
    metricId: newIds.get(metricId) ?? metricId,
    placement,
  }));
  const rest = others.map(({ metric, placement }) => ({ metricId: metric.metricId, placement }));
  await store.dashboards.placeMetrics(dashboard.id, [...placed, ...rest], clock.now());
  return newIds;
};
