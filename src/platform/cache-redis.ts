import { Cluster } from 'ioredis';
import type { Log } from '../domain/log-events.js';
import type { Cache } from './cache.js';
import { createAttempt, createOutageLog, createRedisClient, type NoteOutage, type RedisClient } from './redis.js';
import type { Sharing } from './sharing.js';
import { createRedisSharing, type SharingLimits } from './sharing-redis.js';
import type { Timing } from './timing.js';

export type RedisCacheOptions = {
  /** One server, Sentinel or Cluster: redis.ts says how it is written. */
  readonly url: string;
  readonly log: Log;
  /** How long one command may take before it counts as a miss. */
  readonly commandTimeoutMs?: number;
  /** How long the start waits for the first connection before it goes on without. */
  readonly connectTimeoutMs?: number;
  readonly onOutage?: NoteOutage | undefined;
  /** Left out: the usual ones. */
  readonly sharingLimits?: Partial<SharingLimits>;
  readonly timing?: Timing;
};

const outageUse = { use: 'cache', outlook: 'nothing is cached' } as const;

const globOf = (prefix: string): string => `${prefix.replaceAll(/[\\*?[\]^-]/g, '\\$&')}*`;

/** Looks at every key there is: for what is rare. Leases of the keys go, too: they bear the same names. */
const deleteByPrefix = async (redis: RedisClient, prefix: string): Promise<number> => {
  const nodes = redis instanceof Cluster ? redis.nodes('master') : [redis];
  let deleted = 0;
  for (const node of nodes) {
    for (const pattern of [globOf(prefix), `{${globOf(prefix)}`]) {
      let cursor = '0';
      do {
        const [next, keys] = await node.scan(cursor, 'MATCH', pattern, 'COUNT', 1000);
        // One by one: those of a cluster's node are of several slots.
        const counts = await Promise.all(keys.map((key) => node.unlink(key)));
        if (!pattern.startsWith('{')) deleted += counts.reduce((sum, count) => sum + count, 0);
        cursor = next;
      } while (cursor !== '0');
    }
  }
  return deleted;
};

/** One whose processes share work, too. */
export type SharedCache = Cache & { readonly sharing: Sharing };

/** A cache shared by several replicas. An outage is a miss, logged once. Throws for a URL that cannot be one. */
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
