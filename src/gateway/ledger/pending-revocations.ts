/** The rows of revocations whose half at the service is still to be done. */
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { type Raise, raiseEpochs } from './epochs.js';
import type { Ledger } from './ledger.js';

export type PendingRow = { readonly id: string; readonly target: string; readonly attempts: number };

/** Whoever works on one is given this long before another takes it. */
const claimMs = 60_000;

const later = (now: Date, ms: number): Date => new Date(now.getTime() + ms);

/** Raises the epochs and writes down what is left to do, both or neither. The row is the caller's to work on. */
export const insertPending = async ({ db }: Ledger, raise: Raise, target: string, now: Date): Promise<PendingRow> =>
  db.transaction().execute(async (transaction) => {
    const id = randomUUID();
    await raiseEpochs(transaction, raise);
    await transaction
      .insertInto('pending_revocations')
      .values({ id, target, attempts: 1, attempt_at: later(now, claimMs), created_at: now })
      .execute();
    return { id, target, attempts: 1 };
  });

/** Those whose time has come, oldest first, taken so that no other process works on them just now. */
export const claimPending = async ({ db }: Ledger, now: Date, limit: number): Promise<readonly PendingRow[]> =>
  db
    .updateTable('pending_revocations')
    .set({ attempt_at: later(now, claimMs), attempts: sql`attempts + 1` })
    .where('id', 'in', (query) =>
      query
        .selectFrom('pending_revocations')
        .select('id')
        .where('attempt_at', '<=', now)
        .orderBy('created_at')
        .limit(limit)
        .forUpdate()
        .skipLocked(),
    )
    .returning(['id', 'target', 'attempts'])
    .execute();

/** Done at the service. Raises the epochs once more: what was minted between the two halves was ended there, too. */
export const finishPending = async ({ db }: Ledger, id: string, scopes: readonly string[]): Promise<void> =>
  db.transaction().execute(async (transaction) => {
    await transaction.deleteFrom('pending_revocations').where('id', '=', id).execute();
    await raiseEpochs(transaction, { scopes, revokedAt: null });
  });

/** Nothing is left to do: the service cannot revoke at all. */
export const dropPending = async ({ db }: Ledger, id: string): Promise<void> => {
  await db.deleteFrom('pending_revocations').where('id', '=', id).execute();
};

export const postponePending = async ({ db }: Ledger, id: string, until: Date): Promise<void> => {
  await db.updateTable('pending_revocations').set({ attempt_at: until }).where('id', '=', id).execute();
};

/** All of them. Few: what the service could be told is not among them. */
export const listPending = ({ db }: Ledger): Promise<readonly Pick<PendingRow, 'id' | 'target'>[]> =>
  db.selectFrom('pending_revocations').select(['id', 'target']).execute();
