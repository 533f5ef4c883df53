/**
 * Revokes guest tokens at the service that issued them. This is not part of the interface, so not every service
 * supports it.
 */
import { type Call, UpstreamRefusal } from '../../contract/client.js';
import { listGuestTokens, revokeGuestTokens } from '../../contract/guest-token-admin.js';
import { Refusal } from '../../domain/refusal.js';
import type { Log } from '../../platform/log.js';

/**
 * The tokens to revoke: of a user in one tenant (in all tenants if `clientId` is null), of a tenant, or all of the data
 * app.
 */
export type TokensOf =
  | { readonly of: 'user'; readonly userIdentifier: string; readonly clientId: string | null }
  | { readonly of: 'tenant'; readonly clientId: string }
  | { readonly of: 'all' };

export type ServiceTokens = {
  /** Resolves to the number of revoked tokens. Throws NOT_SUPPORTED or UPSTREAM_UNAVAILABLE. */
  readonly revoke: (tokens: TokensOf) => Promise<number>;
  /** Revokes a token that was never returned. Never rejects. A failure is logged, and the token expires unused. */
  readonly discard: (token: string) => Promise<void>;
};

/**
 * Throws NOT_SUPPORTED if the service lacks the capability, or UPSTREAM_UNAVAILABLE if that cannot be determined now.
 */
export type RequireCapability = (name: 'revoke-guest-tokens' | 'list-guest-tokens') => Promise<void>;

export type ServiceTokensOptions = {
  readonly upstream: Call;
  readonly requireCapability: RequireCapability;
  readonly log: Log;
};

/**
 * The error for a service that reports the capability but responds with 404, 405 or 501, as it does for unknown paths.
 */
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

/** Creates `ServiceTokens.discard`, which never rejects. */
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
  /** The operation revokes a user's tokens of one client, so the user's clients are listed first. */
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
