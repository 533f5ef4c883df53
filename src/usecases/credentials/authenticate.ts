/**
 * Authenticates a bearer credential: recognised, denied, or not of this kind. The credential is found by its hash, and
 * the hashes are then compared in constant time.
 */
import type { HashedToken } from '../../domain/brand.js';
import type { ApiKeyCaller, Caller, GuestCaller, ServiceCaller } from '../../domain/guest/caller.js';
import type { Clock, Tokens } from '../../domain/ports.js';
import { Refusal } from '../../domain/refusal.js';
import type { StoredKey } from '../../domain/store/credentials.js';
import type { Store } from '../../domain/store/store.js';
import type { LastUses } from './last-use.js';

type Deps = {
  readonly store: Pick<Store, 'apiKeys' | 'serviceTokens' | 'guestTokens'>;
  readonly clock: Clock;
  readonly tokens: Tokens;
  readonly lastUses: Pick<LastUses, 'note'>;
};
type CallerKinds = { apiKey: ApiKeyCaller; serviceToken: ServiceCaller; guestToken: GuestCaller };
type Wire = keyof CallerKinds;

/** Messages of denied requests. Clients match these texts, so they must not change. */
const deniedMessage: Readonly<Record<Wire, string>> = {
  apiKey: 'API key is invalid or expired',
  serviceToken: 'invalid service token',
  guestToken: 'guest token is invalid or was revoked; ask the host application for a new one',
};

const isLive = (key: StoredKey, clock: Clock): boolean => key.expiresAt === null || key.expiresAt > clock.now();

/**
 * Returns what `find` returns for the bearer's hash. The index lookup does not take constant time, so the hashes are
 * compared again here.
 */
const findSame = async <T extends { readonly hash: HashedToken }>(
  { tokens }: Deps,
  bearer: string,
  find: (hash: HashedToken) => Promise<T | undefined>,
): Promise<T | undefined> => {
  const hash = tokens.hash(bearer);
  const found = await find(hash);
  return found !== undefined && tokens.isSame(found.hash, hash) ? found : undefined;
};

const recognise = (deps: Deps): { readonly [K in Wire]: (bearer: string) => Promise<Caller | undefined> } => {
  const { store, clock, lastUses } = deps;
  return {
    apiKey: async (bearer) => {
      const key = await findSame(deps, bearer, store.apiKeys.findByHash);
      if (key === undefined || !isLive(key, clock)) return undefined;
      lastUses.note('apiKey', key.id);
      return { kind: 'apiKey', keyId: key.id, dataAppId: key.dataAppId, dataAppName: key.dataAppName };
    },
    serviceToken: async (bearer) => {
      const key = await findSame(deps, bearer, store.serviceTokens.findByHash);
      if (key === undefined || !isLive(key, clock)) return undefined;
      lastUses.note('serviceToken', key.id);
      return { kind: 'serviceToken', tokenId: key.id };
    },
    guestToken: async (bearer) => {
      const found = await findSame(deps, bearer, store.guestTokens.findByHash);
      if (found === undefined) return undefined;
      const { hash: _, ...grant } = found;
      if (grant.expiresAt !== null && grant.expiresAt <= clock.now()) {
        throw new Refusal('TOKEN_EXPIRED', 'The guest token has expired; ask the host application for a new one.');
      }
      lastUses.note('guestToken', grant.id);
      return { kind: 'guest', grant };
    },
  };
};

/**
 * Returns a function that finds the caller of `bearer` among the kinds that the operation accepts. It throws
 * AUTHENTICATION_ERROR or TOKEN_EXPIRED.
 */
export const createAuthenticate = (deps: Deps) => {
  const recognisers = recognise(deps);
  return async (kinds: readonly Wire[], bearer: string | undefined): Promise<Caller> => {
    for (const kind of kinds) {
      const caller = bearer === undefined || bearer === '' ? undefined : await recognisers[kind](bearer);
      if (caller !== undefined) return caller;
    }
    throw new Refusal('AUTHENTICATION_ERROR', kinds.map((kind) => deniedMessage[kind]).join('; or '), {
      reason: bearer === undefined ? 'credential-missing' : 'credential-not-recognised',
    });
  };
};
