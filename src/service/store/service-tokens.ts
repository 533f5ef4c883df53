import { type Insertable, type Kysely, type Selectable, sql } from 'kysely';
import type { HashedToken } from '../../model/brand.js';
import type { StoredKey } from '../../model/credentials.js';
import type { Page } from '../../model/page.js';
import { mapItems } from '../../model/slices.js';
import { listRows } from './list-rows.js';
import { inTransaction, wasInserted } from './query.js';
import type { Tables } from './tables.js';

export type NewKey = Omit<StoredKey, 'lastUsedAt' | 'keyHint'> & Partial<Pick<StoredKey, 'keyHint'>>;

type Row = Selectable<Tables['service_tokens']>;

export const decodeKey = (row: Row): StoredKey => ({
  id: row.id,
  name: row.name,
  hash: row.hash,
  keyHint: row.key_hint,
  createdAt: row.created_at,
  expiresAt: row.expires_at,
  lastUsedAt: row.last_used_at,
});

export const encodeKey = (key: NewKey): Insertable<Tables['service_tokens']> => ({
  id: key.id,
  name: key.name,
  hash: key.hash,
  key_hint: key.keyHint ?? null,
  created_at: key.createdAt,
  expires_at: key.expiresAt,
});

/** Returns the earlier of two ends. Replacing a key must never extend its life. */
export const earlier = (a: Date | null, b: Date): Date => (a === null || a > b ? b : a);

/**
 * Locks service tokens, so that replacements and revocations run one after the other. Reading or using a token does not
 * wait.
 */
const lockServiceTokens = async (db: Kysely<Tables>): Promise<void> => {
  await sql`lock table ${sql.table('guestlist.service_tokens')} in share row exclusive mode`.execute(db);
};

export const createServiceTokenStore = (db: Kysely<Tables>) => ({
  insert: async (key: NewKey) =>
    wasInserted(
      await db
        .insertInto('service_tokens')
        .values(encodeKey(key))
        .onConflict((oc) => oc.doNothing())
        .executeTakeFirst(),
    ),
  isKnown: async (hash: HashedToken) =>
    (await db.selectFrom('service_tokens').select('id').where('hash', '=', hash).executeTakeFirst()) !== undefined,
  findByHash: async (hash: HashedToken) => {
    const row = await db
      .selectFrom('service_tokens')
      .selectAll()
      .where('hash', '=', hash)
      .where('revoked_at', 'is', null)
      .executeTakeFirst();
    return row && decodeKey(row);
  },
  list: (wanted: Page | null) => mapItems(listRows(current(db).selectAll(), ['name'], wanted), decodeKey),
  replace: (id: string, when: { readonly now: Date; readonly expiresAt: Date }) =>
    inTransaction(db, (transaction) => replace(transaction, id, when)),
  /**
   * Returns `last`, and revokes nothing, if it is the only current token. One token is left even if several are revoked
   * at the same time.
   */
  revoke: (name: string, now: Date) => inTransaction(db, (transaction) => revoke(transaction, name, now)),
});

/** As `ApiKeyStore`, for the tokens of the organization. */
export type ServiceTokenStore = ReturnType<typeof createServiceTokenStore>;

const current = (db: Kysely<Tables>) =>
  db.selectFrom('service_tokens').where('revoked_at', 'is', null).where('replaced_at', 'is', null);

const replace = async (
  db: Kysely<Tables>,
  id: string,
  { now, expiresAt }: { readonly now: Date; readonly expiresAt: Date },
): Promise<StoredKey | undefined> => {
  await lockServiceTokens(db);
  const row = await current(db).selectAll().where('id', '=', id).executeTakeFirst();
  if (row === undefined) return undefined;
  await db
    .updateTable('service_tokens')
    .set({ replaced_at: now, expires_at: earlier(row.expires_at, expiresAt) })
    .where('id', '=', id)
    .execute();
  return decodeKey(row);
};

const revoke = async (db: Kysely<Tables>, name: string, now: Date): Promise<'revoked' | 'unknown' | 'last'> => {
  await lockServiceTokens(db);
  const rows = await current(db).select(['name', 'expires_at']).execute();
  if (!rows.some((row) => row.name === name)) return 'unknown';
  const isLeft = rows.some((row) => row.name !== name && (row.expires_at === null || row.expires_at > now));
  if (!isLeft) return 'last';
  await db
    .updateTable('service_tokens')
    .set({ revoked_at: now })
    .where('name', '=', name)
    .where('revoked_at', 'is', null)
    .execute();
  return 'revoked';
};
