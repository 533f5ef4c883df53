/** Guest tokens at the service that gave them: ended there, they are good nowhere. Beyond the interface: not every service can. */
import { type Call, UpstreamRefusal } from '../../contract/client.js';
import { listGuestTokens, revokeGuestTokens } from '../../contract/guest-token-admin.js';
import { Refusal } from '../../domain/refusal.js';
import type { Log } from '../../platform/log.js';

/** Whose tokens: of a user in each tenant (or in one), of a tenant, or all of the data app. */
export type TokensOf =
  | { readonly of: 'user'; readonly userIdentifier: string; readonly clientId: string | null }
  | { readonly of: 'tenant'; readonly clientId: string }
  | { readonly of: 'all' };

export type ServiceTokens = {
  /** Answers how many worked until now. Throws NOT_SUPPORTED, and UPSTREAM_UNAVAILABLE. */
  readonly revoke: (tokens: TokensOf) => Promise<number>;
  /** Ends one that nobody was given. What fails is logged: it is good until it expires, in nobody's hands. */
  readonly discard: (token: string) => Promise<void>;
};

/** The part of the capability table that is needed here. Throws NOT_SUPPORTED, and UPSTREAM_UNAVAILABLE. */
export type RequireCapability = (name: 'revoke-guest-tokens' | 'list-guest-tokens') => Promise<void>;

export type ServiceTokensOptions = {
  readonly upstream: Call;
  readonly requireCapability: RequireCapability;
  readonly log: Log;
};

/** For a service that says itself whether it knows the operation: what has no such path answers 404 or 405. */
const notSupported = (cause: UpstreamRefusal): Refusal =>
  new Refusal(
    'NOT_SUPPORTED',
    'Not supported here: the analytics service behind this gateway cannot revoke guest tokens.',
    { cause },
  );

const isUnknownThere = ({ status }: UpstreamRefusal): boolean => [404, 405, 501].includes(status);

export const createServiceTokens = ({ upstream, requireCapability, log }: ServiceTokensOptions): ServiceTokens => {
  const ask = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      throw error instanceof UpstreamRefusal && isUnknownThere(error) ? notSupported(error) : error;
    }
  };
  const revokeOne = (clientId: string, userIdentifier?: string): Promise<number> =>
    ask(async () => {
      await requireCapability('revoke-guest-tokens');
      const who = userIdentifier === undefined ? { clientId } : { clientId, userIdentifier };
      return (await upstream(revokeGuestTokens, who)).data.revoked;
    });
  /** The operation takes a user within a client: which clients, the service knows. */
  const revokeUser = async (userIdentifier: string): Promise<number> => {
    const { data } = await ask(async () => {
      await requireCapability('list-guest-tokens');
      return upstream(listGuestTokens, { userIdentifier });
    });
    let revoked = 0;
    for (const clientId of new Set(data.map((token) => token.clientId))) {
      revoked += await revokeOne(clientId, userIdentifier);
    }
    return revoked;
  };
  const revokeAll = (): Promise<number> =>
    ask(async () => {
      await requireCapability('revoke-guest-tokens');
      return (await upstream(revokeGuestTokens, { all: true })).data.revoked;
    });
  return {
    revoke: async (tokens) => {
      if (tokens.of === 'all') return revokeAll();
      if (tokens.of === 'tenant') return revokeOne(tokens.clientId);
      const { userIdentifier, clientId } = tokens;
      return clientId === null ? revokeUser(userIdentifier) : revokeOne(clientId, userIdentifier);
    },
    discard: async (token) => {
      try {
        await ask(async () => {
          await requireCapability('revoke-guest-tokens');
          return upstream(revokeGuestTokens, { token });
        });
      } catch (error) {
        const isForeign = error instanceof Refusal && error.code === 'NOT_SUPPORTED';
        if (isForeign)
          log.debug({ event: 'guest_token.kept', err: error }, 'the service cannot revoke an unused guest token');
        else log.warn({ event: 'guest_token.revoke_failed', err: error }, 'failed to revoke an unused guest token');
      }
    },
  };
};
