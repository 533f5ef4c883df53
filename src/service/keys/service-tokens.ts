/** Service tokens: named credentials of the organization. A token is sent only in the answer that creates it. */

import type { StoredKey } from '../../model/credentials.js';
import type { ServiceCaller } from '../../model/guest/caller.js';
import { keyHintOf } from '../../model/organization.js';
import { pageOf } from '../../model/page.js';
import type { Clock, Ids, Tokens } from '../../model/ports.js';
import { Refusal } from '../../model/refusal.js';
import type { Slices } from '../../model/slices.js';
import type { Store } from '../store/store.js';
import { endOfGrace, type NewCredential } from './api-keys.js';

type Deps = { readonly store: Store; readonly clock: Clock; readonly ids: Ids; readonly tokens: Tokens };
type Named = { readonly name: string };

/**
 * Throws SERVICE_TOKEN_ALREADY_EXISTS if the name is taken. Of two simultaneous calls with one name, one creates a
 * token.
 */
export const createServiceToken =
  ({ store, clock, ids, tokens }: Deps) =>
  async (_caller: ServiceCaller, { name }: Named): Promise<NewCredential> => {
    const key = tokens.create();
    const token = { id: ids.uuid(), name, createdAt: clock.now(), expiresAt: null };
    if (!(await store.serviceTokens.insert({ ...token, hash: tokens.hash(key), keyHint: keyHintOf(key) }))) {
      throw new Refusal(
        'SERVICE_TOKEN_ALREADY_EXISTS',
        `There is a service token named ${JSON.stringify(name)} already; choose another name, or rotate that token.`,
      );
    }
    return { key };
  };

export const listServiceTokens =
  ({ store }: Pick<Deps, 'store'>) =>
  async (
    _caller: ServiceCaller,
    paging: { readonly isPagination: boolean; readonly pageNumber: number },
  ): Promise<Slices<StoredKey>> =>
    store.serviceTokens.list(pageOf(paging));

/**
 * Revokes the token of that name at once, and the tokens that it replaced. Throws SERVICE_TOKEN_NOT_FOUND, and
 * INVALID_REQUEST_BODY for the last current token: without one, nobody could create another.
 */
export const deleteServiceToken =
  ({ store, clock }: Pick<Deps, 'store' | 'clock'>) =>
  async (_caller: ServiceCaller, { name }: Named): Promise<Named> => {
    const outcome = await store.serviceTokens.revoke(name, clock.now());
    if (outcome === 'unknown') {
      throw new Refusal(
        'SERVICE_TOKEN_NOT_FOUND',
        `There is no service token named ${JSON.stringify(name)}; list them by GET /api/v2/service-token.`,
      );
    }
    if (outcome === 'last') {
      throw new Refusal(
        'INVALID_REQUEST_BODY',
        `name: ${JSON.stringify(name)} is the last service token; make another first by POST /api/v2/service-token.`,
        { reason: 'last-service-token' },
      );
    }
    return { name };
  };

/** As `rotateApiKey`. Throws SERVICE_TOKEN_ALREADY_EXISTS if the token was already replaced or revoked. */
export const rotateServiceToken =
  ({ store, clock, ids, tokens }: Deps) =>
  async (caller: ServiceCaller, { expireAt }: { readonly expireAt: number }): Promise<NewCredential> => {
    const key = tokens.create();
    const now = clock.now();
    await store.transaction(async (inner) => {
      const replaced = await inner.serviceTokens.replace(caller.tokenId, {
        now,
        expiresAt: endOfGrace(now, expireAt),
      });
      if (replaced === undefined) {
        throw new Refusal(
          'SERVICE_TOKEN_ALREADY_EXISTS',
          'This service token was already rotated or revoked. Use its successor, or create a new one.',
          { reason: 'token-rotated-already' },
        );
      }
      const { name, expiresAt } = replaced;
      const successor = { id: ids.uuid(), name, expiresAt, createdAt: now };
      if (!(await inner.serviceTokens.insert({ ...successor, hash: tokens.hash(key), keyHint: keyHintOf(key) })))
        throw new Error('the name of a rotated service token was not free');
    });
    return { key };
  };
