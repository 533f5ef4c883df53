/**
 * Which processes are alive. Each has a row in the ledger and sets its time twice a second, by the database's clock. A process that
 * was silent for too long is declared dead: its row goes, and with it all that it held. A process that only stood still, and
 * comes back, finds its row gone: it goes on under a new id, and what it held under the old one is not its own any more. The embedded
 * database is opened by one process at a time and needs no such times: every earlier process is dead.
 */
import { randomUUID } from 'node:crypto';
import { type Kysely, type RawBuilder, type SqlBool, sql } from 'kysely';
import type { LedgerTables } from './tables.js';

export const beatEveryMs = 500;
/** Silent for so long, a process is dead to the others. */
export const deadAfterMs = 2_500;

export type Beat = {
  /** How many processes this one declared dead just now. */
  readonly dead: number;
  /** The others had declared this one dead: it has a new id. */
  readonly wasDead: boolean;
};

/** This process, as the ledger knows it. */
export type OwnProcess = {
  /** Another one after it was declared dead. */
  readonly id: () => string;
  /** Ids of the rows that it claimed and works on now: its other claims were left over by a failure. */
  readonly claims: Set<string>;
  /** Says that this process is alive. `mayJudge`: it may declare others dead that are silent. */
  readonly beat: (mayJudge: boolean) => Promise<Beat>;
  /** Ends what this holder holds, if anything. Rejects nothing: what cannot be ended now goes with a later call, or beat. */
  readonly release: (holder?: string) => Promise<void>;
  /** What it holds is free from now on. */
  readonly leave: () => Promise<void>;
};

type Db = Kysely<LedgerTables>;

/** Whether the process of this column, or with this id, is alive. */
export const isAlive = (processId: RawBuilder<unknown>): RawBuilder<SqlBool> =>
  sql<SqlBool>`exists (select from guestlist_gateway.processes as alive where alive.process_id = ${processId})`;

/** What one process names itself in. A work of a dead one goes with it; anything else waits for whoever takes it over. */
export const tenantLeasePrefix = 'work/';

type Counts = { readonly me: number; readonly dead: number };

const beatStatement = (id: string, mayJudge: boolean) => sql<Counts>`
  with me as (
    update guestlist_gateway.processes set beat_at = now() where process_id = ${id} returning process_id
  ), silent as (
    select process_id from guestlist_gateway.processes
    where ${mayJudge}::boolean and process_id <> ${id}
      and beat_at < now() - make_interval(secs => ${deadAfterMs / 1000}::double precision)
    for update skip locked
  ), dead as (
    delete from guestlist_gateway.processes where process_id in (select process_id from silent) returning process_id
  ), works as (
    delete from guestlist_gateway.leases
    where starts_with(name, ${tenantLeasePrefix}) and process_id in (select process_id from dead)
  )
  select (select count(*) from me)::integer as me, (select count(*) from dead)::integer as dead`;

const join = async (db: Db): Promise<string> => {
  const id = randomUUID();
  await db.insertInto('processes').values({ process_id: id, beat_at: sql<Date>`now()` }).execute();
  return id;
};

/** Holders whose end could not be written are kept, and go with the next one. */
const createRelease = (db: Db) => {
  const ending = new Set<string>();
  return async (holder?: string): Promise<void> => {
    if (holder !== undefined) ending.add(holder);
    if (ending.size === 0) return;
    const holders = [...ending];
    try {
      await db.deleteFrom('leases').where('holder', 'in', holders).execute();
    } catch {
      // The database cannot be asked: whoever asks it next logs why.
      return;
    }
    for (const ended of holders) ending.delete(ended);
  };
};

/** Enters this process. `isShared` false: no other process is there, and none of before lives. */
export const joinProcesses = async (db: Db, isShared: boolean): Promise<OwnProcess> => {
  if (!isShared) {
    await db.deleteFrom('processes').execute();
    await db.deleteFrom('leases').where(sql<SqlBool>`starts_with(name, ${tenantLeasePrefix})`).execute();
  }
  let id = await join(db);
  const release = createRelease(db);
  return {
    id: () => id,
    claims: new Set(),
    release,
    beat: async (mayJudge) => {
      await release();
      const { rows } = await beatStatement(id, mayJudge).execute(db);
      const { me, dead } = rows[0] ?? { me: 0, dead: 0 };
      if (me === 0) id = await join(db);
      return { dead, wasDead: me === 0 };
    },
    leave: async () => {
      await db.deleteFrom('leases').where('process_id', '=', id).execute();
      await db.deleteFrom('processes').where('process_id', '=', id).execute();
    },
  };
};
