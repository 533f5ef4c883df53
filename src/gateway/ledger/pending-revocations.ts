/** Stores revocations that the service has not executed yet. */
import { randomUUID } from 'node:crypto';
import { type Kysely, type SqlBool, sql } from 'kysely';
import { type Raise, raiseEpochs } from './epochs.js';
import type { Ledger } from './ledger.js';
import { isAlive, type OwnProcess } from './processes.js';
import type { LedgerTables } from './tables.js';

export type PendingRow = { readonly id: string; readonly target: string; readonly attempts: number };

export type PendingRevocation = { readonly target: string; readonly now: Date };

/**
 * Inserts a pending revocation and raises the epochs in the caller's transaction, so that both happen or neither. This
 * process claims the row. If it dies, any other process may claim the row. The new row replaces an earlier one of the
 * same target, so a repeated event leaves one row.
 */
export const notePending = async (
  db: Kysely<LedgerTables>,
  self: OwnProcess,
  raise: Raise,
  { target, now }: PendingRevocation,
): Promise<PendingRow> => {
  const id = randomUUID();
  self.claims.add(id);
  // Before the epochs, in the same order as finishPending: otherwise the two could deadlock.
  await db.deleteFrom('pending_revocations').where('target', '=', target).execute();
  await raiseEpochs(db, raise);
  await db
    .insertInto('pending_revocations')
    .values({ id, target, attempts: 1, attempt_at: now, claimed_by: self.id(), created_at: now })
    .execute();
  return { id, target, attempts: 1 };
};

export const insertPending = ({ db, self }: Ledger, raise: Raise, pending: PendingRevocation): Promise<PendingRow> =>
  db.transaction().execute((transaction) => notePending(transaction, self, raise, pending));

/**
 * SQL: whether the row can be claimed. It can if it has no claim, if the claiming process is dead, or if this process
 * claimed it and failed to finish it.
 */
const isFree = ({ id, claims }: OwnProcess) =>
  sql<SqlBool>`(claimed_by is null or not ${isAlive(sql.ref('claimed_by'))}
    or (claimed_by = ${id()} and id::text <> all(${[...claims]}::text[])))`;

/** Claims up to `limit` due rows for this process, oldest first. */
export const claimPending = async ({ db, self }: Ledger, now: Date, limit: number): Promise<readonly PendingRow[]> => {
  // Usually no row is due. This read takes a fifth of the time of a claim, and the embedded database runs in this
  // thread.
  const due = db.selectFrom('pending_revocations').select('id').where('attempt_at', '<=', now).limit(1);
  if ((await due.executeTakeFirst()) === undefined) return [];
  const rows = await db
    .updateTable('pending_revocations')
    .set({ claimed_by: self.id(), attempts: sql`attempts + 1` })
    .where('id', 'in', (query) =>
      query
        .selectFrom('pending_revocations')
        .select('id')
        .where('attempt_at', '<=', now)
        .where(isFree(self))
        .orderBy('created_at')
        .limit(limit)
        .forUpdate()
        .skipLocked(),
    )
    .returning(['id', 'target', 'attempts'])
    .execute();
  for (const { id } of rows) self.claims.add(id);
  return rows;
};

/**
 * Deletes the row after the service has revoked the tokens. Raises the epochs again, since the service also revoked
 * tokens that were minted after the first raise. If the tenant was erased meanwhile, the revocation sent its clientId
 * to the service again; so its erasure is marked as pending and repeated.
 */
export const finishPending = async (
  { db, refOf }: Ledger,
  id: string,
  scopes: readonly string[],
  clientId: string | null,
): Promise<void> =>
  db.transaction().execute(async (transaction) => {
    // The tenant's row is locked first, in the same order as a tenant's event does.
    if (clientId !== null) {
      await transaction
        .updateTable('tenants')
        .set({ is_erasure_owed: true, client_id: clientId })
        .where('tenant_ref', '=', refOf(clientId))
        .where('state', '=', 'deleted')
        .where('is_erasure_owed', '=', false)
        .execute();
    }
    await transaction.deleteFrom('pending_revocations').where('id', '=', id).execute();
    await raiseEpochs(transaction, { scopes, revokedAt: null });
  });

/** Deletes the row, because the service does not support revocation. */
export const dropPending = async ({ db }: Ledger, id: string): Promise<void> => {
  await db.deleteFrom('pending_revocations').where('id', '=', id).execute();
};

export const postponePending = async ({ db }: Ledger, id: string, until: Date): Promise<void> => {
  await db
    .updateTable('pending_revocations')
    .set({ attempt_at: until, claimed_by: null })
    .where('id', '=', id)
    .execute();
};

/**
 * Deletes the pending revocations that contain a client, because all tokens of the client are revoked anyway. Resolves
 * to their number, or to null if another live process has claimed one.
 */
export const takePendingOf = async (
  { db, self }: Pick<Ledger, 'db' | 'self'>,
  clientId: string,
): Promise<number | null> => {
  // Compared as text: one target that the database cannot read as JSON must not keep all tenants from being erased. A
  // value that holds these characters has a backslash before each quote.
  const member = JSON.stringify({ clientId }).slice(1, -1);
  const names = sql<SqlBool>`strpos(target, ${member}) > 0`;
  const { numDeletedRows } = await db
    .deleteFrom('pending_revocations')
    .where(names)
    .where(isFree(self))
    .executeTakeFirst();
  const others = db.selectFrom('pending_revocations').select('id').where(names).limit(1);
  return (await others.executeTakeFirst()) === undefined ? Number(numDeletedRows) : null;
};
