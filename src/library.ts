/**
 * The gateway as a library: an Express router that a host application mounts in its own process, behind its own session,
 * in front of a Guestlist service or any other service of the interface.
 */
import type { Request } from 'express';
import type { Identify } from './gateway/host-identity.js';
import { createHttpTransport } from './gateway/http-transport.js';
import { defaultLimits } from './gateway/limits.js';
import { loadPolicyFile } from './gateway/policy-file.js';
import { createGateway as createRouter, type Gateway } from './gateway/router.js';
import type { Cache } from './platform/cache.js';
import { createMemoryCache } from './platform/cache-memory.js';
import { createMemoryLimiters, createRedisLimiters, type Limiters } from './platform/limiter.js';
import { createLog, type Log } from './platform/log.js';

export type { HostClaims, Identify } from './gateway/host-identity.js';
export type { Gateway } from './gateway/router.js';
export type { Cache } from './platform/cache.js';
export type { Limiters } from './platform/limiter.js';

export type LibraryOptions = {
  /** Who is logged in: claims as the policy declares them, `sub` at least; null: nobody. Asked at every request. */
  readonly identify: Identify<Request>;
  /** How long it may take; ten seconds where left out. */
  readonly identifyTimeoutMs?: number;
  /** Path of the policy file; read once. */
  readonly policies: string;
  /** The service that mints the tokens, and the API key of the policy's data app there. */
  readonly service: { readonly url: string; readonly apiKey: string; readonly timeoutMs?: number };
  /** Where browsers reach the service; `service.url` where left out. */
  readonly publicServiceUrl?: string;
  /** Origins beside the host's own whose pages may ask with their cookies; none where left out. */
  readonly allowedOrigins?: readonly string[];
  /** The host's own origin as browsers see it; needed where a proxy in front changes the Host header. */
  readonly publicOrigin?: string;
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
  const { createRedisCache } = await import('./platform/cache-redis.js');
  return createRedisCache({ url, log });
};

/** Limits that several replicas share. While Redis is down, each counts for itself. */
export const openRedisLimiters = (url: string, log: Log = createLog()): Promise<Limiters> =>
  createRedisLimiters({ url, log });

/** Throws where the policy file or the options could not work. */
export const createGateway = (options: LibraryOptions): Gateway => {
  const { identify, policies, service, log = createLog() } = options;
  const clock = { now: () => new Date() };
  return createRouter({
    // Mounted in an Express app, the request is Express's.
    identify: identify as Identify,
    identifyTimeoutMs: options.identifyTimeoutMs,
    allowedOrigins: options.allowedOrigins ?? [],
    publicOrigin: options.publicOrigin,
    policy: loadPolicyFile(policies),
    upstream: {
      baseUrl: service.url,
      apiKey: service.apiKey,
      transport: createHttpTransport({ baseUrl: service.url, timeoutMs: service.timeoutMs ?? 10_000 }),
    },
    serviceUrl: options.publicServiceUrl ?? service.url,
    cache: options.cache ?? createMemoryCache({ clock }),
    limits: {
      settings: { ...defaultLimits, ...options.limits },
      limiters: options.limiters ?? createMemoryLimiters(),
    },
    readVariable: (name) => options.variables?.[name],
    clock,
    log,
  });
};
