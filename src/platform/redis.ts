/** Connections to Redis: one server, Sentinel or Cluster, by the URL. An outage costs speed, never time or correctness. */
import { Cluster, Redis, type RedisOptions } from 'ioredis';
import type { Log } from '../domain/log-events.js';
import { readRedisUrl } from './redis-url.js';
import { systemTiming, type Timing } from './timing.js';

export { readRedisUrl } from './redis-url.js';

export type RedisClient = Redis | Cluster;

export type RedisConnection = {
  readonly url: string;
  readonly log: Log;
  /** How long one try to connect may take. */
  readonly connectTimeoutMs?: number | undefined;
  /** How long one command may take; left out: for ever, the caller waits as long as it likes. */
  readonly commandTimeoutMs?: number | undefined;
};

const optionsOf = ({ connectTimeoutMs = 2_000, commandTimeoutMs }: RedisConnection): RedisOptions => ({
  ...(commandTimeoutMs === undefined ? {} : { commandTimeout: commandTimeoutMs }),
  lazyConnect: true,
  // A command fails at once while there is no connection: an outage must cost speed, not time.
  enableOfflineQueue: false,
  maxRetriesPerRequest: 0,
  autoResendUnfulfilledCommands: false,
  connectTimeout: connectTimeoutMs,
  retryStrategy: retryInMs,
});

const retryInMs = (attempt: number): number => Math.min(attempt * 100, 1_000);

/** A connection that is not open yet. Who takes it listens to its errors. */
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

/** Hears the first failure of an outage, and its end. */
export type NoteOutage = (isDown: boolean) => void;

/** After so long without a failure, a command that works ends an outage: a full Redis still reads, and does not write. */
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

/** Logs the first failure of an outage and its end, and nothing between. */
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
    /** A command worked. */
    worked: (): void => {
      if (failedAtMs !== null && timing.nowMs() - failedAtMs >= quietMs) end();
    },
    /** There is a new connection. */
    connected: end,
  };
};
export type OutageLog = ReturnType<typeof createOutageLog>;

export type Attempt = <T>(timeoutMs: number, command: () => Promise<T>) => Promise<T | null>;

const late = (timeoutMs: number): { readonly ended: Promise<never>; readonly cancel: () => void } => {
  let timer: NodeJS.Timeout | undefined;
  const ended = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`Redis took longer than ${timeoutMs} ms`)), timeoutMs);
  });
  return { ended, cancel: () => clearTimeout(timer) };
};

/** Runs commands, each in its time. What fails, or is late, is null and told to the outage log. */
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
