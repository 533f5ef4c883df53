/**
 * Counts the use of a budget for each key within a window, in this process or in Redis for all replicas. While Redis is
 * down, each process counts separately, so an outage allows at most one budget per process.
 */
import { hash } from 'node:crypto';
import type { RateLimiterAbstract, RateLimiterRes } from 'rate-limiter-flexible';
import type { Log } from './log.js';
import type { NoteOutage, OutageLog, RedisClient } from './redis.js';
import type { Timing } from './timing.js';

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

type Open = (budget: Budget) => Promise<RateLimiterAbstract>;

/** Imported on first use, so the start does not wait for it. */
const load = () => import('rate-limiter-flexible');

const optionsOf = ({ name, points, windowSeconds }: Budget) => ({
  keyPrefix: `guestlist:limit:${name}`,
  points,
  duration: windowSeconds,
});

const openMemory: Open = async (budget) => {
  const { RateLimiterMemory } = await load();
  return new RateLimiterMemory(optionsOf(budget));
};

const isCount = (thrown: unknown): thrown is RateLimiterRes =>
  typeof thrown === 'object' && thrown !== null && 'consumedPoints' in thrown && 'msBeforeNext' in thrown;

/** Takes points. If the request exceeds the budget, grants the part that is still within it. */
const takeFrom = async (limiter: RateLimiterAbstract, key: string, points: number): Promise<Taken> => {
  try {
    const { msBeforeNext } = await limiter.consume(key, points);
    return { granted: points, windowEndsInMs: msBeforeNext };
  } catch (thrown) {
    if (!isCount(thrown)) throw thrown;
    const before = thrown.consumedPoints - points;
    return { granted: Math.max(0, limiter.points - before), windowEndsInMs: thrown.msBeforeNext };
  }
};

const createLimiter = (budget: Budget, open: Open): Limiter => {
  let opened: Promise<RateLimiterAbstract> | null = null;
  return {
    take: async (key, points) => {
      opened ??= open(budget);
      // Keys are hashed, because they may be long or contain personal data, which must not be stored in Redis.
      return takeFrom(await opened, hash('sha256', key, 'base64url'), points);
    },
  };
};

/** Creates limiters that count in this process only. */
export const createMemoryLimiters = (): Limiters => ({
  create: (budget) => createLimiter(budget, openMemory),
  close: () => {},
});

const outageUse = { use: 'limits', outlook: 'each process counts for itself' } as const;

const openRedis =
  (redis: RedisClient, failed: () => void): Open =>
  async (budget) => {
    const { RateLimiterMemory, RateLimiterRedis } = await load();
    class Insurance extends RateLimiterMemory {
      override consume(...asked: Parameters<RateLimiterAbstract['consume']>): Promise<RateLimiterRes> {
        failed();
        return super.consume(...asked);
      }
    }
    return new RateLimiterRedis({
      ...optionsOf(budget),
      storeClient: redis,
      rejectIfRedisNotReady: true,
      insuranceLimiter: new Insurance(optionsOf(budget)),
    });
  };

/**
 * Wraps `limiter` and reports each successful count to the outage log. If the limiter fell back to this process, it has
 * already reported the failure.
 */
const telling = (limiter: Limiter, { worked }: OutageLog): Limiter => ({
  take: async (key, points) => {
    const taken = await limiter.take(key, points);
    worked();
    return taken;
  },
});

export type RedisLimitersOptions = {
  readonly url: string;
  readonly log: Log;
  /** Maximum time of one command in milliseconds. After it, this process counts locally. */
  readonly commandTimeoutMs?: number;
  readonly onOutage?: NoteOutage;
  readonly timing?: Timing;
};

/** Creates limiters that count in Redis. The start does not wait for Redis, and an outage blocks no requests. */
export const createRedisLimiters = async ({
  url,
  log,
  commandTimeoutMs = 250,
  onOutage,
  timing,
}: RedisLimitersOptions): Promise<Limiters> => {
  const { createOutageLog, createRedisClient } = await import('./redis.js');
  const redis = createRedisClient({ url, log, commandTimeoutMs });
  const outage = createOutageLog({ log, ...outageUse, noted: onOutage, timing });
  const { failed, connected } = outage;
  redis.on('error', failed);
  redis.on('ready', connected);
  void redis.connect().catch(failed);
  return {
    create: (budget) => telling(createLimiter(budget, openRedis(redis, failed)), outage),
    close: () => redis.disconnect(),
  };
};
