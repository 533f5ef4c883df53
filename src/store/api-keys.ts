import type { Kysely, Selectable } from 'kysely';
import { mapItems } from '../domain/slices.js';
import type { ApiKeyStore, StoredApiKey } from '../domain/store/credentials.js';
import { decodeKey, earlier, encodeKey } from './key-rows.js';
import { listRows } from './list-rows.js';
import { inTransaction, wasInserted } from './query.js';
import type { Tables } from './tables.js';

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

export const createApiKeyStore = (db: Kysely<Tables>): ApiKeyStore => ({
  insert: async (key) =>
    wasInserted(
      await db
        .insertInto('api_keys')
        .values({ ...encodeKey(key), data_app_id: key.dataAppId, description: key.description ?? null })
        .onConflict((oc) => oc.doNothing())
        .executeTakeFirst(),
    ),
  isKnown: async (hash) =>
    (await db.selectFrom('api_keys').select('id').where('hash', '=', hash).executeTakeFirst()) !== undefined,
  findByHash: async (hash) => {
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
  listByDataApp: (dataAppId, wanted) =>
    mapItems(listRows(current(db, dataAppId).selectAll(), ['name'], wanted), decode),
  replace: (key, when) => inTransaction(db, (transaction) => replace(transaction, key, when)),
  revoke: (dataAppId, name, now) => inTransaction(db, (transaction) => revoke(transaction, dataAppId, name, now)),
});

const current = (db: Kysely<Tables>, dataAppId: string) =>
  db
    .selectFrom('api_keys')
    .where('data_app_id', '=', dataAppId)
    .where('revoked_at', 'is', null)
    .where('replaced_at', 'is', null);

const replace = async (
  db: Kysely<Tables>,
  { dataAppId, id }: Parameters<ApiKeyStore['replace']>[0],
  { now, expiresAt }: Parameters<ApiKeyStore['replace']>[1],
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
