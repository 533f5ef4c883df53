import type { Kysely, Selectable } from 'kysely';
import type { ServiceTokenStore, StoredKey } from '../domain/ports.js';
import { wasInserted } from './query.js';
import type { Tables } from './tables.js';

type Row = Selectable<Tables['service_tokens']>;

/** API keys are at rest as service tokens are. */
export const decodeKey = (row: Row): StoredKey => ({
  id: row.id,
  name: row.name,
  hash: row.hash,
  createdAt: row.created_at,
  expiresAt: row.expires_at,
});

export const encodeKey = (key: StoredKey): Row => ({
  id: key.id,
  name: key.name,
  hash: key.hash,
  created_at: key.createdAt,
  expires_at: key.expiresAt,
});

/** `insert` answers false for an id or a hash that is there already. */
export const createServiceTokenStore = (db: Kysely<Tables>): ServiceTokenStore => ({
  insert: async (key) =>
    wasInserted(
      await db
        .insertInto('service_tokens')
        .values(encodeKey(key))
        .onConflict((oc) => oc.doNothing())
        .executeTakeFirst(),
    ),
  findByHash: async (hash) => {
    const row = await db.selectFrom('service_tokens').selectAll().where('hash', '=', hash).executeTakeFirst();
    return row && decodeKey(row);
  },
});
