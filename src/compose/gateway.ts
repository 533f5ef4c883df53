/**
 * Composes one gateway over its ledger, audit and policies: builds its steps, each once and in order of dependence. No
 * code here decides about a request.
 */
import { hash, randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Audit } from '../gateway/audit/audit.js';
import { auditCommands, auditEraser } from '../gateway/audit/commands.js';
import { type AskedIssuer, createAskedSessions } from '../gateway/authenticate/asked-session.js';
import { assertOrigins, type Origins } from '../gateway/authenticate/credential.js';
import { embedFacts } from '../gateway/authenticate/embed-facts.js';
import { createHostIdentity, type HostIdentityOptions } from '../gateway/authenticate/host-session.js';
import { createLimits, type Limits, type LimitsOptions, noLimits } from '../gateway/authenticate/limits.js';
import { createIdentity, type Identity } from '../gateway/authenticate/signed-session.js';
import type { AdminCommand } from '../gateway/common/admin-command.js';
import { createMemoryEraser, type Eraser, type ForgetClient } from '../gateway/common/eraser.js';
import type { GatewayMeters } from '../gateway/common/meters.js';
import { createDecisionCache, type DecisionCache } from '../gateway/decision-cache.js';
import type { EmbedTokenSteps } from '../gateway/embed-token.js';
import { createErasure } from '../gateway/erase/erasure.js';
import { createRevocationEraser, createTenantRevocation } from '../gateway/erase/revocation.js';
import { createUpstreamEraser } from '../gateway/erase/upstream.js';
import { createDeliveries } from '../gateway/hooks/deliveries.js';
import { createHooks, type HooksOptions } from '../gateway/hooks/hooks.js';
import { createProviderHooks } from '../gateway/hooks/providers/handle.js';
import { createServiceUrl } from '../gateway/http/service-url.js';
import { createTenantLeases, leaseUpstream } from '../gateway/lease/tenant-lease.js';
import { createTenantLock } from '../gateway/lease/tenant-lock.js';
import { assertLedgerWritable, type Ledger } from '../gateway/ledger/ledger.js';
import { createPolicyTokens } from '../gateway/ledger/policy-tokens.js';
import { createTakeover, type FinishWork } from '../gateway/ledger/takeover.js';
import { allAccessChecks, createSessionAccess, createTenantAccess } from '../gateway/lifecycle/access.js';
import { createTenantCommands } from '../gateway/lifecycle/commands.js';
import { createLifecycle } from '../gateway/lifecycle/lifecycle.js';
import { createPolicyStep } from '../gateway/policy/decide.js';
import { type Policies, policyRead, policyReload } from '../gateway/policy/policies.js';
import { createReachOf, type PolicyMayRead, type ReachOf } from '../gateway/policy/reach.js';
import { PolicyFaults } from '../gateway/policy/source.js';
import { policyNamesCommand, startNameCheck } from '../gateway/policy-names/name-check.js';
import { policyAccessCommand } from '../gateway/policy-tools/access-command.js';
import { createCheckCards } from '../gateway/policy-tools/cards.js';
import { createCardsCommand } from '../gateway/policy-tools/cards-command.js';
import { policyDraftCommands } from '../gateway/policy-tools/draft-commands.js';
import { createPolicyExplainCommand, loadLoggedRequest } from '../gateway/policy-tools/explain-command.js';
import { tenantsProvisionCommand } from '../gateway/provision/commands.js';
import { createProvision } from '../gateway/provision/provision.js';
import { createResumeProvisioning } from '../gateway/provision/resume.js';
import { tenantsListCommand } from '../gateway/provision/tenants-list.js';
import { createRecipients, noteNothing, type Recipients, type RecipientsOptions } from '../gateway/recipients.js';
import { holdCommands } from '../gateway/retention/commands.js';
import { createHolds } from '../gateway/retention/holds.js';
import { type KnownIssuers, revocationCommands } from '../gateway/revocation/commands.js';
import { createEpochs } from '../gateway/revocation/epochs.js';
import { createRevocations, type Revocations } from '../gateway/revocation/revocations.js';
import { createScopes } from '../gateway/revocation/scopes.js';
import { createServiceTokens } from '../gateway/revocation/service-tokens.js';
import { createRolloutCommands } from '../gateway/rollout/commands.js';
import { createRolloutLedger } from '../gateway/rollout/ledger.js';
import { createBringToPublished } from '../gateway/rollout/published.js';
import { createTemplateVersions } from '../gateway/rollout/template-versions.js';
import { createRouter, type Gateway, type GatewayHandlers } from '../gateway/router.js';
import { createKnownTenants } from '../gateway/tenant/known.js';
import { createTenantNames } from '../gateway/tenant/names.js';
import { createTenantRecords } from '../gateway/tenant/records.js';
import { assertTenantSecret, createTenants, type SecretSource, type Tenants } from '../gateway/tenant/resolve.js';
import { createTokenCache, type TokenCache } from '../gateway/token/cache.js';
import { createFindEmbeds } from '../gateway/token/granted-embeds.js';
import { createMetricLists, currentLists } from '../gateway/token/metric-lists.js';
import { createRevokeUngranted, type Revoke, type RevokeUngranted } from '../gateway/token/revoke-ungranted.js';
import { createConfirmedToken, createIsAlive, createTokenStep, Outdated, tokenKeysOf } from '../gateway/token/token.js';
import { createCountUnfinished } from '../gateway/unfinished-work.js';
import { type Capabilities, fixedCapabilities } from '../gateway/upstream/capabilities.js';
import { type CountLogin, createLoginReports } from '../gateway/upstream/logins.js';
import { isRefusedByUpstream, unavailable } from '../gateway/upstream/unavailable.js';
import { createApiKeyCheck, createUpstream, type GatewayUpstream } from '../gateway/upstream/upstream.js';
import { viewersCommand } from '../gateway/viewers.js';
import type { Clock } from '../model/ports.js';
import type { RunningWork } from '../model/query/running.js';
import type { Cache } from '../platform/caches/cache.js';
import { createJwks } from '../platform/calls/jwks.js';
import type { HookProvider } from '../platform/config/hook-providers.js';
import type { Call, Transport } from '../platform/http/interface/client.js';
import type { ArchiveKeys } from '../platform/keys/archive-keys.js';
import type { JwtIssuer } from '../platform/keys/jwt.js';
import type { Log } from '../platform/logs/log.js';
import type { Check } from '../platform/logs/readiness.js';
import { createLocalSharing } from '../platform/redis/sharing.js';
import { type Closers, createClosers } from '../platform/work/close-all.js';
import { repeat, systemTiming } from '../platform/work/time.js';

/** Sessions are signed tokens, or opaque ones that the host is asked for. */
export type SignedSessions = {
  readonly issuers: readonly JwtIssuer[];
  /** Left out: there are no opaque sessions. */
  readonly askedIssuers?: readonly AskedIssuer[] | undefined;
  /** Name of the host's session cookie with the JWT; null: only `Authorization: Bearer` is read. */
  readonly cookieName: string | null;
  readonly identify?: undefined;
};

/** The gateway is mounted in the host application's process, which identifies the user. */
export type HostSessions = Pick<HostIdentityOptions, 'identify' | 'identifyTimeoutMs'> & {
  readonly issuers?: undefined;
  readonly askedIssuers?: undefined;
};

/** Hooks are off: no secret is valid. */
const noHooks: HookSettings = { secrets: [], toleranceSeconds: 0 };

export type HookSettings = {
  /** Secrets that may sign hooks. Empty: hooks are off. */
  readonly secrets: readonly string[];
  readonly toleranceSeconds: number;
  /** Providers whose webhooks are accepted, with their secrets. Left out: none. */
  readonly providers?: readonly HookProvider[];
};

export type CommonOptions = Origins & {
  /** Left out: hooks are off. */
  readonly hooks?: HookSettings | undefined;
  readonly policies: Policies;
  readonly ledger: Ledger;
  readonly audit: Audit;
  /** The operators' Bearer token for `/gateway/admin`; null: all requests there are refused. */
  readonly gatewayToken: string | null;
  /** True: only the router `admin` serves `/gateway/admin`. Default: false. */
  readonly isAdminApart?: boolean;
  readonly upstream: GatewayUpstream;
  /** The same for all replicas of this gateway, and another one for other gateways of the service. Left out: the ledger's. */
  readonly deploymentId?: string | undefined;
  /** The service's URL for the elements; part of every answer. Null: the address that the caller used. */
  readonly serviceUrl: string | null;
  readonly cache: Cache;
  readonly clock: Clock;
  /** The time of the ledger's database, for leases and due moments. Default: `clock`. */
  readonly commonClock?: Clock | undefined;
  readonly log: Log;
  /** Reads the secrets that the policy names. */
  readonly readVariable?: SecretSource['readVariable'];
  /** Whether these secrets must be hard to guess, as in production. Default: false. */
  readonly strongSecrets?: SecretSource['strongSecrets'];
  /** Left out: nothing is measured. */
  readonly meters?: GatewayMeters | undefined;
  /** Left out: no limits apply. */
  readonly limits?: Omit<LimitsOptions, 'scope' | 'clock' | 'log'> | undefined;
  /** Minimum milliseconds for which every answered token is still valid. Default: a fifth of its expiry. */
  readonly minimumLifeMs?: number | undefined;
  /** Whether the policy's names are checked against the service in the background. Default: false. */
  readonly isCheckingNames?: boolean | undefined;
  /** What the policy may read besides its own files. Left out: everything that it names. */
  readonly policyMayRead?: PolicyMayRead | undefined;
  /** Whether the command `policy-save` writes the policy file. Default: false. */
  readonly savesPolicy?: boolean | undefined;
  /** Commands of other parts of the product, which the operators' path serves too. */
  readonly commands?: readonly AdminCommand[] | undefined;
  /** The keys of archived segments of the audit. Left out: there are none. */
  readonly archiveKeys?: ArchiveKeys | undefined;
  /** Lists what runs in this process. Left out: nothing is listed. */
  readonly running?: Pick<RunningWork, 'during'> | undefined;
  /** Keeps the last session of each user, for reports. Left out: none is kept. */
  readonly recipients?: Pick<RecipientsOptions, 'sealer' | 'keepDays'> | undefined;
  /** Maximum bytes of the decision cache; 1 disables it. Default: enough for the decisions of all cached sessions. */
  readonly decisionCacheBytes?: number | undefined;
};

export type GatewayOptions = (SignedSessions | HostSessions) & CommonOptions;

/**
 * Builds the gateway's router, ready to be called or mounted. Throws TypeError for invalid options; then `closers` ends
 * the background work that was already started.
 */
export const composeGateway = (options: GatewayOptions, closers: Closers = createClosers()): Gateway => {
  assertOrigins(options);
  return createRouter(createHandlers(options, closers), options);
};

const fixApiKey =
  'The service refuses the API key of this gateway (GUESTLIST_API_KEY). Make a key of the data app that the policy names with POST /api/v2/data-app/api-tokens at the service, set it, and restart the gateway.';

/** An issuer without a name accepts every name. In the host's process, the host says who the user is. */
const knownIssuers = ({ issuers, askedIssuers = [] }: GatewayOptions): KnownIssuers => {
  const names = [...(issuers ?? []), ...askedIssuers].map(({ issuer }) => issuer);
  const named = names.filter((name) => name !== null && name !== undefined);
  return issuers === undefined || named.length < names.length ? null : named;
};

/** Builds everything, in order of dependence. Subscribers of the policy are called in the same order. */
const createHandlers = (options: GatewayOptions, closers: Closers): GatewayHandlers => {
  const { policies, ledger, clock, log } = options;
  // Identifies the API key in the keys of cached tokens and counters, without containing it.
  const keyId = hash('sha256', options.upstream.apiKey, 'hex');
  const limits =
    options.limits === undefined ? noLimits : createLimits({ ...options.limits, scope: keyId, clock, log });
  const foundation = createFoundation(options, closers);
  const provisioning = createProvisioning(options, foundation, keyId);
  const deciding = createDeciding(options, foundation);
  const tokens = createTokens(options, { foundation, provisioning, deciding, keyId });
  const decisionCache = openDecisionCache(options);
  const { revocation, access, knownTenants } = foundation;
  const { tenants, tenantNames, metricLists } = deciding;
  const recipients = openRecipients(options);
  const caches = [decisionCache, tenants, knownTenants, tenantNames, metricLists, access, revocation.scopes, tokens];
  const stores = { memories: caches.map(({ forget }) => forget), recipients };
  const guard = (request: IncomingMessage) => limits.guards.hook(request, null);
  const life = createTenantLife({ ...options, guard }, foundation, provisioning, { ...stores, tenants });
  closers.add(startFinishing(options, [revocation.revocations.retry, ...life.finish, ...provisioning.finish]));
  closers.add(startCheckingNames(options, foundation));
  const steps = createSteps(options, { limits, foundation, provisioning, deciding, tokens, decisionCache, recipients });
  return {
    ...{ steps, recipients, access, countLogin: startCountingLogins(options, foundation, closers) },
    ...life.hooks,
    guards: limits.guards,
    dataApp: () => policies.current().dataApp,
    commands: [
      ...(options.commands ?? []),
      ...auditCommands(ledger, options.archiveKeys ?? null),
      ...createExplaining(options, deciding, foundation),
      ...[policyReload, policyRead, policyAccessCommand].map((command) => command(policies)),
      embedFacts(options),
      ...policyDraftCommands({ ...options, reachOf: reachOfPolicy(options), isSaving: options.savesPolicy ?? false }),
      policyNamesCommand({ ...foundation, upstream: foundation.direct }, policies),
      ...provisioning.commands,
      ...revocationCommands(revocation.revocations, policies, knownIssuers(options)),
      ...[tenantNames.command, viewersCommand({ ledger, steps }), ...life.commands],
    ],
    assertReady: foundation.assertReady,
    checks: checksOf(ledger, foundation),
    close: closers.close,
  };
};

/** Starts finishing interrupted work, of this process and of dead ones. Returns a function that stops it. */
const startFinishing = (options: GatewayOptions, works: readonly FinishWork[]): (() => Promise<void>) => {
  const { ledger, meters } = options;
  const finish = meters === undefined ? works : [...works, createCountUnfinished(ledger, meters)];
  return createTakeover({ ...options, finish }).close;
};

const reportMs = 1_000;

/** Tells the service of logins each second and on close. */
const startCountingLogins = (
  { clock, log }: GatewayOptions,
  { direct: upstream, capabilities }: Foundation,
  closers: Closers,
): CountLogin => {
  const { count, write } = createLoginReports({ upstream, capabilities, clock, log, ids: { uuid: randomUUID } });
  const stop = repeat(systemTiming, reportMs, write);
  closers.add(async () => {
    await stop();
    await write();
  });
  return count;
};

const reachOfPolicy = ({ policies, policyMayRead }: GatewayOptions): ReachOf =>
  createReachOf(policyMayRead ?? null, policies.current().file);

const commonClockOf = ({ commonClock, clock }: GatewayOptions): Clock => commonClock ?? clock;

const checksOf = (ledger: Ledger, { assertReady, direct }: Foundation): readonly Check[] => [
  { name: 'ledger', run: assertReady },
  { name: 'ledger-writes', run: () => assertLedgerWritable(ledger) },
  { name: 'api-key', run: createApiKeyCheck(direct), fix: fixApiKey },
];

/** Builds the upstream, revocation, and the status of tenants. All other parts use these. */
const createFoundation = (options: GatewayOptions, closers: Closers) => {
  const { ledger, clock, meters } = options;
  const { apiKey, resilience, capabilities = fixedCapabilities([]) } = options.upstream;
  const direct = createUpstream(asGateway(connect(options), gatewayIdOf(options)), apiKey, { resilience, meters });
  const revocation = createRevocation(options, { upstream: direct, capabilities, closers });
  const tenantRecords = createTenantRecords(ledger, clock);
  const leases = createTenantLeases(ledger, clock);
  return {
    capabilities,
    revocation,
    tenantRecords,
    leases,
    access: createTenantAccess({ ...revocation, tenants: tenantRecords }),
    knownTenants: createKnownTenants({ upstream: direct, capabilities, clock }),
    /** Calls the service without a lease; revocation and erasure use it. */
    direct,
    /** Calls the service only while the tenant is active: never for a suspended or deleted one. */
    upstream: leaseUpstream(direct, leases),
    assertReady: async (): Promise<void> => void (await revocation.epochs.latest()),
  };
};

type Foundation = ReturnType<typeof createFoundation>;

/**
 * The transport to the upstream. One that is made for a data app stays at it, as an API key would: tokens that were minted in it can then be
 * revoked after the policy changed. A policy of another data app is refused until a restart.
 */
const connect = ({ upstream: { transport }, policies }: GatewayOptions): Transport => {
  if (typeof transport === 'function') return transport;
  const { dataApp } = policies.current();
  policies.subscribe({
    prepare: (next) => {
      if (next.dataApp === dataApp) return;
      const message = `is now ${JSON.stringify(next.dataApp)}, and this process works for ${JSON.stringify(dataApp)}: restart it to change the data app`;
      throw new PolicyFaults([{ at: 'dataApp', message }]);
    },
  });
  return transport.ofDataApp(dataApp);
};

/** The service keeps with each token which gateway minted it. */
const asGateway =
  (transport: Transport, gateway: string): Transport =>
  (request, signal) =>
    transport({ ...request, gateway }, signal);

const gatewayIdOf = ({ deploymentId, ledger }: GatewayOptions): string => deploymentId ?? ledger.gatewayId;

const revocationRetryMs = 2_000;

/** Builds revocation. It also retries revocations that could not reach the service. */
const createRevocation = (
  options: GatewayOptions,
  {
    upstream,
    capabilities,
    closers,
  }: { readonly upstream: Call; readonly capabilities: Capabilities; readonly closers: Closers },
) => {
  const { ledger, log, cache } = options;
  const sharing = cache.sharing ?? createLocalSharing(cache);
  const scopes = createScopes(ledger);
  const epochs = createEpochs({ ledger, sharing, log });
  closers.add(epochs.close);
  options.meters?.watch('epochsAgeMs', epochs.ageMs);
  const tokens = createServiceTokens({ upstream, ...capabilities, gatewayId: gatewayIdOf(options), log });
  const revocations = createRevocations({ ...options, clock: commonClockOf(options), epochs, scopes, tokens });
  const retry = () =>
    revocations.retry().then(
      () => {},
      (err: unknown) => log.warn({ event: 'revocation.retry_failed', err }, 'failed to retry pending revocations'),
    );
  closers.add(repeat(systemTiming, revocationRetryMs, retry));
  return { sharing, scopes, epochs, discard: tokens.discard, revocations };
};

/** Builds provisioning of dashboards from templates, and roll-outs of changed templates. */
const createProvisioning = (
  given: GatewayOptions,
  { upstream, capabilities, knownTenants }: Foundation,
  keyId: string,
) => {
  const clock = commonClockOf(given);
  const options = { ...given, clock };
  const { ledger } = options;
  const versions = createTemplateVersions({ ledger, upstream, clock, capabilities });
  const provision = createProvision({
    ...options,
    upstream,
    baseUrl: options.upstream.baseUrl,
    keyId,
    capabilities,
    keepVersion: versions.keep,
    assertKnown: knownTenants.assert,
    bringToPublished: createBringToPublished({ upstream, versions, ledger: createRolloutLedger(ledger, clock) }),
  });
  const rollout = createRolloutCommands({ ...options, upstream, versions, capabilities });
  const listing = [tenantsListCommand(ledger), tenantsProvisionCommand({ ...options, provision })];
  const finish = [rollout.takeOver, createResumeProvisioning({ ...options, provision })];
  return { provision, rollout, finish, commands: [...listing, ...rollout.commands] };
};

type Provisioning = ReturnType<typeof createProvisioning>;

/** Builds the decision: the session's tenant, its grant by the policy, and the embeds and metrics of the grant. */
const createDeciding = (options: GatewayOptions, { upstream, direct, capabilities }: Foundation) => {
  const { clock } = options;
  return {
    tenants: openTenants(options),
    tenantNames: createTenantNames({ ...options, upstream: direct, capabilities }),
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

/** Builds the minting of tokens, and the revocation of tokens that a changed policy no longer grants. */
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
        // The service may have lost a dashboard that was verified earlier, so verify it again at the next request.
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
    capabilities: foundation.capabilities,
    tokenStep: (mintWith) =>
      createTokenStep({
        upstream: mintWith,
        baseUrl: options.upstream.baseUrl,
        keyId,
        ...foundation.revocation,
        generationOf: foundation.access.generationOf,
        assertKnown: foundation.knownTenants.assert,
        withLease: foundation.leases.withLease,
        isAlive: createIsAlive({ upstream: foundation.direct, capabilities: foundation.capabilities }),
        cache,
        clock: options.clock,
        minimumLifeMs: options.minimumLifeMs,
      }),
  });

/** Starts revoking the tokens that a changed policy no longer grants. */
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

/** Ends tokens by a revocation, which the ledger keeps until the service has confirmed it. The users stay logged in. */
const revokeThrough =
  ({ revoke }: Pick<Revocations, 'revoke'>): Revoke =>
  async (what) => {
    const options = { reason: 'the policy changed', keepsSessions: true };
    if (what.kind === 'policy') await revoke({ by: 'all', isOwn: true }, options);
    else
      await revoke({ by: 'user', userIdentifier: what.userIdentifier, clientId: what.clientId, isOwn: true }, options);
  };

/** Starts the check of the policy's names if the options ask for it. Returns a function that stops it. */
const startCheckingNames = (options: GatewayOptions, { direct, capabilities }: Foundation): (() => void) =>
  options.isCheckingNames === true ? startNameCheck({ ...options, capabilities, upstream: direct }).close : () => {};

/** Opens the decision cache. A changed policy clears it. */
const openDecisionCache = ({ policies, decisionCacheBytes }: GatewayOptions): DecisionCache => {
  const cache = createDecisionCache(decisionCacheBytes);
  policies.subscribe({ changed: async () => cache.clear() });
  return cache;
};

type StepParts = Omit<TokenParts, 'keyId'> & {
  readonly limits: Limits;
  readonly tokens: Tokens;
  readonly decisionCache: DecisionCache;
  readonly recipients: Recipients | null;
};

const openIdentity = (options: SignedSessions & CommonOptions, { guards }: Limits): Identity => {
  const { askedIssuers: asked = [] } = options;
  const guard = guards.session;
  return createIdentity({
    ...options,
    guard,
    asked: asked.length === 0 ? undefined : createAskedSessions({ ...options, asked, guard }),
  });
};

/** The steps of `POST /embed-token`; gateway/embed-token.ts calls them in sequence. */
const createSteps = (
  options: GatewayOptions,
  { limits, foundation, provisioning, deciding, tokens, decisionCache, recipients }: StepParts,
): EmbedTokenSteps => ({
  identity: options.identify === undefined ? openIdentity(options, limits) : createHostIdentity(options),
  limits,
  policies: options.policies,
  tenant: deciding.tenants.resolve,
  tenantNames: deciding.tenantNames,
  access: allAccessChecks([createSessionAccess(foundation.revocation), foundation.access.assert]),
  noteSession: recipients?.note ?? noteNothing,
  decisionCache,
  policy: deciding.decide,
  provision: provisioning.provision,
  embeds: deciding.findEmbeds,
  token: tokens.token,
  remember: tokens.remember,
  serviceUrl: createServiceUrl(options.serviceUrl),
  running: options.running,
});

const createExplaining = (
  options: GatewayOptions,
  { tenants, findEmbeds, metricLists }: Deciding,
  { access, direct, capabilities }: Foundation,
): readonly AdminCommand[] => {
  const checkCards = createCheckCards({ upstream: direct, capabilities });
  const explain = createPolicyExplainCommand({
    checkCards,
    policies: options.policies,
    reachOf: reachOfPolicy(options),
    assertTenant: access.assertTenant,
    tenantOf: tenants.of,
    findEmbeds,
    clock: options.clock,
    listMetrics: currentLists(metricLists),
    loadRequest: (requestId) => loadLoggedRequest(options.ledger, requestId),
  });
  return [explain, createCardsCommand({ ...options, checkCards })];
};

/** Opens the sessions of recipients, if they are kept. */
const openRecipients = (options: GatewayOptions): Recipients | null =>
  options.recipients === undefined ? null : createRecipients({ ...options, ...options.recipients });

/** `memories`: the caches of this process that must forget an erased tenant. */
type ErasedStores = { readonly memories: readonly ForgetClient[]; readonly recipients: Recipients | null };
type TenantLifeParts = ErasedStores & { readonly tenants: Tenants };

/** Builds what the host's hooks and operators do to a tenant: sign-up, suspension, deletion and erasure. */
const createTenantLife = (
  options: GatewayOptions & Pick<HooksOptions, 'guard'>,
  { revocation, tenantRecords, leases, direct, capabilities }: Foundation,
  { provision, rollout }: Provisioning,
  { memories, recipients, tenants }: TenantLifeParts,
) => {
  const { ledger, clock, cache, log, hooks = noHooks } = options;
  const { requireCapability } = capabilities;
  const tokens = createTenantRevocation(revocation.revocations);
  const holds = createHolds({ ...options, upstream: direct, capabilities });
  // The order matters: tokens are revoked before their dashboards are deleted, and the audit is erased last.
  const erasers = [
    createRevocationEraser(ledger, tokens),
    // Before the service, which must not be told of them again.
    holds.eraser,
    createUpstreamEraser({ upstream: direct, requireCapability }),
    createCacheEraser(cache),
    ...(recipients === null ? [] : [recipients.eraser]),
    createMemoryEraser(recipients === null ? memories : [...memories, recipients.forget]),
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
  const deliveries = createDeliveries(ledger, clock);
  const providerHooks = createProviderHooks({
    ...options,
    ...{ providers: [], ...hooks, deliveries, lifecycle, tenantOf: tenants.inForce },
    keysAt: (url) => createJwks({ url, clock, log }),
  });
  return {
    hooks: { answerHook: createHooks({ ...options, ...hooks, deliveries, lifecycle }), providerHooks },
    commands: [
      ...createTenantCommands({ ...options, tenants: tenantRecords, lifecycle, erasure }),
      ...holdCommands(holds),
    ],
    finish: [lifecycle.finishErasures, holds.finish],
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
