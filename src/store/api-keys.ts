import type { Kysely } from 'kysely';
import type { ApiKeyStore } from '../domain/ports.js';
import { wasInserted } from './query.js';
import { decodeKey, encodeKey } from './service-tokens.js';
import type { Tables } from './tables.js';

/** `insert` answers false for an id or a hash that is there already. */
export const createApiKeyStore = (db: Kysely<Tables>): ApiKeyStore => ({
  insert: async (key) =>
    wasInserted(
      await db
        .insertInto('api_keys')
        .values({ ...encodeKey(key), data_app_id: key.dataAppId })
        .onConflict((oc) => oc.doNothing())
        .executeTakeFirst(),
    ),
  findByHash: async (hash) => {
    const row = await db
      .selectFrom('api_keys')
      .innerJoin('data_apps', 'data_apps.id', 'api_keys.data_app_id')
      .selectAll('api_keys')
      .select('data_apps.name as data_app_name')
      .where('api_keys.hash', '=', hash)
      .executeTakeFirst();
    return row && { ...decodeKey(row), dataAppId: row.data_app_id, dataAppName: row.data_app_name };
  },
});
