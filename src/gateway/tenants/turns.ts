/**
 * One at a time, over all replicas, brings about what a tenant's state asks for. A holder that died is waited for until its
 * lease ends, by the database's clock.
 */
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { Ledger } from '../ledger/ledger.js';
import { busy } from './busy.js';

export type Turn = {
  /** Throws UPSTREAM_UNAVAILABLE where the turn was lost: somebody else may be at it. Call it before each step. */
  readonly renew: () => Promise<void>;
};

/** Rejects with UPSTREAM_UNAVAILABLE where somebody else has the turn. */
export type TakeTurn = <T>(tenantRef: string, work: (turn: Turn) => Promise<T>) => Promise<T>;

const leaseSeconds = 120;

export const createTurns = ({ db }: Ledger): TakeTurn => {
  const end = sql<Date>`now() + make_interval(secs => ${leaseSeconds})`;
  const take = async (tenantRef: string, holder: string): Promise<void> => {
    const { numInsertedOrUpdatedRows } = await db
      .insertInto('tenant_turns')
      .values({ tenant_ref: tenantRef, holder, expires_at: end })
      .onConflict((conflict) =>
        conflict
          .column('tenant_ref')
          .doUpdateSet({ holder, expires_at: end })
          .where('tenant_turns.expires_at', '<', sql<Date>`now()`),
      )
      .executeTakeFirst();
    if (numInsertedOrUpdatedRows !== 1n) throw busy('tenant-turn-taken');
  };
  return async (tenantRef, work) => {
    const holder = randomUUID();
    const own = { tenant_ref: tenantRef, holder };
    await take(tenantRef, holder);
    const renew = async (): Promise<void> => {
      const set = db.updateTable('tenant_turns').set({ expires_at: end });
      const { numUpdatedRows } = await set
        .where('tenant_ref', '=', own.tenant_ref)
        .where('holder', '=', own.holder)
        .executeTakeFirst();
      if (numUpdatedRows !== 1n) throw busy('tenant-turn-lost');
    };
    try {
      return await work({ renew });
    } finally {
      await db.deleteFrom('tenant_turns').where('tenant_ref', '=', tenantRef).where('holder', '=', holder).execute();
    }
  };
};
