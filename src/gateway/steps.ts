/** Builds the steps of session.ts, straight down, each once. */
import { hash } from 'node:crypto';
import type { Transport } from '../contract/client.js';
import type { Clock } from '../domain/ports.js';
import type { Cache } from '../platform/cache.js';
import type { JwtIssuer } from '../platform/jwt.js';
import type { Log } from '../platform/log.js';
import type { Capabilities } from './capabilities.js';
import { createConfirmedToken } from './confirmed-token.js';
import type { Origins } from './credential.js';
import { createHostIdentity, type HostIdentityOptions } from './host-identity.js';
import { createIdentity, type Identity } from './identity.js';
import { createMetricLists } from './metric-lists.js';
import { createPolicyStep } from './policy.js';
import type { Policy } from './policy-file.js';
import { createProvision } from './provision.js';
import type { Resilience } from './resilience.js';
import type { SessionSteps } from './session.js';
import { createTenantStep } from './tenant.js';
import { createTokenStep } from './token.js';
import { isRefusedByUpstream } from './unavailable.js';
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

/** `createHttpUpstream` makes one of a service elsewhere. */
export type GatewayUpstream = {
  readonly transport: Transport;
  readonly apiKey: string;
  /** Names the upstream in the keys of cached tokens. */
  readonly baseUrl: string;
  /** Left out: each call is tried once. */
  readonly resilience?: Resilience | undefined;
  /** Beyond the interface; left out: none. */
  readonly capabilities?: Capabilities | undefined;
};

type GatewayParts = Origins & {
  readonly policy: Policy;
  readonly upstream: GatewayUpstream;
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

/** The steps of one gateway. */
export const createSteps = (options: GatewayOptions): SessionSteps => {
  const { policy, clock, cache, log } = options;
  const { transport, apiKey, baseUrl, resilience, capabilities } = options.upstream;
  const upstream = createUpstream(transport, apiKey, resilience);
  const provision = createProvision({ upstream, policy, clock, log, capabilities });
  const findToken = createConfirmedToken({
    listMetrics: createMetricLists({ upstream, clock }),
    upstream,
    tokenStep: (mintWith) =>
      createTokenStep({
        upstream: mintWith,
        baseUrl,
        keyId: hash('sha256', apiKey, 'hex'),
        epochs: () => [policy.digest],
        cache,
        clock,
        minimumLifeMs: options.minimumLifeMs,
      }),
  });
  return {
    identity: identityOf(options),
    tenant: createTenantStep(policy),
    policy: createPolicyStep(policy, clock),
    provision,
    token: async (of) => {
      try {
        return await findToken({ ...of, dataApp: policy.dataApp });
      } catch (error) {
        // The service may have lost a dashboard that was verified here: look again at the next request.
        if (isRefusedByUpstream(error)) provision.forget(of.dashboards);
        throw error;
      }
    },
    serviceUrl: options.serviceUrl,
  };
};
