/**
 * The composition of one gateway: `openGateway` opens what it keeps (ledger, audit, policies), `composeGateway` builds its
 * steps straight down, each once. The product and the library use it; it decides nothing about a request.
 */
import { hash, randomUUID } from 'node:crypto';
import type { Call } from '../contract/client.js';
import type { Clock } from '../domain/ports.js';
import { forgetExplanations } from '../gateway/audit/append.js';
import type { Audit, AuditEvent } from '../gateway/audit/audit.js';
import { auditCommands, auditEraser, keepPolicyText } from '../gateway/audit/commands.js';
import { type AuditLog, createAudit } from '../gateway/audit/writer.js';
import { assertOrigins, type Origins } from '../gateway/authenticate/credential.js';
import { createHostIdentity, type HostIdentityOptions } from '../gateway/authenticate/host-session.js';
import { createLimits, type Limits, type LimitsOptions, noLimits } from '../gateway/authenticate/limits.js';
import { createIdentity } from '../gateway/authenticate/signed-session.js';
import { createMemoryEraser, type Eraser, type ForgetClient } from '../gateway/common/eraser.js';
import type { GatewayMetrics } from '../gateway/common/metrics.js';
import { createDecisionCache, type DecisionCache } from '../gateway/decision-cache.js';
import type { EmbedTokenSteps } from '../gateway/embed-token.js';
import { createErasure } from '../gateway/erase/erasure.js';
import { createRevocationEraser, createTenantRevocation } from '../gateway/erase/revocation.js';
import { createUpstreamEraser } from '../gateway/erase/upstream.js';
import { createDeliveries } from '../gateway/hooks/deliveries.js';
import { createHooks, guardHooks } from '../gateway/hooks/hooks.js';
import { createServiceUrl } from '../gateway/http/service-url.js';
import { createTenantLeases, leaseUpstream } from '../gateway/lease/tenant-lease.js';
import { createTenantLock } from '../gateway/lease/tenant-lock.js';
import { assertLedgerWritable, type Ledger, type LedgerTables, openLedger } from '../gateway/ledger/ledger.js';
import { createPolicyTokens } from '../gateway/ledger/policy-tokens.js';
import { createTakeover } from '../gateway/ledger/takeover.js';
import { allAccessChecks, createSessionAccess, createTenantAccess } from '../gateway/lifecycle/access.js';
import { createTenantCommands } from '../gateway/lifecycle/commands.js';
import { createLifecycle } from '../gateway/lifecycle/lifecycle.js';
import { createPolicyStep } from '../gateway/policy/decide.js';
import { type Policies, policyReload } from '../gateway/policy/policies.js';
import type { Policy } from '../gateway/policy/policy.js';
import { watchPolicies } from '../gateway/policy/watch.js';
import { tenantsProvisionCommand } from '../gateway/provision/commands.js';
import { createProvision } from '../gateway/provision/provision.js';
import { tenantsListCommand } from '../gateway/provision/tenants-list.js';
import { revocationCommands } from '../gateway/revocation/commands.js';
import { createEpochs } from '../gateway/revocation/epochs.js';
import { createRevocations, type Revocations } from '../gateway/revocation/revocations.js';
import { createScopes } from '../gateway/revocation/scopes.js';
import { createServiceTokens } from '../gateway/revocation/service-tokens.js';
import { createRolloutCommands } from '../gateway/rollout/commands.js';
import { createTemplateVersions } from '../gateway/rollout/template-versions.js';
import { createRouter, type Gateway, type GatewayHandlers } from '../gateway/router.js';
import { createTenantRecords } from '../gateway/tenant/records.js';
import { assertTenantSecret, createTenants, type SecretSource, type Tenants } from '../gateway/tenant/resolve.js';
import { createTokenCache, type TokenCache } from '../gateway/token/cache.js';
import { createFindEmbeds } from '../gateway/token/granted-embeds.js';
import { createMetricLists, currentLists } from '../gateway/token/metric-lists.js';
import { createRevokeUngranted, type Revoke, type RevokeUngranted } from '../gateway/token/revoke-ungranted.js';
import { createConfirmedToken, createTokenStep, Outdated, tokenKeysOf } from '../gateway/token/token.js';
import { type Capabilities, fixedCapabilities } from '../gateway/upstream/capabilities.js';
import { isRefusedByUpstream, unavailable } from '../gateway/upstream/unavailable.js';
import { createApiKeyCheck, createUpstream, type GatewayUpstream } from '../gateway/upstream/upstream.js';
import type { Cache } from '../platform/cache.js';
import type { Database } from '../platform/database.js';
import type { JwtIssuer } from '../platform/jwt.js';
import type { Log } from '../platform/log.js';
import { repeat } from '../platform/repeat.js';
import { createLocalSharing } from '../platform/sharing.js';
import { systemTiming } from '../platform/timing.js';
import { createPolicyExplainCommand, loadLoggedRequest } from '../policy-tools/explain-command.js';

/** Sessions are signed tokens. */
export type SignedSessions = {
  readonly issuers: readonly JwtIssuer[];
  /** The host's session cookie that holds the JWT; null: only `Authorization: Bearer` is read. */
  readonly cookieName: string | null;
  readonly identify?: undefined;
};

/** The gateway is mounted in the host application's process, which says who is logged in. */
export type HostSessions = Pick<HostIdentityOptions, 'identify' | 'identifyTimeoutMs'> & {
  readonly issuers?: undefined;
};

/** No host may send hooks. */
const noHooks: HookSettings = { secrets: [], toleranceSeconds: 0 };

export type HookSettings = {
  /** Any of them may sign. Empty: hooks are off. */
  readonly secrets: readonly string[];
  readonly toleranceSeconds: number;
};

type CommonOptions = Origins & {
  /** Left out: hooks are off. */
  readonly hooks?: HookSettings | undefined;
  readonly policies: Policies;
  readonly ledger: Ledger;
  readonly audit: Audit;
  /** The Bearer token of operators at `/gateway/admin`; null: nobody may enter. */
  readonly gatewayToken: string | null;
  /** Whether only the router `admin` serves `/gateway/admin`; false where left out. */
  readonly isAdminApart?: boolean;
  readonly upstream: GatewayUpstream;
  /** Where the elements reach the service; part of every answer. Null: at the address that the caller used. */
  readonly serviceUrl: string | null;
  readonly cache: Cache;
  readonly clock: Clock;
  readonly log: Log;
  /** Reads the secrets that the policy names. */
  readonly readVariable?: SecretSource['readVariable'];
  /** Whether such a secret must be hard to guess, as in production. Left out: false. */
  readonly strongSecrets?: SecretSource['strongSecrets'];
  /** Left out: nothing is counted. */
  readonly metrics?: GatewayMetrics | undefined;
  /** Left out: no limits. */
  readonly limits?: Omit<LimitsOptions, 'scope' | 'clock' | 'log'> | undefined;
  /** Milliseconds for which every answered token stays valid at least; left out: a fifth of its expiry. */
  readonly minimumLifeMs?: number | undefined;
  /** Bytes of the decision cache; 1: nothing is cached. Left out: room for as many decisions as sessions are remembered. */
  readonly decisionCacheBytes?: number | undefined;
};

export type GatewayOptions = (SignedSessions | HostSessions) & CommonOptions;

export type OpenedGateway = { readonly router: Gateway; readonly close: () => Promise<void> };

/** `openGateway` opens ledger, audit and policies itself. */
export type OpenGatewayOptions = (SignedSessions | HostSessions) &
  Omit<CommonOptions, 'ledger' | 'audit' | 'policies'> & {
    readonly database: Database;
    /** Path of the policy file. */
    readonly policyPath: string;
    /** Days for which the decision of a request is kept for `policy explain --request`. */
    readonly explanationDays: number;
    /** Audit entries to write before any other. */
    readonly firstEvents?: readonly AuditEvent[];
  };

/** Rejects if the policy, the options or the database could not work. */
export const openGateway = async (options: OpenGatewayOptions): Promise<OpenedGateway> => {
  const { database, clock, log, metrics } = options;
  const ledger = await openLedger(database.connect<LedgerTables>(), database.kind === 'postgres');
  const audit: AuditLog = createAudit({ ledger, clock, log, metrics });
  const keep = (policy: Policy) => keepPolicyText(ledger, policy, clock.now());
  const begin = async () => {
    for (const event of options.firstEvents ?? []) await audit.record(event);
    return watchPolicies(options.policyPath, { audit, log, keep, metrics });
  };
  const policies = await begin().catch(async (error: unknown) => {
    await audit.close();
    throw error;
  });
  const stopForgetting = startForgettingExplanations(ledger, options);
  const router = composeGateway({ ...options, ledger, audit, policies });
  const closeRouter = router.close;
  return {
    router,
    close: async () => {
      policies.close();
      await closeRouter();
      await stopForgetting();
      await audit.close();
    },
  };
};

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** Removes old explanations now and every hour. The returned function stops that and waits for a running removal. */
const startForgettingExplanations = (
  ledger: Ledger,
  { clock, log, explanationDays }: OpenGatewayOptions,
): (() => Promise<void>) => {
  const forget = async (): Promise<void> => {
    try {
      await forgetExplanations(ledger, new Date(clock.now().getTime() - explanationDays * dayMs));
    } catch (err) {
      log.warn({ event: 'explanation.purge_failed', err }, 'failed to remove old explanations; retrying in an hour');
    }
  };
  let running = forget();
  const timer = setInterval(() => {
    running = running.then(forget);
  }, hourMs);
  timer.unref();
  return () => {
    clearInterval(timer);
    return running;
  };
};

/** Builds the gateway's router, ready to be called or mounted. Throws TypeError for options that could not work. */
export const composeGateway = (options: GatewayOptions): Gateway => {
  assertOrigins(options);
  return createRouter(createHandlers(options), options);
};

/** Builds everything, in the order of dependence. The policy tells its subscribers of a change in the same order. */
export const createHandlers = (options: GatewayOptions): GatewayHandlers => {
  const { policies, ledger, clock, log } = options;
  // Names the API key in the keys of cached tokens and of counters.
  const keyId = hash('sha256', options.upstream.apiKey, 'hex');
  const limits =
    options.limits === undefined ? noLimits : createLimits({ ...options.limits, scope: keyId, clock, log });
  const foundation = createFoundation(options);
  const provisioning = createProvisioning(options, foundation, keyId);
  const deciding = createDeciding(options, foundation);
  const tokens = createTokens(options, { foundation, provisioning, deciding, keyId });
  const decisionCache = openDecisionCache(options);
  const { revocation, access } = foundation;
  const { tenants, metricLists } = deciding;
  const memories = [decisionCache, tenants, metricLists, access, revocation.scopes, tokens].map(({ forget }) => forget);
  const life = createTenantLife(options, foundation, provisioning, memories);
  const finish = [revocation.revocations.retry, life.finishOwed, provisioning.rollout.takeOver];
  const takeover = createTakeover({ ...options, finish });
  return {
    steps: createSteps(options, { limits, foundation, provisioning, deciding, tokens, decisionCache }),
    answerHook: guardHooks(life.answerHook, limits.guards.hook),
    guards: limits.guards,
    commands: [
      ...auditCommands(ledger),
      createExplain(options, deciding),
      policyReload(policies),
      ...provisioning.commands,
      ...revocationCommands(revocation.revocations, policies),
      ...life.commands,
    ],
    assertReady: foundation.assertReady,
    checks: [
      { name: 'ledger', run: foundation.assertReady },
      { name: 'ledger-writes', run: () => assertLedgerWritable(ledger) },
      { name: 'api-key', run: createApiKeyCheck(foundation.direct) },
    ],
    close: () => takeover.close().then(revocation.close),
  };
};

/** The upstream, revocation, and what is known of tenants: everything else builds on these. */
const createFoundation = (options: GatewayOptions) => {
  const { ledger, clock, metrics } = options;
  const { transport, apiKey, resilience, capabilities = fixedCapabilities([]) } = options.upstream;
  const direct = createUpstream(transport, apiKey, { resilience, metrics });
  const revocation = createRevocation(options, direct, capabilities);
  const tenantRecords = createTenantRecords(ledger, clock);
  const leases = createTenantLeases(ledger, clock);
  return {
    capabilities,
    revocation,
    tenantRecords,
    leases,
    access: createTenantAccess({ ...revocation, tenants: tenantRecords }),
    /** Calls the service as the gateway itself: revocation and erasure use it. */
    direct,
    /** Makes nothing for a tenant that is suspended or deleted. */
    upstream: leaseUpstream(direct, leases),
    assertReady: async (): Promise<void> => void (await revocation.epochs.latest()),
  };
};

type Foundation = ReturnType<typeof createFoundation>;

const revocationRetryMs = 2_000;

/** Knows what was revoked, revokes, and retries what the service could not be told. */
const createRevocation = (options: GatewayOptions, upstream: Call, capabilities: Capabilities) => {
  const { ledger, log, cache } = options;
  const sharing = cache.sharing ?? createLocalSharing(cache);
  const scopes = createScopes(ledger);
  const epochs = createEpochs({ ledger, sharing, log });
  options.metrics?.watch('epochsAgeMs', epochs.ageMs);
  const tokens = createServiceTokens({ upstream, requireCapability: capabilities.requireCapability, log });
  const revocations = createRevocations({ ...options, epochs, scopes, tokens });
  const stopRetrying = repeat(systemTiming, revocationRetryMs, () =>
    revocations.retry().then(
      () => {},
      (err: unknown) => log.warn({ event: 'revocation.retry_failed', err }, 'failed to retry pending revocations'),
    ),
  );
  const close = async (): Promise<void> => {
    stopRetrying();
    epochs.close();
  };
  return { sharing, scopes, epochs, discard: tokens.discard, revocations, close };
};

/** Makes dashboards for tenants from templates, and rolls out changed templates. */
const createProvisioning = (options: GatewayOptions, { upstream, capabilities }: Foundation, keyId: string) => {
  const { ledger, clock } = options;
  const versions = createTemplateVersions({ ledger, upstream, clock, capabilities });
  const provision = createProvision({
    ...options,
    upstream,
    baseUrl: options.upstream.baseUrl,
    keyId,
    capabilities,
    keepVersion: versions.keep,
  });
  const rollout = createRolloutCommands({ ...options, upstream, versions, capabilities });
  const listing = [tenantsListCommand(ledger), tenantsProvisionCommand({ ...options, provision })];
  return { provision, rollout, commands: [...listing, ...rollout.commands] };
};

type Provisioning = ReturnType<typeof createProvisioning>;

/** Decides what a session may see: its tenant, its grant by the policy, and the embeds and metrics of the grant. */
const createDeciding = (options: GatewayOptions, { upstream }: Foundation) => {
  const { clock } = options;
  return {
    tenants: openTenants(options),
    decide: createPolicyStep(clock),
    findEmbeds: createFindEmbeds({ upstream, clock }),
    metricLists: createMetricLists({ upstream, clock }),
  };
};

type Deciding = ReturnType<typeof createDeciding>;

const openTenants = ({ clock, log, readVariable, strongSecrets, policies }: GatewayOptions): Tenants => {
  const tenants = createTenants({ clock, log, readVariable, strongSecrets });
  tenants.open(policies.current());
  policies.subscribe({
    prepare: (next) => assertTenantSecret(next, { readVariable, strongSecrets }),
    changed: async (next) => tenants.open(next),
  });
  return tenants;
};

type TokenParts = {
  readonly foundation: Foundation;
  readonly provisioning: Provisioning;
  readonly deciding: Deciding;
  readonly keyId: string;
};

type Tokens = Pick<EmbedTokenSteps, 'token' | 'remember'> & { readonly forget: ForgetClient };

/** Finds or mints tokens, and ends the tokens that a changed policy no longer grants. */
const createTokens = (options: GatewayOptions, parts: TokenParts): Tokens => {
  const { foundation, provisioning } = parts;
  const { sharing } = foundation.revocation;
  const cache = createTokenCache({ sharing, apiKey: options.upstream.apiKey, clock: options.clock });
  const findToken = createFindToken(options, parts, cache);
  const ungranted = startRevokingUngranted(options, parts);
  return {
    token: async (of, policy, audit) => {
      await ungranted.expectMint(policy, of.grant.expiryMs);
      try {
        return await findToken({ ...of, dataApp: policy.dataApp }, policy, audit);
      } catch (error) {
        // The service may have lost a dashboard that was verified earlier: verify again at the next request.
        if (isRefusedByUpstream(error)) await provisioning.provision.forget(of.dashboards, of.clientId);
        throw error;
      }
    },
    remember: ({ token, expiresAtMs }, live, policy) => {
      ungranted.remember(token, { ...live, expiresAtMs });
      if (options.policies.current() !== policy) throw new Outdated('the policy has changed');
    },
    forget: (clientId) => cache.forget(tokenKeysOf(clientId)) + ungranted.forgetClient(clientId),
  };
};

const createFindToken = (options: GatewayOptions, { foundation, deciding, keyId }: TokenParts, cache: TokenCache) =>
  createConfirmedToken({
    listMetrics: deciding.metricLists,
    upstream: foundation.upstream,
    tokenStep: (mintWith) =>
      createTokenStep({
        upstream: mintWith,
        baseUrl: options.upstream.baseUrl,
        keyId,
        ...foundation.revocation,
        generationOf: foundation.access.generationOf,
        withLease: foundation.leases.withLease,
        cache,
        clock: options.clock,
        minimumLifeMs: options.minimumLifeMs,
      }),
  });

/** Follows the policy from now on. */
const startRevokingUngranted = (options: GatewayOptions, { foundation, deciding }: TokenParts): RevokeUngranted => {
  const { policies, ledger, clock, log } = options;
  const { tenants, decide } = deciding;
  const policyTokens = createPolicyTokens(ledger, randomUUID());
  const revoke = revokeThrough(foundation.revocation.revocations);
  const ungranted = createRevokeUngranted({ revoke, tenantOf: tenants.of, decide, policyTokens, clock, log });
  policies.subscribe({ changed: ungranted.policyChanged });
  ungranted
    .revokeLeftovers(policies.current())
    .catch((err: unknown) =>
      log.error(
        { event: 'token.check_failed', err },
        'failed to check for tokens issued under an earlier policy; retrying before the next mint',
      ),
    );
  return ungranted;
};

/** Through a revocation: it is kept in the ledger until the service could be told. The users stay logged in. */
const revokeThrough =
  ({ revoke }: Pick<Revocations, 'revoke'>): Revoke =>
  async (what) => {
    const options = { reason: 'the policy changed', keepsSessions: true };
    if (what.kind === 'policy') await revoke({ by: 'all' }, options);
    else await revoke({ by: 'user', userIdentifier: what.userIdentifier, clientId: what.clientId }, options);
  };

/** The decision cache; a changed policy clears it. */
const openDecisionCache = ({ policies, decisionCacheBytes }: GatewayOptions): DecisionCache => {
  const cache = createDecisionCache(decisionCacheBytes);
  policies.subscribe({ changed: async () => cache.clear() });
  return cache;
};

type StepParts = Omit<TokenParts, 'keyId'> & {
  readonly limits: Limits;
  readonly tokens: Tokens;
  readonly decisionCache: DecisionCache;
};

/** The steps of `POST /embed-token`; gateway/embed-token.ts calls them in sequence. */
const createSteps = (
  options: GatewayOptions,
  { limits, foundation, provisioning, deciding, tokens, decisionCache }: StepParts,
): EmbedTokenSteps => ({
  identity:
    options.identify === undefined
      ? createIdentity({ ...options, guard: limits.guards.session })
      : createHostIdentity(options),
  limits,
  policies: options.policies,
  tenant: deciding.tenants.inForce,
  access: allAccessChecks([createSessionAccess(foundation.revocation), foundation.access.assert]),
  decisionCache,
  policy: deciding.decide,
  provision: provisioning.provision,
  embeds: deciding.findEmbeds,
  token: tokens.token,
  remember: tokens.remember,
  serviceUrl: createServiceUrl(options.serviceUrl),
});

const createExplain = ({ policies, ledger, clock }: GatewayOptions, { tenants, findEmbeds, metricLists }: Deciding) =>
  createPolicyExplainCommand({
    policies,
    tenantOf: tenants.of,
    findEmbeds,
    clock,
    listMetrics: currentLists(metricLists),
    loadRequest: (requestId) => loadLoggedRequest(ledger, requestId),
  });

/** What the host's hooks and operators do to a tenant: sign-up, suspension, deletion and erasure. `memories` forget one tenant in this process. */
const createTenantLife = (
  options: GatewayOptions,
  { revocation, tenantRecords, leases, direct, capabilities }: Foundation,
  { provision, rollout }: Provisioning,
  memories: readonly ForgetClient[],
) => {
  const { ledger, clock, cache, hooks = noHooks } = options;
  const { requireCapability } = capabilities;
  const tokens = createTenantRevocation(revocation.revocations);
  // In this order: tokens end before the dashboards that they open are deleted, and the audit is erased last.
  const erasers = [
    createRevocationEraser(ledger, tokens),
    createUpstreamEraser({ upstream: direct, requireCapability }),
    createCacheEraser(cache),
    createMemoryEraser(memories),
    provision.eraser,
    rollout.eraser,
    auditEraser(ledger),
  ];
  const erasure = createErasure({ ledger, erasers, leases, clock });
  const lifecycle = createLifecycle({
    ...options,
    tenants: tenantRecords,
    withTenantLock: createTenantLock(ledger),
    erasure,
    tokens,
    provision,
    publishEpochs: revocation.epochs.publish,
  });
  return {
    answerHook: createHooks({ ...options, ...hooks, deliveries: createDeliveries(ledger, clock), lifecycle }),
    commands: createTenantCommands({ ...options, tenants: tenantRecords, lifecycle, erasure }),
    finishOwed: lifecycle.finishErasures,
  };
};

const createCacheEraser = (cache: Cache): Eraser => ({
  where: 'token cache',
  erase: async ({ clientId }) => {
    try {
      return { erased: { tokens: await cache.deleteByPrefix(tokenKeysOf(clientId)) } };
    } catch (error) {
      throw unavailable('cache-not-reachable', error);
    }
  },
});
