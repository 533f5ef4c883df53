/** Revocations that the ledger has and the service does not have yet. */
import { randomUUID } from 'node:crypto';
import { type Kysely, type SqlBool, sql } from 'kysely';
import { type Raise, raiseEpochs } from './epochs.js';
import type { Ledger } from './ledger.js';
import { isAlive, type OwnProcess } from './processes.js';
import type { LedgerTables } from './tables.js';

export type PendingRow = { readonly id: string; readonly target: string; readonly attempts: number };

export type PendingRevocation = { readonly target: string; readonly now: Date };

/**
 * Inserts a pending revocation and raises the epochs, in the caller's transaction: both or neither. The row is claimed by this
 * process; once this process is dead, any other may claim it. It replaces an earlier row of the same target, so an event that
 * is sent many times leaves one row.
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

/** The row can be claimed: nobody did, or the claiming process is dead, or it is this process, which failed to finish it. */
const isFree = ({ id, claims }: OwnProcess) =>
  sql<SqlBool>`(claimed_by is null or not ${isAlive(sql.ref('claimed_by'))}
    or (claimed_by = ${id()} and id::text <> all(${[...claims]}::text[])))`;

/** Claims up to `limit` due rows for this process, the oldest first. */
export const claimPending = async ({ db, self }: Ledger, now: Date, limit: number): Promise<readonly PendingRow[]> => {
  // Nearly always none is due. This read takes a fifth of the time of a claim, and the embedded database runs on this thread.
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
 * Removes the row, as the service has revoked. Raises the epochs once more: the service also ended the tokens that were minted
 * since the first raise. If the tenant was erased meanwhile, the revocation wrote its clientId to the service again: then its
 * erasure is marked as pending, and is repeated.
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

/** Removes the row of a service that cannot revoke at all. */
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
 * Deletes the pending revocations that name a client, because all tokens of the client are revoked anyway. Resolves to their
 * number; null if another live process has claimed one.
 */
export const takePendingOf = async ({ db, self }: Ledger, clientId: string): Promise<number | null> => {
  const names = sql<SqlBool>`target::jsonb ->> 'clientId' = ${clientId}`;
  const { numDeletedRows } = await db
    .deleteFrom('pending_revocations')
    .where(names)
    .where(isFree(self))
    .executeTakeFirst();
  const others = db.selectFrom('pending_revocations').select('id').where(names).limit(1);
  return (await others.executeTakeFirst()) === undefined ? Number(numDeletedRows) : null;
};
