import { type ExpressionBuilder, type Kysely, type Selectable, sql } from 'kysely';
import type { Sealed } from '../../model/brand.js';
import type { AlertState } from '../../model/schedule/alert.js';
import type { HostSchedule } from '../../model/schedule/host-schedule.js';
import type { PlanChange } from '../../model/schedule/plan.js';
import type { Recipients } from '../../model/schedule/recipients.js';
import type {
  DeliveryState,
  Schedule,
  ScheduleOwner,
  ScheduleScope,
  WatchedSchedule,
} from '../../model/schedule/schedule.js';
import type { Sealer } from '../../platform/keys/sealing.js';
import { assertUpdated, inTransaction, jsonb } from './query.js';
import type { Tables } from './tables.js';

type ScheduleChange = PlanChange & { readonly nextAt?: Date | null | undefined };

type Row = Selectable<Tables['schedules']>;

/** `recipient`: null for an alert without recipients. */
export const stateContext = (scheduleId: string, recipient: string | null): string =>
  recipient === null ? `${scheduleId}/alert` : `${scheduleId}/alert/${recipient}`;

/** The state of an alert as text that only this row of this recipient can hold. */
export const sealState = (
  sealer: Sealer,
  [scheduleId, recipient]: readonly [string, string | null],
  state: AlertState,
): Sealed => sealer.seal(JSON.stringify(state), stateContext(scheduleId, recipient));

export const recipientsContext = (scheduleId: string): string => `${scheduleId}/recipients`;

const openRecipients = (sealer: Sealer, { id, recipients }: Pick<Row, 'id' | 'recipients'>): Recipients | null =>
  recipients === null ? null : (JSON.parse(sealer.open(recipients, recipientsContext(id))) as Recipients);

/** The columns of what a schedule or a change names; undefined: the column stays. The reverse of `scheduleOf`. */
const columnsOf = (sealer: Sealer, scheduleId: string, given: ScheduleChange) => {
  const { name, format, recurrence, channel, dashboardFilter, metricIds, alert, recipients } = given;
  return {
    ...{ name, format, channel, next_at: given.nextAt, muted_until: given.mutedUntil },
    ...{ catch_up: given.catchUp, is_paused: given.isPaused },
    recurrence: recurrence && jsonb(recurrence),
    dashboard_filter: dashboardFilter && jsonb(dashboardFilter),
    metric_ids: metricIds && jsonb(metricIds),
    alert: alert && jsonb(alert),
    recipients: recipients && sealer.seal(JSON.stringify(recipients), recipientsContext(scheduleId)),
  };
};
type Columns = ReturnType<typeof columnsOf>;

const planOf = (row: Row, sealer: Sealer): Omit<WatchedSchedule, 'last'> => ({
  id: row.id,
  dashboardId: row.dashboard_id,
  openedId: row.opened_id,
  owner: { dataAppId: row.data_app_id, clientId: row.client_id, userIdentifier: row.user_identifier },
  name: row.name,
  format: row.format,
  recurrence: row.recurrence,
  catchUp: row.catch_up,
  isPaused: row.is_paused,
  nextAt: row.next_at,
  createdAt: row.created_at,
  mutedUntil: row.muted_until,
  channel: row.channel,
  recipients: openRecipients(sealer, row),
});

/** A sealed state of one recipient. */
export type RecipientState = { readonly recipient: string; readonly state: Sealed };

const openState = (sealer: Sealer, row: Row, of: RecipientState | undefined): AlertState | null => {
  const [sealed, recipient] = row.recipients === null ? [row.alert_state, null] : [of?.state ?? null, of?.recipient];
  if (sealed === null) return null;
  return JSON.parse(sealer.open(sealed, stateContext(row.id, recipient ?? null))) as AlertState;
};

/** `of`: whose state of an alert with recipients it has. */
export const scheduleOf = (row: Row, sealer: Sealer, of?: RecipientState): Schedule => ({
  ...planOf(row, sealer),
  dashboardFilter: row.dashboard_filter,
  metricIds: row.metric_ids,
  alert: row.alert,
  alertState: openState(sealer, row, of),
});

const ownerIs = (dashboardId: string, owner: ScheduleOwner) => (eb: ExpressionBuilder<Tables, 'schedules'>) =>
  eb.and([
    eb('dashboard_id', '=', dashboardId),
    eb('data_app_id', '=', owner.dataAppId),
    eb('client_id', '=', owner.clientId),
    eb('user_identifier', '=', owner.userIdentifier),
  ]);

const scopeIs =
  ({ dataAppId, clientId, dashboardId }: ScheduleScope) =>
  (eb: ExpressionBuilder<Tables, 'schedules'>) =>
    eb.and([
      eb('schedules.data_app_id', '=', dataAppId),
      ...(clientId === undefined ? [] : [eb('schedules.client_id', '=', clientId)]),
      ...(dashboardId === undefined ? [] : [eb('schedules.dashboard_id', '=', dashboardId)]),
    ]);

const insert = async (db: Kysely<Tables>, sealer: Sealer, { owner, ...schedule }: Schedule): Promise<void> => {
  await db
    .insertInto('schedules')
    .values({
      id: schedule.id,
      dashboard_id: schedule.dashboardId,
      opened_id: schedule.openedId,
      data_app_id: owner.dataAppId,
      client_id: owner.clientId,
      user_identifier: owner.userIdentifier,
      created_at: schedule.createdAt,
      // A whole schedule leaves no column out.
      ...(columnsOf(sealer, schedule.id, schedule) as { [Name in keyof Columns]: Exclude<Columns[Name], undefined> }),
    })
    .execute();
};

/** Leaves out values that users chose, what alerts found, and schedules of the host. */
const listAll = async (
  db: Kysely<Tables>,
  sealer: Sealer,
  scope: ScheduleScope,
  limit: number,
): Promise<readonly WatchedSchedule[]> => {
  const rows = await db
    .selectFrom('schedules')
    .leftJoinLateral(
      (eb) =>
        eb
          .selectFrom('deliveries')
          .select(['moment', 'state', 'reason', 'finished_at'])
          .whereRef('deliveries.schedule_id', '=', 'schedules.id')
          .orderBy('moment', 'desc')
          .limit(1)
          .as('last'),
      (join) => join.onTrue(),
    )
    .selectAll('schedules')
    .select(['last.moment', 'last.state', 'last.reason', 'last.finished_at'])
    .where(scopeIs(scope))
    .where('schedules.client_id', '<>', '')
    .orderBy('schedules.created_at', 'desc')
    .orderBy('schedules.id')
    .limit(limit)
    .execute();
  return rows.map(({ moment, state, reason, finished_at: finishedAt, ...row }) => ({
    ...planOf(row, sealer),
    last: moment === null || state === null ? null : { moment, state, reason, finishedAt },
  }));
};

/** What became of the latest moment of each, without the deliveries that only found others. */
const listOfHost = async (
  db: Kysely<Tables>,
  sealer: Sealer,
  dataAppId: string,
  scheduleId?: string,
): Promise<readonly HostSchedule[]> => {
  const own = db
    .selectFrom('schedules')
    .innerJoin('dashboards', 'dashboards.id', 'schedules.dashboard_id')
    .selectAll('schedules')
    .select('dashboards.external_dashboard_id')
    .where('schedules.data_app_id', '=', dataAppId)
    .where('schedules.client_id', '=', '')
    .$if(scheduleId !== undefined, (some) => some.where('schedules.id', '=', scheduleId ?? ''))
    .orderBy('schedules.created_at', 'desc')
    .orderBy('schedules.id');
  const rows = await own.execute();
  const lasts = await countLatest(
    db,
    rows.map(({ id }) => id),
  );
  return rows.map(({ external_dashboard_id: templateName, ...row }) => ({
    ...scheduleOf(row, sealer),
    templateName,
    last: lasts.get(row.id) ?? null,
  }));
};

const countLatest = async (
  db: Kysely<Tables>,
  ids: readonly string[],
): Promise<ReadonlyMap<string, NonNullable<HostSchedule['last']>>> => {
  if (ids.length === 0) return new Map();
  const { rows } = await sql<{ id: string; moment: Date; state: DeliveryState; found: string | number }>`
    select one.schedule_id as id, one.moment, one.state, count(*) as found from guestlist.deliveries as one
    join (select schedule_id, max(moment) as moment from guestlist.deliveries
      where schedule_id in (${sql.join(ids)}) group by schedule_id) as latest using (schedule_id, moment)
    group by one.schedule_id, one.moment, one.state`.execute(db);
  const lasts = new Map<string, NonNullable<HostSchedule['last']>>();
  for (const { id, moment, state, found } of rows) {
    const counts = lasts.get(id)?.counts ?? {};
    lasts.set(id, { moment, counts: state === 'shared' ? counts : { ...counts, [state]: Number(found) } });
  }
  return lasts;
};

const resumeOf = (
  db: Kysely<Tables>,
  scope: ScheduleScope,
  scheduleId: string,
  nextOf: (schedule: Pick<Schedule, 'recurrence'>) => Date | null,
): Promise<boolean> =>
  inTransaction(db, async (transaction) => {
    const row = await transaction
      .selectFrom('schedules')
      .select(['recurrence', 'is_paused'])
      .where('id', '=', scheduleId)
      .where(scopeIs(scope))
      .forUpdate()
      .executeTakeFirst();
    if (row === undefined || !row.is_paused) return row !== undefined;
    const resumed = { is_paused: false, next_at: nextOf(row) };
    await transaction.updateTable('schedules').set(resumed).where('id', '=', scheduleId).execute();
    return true;
  });

const stop = (db: Kysely<Tables>, row: Selectable<Tables['schedule_stops']>): Promise<boolean> =>
  inTransaction(db, async (transaction) => {
    const one = transaction.selectFrom('schedules').select('id').where('id', '=', row.schedule_id).forUpdate();
    if ((await one.executeTakeFirst()) === undefined) return false;
    const insertion = transaction.insertInto('schedule_stops').values(row);
    await insertion.onConflict((conflict) => conflict.doNothing()).execute();
    return true;
  });

const list = async (
  db: Kysely<Tables>,
  sealer: Sealer,
  dashboardId: string,
  owner: ScheduleOwner,
): Promise<readonly Schedule[]> => {
  const recipient = owner.userIdentifier;
  const rows = await db
    .selectFrom('schedules')
    .leftJoin('alert_states', (join) => join.onRef('schedule_id', '=', 'schedules.id').on('recipient', '=', recipient))
    .selectAll('schedules')
    .select('state')
    .where(ownerIs(dashboardId, owner))
    .orderBy('created_at')
    .orderBy('id')
    .execute();
  return rows.map(({ state, ...row }) => scheduleOf(row, sealer, state === null ? undefined : { recipient, state }));
};

/** A state counts for the recipients it was made for: it is dropped when the schedule goes to others, or to its owner again. */
const change = async (
  db: Kysely<Tables>,
  sealer: Sealer,
  [dashboardId, owner, scheduleId]: readonly [string, ScheduleOwner, string],
  given: ScheduleChange,
): Promise<boolean> => {
  const own = db.updateTable('schedules').where(ownerIs(dashboardId, owner)).where('id', '=', scheduleId);
  const forgotten = given.recipients ? { alert_state: null } : {};
  // An update needs a column: without a change, the id is set to itself.
  const columns = { id: scheduleId, ...columnsOf(sealer, scheduleId, given), ...forgotten };
  const { numUpdatedRows } = await own.set(columns).executeTakeFirst();
  if (numUpdatedRows !== 1n) return false;
  if (given.recipients === null) await db.deleteFrom('alert_states').where('schedule_id', '=', scheduleId).execute();
  return true;
};

/** What operators, and those who manage a tenant's schedules, do with schedules of any user. */
const createScopedStore = (db: Kysely<Tables>, sealer: Sealer) => ({
  /** Returns schedules of all users with their latest delivery, the newest schedule first; none of the host. */
  listAll: (scope: ScheduleScope, limit: number) => listAll(db, sealer, scope, limit),
  /**
   * Lets a paused schedule send again from the moment that `nextOf` returns. Returns false if the scope has no such
   * schedule. Also for `pauseOf` and `deleteOf`.
   */
  resumeOf: (
    scope: ScheduleScope,
    scheduleId: string,
    nextOf: (schedule: Pick<Schedule, 'recurrence'>) => Date | null,
  ) => resumeOf(db, scope, scheduleId, nextOf),
  pauseOf: async (scope: ScheduleScope, scheduleId: string) => {
    const one = db.updateTable('schedules').set({ is_paused: true }).where('id', '=', scheduleId).where(scopeIs(scope));
    return (await one.executeTakeFirst()).numUpdatedRows === 1n;
  },
  deleteOf: async (scope: ScheduleScope, scheduleId: string) => {
    const one = db.deleteFrom('schedules').where('id', '=', scheduleId).where(scopeIs(scope));
    return (await one.executeTakeFirst()).numDeletedRows === 1n;
  },
});

const createPlanning = (db: Kysely<Tables>, sealer: Sealer) => ({
  /**
   * Returns schedules that are not paused and whose `nextAt` has come, the earliest first, and locks them until the
   * transaction ends. Leaves out those that another transaction has locked.
   */
  lockPlannable: async (now: Date, limit: number): Promise<readonly Schedule[]> => {
    const rows = await db
      .selectFrom('schedules')
      .selectAll()
      .where('is_paused', '=', false)
      .where('next_at', '<=', now)
      .orderBy('next_at')
      .limit(limit)
      .forUpdate()
      .skipLocked()
      .execute();
    return rows.map((row) => scheduleOf(row, sealer));
  },
  /** As `setNext`, for many in one statement. */
  setNextOf: async (schedules: readonly Pick<Schedule, 'id' | 'nextAt'>[]) => {
    if (schedules.length === 0) return;
    const given = jsonb(schedules.map(({ id, nextAt }) => ({ id, next_at: nextAt?.toISOString() ?? null })));
    await sql`
      update guestlist.schedules set next_at = given.next_at
      from jsonb_to_recordset(${given}::jsonb) as given (id text, next_at timestamptz)
      where schedules.id = given.id`.execute(db);
  },
  setNext: async (scheduleId: string, nextAt: Date | null) => {
    const one = db.updateTable('schedules').set({ next_at: nextAt }).where('id', '=', scheduleId);
    assertUpdated(await one.executeTakeFirst(), 'The schedule');
  },
});

export const createScheduleStore = (db: Kysely<Tables>, sealer: Sealer) => ({
  ...createScopedStore(db, sealer),
  ...createPlanning(db, sealer),
  insert: (schedule: Schedule) => insert(db, sealer, schedule),
  /** Returns the host's schedules, or the named one, with what became of the latest moment; the newest first. */
  listOfHost: (dataAppId: string, scheduleId?: string) => listOfHost(db, sealer, dataAppId, scheduleId),
  /** Returns the owner's schedules of the dashboard, oldest first. `alertState` is the owner's own. */
  list: (dashboardId: string, owner: ScheduleOwner) => list(db, sealer, dashboardId, owner),
  /** Returns false if the owner has no such schedule of the dashboard. Also for `delete`. */
  change: (dashboardId: string, owner: ScheduleOwner, scheduleId: string, given: ScheduleChange) =>
    change(db, sealer, [dashboardId, owner, scheduleId], given),
  /** Deletes the schedule and its deliveries. */
  delete: async (dashboardId: string, owner: ScheduleOwner, scheduleId: string) => {
    const own = db.deleteFrom('schedules').where(ownerIs(dashboardId, owner)).where('id', '=', scheduleId);
    return (await own.executeTakeFirst()).numDeletedRows === 1n;
  },
  /** Ends what one recipient gets of a schedule. Returns false if the schedule does not exist. */
  stop: (scheduleId: string, recipient: string, now: Date) =>
    stop(db, { schedule_id: scheduleId, recipient, stopped_at: now }),
  /** Returns the recipients who ended it. */
  listStopped: async (scheduleId: string): Promise<readonly string[]> => {
    const rows = db.selectFrom('schedule_stops').select('recipient').where('schedule_id', '=', scheduleId);
    return (await rows.execute()).map(({ recipient }) => recipient);
  },
  /** Pauses the schedule of any user. Returns false if it does not exist. */
  pause: async (scheduleId: string) => {
    const one = db.updateTable('schedules').set({ is_paused: true }).where('id', '=', scheduleId);
    return (await one.executeTakeFirst()).numUpdatedRows === 1n;
  },
});

export type ScheduleStore = ReturnType<typeof createScheduleStore>;
