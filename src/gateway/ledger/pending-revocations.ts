/** The rows of revocations whose half at the service is still to be done. */
import { randomUUID } from 'node:crypto';
import { type Kysely, type SqlBool, sql } from 'kysely';
import { type Raise, raiseEpochs } from './epochs.js';
import type { Ledger } from './ledger.js';
import { isAlive, type OwnProcess } from './processes.js';
import type { LedgerTables } from './tables.js';

export type PendingRow = { readonly id: string; readonly target: string; readonly attempts: number };

export type PendingRevocation = { readonly target: string; readonly now: Date };

/**
 * Writes down what the service has to be told, and raises the epochs, in the caller's transaction: both or neither. This process
 * works on the row; once it is dead, any other may. The row replaces an earlier one of the same target: an event that is sent many
 * times leaves one row.
 */
export const notePending = async (
  db: Kysely<LedgerTables>,
  self: OwnProcess,
  raise: Raise,
  { target, now }: PendingRevocation,
): Promise<PendingRow> => {
  const id = randomUUID();
  self.claims.add(id);
  // Before the epochs, as finishPending does: in one order, neither waits for the other for ever.
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

/** No process works on the row: the one that claimed it is dead, or is this one, which could not finish it. */
const isFree = ({ id, claims }: OwnProcess) =>
  sql<SqlBool>`(claimed_by is null or not ${isAlive(sql.ref('claimed_by'))}
    or (claimed_by = ${id()} and id::text <> all(${[...claims]}::text[])))`;

/** Those whose time has come, oldest first, taken so that no other process works on them just now. */
export const claimPending = async ({ db, self }: Ledger, now: Date, limit: number): Promise<readonly PendingRow[]> => {
  // Nearly always there is none: to look takes the embedded database, which answers on this thread, a fifth of the time of a claim.
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
 * Done at the service. Raises the epochs once more: what was minted between the two halves was ended there, too. Where the client was
 * erased meanwhile, the revocation has written its name to the service again: its erasure is then to be repeated.
 */
export const finishPending = async (
  { db, refOf }: Ledger,
  id: string,
  scopes: readonly string[],
  clientId: string | null,
): Promise<void> =>
  db.transaction().execute(async (transaction) => {
    // The tenant's row is written first, in the same order as by an event of the tenant.
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

/** Nothing is left to do: the service cannot revoke at all. */
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

/** Takes away those that name a client, as all of its tokens end. Answers how many there were; null where a process works on one. */
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
