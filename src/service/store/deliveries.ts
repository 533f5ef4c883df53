import { type Insertable, type Kysely, type Selectable, sql } from 'kysely';
import type { AlertState } from '../../model/schedule/alert.js';
import type { TenantCopy } from '../../model/schedule/host-schedule.js';
import { everyone } from '../../model/schedule/recipients.js';
import type { ClaimedDelivery, Delivery, DeliveryReason, Schedule } from '../../model/schedule/schedule.js';
import type { Sealer } from '../../platform/keys/sealing.js';
import { inTransaction } from './query.js';
import { scheduleOf, sealState } from './schedules.js';
import type { Tables } from './tables.js';

export type NewDelivery = Pick<Delivery, 'id' | 'moment' | 'isRequested'> & {
  readonly state: 'due' | 'skipped';
  readonly reason: DeliveryReason | null;
  /** Left out: the owner; or, if the schedule has recipients, the delivery that finds them. */
  readonly recipient?: string;
  /** Before then it is not sent. Left out: it may be sent at once. */
  readonly attemptAt?: Date;
};

/** A schedule with the moments that its plan decided. */
type PlannedSchedule = { readonly schedule: Schedule; readonly deliveries: readonly NewDelivery[] };

/** A delivery of its own for each recipient of a moment, or for each tenant of a host's schedule. */
export type NewShare = Pick<Delivery, 'id' | 'recipient'> & {
  /** As of a `NewDelivery`. */
  readonly attemptAt?: Date;
  /** The tenant, of a host's schedule that found its tenants. */
  readonly copy?: TenantCopy;
};

export type Claim = {
  readonly now: Date;
  /** Names the sender's hold. Only its holder can end the delivery. */
  readonly leaseId: string;
  readonly leasedUntil: Date;
  readonly limit: number;
  /** At most this many claims of one client since that time. */
  readonly perClient: { readonly count: number; readonly since: Date };
};

/** How an attempt ended. `isAnswered`: the mail server said that it did not take the message, or never got it. */
export type DeliveryEnd =
  | { readonly state: 'sent'; readonly at: Date }
  | { readonly state: 'failed' | 'skipped'; readonly reason: DeliveryReason; readonly at: Date }
  | {
      readonly state: 'due';
      readonly reason: DeliveryReason;
      readonly at: Date;
      readonly attemptAt: Date;
      readonly isAnswered: boolean;
    };

const rowsPerInsert = 500;

type Row = Selectable<Tables['deliveries']>;

const deliveryOf = (row: Row): Delivery => ({
  id: row.id,
  scheduleId: row.schedule_id,
  clientId: row.client_id,
  recipient: row.recipient,
  moment: row.moment,
  isRequested: row.is_requested,
  state: row.state,
  reason: row.reason,
  attempts: row.attempts,
  finishedAt: row.finished_at,
});

/**
 * Marks deliveries as taken, and returns their ids. Claims run one after the other, so that the counts of clients hold
 * for each. The condition is repeated on the row itself, because a holder may end it meanwhile.
 */
const take = async (db: Kysely<Tables>, { now, leaseId, leasedUntil, limit, perClient }: Claim) => {
  await sql`select pg_advisory_xact_lock(hashtext('guestlist/deliveries/claim'))`.execute(db);
  const { rows } = await sql<{ id: string }>`
    with recent as (
      select data_app_id, client_id, count(*) as claims from guestlist.deliveries
      where claimed_at > ${perClient.since} group by data_app_id, client_id
    ), ready as (
      select due.id, due.data_app_id, due.client_id, attempt_at,
        row_number() over (partition by due.data_app_id, due.client_id order by attempt_at, moment, due.id) as turn
      from guestlist.deliveries as due join guestlist.schedules on schedules.id = due.schedule_id
      where state in ('due', 'sending') and attempt_at <= ${now} and coalesce(leased_until <= ${now}, true)
        and not (format = 'alert' and exists (
          select 1 from guestlist.deliveries as other
          where other.schedule_id = due.schedule_id and other.recipient = due.recipient and other.id <> due.id and (other.leased_until > ${now}
            or (other.state in ('due', 'sending') and (other.attempt_at, other.moment, other.id) < (due.attempt_at, due.moment, due.id)))))
    ), chosen as (
      select ready.id from ready left join recent using (data_app_id, client_id)
      where turn + coalesce(claims, 0) <= ${perClient.count}
      order by turn + coalesce(claims, 0), attempt_at, ready.id limit ${limit}
    )
    update guestlist.deliveries as taken
    set state = 'sending', lease_id = ${leaseId}, leased_until = ${leasedUntil}, claimed_at = ${now},
      attempts = attempts + 1
    from chosen
    where taken.id = chosen.id and state in ('due', 'sending') and coalesce(leased_until <= ${now}, true)
    returning taken.id`.execute(db);
  return rows.map(({ id }) => id);
};

const claim = async (db: Kysely<Tables>, sealer: Sealer, given: Claim): Promise<readonly ClaimedDelivery[]> => {
  const ids = await take(db, given);
  if (ids.length === 0) return [];
  const rows = await db.selectFrom('deliveries').selectAll().where('id', 'in', ids).orderBy('attempt_at').execute();
  const of = rows.map(({ schedule_id: id }) => id);
  const to = rows.map(({ recipient }) => recipient);
  const schedules = await db.selectFrom('schedules').selectAll().where('id', 'in', of).execute();
  const states = await db
    .selectFrom('alert_states')
    .selectAll()
    .where('schedule_id', 'in', of)
    .where('recipient', 'in', to)
    .execute();
  const opened = await openedIdsOf(db, rows);
  const byId = new Map(schedules.map((row) => [row.id, row]));
  return rows.flatMap((row) => {
    const schedule = byId.get(row.schedule_id);
    if (schedule === undefined) return [];
    const state = states.find((one) => one.schedule_id === row.schedule_id && one.recipient === row.recipient);
    const own = forTenant(scheduleOf(schedule, sealer, state), row, opened);
    return [{ ...deliveryOf(row), handovers: row.handovers, schedule: own }];
  });
};

/** The external ids of the copies that deliveries of host's schedules are for. */
const openedIdsOf = async (db: Kysely<Tables>, rows: readonly Row[]): Promise<ReadonlyMap<string, string>> => {
  const ids = rows.flatMap(({ dashboard_id: id }) => id ?? []);
  if (ids.length === 0) return new Map();
  const copies = await db
    .selectFrom('dashboards')
    .select(['id', 'external_dashboard_id'])
    .where('id', 'in', ids)
    .execute();
  return new Map(copies.map((copy) => [copy.id, copy.external_dashboard_id]));
};

/** A host's schedule as that of the delivery's tenant. */
const forTenant = (
  schedule: Schedule,
  { client_id: clientId, dashboard_id: dashboardId }: Row,
  opened: ReadonlyMap<string, string>,
): Schedule => {
  if (dashboardId === null) return schedule;
  const openedId = opened.get(dashboardId) ?? '';
  return { ...schedule, dashboardId, openedId, owner: { ...schedule.owner, clientId } };
};

const ended = (end: DeliveryEnd | { readonly state: 'shared'; readonly at: Date }) => ({
  state: end.state,
  reason: 'reason' in end ? end.reason : null,
  finished_at: end.at,
  lease_id: null,
  leased_until: null,
  ...(end.state === 'due' ? { attempt_at: end.attemptAt } : {}),
});

/** The ids of a delivery, and of the lease that must hold it. */
type Held = readonly [deliveryId: string, leaseId: string];

/** Rows that this lease holds. */
const heldBy = (db: Kysely<Tables>, [deliveryId, leaseId]: Held) =>
  db.updateTable('deliveries').where('id', '=', deliveryId).where('lease_id', '=', leaseId);

/** Leaves out rows that the ledger has. Returns how many are new. */
const insertRows = async (db: Kysely<Tables>, rows: readonly Insertable<Tables['deliveries']>[]): Promise<number> => {
  let inserted = 0n;
  for (let start = 0; start < rows.length; start += rowsPerInsert) {
    const some = db.insertInto('deliveries').values(rows.slice(start, start + rowsPerInsert));
    const result = await some
      .onConflict((conflict) => conflict.columns(['schedule_id', 'moment', 'recipient']).doNothing())
      .executeTakeFirst();
    inserted += result.numInsertedOrUpdatedRows ?? 0n;
  }
  return Number(inserted);
};

const rowsOf = (
  { schedule: { id: scheduleId, owner, recipients }, deliveries }: PlannedSchedule,
  now: Date,
): readonly Insertable<Tables['deliveries']>[] =>
  deliveries.map(({ id, moment, isRequested, state, reason, recipient, attemptAt = now }) => ({
    ...{ id, moment, state, reason, is_requested: isRequested },
    schedule_id: scheduleId,
    recipient: recipient ?? (recipients === null ? owner.userIdentifier : everyone),
    data_app_id: owner.dataAppId,
    client_id: owner.clientId,
    attempt_at: attemptAt,
    finished_at: state === 'skipped' ? now : null,
  }));

const insertPlanned = (db: Kysely<Tables>, planned: readonly PlannedSchedule[], now: Date): Promise<number> =>
  insertRows(
    db,
    planned.flatMap((one) => rowsOf(one, now)),
  );

const share = async (db: Kysely<Tables>, held: Held, shares: readonly NewShare[], now: Date): Promise<boolean> => {
  const [deliveryId] = held;
  const copies = await holdCopies(db, deliveryId, shares);
  if ((await lockScheduleOf(db, deliveryId)) === undefined) return false;
  const end = heldBy(db, held).set(ended({ state: 'shared', at: now }));
  const found = await end
    .returning(['schedule_id', 'moment', 'data_app_id', 'client_id', 'is_requested', 'dashboard_id'])
    .executeTakeFirst();
  if (found === undefined) return false;
  const due = { ...found, state: 'due', reason: null, finished_at: null } as const;
  const rows = shares.flatMap(({ id, recipient, attemptAt = now, copy }) => {
    const row = { ...due, id, recipient, attempt_at: attemptAt };
    if (copy === undefined) return [row];
    return copies.has(copy.dashboardId) ? [{ ...row, client_id: copy.clientId, dashboard_id: copy.dashboardId }] : [];
  });
  await insertRows(db, rows);
  return true;
};

/**
 * The copies that exist still. They, and the data app, are held until the transaction ends: an erasure of a tenant comes
 * before it or after it, and in either case leaves no delivery.
 */
const holdCopies = async (
  db: Kysely<Tables>,
  deliveryId: string,
  shares: readonly NewShare[],
): Promise<ReadonlySet<string>> => {
  const one = db.selectFrom('deliveries').select(['data_app_id', 'dashboard_id']).where('id', '=', deliveryId);
  const found = await one.executeTakeFirst();
  const ids = [
    ...shares.flatMap(({ copy }) => copy?.dashboardId ?? []),
    ...(found?.dashboard_id ? [found.dashboard_id] : []),
  ];
  if (found === undefined || ids.length === 0) return new Set();
  await db.selectFrom('data_apps').select('id').where('id', '=', found.data_app_id).forKeyShare().execute();
  const there = db.selectFrom('dashboards').select('id').where('id', 'in', ids).orderBy('id').forKeyShare();
  return new Set((await there.execute()).map(({ id }) => id));
};

const finish = async (db: Kysely<Tables>, held: Held, end: DeliveryEnd): Promise<boolean> => {
  const finished = heldBy(db, held).set(ended(end));
  const isAnswered = end.state === 'due' && end.isAnswered;
  const { numUpdatedRows } = await (isAnswered ? finished.set({ handovers: 0 }) : finished).executeTakeFirst();
  return numUpdatedRows === 1n;
};

/** Locks the schedule of a delivery before the delivery, as a deletion does, so that the two cannot deadlock. */
const lockScheduleOf = (db: Kysely<Tables>, deliveryId: string) => {
  const id = db.selectFrom('deliveries').select('schedule_id').where('id', '=', deliveryId);
  return db.selectFrom('schedules').select(['id', 'recipients']).where('id', '=', id).forUpdate().executeTakeFirst();
};

const finishCheck = async (
  db: Kysely<Tables>,
  sealer: Sealer,
  held: Held,
  end: DeliveryEnd,
  state: AlertState,
): Promise<boolean> => {
  const [deliveryId] = held;
  const schedule = await lockScheduleOf(db, deliveryId);
  if (schedule === undefined || !(await finish(db, held, end))) return false;
  const { id } = schedule;
  if (schedule.recipients === null) {
    const own = { alert_state: sealState(sealer, [id, null], state) };
    await db.updateTable('schedules').set(own).where('id', '=', id).execute();
    return true;
  }
  const one = db.selectFrom('deliveries').select('recipient').where('id', '=', deliveryId);
  const { recipient } = await one.executeTakeFirstOrThrow();
  const row = { schedule_id: id, recipient, state: sealState(sealer, [id, recipient], state) };
  await db
    .insertInto('alert_states')
    .values(row)
    .onConflict((conflict) => conflict.columns(['schedule_id', 'recipient']).doUpdateSet({ state: row.state }))
    .execute();
  return true;
};

/** Of a schedule with recipients, only the one whose message came back gets no more. */
const endAfterBounce = async (db: Kysely<Tables>, stop: Selectable<Tables['schedule_stops']>): Promise<void> => {
  const own = db.updateTable('schedules').set({ is_paused: true }).where('id', '=', stop.schedule_id);
  const { numUpdatedRows } = await own.where('recipients', 'is', null).executeTakeFirst();
  if (numUpdatedRows > 0n) return;
  const insertion = db.insertInto('schedule_stops').values(stop);
  await insertion.onConflict((conflict) => conflict.doNothing()).execute();
};

const bounce = async (
  db: Kysely<Tables>,
  { deliveryId, isHard }: { readonly deliveryId: string; readonly isHard: boolean },
  at: Date,
): Promise<boolean> => {
  const scheduleId = (await lockScheduleOf(db, deliveryId))?.id;
  if (scheduleId === undefined) return false;
  const sent = db.updateTable('deliveries').where('id', '=', deliveryId).where('state', '=', 'sent');
  const found = await sent
    .set({ state: 'failed', reason: 'mail-bounced', finished_at: at })
    .returning('recipient')
    .executeTakeFirst();
  if (found === undefined) return false;
  if (isHard) await endAfterBounce(db, { schedule_id: scheduleId, recipient: found.recipient, stopped_at: at });
  return true;
};

/** A hand-over that the recipient, or the owner, has ended or put off changes nothing. */
const handOver = async (db: Kysely<Tables>, held: Held, now: Date): Promise<boolean> => {
  const { numUpdatedRows } = await heldBy(db, held)
    .set(({ ref }) => ({ handovers: sql<number>`${ref('handovers')} + 1` }))
    .where('leased_until', '>', now)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('schedule_stops')
            .select('schedule_stops.recipient')
            .whereRef('schedule_stops.schedule_id', '=', 'deliveries.schedule_id')
            .whereRef('schedule_stops.recipient', '=', 'deliveries.recipient'),
        ),
      ),
    )
    .where(({ or, eb, not, exists, selectFrom }) =>
      or([
        eb('is_requested', '=', true),
        not(
          exists(
            selectFrom('schedules')
              .select('schedules.id')
              .whereRef('schedules.id', '=', 'deliveries.schedule_id')
              .where((schedule) => schedule.or([schedule('is_paused', '=', true), schedule('muted_until', '>', now)])),
          ),
        ),
      ]),
    )
    .executeTakeFirst();
  return numUpdatedRows === 1n;
};

const countWaiting = async (
  db: Kysely<Tables>,
  now: Date,
): Promise<{ readonly count: number; readonly seconds: number }> => {
  const due = db
    .selectFrom('deliveries')
    .where('state', 'in', ['due', 'sending'])
    .where('attempt_at', '<=', now)
    .where((eb) => eb.or([eb('leased_until', 'is', null), eb('leased_until', '<=', now)]));
  const row = await due
    .select((eb) => [eb.fn.countAll<string>().as('count'), eb.fn.min('attempt_at').as('oldest')])
    .executeTakeFirstOrThrow();
  const oldest = row.oldest as Date | null;
  return { count: Number(row.count), seconds: oldest === null ? 0 : (now.getTime() - oldest.getTime()) / 1000 };
};

export const createDeliveryStore = (db: Kysely<Tables>, sealer: Sealer) => ({
  /** Leaves out moments of a recipient that the ledger has. Returns how many are new. */
  insert: (schedule: Schedule, deliveries: readonly NewDelivery[], now: Date) =>
    insertPlanned(db, [{ schedule, deliveries }], now),
  /** As `insert`, for many schedules in few statements. */
  insertPlanned: (planned: readonly PlannedSchedule[], now: Date) => insertPlanned(db, planned, now),
  /**
   * Ends a delivery that found the recipients, and inserts one that is due for each of them at the same moment. Leaves
   * out tenants whose copy was deleted meanwhile. Returns false if the lease was lost or the schedule was deleted.
   */
  share: (deliveryId: string, leaseId: string, shares: readonly NewShare[], now: Date) =>
    inTransaction(db, (transaction) => share(transaction, [deliveryId, leaseId], shares, now)),
  /**
   * Takes deliveries that are due, and those of senders whose lease has ended. Clients with fewer recent claims come
   * first. No two calls return the same delivery while its lease lasts, nor two of one alert to one recipient: each check
   * must know what the last one found. The schedule has that recipient's `alertState`.
   */
  claim: (given: Claim) => inTransaction(db, (transaction) => claim(transaction, sealer, given)),
  /**
   * Notes that the message is about to be handed to the mail server. Returns false, and the message must not be sent, if
   * the lease was lost, the schedule was deleted, its recipient ended it, or it was paused or muted and the delivery was
   * not requested.
   */
  handOver: (deliveryId: string, leaseId: string, now: Date) => handOver(db, [deliveryId, leaseId], now),
  /**
   * Returns false if the lease was lost or the schedule was deleted. Stores what a check of an alert found together with
   * its end, so that what was told and what is known agree. Left out: the state stays.
   */
  finish: (deliveryId: string, leaseId: string, end: DeliveryEnd, state?: AlertState) =>
    state === undefined
      ? finish(db, [deliveryId, leaseId], end)
      : inTransaction(db, (inner) => finishCheck(inner, sealer, [deliveryId, leaseId], end, state)),
  /**
   * Notes that a sent message came back, and pauses its schedule if `isHard`; of a schedule with recipients, only that
   * recipient gets no more. Returns false if no such message was sent, or its return is known.
   */
  bounce: (given: { readonly deliveryId: string; readonly isHard: boolean }, at: Date) =>
    inTransaction(db, (inner) => bounce(inner, given, at)),
  /** Deliveries that are due and that no sender holds, and for how many seconds the oldest has been due. */
  countWaiting: (now: Date) => countWaiting(db, now),
  /** Whether a delivery of the schedule has not ended. */
  hasOpen: async (scheduleId: string) => {
    const open = db.selectFrom('deliveries').select('id').where('schedule_id', '=', scheduleId);
    return (await open.where('state', 'in', ['due', 'sending']).limit(1).executeTakeFirst()) !== undefined;
  },
  /** Returns deliveries of the schedule, or of one tenant of it, the newest moment first. */
  list: async (scheduleId: string, limit: number, clientId?: string): Promise<readonly Delivery[]> => {
    const all = db.selectFrom('deliveries').selectAll().where('schedule_id', '=', scheduleId);
    const rows = clientId === undefined ? all : all.where('client_id', '=', clientId);
    return (await rows.orderBy('moment', 'desc').orderBy('id').limit(limit).execute()).map(deliveryOf);
  },
});

export type DeliveryStore = ReturnType<typeof createDeliveryStore>;
