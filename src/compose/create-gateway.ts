/** Builds the steps of session.ts, straight down, each once. */
import { hash } from 'node:crypto';
import type { Clock } from '../domain/ports.js';
import type { Audit } from '../gateway/audit/audit.js';
import { auditCommands, auditEraser } from '../gateway/audit/commands.js';
import { assertOrigins, type Origins } from '../gateway/authenticate/credential.js';
import { createHostIdentity, type HostIdentityOptions } from '../gateway/authenticate/host-session.js';
import { createLimits, type Limits, type LimitsOptions, noLimits } from '../gateway/authenticate/limits.js';
import { createIdentity, type Identity } from '../gateway/authenticate/signed-session.js';
import { createMemoryEraser, type ForgetClient } from '../gateway/common/eraser.js';
import type { GatewayMetrics } from '../gateway/common/metrics.js';
import { createKept, type Kept } from '../gateway/decision-cache.js';
import type { SessionSteps } from '../gateway/embed-token.js';
import { guardHooks } from '../gateway/hooks/hooks.js';
import { createServiceUrl } from '../gateway/http/service-url.js';
import { assertLedgerWritable, type Ledger } from '../gateway/ledger/ledger.js';
import { createTakeover } from '../gateway/ledger/takeover.js';
import { allStandings, createSessionStanding } from '../gateway/lifecycle/access.js';
import { createPolicyStep } from '../gateway/policy/decide.js';
import { type Policies, policyReload } from '../gateway/policy/policies.js';
import { tenantsProvisionCommand } from '../gateway/provision/commands.js';
import { createProvision } from '../gateway/provision/provision.js';
import { tenantsListCommand } from '../gateway/provision/tenants-list.js';
import { revocationCommands } from '../gateway/revocation/commands.js';
import { createRolloutCommands } from '../gateway/rollout/commands.js';
import { createTemplateVersions } from '../gateway/rollout/template-versions.js';
import { createRouter, type Gateway, type Parts } from '../gateway/router.js';
import { assertTenantSecret, createTenants, type ReadVariable, type Tenants } from '../gateway/tenant/resolve.js';
import { createFindEmbeds } from '../gateway/token/granted-embeds.js';
import { createMetricLists, currentLists } from '../gateway/token/metric-lists.js';
import { createApiKeyCheck } from '../gateway/upstream/api-key-check.js';
import { fixedCapabilities } from '../gateway/upstream/capabilities.js';
import { createUpstream, type GatewayUpstream } from '../gateway/upstream/upstream.js';
import type { Cache } from '../platform/cache.js';
import type { JwtIssuer } from '../platform/jwt.js';
import type { Log } from '../platform/log.js';
import type { Check } from '../platform/readiness.js';
import { createPolicyExplainCommand } from '../policy-tools/explain-command.js';
import { loadLoggedRequest } from '../policy-tools/explain-logged.js';
import { createRevocationParts } from './gateway-revocation.js';
import { createTenantParts, type HookSettings } from './gateway-tenants.js';
import { createTokens } from './gateway-tokens.js';

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
  /** Left out: hooks are off. */
  readonly hooks?: HookSettings | undefined;
  readonly policies: Policies;
  readonly ledger: Ledger;
  readonly audit: Audit;
  /** Lets operators in at `/gateway/admin`; null: nobody. */
  readonly gatewayToken: string | null;
  /** Whether `/gateway/admin` is served by the router `admin` alone; false where left out. */
  readonly isAdminApart?: boolean;
  readonly upstream: GatewayUpstream;
  /** Where the elements reach the service; part of every answer. Null: where the caller asked. */
  readonly serviceUrl: string | null;
  readonly cache: Cache;
  readonly clock: Clock;
  readonly log: Log;
  /** For the secrets that the policy names. */
  readonly readVariable?: ReadVariable | undefined;
  /** Left out: nothing is counted. */
  readonly metrics?: GatewayMetrics | undefined;
  /** Left out: none. */
  readonly limits?: Omit<LimitsOptions, 'scope' | 'clock' | 'log'> | undefined;
  /** Milliseconds that every answered token lives at least; left out: a fifth of its expiry. */
  readonly minimumLifeMs?: number | undefined;
  /** Bytes of the decisions that are kept (kept.ts); 1: none is. Left out: as many as sessions are remembered. */
  readonly keptBytes?: number | undefined;
};

const identityOf = (options: GatewayOptions, { guards }: Limits): Identity =>
  options.identify === undefined ? createIdentity({ ...options, guard: guards.session }) : createHostIdentity(options);

type Keyed = { readonly keyId: string };

const limitsOf = ({ limits, clock, log }: GatewayOptions, scope: string): Limits =>
  limits === undefined ? noLimits : createLimits({ ...limits, scope, clock, log });

const openTenants = ({ clock, log, readVariable, policies }: GatewayOptions): Tenants => {
  const tenants = createTenants({ clock, log, readVariable });
  tenants.open(policies.current());
  policies.subscribe({
    prepare: (next) => assertTenantSecret(next, readVariable),
    changed: async (next) => tenants.open(next),
  });
  return tenants;
};

/** What is made for tenants, and taken from them. */
const createMaking = (options: GatewayOptions, { keyId }: Keyed) => {
  const { ledger, clock } = options;
  const { transport, apiKey, baseUrl, resilience, capabilities = fixedCapabilities([]) } = options.upstream;
  const direct = createUpstream(transport, apiKey, { resilience, metrics: options.metrics });
  const revocation = createRevocationParts(options, direct, capabilities);
  const tenancy = createTenantParts({
    ...options,
    revocation,
    upstream: direct,
    requireCapability: capabilities.requireCapability,
    hooks: options.hooks ?? { secrets: [], toleranceSeconds: 300 },
  });
  const { upstream } = tenancy;
  const versions = createTemplateVersions({ ledger, upstream, clock, capabilities });
  const keepVersion = versions.keep;
  const provision = createProvision({ ...options, upstream, baseUrl, keyId, capabilities, keepVersion });
  const rollout = createRolloutCommands({ ...options, upstream, versions, capabilities });
  const life = (memory: readonly ForgetClient[]) =>
    tenancy.lifeOf(provision, [createMemoryEraser(memory), provision.eraser, rollout.eraser, auditEraser(ledger)]);
  const listing = [tenantsListCommand(ledger), tenantsProvisionCommand({ ...options, provision })];
  const revoking = revocationCommands(revocation.revocations, options.policies);
  return {
    ...tenancy,
    revocation,
    provision,
    life,
    takeOverRollouts: rollout.takeOver,
    checkApiKey: createApiKeyCheck(direct),
    commands: [...listing, ...rollout.commands, ...revoking],
  };
};

const openKept = ({ policies, keptBytes }: GatewayOptions): Kept => {
  const kept = createKept(keptBytes);
  policies.subscribe({ changed: async () => kept.clear() });
  return kept;
};

const createChecks = (ledger: Ledger, assertReady: Check['run'], checkApiKey: Check['run']): readonly Check[] => [
  { name: 'ledger', run: assertReady },
  { name: 'ledger-writes', run: () => assertLedgerWritable(ledger) },
  { name: 'api-key', run: checkApiKey },
];

/** The parts of one gateway. */
const createParts = (options: GatewayOptions): Parts => {
  const { policies, clock, ledger } = options;
  const keyId = hash('sha256', options.upstream.apiKey, 'hex');
  const making = createMaking(options, { keyId });
  const { upstream, provision, standing, revocation } = making;
  const tenants = openTenants(options);
  const limits = limitsOf(options, keyId);
  const [metricLists, findEmbeds] = [createMetricLists({ upstream, clock }), createFindEmbeds({ upstream, clock })];
  const decide = createPolicyStep(clock);
  const tokens = createTokens(options, { ...making, metricLists, keyId, tenantOf: tenants.of, decide });
  const kept = openKept(options);
  const steps: SessionSteps = {
    identity: identityOf(options, limits),
    limits,
    policies,
    tenant: tenants.inForce,
    standing: allStandings([createSessionStanding(revocation), standing.assert]),
    kept,
    policy: decide,
    provision,
    embeds: findEmbeds,
    token: tokens.token,
    remember: tokens.remember,
    serviceUrl: createServiceUrl(options.serviceUrl),
  };
  const explain = createPolicyExplainCommand({
    ...{ policies, tenantOf: tenants.of, findEmbeds, clock },
    listMetrics: currentLists(metricLists),
    loadRequest: (requestId) => loadLoggedRequest(ledger, requestId),
  });
  const memories = [kept, tenants, metricLists, standing, revocation.scopes, tokens].map(({ forget }) => forget);
  const life = making.life(memories);
  const finish = [revocation.revocations.retry, life.finishOwed, making.takeOverRollouts];
  const takeover = createTakeover({ ...options, finish });
  const assertReady = async (): Promise<void> => void (await revocation.epochs.latest());
  return {
    steps,
    answerHook: guardHooks(life.answerHook, limits.guards.hook),
    guards: limits.guards,
    commands: [...auditCommands(ledger), explain, policyReload(policies), ...making.commands, ...life.commands],
    assertReady,
    checks: createChecks(ledger, assertReady, making.checkApiKey),
    close: () => takeover.close().then(revocation.close),
  };
};

/** The gateway, ready to be called or mounted. Throws TypeError for options that could not work. */
export const createGateway = (options: GatewayOptions): Gateway => {
  assertOrigins(options);
  return createRouter(createParts(options), options);
};
