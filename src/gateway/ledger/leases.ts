/**
 * Who works on what, over all processes: one at a time for each name. A lease has no end of its own: it is its holder's until it is
 * released, or until the holder's process is dead (processes.ts). Then anyone may take it.
 */
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { Ledger } from './ledger.js';
import { isAlive } from './processes.js';

export type Lease = {
  /** Whether it is this holder's still: this process may have stood still, and somebody else have taken it. */
  readonly isHeld: () => Promise<boolean>;
  readonly release: () => Promise<void>;
};

export type Leases = {
  /** Undefined where somebody else has it. */
  readonly take: (name: string) => Promise<Lease | undefined>;
  readonly isHeld: (name: string) => Promise<boolean>;
};

export const createLeases = ({ db, self }: Pick<Ledger, 'db' | 'self'>): Leases => {
  const holderAlive = isAlive(sql.ref('leases.process_id'));
  const insert = async (name: string, holder: string): Promise<boolean> => {
    const id = self.id();
    const { rows } = await sql`
      insert into guestlist_gateway.leases (name, holder, process_id)
      select ${name}, ${holder}, ${id} where ${isAlive(sql`${id}`)}
      on conflict (name) do update set holder = excluded.holder, process_id = excluded.process_id
        where not ${holderAlive}
      returning name`.execute(db);
    return rows.length > 0;
  };
  const held = (name: string) =>
    db.selectFrom('leases').select('name').where('name', '=', name).where(holderAlive).limit(1);
  const isMine = async (name: string, holder: string): Promise<boolean> =>
    (await held(name).where('holder', '=', holder).executeTakeFirst()) !== undefined;
  /** It is free where this process itself was declared dead and has not noticed: its next beat tells, and makes it alive again. */
  const insertAlive = async (name: string, holder: string): Promise<boolean> =>
    (await insert(name, holder)) || ((await self.beat(false)).wasDead && (await insert(name, holder)));
  return {
    take: async (name) => {
      const holder = randomUUID();
      const release = () => self.release(holder);
      try {
        if (!(await insertAlive(name, holder))) return undefined;
      } catch (error) {
        // It may have been written all the same.
        await release();
        throw error;
      }
      return { isHeld: () => isMine(name, holder), release };
    },
    isHeld: async (name) => (await held(name).executeTakeFirst()) !== undefined,
  };
};
