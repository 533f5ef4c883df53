/** Lists and revokes the guest tokens of a data app, and removes tokens that expired long ago. */

import type { ListedGuestToken } from '../../model/credentials.js';
import type { ApiKeyCaller } from '../../model/guest/caller.js';
import { pageOf } from '../../model/page.js';
import type { Clock, Tokens } from '../../model/ports.js';
import type { Engine } from '../../model/query/engine.js';
import type { Slices } from '../../model/slices.js';
import type { Revocation } from '../store/revocations.js';
import type { Store } from '../store/store.js';

export type ListGuestTokens = {
  readonly clientId?: string | undefined;
  readonly userIdentifier?: string | undefined;
  readonly tokenDigest?: string | undefined;
  readonly isPagination: boolean;
  readonly pageNumber: number;
};

type Deps = { readonly store: Pick<Store, 'guestTokens'>; readonly clock: Clock };

/** Returns the valid guest tokens of the key's own data app. */
export const listGuestTokens =
  ({ store, clock }: Deps) =>
  async (
    caller: ApiKeyCaller,
    { clientId, userIdentifier, tokenDigest, ...paging }: ListGuestTokens,
  ): Promise<Slices<ListedGuestToken>> =>
    store.guestTokens.listLive(
      { dataAppId: caller.dataAppId, clientId, userIdentifier, tokenDigest, now: clock.now() },
      pageOf(paging),
    );

/** Selects the tokens to revoke in exactly one of these forms. */
export type RevokeGuestTokens =
  | { readonly id: string }
  | { readonly token: string }
  | { readonly clientId: string; readonly userIdentifier?: string | undefined; readonly gateway?: string | undefined }
  | { readonly all: true; readonly gateway?: string | undefined };

const revocationOf = (command: RevokeGuestTokens, tokens: Tokens): Revocation => {
  if ('id' in command) return { kind: 'id', id: command.id };
  if ('token' in command) return { kind: 'token', hash: tokens.hash(command.token) };
  const { gateway } = command;
  if ('all' in command) return { kind: 'all', gateway };
  return { kind: 'client', clientId: command.clientId, userIdentifier: command.userIdentifier ?? null, gateway };
};

/**
 * Revokes guest tokens of the key's own data app. In every process, the next read with such a token fails. Returns how
 * many tokens were valid.
 */
export const revokeGuestTokens =
  ({
    store,
    engine,
    clock,
    tokens,
  }: Deps & { readonly engine: Pick<Engine, 'forgetClient'>; readonly tokens: Tokens }) =>
  async ({ dataAppId }: ApiKeyCaller, command: RevokeGuestTokens): Promise<{ readonly revoked: number }> => {
    const revocation = revocationOf(command, tokens);
    const revoked = await store.guestTokens.revoke(dataAppId, revocation, clock.now());
    // Cached answers are shared by all users of a client, so revoking one user or one token does not clear them.
    if (revocation.kind === 'all') await engine.forgetClient(dataAppId, null);
    if (revocation.kind === 'client' && revocation.userIdentifier === null)
      await engine.forgetClient(dataAppId, revocation.clientId);
    return { revoked };
  };
