/** Determines what a guest's request reads: the embed, the metric, and every restriction on its rows. */
import { type Dashboard, sameName } from '../../model/dashboard/dashboard.js';
import type { Metric, MetricDefinition } from '../../model/dashboard/metric.js';
import type { Datamart, TableRef } from '../../model/datamart/datamart.js';
import { type Moment, todayOf } from '../../model/filter/date-range.js';
import type { Condition } from '../../model/filter/filter.js';
import { assertOpens, effectivePermissions, isMetricOpen, notOpen } from '../../model/guest/access.js';
import type { GuestCaller, LiveGrant } from '../../model/guest/caller.js';
import { noColumns, takeColumns } from '../../model/guest/column-filters.js';
import {
  authoredAmong,
  chosenConditions,
  enforcedConditions,
  enforcedVariables,
  openMetricFilters,
  visibleFilters,
} from '../../model/guest/conditions.js';
import { heldMarks, ownFilters } from '../../model/guest/cross-filter.js';
import {
  areEndUserFiltersAllowed,
  type EffectiveAccess,
  effectiveAccess,
  endUserColumns,
} from '../../model/guest/end-user-filters.js';
import type { FilterValues, GuestGrant, GuestPermission } from '../../model/guest/grant.js';
import type { GuestQuery } from '../../model/guest/view.js';
import type { Clock } from '../../model/ports.js';
import { withCompletePeriod } from '../../model/query/comparison.js';
import { drill } from '../../model/query/drill.js';
import type { MetricQuestion } from '../../model/query/engine.js';
import type { Reason } from '../../model/reasons.js';
import { passes, Refusal } from '../../model/refusal.js';
import {
  findEmbed,
  findSource,
  metricsFor,
  type Opened,
  openMetricsOf,
  type ScopedSource,
  scopeSource,
  shownMetric,
  withOpenFilters,
} from '../embeds/lookup.js';
import type { ContentStore } from '../store/content.js';
import type { Store } from '../store/store.js';

/** Throws UNAUTHORIZED if the token is scoped to another datamart or datasource than the embed's. */
export const assertInScope = async (store: ContentStore, grant: GuestGrant, opened: Opened): Promise<void> => {
  const { datamartId, datasourceId } = grant;
  if (datamartId === null && datasourceId === null) return;
  const source = await findSource(store, opened, grant);
  if (datamartId !== null && datamartId !== source?.datamart.id) throw notOpen('datamart-out-of-scope');
  if (datasourceId !== null && datasourceId !== source?.datasource.id) throw notOpen('datasource-out-of-scope');
};

/**
 * Returns the dashboard of an embed's or dashboard's id. Throws UNAUTHORIZED for anything that this token does not
 * open.
 */
export const openDashboard = async (store: ContentStore, grant: GuestGrant, id: string): Promise<Opened> => {
  const opened = await findEmbed(store, grant.dataAppId, id);
  if (opened === undefined) throw notOpen('embed-unknown');
  assertOpens(grant, opened.embed, opened.dashboard);
  if (opened.embed.embedType !== 'dashboard') throw notOpen('metric-embed-as-dashboard');
  await assertInScope(store, grant, opened);
  return withOpenFilters(store, grant, opened);
};

/**
 * Returns the dashboard for a write, and locks it until the transaction ends. Throws UNAUTHORIZED if the dashboard, the
 * data app or the token was deleted. The data app is locked first, as in its deletion and in the erasure of a client,
 * so that these cannot deadlock.
 */
export const lockDashboard = async (store: Store, grant: GuestGrant, id: string): Promise<Dashboard> => {
  const dashboard = (await store.dataApps.hold(grant.dataAppId)) ? await store.dashboards.lock(id) : undefined;
  if (dashboard === undefined) throw notOpen('dashboard-gone');
  if (!(await store.guestTokens.isGood(grant.id))) throw notOpen('token-gone');
  return dashboard;
};

/** A metric as the guest reads it: through one embed, with the restrictions of `dashboards`. */
export type OpenMetric = {
  readonly opened: Opened;
  readonly metric: Metric;
  readonly dashboards: readonly Dashboard[];
};

const metricEmbeds = async (store: ContentStore, grant: GuestGrant, id: string): Promise<readonly Opened[]> => {
  const named = await store.embeds.findById(grant.dataAppId, id);
  const embeds = named === undefined ? await store.embeds.listByMetric(grant.dataAppId, id) : [named];
  const found = await Promise.all(
    embeds.map(async (embed) => ({ embed, dashboard: await store.dashboards.findById(embed.dashboardId) })),
  );
  return found.flatMap(({ embed, dashboard }) =>
    dashboard === undefined || embed.embedType !== 'metric' ? [] : [{ embed, dashboard }],
  );
};

/** Whether the grant opens this embed, by the rules of `assertOpens`. */
export const opens = (grant: GuestGrant, { embed, dashboard }: Opened): boolean =>
  passes(() => assertOpens(grant, embed, dashboard));

/**
 * Returns a metric embed by its own id or its metric's id. The settings of every dashboard that holds the metric
 * restrict it.
 */
const openMetricEmbed = async (store: ContentStore, grant: GuestGrant, id: string): Promise<OpenMetric> => {
  const opened = (await metricEmbeds(store, grant, id)).find((candidate) => opens(grant, candidate));
  const metric = opened?.embed.metricId == null ? undefined : await store.metrics.findById(opened.embed.metricId);
  if (opened === undefined || metric === undefined) throw notOpen('metric-embed-unknown');
  await assertInScope(store, grant, opened);
  const dashboards = await store.metrics.listDashboards(metric.metricId);
  // If the embed's dashboard no longer held the metric, the restrictions of that dashboard would be lost.
  if (!dashboards.some(({ id: held }) => held === opened.dashboard.id)) throw notOpen('metric-left-its-dashboard');
  const open = (await openMetricsOf(store, grant, opened)).find(({ metricId }) => metricId === metric.metricId);
  if (open === undefined) throw await notShown(store, grant, opened, metric, 'metric-hidden-or-newer');
  if (!dashboards.every((dashboard) => isMetricOpen(grant, dashboard, metric))) throw notOpen('metric-hidden');
  return { opened, metric: open, dashboards };
};

/** The refusal's reason, for the log: the metric needs a column that the token hides, or else `reason`. */
const notShown = async (
  store: ContentStore,
  grant: GuestGrant,
  opened: Opened,
  metric: Metric,
  reason: Reason,
): Promise<Refusal> => {
  const source = await findSource(store, opened, grant);
  const needsHidden = source !== undefined && shownMetric(metric, source) === undefined;
  return notOpen(needsHidden ? 'metric-needs-hidden-column' : reason);
};

/**
 * Returns the metric, opened through the dashboard that the guest names. Without a dashboard, only an allowed metric
 * embed is opened.
 */
export const openMetric = async (
  store: ContentStore,
  grant: GuestGrant,
  metricId: string,
  dashboardId: string | undefined,
): Promise<OpenMetric> => {
  if (dashboardId === undefined) return openMetricEmbed(store, grant, metricId);
  return openOn(store, grant, await openDashboard(store, grant, dashboardId), metricId);
};

/** Returns the metric of a dashboard that is open. Throws UNAUTHORIZED if the token does not open the metric there. */
export const openOn = async (
  store: ContentStore,
  grant: GuestGrant,
  opened: Opened,
  metricId: string,
): Promise<OpenMetric> => {
  const isMeant = (candidate: Metric): boolean => candidate.metricId === metricId;
  const metric = (await openMetricsOf(store, grant, opened)).find(isMeant);
  if (metric === undefined) {
    const placed = (await metricsFor(store, opened.dashboard, grant)).find(isMeant);
    if (placed === undefined) throw notOpen('metric-not-on-dashboard');
    throw await notShown(store, grant, opened, placed, 'metric-not-on-dashboard');
  }
  return { opened, metric, dashboards: [opened.dashboard] };
};

/** Returns the embed's datamart with this client's scope. Throws METRIC_QUERY_ERROR if the embed has no datamart. */
const openSource = async (store: ContentStore, grant: LiveGrant, opened: Opened): Promise<ScopedSource> => {
  const source = await findSource(store, opened, grant);
  if (source === undefined) {
    throw new Refusal(
      'METRIC_QUERY_ERROR',
      'This embed has no datamart that its workspace is connected to; the host application must name one in its access settings, or in the token where its workspace has several.',
    );
  }
  return scopeSource(store, source, grant);
};

/** Throws UNAUTHORIZED unless both the token and the embed permit it. */
export const assertPermitted = (grant: GuestGrant, { embed }: Opened, permission: GuestPermission): void => {
  if (!effectivePermissions(grant.permissions, embed.accessSettings)[permission]) {
    throw new Refusal('UNAUTHORIZED', `This token does not carry the permission ${permission}.`, {
      reason: 'permission-missing',
    });
  }
};

/** Throws TOKEN_EXPIRED or AUTHENTICATION_ERROR if the token has ended since the request was authenticated. */
export const assertStillGood = async (
  { store, clock }: { readonly store: Store; readonly clock: Clock },
  { grant: { id, expiresAt } }: GuestCaller,
): Promise<void> => {
  if (expiresAt !== null && expiresAt <= clock.now()) {
    throw new Refusal('TOKEN_EXPIRED', 'The guest token has expired; ask the host application for a new one.');
  }
  if (await store.guestTokens.isGood(id)) return;
  throw new Refusal('AUTHENTICATION_ERROR', 'The guest token was revoked; ask the host application for a new one.', {
    reason: 'token-gone',
  });
};

/**
 * Runs `work`, and replaces the message of its refusal. Names and values of a token's restrictions are only for the
 * host, which got the detailed message at mint.
 */
const unnamed = <T>(work: () => T): T => {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    throw new Refusal(
      error.code,
      'A restriction of this token does not fit the current metric. The host application must mint a new token.',
      { reason: error.reason, cause: error },
    );
  }
};

const hidden = (condition: Condition): Condition => ({ ...condition, isHidden: true });

const dimensionTables = ({ kind, dimensions }: MetricDefinition): readonly TableRef[] =>
  kind === 'sql' ? [] : dimensions.map(({ column: { schemaName, tableName } }) => ({ schemaName, tableName }));

/**
 * Returns the part of the question that a guest cannot influence: the tenant scope, and every restriction of token and
 * author.
 */
export const enforcedQuestion = async (
  store: ContentStore,
  grant: LiveGrant,
  { opened, metric, dashboards }: OpenMetric,
  now: Date,
  definition = metric.definition,
): Promise<MetricQuestion> => ({
  ...(await openSource(store, grant, opened)),
  shownOn: { dashboardId: opened.dashboard.externalDashboardId, metricId: metric.metricId },
  definition,
  ...(definition === metric.definition ? {} : { readBefore: dimensionTables(metric.definition) }),
  conditions: unnamed(() => enforcedConditions(grant, dashboards, metric, { now, timezone: grant.timezone })).map(
    hidden,
  ),
  variables: unnamed(() => enforcedVariables(grant, metric)),
  timezone: grant.timezone,
  today: todayOf({ now, timezone: grant.timezone }),
  sort: null,
  limit: null,
  offset: 0,
});

/** Returns what the guest may do with its own filters on an embed. */
export const accessOf = async (store: ContentStore, grant: GuestGrant, opened: Opened): Promise<EffectiveAccess> => {
  const { accessSettings } = opened.embed;
  const isAllowed = areEndUserFiltersAllowed(grant.accessPermissions, accessSettings);
  const source = isAllowed.dashboard || isAllowed.metric ? await findSource(store, opened, grant) : undefined;
  return effectiveAccess(grant.accessPermissions, accessSettings, source?.datamart);
};

/** Returns the conditions that the guest chose: on existing filters, and on columns if they are allowed. */
const chosenFor = (
  grant: GuestGrant,
  { opened, metric }: OpenMetric,
  datamart: Datamart,
  { dashboardFilter = {}, metricFilter = {} }: GuestQuery,
  moment: Moment,
): readonly Condition[] => {
  const through = opened.embed.embedType === 'dashboard' ? opened.dashboard : null;
  const columns = endUserColumns(grant.accessPermissions, opened.embed.accessSettings, datamart);
  const filters = through === null ? [] : visibleFilters(grant, through).map(({ name }) => name);
  const own = openMetricFilters(grant, metric).flatMap(({ name, label }) => [name, label]);
  const isAmong = (names: readonly string[]) => (key: string) => names.some((name) => sameName(name, key));
  const onDashboard = takeColumns(
    dashboardFilter,
    through === null ? noColumns : columns.dashboard,
    isAmong(filters),
    moment,
  );
  const onMetric = takeColumns(metricFilter, columns.metric, isAmong(own), moment);
  const choices = { dashboardFilter: onDashboard.rest, metricFilter: onMetric.rest };
  return [
    ...chosenConditions(grant, through, metric, choices, moment),
    ...onDashboard.conditions,
    ...onMetric.conditions,
  ];
};

/**
 * Returns the guest's choices on the dashboard without those of one filter, whose options they narrow, and without the
 * metric's own filters. Defaults of the other filters hold as in the charts.
 */
export const choicesBeside = (
  filter: string,
  grant: GuestGrant,
  { opened, metric }: Pick<OpenMetric, 'opened' | 'metric'>,
  { datamart }: Pick<MetricQuestion, 'datamart'>,
  { dashboardFilter, moment }: { readonly dashboardFilter: FilterValues; readonly moment: Moment },
): readonly Condition[] => {
  const isOther = (name: string) => !sameName(name, filter);
  const filters = opened.dashboard.filters.filter(({ name }) => isOther(name));
  const others = Object.fromEntries(Object.entries(dashboardFilter).filter(([name]) => isOther(name)));
  const beside = {
    opened: { ...opened, dashboard: { ...opened.dashboard, filters } },
    metric: { ...metric, definition: { ...metric.definition, filters: [] } },
    dashboards: [],
  };
  return chosenFor(grant, beside, datamart, { metricId: metric.metricId, dashboardFilter: others }, moment);
};

/** Returns the marks of other cards that filter the metric. Only a dashboard has other cards. */
export const marksFor = async (
  store: ContentStore,
  grant: GuestGrant,
  { opened, metric }: Pick<OpenMetric, 'opened' | 'metric'>,
  datamart: Datamart | undefined,
  { crossFilter = [] }: Pick<GuestQuery, 'crossFilter'>,
  reads: 'groups' | 'rows' = 'groups',
): Promise<ReturnType<typeof heldMarks>> => {
  if (crossFilter.length === 0) return [];
  const { embed, dashboard } = opened;
  if (embed.embedType !== 'dashboard') throw notOpen('metric-embed-as-dashboard');
  const open = await openMetricsOf(store, grant, { embed, dashboard });
  return heldMarks(crossFilter, { metric, reads }, open, ownFiltersOf(grant, opened, datamart));
};

/** Returns what the guest may filter by on the dashboard. */
export const ownFiltersOf = (grant: GuestGrant, { embed, dashboard }: Opened, datamart: Datamart | undefined) =>
  ownFilters(grant, dashboard, endUserColumns(grant.accessPermissions, embed.accessSettings, datamart).dashboard);

/**
 * Returns the engine's question for a guest's query: the enforced question, ANDed with the guest's own conditions.
 * `rows`: the question is for the rows behind the metric, which its own marks filter too.
 */
export const questionFor = async (
  store: ContentStore,
  grant: LiveGrant,
  target: OpenMetric,
  query: GuestQuery,
  now: Date,
  reads: 'groups' | 'rows' = 'groups',
): Promise<MetricQuestion> => {
  const moment: Moment = { now, timezone: grant.timezone };
  const drilled = drill(target.metric.definition, query.drill ?? []);
  const enforced = await enforcedQuestion(store, grant, target, now, drilled.definition);
  const marks = await marksFor(store, grant, target, enforced.datamart, query, reads);
  const crossed = marks.flatMap(({ conditions }) => conditions);
  const chosen = [...chosenFor(grant, target, enforced.datamart, query, moment), ...crossed, ...drilled.conditions];
  const question = {
    ...enforced,
    conditions: [...enforced.conditions, ...chosen],
    movable: [...authoredAmong(enforced.conditions, target.metric.definition), ...chosen],
    sort: query.sort ?? null,
    limit: query.limit ?? null,
    offset: query.offset ?? 0,
  };
  return withCompletePeriod(question, moment);
};
