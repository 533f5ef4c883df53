/** The rows of epochs.ts and revocations.ts. */
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
  /** Sessions of these scopes that were issued before are refused from now on; null: as it was. */
  readonly revokedAt: Date | null;
};

/** Those that changed after `change`, in the order in which they did. */
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
 * The next change. Its row stays locked until the transaction ends, so changes become visible in the order of their numbers: who
 * has seen one has seen all before it.
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

/** Raises the epoch of each scope by one. Within a transaction. */
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

/** Sessions of this scope are accepted again, whenever they were issued. Answers whether any was refused. */
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
