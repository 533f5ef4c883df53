/** Revokes guest tokens at the service that issued them. Beyond the interface: not every service can. */
import { type Call, UpstreamRefusal } from '../../contract/client.js';
import { listGuestTokens, revokeGuestTokens } from '../../contract/guest-token-admin.js';
import { Refusal } from '../../domain/refusal.js';
import type { Log } from '../../platform/log.js';

/** Which tokens: of a user in one tenant (`clientId` null: in every tenant), of a tenant, or all of the data app. */
export type TokensOf =
  | { readonly of: 'user'; readonly userIdentifier: string; readonly clientId: string | null }
  | { readonly of: 'tenant'; readonly clientId: string }
  | { readonly of: 'all' };

export type ServiceTokens = {
  /** Resolves to how many tokens it revoked. Throws NOT_SUPPORTED and UPSTREAM_UNAVAILABLE. */
  readonly revoke: (tokens: TokensOf) => Promise<number>;
  /** Revokes a token that was never answered. Never rejects: a failure is logged, and the token expires unused. */
  readonly discard: (token: string) => Promise<void>;
};

/** Throws NOT_SUPPORTED if the service lacks the capability, UPSTREAM_UNAVAILABLE if that is not known now. */
export type RequireCapability = (name: 'revoke-guest-tokens' | 'list-guest-tokens') => Promise<void>;

export type ServiceTokensOptions = {
  readonly upstream: Call;
  readonly requireCapability: RequireCapability;
  readonly log: Log;
};

/** For a service that claims the capability and then answers 404, 405 or 501, as it does for unknown paths. */
const notSupported = (cause: UpstreamRefusal): Refusal =>
  new Refusal(
    'NOT_SUPPORTED',
    'Not supported here: the analytics service behind this gateway cannot revoke guest tokens.',
    { cause },
  );

const isUnknownThere = ({ status }: UpstreamRefusal): boolean => [404, 405, 501].includes(status);

const ask = async <T>(work: () => Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (error) {
    throw error instanceof UpstreamRefusal && isUnknownThere(error) ? notSupported(error) : error;
  }
};

/** Never rejects: see `ServiceTokens.discard`. */
const createDiscard =
  ({ upstream, requireCapability, log }: ServiceTokensOptions): ServiceTokens['discard'] =>
  async (token) => {
    try {
      await ask(async () => {
        await requireCapability('revoke-guest-tokens');
        return upstream(revokeGuestTokens, { token });
      });
    } catch (err) {
      if (err instanceof Refusal && err.code === 'NOT_SUPPORTED')
        log.debug({ event: 'guest_token.kept', err }, 'the service cannot revoke an unused guest token');
      else log.warn({ event: 'guest_token.revoke_failed', err }, 'failed to revoke an unused guest token');
    }
  };

export const createServiceTokens = (options: ServiceTokensOptions): ServiceTokens => {
  const { upstream, requireCapability } = options;
  const revokeOne = (clientId: string, userIdentifier?: string): Promise<number> =>
    ask(async () => {
      await requireCapability('revoke-guest-tokens');
      const who = userIdentifier === undefined ? { clientId } : { clientId, userIdentifier };
      return (await upstream(revokeGuestTokens, who)).data.revoked;
    });
  /** The operation takes a user within one client, so the clients of the user are listed first. */
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
    discard: createDiscard(options),
  };
};
