/** The engine with its cache, as compose.ts uses it. */
import { hkdfSync } from 'node:crypto';
import { join, resolve } from 'node:path';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import type { DemoBundle } from './demo/bundle.js';
import { prepareFlightsData } from './demo/flights-data.js';
import type { Clock, Engine } from './domain/ports.js';
import type { ResultCacheOptions } from './engine/cache/result-cache.js';
import { createEngine } from './engine/engine.js';
import { createEngineMetrics } from './engine-metrics.js';
import type { SharedCache } from './platform/cache-redis.js';
import type { Config, Settings } from './platform/config.js';
import { createReach } from './platform/reach.js';
import { createSealer } from './platform/sealing.js';
import { queryLimits } from './query-limits.js';

export type OpenedEngine = {
  readonly engine: Engine;
  /** Makes the demo's data: questions wait for it. */
  readonly prepare: () => Promise<void>;
  /** Of what the engine leaves open when it closes. */
  readonly close: () => Promise<void>;
};

export type EngineParts = {
  readonly config: Config;
  readonly bundle: DemoBundle | null;
  /** 32 bytes in base64, the same for all replicas. */
  readonly encryptionKey: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly registry: Registry;
};

const commandTimeoutMs = 500;

/** A connection of its own: large answers must not keep the gateway's tokens waiting. */
const openRows = async ({ redisUrl: url, queries }: Settings, log: Logger): Promise<SharedCache | null> => {
  if (url === null) return null;
  // Loaded where it is used: its client's import would slow every start.
  const { createRedisCache } = await import('./platform/cache-redis.js');
  // A question that waits for another replica waits no longer than a query may run.
  const sharingLimits = { commandTimeoutMs, maxWaitMs: queries.timeoutSeconds * 1000 };
  return createRedisCache({ url, log, commandTimeoutMs, sharingLimits });
};

const cacheOf = ({ config, encryptionKey, clock }: EngineParts, rows: SharedCache | null): ResultCacheOptions => {
  const { cacheTtlSeconds: ttlSeconds, cacheMegabytes } = config.settings.queries;
  const keyFor = (what: string): Buffer =>
    Buffer.from(hkdfSync('sha256', Buffer.from(encryptionKey, 'base64'), '', `guestlist: ${what}`, 32));
  return {
    secret: keyFor("names of kept rows' keys"),
    clock,
    ttlSeconds,
    maxBytes: cacheMegabytes * 1024 * 1024,
    shared: rows === null ? null : { sharing: rows.sharing, cache: rows, sealer: createSealer(keyFor('kept rows')) },
  };
};

export const openEngine = async (parts: EngineParts, isService: boolean): Promise<OpenedEngine> => {
  const { config, bundle, log, registry } = parts;
  const { settings, folder } = config;
  const dataDir = resolve(settings.dataDir);
  const flights = bundle === null ? null : join(dataDir, bundle.organization.datasource.path);
  const { allowedHosts, duckdbFolders, ...connections } = settings.datasources;
  const { runningPerClient: perClient, waitingPerClient, waiting, waitSeconds } = settings.queries;
  const { assertReachable } = createReach({
    allowedHosts,
    duckdbFolders: duckdbFolders.map((path) => resolve(folder, path)),
    dataDir,
    files: flights === null ? [] : [flights],
    databaseUrl: settings.databaseUrl,
  });
  const rows = isService ? await openRows(settings, log) : null;
  const engine = createEngine({
    log,
    assertReachable,
    ...connections,
    cache: cacheOf(parts, rows),
    line: { perClient, waitingPerClient, waiting, waitMs: waitSeconds * 1000 },
    metrics: createEngineMetrics(registry),
    ...queryLimits(settings.queries),
  });
  const close = async (): Promise<void> => rows?.close();
  return flights === null
    ? { engine, prepare: async () => {}, close }
    : { ...prepareFlightsData(engine, flights), close };
};
