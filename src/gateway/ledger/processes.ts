/**
 * Tracks which gateway processes are alive. Each process has a row in the ledger and writes a heartbeat to it twice a
 * second, with the database's clock. With it the process says how long it may be silent: longer where its own heartbeats
 * have been late, because slowness is not death. A process that is silent for longer is declared dead: another process
 * deletes its row, and its leases and claims become free. If the process was only paused, it finds its row missing, gets
 * a new id, and no longer holds the leases of the old one, so that its writes are refused (leases.ts). The embedded
 * database has one process at a time and no heartbeats, so every earlier process is dead.
 */
import { randomUUID } from 'node:crypto';
import { type Kysely, type RawBuilder, type SqlBool, sql } from 'kysely';
import { handled } from '../../model/handled.js';
import type { LedgerTables } from './tables.js';

export const beatEveryMs = 500;
/** Milliseconds that any process may be silent. */
export const leastSilenceMs = 5_000;
const longestSilenceMs = 60_000;
const timesLatest = 5;

/** Milliseconds that a process may be silent whose latest heartbeat of the last minute was `lateMs` late. */
export const silenceAfter = (lateMs: number): number =>
  Math.min(Math.max(leastSilenceMs, Math.ceil(lateMs * timesLatest)), longestSilenceMs);

export type Beat = {
  /** Number of processes that this heartbeat declared dead. */
  readonly dead: number;
  /** Whether another process had declared this one dead. If so, it has a new id now. */
  readonly wasDead: boolean;
};

/** This process in the ledger. */
export type OwnProcess = {
  /** Returns this process's id. It changes if the process is declared dead. */
  readonly id: () => string;
  /**
   * Ids of the claimed rows that this process is handling now. Its other claims in the ledger remain from failed
   * attempts.
   */
  readonly claims: Set<string>;
  /**
   * Writes a heartbeat, with the milliseconds that this process may be silent from now on. Left out: as before. If
   * `mayJudge`, also declares processes dead. A process is dead if it was silent for longer than it said, and for longer
   * than this process may be silent: a slow machine or database slows both, and neither is dead.
   */
  readonly beat: (mayJudge: boolean, mayBeSilentMs?: number) => Promise<Beat>;
  /** Releases the leases of `holder`. Never rejects: a failed release is repeated at the next call or heartbeat. */
  readonly release: (holder?: string) => Promise<void>;
  /** Deletes this process and its leases, which are free at once. */
  readonly leave: () => Promise<void>;
};

type Db = Kysely<LedgerTables>;

/** SQL: whether the process with this id is alive. */
export const isAlive = (processId: RawBuilder<unknown>): RawBuilder<SqlBool> =>
  sql<SqlBool>`exists (select from guestlist_gateway.processes as alive where alive.process_id = ${processId})`;

/**
 * Name prefix of tenant leases. A tenant lease of a dead process is deleted with the process. Any other lease stays
 * until another process takes it.
 */
export const tenantLeasePrefix = 'work/';

type Counts = { readonly me: number; readonly dead: number };

const beatStatement = (id: string, mayJudge: boolean, silenceMs: number) => sql<Counts>`
  with me as (
    update guestlist_gateway.processes set beat_at = now(), silence_ms = ${silenceMs}::integer
    where process_id = ${id} returning process_id
  ), silent as (
    select process_id from guestlist_gateway.processes
    where ${mayJudge}::boolean and process_id <> ${id}
      and beat_at < now() - make_interval(secs => greatest(silence_ms, ${silenceMs}::integer) / 1000.0)
    for update skip locked
  ), dead as (
    delete from guestlist_gateway.processes where process_id in (select process_id from silent) returning process_id
  ), works as (
    delete from guestlist_gateway.leases
    where starts_with(name, ${tenantLeasePrefix}) and process_id in (select process_id from dead)
  )
  select (select count(*) from me)::integer as me, (select count(*) from dead)::integer as dead`;

const join = async (db: Db, silenceMs: number): Promise<string> => {
  const id = randomUUID();
  const row = { process_id: id, beat_at: sql<Date>`now()`, silence_ms: silenceMs };
  await db.insertInto('processes').values(row).execute();
  return id;
};

/** Stores the holders whose release failed, and releases them at the next call. */
const createRelease = (db: Db) => {
  const ending = new Set<string>();
  return async (holder?: string): Promise<void> => {
    if (holder !== undefined) ending.add(holder);
    if (ending.size === 0) return;
    const holders = [...ending];
    try {
      await db.deleteFrom('leases').where('holder', 'in', holders).execute();
    } catch {
      // The database cannot be reached. The next heartbeat logs that, and releases again.
      return;
    }
    for (const ended of holders) ending.delete(ended);
  };
};

/**
 * Adds this process. If not `isShared`, no other process is alive, so earlier ones and their tenant leases are deleted.
 */
export const joinProcesses = async (db: Db, isShared: boolean): Promise<OwnProcess> => {
  if (!isShared) {
    await db.deleteFrom('processes').execute();
    await db.deleteFrom('leases').where(sql<SqlBool>`starts_with(name, ${tenantLeasePrefix})`).execute();
  }
  let silenceMs = leastSilenceMs;
  let id = await join(db, silenceMs);
  let beating: Promise<unknown> = Promise.resolve();
  const release = createRelease(db);
  const beat = async (mayJudge: boolean): Promise<Beat> => {
    await release();
    const { rows } = await beatStatement(id, mayJudge, silenceMs).execute(db);
    const { me, dead } = rows[0] ?? { me: 0, dead: 0 };
    if (me === 0) id = await join(db, silenceMs);
    return { dead, wasDead: me === 0 };
  };
  return {
    id: () => id,
    claims: new Set(),
    release,
    beat: (mayJudge, mayBeSilentMs) => {
      silenceMs = mayBeSilentMs ?? silenceMs;
      // One at a time: two that find the row missing would join twice.
      const next = handled(beating.catch(() => undefined).then(() => beat(mayJudge)));
      beating = next;
      return next;
    },
    leave: async () => {
      await db.deleteFrom('leases').where('process_id', '=', id).execute();
      await db.deleteFrom('processes').where('process_id', '=', id).execute();
    },
  };
};
