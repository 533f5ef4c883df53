/** Operation 16: the host's backend queries a metric with an API key and a clientId. */
import type { Epoch } from '../../model/brand.js';
import type { Metric } from '../../model/dashboard/metric.js';
import { todayOf } from '../../model/filter/date-range.js';
import { isOpenTo } from '../../model/guest/access.js';
import type { ApiKeyCaller } from '../../model/guest/caller.js';
import {
  authoredAmong,
  chosenConditions,
  enforcedConditions,
  enforcedVariables,
  noRestrictions,
} from '../../model/guest/conditions.js';
import type { BackendQuery, MetricReply } from '../../model/guest/view.js';
import type { Clock } from '../../model/ports.js';
import { compared, withCompletePeriod } from '../../model/query/comparison.js';
import type { ReadEngine } from '../../model/query/engine.js';
import { Refusal } from '../../model/refusal.js';
import type { Store } from '../store/store.js';
import { findEmbed, findSource, listedMetrics, type Opened, type ScopedSource, scopeSource } from './lookup.js';
import { type SourceScope, unscoped } from './source.js';

type Deps = { readonly store: Store; readonly engine: ReadEngine; readonly clock: Clock };

const loadOpened = async (store: Store, caller: ApiKeyCaller, { embedId, clientId }: BackendQuery): Promise<Opened> => {
  const opened = await findEmbed(store, caller.dataAppId, embedId);
  if (opened === undefined)
    throw new Refusal('INVALID_EMBED_ID', `This data app has no embed ${JSON.stringify(embedId)}.`);
  if (!isOpenTo(opened.dashboard.owner, { dataAppId: caller.dataAppId, clientId })) {
    throw new Refusal(
      'EMBED_PARAM_ERROR',
      `Embed ${JSON.stringify(embedId)} is not of client ${JSON.stringify(clientId)}.`,
    );
  }
  return opened;
};

/** Returns the metric. On a dashboard of the organization, a client's own metric is open only to that client. */
const loadMetric = async (store: Store, { embed, dashboard }: Opened, query: BackendQuery): Promise<Metric> => {
  const { metricId, clientId } = query;
  const metrics = await listedMetrics(store, dashboard, { dataAppId: embed.dataAppId, clientId });
  const metric = metrics.find((candidate) => candidate.metricId === metricId);
  const isRead = metric !== undefined && isOpenTo(metric.owner, { dataAppId: embed.dataAppId, clientId });
  if (!isRead || (embed.metricId !== null && embed.metricId !== metricId)) {
    throw new Refusal(
      'INVALID_METRIC_ID',
      `Embed ${JSON.stringify(embed.embedId)} has no metric ${JSON.stringify(metricId)}.`,
    );
  }
  return metric;
};

/**
 * Returns the scope for the names in the query. Unknown names give no scope; `loadSource` then compares the names with
 * the embed's source.
 */
const scopeOf = async (store: Store, { datamartName, datasourceName }: BackendQuery): Promise<SourceScope> => {
  const datamart = datamartName === undefined ? undefined : await store.datamarts.findByName(datamartName);
  const datasource = datasourceName === undefined ? undefined : await store.datasources.findByName(datasourceName);
  return { ...unscoped, datamartId: datamart?.id ?? null, datasourceId: datasource?.id ?? null };
};

const loadSource = async (store: Store, opened: Opened, query: BackendQuery, epoch: Epoch): Promise<ScopedSource> => {
  const { datamartName, datasourceName } = query;
  const source = await findSource(store, opened, await scopeOf(store, query));
  if (source === undefined) {
    throw new Refusal(
      'METRIC_QUERY_ERROR',
      'The embed has no datamart that its workspace is connected to: name one in its accessSettings, connect the workspace to it, or give datamartName where the workspace has several.',
    );
  }
  if (datamartName !== undefined && datamartName !== source.datamart.name) {
    throw new Refusal(
      'EMBED_PARAM_ERROR',
      `The embed reads datamart ${JSON.stringify(source.datamart.name)}, not ${JSON.stringify(datamartName)}.`,
    );
  }
  if (datasourceName !== undefined && datasourceName !== source.datasource.name) {
    throw new Refusal(
      'EMBED_PARAM_ERROR',
      `The embed reads datasource ${JSON.stringify(source.datasource.name)}, not ${JSON.stringify(datasourceName)}.`,
    );
  }
  return scopeSource(store, source, { dataAppId: opened.embed.dataAppId, clientId: query.clientId, epoch });
};

/**
 * Splits `metricFilter` into RLS variables and filters. It may contain values for RLS variables, since this caller is
 * the host's own backend.
 */
const splitMetricFilter = (metric: Metric, values: NonNullable<BackendQuery['metricFilter']>) => {
  const isVariable = (key: string): boolean => metric.definition.rlsVariables.some(({ name }) => name === key);
  const pick = (wanted: boolean) =>
    Object.fromEntries(Object.entries(values).filter(([key]) => isVariable(key) === wanted));
  return { variables: pick(true), filters: pick(false) };
};

/**
 * Returns the metric's answer for the client. Throws INVALID_EMBED_ID, INVALID_METRIC_ID, EMBED_PARAM_ERROR,
 * CLIENT_ID_ERROR or METRIC_QUERY_ERROR, and the codes for filter and RLS values that do not fit.
 */
export const queryMetric =
  ({ store, engine, clock }: Deps) =>
  async (caller: ApiKeyCaller, query: BackendQuery, signal: AbortSignal): Promise<MetricReply> => {
    const started = clock.now();
    const client = { dataAppId: caller.dataAppId, clientId: query.clientId, userIdentifier: null };
    const epoch = await store.guestTokens.currentEpoch(client);
    const opened = await loadOpened(store, caller, query);
    const metric = await loadMetric(store, opened, query);
    const source = await loadSource(store, opened, query, epoch);
    const moment = { now: started, timezone: null };
    const { variables, filters } = splitMetricFilter(metric, query.metricFilter ?? {});
    const restrictions = { ...noRestrictions, rlsSettings: [{ metricId: metric.metricId, values: variables }] };
    const choices = { dashboardFilter: query.dashboardFilter ?? {}, metricFilter: filters, isHost: true };
    const enforced = enforcedConditions(restrictions, [opened.dashboard], metric, moment);
    const chosen = chosenConditions(restrictions, opened.dashboard, metric, choices, moment);
    const question = {
      ...source,
      definition: metric.definition,
      conditions: [...enforced, ...chosen],
      movable: [...authoredAmong(enforced, metric.definition), ...chosen],
      variables: enforcedVariables(restrictions, metric),
      shownOn: { dashboardId: opened.dashboard.externalDashboardId, metricId: metric.metricId },
      timezone: null,
      today: todayOf(moment),
      sort: null,
      limit: null,
      offset: 0,
    };
    const answer = await compared(engine.until(signal).query)(withCompletePeriod(question, moment));
    return { metricId: metric.metricId, answer, timeTakenInMs: clock.now().getTime() - started.getTime() };
  };
