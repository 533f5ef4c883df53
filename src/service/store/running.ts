/** What runs now in each process, and what operators want ended. Moments are those of the common clock. */
import { type Kysely, sql } from 'kysely';
import type { EndOutcome, RunningProcess, WorkRef } from '../../model/query/running.js';
import { jsonb } from './query.js';
import { schemaName, type Tables } from './tables.js';

export type WantedEnd = WorkRef & { readonly id: string };

export const createRunningStore = (db: Kysely<Tables>) => ({
  /** Whether this login may write the tables. The service makes them, and a gateway alone may start before it. */
  isThere: async (): Promise<boolean> => {
    const { rows } = await sql`
      select from pg_class join pg_namespace on pg_namespace.oid = relnamespace
      where nspname = ${schemaName} and relname = 'running_ends'
        and has_schema_privilege(relnamespace, 'USAGE') and has_table_privilege(pg_class.oid, 'INSERT')`.execute(db);
    return rows.length > 0;
  },
  /** Replaces what this process has said. Returns what operators want ended in it, until it is answered. */
  publish: async (state: RunningProcess, silentAt: Date): Promise<readonly WantedEnd[]> => {
    const row = { silent_at: silentAt, state: jsonb(state) };
    await db
      .insertInto('running_processes')
      .values({ instance: state.instance, ...row })
      .onConflict((conflict) => conflict.column('instance').doUpdateSet(row))
      .execute();
    return db
      .selectFrom('running_ends')
      .select(['id', 'instance', 'kind', 'number'])
      .where('instance', '=', state.instance)
      .where('outcome', 'is', null)
      .execute();
  },
  /** The processes that are not silent. */
  list: async (now: Date): Promise<readonly RunningProcess[]> => {
    const live = db.selectFrom('running_processes').select('state').where('silent_at', '>', now);
    const rows = await live.orderBy('instance').execute();
    return rows.map(({ state }) => state);
  },
  /** Removes a process that stops. */
  leave: async (instance: string): Promise<void> => {
    await db.deleteFrom('running_processes').where('instance', '=', instance).execute();
  },
  askEnd: async ({ id, instance, kind, number }: WantedEnd, at: Date): Promise<void> => {
    await db.insertInto('running_ends').values({ id, instance, kind, number, at, outcome: null }).execute();
  },
  answerEnd: async (id: string, outcome: EndOutcome): Promise<void> => {
    await db.updateTable('running_ends').set({ outcome }).where('id', '=', id).execute();
  },
  /** Null: its process has not answered. */
  findEnd: async (id: string): Promise<EndOutcome | null> => {
    const row = await db.selectFrom('running_ends').select('outcome').where('id', '=', id).executeTakeFirst();
    return row?.outcome ?? null;
  },
  /** Removes processes that were silent then already, and what was asked before. */
  purge: async (before: Date): Promise<void> => {
    await db.deleteFrom('running_processes').where('silent_at', '<', before).execute();
    await db.deleteFrom('running_ends').where('at', '<', before).execute();
  },
});
