/**
 * Counts what each key has used of a budget within a window: in this process, or in Redis for all replicas together. While Redis is
 * down each process counts for itself, so an outage lets through at most one budget for each of them.
 */
import { hash } from 'node:crypto';
import type { RateLimiterAbstract, RateLimiterRes } from 'rate-limiter-flexible';
import type { Log } from './log.js';
import type { NoteOutage, OutageLog, RedisClient } from './redis.js';
import type { Timing } from './timing.js';

export type Budget = {
  /** What is counted, as part of the keys in Redis. */
  readonly name: string;
  readonly points: number;
  readonly windowSeconds: number;
};

/** What was granted of the points asked for, and when the window of the key ends. */
export type Taken = { readonly granted: number; readonly windowEndsInMs: number };

export type Limiter = {
  /** Takes up to `points`; over all processes that share a Redis never more than the budget within a window. */
  readonly take: (key: string, points: number) => Promise<Taken>;
};

/** Limiters that count in one place. */
export type Limiters = {
  readonly create: (budget: Budget) => Limiter;
  readonly close: () => void;
};

type Open = (budget: Budget) => Promise<RateLimiterAbstract>;

/** Loaded where it is used: the start does not wait for it. */
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

/** Of what went beyond the budget, the part that was still within it. */
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
      // A key may be long, and name a person: neither belongs into Redis.
      return takeFrom(await opened, hash('sha256', key, 'base64url'), points);
    },
  };
};

/** Counts in this process alone. */
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

/** As `limiter`; tells the outage log of every count. One that fell back on this process has told its failure by then. */
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
  /** How long one command may take before this process counts for itself. */
  readonly commandTimeoutMs?: number;
  readonly onOutage?: NoteOutage;
  readonly timing?: Timing;
};

/** Counts in Redis. The start does not wait for it, and an outage stops nobody. */
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
