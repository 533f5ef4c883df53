/** Builds the steps of session.ts, straight down, each once. */
import { hash, randomUUID } from 'node:crypto';
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
import { createFindEmbeds } from './granted-embeds.js';
import type { AnswerHook } from './hooks/hooks.js';
import { createHostIdentity, type HostIdentityOptions } from './host-identity.js';
import { createIdentity, type Identity } from './identity.js';
import type { Ledger } from './ledger/ledger.js';
import { createPolicyTokens } from './ledger/policy-tokens.js';
import { createMetricLists, currentLists, type MetricLists } from './metric-lists.js';
import { type Policies, policyReload } from './policies.js';
import { createPolicyStep } from './policy.js';
import { createPolicyExplainCommand } from './policy-explain-command.js';
import { loadLoggedRequest } from './policy-explain-logged.js';
import { createProvision, type Provision } from './provision.js';
import type { Resilience } from './resilience.js';
import { createRetiring, type Retiring } from './retire.js';
import { createRetirement, type Retirement, type RetirementOptions } from './retirement.js';
import { createRolloutCommands } from './rollout/commands.js';
import { createTemplateVersions } from './rollout/template-versions.js';
import type { SessionSteps } from './session.js';
import { createTenantStep } from './tenant.js';
import { tenantsListCommand } from './tenant-listing.js';
import { tenantsProvisionCommand } from './tenant-provisioning.js';
import { createTenantParts, type HookSettings, type TenantParts } from './tenants/parts.js';
import { createTokenStep, Outdated } from './token.js';
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

type TokenParts = Pick<TenantParts, 'upstream' | 'standing' | 'works'> & {
  readonly provision: Pick<Provision, 'forget'>;
  readonly metricLists: MetricLists;
  readonly keyId: string;
  readonly retiring: Retiring;
  readonly retirement: Retirement;
};

const createTokens = (options: GatewayOptions, parts: TokenParts): Pick<SessionSteps, 'token' | 'remember'> => {
  const { upstream, standing, works, provision, metricLists, keyId, retiring, retirement } = parts;
  const findToken = createConfirmedToken({
    listMetrics: metricLists,
    upstream,
    tokenStep: (mintWith) =>
      createTokenStep({
        upstream: mintWith,
        baseUrl: options.upstream.baseUrl,
        keyId,
        epochs: (request) => [standing.generationOf(request.clientId), ...retiring.epochs(request)],
        during: works.during,
        cache: options.cache,
        clock: options.clock,
        minimumLifeMs: options.minimumLifeMs,
      }),
  });
  const token: SessionSteps['token'] = async (of, policy) => {
    await retirement.expect(policy, of.grant.expiryMs);
    try {
      return await findToken({ ...of, dataApp: policy.dataApp }, policy);
    } catch (error) {
      // The service may have lost a dashboard that was verified here: look again at the next request.
      if (isRefusedByUpstream(error)) await provision.forget(of.dashboards, of.clientId);
      throw error;
    }
  };
  return {
    token,
    remember: ({ token: answered, expiresAtMs }, live, policy) => {
      retirement.remember(answered, { ...live, expiresAtMs });
      if (options.policies.current() !== policy) throw new Outdated('the policy has changed');
    },
  };
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
  const { upstream, standing } = tenancy;
  const versions = createTemplateVersions({ ledger, upstream, clock, capabilities });
  const keepVersion = versions.keep;
  const provision = createProvision({ ...options, upstream, baseUrl, keyId, capabilities, keepVersion });
  const rollout = createRolloutCommands({ ...options, upstream, versions, capabilities });
  const metricLists = createMetricLists({ upstream, clock });
  const retiring = createRetiring(upstream);
  const tenantOf = createTenantStep();
  const findEmbeds = createFindEmbeds({ upstream, clock });
  const decide = createPolicyStep(clock);
  const retirement = startRetirement(options, { retire: retiring.retire, tenantOf, decide });
  const steps: SessionSteps = {
    identity: identityOf(options),
    policies,
    tenant: tenantOf,
    standing: standing.assert,
    policy: decide,
    provision,
    embeds: findEmbeds,
    ...createTokens(options, { ...tenancy, provision, metricLists, keyId, retiring, retirement }),
    serviceUrl: options.serviceUrl,
  };
  const loadRequest = (requestId: string) => loadLoggedRequest(ledger, requestId);
  const asking = { listMetrics: currentLists(metricLists), findEmbeds };
  const explain = createPolicyExplainCommand({ policies, tenantOf, ...asking, clock, loadRequest });
  const { answerHook, commands } = tenancy.lifeOf(provision, [provision.eraser, rollout.eraser, auditEraser(ledger)]);
  const listing = [tenantsListCommand(ledger), tenantsProvisionCommand({ provision, policies, ledger, audit })];
  const policyCommands = [explain, policyReload(policies)];
  return {
    steps,
    answerHook,
    commands: [...auditCommands(ledger), ...policyCommands, ...commands, ...listing, ...rollout.commands],
  };
};
