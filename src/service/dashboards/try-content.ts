/**
 * Runs metrics of a content for the client of a dashboard, before the content is written. The client is the dashboard's
 * owner, never the caller's choice, and each run has that client's tenant scope. Answers whether each metric can be
 * answered, and no rows.
 */
import type { Dashboard, DashboardContent, TriedMetric } from '../../model/dashboard/dashboard.js';
import { hostMade, type Metric, type MetricDefinition } from '../../model/dashboard/metric.js';
import { todayOf } from '../../model/filter/date-range.js';
import type { ApiKeyCaller } from '../../model/guest/caller.js';
import {
  chosenConditions,
  enforcedConditions,
  enforcedVariables,
  noRestrictions,
} from '../../model/guest/conditions.js';
import type { Clock } from '../../model/ports.js';
import { compared } from '../../model/query/comparison.js';
import type { ReadEngine } from '../../model/query/engine.js';
import type { SqlRewriter } from '../../model/query/sql-rewriter.js';
import { Refusal } from '../../model/refusal.js';
import { assertReads, findSource, type Opened, type ScopedSource, type Source, scopeSource } from '../embeds/lookup.js';
import { loadSourceScope, unscoped } from '../embeds/source.js';
import type { Store } from '../store/store.js';
import { loadWorkspace } from '../workspaces/workspaces.js';
import { moveContent } from './blueprint.js';
import { typeMessage } from './type-check.js';

type Deps = {
  readonly store: Store;
  readonly engine: ReadEngine;
  readonly clock: Clock;
  readonly sqlRewriter: SqlRewriter;
};

export type TryDashboardContent = {
  readonly dashboardId: string;
  readonly workspaceName: string;
  readonly content: DashboardContent;
  /** Whether to run the whole metric, as a guest would, and measure the answer. Undefined: false. */
  readonly isMeasured?: boolean | undefined;
  /** What the tokens of the client name. Undefined: nothing. */
  readonly datasourceName?: string | undefined;
  readonly datamartName?: string | undefined;
};

/** Returns the client's dashboard with its own embed. Throws INVALID_DASHBOARD_ID for any other dashboard. */
const openOwned = async (
  store: Store,
  { dataAppId }: ApiKeyCaller,
  { dashboardId, workspaceName, ...names }: TryDashboardContent,
): Promise<Opened & { readonly source: Source; readonly clientId: string }> => {
  const workspace = await loadWorkspace(store, workspaceName);
  const dashboard = await store.dashboards.findByExternalId(dataAppId, dashboardId);
  const isOwn = dashboard?.workspaceId === workspace.id && dashboard.owner?.dataAppId === dataAppId;
  const embed = isOwn ? await store.embeds.findByDashboard(dataAppId, dashboard.id) : undefined;
  const { scope } = await loadSourceScope(store, names);
  const source =
    dashboard === undefined || embed === undefined
      ? undefined
      : await findSource(store, { embed, dashboard }, { ...unscoped, ...scope });
  if (embed !== undefined) assertReads(embed.embedId, source, scope);
  if (dashboard?.owner == null || embed === undefined || source === undefined) {
    throw new Refusal(
      'INVALID_DASHBOARD_ID',
      `Workspace ${JSON.stringify(workspaceName)} has no dashboard ${JSON.stringify(dashboardId)} of a client with an embed that reads a datamart.`,
    );
  }
  return { embed, dashboard, source, clientId: dashboard.owner.clientId };
};

/** Only a token has values of RLS variables. A variable with a column is left out here: the client's scope remains. */
const withoutValues = (definition: MetricDefinition): MetricDefinition => ({
  ...definition,
  rlsVariables: definition.rlsVariables.map((one) => (one.column === undefined ? one : { ...one, isOptional: true })),
});

const needsValue = ({ rlsVariables }: MetricDefinition): boolean =>
  rlsVariables.some(({ column, isOptional }) => column === undefined && !isOptional);

type Trial = {
  readonly clock: Clock;
  readonly isMeasured: boolean;
  readonly engine: ReturnType<ReadEngine['until']>;
  readonly source: ScopedSource;
  readonly dashboard: Dashboard;
};

const run = async (trial: Trial, metric: Metric): Promise<Pick<TriedMetric, 'measured'>> => {
  const { engine, source, dashboard, clock, isMeasured } = trial;
  const now = clock.now();
  const moment = { now, timezone: null };
  const { definition } = metric;
  const enforced = enforcedConditions(noRestrictions, [dashboard], metric, moment);
  const choices = { dashboardFilter: {}, metricFilter: {}, isHost: true };
  const chosen = chosenConditions(noRestrictions, dashboard, metric, choices, moment);
  const variables = enforcedVariables(noRestrictions, metric);
  const page = { timezone: null, today: todayOf(moment), sort: null, limit: isMeasured ? null : 1, offset: 0 };
  const question = { ...source, definition, conditions: [...enforced, ...chosen], variables, ...page };
  const { rows, isTruncated = false } = await compared(engine.query)(question);
  if (!isMeasured) return {};
  const milliseconds = Math.max(0, clock.now().getTime() - now.getTime());
  return { measured: { isEmpty: rows.length === 0, isTruncated, milliseconds } };
};

const tryMetric = async (trial: Trial, given: DashboardContent['metrics'][number]): Promise<TriedMetric> => {
  const { metricId, name, lineage } = given;
  const { owner, workspaceId } = trial.dashboard;
  const definition = withoutValues(given.definition);
  if (needsValue(definition)) {
    const message = 'Its SQL compares with an RLS variable, whose value only a token has.';
    return { metricId, name, outcome: 'untried', message };
  }
  try {
    const answered = await run(trial, { metricId, workspaceId, name, definition, lineage, owner, ...hostMade });
    return { metricId, name, outcome: 'answered', message: null, ...answered };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { metricId, name, outcome: 'failed', message: typeMessage(error) };
  }
};

/**
 * Runs each metric of the content. Throws WORKSPACE_ID_ERROR, INVALID_DASHBOARD_ID, CLIENT_ID_ERROR, what
 * `loadSourceScope` throws, or INVALID_DASHBOARD_DATA if the content does not fit the datamart of the dashboard's embed.
 */
export const tryDashboardContent =
  ({ store, engine, clock, sqlRewriter }: Deps) =>
  async (caller: ApiKeyCaller, command: TryDashboardContent, signal: AbortSignal): Promise<readonly TriedMetric[]> => {
    const { dashboard, source, clientId } = await openOwned(store, caller, command);
    const { dataAppId } = caller;
    const epoch = await store.guestTokens.currentEpoch({ dataAppId, clientId, userIdentifier: null });
    const scoped = await scopeSource(store, source, { dataAppId, clientId, epoch });
    const deps = { store, sqlRewriter };
    const content = await moveContent(deps, command.content, [], [source.datamart], 'INVALID_DASHBOARD_DATA');
    const asWritten = { ...dashboard, filters: content.filters };
    const isMeasured = command.isMeasured === true;
    const trial = { engine: engine.until(signal), source: scoped, dashboard: asWritten, clock, isMeasured };
    const tried: TriedMetric[] = [];
    for (const metric of content.metrics) tried.push(await tryMetric(trial, metric));
    return tried;
  };
