import type { Insertable, Kysely, Selectable } from 'kysely';
import type { HashedToken } from '../domain/brand.js';
import type { GuestGrant } from '../domain/guest.js';
import type { GuestTokenStore } from '../domain/ports.js';
import { jsonb } from './document.js';
import { inTransaction } from './query.js';
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
  insert: (hash, grant) => inTransaction(db, (transaction) => insert(transaction, hash, grant)),
  findByHash: async (hash) => {
    const row = await db.selectFrom('guest_tokens').selectAll().where('hash', '=', hash).executeTakeFirst();
    return row && decode(row);
  },
});

/** The embeds' rows stay locked until the token is there: who deletes one afterwards finds the token, too. */
const insert = async (db: Kysely<Tables>, hash: HashedToken, grant: GuestGrant): Promise<boolean> => {
  const named = [...new Set(grant.allowedEmbeds ?? [])];
  if (named.length > 0) {
    const there = await db
      .selectFrom('embeds')
      .select('embed_id')
      .where('data_app_id', '=', grant.dataAppId)
      .where('embed_id', 'in', named)
      .orderBy('embed_id')
      .forKeyShare()
      .execute();
    if (there.length < named.length) return false;
  }
  await db.insertInto('guest_tokens').values(encode(hash, grant)).execute();
  return true;
};
