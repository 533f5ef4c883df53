/** Builds the engine with its result cache, and the demo's data behind it. */
import { hkdfSync } from 'node:crypto';
import { join, resolve } from 'node:path';
import type { Registry } from 'prom-client';
import type { DemoBundle } from '../demo/bundle.js';
import { prepareFlightsData } from '../demo/flights-data.js';
import type { ResultCacheOptions } from '../engine/cache/result-cache.js';
import { engineLimits } from '../engine/connections/limits.js';
import { createEngine } from '../engine/engine.js';
import type { RollupsOptions } from '../engine/rollups/rollups.js';
import { createQueryWatch } from '../engine/run/query-watch.js';
import type { Clock } from '../model/ports.js';
import type { Engine } from '../model/query/engine.js';
import type { ReadLive } from '../model/query/live.js';
import type { RunningWork } from '../model/query/running.js';
import type { ReadQueries } from '../model/query/watch.js';
import type { SharedCache } from '../platform/caches/cache-redis.js';
import { createReach } from '../platform/calls/reach.js';
import type { Config, Settings } from '../platform/config/config.js';
import { createSealer, type KeyRing } from '../platform/keys/sealing.js';
import type { Log } from '../platform/logs/log.js';
import { closeAll } from '../platform/work/close-all.js';
import { createEngineMeters } from './meters.js';
import { assertingPlainUploads } from './uploads.js';

export type OpenedEngine = {
  readonly engine: Engine;
  /** Creates the demo's data; queries of the demo wait for it. Does nothing without the demo. */
  readonly prepare: () => Promise<void>;
  readonly close: () => Promise<void>;
  /** What queries took, for operators. */
  readonly queries: ReadQueries;
  /** What runs, waits and is kept now, for operators. */
  readonly live: ReadLive;
};

type EngineParts = {
  readonly config: Config;
  readonly bundle: DemoBundle | null;
  /** Replicas share rows if their first keys are the same. */
  readonly keyRing: KeyRing;
  readonly clock: Clock;
  readonly log: Log;
  readonly registry: Registry;
  /** What a process that builds rollups needs of the environment. */
  readonly sourceEnvironment: Readonly<Record<string, string>>;
  /** Lists what runs, for operators. Left out: nothing is listed. */
  readonly running?: Pick<RunningWork, 'during'>;
};

const mebibyte = 1_048_576;

/** `runsService`: true if this process runs a service. Only a service shares answers with other replicas. */
export const openEngine = async (parts: EngineParts, runsService: boolean): Promise<OpenedEngine> => {
  const { config, bundle, log, registry } = parts;
  const queries = createQueryWatch(parts.clock);
  const { settings, folder } = config;
  const dataDir = resolve(settings.dataDir);
  const flights = bundle === null ? null : join(dataDir, bundle.organization.datasource.path);
  const { allowedHosts, duckdbFolders, sqliteFolders, untested } = settings.datasources;
  const reach = createReach({
    allowedHosts,
    duckdbFolders: duckdbFolders.map((path) => resolve(folder, path)),
    sqliteFolders: sqliteFolders.map((path) => resolve(folder, path)),
    untested,
    dataDir,
    files: flights === null ? [] : [flights],
    databaseUrl: settings.databaseUrl,
  });
  const rows = runsService ? await openSharedRows(settings, log) : null;
  let live: ReadLive = () => ({ sources: [], cache: null });
  const engine = createEngine({
    log,
    clock: parts.clock,
    live: (read) => {
      live = read;
    },
    watch: queries,
    running: parts.running,
    assertReachable: assertingPlainUploads(dataDir, reach.assertReachable),
    cache: cacheOptions(parts, rows),
    maskSecret: keyFor(parts, 'masked values'),
    meters: createEngineMeters(registry),
    rollups: rollupsOf(parts),
    ...engineLimits(settings),
  });
  const opened = flights === null ? { engine, prepare: async () => {} } : prepareFlightsData(engine, flights);
  return { ...opened, queries, live, close: () => closeAll([opened.engine.close, async () => rows?.close()]) };
};

const rollupsOf = ({ config, log, sourceEnvironment: environment }: EngineParts): RollupsOptions | undefined => {
  const { folder } = config;
  const { rollups } = config.settings;
  if (rollups.folder === null) return undefined;
  const { memoryMegabytes, diskMegabytes, tailRows, niceness } = rollups;
  return {
    ...{ folder: resolve(folder, rollups.folder), limits: { memoryMegabytes, diskMegabytes } },
    ...{ tailRows, processes: { environment, niceness } },
    built: (datamart, rollup) => log.info({ event: 'rollup.built', datamart, rollup }, 'built a rollup'),
  };
};

const commandTimeoutMs = 500;

/** A Redis connection of its own: large answers must not delay the gateway's tokens. */
const openSharedRows = async ({ redisUrl: url, queries }: Settings, log: Log): Promise<SharedCache | null> => {
  if (url === null) return null;
  // Loaded where it is used: the import of Redis's client would slow every start.
  const { createRedisCache } = await import('../platform/caches/cache-redis.js');
  // A query must not wait for another replica longer than a query may run.
  const sharingLimits = { commandTimeoutMs, maxWaitMs: queries.timeoutSeconds * 1000 };
  return createRedisCache({ url, log, commandTimeoutMs, sharingLimits });
};

// The labels are part of the derived keys: other labels would orphan what other replicas have stored.
const keyFor = ({ keyRing }: EngineParts, label: string): Buffer =>
  Buffer.from(hkdfSync('sha256', keyRing[0], '', `guestlist: ${label}`, 32));

const cacheOptions = (parts: EngineParts, rows: SharedCache | null): ResultCacheOptions => {
  const { config, clock } = parts;
  const { cacheTtlSeconds: ttlSeconds, cacheMegabytes } = config.settings.queries;
  return {
    secret: keyFor(parts, "names of kept rows' keys"),
    clock,
    ttlSeconds,
    maxBytes: cacheMegabytes * mebibyte,
    shared:
      rows === null ? null : { sharing: rows.sharing, cache: rows, sealer: createSealer(keyFor(parts, 'kept rows')) },
  };
};
