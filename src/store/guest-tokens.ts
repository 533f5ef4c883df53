import type { Insertable, Kysely, Selectable } from 'kysely';
import type { HashedToken } from '../domain/brand.js';
import type { GuestGrant } from '../domain/guest.js';
import type { GuestTokenStore } from '../domain/ports.js';
import { jsonb } from './document.js';
import type { GrantDocument, Tables } from './tables.js';

const decode = (row: Selectable<Tables['guest_tokens']>): GuestGrant => ({
  ...row.grants,
  id: row.id,
  dataAppId: row.data_app_id,
  clientId: row.client_id,
  userIdentifier: row.user_identifier,
  datamartId: row.datamart_id,
  // Grants that were written before tokens had this scope lack it.
  datasourceId: row.grants.datasourceId ?? null,
  createdAt: row.created_at,
  expiresAt: row.expires_at,
});

const encode = (hash: HashedToken, grant: GuestGrant): Insertable<Tables['guest_tokens']> => {
  const { id, dataAppId, clientId, userIdentifier, datamartId, createdAt, expiresAt, ...rest } = grant;
  return {
    id,
    hash,
    data_app_id: dataAppId,
    client_id: clientId,
    user_identifier: userIdentifier,
    datamart_id: datamartId,
    grants: jsonb(rest satisfies GrantDocument),
    created_at: createdAt,
    expires_at: expiresAt,
  };
};

/** Expired tokens are found too: whoever asks compares `expiresAt` with its own clock. */
export const createGuestTokenStore = (db: Kysely<Tables>): GuestTokenStore => ({
  insert: async (hash, grant) => {
    await db.insertInto('guest_tokens').values(encode(hash, grant)).execute();
  },
  findByHash: async (hash) => {
    const row = await db.selectFrom('guest_tokens').selectAll().where('hash', '=', hash).executeTakeFirst();
    return row && decode(row);
  },
});
