import { LRUCache } from 'lru-cache';
import type { Call } from '../contract/client.js';
import { listEmbedMetrics } from '../contract/embeds.js';
import type { Clock } from '../domain/ports.js';
import { createSingleFlight } from '../platform/single-flight.js';

export type ListedMetric = { readonly metricId: string; readonly name: string };

/** The host's metrics that a client reads on a dashboard, at most `maxAgeMs` old. Throws what the upstream throws. */
export type ListMetrics = (dashboardId: string, clientId: string) => Promise<readonly ListedMetric[]>;

export type MetricListsOptions = { readonly upstream: Call; readonly clock: Clock; readonly maxAgeMs?: number };

type Held = { readonly metrics: readonly ListedMetric[]; readonly listedAtMs: number };

/** A list is asked for at nearly every request of a restricted user, so it is held for a short while. */
export const createMetricLists = ({ upstream, clock, maxAgeMs = 30_000 }: MetricListsOptions): ListMetrics => {
  const held = new LRUCache<string, Held>({ max: 10_000 });
  const flight = createSingleFlight<readonly ListedMetric[]>();
  return async (dashboardId, clientId) => {
    const nowMs = clock.now().getTime();
    const key = JSON.stringify([dashboardId, clientId]);
    const known = held.get(key);
    if (known !== undefined && nowMs - known.listedAtMs < maxAgeMs) return known.metrics;
    return flight(key, async () => {
      const { data } = await upstream(listEmbedMetrics, { embedId: dashboardId, clientId });
      // spec-gap: what a guest made binds nothing, and a token that restricts metrics does not see it.
      const metrics = data.filter(({ isGuestMade }) => isGuestMade !== true);
      held.set(key, { metrics, listedAtMs: nowMs });
      return metrics;
    });
  };
};
