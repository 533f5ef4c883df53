/**
 * The gateway as a library: an Express router that a host application mounts in its own process, behind its own session,
 * in front of a Guestlist service or any other service of the interface.
 */
import { existsSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Identify } from '../gateway/authenticate/host-session.js';
import type { Gateway } from '../gateway/router.js';
import { createHttpUpstream } from '../gateway/upstream/http-upstream.js';
import { loadAssets, serveAssets } from '../http/assets.js';
import type { Cache } from '../platform/cache.js';
import { createMemoryCache } from '../platform/cache-memory.js';
import { createMemoryLimiters, createRedisLimiters, type Limiters } from '../platform/limiter.js';
import { createLog } from '../platform/log.js';
import { defaultSettings } from '../platform/settings.js';
import { openGateway } from './gateway.js';
import { assertLibraryOptions, type HostLog, type LibraryOptions } from './library-options.js';
import { lossEvents, type Metadata, openMetadata } from './metadata.js';

export type { HostClaims, Identify } from '../gateway/authenticate/host-session.js';
export type { Gateway } from '../gateway/router.js';
export type { Cache } from '../platform/cache.js';
export type { Limiters } from '../platform/limiter.js';
export { type HostLog, InvalidOptions, type LibraryOptions } from './library-options.js';

/** A cache that several replicas share. While Redis is down, tokens are minted anew. */
export const openRedisCache = async (url: string, log: HostLog = createLog()): Promise<Cache> => {
  // Loaded where it is used: its client's import would slow every start.
  const { createRedisCache } = await import('../platform/cache-redis.js');
  return createRedisCache({ url, log });
};

/** Limits that several replicas share. While Redis is down, each counts for itself. */
export const openRedisLimiters = (url: string, log: HostLog = createLog()): Promise<Limiters> =>
  createRedisLimiters({ url, log });

/** A router to mount, and its end: what it remembers is in a database that has to be closed. */
export type MountedGateway = Gateway;

/** Where browsers load the elements from: `<mount>/elements.js`. */
const elementsPath = '/elements.js';

/** The file is beside this one in every package, and in dist/ where the sources run. */
const elementsFile = (): string => {
  const [packaged = '', ofSources = ''] = ['../web/elements.js', '../../dist/web/elements.js'].map((path) =>
    fileURLToPath(new URL(path, import.meta.url)),
  );
  return existsSync(packaged) ? packaged : ofSources;
};

type Handle = ReturnType<typeof serveAssets>;

/** The file is read at the first request for it, so that a start does not wait for it. */
const serveElements = () => {
  let loaded: Promise<Handle> | undefined;
  const load = async (): Promise<Handle> =>
    serveAssets(
      await loadAssets({
        [elementsPath]: { file: elementsFile(), contentType: 'text/javascript; charset=utf-8', isPublic: true },
      }),
    );
  return async (request: IncomingMessage, response: ServerResponse, next: () => void): Promise<void> => {
    loaded ??= load();
    (await loaded)(request, response, next);
  };
};

const openLedgerDatabase = (
  { databaseUrl, dataDir, flush, acceptLoss }: LibraryOptions,
  log: HostLog,
): Promise<Metadata> =>
  openMetadata({
    databaseUrl: databaseUrl ?? null,
    folder: join(dataDir ?? './data', 'gateway'),
    isFlushed: flush ?? true,
    markKey: null,
    acceptsLoss: acceptLoss ?? false,
    log,
  });

const { gateway: defaults, limits } = defaultSettings();
const defaultLimits = { ...defaults.limits, failedCredentialsPerMinute: limits.failedCredentialsPerMinute };

const upstreamOf = (
  { url, apiKey, ...settings }: LibraryOptions['service'],
  surroundings: Pick<Parameters<typeof createHttpUpstream>[0], 'clock' | 'log'>,
) => createHttpUpstream({ baseUrl: url, apiKey, settings: { ...defaults.upstream, ...settings }, ...surroundings });

/**
 * Rejects with InvalidOptions, which names all faults of the options, before anything is opened; and with an Error if the policy file or the
 * database does not work.
 */
export const createGateway = async (options: LibraryOptions): Promise<MountedGateway> => {
  assertLibraryOptions(options);
  const { identify, service, hookSecrets = [] } = options;
  const log: HostLog = options.log ?? createLog();
  const { database, loss, startMarking } = await openLedgerDatabase(options, log);
  const clock = { now: () => new Date() };
  try {
    const { router, close } = await openGateway({
      // Mounted in an Express app, the request is Express's.
      identify: identify as Identify,
      identifyTimeoutMs: options.identifyTimeoutMs,
      allowedOrigins: options.allowedOrigins ?? [],
      publicOrigin: options.publicOrigin,
      policyPath: options.policies,
      database,
      firstEvents: lossEvents(loss),
      explanationDays: options.explanationDays ?? defaults.audit.explanationDays,
      gatewayToken: options.gatewayToken ?? null,
      upstream: upstreamOf(service, { clock, log }),
      serviceUrl: options.publicServiceUrl ?? service.url,
      hooks: {
        secrets: hookSecrets,
        toleranceSeconds: options.hookToleranceSeconds ?? defaults.hooks.toleranceSeconds,
      },
      cache: options.cache ?? createMemoryCache({ clock }),
      limits: {
        settings: { ...defaultLimits, ...options.limits },
        limiters: options.limiters ?? createMemoryLimiters(),
      },
      readVariable: (name) => options.variables?.[name],
      clock,
      log,
    });
    startMarking();
    router.all(elementsPath, serveElements());
    return Object.assign(router, {
      close: async () => {
        await close();
        await database.close();
      },
    });
  } catch (error) {
    await database.close();
    throw error;
  }
};
