/** What a guest token reads. Every way to rows goes through `enforcedQuestion`, on a dashboard or metric that the token opens. */
import { effectivePermissions, notOpen } from '../domain/access.js';
import type { GuestCaller } from '../domain/caller.js';
import { columnsFor, openMetricFilters, visibleFilters } from '../domain/conditions.js';
import { sameName } from '../domain/dashboard.js';
import { appliedValue } from '../domain/end-user-filters.js';
import type { FilterDataType, FilterValue, Scalar } from '../domain/filter.js';
import type { GuestGrant } from '../domain/guest.js';
import type {
  GuestDashboard,
  GuestFilter,
  GuestMetric,
  GuestOption,
  GuestQuery,
  MetricReply,
} from '../domain/guest-view.js';
import { type Metric, measureNames } from '../domain/metric.js';
import type { Workspace } from '../domain/organization.js';
import type { Clock, Engine, MetricAnswer, MetricQuestion, Store } from '../domain/ports.js';
import { Refusal } from '../domain/refusal.js';
import { compared } from './comparison.js';
import { metricsFor, openMetricsOf } from './embed-lookup.js';
import { layoutFor } from './guest-layouts.js';
import {
  accessOf,
  assertPermitted,
  enforcedQuestion,
  type OpenMetric,
  openDashboard,
  openMetric,
  questionFor,
} from './guest-scope.js';

type Deps = { readonly store: Store; readonly engine: Engine; readonly clock: Clock };

const viewFilter = (
  filter: { readonly dataType: FilterDataType; readonly defaultValue?: FilterValue | undefined },
  name: string,
): GuestFilter => ({
  name,
  dataType: filter.dataType,
  defaultValue: filter.defaultValue ?? null,
});

/** A metric as this guest reads it. */
export const viewMetric = (grant: GuestGrant, metric: Metric): GuestMetric => {
  const { metricId, name, definition } = metric;
  return {
    metricId,
    name,
    chart: {
      ...definition.chart,
      dimensions: definition.dimensions.map((dimension) => dimension.name),
      measures: measureNames(definition),
      isDrillable: definition.kind === 'visual' && definition.drillPath.length > 0,
    },
    filters: openMetricFilters(grant, metric).map((filter) => viewFilter(filter, filter.label)),
  };
};

const themeOf = (workspace: Workspace | undefined): GuestDashboard['theme'] =>
  workspace?.themeName === undefined ? null : { name: workspace.themeName };

/** The dashboard as this guest sees it: hidden metrics, their cards and hidden filters are not in it. */
export const getGuestDashboard =
  ({ store }: Pick<Deps, 'store'>) =>
  async (caller: GuestCaller, { dashboardId }: { readonly dashboardId: string }): Promise<GuestDashboard> => {
    const { grant } = caller;
    const { embed, dashboard } = await openDashboard(store, grant, dashboardId);
    const all = await metricsFor(store, dashboard, grant);
    const metrics = await openMetricsOf(store, grant, dashboard);
    return {
      dashboardId,
      name: dashboard.name,
      layout: await layoutFor(store, grant, dashboard, all),
      metrics: metrics.map((metric) => viewMetric(grant, metric)),
      filters: visibleFilters(grant, dashboard).map((filter) => ({
        ...viewFilter(filter, filter.name),
        appliedValue: appliedValue(grant, dashboard, filter.name),
      })),
      permissions: effectivePermissions(grant.permissions, embed.accessSettings),
      accessPermissions: await accessOf(store, grant, { embed, dashboard }),
      theme: themeOf(await store.workspaces.findById(dashboard.workspaceId)),
    };
  };

/** A metric embed, by its own id or its metric's. */
export const getGuestMetric =
  ({ store }: Pick<Deps, 'store'>) =>
  async ({ grant }: GuestCaller, { metricId }: { readonly metricId: string }): Promise<GuestMetric> =>
    viewMetric(grant, (await openMetric(store, grant, metricId, undefined)).metric);

type Ask = (question: MetricQuestion) => Promise<MetricAnswer>;

const reply = async (
  { store, clock }: Deps,
  { grant }: GuestCaller,
  target: OpenMetric,
  query: GuestQuery,
  ask: Ask,
): Promise<MetricReply> => {
  const started = clock.now();
  const answer = await ask(await questionFor(store, grant, target, query, started));
  return { metricId: target.metric.metricId, answer, timeTakenInMs: clock.now().getTime() - started.getTime() };
};

export const queryGuestMetric =
  (deps: Deps) =>
  async (caller: GuestCaller, query: GuestQuery): Promise<MetricReply> => {
    const target = await openMetric(deps.store, caller.grant, query.metricId, query.dashboardId);
    return reply(deps, caller, target, query, compared(deps.engine.query));
  };

/** The rows behind the metric, where `isEnableUnderlyingData` allows. */
export const listGuestUnderlying =
  (deps: Deps) =>
  async (caller: GuestCaller, query: GuestQuery): Promise<MetricReply> => {
    const target = await openMetric(deps.store, caller.grant, query.metricId, query.dashboardId);
    assertPermitted(caller.grant, target.opened, 'isEnableUnderlyingData');
    return reply(deps, caller, target, query, deps.engine.underlying);
  };

/** A file does not say that rows are missing in it: one that nobody asked to be cut is whole or refused. */
const assertWhole = ({ limit, offset = 0 }: GuestQuery, { rows, totalRecords }: MetricAnswer): void => {
  if (limit !== undefined || offset + rows.length >= totalRecords) return;
  throw new Refusal(
    'METRIC_QUERY_ERROR',
    `The metric has ${totalRecords} rows, more than one download holds; narrow it by a filter, or ask for pages by limit and offset.`,
    { reason: 'download-too-large' },
  );
};

/** The metric's answer for download, where `isEnableDownloadMetrics` allows. Throws METRIC_QUERY_ERROR rather than leave rows out. */
export const downloadGuestCsv =
  (deps: Deps) =>
  async (caller: GuestCaller, query: GuestQuery): Promise<MetricReply> => {
    const target = await openMetric(deps.store, caller.grant, query.metricId, query.dashboardId);
    assertPermitted(caller.grant, target.opened, 'isEnableDownloadMetrics');
    const answered = await reply(deps, caller, target, query, deps.engine.query);
    assertWhole(query, answered.answer);
    return answered;
  };

type OptionsQuery = { readonly dashboardId: string; readonly filter: string; readonly search?: string | undefined };

/** How many options one answer holds; a search narrows them. */
const optionLimit = 100;

/**
 * What one guest defined badly must not take the options from everyone: without its values, there are fewer of them. Nor must SQL, whose
 * rows are not its tables' rows.
 */
const skipUnanswerable = (error: unknown, { guest, isChangedByGuest, definition }: Metric): readonly Scalar[] => {
  const isSkipped = guest !== null || isChangedByGuest || definition.kind === 'sql';
  if (isSkipped && error instanceof Refusal && error.code === 'METRIC_QUERY_ERROR') return [];
  throw error;
};

/** The values that occur in rows this guest may see: asked of each metric of the dashboard, under that metric's restrictions. */
export const listGuestFilterOptions =
  ({ store, engine, clock }: Deps) =>
  async (caller: GuestCaller, { dashboardId, filter: name, search }: OptionsQuery): Promise<readonly GuestOption[]> => {
    const { grant } = caller;
    const opened = await openDashboard(store, grant, dashboardId);
    const filter = visibleFilters(grant, opened.dashboard).find((candidate) => sameName(candidate.name, name));
    if (filter === undefined) throw notOpen('filter-unknown-or-hidden');
    const now = clock.now();
    const metrics = await openMetricsOf(store, grant, opened.dashboard);
    const values = await Promise.all(
      metrics.flatMap((metric) =>
        columnsFor(filter, metric.definition).map(async (column) => {
          const target = { opened, metric, dashboards: [opened.dashboard] };
          const question = await enforcedQuestion(store, grant, target, now);
          const options = engine.options({ ...question, column, search: search ?? null, limit: optionLimit });
          return options.catch((error: unknown) => skipUnanswerable(error, metric));
        }),
      ),
    );
    const distinct = [...new Set(values.flat())].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
    return distinct.slice(0, optionLimit).map((value) => ({ label: String(value), value }));
  };
