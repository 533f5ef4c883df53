/**
 * Authenticates a bearer credential: recognised, denied, or not of this kind. The credential is found by its hash, and
 * the hashes are then compared in constant time.
 */
import type { HashedToken } from '../../model/brand.js';
import type { StoredKey } from '../../model/credentials.js';
import type { ApiKeyCaller, Caller, GuestCaller, ServiceCaller } from '../../model/guest/caller.js';
import type { Clock, Tokens } from '../../model/ports.js';
import { Refusal } from '../../model/refusal.js';
import type { Store } from '../store/store.js';
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

/** Names each kind of credential, for the message that refuses it where another kind belongs. */
const otherKind: Readonly<Record<Wire | 'session', string>> = {
  apiKey: 'This is an API key of a data app, not',
  serviceToken: 'This is a service token, not',
  guestToken: 'This is a guest token of a page, not',
  session: 'This is a session (a JWT): send it to POST /embed-token, which answers a guest token. It is not',
};
const takenKind: Readonly<Record<Wire, string>> = {
  apiKey: 'an API key, which a service token makes with POST /api/v2/data-app/api-tokens',
  serviceToken: 'a service token',
  guestToken: 'a guest token, which POST /embed-token and POST /api/v2/guest-token/create answer',
};

const isJwt = (bearer: string): boolean => /^[\w-]+\.[\w-]+\.[\w-]*$/.test(bearer);

const isLive = (key: Pick<StoredKey, 'expiresAt'>, clock: Clock): boolean =>
  key.expiresAt === null || key.expiresAt > clock.now();

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
 * Returns what the credential is, where it is a live one of another kind, or a JWT by its form. Who guesses a credential
 * learns nothing: what is unknown, revoked or expired is never named.
 */
const findOtherKind = async (deps: Deps, kinds: readonly Wire[], bearer: string): Promise<Wire | 'session' | null> => {
  const { store, clock } = deps;
  const stores = { apiKey: store.apiKeys, serviceToken: store.serviceTokens, guestToken: store.guestTokens };
  for (const kind of ['apiKey', 'serviceToken', 'guestToken'] as const) {
    if (kinds.includes(kind)) continue;
    const found = await findSame<Pick<StoredKey, 'hash' | 'expiresAt'>>(deps, bearer, stores[kind].findByHash);
    if (found !== undefined && isLive(found, clock)) return kind;
  }
  return isJwt(bearer) ? 'session' : null;
};

const denial = async (deps: Deps, kinds: readonly Wire[], bearer: string | undefined): Promise<Refusal> => {
  const message = kinds.map((kind) => deniedMessage[kind]).join('; or ');
  if (bearer === undefined || bearer === '')
    return new Refusal('AUTHENTICATION_ERROR', message, { reason: 'credential-missing' });
  const other = await findOtherKind(deps, kinds, bearer);
  if (other === null) return new Refusal('AUTHENTICATION_ERROR', message, { reason: 'credential-not-recognised' });
  const wanted = kinds.map((kind) => takenKind[kind]).join(' or ');
  return new Refusal('AUTHENTICATION_ERROR', `${message}. ${otherKind[other]} ${wanted}.`, {
    reason: 'credential-of-another-kind',
  });
};

/**
 * Returns a function that finds the caller of `bearer` among the kinds that the operation accepts. It throws
 * AUTHENTICATION_ERROR, which names a credential of another kind, or TOKEN_EXPIRED.
 */
export const createAuthenticate = (deps: Deps) => {
  const recognisers = recognise(deps);
  return async (kinds: readonly Wire[], bearer: string | undefined): Promise<Caller> => {
    for (const kind of kinds) {
      const caller = bearer === undefined || bearer === '' ? undefined : await recognisers[kind](bearer);
      if (caller !== undefined) return caller;
    }
    throw await denial(deps, kinds, bearer);
  };
};
