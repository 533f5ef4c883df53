/**
 * The guest token of a grant: a cached one that was minted for exactly this request, or a new one. Its cache key holds
 * everything that the token depends on, so a changed grant, policy, key or upstream never meets an older token.
 */
import { hash } from 'node:crypto';
import type { Call } from '../contract/client.js';
import { createGuestToken, type GuestTokenRequest } from '../contract/guest-tokens.js';
import type { Clock } from '../domain/ports.js';
import type { Cache } from '../platform/cache.js';
import { createSingleFlight } from '../platform/single-flight.js';
import { encodeClientId } from './dashboard-id.js';
import { mintErrorOf } from './mint-refusal.js';
import type { Policy } from './policy-file.js';
import type { TenantWorks } from './tenants/works.js';

export type GuestToken = {
  readonly token: string;
  readonly expiresAtMs: number;
  /** From here on, asking again gives a newer token. */
  readonly refreshAfterMs: number;
};

/** Changes whenever tokens minted before must no longer be answered. */
export type Epochs = (request: GuestTokenRequest, policy: Policy) => readonly string[];

export type TokenOptions = {
  readonly upstream: Call;
  /** The upstream and the key's own id: both are part of what a token depends on. */
  readonly baseUrl: string;
  readonly keyId: string;
  readonly epochs: Epochs;
  readonly cache: Cache;
  readonly clock: Clock;
  /** Runs what makes a token for a client, unless its tenant is suspended or deleted: whoever erases it waits for the end. */
  readonly during: TenantWorks['during'];
  /** Milliseconds that every answered token lives at least; a fifth of its expiry, and at most half, where left out. */
  readonly minimumLifeMs?: number | undefined;
};

/** Throws POLICY_UNDECIDED where the service cannot enforce the request, NO_TENANT, UPSTREAM_UNAVAILABLE. */
export type TokenOf = (request: GuestTokenRequest, policy: Policy) => Promise<GuestToken>;

/** Something was revoked while the request was under way: what it was decided by holds no more. */
export class Outdated extends Error {
  override readonly name = 'Outdated';
}

type Held = { readonly token: string; readonly expiresAtMs: number };

/** What the keys of all tokens of a client begin with. */
export const tokenKeysOf = (clientId: string): string => `guestlist:token:${encodeClientId(clientId)}:`;

/**
 * The clientId in clear, so that a tenant's tokens can be told apart; everything else as one full hash. The request is
 * canonical as guest-request.ts builds it; one written in another order would be a miss, never another's token.
 */
export const tokenKeyOf = (
  { baseUrl, keyId, epochs }: Pick<TokenOptions, 'baseUrl' | 'keyId' | 'epochs'>,
  request: GuestTokenRequest,
  policy: Policy,
): string => {
  const material = JSON.stringify([baseUrl, keyId, epochs(request, policy), request]);
  return `${tokenKeysOf(request.clientId)}${hash('sha256', material, 'hex')}`;
};

/** What a cache holds may have been written by anyone who reaches it: anything unexpected is a miss. */
const decodeHeld = (text: string | null): Held | null => {
  if (text === null) return null;
  try {
    const held: unknown = JSON.parse(text);
    if (typeof held !== 'object' || held === null || !('token' in held) || !('expiresAtMs' in held)) return null;
    const { token, expiresAtMs } = held;
    return typeof token === 'string' && Number.isSafeInteger(expiresAtMs) && typeof expiresAtMs === 'number'
      ? { token, expiresAtMs }
      : null;
  } catch {
    return null;
  }
};

const minimumLifeOf = (expiryMs: number, configured: number | undefined): number =>
  Math.min(configured ?? expiryMs / 5, expiryMs / 2);

/** Makes the step. At most one request for one key is under way in this process. */
export const createTokenStep = (options: TokenOptions): TokenOf => {
  const { upstream, cache, clock } = options;
  const flight = createSingleFlight<GuestToken>();
  const mint = async (request: GuestTokenRequest): Promise<Held> => {
    // Counted from before the request: the service's own expiry is never earlier.
    const startedAtMs = clock.now().getTime();
    try {
      const { token } = await upstream(createGuestToken, request);
      return { token, expiresAtMs: startedAtMs + (request.expiryTime ?? 0) };
    } catch (error) {
      throw mintErrorOf(error, request);
    }
  };
  return (request, policy) => {
    const key = tokenKeyOf(options, request, policy);
    const minimumLifeMs = minimumLifeOf(request.expiryTime ?? 0, options.minimumLifeMs);
    const answer = ({ token, expiresAtMs }: Held): GuestToken => ({
      token,
      expiresAtMs,
      refreshAfterMs: expiresAtMs - minimumLifeMs,
    });
    return flight(key, async () => {
      const held = decodeHeld(await cache.get(key));
      if (held !== null && held.expiresAtMs - clock.now().getTime() > minimumLifeMs) return answer(held);
      return options.during(request.clientId, async () => {
        const minted = await mint(request);
        await cache.set(key, JSON.stringify(minted), minted.expiresAtMs - minimumLifeMs - clock.now().getTime());
        return answer(minted);
      });
    });
  };
};
