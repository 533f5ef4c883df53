/**
 * Leases over all processes. Each name has one holder at a time. A lease does not expire: it ends when its holder
 * releases it, or when the holder's process is declared dead (processes.ts). Then any process may take it.
 */
import { randomUUID } from 'node:crypto';
import { sql, type Transaction } from 'kysely';
import type { Ledger } from './ledger.js';
import { isAlive } from './processes.js';
import type { LedgerTables } from './tables.js';

export type Lease = {
  /** Whether this holder still has the lease. If this process was paused, another one may have taken it. */
  readonly isHeld: () => Promise<boolean>;
  /**
   * Writes to the ledger while this holder has the lease, which no other process can take until the writes are stored.
   * Rejects with LeaseLost, and writes nothing, if another one has taken it.
   */
  readonly write: <T>(work: (db: Transaction<LedgerTables>) => Promise<T>) => Promise<T>;
  /** Larger than that of every earlier holder, of each lease. Who writes elsewhere sends it along, to be refused if late. */
  readonly fence: number;
  readonly release: () => Promise<void>;
};

/** Another process has the lease: this one was silent for so long that it counted as dead. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost';
}

export type Leases = {
  /** Takes the lease of this name. Resolves to undefined if a live process holds it. */
  readonly take: (name: string) => Promise<Lease | undefined>;
  readonly isHeld: (name: string) => Promise<boolean>;
};

export const createLeases = ({ db, self }: Pick<Ledger, 'db' | 'self'>): Leases => {
  const holderAlive = isAlive(sql.ref('leases.process_id'));
  /** Returns the fence, or undefined if a live process has the lease, or this one counts as dead. */
  const insert = async (name: string, holder: string): Promise<number | undefined> => {
    const id = self.id();
    const { rows } = await sql<{ fence: string }>`
      insert into guestlist_gateway.leases (name, holder, process_id)
      select ${name}, ${holder}, ${id} where ${isAlive(sql`${id}`)}
      on conflict (name) do update set holder = excluded.holder, process_id = excluded.process_id
        where not ${holderAlive}
      returning nextval('guestlist_gateway.fences') as fence`.execute(db);
    // Some drivers return a number.
    return rows[0] === undefined ? undefined : Number(rows[0].fence);
  };
  const held = (name: string) =>
    db.selectFrom('leases').select('name').where('name', '=', name).where(holderAlive).limit(1);
  const isMine = async (name: string, holder: string): Promise<boolean> =>
    (await held(name).where('holder', '=', holder).executeTakeFirst()) !== undefined;
  /** Each taking of a lease has a holder of its own, so the row with this holder is this taking. It is locked. */
  const writeAs = <T>(
    name: string,
    holder: string,
    work: (inner: Transaction<LedgerTables>) => Promise<T>,
  ): Promise<T> =>
    db.transaction().execute(async (inner) => {
      const { rows } = await sql`
        select from guestlist_gateway.leases where name = ${name} and holder = ${holder} and ${holderAlive}
        for share`.execute(inner);
      if (rows.length === 0) throw new LeaseLost(`Another process has taken the lease ${name}.`);
      return work(inner);
    });
  /**
   * Inserts the lease. The insert also fails if this process was declared dead and does not know it: then the heartbeat
   * gives it a new id, and the insert is retried.
   */
  const insertAlive = async (name: string, holder: string): Promise<number | undefined> => {
    const fence = await insert(name, holder);
    if (fence !== undefined || !(await self.beat(false)).wasDead) return fence;
    return insert(name, holder);
  };
  return {
    take: async (name) => {
      const holder = randomUUID();
      const release = () => self.release(holder);
      try {
        const fence = await insertAlive(name, holder);
        if (fence === undefined) return undefined;
        return { isHeld: () => isMine(name, holder), write: (work) => writeAs(name, holder, work), fence, release };
      } catch (error) {
        // The row may have been stored although the statement failed.
        await release();
        throw error;
      }
    },
    isHeld: async (name) => (await held(name).executeTakeFirst()) !== undefined,
  };
};
