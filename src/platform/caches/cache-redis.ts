import { Cluster } from 'ioredis';
import type { Log } from '../../model/log-events.js';
import {
  createAttempt,
  createOutageLog,
  createRedisClient,
  type NoteOutage,
  type RedisClient,
} from '../redis/redis.js';
import type { Sharing } from '../redis/sharing.js';
import { createRedisSharing, type SharingLimits } from '../redis/sharing-redis.js';
import type { Timing } from '../work/time.js';
import type { Cache } from './cache.js';

export type RedisCacheOptions = {
  /** URL of one server, of Sentinel or of a cluster. redis-url.ts defines the syntax. */
  readonly url: string;
  readonly log: Log;
  /** Maximum time of one command in milliseconds. A slower command counts as a miss. */
  readonly commandTimeoutMs?: number;
  /** Maximum time in milliseconds that the start waits for the first connection. Then the start continues without Redis. */
  readonly connectTimeoutMs?: number;
  readonly onOutage?: NoteOutage | undefined;
  /** Overrides of the default limits. */
  readonly sharingLimits?: Partial<SharingLimits>;
  readonly timing?: Timing;
};

const outageUse = { use: 'cache', outlook: 'nothing is cached' } as const;

const globOf = (prefix: string): string => `${prefix.replaceAll(/[\\*?[\]^-]/g, '\\$&')}*`;

/**
 * Deletes every key that starts with `prefix`, and its lease key. Scans all keys of the server, so use it only for rare
 * operations.
 */
const deleteByPrefix = async (redis: RedisClient, prefix: string): Promise<number> => {
  const nodes = redis instanceof Cluster ? redis.nodes('master') : [redis];
  let deleted = 0;
  for (const node of nodes) {
    for (const pattern of [globOf(prefix), `{${globOf(prefix)}`]) {
      let cursor = '0';
      do {
        const [next, keys] = await node.scan(cursor, 'MATCH', pattern, 'COUNT', 1000);
        // Unlinks each key separately, because the keys of one cluster node belong to several slots.
        const counts = await Promise.all(keys.map((key) => node.unlink(key)));
        if (!pattern.startsWith('{')) deleted += counts.reduce((sum, count) => sum + count, 0);
        cursor = next;
      } while (cursor !== '0');
    }
  }
  return deleted;
};

/** A cache whose processes also share work. */
export type SharedCache = Cache & { readonly sharing: Sharing };

/**
 * Creates a cache that several replicas share. During an outage every read is a miss, and the outage is logged once.
 * Throws if the URL is invalid.
 */
export const createRedisCache = async (options: RedisCacheOptions): Promise<SharedCache> => {
  const { commandTimeoutMs = 250, log } = options;
  const redis = createRedisClient(options);
  const outage = createOutageLog({ log, ...outageUse, noted: options.onOutage, timing: options.timing });
  const attempt = createAttempt(outage);
  redis.on('error', outage.failed);
  redis.on('ready', outage.connected);
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
    deleteByPrefix: (prefix) => deleteByPrefix(redis, prefix),
    sharing,
    close: async () => {
      close();
      redis.disconnect();
    },
  };
};
