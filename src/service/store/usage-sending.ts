/**
 * What is sent to a billing system. Each count is in one message: in that of its hour if it was stored before the hour was
 * closed, and otherwise in one of its own. Adding counts and closing an hour take the same lock.
 */
import { type Kysely, type RawBuilder, sql } from 'kysely';
import { type UsageFault, type UsageMessage, type UsageSent, usageNames } from '../../model/usage.js';
import { inTransaction } from './query.js';
import type { Tables } from './tables.js';
import { columnList, countColumns, usageColumns } from './usage-columns.js';

const tenantsPerMessage = 500;

/** Held until the transaction ends. Take it after the locks of data apps. */
export const lockOf = (how: 'adds' | 'changes'): RawBuilder<unknown> => {
  const lock = sql.raw(how === 'adds' ? 'pg_advisory_xact_lock_shared' : 'pg_advisory_xact_lock');
  return sql`${lock}(hashtext('guestlist/usage/sending'))`;
};

export const lockSending = async (transaction: Kysely<Tables>): Promise<void> => {
  await sql`select ${lockOf('changes')}`.execute(transaction);
};

const countsJson = sql.raw(usageNames.map((name) => `'${name}', ${usageColumns[name]}`).join(', '));

/** A statement that makes messages of the rows of usage in `from`, which may end with conditions. */
export const makeMessages = (from: RawBuilder<unknown>, isLate: boolean): RawBuilder<unknown> => sql`
  insert into guestlist.usage_messages (id, at, is_late, tenants)
  select gen_random_uuid(), at, ${isLate}::boolean, jsonb_agg(
    jsonb_build_object('dataAppId', data_app_id, 'clientId', nullif(client_id, ''), 'counts', jsonb_build_object(${countsJson}))
    order by data_app_id, client_id)
  from (
    select *, (row_number() over (partition by at order by data_app_id, client_id) - 1) / ${sql.lit(tenantsPerMessage)} as part
    from (
      select at, data_app_id, client_id, ${columnList(countColumns, (name) => `sum(${name}) as ${name}`)}
      from ${from} group by at, data_app_id, client_id
    ) as used
  ) as parted
  group by at, part`;

/** Hours that begin before `until`, and are in no message yet. */
const close = (db: Kysely<Tables>, until: Date): Promise<void> =>
  inTransaction(db, async (transaction) => {
    await lockSending(transaction);
    const closed = transaction.selectFrom('usage_sending').select('closed_until');
    const from = (await closed.executeTakeFirst())?.closed_until;
    if (from === undefined || from >= until) return;
    await makeMessages(sql`guestlist.usage where at >= ${from} and at < ${until}`, false).execute(transaction);
    await transaction.updateTable('usage_sending').set({ closed_until: until }).execute();
  });

/** Names an erased tenant in messages that wait as its sums are named. `name` is an expression over `erased`. */
export const forgetInMessages = async (
  transaction: Kysely<Tables>,
  { dataAppId, clientId }: { readonly dataAppId: string; readonly clientId: string },
  erased: RawBuilder<unknown>,
): Promise<void> => {
  const meant = JSON.stringify({ dataAppId, clientId });
  await sql`
    update guestlist.usage_messages set tenants = (
      select jsonb_agg(
        case when one @> ${meant}::jsonb then jsonb_set(one, '{clientId}', to_jsonb(erased.name)) else one end order by place)
      from jsonb_array_elements(tenants) with ordinality as told(one, place)
    ) from (${erased}) as erased
    where tenants @> jsonb_build_array(${meant}::jsonb)`.execute(transaction);
};

type Lease = { readonly now: Date; readonly leaseId: string; readonly leasedUntil: Date };

export type ClaimedUsage = UsageMessage & {
  /** With the one that begins now. */
  readonly attempts: number;
};

/** What is late comes last: what one data app tells of old hours does not stop the hours of the others. */
const claim = async (db: Kysely<Tables>, { now, leaseId, leasedUntil }: Lease): Promise<ClaimedUsage | undefined> => {
  const { rows } = await sql<ClaimedUsage>`
    with next as (
      select id, at, is_late as "isLate", tenants from guestlist.usage_messages order by is_late, at, id limit 1
    ), held as (
      update guestlist.usage_sending set lease_id = ${leaseId}, leased_until = ${leasedUntil}, attempts = attempts + 1
      where exists (select from next) and attempt_at <= ${now} and coalesce(leased_until <= ${now}, true)
      returning attempts
    )
    select next.*, attempts from next, held`.execute(db);
  return rows[0];
};

const noLease = { lease_id: null, leased_until: null } as const;

const sent = async (db: Kysely<Tables>): Promise<UsageSent | null> => {
  const { rows } = await sql<UsageSent>`
    select least(closed_until, (select min(at) from guestlist.usage_messages)) as until, fault,
      (select count(*)::float8 from guestlist.usage_messages) as waiting
    from guestlist.usage_sending`.execute(db);
  return rows[0] ?? null;
};

export const createUsageSending = (db: Kysely<Tables>) => ({
  /** From this hour on, everything is sent. Does nothing if that began before. */
  begin: async (hour: Date): Promise<void> => {
    const row = { closed_until: hour, attempts: 0, attempt_at: hour, fault: null, ...noLease };
    await db
      .insertInto('usage_sending')
      .values(row)
      .onConflict((conflict) => conflict.column('is_only').doNothing())
      .execute();
  },
  /** Closes the hours that begin before `until`, and makes their messages. */
  close: (until: Date) => close(db, until),
  /** Returns the message that is next, and nobody else gets it while the lease lasts. Undefined: none is due. */
  claim: (lease: Lease) => claim(db, lease),
  taken: (leaseId: string, messageId: string): Promise<void> =>
    inTransaction(db, async (transaction) => {
      await transaction.deleteFrom('usage_messages').where('id', '=', messageId).execute();
      const own = transaction.updateTable('usage_sending').where('lease_id', '=', leaseId);
      await own.set({ ...noLease, attempts: 0, fault: null }).execute();
    }),
  failed: async (leaseId: string, fault: UsageFault, attemptAt: Date): Promise<void> => {
    const own = db.updateTable('usage_sending').where('lease_id', '=', leaseId);
    await own.set({ ...noLease, fault, attempt_at: attemptAt }).execute();
  },
  /** Null: nothing was ever to be sent. */
  sent: () => sent(db),
});
