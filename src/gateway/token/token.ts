/**
 * Finds or mints the guest token of a grant: a cached token of exactly this request, or a new one. The cache key holds
 * everything that the token depends on, so a changed grant, policy, API key or upstream misses. The revocation epochs
 * (revocation/epochs.ts) are part of it, and are compared again after the mint and before the answer.
 */
import { hash } from 'node:crypto';
import type { Call } from '../../contract/client.js';
import { createGuestToken, type GuestTokenRequest } from '../../contract/guest-tokens.js';
import type { Clock } from '../../domain/ports.js';
import { WaitedTooLong } from '../../platform/sharing.js';
import type { Minted } from '../audit/request-audit.js';
import { encodeClientId } from '../common/dashboard-id.js';
import type { TenantLeases } from '../lease/tenant-lease.js';
import type { Policy } from '../policy/policy.js';
import type { Epochs } from '../revocation/epochs.js';
import type { Scope, Scopes } from '../revocation/scopes.js';
import { unavailable } from '../upstream/unavailable.js';
import type { CachedToken, TokenCache } from './cache.js';
import { type GuestRequestOf, guestRequestOf } from './guest-request.js';
import type { HeldMetricLists, ListedMetric, ListMetrics } from './metric-lists.js';
import { mintErrorOf } from './mint-refusal.js';

export type GuestToken = {
  readonly token: string;
  readonly expiresAtMs: number;
  /** From this moment on, a new request gets a newer token. */
  readonly refreshAfterMs: number;
  /** The id of the request that minted it. */
  readonly mintedBy: string;
  /** Whether the same request would get this token now, as far as this process knows: not revoked, and living long enough. */
  readonly isStill: () => boolean;
};

export type TokenOptions = {
  readonly upstream: Call;
  /** The upstream's URL and the API key's id: both are part of the cache key. */
  readonly baseUrl: string;
  readonly keyId: string;
  readonly epochs: Epochs;
  readonly scopes: Scopes;
  readonly cache: Pick<TokenCache, 'find' | 'load'>;
  /** Revokes a token that was minted and is not answered. Never rejects. */
  readonly discard: (token: string) => Promise<void>;
  readonly clock: Clock;
  /** Changes whenever the tenant's state changes. */
  readonly generationOf: (clientId: string) => string;
  /** Mints run under a lease of the tenant, so that an erasure waits for them. */
  readonly withLease: TenantLeases['withLease'];
  /** Every answered token lives at least this long, in milliseconds. Default: a fifth of its expiry. Half of its expiry at most. */
  readonly minimumLifeMs?: number | undefined;
};

/** Throws POLICY_UNDECIDED if the service cannot enforce the request, NO_TENANT, UPSTREAM_UNAVAILABLE and Outdated. */
export type TokenOf = (request: GuestTokenRequest, policy: Policy, audit: MintAudit) => Promise<GuestToken>;

/** Writes the mint of one request to the audit before its token is answered. If that rejects, the token is discarded. */
export type MintAudit = { readonly requestId: string; readonly minted: (minted: Minted) => Promise<void> };

/** Thrown if something was revoked during the request: the decision is no longer valid and is made again. */
export class Outdated extends Error {
  override readonly name = 'Outdated';
}

type Material = Pick<TokenOptions, 'baseUrl' | 'keyId'> & { readonly marks: readonly string[] };

/** Prefix of the cache keys of all tokens of a client. */
export const tokenKeysOf = (clientId: string): string => `guestlist:token:${encodeClientId(clientId)}:`;

/**
 * The cache key: the clientId in clear, so that a tenant's tokens can be deleted by prefix; everything else as one full hash.
 * guest-request.ts builds canonical requests; a request in another order would miss, and never find another request's token.
 */
export const tokenKeyOf = ({ baseUrl, keyId, marks }: Material, request: GuestTokenRequest): string =>
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
  /** Discards the token if `assertGood` throws or the audit fails. */
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
    const marks = [generation, mark];
    const key = tokenKeyOf({ ...options, marks }, request);
    const minimumLifeMs = minimumLifeOf(request.expiryTime ?? 0, options.minimumLifeMs);
    // Read after the mint too: a revocation that reached the service before it was in the ledger by then (revocations.ts).
    const assertGood = async (): Promise<void> => assertSame((await epochs.latest()).markOf(about));
    const wanted = { minimumLifeMs, discard, mint: () => mint({ request, key, audit }, assertGood) };
    const held = await loadFrom(cache, key, wanted);
    assertSame((await epochs.current()).markOf(about));
    const isStill = (): boolean =>
      epochs.known()?.markOf(about) === mark &&
      options.generationOf(request.clientId) === generation &&
      cache.find(key, minimumLifeMs) === held;
    return { ...held, refreshAfterMs: held.expiresAtMs - minimumLifeMs, isStill };
  };
};

const loadFrom = async (
  cache: TokenOptions['cache'],
  key: string,
  wanted: Parameters<TokenCache['load']>[1],
): Promise<CachedToken> => {
  try {
    return await cache.load(key, wanted);
  } catch (error) {
    throw error instanceof WaitedTooLong ? unavailable('mint-waited-too-long', error) : error;
  }
};

export type ConfirmedTokenOptions = {
  readonly listMetrics: HeldMetricLists;
  readonly upstream: Call;
  /** Creates the token step that mints with this call. */
  readonly tokenStep: (mintWith: Call) => TokenOf;
};

/** Refuses to mint. The cache key holds every metric's id, so a cached token is found only if it was minted from the same list. */
const mintNothing: Call = async () => {
  throw unavailable('metric-list-outdated', new Error('nothing is minted from a list that cannot be confirmed'));
};

/** Makes the step of session.ts. Throws what the token step throws. */
export const createConfirmedToken = ({ listMetrics, upstream, tokenStep }: ConfirmedTokenOptions) => {
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
    const request = await guestRequestOf(of, list);
    const token = await (isCurrent ? findOrMint : find)(request, policy, audit);
    const areListsSame = (): boolean =>
      [...used].every(([dashboardId, metrics]) => listMetrics.find(dashboardId, of.clientId) === metrics);
    return used.size === 0 ? token : { ...token, isStill: () => areListsSame() && token.isStill() };
  };
};
