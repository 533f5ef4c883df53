/** Builds the steps of session.ts, straight down, each once. */
import { hash } from 'node:crypto';
import { type Call, type Transport, UpstreamRefusal } from '../contract/client.js';
import type { Clock } from '../domain/ports.js';
import { Refusal } from '../domain/refusal.js';
import type { Cache } from '../platform/cache.js';
import type { JwtIssuer } from '../platform/jwt.js';
import type { Log } from '../platform/log.js';
import { repeat } from '../platform/repeat.js';
import { createLocalSharing } from '../platform/sharing.js';
import { systemTiming } from '../platform/timing.js';
import type { AdminCommand } from './admin.js';
import type { Audit } from './audit.js';
import type { Origins } from './credential.js';
import { createScopes } from './epoch-scopes.js';
import { createEpochs } from './epochs.js';
import { guestRequestOf } from './guest-request.js';
import { createHostIdentity, type HostIdentityOptions } from './host-identity.js';
import { createIdentity, type Identity } from './identity.js';
import type { Ledger } from './ledger/ledger.js';
import { createMetricLists } from './metric-lists.js';
import type { Policies } from './policies.js';
import { createPolicyStep } from './policy.js';
import { createProvision } from './provision.js';
import { revocationCommands } from './revocation-commands.js';
import { createRevocations, type Revocations } from './revocations.js';
import { createServiceTokens } from './service-tokens.js';
import type { SessionSteps } from './session.js';
import { createSessionStanding, createStanding } from './standing.js';
import { createTenantStep } from './tenant.js';
import { createTokenStep } from './token.js';
import { createTokenCache } from './token-cache.js';
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
  /** Milliseconds that every answered token lives at least; left out: a fifth of its expiry. */
  readonly minimumLifeMs?: number | undefined;
};

const identityOf = (options: GatewayOptions): Identity =>
  options.identify === undefined ? createIdentity(options) : createHostIdentity(options);

/** What a gateway is made of: the steps of a session, and what operators can have done beside them. */
export type Parts = {
  readonly steps: SessionSteps;
  readonly commands: readonly AdminCommand[];
  readonly revocations: Revocations;
  /** Ends what runs beside requests. */
  readonly close: () => Promise<void>;
};

const retryEveryMs = 2_000;

/** What was revoked, and what revokes. */
const createRevocationParts = (options: GatewayOptions, upstream: Call) => {
  const { ledger, clock, log, audit, cache } = options;
  const sharing = cache.sharing ?? createLocalSharing(cache);
  const scopes = createScopes(ledger);
  const epochs = createEpochs({ ledger, sharing, log });
  const tokens = createServiceTokens({ upstream, requireCapability: async () => {}, log });
  const revocations = createRevocations({ ledger, epochs, scopes, tokens, audit, clock, log });
  const stopRetrying = repeat(systemTiming, retryEveryMs, () =>
    revocations.retry().catch((err: unknown) => log.warn({ err }, 'pending revocations could not be tried again')),
  );
  const close = async (): Promise<void> => {
    stopRetrying();
    epochs.close();
  };
  return { sharing, scopes, epochs, tokens, revocations, close };
};

/** The parts of one gateway. */
export const createParts = (options: GatewayOptions): Parts => {
  const { policies, clock, audit, log } = options;
  const { transport, apiKey, baseUrl } = options.upstream;
  const upstream = createUpstream(transport, apiKey);
  const provision = createProvision({ upstream, clock, log });
  const listMetrics = createMetricLists({ upstream, clock });
  const { sharing, scopes, epochs, tokens, revocations, close } = createRevocationParts(options, upstream);
  const tokenOf = createTokenStep({
    upstream,
    baseUrl,
    keyId: hash('sha256', apiKey, 'hex'),
    epochs,
    scopes,
    cache: createTokenCache({ sharing, apiKey, clock }),
    audit,
    discard: tokens.discard,
    clock,
    minimumLifeMs: options.minimumLifeMs,
  });
  const steps: SessionSteps = {
    identity: identityOf(options),
    policies,
    tenant: createTenantStep(),
    standing: createStanding([createSessionStanding({ epochs, scopes })]),
    policy: createPolicyStep(clock),
    provision,
    token: async (of, policy, requestId) => {
      try {
        return await tokenOf(await guestRequestOf({ ...of, dataApp: policy.dataApp }, listMetrics), policy, requestId);
      } catch (error) {
        // The service may have lost a dashboard that was verified here: look again at the next request.
        if (error instanceof Refusal && error.cause instanceof UpstreamRefusal) provision.forget(of.dashboards);
        throw error;
      }
    },
    serviceUrl: options.serviceUrl,
  };
  return { steps, commands: revocationCommands(revocations, policies), revocations, close };
};
