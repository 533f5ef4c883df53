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
import { auditCommands, auditEraser } from './audit-commands.js';
import type { Origins } from './credential.js';
import type { RequireCapability } from './erasure/upstream.js';
import { guestRequestOf } from './guest-request.js';
import type { AnswerHook } from './hooks/hooks.js';
import { createHostIdentity, type HostIdentityOptions } from './host-identity.js';
import { createIdentity, type Identity } from './identity.js';
import type { Ledger } from './ledger/ledger.js';
import type { ProvisionCapabilities } from './made-copy.js';
import { createMetricLists, type ListMetrics } from './metric-lists.js';
import type { Policies } from './policies.js';
import { createPolicyStep } from './policy.js';
import { createPolicyExplainCommand } from './policy-explain-command.js';
import { loadLoggedRequest } from './policy-explain-logged.js';
import { createProvision, type Provision } from './provision.js';
import { createRolloutCommands } from './rollout/commands.js';
import { createTemplateVersions } from './rollout/template-versions.js';
import type { SessionSteps } from './session.js';
import { createTenantStep } from './tenant.js';
import { createTenantParts, type HookSettings } from './tenants/parts.js';
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
    /** Beyond the interface; left out: none. */
    readonly capabilities?: ProvisionCapabilities | undefined;
    /** What it can do beyond the interface; left out: everything that Guestlist's own service can. */
    readonly requireCapability?: RequireCapability | undefined;
  };
  /** Left out: hooks are off. */
  readonly hooks?: HookSettings | undefined;
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

/** What a gateway is made of: the steps of a session, what hosts say of their tenants, and what operators can have done. */
export type Parts = {
  readonly steps: SessionSteps;
  readonly answerHook: AnswerHook;
  readonly commands: readonly AdminCommand[];
};

const createGuestTokens =
  (
    tokenOf: ReturnType<typeof createTokenStep>,
    listMetrics: ListMetrics,
    provision: Pick<Provision, 'forget'>,
  ): SessionSteps['token'] =>
  async (of, policy) => {
    try {
      return await tokenOf(await guestRequestOf({ ...of, dataApp: policy.dataApp }, listMetrics), policy);
    } catch (error) {
      // The service may have lost a dashboard that was verified here: look again at the next request.
      if (error instanceof Refusal && error.cause instanceof UpstreamRefusal) {
        await provision.forget(of.dashboards, of.clientId);
      }
      throw error;
    }
  };

/** The parts of one gateway. */
export const createParts = (options: GatewayOptions): Parts => {
  const { policies, clock, cache, log } = options;
  const { transport, apiKey, baseUrl, capabilities } = options.upstream;
  const keyId = hash('sha256', apiKey, 'hex');
  const { ledger, audit } = options;
  const tenancy = createTenantParts({
    ...options,
    upstream: createUpstream(transport, apiKey),
    requireCapability: options.upstream.requireCapability ?? (async () => {}),
    hooks: options.hooks ?? { secrets: [], toleranceSeconds: 300 },
  });
  const { upstream, standing, works } = tenancy;
  const versions = createTemplateVersions({ ledger, upstream, clock });
  const keepVersion = versions.keep;
  const provision = createProvision({ upstream, baseUrl, keyId, capabilities, ledger, audit, clock, log, keepVersion });
  const rollout = createRolloutCommands({ ...options, upstream, versions });
  const listMetrics = createMetricLists({ upstream, clock });
  const tokenOf = createTokenStep({
    upstream,
    baseUrl,
    keyId,
    epochs: ({ clientId }, policy) => [policy.digest, standing.generationOf(clientId)],
    during: works.during,
    cache,
    clock,
    minimumLifeMs: options.minimumLifeMs,
  });
  const tenantOf = createTenantStep();
  const steps: SessionSteps = {
    identity: identityOf(options),
    policies,
    tenant: tenantOf,
    standing: standing.assert,
    policy: createPolicyStep(clock),
    provision,
    token: createGuestTokens(tokenOf, listMetrics, provision),
    serviceUrl: options.serviceUrl,
  };
  const loadRequest = (requestId: string) => loadLoggedRequest(options.ledger, requestId);
  const explain = createPolicyExplainCommand({ policies, tenantOf, listMetrics, clock, loadRequest });
  const { answerHook, commands } = tenancy.lifeOf(provision, [provision.eraser, rollout.eraser, auditEraser(ledger)]);
  return { steps, answerHook, commands: [...auditCommands(ledger), explain, ...commands, ...rollout.commands] };
};
