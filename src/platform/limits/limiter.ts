/**
 * Counts the use of a budget for each key within a window, in this process or in Redis for all replicas. While Redis is
 * down, each process counts separately, so an outage allows at most one budget per process.
 */
import { hash } from 'node:crypto';
import type { RateLimiterAbstract, RateLimiterRes } from 'rate-limiter-flexible';
import { handled } from '../../model/handled.js';
import type { Clock } from '../../model/ports.js';
import type { Log } from '../logs/log.js';
import type { NoteOutage, OutageLog, RedisClient } from '../redis/redis.js';
import type { Timing } from '../work/time.js';
import { createCounts } from '../work/window-counts.js';

export type Budget = {
  /** Name of the counter. Part of the keys in Redis. */
  readonly name: string;
  readonly points: number;
  readonly windowSeconds: number;
};

/** The granted part of the requested points, and the milliseconds until the key's window ends. */
export type Taken = { readonly granted: number; readonly windowEndsInMs: number };

export type Limiter = {
  /** Takes up to `points`. All processes that share a Redis together never get more than the budget within a window. */
  readonly take: (key: string, points: number) => Promise<Taken>;
};

/** Creates limiters that count in the same store. */
export type Limiters = {
  readonly create: (budget: Budget) => Limiter;
  readonly close: () => void;
};

/** Keys are hashed, because they may be long or contain personal data, which must not be stored in Redis. */
const hashed = (key: string): string => hash('sha256', key, 'base64url');

/** Grants the part of the points that is still within the budget. */
const grant = (budget: Budget, points: number, consumed: number, windowEndsInMs: number): Taken => ({
  granted: Math.min(points, Math.max(0, budget.points - (consumed - points))),
  windowEndsInMs,
});

/** Creates limiters that count in this process only. */
export const createMemoryLimiters = ({ clock }: { readonly clock: Clock }): Limiters => ({
  create: (budget) => {
    const counts = createCounts(budget.windowSeconds * 1000);
    return {
      take: async (key, points) => {
        const { count, endsInMs } = counts.add(hashed(key), clock.now().getTime(), points);
        return grant(budget, points, count, endsInMs);
      },
    };
  },
  close: () => {},
});

const isCount = (thrown: unknown): thrown is RateLimiterRes =>
  typeof thrown === 'object' && thrown !== null && 'consumedPoints' in thrown && 'msBeforeNext' in thrown;

/** Imported on first use, so the start does not wait for it. */
const openRedis = async (redis: RedisClient, { name, points, windowSeconds }: Budget) => {
  const { RateLimiterRedis } = await import('rate-limiter-flexible');
  const keyPrefix = `guestlist:limit:${name}`;
  return new RateLimiterRedis({
    ...{ keyPrefix, points, duration: windowSeconds },
    storeClient: redis,
    rejectIfRedisNotReady: true,
  });
};

/** Counts the points in Redis. Rejects if Redis does not answer. */
const consume = async (limiter: RateLimiterAbstract, key: string, points: number): Promise<RateLimiterRes> => {
  try {
    return await limiter.consume(key, points);
  } catch (thrown) {
    if (isCount(thrown)) return thrown;
    throw thrown;
  }
};

const createRedisLimiter = (
  redis: RedisClient,
  budget: Budget,
  own: Limiter,
  { failed, worked }: Pick<OutageLog, 'failed' | 'worked'>,
): Limiter => {
  let opened: ReturnType<typeof openRedis> | null = null;
  return {
    take: async (key, points) => {
      opened ??= handled(openRedis(redis, budget));
      const limiter = await opened;
      try {
        const { consumedPoints, msBeforeNext } = await consume(limiter, hashed(key), points);
        worked();
        return grant(budget, points, consumedPoints, msBeforeNext);
      } catch (error) {
        failed(error);
        return own.take(key, points);
      }
    },
  };
};

const outageUse = { use: 'limits', outlook: 'each process counts for itself' } as const;

export type RedisLimitersOptions = {
  readonly url: string;
  readonly clock: Clock;
  readonly log: Log;
  /** Maximum time of one command in milliseconds. After it, this process counts locally. */
  readonly commandTimeoutMs?: number;
  readonly onOutage?: NoteOutage;
  readonly timing?: Timing;
};

/** Creates limiters that count in Redis. The start does not wait for Redis, and an outage blocks no requests. */
export const createRedisLimiters = async ({
  url,
  clock,
  log,
  commandTimeoutMs = 250,
  onOutage,
  timing,
}: RedisLimitersOptions): Promise<Limiters> => {
  const { createOutageLog, createRedisClient } = await import('../redis/redis.js');
  const own = createMemoryLimiters({ clock });
  const redis = createRedisClient({ url, log, commandTimeoutMs });
  const outage = createOutageLog({ log, ...outageUse, noted: onOutage, timing });
  const { failed, connected } = outage;
  redis.on('error', failed);
  redis.on('ready', connected);
  void redis.connect().catch(failed);
  return {
    create: (budget) => createRedisLimiter(redis, budget, own.create(budget), outage),
    close: () => redis.disconnect(),
  };
};
