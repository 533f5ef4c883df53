/**
 * The gateway as a library: a step for the Express app of a host. It uses the host's session, and
 * works with a Guestlist service or any other service of the interface.
 */
import { existsSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { HostRequest, Identify, NodeRequest } from '../gateway/authenticate/host-session.js';
import type { MountedGateway } from '../gateway/router.js';
import { createHttpUpstream } from '../gateway/upstream/http-upstream.js';
import { type Cache, createMemoryCache } from '../platform/caches/cache.js';
import { defaultSettings } from '../platform/config/settings.js';
import { elementFiles, loadAssets, serveAssets } from '../platform/http/pages/assets.js';
import { inTurn, type Step } from '../platform/http/wire/in-turn.js';
import { pathOf } from '../platform/http/wire/request.js';
import { createMemoryLimiters, createRedisLimiters, type Limiters } from '../platform/limits/limiter.js';
import { createLog } from '../platform/logs/log.js';
import { closeAll } from '../platform/work/close-all.js';
import { systemClock } from '../platform/work/time.js';
import { assertLibraryOptions, type HostLog, type LibraryOptions } from './library-options.js';
import { lossEvents, type Metadata, openMetadata } from './metadata.js';
import { openGateway } from './open-gateway.js';

export type { HostClaims, HostRequest, Identify, NodeRequest } from '../gateway/authenticate/host-session.js';
export type { MountedGateway } from '../gateway/router.js';
export type { Cache } from '../platform/caches/cache.js';
export type { Limiters } from '../platform/limits/limiter.js';
export { type HostLog, InvalidOptions, type LibraryOptions } from './library-options.js';

/**
 * Opens a cache that several replicas share. While Redis is unavailable, every token is minted anew.
 *
 * @example
 * ```ts
 * import { openRedisCache } from '@guestlist/gateway';
 *
 * // The option `cache` of createGateway.
 * const cache = await openRedisCache('redis://127.0.0.1:6379');
 * ```
 */
export const openRedisCache = async (url: string, log: HostLog = createLog()): Promise<Cache> => {
  // Imported here because the import of Redis's client would slow every start.
  const { createRedisCache } = await import('../platform/caches/cache-redis.js');
  return createRedisCache({ url, log });
};

/**
 * Opens limits that several replicas share. While Redis is unavailable, each replica counts by itself.
 *
 * @example
 * ```ts
 * import { openRedisLimiters } from '@guestlist/gateway';
 *
 * // The option `limiters` of createGateway.
 * const limiters = await openRedisLimiters('redis://127.0.0.1:6379');
 * ```
 */
export const openRedisLimiters = (url: string, log: HostLog = createLog()): Promise<Limiters> =>
  createRedisLimiters({ url, clock: systemClock, log });

/** What a host mounts, and `close`, which closes its database. */
export type Gateway = MountedGateway;

/**
 * The folder of what browsers load, `<mount>/elements.js` and `<mount>/charts/`: beside this file in a package, and in
 * dist/ when the sources run.
 */
const webFolder = (): string => {
  const [packaged = '', ofSources = ''] = ['../web', '../../dist/web'].map((path) =>
    fileURLToPath(new URL(path, import.meta.url)),
  );
  return existsSync(join(packaged, 'elements.js')) ? packaged : ofSources;
};

/** Serves the elements. They are read at the first request, to keep the start fast. */
const serveElements = (): Step => {
  let loaded: Promise<Step> | undefined;
  const load = async (): Promise<Step> => serveAssets(await loadAssets(await elementFiles(webFolder())));
  return async (request, response, next) => {
    if (!/^\/(elements\.js|charts\/[^/]+)$/.test(pathOf(request))) return next();
    loaded ??= load();
    return (await loaded)(request, response, next);
  };
};

const openLedgerDatabase = (
  { databaseUrl, dataDir, flush, acceptLoss }: Pick<LibraryOptions, 'databaseUrl' | 'dataDir' | 'flush' | 'acceptLoss'>,
  log: HostLog,
): Promise<Metadata> =>
  openMetadata({
    databaseUrl: databaseUrl ?? null,
    folder: join(dataDir ?? './data', 'gateway'),
    isFlushed: flush ?? true,
    markKey: null,
    acceptsLoss: acceptLoss ?? false,
    clock: systemClock,
    log,
  });

const { gateway: defaults, limits, retention, mail } = defaultSettings();
/** It keeps no session of a user. */
const usualTimes = { ...retention, sessionsDays: mail.sessionDays, archive: null };
const defaultLimits = { ...defaults.limits, failedCredentialsPerMinute: limits.failedCredentialsPerMinute };

const upstreamOf = (
  { url, apiKey, ...settings }: LibraryOptions['service'],
  surroundings: Pick<Parameters<typeof createHttpUpstream>[0], 'clock' | 'log'>,
) => createHttpUpstream({ baseUrl: url, apiKey, settings: { ...defaults.upstream, ...settings }, ...surroundings });

/**
 * Creates the gateway. Rejects with InvalidOptions, which names all faults, before anything is opened; or with an Error
 * if the policy file or the database does not work.
 *
 * @example
 * ```ts
 * import { env } from 'node:process';
 * import { createGateway } from '@guestlist/gateway';
 * import express from 'express';
 *
 * const gateway = await createGateway({
 *   // Your own session. Null: nobody is logged in.
 *   identify: ({ headers }) => (headers['x-user'] === 'ann' ? { sub: 'ann', org_id: 'LAX', roles: ['analyst'] } : null),
 *   policies: './policies.yaml',
 *   service: { url: 'https://analytics.example.com', apiKey: env.GUESTLIST_API_KEY ?? '' },
 *   databaseUrl: env.DATABASE_URL ?? '',
 * });
 * express().use('/analytics', gateway).listen(8080);
 * ```
 */
export const createGateway = async <Request extends NodeRequest = HostRequest>(
  options: LibraryOptions<Request>,
): Promise<MountedGateway> => {
  assertLibraryOptions(options);
  const { identify, service, hookSecrets = [] } = options;
  const log: HostLog = options.log ?? createLog();
  const { database, loss, startMarking } = await openLedgerDatabase(options, log);
  const clock = systemClock;
  try {
    const { router, close } = await openGateway({
      // The gateway is mounted in the host's app, so the request is that of the host's framework.
      identify: identify as unknown as Identify<IncomingMessage>,
      identifyTimeoutMs: options.identifyTimeoutMs,
      allowedOrigins: options.allowedOrigins ?? [],
      publicOrigin: options.publicOrigin,
      policyPath: options.policies,
      database,
      firstEvents: lossEvents(loss),
      // It has no key that could sign an archive, so its audit stays whole.
      times: { ...usualTimes, explanationsDays: options.explanationDays ?? usualTimes.explanationsDays },
      gatewayToken: options.gatewayToken ?? null,
      upstream: upstreamOf(service, { clock, log }),
      serviceUrl: options.publicServiceUrl ?? service.url,
      deploymentId: options.deploymentId,
      hooks: {
        secrets: hookSecrets,
        toleranceSeconds: options.hookToleranceSeconds ?? defaults.hooks.toleranceSeconds,
      },
      cache: options.cache ?? createMemoryCache({ clock }),
      limits: {
        settings: { ...defaultLimits, ...options.limits },
        limiters: options.limiters ?? createMemoryLimiters({ clock }),
      },
      readVariable: (name) => options.variables?.[name],
      clock,
      log,
    });
    startMarking();
    const { assertReady, checks, admin } = router;
    return Object.assign(inTurn([router, serveElements()]), {
      ...{ assertReady, checks, admin },
      close: () => closeAll([close, database.close]),
    });
  } catch (error) {
    await database.close();
    throw error;
  }
};
