import type { Logger } from 'pino';
import type { Cache } from './cache.js';
import { createAttempt, createOutageLog, createRedisClient } from './redis.js';
import type { Sharing } from './sharing.js';
import { createRedisSharing, type SharingLimits } from './sharing-redis.js';

export type RedisCacheOptions = {
  /** One server, Sentinel or Cluster: redis.ts says how it is written. */
  readonly url: string;
  readonly log: Logger;
  /** How long one command may take before it counts as a miss. */
  readonly commandTimeoutMs?: number;
  /** How long the start waits for the first connection before it goes on without. */
  readonly connectTimeoutMs?: number;
  /** Left out: the usual ones. */
  readonly sharingLimits?: Partial<SharingLimits>;
};

/** One whose processes share work, too. */
export type SharedCache = Cache & { readonly sharing: Sharing };

/** A cache shared by several replicas. An outage is a miss, logged once. Throws for a URL that cannot be one. */
export const createRedisCache = async (options: RedisCacheOptions): Promise<SharedCache> => {
  const { commandTimeoutMs = 250, log } = options;
  const redis = createRedisClient(options);
  const outage = createOutageLog(log);
  const attempt = createAttempt(outage);
  redis.on('error', outage.failed);
  redis.on('ready', outage.recovered);
  const { sharing, close } = createRedisSharing({ redis, attempt, ...options });
  await attempt(options.connectTimeoutMs ?? 2_000, async () => redis.connect());
  return {
    get: (key) => attempt(commandTimeoutMs, () => redis.get(key)),
    set: async (key, value, ttlMs) => {
      if (ttlMs > 0) await attempt(commandTimeoutMs, () => redis.set(key, value, 'PX', Math.ceil(ttlMs)));
      else await attempt(commandTimeoutMs, () => redis.del(key));
    },
    delete: async (key) => {
      await attempt(commandTimeoutMs, () => redis.del(key));
    },
    sharing,
    close: async () => {
      close();
      redis.disconnect();
    },
  };
};
