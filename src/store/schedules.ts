import type { ExpressionBuilder, Kysely, Selectable } from 'kysely';
import type { AlertState } from '../domain/deliver/alert.js';
import type { WatchedSchedule } from '../domain/deliver/operator.js';
import type { Schedule, ScheduleOwner } from '../domain/deliver/schedule.js';
import type { Sealer } from '../domain/ports.js';
import type { ScheduleChange, ScheduleStore } from '../domain/store/deliveries.js';
import { jsonb } from './document.js';
import { assertUpdated, inTransaction } from './query.js';
import type { Tables } from './tables.js';

type Row = Selectable<Tables['schedules']>;

/** The state of an alert as text that only this schedule's row can hold. */
export const sealState = (sealer: Sealer, scheduleId: string, state: AlertState): string =>
  sealer.seal(JSON.stringify(state), `${scheduleId}/alert`);

const planOf = (row: Row): Omit<WatchedSchedule, 'last'> => ({
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
});

export const scheduleOf = (row: Row, sealer: Sealer): Schedule => ({
  ...planOf(row),
  dashboardFilter: row.dashboard_filter,
  metricIds: row.metric_ids,
  alert: row.alert,
  alertState:
    row.alert_state === null ? null : (JSON.parse(sealer.open(row.alert_state, `${row.id}/alert`)) as AlertState),
});

const ownerIs = (dashboardId: string, owner: ScheduleOwner) => (eb: ExpressionBuilder<Tables, 'schedules'>) =>
  eb.and([
    eb('dashboard_id', '=', dashboardId),
    eb('data_app_id', '=', owner.dataAppId),
    eb('client_id', '=', owner.clientId),
    eb('user_identifier', '=', owner.userIdentifier),
  ]);

const changed = ({
  name,
  format,
  recurrence,
  catchUp,
  isPaused,
  nextAt,
  mutedUntil,
  alert,
  channel,
  dashboardFilter,
  metricIds,
}: ScheduleChange) => ({
  ...(name === undefined ? {} : { name }),
  ...(format === undefined ? {} : { format }),
  ...(recurrence === undefined ? {} : { recurrence: jsonb(recurrence) }),
  ...(catchUp === undefined ? {} : { catch_up: catchUp }),
  ...(isPaused === undefined ? {} : { is_paused: isPaused }),
  ...(nextAt === undefined ? {} : { next_at: nextAt }),
  ...(mutedUntil === undefined ? {} : { muted_until: mutedUntil }),
  ...(channel === undefined ? {} : { channel }),
  ...(dashboardFilter === undefined ? {} : { dashboard_filter: jsonb(dashboardFilter) }),
  ...(metricIds === undefined ? {} : { metric_ids: metricIds === null ? null : jsonb(metricIds) }),
  ...(alert === undefined ? {} : { alert: alert === null ? null : jsonb(alert) }),
});

const insert = async (db: Kysely<Tables>, { owner, ...schedule }: Schedule): Promise<void> => {
  await db
    .insertInto('schedules')
    .values({
      id: schedule.id,
      dashboard_id: schedule.dashboardId,
      opened_id: schedule.openedId,
      data_app_id: owner.dataAppId,
      client_id: owner.clientId,
      user_identifier: owner.userIdentifier,
      name: schedule.name,
      format: schedule.format,
      recurrence: jsonb(schedule.recurrence),
      catch_up: schedule.catchUp,
      is_paused: schedule.isPaused,
      next_at: schedule.nextAt,
      created_at: schedule.createdAt,
      muted_until: schedule.mutedUntil,
      channel: schedule.channel,
      dashboard_filter: jsonb(schedule.dashboardFilter),
      metric_ids: schedule.metricIds === null ? null : jsonb(schedule.metricIds),
      alert: schedule.alert === null ? null : jsonb(schedule.alert),
    })
    .execute();
};

/** Leaves out values that users chose, and what alerts found. */
const listAll = async (db: Kysely<Tables>, dataAppId: string, limit: number): Promise<readonly WatchedSchedule[]> => {
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
    .where('schedules.data_app_id', '=', dataAppId)
    .orderBy('schedules.created_at', 'desc')
    .orderBy('schedules.id')
    .limit(limit)
    .execute();
  return rows.map(({ moment, state, reason, finished_at: finishedAt, ...row }) => ({
    ...planOf(row),
    last: moment === null || state === null ? null : { moment, state, reason, finishedAt },
  }));
};

const resumeOf = (
  db: Kysely<Tables>,
  { dataAppId, scheduleId }: { readonly dataAppId: string; readonly scheduleId: string },
  nextOf: (schedule: Pick<Schedule, 'recurrence'>) => Date | null,
): Promise<boolean> =>
  inTransaction(db, async (transaction) => {
    const row = await transaction
      .selectFrom('schedules')
      .select(['recurrence', 'is_paused'])
      .where('id', '=', scheduleId)
      .where('data_app_id', '=', dataAppId)
      .forUpdate()
      .executeTakeFirst();
    if (row === undefined || !row.is_paused) return row !== undefined;
    const resumed = { is_paused: false, next_at: nextOf(row) };
    await transaction.updateTable('schedules').set(resumed).where('id', '=', scheduleId).execute();
    return true;
  });

export const createScheduleStore = (db: Kysely<Tables>, sealer: Sealer): ScheduleStore => ({
  insert: (schedule) => insert(db, schedule),
  list: async (dashboardId, owner) => {
    const rows = db.selectFrom('schedules').selectAll().where(ownerIs(dashboardId, owner));
    return (await rows.orderBy('created_at').orderBy('id').execute()).map((row) => scheduleOf(row, sealer));
  },
  change: async (dashboardId, owner, scheduleId, change) => {
    const own = db.updateTable('schedules').where(ownerIs(dashboardId, owner)).where('id', '=', scheduleId);
    // An update needs a column: without a change, the id is set to itself.
    const result = await own.set({ id: scheduleId, ...changed(change) }).executeTakeFirst();
    return result.numUpdatedRows === 1n;
  },
  delete: async (dashboardId, owner, scheduleId) => {
    const own = db.deleteFrom('schedules').where(ownerIs(dashboardId, owner)).where('id', '=', scheduleId);
    return (await own.executeTakeFirst()).numDeletedRows === 1n;
  },
  listAll: (dataAppId, limit) => listAll(db, dataAppId, limit),
  resumeOf: (dataAppId, scheduleId, nextOf) => resumeOf(db, { dataAppId, scheduleId }, nextOf),
  pauseOf: async (dataAppId, scheduleId) => {
    const one = db.updateTable('schedules').set({ is_paused: true }).where('id', '=', scheduleId);
    return (await one.where('data_app_id', '=', dataAppId).executeTakeFirst()).numUpdatedRows === 1n;
  },
  pause: async (scheduleId) => {
    const one = db.updateTable('schedules').set({ is_paused: true }).where('id', '=', scheduleId);
    return (await one.executeTakeFirst()).numUpdatedRows === 1n;
  },
  lockPlannable: async (now, limit) => {
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
  setNext: async (scheduleId, nextAt) => {
    const one = db.updateTable('schedules').set({ next_at: nextAt }).where('id', '=', scheduleId);
    assertUpdated(await one.executeTakeFirst(), 'The schedule');
  },
});
