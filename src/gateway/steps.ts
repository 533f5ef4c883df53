/** Builds the steps of session.ts, straight down, each once. */
import { hash, randomUUID } from 'node:crypto';
import { type Transport, UpstreamRefusal } from '../contract/client.js';
import type { Clock } from '../domain/ports.js';
import { Refusal } from '../domain/refusal.js';
import type { Cache } from '../platform/cache.js';
import type { JwtIssuer } from '../platform/jwt.js';
import type { Log } from '../platform/log.js';
import type { AdminCommand } from './admin.js';
import type { Audit } from './audit.js';
import { auditCommands } from './audit-commands.js';
import type { Origins } from './credential.js';
import { createFindEmbeds } from './granted-embeds.js';
import { guestRequestOf } from './guest-request.js';
import { createHostIdentity, type HostIdentityOptions } from './host-identity.js';
import { createIdentity, type Identity } from './identity.js';
import type { Ledger } from './ledger/ledger.js';
import { createPolicyTokens } from './ledger/policy-tokens.js';
import { createMetricLists } from './metric-lists.js';
import { type Policies, policyReload } from './policies.js';
import { createPolicyStep } from './policy.js';
import { createProvision } from './provision.js';
import { createRetiring } from './retire.js';
import { createRetirement, type Retirement, type RetirementOptions } from './retirement.js';
import type { SessionSteps } from './session.js';
import { createStanding } from './standing.js';
import { createTenantStep } from './tenant.js';
import { createTokenStep, Outdated } from './token.js';
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

export type GatewayParts = Origins & {
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
  /** Milliseconds that every answered token lives at least; left out: a fifth of its expiry. */
  readonly minimumLifeMs?: number | undefined;
};

const identityOf = (options: GatewayOptions): Identity =>
  options.identify === undefined ? createIdentity(options) : createHostIdentity(options);

/** What a gateway is made of: the steps of a session, and what operators can have done beside them. */
export type Parts = { readonly steps: SessionSteps; readonly commands: readonly AdminCommand[] };

/** Follows the policy from now on. */
const startRetirement = (
  { policies, ledger, clock, log }: GatewayOptions,
  parts: Pick<RetirementOptions, 'retire' | 'tenantOf' | 'decide'>,
): Retirement => {
  const policyTokens = createPolicyTokens(ledger, randomUUID());
  const retirement = createRetirement({ ...parts, policyTokens, clock, log });
  policies.subscribe({ changed: retirement.changed });
  retirement
    .begin(policies.current())
    .catch((err: unknown) => log.error({ err }, 'tokens of an earlier policy may live: it is looked at again'));
  return retirement;
};

/** The parts of one gateway. */
export const createParts = (options: GatewayOptions): Parts => {
  const { policies, clock, cache, log } = options;
  const { transport, apiKey, baseUrl } = options.upstream;
  const upstream = createUpstream(transport, apiKey);
  const provision = createProvision({ upstream, clock, log });
  const listMetrics = createMetricLists({ upstream, clock });
  const retiring = createRetiring(upstream);
  const tenantOf = createTenantStep();
  const decide = createPolicyStep(clock);
  const retirement = startRetirement(options, { retire: retiring.retire, tenantOf, decide });
  const tokenOf = createTokenStep({
    upstream,
    baseUrl,
    keyId: hash('sha256', apiKey, 'hex'),
    epochs: retiring.epochs,
    cache,
    clock,
    minimumLifeMs: options.minimumLifeMs,
  });
  const steps: SessionSteps = {
    identity: identityOf(options),
    policies,
    tenant: tenantOf,
    standing: createStanding(),
    policy: decide,
    provision,
    embeds: createFindEmbeds({ upstream, clock }),
    token: async (of, policy) => {
      await retirement.expect(policy, of.grant.expiryMs);
      try {
        return await tokenOf(await guestRequestOf({ ...of, dataApp: policy.dataApp }, listMetrics), policy);
      } catch (error) {
        // The service may have lost a dashboard that was verified here: look again at the next request.
        if (error instanceof Refusal && error.cause instanceof UpstreamRefusal) provision.forget(of.dashboards);
        throw error;
      }
    },
    remember: ({ token, expiresAtMs }, live, policy) => {
      retirement.remember(token, { ...live, expiresAtMs });
      if (policies.current() !== policy) throw new Outdated('the policy has changed');
    },
    serviceUrl: options.serviceUrl,
  };
  return { steps, commands: [...auditCommands(options.ledger), policyReload(policies)] };
};
