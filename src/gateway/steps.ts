/** Builds the steps of session.ts, straight down, each once. */
import { hash } from 'node:crypto';
import type { Transport } from '../contract/client.js';
import type { Clock } from '../domain/ports.js';
import type { Cache } from '../platform/cache.js';
import type { JwtIssuer } from '../platform/jwt.js';
import type { Log } from '../platform/log.js';
import type { AdminCommand } from './admin.js';
import type { Audit } from './audit.js';
import { auditCommands, auditEraser } from './audit-commands.js';
import { type Capabilities, fixedCapabilities } from './capabilities.js';
import { createConfirmedToken } from './confirmed-token.js';
import type { Origins } from './credential.js';
import type { AnswerHook } from './hooks/hooks.js';
import { createHostIdentity, type HostIdentityOptions } from './host-identity.js';
import { createIdentity, type Identity } from './identity.js';
import type { Ledger } from './ledger/ledger.js';
import { createLimits, type Limits, type LimitsOptions, noLimits } from './limits.js';
import { createMetricLists, currentLists } from './metric-lists.js';
import type { Policies } from './policies.js';
import { createPolicyStep } from './policy.js';
import { createPolicyExplainCommand } from './policy-explain-command.js';
import { loadLoggedRequest } from './policy-explain-logged.js';
import { createProvision, type Provision } from './provision.js';
import type { Resilience } from './resilience.js';
import type { SessionSteps } from './session.js';
import { createTenants, type ReadVariable, type Tenants } from './tenant.js';
import { createTenantParts, type HookSettings } from './tenants/parts.js';
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

export type GatewayParts = Origins & {
  /** Left out: hooks are off. */
  readonly hooks?: HookSettings | undefined;
  readonly policies: Policies;
  readonly ledger: Ledger;
  readonly audit: Audit;
  /** Lets operators in at `/gateway/admin`; null: nobody. */
  readonly gatewayToken: string | null;
  readonly upstream: GatewayUpstream;
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

/** What a gateway is made of: the steps of a session, what hosts say of their tenants, and what operators can have done. */
export type Parts = {
  readonly steps: SessionSteps;
  readonly answerHook: AnswerHook;
  readonly commands: readonly AdminCommand[];
};

const limitsOf = ({ limits, clock }: GatewayOptions, scope: string): Limits =>
  limits === undefined ? noLimits : createLimits({ ...limits, scope, clock });

/** The service may have lost a dashboard that was verified here: then the next request looks again. */
const forgetting =
  (provision: Provision, token: SessionSteps['token']): SessionSteps['token'] =>
  async (of, policy) => {
    try {
      return await token(of, policy);
    } catch (error) {
      if (isRefusedByUpstream(error)) await provision.forget(of.dashboards, of.clientId);
      throw error;
    }
  };

type Minting = Parameters<typeof createTokenStep>[0]['upstream'];

const openTenants = ({ clock, log, readVariable, policies }: GatewayOptions): Tenants => {
  const tenants = createTenants({ clock, log, readVariable });
  tenants.open(policies.current());
  return tenants;
};

/** The parts of one gateway. */
export const createParts = (options: GatewayOptions): Parts => {
  const { policies, clock, ledger, audit } = options;
  const { transport, apiKey, baseUrl, resilience, capabilities = fixedCapabilities([]) } = options.upstream;
  const keyId = hash('sha256', apiKey, 'hex');
  const tenancy = createTenantParts({
    ...options,
    upstream: createUpstream(transport, apiKey, resilience),
    requireCapability: capabilities.requireCapability,
    hooks: options.hooks ?? { secrets: [], toleranceSeconds: 300 },
  });
  const { upstream, standing, works } = tenancy;
  const tenants = openTenants(options);
  const limits = limitsOf(options, keyId);
  const provision = createProvision({ upstream, baseUrl, keyId, capabilities, ledger, audit, clock, log: options.log });
  const metricLists = createMetricLists({ upstream, clock });
  const tokenStep = (mintWith: Minting) =>
    createTokenStep({
      upstream: mintWith,
      baseUrl,
      keyId,
      epochs: ({ clientId }, policy) => [policy.digest, standing.generationOf(clientId)],
      during: works.during,
      cache: options.cache,
      clock,
      minimumLifeMs: options.minimumLifeMs,
    });
  const findToken = createConfirmedToken({ listMetrics: metricLists, upstream, tokenStep });
  const steps: SessionSteps = {
    identity: identityOf(options, limits),
    limits,
    policies,
    tenant: tenants.inForce,
    standing: standing.assert,
    policy: createPolicyStep(clock),
    provision,
    token: forgetting(provision, (of, policy) => findToken({ ...of, dataApp: policy.dataApp }, policy)),
    serviceUrl: options.serviceUrl,
  };
  const explain = createPolicyExplainCommand({
    ...{ policies, tenantOf: tenants.of, clock },
    listMetrics: currentLists(metricLists),
    loadRequest: (requestId) => loadLoggedRequest(ledger, requestId),
  });
  const { answerHook, commands } = tenancy.lifeOf(provision, [provision.eraser, auditEraser(ledger)]);
  return { steps, answerHook, commands: [...auditCommands(ledger), explain, ...commands] };
};
