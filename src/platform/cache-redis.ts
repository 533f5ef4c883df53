import { Redis } from 'ioredis';
import type { Logger } from 'pino';
import type { Cache } from './cache.js';

export type RedisCacheOptions = {
  readonly url: string;
  readonly log: Logger;
  /** How long one command may take before it counts as a miss. */
  readonly commandTimeoutMs?: number;
  /** How long the start waits for the first connection before it goes on without. */
  readonly connectTimeoutMs?: number;
};

/** Logs the first failure of an outage and its end, and nothing between. */
const createOutageLog = (log: Logger) => {
  let isDown = false;
  return {
    failed: (error: unknown) => {
      if (isDown) return;
      isDown = true;
      log.error({ err: error }, 'the Redis cache cannot be reached: going on without it');
    },
    recovered: () => {
      if (!isDown) return;
      isDown = false;
      log.info('the Redis cache is back');
    },
  };
};

const connect = (options: RedisCacheOptions): Redis =>
  new Redis(options.url, {
    lazyConnect: true,
    enableAutoPipelining: true,
    // A command fails at once while there is no connection: an outage must cost speed, not time.
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    commandTimeout: options.commandTimeoutMs ?? 250,
    connectTimeout: options.connectTimeoutMs ?? 2_000,
    retryStrategy: (attempt) => Math.min(attempt * 100, 2_000),
  });

const globOf = (prefix: string): string => `${prefix.replaceAll(/[\\*?[\]^-]/g, '\\$&')}*`;

/** Looks at every key there is: for what is rare. */
const deleteByPrefix = async (redis: Redis, prefix: string): Promise<number> => {
  let deleted = 0;
  let cursor = '0';
  do {
    const [next, keys] = await redis.scan(cursor, 'MATCH', globOf(prefix), 'COUNT', 1000);
    if (keys.length > 0) deleted += await redis.unlink(...keys);
    cursor = next;
  } while (cursor !== '0');
  return deleted;
};

/** A cache shared by several replicas. An outage is a miss, logged once. */
export const createRedisCache = async (options: RedisCacheOptions): Promise<Cache> => {
  const redis = connect(options);
  const outage = createOutageLog(options.log);
  redis.on('error', outage.failed);
  redis.on('ready', outage.recovered);
  const attempt = async <T>(command: () => Promise<T>, missing: T): Promise<T> => {
    try {
      const answer = await command();
      outage.recovered();
      return answer;
    } catch (error) {
      outage.failed(error);
      return missing;
    }
  };
  await attempt(async () => redis.connect(), undefined);
  return {
    get: (key) => attempt(() => redis.get(key), null),
    set: async (key, value, ttlMs) => {
      if (ttlMs > 0) await attempt(() => redis.set(key, value, 'PX', Math.ceil(ttlMs)), null);
      else await attempt(() => redis.del(key), 0);
    },
    delete: async (key) => {
      await attempt(() => redis.del(key), 0);
    },
    deleteByPrefix: (prefix) => deleteByPrefix(redis, prefix),
    close: async () => redis.disconnect(),
  };
};
