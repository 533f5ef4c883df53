/**
 * Finds or mints the guest token of a grant: a cached token for exactly this request, or a new one. The cache key
 * contains everything that the token depends on, so a changed grant, policy, API key or upstream misses the cache. The
 * revocation epochs (revocation/epochs.ts) are part of the key, and are compared again after the mint and before the
 * response.
 */
import { hash } from 'node:crypto';
import type { Clock } from '../../model/ports.js';
import type { Call } from '../../platform/http/interface/client.js';
import { WaitedTooLong } from '../../platform/redis/sharing.js';
import { listGuestTokens } from '../../service/guest-tokens/contract/admin.js';
import { createGuestToken, type GuestTokenRequest } from '../../service/guest-tokens/contract/guest-tokens.js';
import type { Minted } from '../audit/request-audit.js';
import { encodeClientId } from '../common/dashboard-id.js';
import type { TenantLeases } from '../lease/tenant-lease.js';
import type { Policy } from '../policy/policy.js';
import type { SourceNames } from '../policy/source-names.js';
import type { Epochs } from '../revocation/epochs.js';
import type { Scope, Scopes } from '../revocation/scopes.js';
import type { AssertKnown } from '../tenant/known.js';
import type { Capabilities } from '../upstream/capabilities.js';
import { unavailable } from '../upstream/unavailable.js';
import type { CachedToken, TokenCache } from './cache.js';
import { type GuestRequestOf, guestRequestOf } from './guest-request.js';
import type { HeldMetricLists, ListedMetric, ListMetrics } from './metric-lists.js';
import { mintErrorOf } from './mint-refusal.js';

export type GuestToken = {
  readonly token: string;
  readonly expiresAtMs: number;
  /** From this time on, a request gets a newer token. */
  readonly refreshAfterMs: number;
  /** Id of the request that minted the token. */
  readonly mintedBy: string;
  /**
   * Whether the same request would get this token now, as far as this process knows: the token is not revoked, and its
   * remaining life is long enough.
   */
  readonly isStill: () => boolean;
};

export type TokenOptions = {
  readonly upstream: Call;
  /** The upstream's URL and the API key's id: both are part of the cache key. */
  readonly baseUrl: string;
  readonly keyId: string;
  readonly epochs: Epochs;
  readonly scopes: Scopes;
  readonly cache: Pick<TokenCache, 'find' | 'load' | 'replace'>;
  /** Whether the service still takes this token; false also if it cannot say. */
  readonly isAlive: (token: string, clientId: string) => Promise<boolean>;
  /** Revokes a token that was minted and is not returned. Never rejects. */
  readonly discard: (token: string) => Promise<void>;
  readonly clock: Clock;
  /** Changes whenever the tenant's state changes. */
  readonly generationOf: (clientId: string) => string;
  /** Called before a mint. */
  readonly assertKnown: AssertKnown;
  /** Mints run under a lease of the tenant, so that an erasure waits for them. */
  readonly withLease: TenantLeases['withLease'];
  /**
   * Minimum remaining life of a returned token, in milliseconds. Default: a fifth of its expiry. At most half of its
   * expiry.
   */
  readonly minimumLifeMs?: number | undefined;
};

/**
 * Returns the token of a request. Throws POLICY_UNDECIDED if the service cannot enforce the request, NO_TENANT,
 * UPSTREAM_UNAVAILABLE or Outdated.
 */
export type TokenOf = (request: GuestTokenRequest, policy: Policy, audit: MintAudit) => Promise<GuestToken>;

/**
 * Records the mint of one request in the audit before the token is returned. If `minted` rejects, the token is
 * discarded.
 */
export type MintAudit = {
  readonly requestId: string;
  readonly minted: (minted: Minted) => Promise<void>;
  /** SHA-256 of the token that the caller calls dead. */
  readonly replaces?: string | undefined;
  /**
   * A view as a user. It shares no token with users: whether a token with these claims exists, and since when, is what
   * the people who look must not learn.
   */
  readonly isView?: true;
};

/** Whether the caller calls this token dead. */
export const isReplaced = ({ token }: Pick<GuestToken, 'token'>, replaces: string | undefined): boolean =>
  replaces !== undefined && hash('sha256', token, 'hex') === replaces;

/** Thrown if a revocation occurred during the request. The decision is outdated and must be made again. */
export class Outdated extends Error {
  override readonly name = 'Outdated';
}

type Material = Pick<TokenOptions, 'baseUrl' | 'keyId'> & { readonly marks: readonly string[] };

/** Returns the prefix of the cache keys of all tokens of a client. */
export const tokenKeysOf = (clientId: string): string => `guestlist:token:${encodeClientId(clientId)}:`;

/**
 * Returns the cache key. It has the clientId in clear, so that a tenant's tokens can be deleted by prefix, and
 * everything else as one full hash. guest-request.ts builds canonical requests. A request in another order would miss,
 * but never find the token of another request.
 */
const tokenKeyOf = ({ baseUrl, keyId, marks }: Material, request: GuestTokenRequest): string =>
  `${tokenKeysOf(request.clientId)}${hash('sha256', JSON.stringify([baseUrl, keyId, marks, request]), 'hex')}`;

const minimumLifeOf = (expiryMs: number, configured: number | undefined): number =>
  Math.min(configured ?? expiryMs / 5, expiryMs / 2);

/** The scopes whose revocation revokes the tokens of this request. */
const scopesOf = (scopes: Scopes, { clientId, dataAppName, params }: GuestTokenRequest, policy: Policy): Scope[] => [
  scopes.all,
  scopes.dataApp(dataAppName),
  scopes.policy(policy.digest),
  ...scopes.ofSubject({ clientId, userIdentifier: params?.userIdentifier ?? '' }),
];

type Mint = { readonly request: GuestTokenRequest; readonly key: string; readonly audit: MintAudit };

const createMint = ({ upstream, clock, discard, withLease }: TokenOptions) => {
  const create = async ({ request, audit }: Mint): Promise<CachedToken> => {
    // Measured before the request, so that the service's expiry is never earlier.
    const startedAtMs = clock.now().getTime();
    try {
      const { token } = await upstream(createGuestToken, request);
      return { token, expiresAtMs: startedAtMs + (request.expiryTime ?? 0), mintedBy: audit.requestId };
    } catch (error) {
      throw mintErrorOf(error, request);
    }
  };
  /** Mints a token. Discards it if `assertGood` throws or the audit fails. */
  return (mint: Mint, assertGood: () => Promise<void>): Promise<CachedToken> =>
    withLease(mint.request.clientId, async () => {
      await assertGood();
      const startedAt = performance.now();
      const held = await create(mint);
      const { request, key, audit } = mint;
      try {
        await audit.minted({
          request,
          requestDigest: key.slice(key.lastIndexOf(':') + 1),
          tokenDigest: hash('sha256', held.token, 'hex'),
          durationMs: Math.round(performance.now() - startedAt),
        });
        await assertGood();
      } catch (error) {
        await discard(held.token);
        throw error;
      }
      return held;
    });
};

const sourceNamedBy = ({ datasourceName, datamartName }: GuestTokenRequest): SourceNames => ({
  ...(datasourceName === undefined ? {} : { datasource: datasourceName }),
  ...(datamartName === undefined ? {} : { datamart: datamartName }),
});

/** Creates the step that finds or mints a token. */
export const createTokenStep = (options: TokenOptions): TokenOf => {
  const { cache, epochs, scopes, discard } = options;
  const mint = createMint(options);
  return async (request, policy, audit) => {
    const about = scopesOf(scopes, request, policy);
    const mark = (await epochs.current()).markOf(about);
    const assertSame = (now: string): void => {
      if (now !== mark) throw new Outdated('revoked while the request was under way');
    };
    const generation = options.generationOf(request.clientId);
    const marks = [generation, mark, ...(audit.isView === true ? ['view'] : [])];
    const key = tokenKeyOf({ ...options, marks }, request);
    const minimumLifeMs = minimumLifeOf(request.expiryTime ?? 0, options.minimumLifeMs);
    // Also read after the mint: a revocation that reached the service before the mint is in the ledger by then
    // (revocations.ts).
    const assertGood = async (): Promise<void> => assertSame((await epochs.latest()).markOf(about));
    const mintKnown = async (): Promise<CachedToken> => {
      await options.assertKnown(policy, request.clientId, [sourceNamedBy(request)]);
      return mint({ request, key, audit }, assertGood);
    };
    const wanted = { minimumLifeMs, discard, mint: mintKnown };
    const found = await waited(() => cache.load(key, wanted));
    const isDead = isReplaced(found, audit.replaces) && !(await options.isAlive(found.token, request.clientId));
    const held = isDead ? await waited(() => cache.replace(key, found.token, wanted)) : found;
    assertSame((await epochs.current()).markOf(about));
    const isStill = (): boolean =>
      epochs.known()?.markOf(about) === mark &&
      options.generationOf(request.clientId) === generation &&
      cache.find(key, minimumLifeMs) === held;
    return { ...held, refreshAfterMs: held.expiresAtMs - minimumLifeMs, isStill };
  };
};

const waited = async (load: () => CachedToken | Promise<CachedToken>): Promise<CachedToken> => {
  try {
    return await load();
  } catch (error) {
    throw error instanceof WaitedTooLong ? unavailable('mint-waited-too-long', error) : error;
  }
};

export type ConfirmedTokenOptions = {
  readonly listMetrics: HeldMetricLists;
  readonly upstream: Call;
  readonly capabilities: Pick<Capabilities, 'supports' | 'requireCapability'>;
  /** Creates the token step that mints with this call. */
  readonly tokenStep: (mintWith: Call) => TokenOf;
};

/**
 * Refuses to mint. The cache key contains every metric's id, so a cached token is found only if it was minted from the
 * same list.
 */
const mintNothing: Call = async () => {
  throw unavailable('metric-list-outdated', new Error('nothing is minted from a list that cannot be confirmed'));
};

/** Creates the token step of the pipeline. It throws what the token step throws. */
export const createConfirmedToken = ({ listMetrics, upstream, tokenStep, capabilities }: ConfirmedTokenOptions) => {
  const findOrMint = tokenStep(upstream);
  const find = tokenStep(mintNothing);
  return async (of: GuestRequestOf, policy: Policy, audit: MintAudit): Promise<GuestToken> => {
    let isCurrent = true;
    const used = new Map<string, readonly ListedMetric[]>();
    const list: ListMetrics = async (dashboardId, clientId) => {
      const listed = await listMetrics(dashboardId, clientId);
      isCurrent &&= listed.isCurrent;
      used.set(dashboardId, listed.metrics);
      return listed.metrics;
    };
    const request = await guestRequestOf(of, list, capabilities);
    const token = await (isCurrent ? findOrMint : find)(request, policy, audit);
    const areListsSame = (): boolean =>
      [...used].every(([dashboardId, metrics]) => listMetrics.find(dashboardId, of.clientId) === metrics);
    return used.size === 0 ? token : { ...token, isStill: () => areListsSame() && token.isStill() };
  };
};

type AliveOptions = { readonly upstream: Call; readonly capabilities: Pick<Capabilities, 'supports'> };

/** Asks the service whether it takes the token. Resolves to false for one that is dead, and if the service cannot say. Throws UPSTREAM_UNAVAILABLE. */
export const createIsAlive =
  ({ upstream, capabilities }: AliveOptions) =>
  async (token: string, clientId: string): Promise<boolean> => {
    if (!(await capabilities.supports('find-guest-token'))) return false;
    const { data } = await upstream(listGuestTokens, { clientId, tokenDigest: hash('sha256', token, 'hex') });
    return data.length > 0;
  };
