import type { Clock } from '../../model/ports.js';
import { type Call, UpstreamRefusal } from '../../platform/http/interface/client.js';
import { createLru } from '../../platform/work/lru.js';
import { createSingleFlight } from '../../platform/work/single-flight.js';
import { listEmbedMetrics } from '../../service/embeds/contract/embeds.js';
import { dropWhere, type ForgetClient } from '../common/eraser.js';
import { isUnreachable, unavailable } from '../upstream/unavailable.js';

export type ListedMetric = { readonly metricId: string; readonly name: string };

/** Lists the metrics of the host that a client can read on a dashboard. Throws UPSTREAM_UNAVAILABLE. */
export type ListMetrics = (dashboardId: string, clientId: string) => Promise<readonly ListedMetric[]>;

export type MetricList = {
  readonly metrics: readonly ListedMetric[];
  /**
   * False if the list is older than `maxAgeMs`, because the upstream is unreachable. Such a list may be used to find a
   * cached token, but never to mint: a metric that was added since would have no restriction.
   */
  readonly isCurrent: boolean;
};

/** Returns the cached list, or reads a new one. Throws UPSTREAM_UNAVAILABLE if neither is available. */
export type MetricLists = (dashboardId: string, clientId: string) => Promise<MetricList>;

export type HeldMetricLists = MetricLists & {
  /**
   * Returns the cached list if it is current, else undefined: then the upstream must be called. Each response of the
   * upstream gives a new object.
   */
  readonly find: (dashboardId: string, clientId: string) => readonly ListedMetric[] | undefined;
  /** Deletes the cached lists of a client. */
  readonly forget: ForgetClient;
};

export type MetricListsOptions = { readonly upstream: Call; readonly clock: Clock; readonly maxAgeMs?: number };

type Held = { readonly clientId: string; readonly metrics: readonly ListedMetric[]; readonly listedAtMs: number };

/**
 * Creates the cache of metric lists. Nearly every request of a restricted user needs a list, so a list is cached for
 * `maxAgeMs`.
 */
export const createMetricLists = ({ upstream, clock, maxAgeMs = 30_000 }: MetricListsOptions): HeldMetricLists => {
  const held = createLru<string, Held>(10_000);
  const flight = createSingleFlight<readonly ListedMetric[]>();
  const ask = async (key: string, embedId: string, clientId: string): Promise<readonly ListedMetric[]> => {
    const listedAtMs = clock.now().getTime();
    try {
      const { data } = await upstream(listEmbedMetrics, { embedId, clientId });
      // spec-gap: what a guest made binds nothing, and a token that restricts metrics does not see it.
      const metrics = data.filter(({ isGuestMade }) => isGuestMade !== true);
      held.set(key, { clientId, metrics, listedAtMs });
      return metrics;
    } catch (error) {
      if (!(error instanceof UpstreamRefusal)) throw error;
      // The service refused, so the cached list is outdated.
      held.delete(key);
      throw unavailable('metrics-not-listed', error);
    }
  };
  const keyOf = (dashboardId: string, clientId: string): string => JSON.stringify([dashboardId, clientId]);
  const isCurrent = ({ listedAtMs }: Held): boolean => clock.now().getTime() - listedAtMs < maxAgeMs;
  const list: MetricLists = async (dashboardId, clientId) => {
    const key = keyOf(dashboardId, clientId);
    const known = held.get(key);
    if (known !== undefined && isCurrent(known)) return { metrics: known.metrics, isCurrent: true };
    try {
      return { metrics: await flight(key, () => ask(key, dashboardId, clientId)), isCurrent: true };
    } catch (error) {
      if (known === undefined || !isUnreachable(error)) throw error;
      return { metrics: known.metrics, isCurrent: false };
    }
  };
  return Object.assign(list, {
    find: (dashboardId: string, clientId: string) => {
      const known = held.get(keyOf(dashboardId, clientId));
      return known !== undefined && isCurrent(known) ? known.metrics : undefined;
    },
    forget: (clientId: string) => dropWhere(held, (_, own) => own.clientId === clientId),
  });
};

/**
 * Returns a function that lists metrics from current lists only. It throws UPSTREAM_UNAVAILABLE even if an older list
 * is cached.
 */
export const currentLists =
  (lists: MetricLists): ListMetrics =>
  async (dashboardId, clientId) => {
    const { metrics, isCurrent } = await lists(dashboardId, clientId);
    if (isCurrent) return metrics;
    throw unavailable('metric-list-outdated', new Error('the metrics of the dashboard cannot be confirmed'));
  };
