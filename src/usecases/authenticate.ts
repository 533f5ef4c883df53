/** From a bearer credential to a caller: recognised, denied, or not this kind. Found by hash, so nothing is compared in the open. */
import type { ApiKeyCaller, Caller, GuestCaller, ServiceCaller } from '../domain/caller.js';
import type { Clock, Store, StoredKey, Tokens } from '../domain/ports.js';
import { Refusal } from '../domain/refusal.js';

type Deps = {
  readonly store: Pick<Store, 'apiKeys' | 'serviceTokens' | 'guestTokens'>;
  readonly clock: Clock;
  readonly tokens: Tokens;
};
type CallerKinds = { apiKey: ApiKeyCaller; serviceToken: ServiceCaller; guestToken: GuestCaller };
type Wire = keyof CallerKinds;

/** Clients match on these texts. */
const deniedMessage: Readonly<Record<Wire, string>> = {
  apiKey: 'API key is invalid or expired',
  serviceToken: 'invalid service token',
  guestToken: 'guest token is invalid or was revoked; ask the host application for a new one',
};

const isLive = (key: StoredKey, clock: Clock): boolean => key.expiresAt === null || key.expiresAt > clock.now();

const recognise = ({
  store,
  clock,
  tokens,
}: Deps): { readonly [K in Wire]: (bearer: string) => Promise<Caller | undefined> } => ({
  apiKey: async (bearer) => {
    const key = await store.apiKeys.findByHash(tokens.hash(bearer));
    if (key === undefined || !isLive(key, clock)) return undefined;
    return { kind: 'apiKey', keyId: key.id, dataAppId: key.dataAppId, dataAppName: key.dataAppName };
  },
  serviceToken: async (bearer) => {
    const key = await store.serviceTokens.findByHash(tokens.hash(bearer));
    return key !== undefined && isLive(key, clock) ? { kind: 'serviceToken', tokenId: key.id } : undefined;
  },
  guestToken: async (bearer) => {
    const grant = await store.guestTokens.findByHash(tokens.hash(bearer));
    if (grant === undefined) return undefined;
    if (grant.expiresAt !== null && grant.expiresAt <= clock.now()) {
      throw new Refusal('TOKEN_EXPIRED', 'The guest token has expired; ask the host application for a new one.');
    }
    return { kind: 'guest', grant };
  },
});

/** The caller behind `bearer`, of one of the kinds that the operation takes. Throws AUTHENTICATION_ERROR or TOKEN_EXPIRED. */
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
