/**
 * The guest token of a grant: a cached one that was minted for exactly this request, or a new one. Its cache key holds everything that
 * the token depends on, so a changed grant, policy, key or upstream never meets an older token. The epochs are in the key too, and
 * looked at again when a mint is stored and when an answer leaves: what was revoked meanwhile is never answered.
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
  /** From here on, asking again gives a newer token. */
  readonly refreshAfterMs: number;
  /** The id of the request that minted it. */
  readonly mintedBy: string;
  /** Whether the same request would have this very token now, without asking anybody: nothing was revoked, and it lives long enough. */
  readonly isStill: () => boolean;
};

export type TokenOptions = {
  readonly upstream: Call;
  /** The upstream and the key's own id: both are part of what a token depends on. */
  readonly baseUrl: string;
  readonly keyId: string;
  readonly epochs: Epochs;
  readonly scopes: Scopes;
  readonly cache: Pick<TokenCache, 'find' | 'load'>;
  /** Ends a token at the service that was minted and is never answered. Rejects nothing. */
  readonly discard: (token: string) => Promise<void>;
  readonly clock: Clock;
  /** Another one for every change of where the tenant stands. */
  readonly generationOf: (clientId: string) => string;
  /** Runs what makes a token for a client, unless its tenant is suspended or deleted: whoever erases it waits for the end. */
  readonly withLease: TenantLeases['withLease'];
  /** Milliseconds that every answered token lives at least; a fifth of its expiry, and at most half, where left out. */
  readonly minimumLifeMs?: number | undefined;
};

/** Throws POLICY_UNDECIDED where the service cannot enforce the request, NO_TENANT, UPSTREAM_UNAVAILABLE, and Outdated. */
export type TokenOf = (request: GuestTokenRequest, policy: Policy, audit: MintAudit) => Promise<GuestToken>;

/** Of one request: puts its mint down before the token leaves; where that rejects, none leaves. */
export type MintAudit = { readonly requestId: string; readonly minted: (minted: Minted) => Promise<void> };

/** Something was revoked while the request was under way: what it was decided by holds no more. */
export class Outdated extends Error {
  override readonly name = 'Outdated';
}

type Material = Pick<TokenOptions, 'baseUrl' | 'keyId'> & { readonly marks: readonly string[] };

/** What the keys of all tokens of a client begin with. */
export const tokenKeysOf = (clientId: string): string => `guestlist:token:${encodeClientId(clientId)}:`;

/**
 * The clientId in clear, so that a tenant's tokens can be told apart; everything else as one full hash. The request is
 * canonical as guest-request.ts builds it; one written in another order would be a miss, never another's token.
 */
export const tokenKeyOf = ({ baseUrl, keyId, marks }: Material, request: GuestTokenRequest): string =>
  `${tokenKeysOf(request.clientId)}${hash('sha256', JSON.stringify([baseUrl, keyId, marks, request]), 'hex')}`;

const minimumLifeOf = (expiryMs: number, configured: number | undefined): number =>
  Math.min(configured ?? expiryMs / 5, expiryMs / 2);

/** Everything that a revocation could be about, for the tokens of this request. */
const scopesOf = (scopes: Scopes, { clientId, dataAppName, params }: GuestTokenRequest, policy: Policy): Scope[] => [
  scopes.all,
  scopes.dataApp(dataAppName),
  scopes.policy(policy.digest),
  ...scopes.ofSubject({ clientId, userIdentifier: params?.userIdentifier ?? '' }),
];

type Mint = { readonly request: GuestTokenRequest; readonly key: string; readonly audit: MintAudit };

const createMint = ({ upstream, clock, discard, withLease }: TokenOptions) => {
  const create = async ({ request, audit }: Mint): Promise<CachedToken> => {
    // Counted from before the request: the service's own expiry is never earlier.
    const startedAtMs = clock.now().getTime();
    try {
      const { token } = await upstream(createGuestToken, request);
      return { token, expiresAtMs: startedAtMs + (request.expiryTime ?? 0), mintedBy: audit.requestId };
    } catch (error) {
      throw mintErrorOf(error, request);
    }
  };
  /** A token for which `assertGood` throws is ended, like one that cannot be accounted for. */
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

/** Makes the step. */
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
    // Asked after the mint, too: a revocation that came before it at the service was in the ledger by then. See revocations.ts.
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

/**
 * The token of a grant, by what the upstream says now or, while it cannot be asked, by what it said last: then only a token
 * that was minted already is found.
 */
export type ConfirmedTokenOptions = {
  readonly listMetrics: HeldMetricLists;
  readonly upstream: Call;
  /** The token step that mints with this. */
  readonly tokenStep: (mintWith: Call) => TokenOf;
};

/** Its key holds every metric's id, so that a token is found only where the list was the same when it was minted. */
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
