/** API keys: named credentials of a data app. A key is sent only in the answer that creates it. */

import type { StoredApiKey } from '../../model/credentials.js';
import type { ApiKeyCaller, ServiceCaller } from '../../model/guest/caller.js';
import { keyHintOf } from '../../model/organization.js';
import { pageOf } from '../../model/page.js';
import type { Clock, Ids, Tokens } from '../../model/ports.js';
import { Refusal } from '../../model/refusal.js';
import type { Slices } from '../../model/slices.js';
import { loadDataApp } from '../data-apps/data-apps.js';
import type { Store } from '../store/store.js';

type Deps = { readonly store: Store; readonly clock: Clock; readonly ids: Ids; readonly tokens: Tokens };
export type NewCredential = { readonly key: string };

export type CreateApiKey = {
  readonly dataAppName: string;
  readonly name: string;
  readonly description?: string | undefined;
};

/** Throws DATA_APP_NOT_FOUND or API_KEY_ALREADY_EXISTS. Of two simultaneous calls with one name, one creates a key. */
export const createApiKey =
  ({ store, clock, ids, tokens }: Deps) =>
  async (_caller: ServiceCaller, { dataAppName, name, description }: CreateApiKey): Promise<NewCredential> => {
    const key = tokens.create();
    await store.transaction(async (inner) => {
      const { id: dataAppId } = await loadDataApp(inner, dataAppName, 'held');
      const isMade = await inner.apiKeys.insert({
        id: ids.uuid(),
        dataAppId,
        name,
        description: description ?? null,
        hash: tokens.hash(key),
        keyHint: keyHintOf(key),
        createdAt: clock.now(),
        expiresAt: null,
      });
      if (!isMade) throw nameTaken(dataAppName, name);
    });
    return { key };
  };

const nameTaken = (dataAppName: string, name: string): Refusal =>
  new Refusal(
    'API_KEY_ALREADY_EXISTS',
    `Data app ${JSON.stringify(dataAppName)} has a key named ${JSON.stringify(name)} already; choose another name, or rotate that key.`,
  );

export type ListApiKeys = {
  readonly dataAppName: string;
  readonly isPagination: boolean;
  readonly pageNumber: number;
};

/** Returns the current keys of the data app, ordered by name. Throws DATA_APP_NOT_FOUND. */
export const listApiKeys =
  ({ store }: Pick<Deps, 'store'>) =>
  async (_caller: ServiceCaller, { dataAppName, ...paging }: ListApiKeys): Promise<Slices<StoredApiKey>> => {
    const dataApp = await loadDataApp(store, dataAppName);
    return store.apiKeys.listByDataApp(dataApp.id, pageOf(paging));
  };

/**
 * Revokes the key of that name at once, and the keys that it replaced. Throws DATA_APP_NOT_FOUND or API_KEY_NOT_FOUND.
 */
export const deleteApiKey =
  ({ store, clock }: Pick<Deps, 'store' | 'clock'>) =>
  async (
    _caller: ServiceCaller,
    { dataAppName, name }: { readonly dataAppName: string; readonly name: string },
  ): Promise<{ readonly name: string }> => {
    const dataApp = await loadDataApp(store, dataAppName);
    if (!(await store.apiKeys.revoke(dataApp.id, name, clock.now()))) {
      throw new Refusal(
        'API_KEY_NOT_FOUND',
        `Data app ${JSON.stringify(dataAppName)} has no key named ${JSON.stringify(name)}; list its keys by GET /api/v2/data-app/api-tokens.`,
      );
    }
    return { name };
  };

/** Returns when a credential that is replaced now expires, after `seconds` of grace. */
export const endOfGrace = (now: Date, seconds: number): Date => new Date(now.getTime() + seconds * 1000);

/**
 * Replaces the caller's own key by a new one of the same name. Throws API_KEY_ALREADY_EXISTS if the key was already
 * replaced or revoked: of two simultaneous calls one creates a key, and a key in its grace period cannot be rotated
 * again.
 */
export const rotateApiKey =
  ({ store, clock, ids, tokens }: Deps) =>
  async (caller: ApiKeyCaller, { expireAt }: { readonly expireAt: number }): Promise<NewCredential> => {
    const key = tokens.create();
    const now = clock.now();
    await store.transaction(async (inner) => {
      const own = { dataAppId: caller.dataAppId, id: caller.keyId };
      const replaced = await inner.apiKeys.replace(own, { now, expiresAt: endOfGrace(now, expireAt) });
      if (replaced === undefined) {
        throw new Refusal(
          'API_KEY_ALREADY_EXISTS',
          'This key was already rotated or revoked. Use its successor, or create a new key.',
          { reason: 'key-rotated-already' },
        );
      }
      const { name, description, dataAppId, expiresAt } = replaced;
      const successor = { id: ids.uuid(), name, description, dataAppId, expiresAt, createdAt: now };
      if (!(await inner.apiKeys.insert({ ...successor, hash: tokens.hash(key), keyHint: keyHintOf(key) })))
        throw new Error('the name of a rotated key was not free');
    });
    return { key };
  };
