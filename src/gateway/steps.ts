/** Builds the steps of session.ts, straight down, each once. */
import { hash } from 'node:crypto';
import { type Transport, UpstreamRefusal } from '../contract/client.js';
import type { Clock } from '../domain/ports.js';
import { Refusal } from '../domain/refusal.js';
import type { Cache } from '../platform/cache.js';
import type { JwtIssuer } from '../platform/jwt.js';
import type { Log } from '../platform/log.js';
import type { AdminCommand } from './admin.js';
import type { Audit } from './audit.js';
import type { Origins } from './credential.js';
import { guestRequestOf } from './guest-request.js';
import { createHostIdentity, type HostIdentityOptions } from './host-identity.js';
import { createIdentity, type Identity } from './identity.js';
import type { Ledger } from './ledger/ledger.js';
import { createLimits, type Limits, type LimitsOptions, noLimits } from './limits.js';
import { createMetricLists } from './metric-lists.js';
import type { Policies } from './policies.js';
import { createPolicyStep } from './policy.js';
import { createProvision } from './provision.js';
import type { SessionSteps } from './session.js';
import { createStanding } from './standing.js';
import { createTenants, type ReadVariable } from './tenant.js';
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
  readonly policies: Policies;
  readonly ledger: Ledger;
  readonly audit: Audit;
  /** Lets operators in at `/gateway/admin`; null: nobody. */
  readonly gatewayToken: string | null;
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
  /** For the secrets that the policy names. */
  readonly readVariable?: ReadVariable | undefined;
  /** Left out: none. */
  readonly limits?: Pick<LimitsOptions, 'settings' | 'limiters'> | undefined;
  /** Milliseconds that every answered token lives at least; left out: a fifth of its expiry. */
  readonly minimumLifeMs?: number | undefined;
};

const identityOf = (options: GatewayOptions, { failedSessions }: Limits): Identity =>
  options.identify === undefined ? createIdentity({ ...options, failedSessions }) : createHostIdentity(options);

/** What a gateway is made of: the steps of a session, and what operators can have done beside them. */
export type Parts = { readonly steps: SessionSteps; readonly commands: readonly AdminCommand[] };

/** The parts of one gateway. */
export const createParts = (options: GatewayOptions): Parts => {
  const { policies, clock, cache, log } = options;
  const { transport, apiKey, baseUrl } = options.upstream;
  const upstream = createUpstream(transport, apiKey);
  const tenants = createTenants({ clock, log, readVariable: options.readVariable });
  tenants.open(policies.current());
  const keyId = hash('sha256', apiKey, 'hex');
  const limits = options.limits === undefined ? noLimits : createLimits({ ...options.limits, scope: keyId, clock });
  const provision = createProvision({ upstream, clock, log });
  const listMetrics = createMetricLists({ upstream, clock });
  const tokenOf = createTokenStep({
    upstream,
    baseUrl,
    keyId,
    epochs: (_, policy) => [policy.digest],
    cache,
    clock,
    minimumLifeMs: options.minimumLifeMs,
  });
  const steps: SessionSteps = {
    identity: identityOf(options, limits),
    limits,
    policies,
    tenant: tenants.of,
    standing: createStanding(),
    policy: createPolicyStep(clock),
    provision,
    token: async (of, policy) => {
      try {
        return await tokenOf(await guestRequestOf({ ...of, dataApp: policy.dataApp }, listMetrics), policy);
      } catch (error) {
        // The service may have lost a dashboard that was verified here: look again at the next request.
        if (error instanceof Refusal && error.cause instanceof UpstreamRefusal) provision.forget(of.dashboards);
        throw error;
      }
    },
    serviceUrl: options.serviceUrl,
  };
  return { steps, commands: [] };
};
