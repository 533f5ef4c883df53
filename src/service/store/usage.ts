/** What was used, in sums by hour. An empty text in a key stands for none. */
import { type Kysely, type RawBuilder, type SqlBool, sql } from 'kysely';
import {
  type BatchId,
  oldestLoginDays,
  type UsageCounts,
  type UsageGroup,
  type UsageQuestion,
  type UsageRow,
  usageNames,
} from '../../model/usage.js';
import { inTransaction } from './query.js';
import type { Tables } from './tables.js';
import { columnList, countColumns, usageColumns } from './usage-columns.js';
import { createUsageSending, forgetInMessages, lockOf, lockSending, makeMessages } from './usage-sending.js';

/** Sums of one hour. `person`: the pseudonym of a user. */
export type UsageSum = UsageCounts & {
  readonly at: Date;
  /** When the first of them was counted; left out: only the hour is known. */
  readonly since?: Date;
  readonly dataAppId: string;
  readonly clientId: string;
  readonly person: string;
  readonly dashboardId: string;
  readonly metricId: string;
};

/** The same batch again changes nothing. */
export type UsageBatch = BatchId & {
  readonly sums: readonly UsageSum[];
  /** Whether a killed process has left it, which may be long ago. */
  readonly isLeft?: boolean;
};

const keys = ['data_app_id', 'client_id', 'at', 'person', 'dashboard_id', 'metric_id'];

/** Adds to what is there. */
const adding = sql`on conflict (${columnList(keys)}) do update set ${columnList(countColumns, (name) => `${name} = usage.${name} + excluded.${name}`)}`;
const summed = columnList(countColumns, (name) => `sum(${name})`);

/** What stands for an erased tenant: it says nothing of the tenant once the erasure's salt is gone. */
const erasedName = (digest: string): RawBuilder<string> => sql.raw(`'erased:' || left(${digest}, 16)`);

const groupColumns: Readonly<Record<UsageGroup, { readonly field: keyof UsageRow; readonly column: string }>> = {
  dataApp: { field: 'dataAppId', column: 'data_app_id' },
  tenant: { field: 'clientId', column: 'client_id' },
  user: { field: 'user', column: 'person' },
  dashboard: { field: 'dashboardId', column: 'dashboard_id' },
  metric: { field: 'metricId', column: 'metric_id' },
};

/** Each data app of which something is counted, also one that was deleted. Few, and each is found by the index. */
const countedApps = sql`
  with recursive apps as (
    select min(data_app_id) as id from guestlist.usage
    union all
    select (select min(data_app_id) from guestlist.usage where data_app_id > apps.id) from apps where apps.id is not null
  ) select id from apps where id is not null`;

/** The data app stands first in the index: without one, a tenant's rows are looked for in each. */
const askedRows = ({ from, to, dataAppId, clientId }: UsageQuestion): RawBuilder<unknown> => {
  const app = dataAppId === undefined ? sql`data_app_id in (${countedApps})` : sql`data_app_id = ${dataAppId}`;
  const conditions = [
    sql`at >= ${from} and at < ${to}`,
    ...(dataAppId === undefined && clientId === undefined ? [] : [app]),
    ...(clientId === undefined ? [] : [sql`client_id = ${clientId}`]),
  ];
  return sql.join(conditions, sql` and `);
};

const read = async (db: Kysely<Tables>, question: UsageQuestion): Promise<readonly UsageRow[]> => {
  const { step, by, limit } = question;
  const at = step === null ? sql`null::timestamptz` : sql`date_trunc(${sql.lit(step)}, at, 'UTC')`;
  const groups = by.map((name) => groupColumns[name]);
  const fields = groups.map(({ field, column }) => sql`nullif(${sql.ref(column)}, '') as ${sql.ref(field)}`);
  const sums = usageNames.map((name) => sql`sum(${sql.ref(usageColumns[name])})::float8 as ${sql.ref(name)}`);
  const { rows } = await sql<UsageRow>`
    select ${sql.join([sql`${at} as at`, ...fields, ...sums])},
      count(distinct person) filter (where person <> '' and (mints > 0 or logins > 0))::float8 as users
    from guestlist.usage
    where ${askedRows(question)}
    group by ${sql.join([sql`1`, ...groups.map((_, index) => sql.lit(index + 2))])}
    order by 1, sum(source_queries + kept_answers) desc, ${sql.join([sql`1`, ...groups.map((_, index) => sql.lit(index + 2))])}
    limit ${limit}`.execute(db);
  return rows;
};

/**
 * The name of a tenant of `given` that was erased after it was counted. An erasure is known for a day: what was left
 * before that names its tenant only if the store does too.
 */
const nameIfErased = (isLeft: boolean): RawBuilder<unknown> => sql`(
  select ${erasedName('digest')} as name from guestlist.client_erasures
  where client_erasures.data_app_id = given.data_app_id
    and (erased_at > now() - interval '1 minute' or given.at < date_trunc('hour', erased_at, 'UTC')
      or given.since < erased_at + interval '1 minute')
    and digest = encode(sha256(convert_to(salt || given.client_id, 'UTF8')), 'hex')
  order by number desc limit 1
)${
  isLeft
    ? sql` union all (
  select ${erasedName('md5(gen_random_uuid()::text)')} where given.client_id <> '' and given.since < now() - interval '23 hours'
    and not exists (select from guestlist.usage as u where u.data_app_id = given.data_app_id and u.client_id = given.client_id)
) limit 1`
    : sql``
}`;

/** The rows of `given`, with the names of tenants that were erased after they were counted. */
const renaming = (isLeft: boolean): RawBuilder<unknown> => sql`
  select ${columnList(countColumns)}, given.data_app_id, given.at, coalesce(erased.name, client_id) as client_id,
    ${columnList(['person', 'dashboard_id', 'metric_id'], (name) => `case when erased.name is null then ${name} else '' end as ${name}`)}
  from given left join lateral (${nameIfErased(isLeft)}) as erased on true`;

/**
 * Locks the data apps, as an erasure does, and then the sending. Returns whether erasures of them are known, and until when
 * hours are closed: neither changes before the transaction ends. An erasure that comes later finds the added rows.
 */
const lockAdding = async (transaction: Kysely<Tables>, dataApps: readonly string[]) => {
  const ids = sql`any(${[...dataApps]}::text[])`;
  await sql`
    with locked as materialized (select id from guestlist.data_apps where id = ${ids} order by id for key share)
    select ${lockOf('adds')} from (select count(*) from locked) as locked`.execute(transaction);
  const { rows } = await sql<{ readonly hasErasures: boolean; readonly closedUntil: Date | null }>`
    select exists (select from guestlist.client_erasures where data_app_id = ${ids}) as "hasErasures",
      (select closed_until from guestlist.usage_sending) as "closedUntil"`.execute(transaction);
  return rows[0] ?? { hasErasures: true, closedUntil: null };
};

const add = (db: Kysely<Tables>, { writer, number, sums, isLeft = false }: UsageBatch): Promise<void> =>
  inTransaction(db, async (transaction) => {
    const dataApps = [...new Set(sums.map(({ dataAppId }) => dataAppId))];
    const { hasErasures, closedUntil } = await lockAdding(transaction, dataApps);
    const isLate = closedUntil !== null && sums.some(({ at }) => at < closedUntil);
    // Most batches have neither an erased tenant nor a closed hour, and to look for them is a fifth of what a small batch costs.
    const named = hasErasures || isLeft ? renaming(isLeft) : sql`select * from given`;
    const late = makeMessages(sql`named where exists (select from fresh) and at < ${closedUntil}`, true);
    const given = JSON.stringify(
      sums.map(({ at, since, dataAppId, clientId, person, dashboardId, metricId, ...rest }) => ({
        ...{
          at,
          since,
          person,
          data_app_id: dataAppId,
          client_id: clientId,
          dashboard_id: dashboardId,
          metric_id: metricId,
        },
        ...Object.fromEntries(usageNames.map((name) => [usageColumns[name], Math.round(rest[name])])),
      })),
    );
    await sql`
      with fresh as (
        insert into guestlist.usage_writers as known (writer, batch, at) values (${writer}, ${number}, now())
        on conflict (writer) do update set batch = excluded.batch, at = now() where known.batch < excluded.batch
        returning writer
      ), given as (
        select * from jsonb_to_recordset(${given}::jsonb) as entry(
          at timestamptz, since timestamptz, data_app_id text, client_id text, person text, dashboard_id text, metric_id text,
          ${columnList(countColumns, (name) => `${name} bigint`)}
        )
      ), named as (
        ${named}
      )${isLate ? sql`, late as (${late})` : sql``}
      insert into guestlist.usage as usage (${columnList([...keys, ...countColumns])})
      select ${columnList(keys)}, ${summed} from named where exists (select from fresh)
      group by ${columnList(keys)} order by ${columnList(keys)}
      ${adding}`.execute(transaction);
  });

/**
 * Keeps the sums of an erased tenant, without its name, its users and its dashboards. Runs in the erasure's transaction,
 * after the erasure was counted.
 */
export const forgetUsageOf = async (
  transaction: Kysely<Tables>,
  dataAppId: string,
  clientId: string,
  digest: RawBuilder<string>,
): Promise<void> => {
  await lockSending(transaction);
  const erased = sql`
    select ${erasedName('digest')} as name from guestlist.client_erasures
    where data_app_id = ${dataAppId} and digest = ${digest} order by number desc limit 1`;
  await sql`
    with gone as (
      delete from guestlist.usage where data_app_id = ${dataAppId} and client_id = ${clientId} returning *
    ), erased as (${erased})
    insert into guestlist.usage as usage (${columnList([...keys, ...countColumns])})
    select data_app_id, erased.name, at, '', '', '', ${summed} from gone, erased group by data_app_id, erased.name, at
    ${adding}`.execute(transaction);
  await forgetInMessages(transaction, { dataAppId, clientId }, erased);
};

/** Longer than a gateway keeps logins, and a data folder what a killed process has left: either may come again so late. */
const writersKept = sql.raw(`interval '${oldestLoginDays + 4} days'`);

/** Whether the hours of this day are told apart still: some are in messages, and some are not. */
const isHalfSent = sql`
  date_trunc('day', at, 'UTC') = (select date_trunc('day', closed_until, 'UTC') from guestlist.usage_sending)`;

/**
 * Makes sums of days of hours before `days`, of at most `limit` rows that are not held. A day that has a sum already takes
 * more in. Returns how many rows it took.
 */
export const sumUpDays = async (
  db: Kysely<Tables>,
  days: Date,
  isHeld: RawBuilder<SqlBool>,
  limit: number,
): Promise<number> => {
  const { rows } = await sql<{ readonly count: number }>`
    with gone as (
      delete from guestlist.usage where ctid = any(array(
        select t.ctid from guestlist.usage as t
        where t.at < ${days} and t.at <> date_trunc('day', t.at, 'UTC') and not (${isHeld})
          and not coalesce(${isHalfSent}, false) limit ${limit} for update
      )) returning *
    ), summed as (
      insert into guestlist.usage as usage (${columnList([...keys, ...countColumns])})
      select ${columnList(keys, (name) => (name === 'at' ? "date_trunc('day', at, 'UTC')" : name))}, ${summed}
      from gone group by 1, 2, 3, 4, 5, 6 ${adding}
    )
    select count(*)::int as count from gone`.execute(db);
  await sql`delete from guestlist.usage_writers where at < now() - ${writersKept}`.execute(db);
  return rows[0]?.count ?? 0;
};

type OfTenant = { readonly dataAppId: string; readonly clientId: string | null };

const ofTenant = ({ dataAppId, clientId }: OfTenant) =>
  sql`data_app_id = ${dataAppId} and client_id = ${clientId ?? ''}`;

type Spent = { readonly sourceQueries: number; readonly exports: number };

const spent = async (
  db: Kysely<Tables>,
  { from, to, ...of }: OfTenant & { readonly from: Date; readonly to: Date },
): Promise<Spent> => {
  const { rows } = await sql<Spent>`
    select coalesce(sum(source_queries), 0)::float8 as "sourceQueries", coalesce(sum(exports), 0)::float8 as exports
    from guestlist.usage where ${ofTenant(of)} and at >= ${from} and at < ${to}`.execute(db);
  return rows[0] ?? { sourceQueries: 0, exports: 0 };
};

type AskedSeats = OfTenant & { readonly from: Date; readonly person: string; readonly without: readonly string[] };
type Seats = { readonly hasSeat: boolean; readonly taken: number };

const seats = async (db: Kysely<Tables>, { from, person, without, ...of }: AskedSeats): Promise<Seats> => {
  const { rows } = await sql<Seats>`
    select coalesce(bool_or(person = ${person}), false) as "hasSeat",
      (count(distinct person) filter (where not (person = any(${[...without]}::text[]))))::float8 as taken
    from guestlist.usage
    where ${ofTenant(of)} and at >= ${from} and person <> ''
      and source_queries + kept_answers + failed_answers > 0`.execute(db);
  return rows[0] ?? { hasSeat: false, taken: 0 };
};

export const createUsageStore = (db: Kysely<Tables>) => ({
  /** Adds the sums, once for each batch. A tenant that was erased meanwhile is not named. */
  add: (batch: UsageBatch) => add(db, batch),
  /** Returns the sums of the time, the earliest first, and those who asked most first. */
  read: (question: UsageQuestion) => read(db, question),
  /** Returns what one tenant has used in the time. */
  spent: (of: OfTenant & { readonly from: Date; readonly to: Date }) => spent(db, of),
  /** Whether the user has seen answers since then, and how many users have, but for those of `without`. */
  seats: (asked: AskedSeats) => seats(db, asked),
  /** What is sent to a billing system. */
  sending: createUsageSending(db),
});

export type UsageStore = ReturnType<typeof createUsageStore>;
