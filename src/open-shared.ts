/** Opens what replicas share: the counters of limits, and a gateway's cache. */
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import type { Clock } from './domain/ports.js';
import { createGatewayMetrics, type ProductMetrics } from './gateway-metrics.js';
import { type Admissions, openAdmission } from './open-admission.js';
import type { Cache } from './platform/cache.js';
import { createMemoryCache } from './platform/cache-memory.js';
import type { Config } from './platform/config.js';
import { createMemoryLimiters, createRedisLimiters, type Limiters } from './platform/limiter.js';

type SharedOptions = {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Logger;
  readonly registry: Registry;
};

export type Shared = {
  readonly limiters: Limiters;
  readonly admissions: Admissions;
  /** What the replicas of a gateway have in common, and what each counts of itself; null where none runs in this process. */
  readonly gateway: { readonly cache: Cache; readonly metrics: ProductMetrics } | null;
  readonly close: () => Promise<void>;
};

const openCache = async ({ config, clock, log }: SharedOptions, metrics: ProductMetrics): Promise<Cache> => {
  const url = config.settings.redisUrl;
  if (url === null) return createMemoryCache({ clock });
  // Loaded where it is used: its client's import would slow every start.
  const { createRedisCache } = await import('./platform/cache-redis.js');
  return createRedisCache({ url, log, onOutage: (isDown) => metrics.redisChanged('cache', isDown) });
};

const openLimiters = async ({ config, log }: SharedOptions, metrics: ProductMetrics | null): Promise<Limiters> => {
  const url = config.settings.redisUrl;
  if (url === null) return createMemoryLimiters();
  return createRedisLimiters({ url, log, onOutage: (isDown) => metrics?.redisChanged('limits', isDown) });
};

/** In Redis where there is one, otherwise in the memory of this process. */
export const openShared = async (options: SharedOptions, runsGateway: boolean): Promise<Shared> => {
  const metrics = runsGateway ? createGatewayMetrics(options.registry) : null;
  const gateway = metrics === null ? null : { cache: await openCache(options, metrics), metrics };
  const limiters = await openLimiters(options, metrics);
  return {
    limiters,
    admissions: openAdmission({ ...options, limiters }),
    gateway,
    close: async () => {
      await gateway?.cache.close();
      limiters.close();
    },
  };
};
