/** Opens what the replicas of a gateway share. */
import type { Logger } from 'pino';
import type { Clock } from './domain/ports.js';
import type { ProductMetrics } from './gateway-metrics.js';
import type { Cache } from './platform/cache.js';
import { createMemoryCache } from './platform/cache-memory.js';
import type { Config } from './platform/config.js';
import { createMemoryLimiters, createRedisLimiters, type Limiters } from './platform/limiter.js';

type SharedOptions = {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: ProductMetrics;
};

const closing =
  ({ cache, limiters }: { readonly cache: Cache; readonly limiters: Limiters }) =>
  async (): Promise<void> => {
    await cache.close();
    limiters.close();
  };

/** What the replicas of a gateway have in common where there is Redis, and what each counts of itself. */
export const openShared = async ({ config, clock, log, metrics }: SharedOptions) => {
  const url = config.settings.redisUrl;
  const open = async () => {
    if (url === null) return { cache: createMemoryCache({ clock }), limiters: createMemoryLimiters() };
    // Loaded where it is used: its client's import would slow every start.
    const { createRedisCache } = await import('./platform/cache-redis.js');
    const onOutage = (of: 'cache' | 'limits') => (isDown: boolean) => metrics.redisChanged(of, isDown);
    const cache = await createRedisCache({ url, log, onOutage: onOutage('cache') });
    return { cache, limiters: await createRedisLimiters({ url, log, onOutage: onOutage('limits') }) };
  };
  const both = await open();
  return { ...both, metrics, close: closing(both) };
};
