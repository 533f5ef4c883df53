/**
 * Prepares the content of a new dashboard: a template or an import, moved to the target schemas and checked against the
 * datamarts.
 */
import {
  allWritten,
  contentFaults,
  replaceSchemas,
  type SchemaPair,
  type Written,
} from '../../model/dashboard/content.js';
import { listSql, listSqlParts, replaceSql } from '../../model/dashboard/content-sql.js';
import type { Dashboard, DashboardContent, MetricPlacement } from '../../model/dashboard/dashboard.js';
import { hostMade, lineageOfCopy, type Metric, type Owner } from '../../model/dashboard/metric.js';
import type { Datamart } from '../../model/datamart/datamart.js';
import { isOpenTo } from '../../model/guest/access.js';
import type { DatasourceType, Workspace } from '../../model/organization.js';
import type { Ids } from '../../model/ports.js';
import type { SqlRewriter } from '../../model/query/sql-rewriter.js';
import { Refusal } from '../../model/refusal.js';
import { sqlPartFaults } from '../datamarts/sql-faults.js';
import type { Store } from '../store/store.js';

type FaultCode = 'TEMPLATE_DASHBOARD_ERROR' | 'INVALID_DASHBOARD_DATA';

export const emptyContent: DashboardContent = { layout: [], filters: [], metrics: [], gridMargin: [] };

/**
 * Returns the dashboard as content: the `metrics` with their placements, their cards, and the settings that a copy
 * needs.
 */
export const contentOf = (
  dashboard: Dashboard,
  placed: readonly { readonly metric: Metric; readonly placement: MetricPlacement }[],
): DashboardContent => {
  const there = new Set(placed.map(({ metric }) => metric.metricId));
  return {
    // A card without its metric would show nothing.
    layout: dashboard.layout.filter(({ metricId }) => there.has(metricId)),
    filters: dashboard.filters,
    metrics: placed.map(({ metric: { metricId, name, definition, lineage }, placement }) => ({
      metricId,
      name,
      lineage,
      placement,
      definition,
    })),
    gridMargin: dashboard.gridMargin,
    isAllowPrivateMetricsByDefault: dashboard.isAllowPrivateMetricsByDefault,
    metadata: dashboard.metadata,
    ...(dashboard.tiles === undefined || dashboard.tiles.length === 0 ? {} : { tiles: dashboard.tiles }),
  };
};

/** Throws `code` with the first ten faults. */
export const refuseContent = (code: FaultCode, what: string, faults: readonly string[]): never => {
  const rest = faults.length > 10 ? `; and ${faults.length - 10} more` : '';
  throw new Refusal(code, `${what}: ${faults.slice(0, 10).join('; ')}${rest}.`);
};

/** Returns the SQL dialect of the datamarts. Undefined if their databases differ; SQL cannot be parsed then. */
const dialectOf = async (store: Store, datamarts: readonly Datamart[]): Promise<DatasourceType | undefined> => {
  const ids = [...new Set(datamarts.map(({ datasourceId }) => datasourceId))];
  const found = await Promise.all(ids.map((id) => store.datasources.findById(id)));
  const dialects = [...new Set(found.flatMap((datasource) => datasource?.datasourceType ?? []))];
  return dialects.length === 1 ? dialects[0] : undefined;
};

type Deps = { readonly store: Store; readonly sqlRewriter: SqlRewriter };

/** Whether the SQL at a place such as `metrics[2].definition.sql` has to fit, as `contentFaults` says it of its metric. */
const isCheckedIn = (
  { metrics, filters }: DashboardContent,
  { isNewMetric, isNewFilter, mayStayBroken }: Written,
): ((place: string) => boolean) => {
  const checked = new Set([
    ...metrics.flatMap(({ definition }, at) => (isNewMetric(definition) ? [`metrics[${at}]`] : [])),
    ...filters.flatMap((filter, at) => (isNewFilter(filter) ? [`filters[${at}]`] : [])),
  ]);
  return (place) => !mayStayBroken || checked.has(place.replace(/\..*$/, ''));
};

const moveSql = async (
  { store, sqlRewriter }: Deps,
  content: DashboardContent,
  pairs: readonly SchemaPair[],
  datamarts: readonly Datamart[],
  code: FaultCode,
  written: Written,
): Promise<DashboardContent> => {
  const isChecked = isCheckedIn(content, written);
  const all = [...listSql(content)].filter(([place]) => isChecked(place));
  if (!listSqlParts(content).some(({ place }) => isChecked(place))) return content;
  const dialect = await dialectOf(store, datamarts);
  const rewritten = new Map<string, string>();
  const faults: string[] = [];
  for (const [place, text] of all) {
    const result =
      dialect === undefined
        ? { expected: 'no SQL, since the datamarts here are of several databases' }
        : await sqlRewriter.renameSchemas(dialect, text, pairs);
    if ('sql' in result) rewritten.set(place, result.sql);
    else faults.push(`${place}: expected ${result.expected}`);
  }
  const replaced = replaceSql(content, rewritten);
  if (faults.length === 0 && dialect !== undefined) {
    const parts = listSqlParts(replaced).filter(({ place }) => isChecked(place));
    faults.push(...(await sqlPartFaults(sqlRewriter, dialect, datamarts, parts)));
  }
  if (faults.length > 0) refuseContent(code, 'SQL of the dashboard cannot be used', faults);
  return replaced;
};

/**
 * Returns the content with `pairs` applied. Throws `code` with the place of every fault if the result does not fit the
 * datamarts. The types of the parts that are `written` anew are checked too.
 */
export const moveContent = async (
  deps: Deps,
  content: DashboardContent,
  pairs: readonly SchemaPair[],
  datamarts: readonly Datamart[],
  code: FaultCode,
  written: Written = allWritten,
): Promise<DashboardContent> => {
  const moved = replaceSchemas(content, pairs);
  const faults = contentFaults(moved, datamarts, written);
  const names = datamarts.map(({ name }) => JSON.stringify(name)).join(', ');
  if (faults.length > 0) refuseContent(code, `The dashboard does not fit datamart ${names}`, faults);
  return moveSql(deps, moved, pairs, datamarts, code, written);
};

export type Template = { readonly dashboard: Dashboard; readonly content: DashboardContent };

/**
 * Returns the organization's dashboard of that id. A client's copy cannot be a template, since it may contain what the
 * client wrote. Throws TEMPLATE_DASHBOARD_ERROR.
 */
export const readTemplate = async (
  store: Store,
  workspace: Workspace,
  client: Owner,
  id: string,
  isWithMetrics: boolean,
): Promise<Template> => {
  const dashboard = await store.dashboards.findTemplate(id);
  // Held: the copy refers to the template, which must not be deleted before the copy is stored.
  const isThere = dashboard?.workspaceId === workspace.id && (await store.dashboards.hold(dashboard.id));
  if (dashboard === undefined || !isThere) {
    throw new Refusal(
      'TEMPLATE_DASHBOARD_ERROR',
      `Workspace ${JSON.stringify(workspace.name)} has no template dashboard ${JSON.stringify(id)}.`,
    );
  }
  const placed = isWithMetrics ? await store.dashboards.listMetrics(dashboard.id) : [];
  // A dashboard of the organization may hold metrics of other clients. Only their own client may have them.
  const open = placed.filter(({ metric }) => !metric.isArchived && isOpenTo(metric.owner, client));
  return { dashboard, content: contentOf(dashboard, open) };
};

export type Copies = { readonly metrics: readonly Metric[]; readonly newIds: ReadonlyMap<string, string> };

/** Returns new metrics for the content: they have new ids, and lineages that start with the content's ids. */
export const copyMetrics = (ids: Ids, content: DashboardContent, workspace: Workspace, owner: Owner | null): Copies => {
  const newIds = new Map(content.metrics.map(({ metricId }) => [metricId, ids.uuid()]));
  const metrics = content.metrics.map((metric) => ({
    metricId: newIds.get(metric.metricId) ?? ids.uuid(),
    workspaceId: workspace.id,
    name: metric.name,
    definition: metric.definition,
    lineage: lineageOfCopy(metric),
    owner,
    ...hostMade,
  }));
  return { metrics, newIds };
};

const taken = (dashboardId: string): Refusal =>
  new Refusal(
    'INVALID_DASHBOARD_ID',
    `dashboardId ${JSON.stringify(dashboardId)} exists already; ids are unique within the data app, and those of the organization's dashboards for all.`,
    { reason: 'dashboard-id-taken' },
  );

/**
 * Inserts the dashboard with its metrics, in the transaction of `store`. Throws INVALID_DASHBOARD_ID if the id is
 * taken.
 */
export const insertDashboard = async (
  store: Store,
  dashboard: Dashboard,
  metrics: readonly Metric[],
  placements: readonly MetricPlacement[],
  now: Date,
): Promise<void> => {
  const { externalDashboardId, owner } = dashboard;
  if (!(await store.dashboards.insert(dashboard))) throw taken(externalDashboardId);
  // spec-gap: an id must mean the same dashboard for all who may see it, so an id of the organization cannot be used by
  // anyone else.
  const others = (await store.dashboards.listByExternalId(externalDashboardId)).filter(({ id }) => id !== dashboard.id);
  if (others.some((other) => owner === null || other.owner === null)) throw taken(externalDashboardId);
  if (!(await store.metrics.insertAll(metrics))) throw new Error('a random metric id was taken');
  await store.dashboards.placeFirstMetrics(
    dashboard.id,
    metrics.map(({ metricId }, index) => ({ metricId, placement: placements[index] ?? 'GALLERY' })),
    now,
  );
};

/** Throws INVALID_DASHBOARD_ID if the row was not inserted, since the id is taken. */
export const assertInserted = (isInserted: boolean, dashboardId: string): void => {
  if (!isInserted) throw taken(dashboardId);
};
