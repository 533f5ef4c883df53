/** Stores the revocation epochs (revocation/epochs.ts explains them). */
import { type Kysely, sql } from 'kysely';
import type { Ledger } from './ledger.js';
import type { LedgerTables } from './tables.js';

export type EpochRow = {
  readonly scope: string;
  readonly epoch: string;
  readonly change: bigint;
  readonly revokedAtMs: number | null;
};

export type Raise = {
  readonly scopes: readonly string[];
  /** Refuses sessions of these scopes that were issued before this moment. Null: changes nothing for sessions. */
  readonly revokedAt: Date | null;
};

/** Returns the epochs that changed after the change number `change`, in the order of their changes. */
export const listEpochsAfter = async ({ db }: Ledger, change: bigint): Promise<readonly EpochRow[]> => {
  const rows = await db
    .selectFrom('epochs')
    .select(['scope', 'revoked_at'])
    .select([sql<string>`epoch::text`.as('epoch'), sql<string>`change::text`.as('change')])
    .where('change', '>', sql<bigint>`${change.toString()}::bigint`)
    .orderBy('epochs.change')
    .execute();
  return rows.map((row) => ({
    scope: row.scope,
    epoch: row.epoch,
    change: BigInt(row.change),
    revokedAtMs: row.revoked_at?.getTime() ?? null,
  }));
};

/**
 * Returns the number of the next change. Its row stays locked until the transaction ends, so changes become visible in
 * the order of their numbers: a reader that sees one has seen all earlier ones.
 */
const nextChange = async (db: Kysely<LedgerTables>): Promise<string> => {
  const { last } = await db
    .insertInto('epoch_changes')
    .values({ id: 1, last: sql`1` })
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ last: sql`epoch_changes.last + 1` }))
    .returning(sql<string>`last::text`.as('last'))
    .executeTakeFirstOrThrow();
  return last;
};

/** Raises the epoch of each scope by one. Call it inside a transaction. */
export const raiseEpochs = async (db: Kysely<LedgerTables>, { scopes, revokedAt }: Raise): Promise<void> => {
  const change = sql<bigint>`${await nextChange(db)}::bigint`;
  for (const scope of scopes.toSorted()) {
    await db
      .insertInto('epochs')
      .values({ scope, epoch: sql`1`, revoked_at: revokedAt, change })
      .onConflict((conflict) =>
        conflict.column('scope').doUpdateSet({
          epoch: sql`epochs.epoch + 1`,
          change: sql`excluded.change`,
          revoked_at: sql`greatest(epochs.revoked_at, excluded.revoked_at)`,
        }),
      )
      .execute();
  }
};

/**
 * Accepts all sessions of this scope again, whenever they were issued. Resolves to whether any session was refused
 * before.
 */
export const liftRevocation = async ({ db }: Ledger, scope: string): Promise<boolean> =>
  db.transaction().execute(async (transaction) => {
    const change = sql<bigint>`${await nextChange(transaction)}::bigint`;
    const { numUpdatedRows } = await transaction
      .updateTable('epochs')
      .set({ revoked_at: null, change })
      .where('scope', '=', scope)
      .where('revoked_at', 'is not', null)
      .executeTakeFirst();
    return numUpdatedRows > 0n;
  });
