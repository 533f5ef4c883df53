/**
 * Connects to Redis: one server, Sentinel or Cluster, depending on the URL. An outage makes the product slower, but
 * never blocks it and never makes results wrong.
 */
import { Cluster, Redis, type RedisOptions } from 'ioredis';
import { handled } from '../../model/handled.js';
import type { Log } from '../../model/log-events.js';
import { readRedisUrl } from '../addresses/redis-url.js';
import { systemTiming, type Timing } from '../work/time.js';
import { guardRedis } from './redis-guard.js';

guardRedis();

export type RedisClient = Redis | Cluster;

export type RedisConnection = {
  readonly url: string;
  readonly log: Log;
  /** Maximum time of one attempt to connect. */
  readonly connectTimeoutMs?: number | undefined;
  /** Maximum time of one command. Without it, commands have no time limit. */
  readonly commandTimeoutMs?: number | undefined;
};

const optionsOf = ({ connectTimeoutMs = 2_000, commandTimeoutMs }: RedisConnection): RedisOptions => ({
  ...(commandTimeoutMs === undefined ? {} : { commandTimeout: commandTimeoutMs }),
  lazyConnect: true,
  // A command fails at once while there is no connection, so that an outage does not delay requests.
  enableOfflineQueue: false,
  maxRetriesPerRequest: 0,
  autoResendUnfulfilledCommands: false,
  // The client's own way to subscribe again leaves a promise without a handler. If the connection is lost at that moment, the
  // process ends. So notices-redis.ts subscribes again by itself.
  autoResubscribe: false,
  connectTimeout: connectTimeoutMs,
  retryStrategy: retryInMs,
});

const retryInMs = (attempt: number): number => Math.min(attempt * 100, 1_000);

/** Creates a client that is not connected yet. The caller must listen to its errors. */
export const createRedisClient = (connection: RedisConnection): RedisClient => {
  const place = readRedisUrl(connection.url);
  const options = optionsOf(connection);
  if (place.kind === 'single') return new Redis(place.url, { ...options, enableAutoPipelining: true });
  const { nodes, name, access } = place;
  if (place.kind === 'sentinel') {
    const sentinel = { sentinels: nodes, name, sentinelRetryStrategy: retryInMs };
    return new Redis({ ...options, ...access, ...sentinel, enableAutoPipelining: true });
  }
  const { lazyConnect: _, enableOfflineQueue, retryStrategy: __, ...each } = options;
  return new Cluster(nodes, {
    lazyConnect: true,
    enableOfflineQueue: enableOfflineQueue ?? false,
    enableAutoPipelining: true,
    clusterRetryStrategy: retryInMs,
    maxRedirections: 3,
    redisOptions: { ...each, ...access },
  });
};

/** Called at the first failure of an outage and at its end. */
export type NoteOutage = (isDown: boolean) => void;

/**
 * An outage ends when a command succeeds and no command failed for this time. The time is needed because a full Redis
 * still reads, but does not write.
 */
const quietMs = 5_000;

export type OutageOptions = {
  readonly log: Pick<Log, 'error' | 'info'>;
  /** What the connection is used for. */
  readonly use: 'cache' | 'limits';
  /** How the process continues during an outage. */
  readonly outlook: string;
  readonly noted?: NoteOutage | undefined;
  readonly timing?: Timing | undefined;
};

/** Logs the first failure of an outage and its end, and nothing between them. */
export const createOutageLog = ({ log, use, outlook, noted = () => {}, timing = systemTiming }: OutageOptions) => {
  let failedAtMs: number | null = null;
  const end = (): void => {
    if (failedAtMs === null) return;
    failedAtMs = null;
    noted(false);
    log.info({ event: 'redis.recovered', use }, `Redis answers again (${use})`);
  };
  return {
    failed: (error?: unknown): void => {
      const isFirst = failedAtMs === null;
      failedAtMs = timing.nowMs();
      if (!isFirst) return;
      noted(true);
      log.error(
        { event: 'redis.disconnected', use, err: error },
        `Redis cannot be reached or written to (${use}): ${outlook}`,
      );
    },
    /** Records that a command succeeded. */
    worked: (): void => {
      if (failedAtMs !== null && timing.nowMs() - failedAtMs >= quietMs) end();
    },
    /** Records a new connection. */
    connected: end,
  };
};
export type OutageLog = ReturnType<typeof createOutageLog>;

export type Attempt = <T>(timeoutMs: number, command: () => Promise<T>) => Promise<T | null>;

const late = (timeoutMs: number): { readonly ended: Promise<never>; readonly cancel: () => void } => {
  let timer: NodeJS.Timeout | undefined;
  const ended = handled(
    new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`Redis took longer than ${timeoutMs} ms`)), timeoutMs);
    }),
  );
  return { ended, cancel: () => clearTimeout(timer) };
};

/** Runs commands with a time limit. A command that fails or is late returns null and is reported to the outage log. */
export const createAttempt =
  (outage: OutageLog): Attempt =>
  async (timeoutMs, command) => {
    const { ended, cancel } = late(timeoutMs);
    try {
      const answer = await Promise.race([command(), ended]);
      outage.worked();
      return answer;
    } catch (error) {
      outage.failed(error);
      return null;
    } finally {
      cancel();
    }
  };
