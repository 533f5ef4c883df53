/** Builds the steps of session.ts, straight down, each once. */
import { hash } from 'node:crypto';
import { type Transport, UpstreamRefusal } from '../contract/client.js';
import type { Clock } from '../domain/ports.js';
import { Refusal } from '../domain/refusal.js';
import type { Cache } from '../platform/cache.js';
import type { JwtIssuer } from '../platform/jwt.js';
import type { Log } from '../platform/log.js';
import type { Origins } from './credential.js';
import { guestRequestOf } from './guest-request.js';
import { createHostIdentity, type HostIdentityOptions } from './host-identity.js';
import { createIdentity, type Identity } from './identity.js';
import { createLimits, type Limits, type LimitsOptions, noLimits } from './limits.js';
import { createMetricLists } from './metric-lists.js';
import { createPolicyStep } from './policy.js';
import type { Policy } from './policy-file.js';
import { createProvision } from './provision.js';
import type { SessionSteps } from './session.js';
import { createTenants } from './tenant.js';
import { createTokenStep } from './token.js';
import { createUpstream } from './upstream.js';

/** Sessions are signed tokens. */
export type SignedSessions = {
  readonly issuers: readonly JwtIssuer[];
  /** The host's session cookie that holds the JWT; null: sessions come by `Authorization: Bearer` alone. */
  readonly cookieName: string | null;
  readonly identify?: undefined;
};

/** The gateway is mounted in the host application's process, which says who is logged in. */
export type HostSessions = Pick<HostIdentityOptions, 'identify' | 'identifyTimeoutMs'> & {
  readonly issuers?: undefined;
};

export type GatewayOptions = (SignedSessions | HostSessions) & GatewayParts;

type GatewayParts = Origins & {
  readonly policy: Policy;
  readonly upstream: {
    readonly transport: Transport;
    readonly apiKey: string;
    /** Names the upstream in the keys of cached tokens. */
    readonly baseUrl: string;
  };
  /** Where the elements reach the service; part of every answer. */
  readonly serviceUrl: string;
  readonly cache: Cache;
  readonly clock: Clock;
  readonly log: Log;
  /** An environment variable, for the secrets that the policy names; undefined: not set. */
  readonly readVariable?: ((name: string) => string | undefined) | undefined;
  /** Left out: none. */
  readonly limits?: Pick<LimitsOptions, 'settings' | 'limiters'> | undefined;
  /** Milliseconds that every answered token lives at least; left out: a fifth of its expiry. */
  readonly minimumLifeMs?: number | undefined;
};

const identityOf = (options: GatewayOptions, { failedSessions }: Limits): Identity =>
  options.identify === undefined ? createIdentity({ ...options, failedSessions }) : createHostIdentity(options);

/** The steps of one gateway. */
export const createSteps = (options: GatewayOptions): SessionSteps => {
  const { policy, clock, cache, log } = options;
  const { transport, apiKey, baseUrl } = options.upstream;
  const upstream = createUpstream(transport, apiKey);
  const tenants = createTenants({ clock, log, readVariable: options.readVariable });
  tenants.open(policy);
  const keyId = hash('sha256', apiKey, 'hex');
  const limits = options.limits === undefined ? noLimits : createLimits({ ...options.limits, scope: keyId, clock });
  const provision = createProvision({ upstream, policy, clock, log });
  const listMetrics = createMetricLists({ upstream, clock });
  const tokenOf = createTokenStep({
    upstream,
    baseUrl,
    keyId,
    epochs: () => [policy.digest],
    cache,
    clock,
    minimumLifeMs: options.minimumLifeMs,
  });
  return {
    identity: identityOf(options, limits),
    limits,
    tenant: (session, asked) => tenants.of(policy, session, asked),
    policy: createPolicyStep(policy, clock),
    provision,
    token: async (of) => {
      try {
        return await tokenOf(await guestRequestOf({ ...of, dataApp: policy.dataApp }, listMetrics));
      } catch (error) {
        // The service may have lost a dashboard that was verified here: look again at the next request.
        if (error instanceof Refusal && error.cause instanceof UpstreamRefusal) provision.forget(of.dashboards);
        throw error;
      }
    },
    serviceUrl: options.serviceUrl,
  };
};
