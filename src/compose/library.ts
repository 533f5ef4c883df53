/**
 * The gateway as a library: an Express router that a host application mounts in its own process, behind its own session,
 * in front of a Guestlist service or any other service of the interface.
 */
import { join } from 'node:path';
import type { Request } from 'express';
import type { Identify } from '../gateway/authenticate/host-session.js';
import { defaultLimits } from '../gateway/authenticate/limits.js';
import type { Gateway } from '../gateway/router.js';
import { createHttpUpstream, type UpstreamSettings, usualUpstreamSettings } from '../gateway/upstream/http-upstream.js';
import type { Cache } from '../platform/cache.js';
import { createMemoryCache } from '../platform/cache-memory.js';
import { hookSecretMend, isHookSecret } from '../platform/hook-secrets.js';
import { createMemoryLimiters, createRedisLimiters, type Limiters } from '../platform/limiter.js';
import { createLog, type Log } from '../platform/log.js';
import { openGateway } from './gateway.js';
import { lossEvents, type Metadata, openMetadata } from './metadata.js';

export type { HostClaims, Identify } from '../gateway/authenticate/host-session.js';
export type { Gateway } from '../gateway/router.js';
export type { Cache } from '../platform/cache.js';
export type { Limiters } from '../platform/limiter.js';

export type LibraryOptions = {
  /** Who is logged in: claims as the policy declares them, `sub` at least; null: nobody. Asked at every request. */
  readonly identify: Identify<Request>;
  /** How long it may take; ten seconds where left out. */
  readonly identifyTimeoutMs?: number;
  /** Path of the policy file, which is followed while the gateway runs. */
  readonly policies: string;
  /** The service that mints the tokens, the API key of the policy's data app there, and how it is spared: see `gateway.upstream`. */
  readonly service: { readonly url: string; readonly apiKey: string } & Partial<UpstreamSettings>;
  /** Where browsers reach the service; `service.url` where left out. */
  readonly publicServiceUrl?: string;
  /** Origins beside the host's own whose pages may ask with their cookies; none where left out. */
  readonly allowedOrigins?: readonly string[];
  /** The host's own origin as browsers see it; needed where a proxy in front changes the Host header. */
  readonly publicOrigin?: string;
  /** PostgreSQL for what the gateway remembers for good; needed for several replicas. */
  readonly databaseUrl?: string;
  /** Folder of the embedded database where there is no `databaseUrl`; `./data` where left out. One process may use it. */
  readonly dataDir?: string;
  /** Whether each write of the embedded database is on the disk before it is acknowledged; true where left out. */
  readonly flush?: boolean;
  /** Goes on without what the embedded database lost, once an error said that it lost something. */
  readonly acceptLoss?: boolean;
  /** Lets operators and the command line in at `/gateway/admin`; nobody where left out. */
  readonly gatewayToken?: string;
  /** How long what a request was decided on is kept for `policy explain --request`; 30 days where left out. */
  readonly explanationDays?: number;
  /** Secrets that the host's hooks may be signed with, `whsec_...`; hooks are off where left out. */
  readonly hookSecrets?: readonly string[];
  /** How far the clock of the hooks' sender may be off; five minutes where left out. */
  readonly hookToleranceSeconds?: number;
  /** Memory of this process where left out; `openRedisCache` for several. */
  readonly cache?: Cache;
  /** Requests in a minute, of one user and of one tenant; 300 and 12,000 where left out, none where null. */
  readonly limits?: { readonly userPerMinute?: number | null; readonly tenantPerMinute?: number | null };
  /** Where they are counted: in this process where left out; `openRedisLimiters` for several. */
  readonly limiters?: Limiters;
  /** Environment variables, for the secrets that the policy names. */
  readonly variables?: Readonly<Record<string, string | undefined>>;
  /** Receives one line for each request; JSON on standard output where left out. */
  readonly log?: Log;
};

/** A cache that several replicas share. While Redis is down, tokens are minted anew. */
export const openRedisCache = async (url: string, log: Log = createLog()): Promise<Cache> => {
  // Loaded where it is used: its client's import would slow every start.
  const { createRedisCache } = await import('../platform/cache-redis.js');
  return createRedisCache({ url, log });
};

/** Limits that several replicas share. While Redis is down, each counts for itself. */
export const openRedisLimiters = (url: string, log: Log = createLog()): Promise<Limiters> =>
  createRedisLimiters({ url, log });

/** A router to mount, and its end: what it remembers is in a database that has to be closed. */
export type MountedGateway = Gateway;

const hookSecretsOf = ({ hookSecrets = [] }: LibraryOptions): readonly string[] => {
  if (hookSecrets.every(isHookSecret)) return hookSecrets;
  throw new TypeError(`hookSecrets must be secrets of Standard Webhooks: ${hookSecretMend}`);
};

const openLedgerDatabase = ({ databaseUrl, dataDir, flush, acceptLoss }: LibraryOptions, log: Log): Promise<Metadata> =>
  openMetadata({
    databaseUrl: databaseUrl ?? null,
    folder: join(dataDir ?? './data', 'gateway'),
    isFlushed: flush ?? true,
    markKey: null,
    acceptsLoss: acceptLoss ?? false,
    log,
  });

/** Rejects where the policy file, the options or the database could not work. */
export const createGateway = async (options: LibraryOptions): Promise<MountedGateway> => {
  const { identify, service, log = createLog() } = options;
  const secrets = hookSecretsOf(options);
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
      explanationDays: options.explanationDays ?? 30,
      gatewayToken: options.gatewayToken ?? null,
      upstream: createHttpUpstream({
        baseUrl: service.url,
        apiKey: service.apiKey,
        settings: { ...usualUpstreamSettings, ...service },
        clock,
        log,
      }),
      serviceUrl: options.publicServiceUrl ?? service.url,
      hooks: { secrets, toleranceSeconds: options.hookToleranceSeconds ?? 300 },
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
