import type { Kysely, Selectable } from 'kysely';
import type { HashedToken } from '../../model/brand.js';
import type { StoredApiKey } from '../../model/credentials.js';
import type { Page } from '../../model/page.js';
import { mapItems } from '../../model/slices.js';
import { listRows } from './list-rows.js';
import { inTransaction, wasInserted } from './query.js';
import { decodeKey, earlier, encodeKey, type NewKey } from './service-tokens.js';
import type { Tables } from './tables.js';

type NewApiKey = NewKey & { readonly dataAppId: string; readonly description?: string | null };

const decode = (row: Selectable<Tables['api_keys']>): StoredApiKey => ({
  ...decodeKey(row),
  dataAppId: row.data_app_id,
  description: row.description,
});

/**
 * Locks the data app, so that replacements and revocations of its keys run one after the other. A revocation then also
 * finds the successor of a key that is being replaced.
 */
const lockDataApp = async (db: Kysely<Tables>, dataAppId: string): Promise<void> => {
  await db.selectFrom('data_apps').select('id').where('id', '=', dataAppId).forNoKeyUpdate().execute();
};

export const createApiKeyStore = (db: Kysely<Tables>) => ({
  /** Returns false if a current key of the data app has the name, or if the hash was ever stored. */
  insert: async (key: NewApiKey) =>
    wasInserted(
      await db
        .insertInto('api_keys')
        .values({ ...encodeKey(key), data_app_id: key.dataAppId, description: key.description ?? null })
        .onConflict((oc) => oc.doNothing())
        .executeTakeFirst(),
    ),
  /** Whether a key with this hash exists or existed. */
  isKnown: async (hash: HashedToken) =>
    (await db.selectFrom('api_keys').select('id').where('hash', '=', hash).executeTakeFirst()) !== undefined,
  /**
   * Returns the key unless it is revoked. An expired key is returned too: the caller compares `expiresAt` with its own
   * clock.
   */
  findByHash: async (hash: HashedToken): Promise<(StoredApiKey & { readonly dataAppName: string }) | undefined> => {
    const row = await db
      .selectFrom('api_keys')
      .innerJoin('data_apps', 'data_apps.id', 'api_keys.data_app_id')
      .selectAll('api_keys')
      .select('data_apps.name as data_app_name')
      .where('api_keys.hash', '=', hash)
      .where('api_keys.revoked_at', 'is', null)
      .executeTakeFirst();
    return row && { ...decode(row), dataAppName: row.data_app_name };
  },
  /** Returns the current keys, ordered by name. */
  listByDataApp: (dataAppId: string, wanted: Page | null) =>
    mapItems(listRows(current(db, dataAppId).selectAll(), ['name'], wanted), decode),
  /**
   * Sets the end of a current key to `expiresAt`, and makes its name available for the successor. Returns the key, or
   * undefined if it is not current.
   */
  replace: (
    key: { readonly dataAppId: string; readonly id: string },
    when: { readonly now: Date; readonly expiresAt: Date },
  ) => inTransaction(db, (transaction) => replace(transaction, key, when)),
  /**
   * Revokes the current key of that name and every key that it replaced. Returns false if there is no current key of
   * that name.
   */
  revoke: (dataAppId: string, name: string, now: Date) =>
    inTransaction(db, (transaction) => revoke(transaction, dataAppId, name, now)),
});

/**
 * Stores API keys. A key is current until it is revoked or replaced; names are unique among current keys. Revoked and
 * expired keys stay as tombstones, found by their hash, so that no start of the service creates them again.
 */
export type ApiKeyStore = ReturnType<typeof createApiKeyStore>;

const current = (db: Kysely<Tables>, dataAppId: string) =>
  db
    .selectFrom('api_keys')
    .where('data_app_id', '=', dataAppId)
    .where('revoked_at', 'is', null)
    .where('replaced_at', 'is', null);

const replace = async (
  db: Kysely<Tables>,
  { dataAppId, id }: { readonly dataAppId: string; readonly id: string },
  { now, expiresAt }: { readonly now: Date; readonly expiresAt: Date },
): Promise<StoredApiKey | undefined> => {
  await lockDataApp(db, dataAppId);
  const row = await current(db, dataAppId).selectAll().where('id', '=', id).executeTakeFirst();
  if (row === undefined) return undefined;
  await db
    .updateTable('api_keys')
    .set({ replaced_at: now, expires_at: earlier(row.expires_at, expiresAt) })
    .where('id', '=', id)
    .execute();
  return decode(row);
};

const revoke = async (db: Kysely<Tables>, dataAppId: string, name: string, now: Date): Promise<boolean> => {
  await lockDataApp(db, dataAppId);
  const row = await current(db, dataAppId).select('id').where('name', '=', name).executeTakeFirst();
  if (row === undefined) return false;
  await db
    .updateTable('api_keys')
    .set({ revoked_at: now })
    .where('data_app_id', '=', dataAppId)
    .where('name', '=', name)
    .where('revoked_at', 'is', null)
    .execute();
  return true;
};
