/**
 * Revokes guest tokens at the service that issued them. This is not part of the interface, so not every service
 * supports it.
 */
import type { z } from 'zod';
import { Refusal } from '../../model/refusal.js';
import { type Call, UpstreamRefusal } from '../../platform/http/interface/client.js';
import type { Log } from '../../platform/logs/log.js';
import { listGuestTokens, revokeGuestTokens } from '../../service/guest-tokens/contract/admin.js';
import type { Capabilities } from '../upstream/capabilities.js';

/**
 * The tokens to revoke (`isOwn`: only those that this gateway minted, if the service can tell): of a user in one tenant (in all tenants if `clientId` is null), of a tenant, or all of the data
 * app.
 */
export type TokensOf =
  | {
      readonly of: 'user';
      readonly userIdentifier: string;
      readonly clientId: string | null;
      readonly isOwn?: true | undefined;
    }
  | { readonly of: 'tenant'; readonly clientId: string }
  | { readonly of: 'all'; readonly isOwn?: true | undefined };

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
  readonly supports: Capabilities['supports'];
  /** The id of this gateway's deployment. */
  readonly gatewayId: string;
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
  const { upstream, requireCapability, supports, gatewayId } = options;
  type Which = Extract<z.input<(typeof revokeGuestTokens)['input']>, { clientId: string } | { all: true }>;
  const revokeThose = (which: Which, isOwn = false): Promise<number> =>
    ask(async () => {
      await requireCapability('revoke-guest-tokens');
      // A service that cannot tell them apart revokes those of all gateways: too much is safe, too little is not.
      const own = isOwn && (await supports('tell-gateways-apart')) ? { gateway: gatewayId } : {};
      return (await upstream(revokeGuestTokens, { ...which, ...own })).data.revoked;
    });
  const revokeOne = (clientId: string, userIdentifier?: string, isOwn?: boolean): Promise<number> =>
    revokeThose(userIdentifier === undefined ? { clientId } : { clientId, userIdentifier }, isOwn);
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
  return {
    revoke: async (tokens) => {
      if (tokens.of === 'all') return revokeThose({ all: true }, tokens.isOwn);
      if (tokens.of === 'tenant') return revokeOne(tokens.clientId);
      const { userIdentifier, clientId, isOwn } = tokens;
      return clientId === null ? revokeUser(userIdentifier) : revokeOne(clientId, userIdentifier, isOwn);
    },
    discard: createDiscard(options),
  };
};
