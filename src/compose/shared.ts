/** Opens what the replicas of an installation share: the counters of limits and the gateway's cache. */
import { Counter, Gauge, type Registry } from 'prom-client';
import type { Clock } from '../model/ports.js';
import { type Cache, createMemoryCache } from '../platform/caches/cache.js';
import type { Config } from '../platform/config/config.js';
import { type AddressOf, createAddresses } from '../platform/http/wire/address.js';
import type { AdmissionLimits } from '../platform/http/wire/admission.js';
import { type BudgetName, createBudget } from '../platform/limits/budget.js';
import {
  type CredentialGuard,
  type CredentialKind,
  createCredentialGuard,
  type NoteFailures,
} from '../platform/limits/credential-guard.js';
import { createMemoryLimiters, createRedisLimiters, type Limiters } from '../platform/limits/limiter.js';
import { createRefusedBodies } from '../platform/limits/refused-bodies.js';
import type { Log } from '../platform/logs/log.js';
import { closeAll } from '../platform/work/close-all.js';
import {
  type CountDelivery,
  type CountWork,
  createCountDelivery,
  createCountWork,
  createGatewayMeters,
  type ProductMeters,
} from './meters.js';

type SharedOptions = {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Log;
  readonly registry: Registry;
};

export type SharedOfGateway = { readonly cache: Cache; readonly meters: ProductMeters };

export type Shared = {
  readonly limiters: Limiters;
  readonly admission: Admission;
  /** Null: this process runs no gateway. */
  readonly gateway: SharedOfGateway | null;
  readonly countWork: CountWork;
  readonly countDelivery: CountDelivery;
  readonly close: () => Promise<void>;
};

/** Shared through Redis if the settings name one, otherwise kept in this process's memory. */
export const openShared = async (options: SharedOptions, runsGateway: boolean): Promise<Shared> => {
  const countWork = createCountWork(options.registry);
  const meters = runsGateway ? createGatewayMeters(options.registry, countWork) : null;
  const gateway = meters === null ? null : { cache: await openCache(options, meters), meters };
  const limiters = await openLimiters(options, meters);
  return {
    limiters,
    admission: createAdmission(options, limiters),
    gateway,
    countWork,
    countDelivery: createCountDelivery(options.registry),
    close: () => closeAll([async () => gateway?.cache.close(), limiters.close]),
  };
};

const openCache = async ({ config, clock, log }: SharedOptions, meters: ProductMeters): Promise<Cache> => {
  const url = config.settings.redisUrl;
  if (url === null) return createMemoryCache({ clock });
  // Loaded where it is used: the import of Redis's client would slow every start.
  const { createRedisCache } = await import('../platform/caches/cache-redis.js');
  return createRedisCache({ url, log, onOutage: (isDown) => meters.redisChanged('cache', isDown) });
};

const openLimiters = async ({ config, clock, log }: SharedOptions, meters: ProductMeters | null): Promise<Limiters> => {
  const url = config.settings.redisUrl;
  if (url === null) return createMemoryLimiters({ clock });
  return createRedisLimiters({ url, clock, log, onOutage: (isDown) => meters?.redisChanged('limits', isDown) });
};

/** The limits that every request of the service passes. One object for each process. */
export type Admission = {
  /** Returns the address by which a request is counted. */
  readonly addressOf: AddressOf;
  readonly limits: AdmissionLimits;
  /** Counts wrong logins to Studio. */
  readonly studioGuard: CredentialGuard;
  /** Counts wrong signatures of mail servers. */
  readonly mailGuard: CredentialGuard;
  /** Counts and logs failed credentials; other guards of the process report to it too. */
  readonly note: NoteFailures;
};

const createAdmission = ({ config, clock, log, registry }: SharedOptions, limiters: Limiters): Admission => {
  const { limits: settings, gateway } = config.settings;
  const proxies = new Gauge({
    name: 'guestlist_proxy_not_trusted',
    help: '1 if X-Forwarded-For arrives while gateway.limits.trustedProxies is 0: all callers behind the proxy count as one address.',
    registers: [registry],
  });
  const { trustedProxies } = gateway.limits;
  const addressOf = createAddresses({ trustedProxies, log, note: () => proxies.set(1) });
  const note = createNote(registry, log);
  const counted = { limiters, scope: 'service', clock };
  const guardOf = (kind: CredentialKind) =>
    createCredentialGuard({ ...counted, kind, failuresPerMinute: settings.failedCredentialsPerMinute, note });
  const budgetOf = (name: BudgetName, what: string, perMinute: number | null) =>
    createBudget(counted, { name, what, perMinute });
  return {
    addressOf,
    note,
    studioGuard: guardOf('studio'),
    mailGuard: guardOf('hook'),
    limits: {
      guards: { apiKey: guardOf('apiKey'), guestToken: guardOf('guestToken'), serviceToken: guardOf('serviceToken') },
      guestToken: budgetOf('guest-token', 'requests with this guest token', settings.guestTokenPerMinute),
      guestAddress: budgetOf(
        'guest-address',
        'requests with this guest token from one address',
        settings.guestAddressPerMinute,
      ),
      refusedBodies: createRefusedBodies(settings.refusedMegabytesPerMinute, clock),
    },
  };
};

/** Counts and logs failed credentials. Neither the log nor a label contains any part of a credential. */
const createNote = (registry: Registry, log: Log): NoteFailures => {
  const counter = (name: string, help: string) =>
    new Counter({ name: `guestlist_${name}_total`, help, labelNames: ['kind'], registers: [registry] });
  const failed = counter('failed_credentials', 'Wrong credentials, by kind.');
  const limited = counter('limited_credentials', 'Wrong credentials refused because of earlier failures, by kind.');
  return {
    failed: (kind) => failed.inc({ kind }),
    limited: (kind) => limited.inc({ kind }),
    blocked: (kind, address) =>
      log.warn(
        { event: 'credentials.blocked', kind, address },
        'too many wrong credentials from one address; answering 429',
      ),
  };
};
