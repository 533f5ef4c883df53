/** What every metadata database must do with schedules and deliveries. Part of the store's suite. */

import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Alert, AlertState } from '../../src/model/schedule/alert.js';
import type { Schedule, ScheduleOwner } from '../../src/model/schedule/schedule.js';
import type { Database } from '../../src/platform/databases/database.js';
import type { Claim, NewDelivery } from '../../src/service/store/deliveries.js';
import type { Store } from '../../src/service/store/store.js';
import type { Tables } from '../../src/service/store/tables.js';
import { testSealer } from './sealer.js';
import { dashboardSample, insertOrganization, moment } from './store-samples.js';
import { noDays, sweepKind } from './sweep.js';

export const later = (ms: number): Date => new Date(moment.getTime() + ms);

export const scheduleSample = (
  dashboardId: string,
  owner: ScheduleOwner,
  fields: Partial<Schedule> = {},
): Schedule => ({
  id: randomUUID(),
  dashboardId,
  openedId: 'delays--LAX',
  owner,
  name: 'Each morning',
  format: 'pdf',
  recurrence: { every: 'workday', at: '08:00', timezone: 'Europe/Berlin' },
  catchUp: 'once',
  isPaused: false,
  nextAt: moment,
  createdAt: moment,
  mutedUntil: null,
  alert: null,
  channel: null,
  dashboardFilter: {},
  metricIds: null,
  recipients: null,
  alertState: null,
  ...fields,
});

export const dueSample = (fields: Partial<NewDelivery> = {}): NewDelivery => ({
  id: randomUUID(),
  moment,
  isRequested: false,
  state: 'due',
  reason: null,
  ...fields,
});

const alertSample: Alert = {
  metricId: 'm',
  measure: 'Sales',
  condition: { is: 'newKey' },
  quietHours: { from: '22:00', to: '07:00' },
};
const stateSample: AlertState = {
  ...{ right: 'right', rule: 'rule', isBreached: false, since: moment.toISOString(), value: 4711 },
  ...{ keys: ['unmistakable-key'], isAnew: false },
};
const alerting = { format: 'alert', alert: alertSample } as const;

const insertBoard = async (store: Store) => {
  const organization = await insertOrganization(store);
  const board = dashboardSample(organization.workspace.id);
  await store.dashboards.insert(board);
  const ann: ScheduleOwner = { ...organization.owner, userIdentifier: 'ann' };
  return { ...organization, board, ann };
};

const insertSchedule = async (store: Store, fields: Partial<Schedule> = {}, clientId?: string) => {
  const { board, ann } = await insertBoard(store);
  const owner = clientId === undefined ? ann : { ...ann, clientId };
  const schedule = scheduleSample(board.id, owner, fields);
  await store.schedules.insert(schedule);
  return { schedule, board, ann: owner };
};

const claimOf = (fields: Partial<Claim> = {}): Claim => ({
  now: moment,
  leaseId: randomUUID(),
  leasedUntil: later(60_000),
  limit: 10,
  perClient: { count: 100, since: later(-60_000) },
  ...fields,
});

const scheduleTests = (store: () => Store): void => {
  it('gives a schedule back to its owner, and to nobody else', async () => {
    const { schedule, board, ann } = await insertSchedule(store());
    const newer = scheduleSample(board.id, ann, { createdAt: later(1), nextAt: null });
    await store().schedules.insert(newer);
    expect(await store().schedules.list(board.id, ann)).toEqual([schedule, newer]);
    const strangers = [{ userIdentifier: 'Ann' }, { clientId: 'lax' }, { dataAppId: randomUUID() }];
    for (const fields of strangers) {
      const stranger = { ...ann, ...fields };
      expect(await store().schedules.list(board.id, stranger)).toEqual([]);
      expect(await store().schedules.change(board.id, stranger, schedule.id, { name: 'Theirs' })).toBe(false);
      expect(await store().schedules.delete(board.id, stranger, schedule.id)).toBe(false);
    }
    expect(await store().schedules.list(randomUUID(), ann)).toEqual([]);
    expect(await store().schedules.list(board.id, ann)).toEqual([schedule, newer]);
  });

  it('changes only what is named', async () => {
    const { schedule, board, ann } = await insertSchedule(store());
    const recurrence = { cron: '5 8 * * 1', timezone: 'UTC' };
    const content = { dashboardFilter: { State: ['CA'] }, metricIds: ['m'] };
    for (const change of [
      {},
      { name: 'Changed' },
      { recurrence, nextAt: later(5) },
      content,
      { format: 'xlsx' as const },
    ]) {
      expect(await store().schedules.change(board.id, ann, schedule.id, change)).toBe(true);
    }
    const wanted = { ...schedule, name: 'Changed', recurrence, nextAt: later(5), ...content, format: 'xlsx' };
    expect(await store().schedules.list(board.id, ann)).toEqual([wanted]);
    expect(await store().schedules.delete(board.id, ann, schedule.id)).toBe(true);
    expect(await store().schedules.change(board.id, ann, schedule.id, {})).toBe(false);
  });

  it('plans a schedule once its moment has come, unless it is paused, and not twice at once', async () => {
    const { schedule } = await insertSchedule(store());
    const { schedule: paused } = await insertSchedule(store());
    const { schedule: future } = await insertSchedule(store(), { nextAt: later(1) });
    expect(await store().schedules.pause(paused.id)).toBe(true);
    expect(await store().schedules.pause(randomUUID())).toBe(false);
    await store().transaction(async (inner) => {
      const ids = (await inner.schedules.lockPlannable(moment, 1000)).map(({ id }) => id);
      expect(ids).toContain(schedule.id);
      expect(ids).not.toContain(paused.id);
      expect(ids).not.toContain(future.id);
      await inner.schedules.setNext(schedule.id, later(10));
    });
    const ids = (await store().schedules.lockPlannable(moment, 1000)).map(({ id }) => id);
    expect(ids).not.toContain(schedule.id);
  });

  it('lists the schedules of a data app with their latest delivery, and no others', async () => {
    const { schedule, board, ann } = await insertSchedule(store());
    const { alertState: _, alert: __, dashboardFilter: ___, metricIds: ____, ...shown } = schedule;
    const bob = { ...ann, clientId: 'another', userIdentifier: 'bob' };
    const newer = scheduleSample(board.id, bob, { createdAt: later(1), ...alerting });
    await store().schedules.insert(newer);
    await insertSchedule(store());
    const failed = dueSample({ moment: later(5), state: 'skipped', reason: 'missed' });
    await store().deliveries.insert(schedule, [dueSample(), failed], moment);
    const listed = await store().schedules.listAll({ dataAppId: ann.dataAppId }, 10);
    expect(listed).toMatchObject([{ id: newer.id, owner: bob, format: 'alert', last: null }, shown]);
    expect(listed[1]?.last).toEqual({ moment: later(5), state: 'skipped', reason: 'missed', finishedAt: moment });
    const hidden = ['alert', 'alertState', 'dashboardFilter', 'metricIds'];
    expect(listed.flatMap((each) => Object.keys(each)).filter((name) => hidden.includes(name))).toEqual([]);
    expect(await store().schedules.listAll({ dataAppId: ann.dataAppId }, 1)).toHaveLength(1);
    expect(await store().schedules.listAll({ dataAppId: randomUUID() }, 10)).toEqual([]);
  });

  it('pauses and resumes a schedule of the data app, and no other', async () => {
    const { schedule, board, ann } = await insertSchedule(store());
    const stateOf = async () =>
      (await store().schedules.list(board.id, ann)).map((each) => [each.isPaused, each.nextAt]);
    const next = () => later(99);
    for (const [dataAppId, id] of [
      [randomUUID(), schedule.id],
      [ann.dataAppId, randomUUID()],
    ] as const) {
      expect(await store().schedules.pauseOf({ dataAppId }, id)).toBe(false);
      expect(await store().schedules.resumeOf({ dataAppId }, id, next)).toBe(false);
    }
    expect(await store().schedules.resumeOf({ dataAppId: ann.dataAppId }, schedule.id, next)).toBe(true);
    expect(await stateOf()).toEqual([[false, moment]]);
    expect(await store().schedules.pauseOf({ dataAppId: ann.dataAppId }, schedule.id)).toBe(true);
    expect(await stateOf()).toEqual([[true, moment]]);
    expect(await store().schedules.resumeOf({ dataAppId: randomUUID() }, schedule.id, next)).toBe(false);
    expect(await store().schedules.resumeOf({ dataAppId: ann.dataAppId }, schedule.id, next)).toBe(true);
    expect(await stateOf()).toEqual([[false, later(99)]]);
  });

  it('keeps a schedule of a scope from another client, dashboard and data app', async () => {
    const { schedule, board, ann } = await insertSchedule(store());
    const { dataAppId, clientId } = ann;
    for (const scope of [
      { dataAppId, clientId: 'another' },
      { dataAppId, clientId, dashboardId: randomUUID() },
      { dataAppId: randomUUID(), clientId },
    ]) {
      expect(await store().schedules.listAll(scope, 10)).toEqual([]);
      expect(await store().schedules.pauseOf(scope, schedule.id)).toBe(false);
      expect(await store().schedules.deleteOf(scope, schedule.id)).toBe(false);
    }
    const own = { dataAppId, clientId, dashboardId: board.id };
    expect(await store().schedules.listAll(own, 10)).toMatchObject([{ id: schedule.id }]);
    expect(await store().schedules.deleteOf(own, schedule.id)).toBe(true);
    expect(await store().schedules.list(board.id, ann)).toEqual([]);
  });

  it('deletes schedules and deliveries with their dashboard, and with their client', async () => {
    const { schedule, board } = await insertSchedule(store());
    await store().deliveries.insert(schedule, [dueSample()], moment);
    await store().transaction((inner) => inner.dashboards.delete(board));
    expect(await store().deliveries.list(schedule.id, 10)).toEqual([]);
    const { schedule: other, ann } = await insertSchedule(store());
    await store().deliveries.insert(other, [dueSample()], moment);
    expect(await store().clients.erase(ann.dataAppId, ann.clientId)).toMatchObject({ schedules: 1 });
    expect(await store().deliveries.list(other.id, 10)).toEqual([]);
  });
};

/** Ends what other tests left open, so that a claim returns only this test's deliveries. */
const settle = async (store: Store): Promise<void> => {
  const lease = claimOf({
    now: later(1e9),
    leasedUntil: later(2e9),
    limit: 1000,
    perClient: { count: 1e6, since: moment },
  });
  for (;;) {
    // Of an alert, each claim returns one delivery.
    const claimed = await store.deliveries.claim(lease);
    if (claimed.length === 0) break;
    for (const { id } of claimed) {
      await store.deliveries.finish(id, lease.leaseId, {
        state: 'failed',
        reason: 'attempts-used-up',
        at: later(-1e9),
      });
    }
  }
  await sweepKind(store.retention.of(noDays), 'deliveries', later(-1e8));
};

const ledgerTests = (store: () => Store): void => {
  it('has one delivery for each schedule, moment and recipient', async () => {
    const { schedule } = await insertSchedule(store());
    const missed = dueSample({ moment: later(-5), state: 'skipped', reason: 'missed' });
    expect(await store().deliveries.insert(schedule, [dueSample(), missed], moment)).toBe(2);
    const again = await Promise.all([1, 2, 3].map(() => store().deliveries.insert(schedule, [dueSample()], moment)));
    expect(again).toEqual([0, 0, 0]);
    expect(await store().deliveries.list(schedule.id, 10)).toMatchObject([
      { state: 'due', recipient: 'ann', moment, attempts: 0, finishedAt: null },
      { id: missed.id, state: 'skipped', reason: 'missed', finishedAt: moment },
    ]);
    expect(await store().deliveries.list(schedule.id, 1)).toHaveLength(1);
  });

  it('returns each delivery to one of many claims', async () => {
    await settle(store());
    const { schedule } = await insertSchedule(store());
    const due = Array.from({ length: 20 }, (_, index) => dueSample({ moment: later(index) }));
    await store().deliveries.insert(schedule, due, moment);
    const claims = await Promise.all(Array.from({ length: 8 }, () => store().deliveries.claim(claimOf({ limit: 3 }))));
    const ids = claims.flat().map(({ id }) => id);
    expect(ids.toSorted()).toEqual(due.map(({ id }) => id).toSorted());
    expect(claims.flat()[0]).toMatchObject({ schedule, state: 'sending', attempts: 1, handovers: 0 });
  });

  it('takes up the work of a sender whose lease ended, who can then end nothing', async () => {
    await settle(store());
    const { schedule } = await insertSchedule(store());
    const { id } = dueSample();
    await store().deliveries.insert(schedule, [dueSample({ id })], moment);
    const first = claimOf();
    expect(await store().deliveries.claim(first)).toHaveLength(1);
    expect(await store().deliveries.claim(claimOf({ now: later(59_999) }))).toEqual([]);
    expect(await store().deliveries.handOver(id, first.leaseId, later(59_999))).toBe(true);
    expect(await store().deliveries.handOver(id, first.leaseId, later(60_000))).toBe(false);
    const second = claimOf({ now: later(60_000), leasedUntil: later(120_000) });
    expect(await store().deliveries.claim(second)).toMatchObject([{ id, attempts: 2, handovers: 1 }]);
    expect(await store().deliveries.finish(id, first.leaseId, { state: 'sent', at: moment })).toBe(false);
    expect(await store().deliveries.finish(id, second.leaseId, { state: 'sent', at: moment })).toBe(true);
    expect(await store().deliveries.finish(id, second.leaseId, { state: 'sent', at: moment })).toBe(false);
    expect(await store().deliveries.claim(claimOf({ now: later(1e9) }))).toEqual([]);
  });

  it('counts what is due and held by nobody, and since when the oldest is due', async () => {
    await settle(store());
    const { schedule } = await insertSchedule(store());
    const waiting = (at: number) => store().deliveries.countWaiting(later(at));
    expect(await waiting(0)).toEqual({ count: 0, seconds: 0 });
    const due = [0, 5_000, 60_000].map((at) => dueSample({ moment: later(at), attemptAt: later(at) }));
    await store().deliveries.insert(schedule, due, moment);
    expect(await waiting(10_000)).toEqual({ count: 2, seconds: 10 });
    const held = claimOf({ now: later(0), leasedUntil: later(30_000) });
    expect(await store().deliveries.claim(held)).toHaveLength(1);
    expect(await waiting(10_000)).toEqual({ count: 1, seconds: 5 });
    expect(await waiting(30_000)).toEqual({ count: 2, seconds: 30 });
  });

  it('tries again later, and forgets a hand-over only if the mail server answered', async () => {
    await settle(store());
    const { schedule } = await insertSchedule(store());
    const { id } = dueSample();
    await store().deliveries.insert(schedule, [dueSample({ id })], moment);
    const lease = claimOf();
    const again = async (isAnswered: boolean, at: number) => {
      await store().deliveries.claim({ ...lease, now: later(at), leasedUntil: later(at + 10) });
      await store().deliveries.handOver(id, lease.leaseId, later(at));
      const end = {
        state: 'due',
        reason: 'mail-refused',
        at: later(at),
        attemptAt: later(at + 100),
        isAnswered,
      } as const;
      expect(await store().deliveries.finish(id, lease.leaseId, end)).toBe(true);
      expect(await store().deliveries.claim(claimOf({ now: later(at + 99) }))).toEqual([]);
    };
    await again(false, 0);
    await again(false, 100);
    const held = claimOf({ now: later(200), leasedUntil: later(250) });
    expect(await store().deliveries.claim(held)).toMatchObject([{ handovers: 2, attempts: 3, reason: 'mail-refused' }]);
    await again(true, 300);
    expect(await store().deliveries.claim(claimOf({ now: later(400) }))).toMatchObject([{ handovers: 0 }]);
  });

  it('hands nothing over for a paused or deleted schedule, unless its owner asked for it', async () => {
    await settle(store());
    const { schedule, board, ann } = await insertSchedule(store());
    const planned = dueSample();
    const requested = dueSample({ moment: later(1), isRequested: true });
    await store().deliveries.insert(schedule, [planned, requested], moment);
    const lease = claimOf();
    expect(await store().deliveries.claim(lease)).toHaveLength(2);
    await store().schedules.pause(schedule.id);
    expect(await store().deliveries.handOver(planned.id, lease.leaseId, moment)).toBe(false);
    expect(await store().deliveries.handOver(requested.id, lease.leaseId, moment)).toBe(true);
    await store().schedules.delete(board.id, ann, schedule.id);
    expect(await store().deliveries.handOver(requested.id, lease.leaseId, moment)).toBe(false);
    expect(await store().deliveries.finish(requested.id, lease.leaseId, { state: 'sent', at: moment })).toBe(false);
  });

  it('is fair between clients, and holds the rate of each', async () => {
    await settle(store());
    const { schedule: busy } = await insertSchedule(store());
    const { schedule: quiet } = await insertSchedule(store(), {}, 'quiet');
    const many = Array.from({ length: 30 }, (_, index) => dueSample({ moment: later(index) }));
    await store().deliveries.insert(busy, many, moment);
    await store().deliveries.insert(quiet, [dueSample()], later(1));
    const perClient = { count: 4, since: later(-60_000) };
    const now = later(10);
    const names: string[] = [];
    for (let claims = 0; claims < 9; claims += 1) {
      const claimed = await store().deliveries.claim(claimOf({ now, limit: 1, perClient }));
      names.push(...claimed.map(({ schedule }) => schedule.owner.clientId));
    }
    const { clientId } = busy.owner;
    expect(names).toEqual([clientId, 'quiet', clientId, clientId, clientId]);
    const minuteLater = { now: later(70_000), perClient: { count: 4, since: later(10_000) } };
    expect(await store().deliveries.claim(claimOf({ ...minuteLater, leasedUntil: later(90_000) }))).toHaveLength(5);
  });

  it('purges what ended, and nothing that is open', async () => {
    await settle(store());
    const { schedule } = await insertSchedule(store());
    const missed = dueSample({ state: 'skipped', reason: 'missed' });
    const open = dueSample({ moment: later(1) });
    await store().deliveries.insert(schedule, [missed, open], moment);
    await sweepKind(store().retention.of(noDays), 'deliveries', later(1));
    expect((await store().deliveries.list(schedule.id, 10)).map(({ id }) => id)).toEqual([open.id]);
  });
};

const alertTests = (store: () => Store, database: () => Database): void => {
  it('keeps what a check of an alert found with the end of its delivery, sealed', async () => {
    await settle(store());
    const { schedule, board, ann } = await insertSchedule(store(), alerting);
    const { id } = dueSample();
    await store().deliveries.insert(schedule, [dueSample({ id })], moment);
    const lease = claimOf();
    expect(await store().deliveries.claim(lease)).toMatchObject([
      { schedule: { alert: alertSample, alertState: null } },
    ]);
    const end = { state: 'sent', at: moment } as const;
    expect(await store().deliveries.finish(id, randomUUID(), end, stateSample)).toBe(false);
    expect(await store().schedules.list(board.id, ann)).toEqual([schedule]);
    expect(await store().deliveries.finish(id, lease.leaseId, end, stateSample)).toBe(true);
    expect(await store().schedules.list(board.id, ann)).toEqual([{ ...schedule, alertState: stateSample }]);
    const db = database().connect<Tables>().withSchema('guestlist');
    const rows = await db.selectFrom('schedules').select('alert_state').where('id', '=', schedule.id).execute();
    expect(JSON.stringify(rows)).not.toMatch(/4711|unmistakable/);
  });

  it('returns one delivery of an alert to a recipient at a time', async () => {
    await settle(store());
    const { schedule } = await insertSchedule(store(), alerting);
    const due = [dueSample(), dueSample({ moment: later(1) }), dueSample({ moment: later(2) })];
    await store().deliveries.insert(schedule, due, moment);
    const first = claimOf();
    const [one, ...none] = await store().deliveries.claim(first);
    expect(none).toEqual([]);
    expect(await store().deliveries.claim(claimOf())).toEqual([]);
    await store().deliveries.finish(one?.id ?? '', first.leaseId, { state: 'sent', at: moment }, stateSample);
    expect(await store().deliveries.claim(claimOf())).toMatchObject([{ schedule: { alertState: stateSample } }]);
    expect(await store().deliveries.claim(claimOf({ now: later(60_000) }))).toHaveLength(1);
  });

  it('keeps what a check found for each recipient by itself, sealed, until the owner alone gets the alert', async () => {
    await settle(store());
    const recipients = { users: ['bob', 'ann'], roles: [], addresses: [] };
    const { schedule, board, ann } = await insertSchedule(store(), { ...alerting, recipients });
    const toAnn = dueSample({ recipient: ann.userIdentifier });
    const toBob = dueSample({ recipient: 'bob' });
    const next = dueSample({ recipient: 'bob', moment: later(1) });
    await store().deliveries.insert(schedule, [toAnn, toBob, next], moment);
    const lease = claimOf();
    const claimed = await store().deliveries.claim(lease);
    expect(claimed.map(({ recipient }) => recipient).toSorted()).toEqual([ann.userIdentifier, 'bob'].toSorted());
    const end = { state: 'sent', at: moment } as const;
    expect(await store().deliveries.finish(toBob.id, lease.leaseId, end, stateSample)).toBe(true);
    expect(await store().schedules.list(board.id, ann)).toMatchObject([{ alertState: null }]);
    expect(await store().deliveries.claim(claimOf())).toMatchObject([
      { recipient: 'bob', schedule: { alertState: stateSample } },
    ]);
    const own = { ...stateSample, value: 1 };
    expect(await store().deliveries.finish(toAnn.id, lease.leaseId, end, own)).toBe(true);
    expect(await store().schedules.list(board.id, ann)).toMatchObject([{ alertState: own }]);
    const db = database().connect<Tables>().withSchema('guestlist');
    const states = () => db.selectFrom('alert_states').selectAll().where('schedule_id', '=', schedule.id).execute();
    expect(JSON.stringify(await states())).not.toMatch(/4711|unmistakable/);
    await store().schedules.change(board.id, ann, schedule.id, { recipients: null });
    expect([await states(), await store().schedules.list(board.id, ann)]).toMatchObject([[], [{ alertState: null }]]);
  });

  it('hands nothing over for a muted schedule, until the mute has ended', async () => {
    await settle(store());
    const { schedule } = await insertSchedule(store(), { mutedUntil: later(10) });
    const { id } = dueSample();
    await store().deliveries.insert(schedule, [dueSample({ id })], moment);
    const lease = claimOf();
    expect(await store().deliveries.claim(lease)).toMatchObject([{ schedule: { mutedUntil: later(10) } }]);
    expect(await store().deliveries.handOver(id, lease.leaseId, later(9))).toBe(false);
    expect(await store().deliveries.handOver(id, lease.leaseId, later(10))).toBe(true);
  });

  it('deletes a schedule while its check ends', async () => {
    await settle(store());
    const { schedule, board, ann } = await insertSchedule(store(), alerting);
    const { id } = dueSample();
    await store().deliveries.insert(schedule, [dueSample({ id })], moment);
    const lease = claimOf();
    await store().deliveries.claim(lease);
    const [isDeleted] = await Promise.all([
      store().schedules.delete(board.id, ann, schedule.id),
      store().deliveries.finish(id, lease.leaseId, { state: 'sent', at: moment }, stateSample),
    ]);
    expect([isDeleted, await store().schedules.list(board.id, ann)]).toEqual([true, []]);
  });

  it('refuses an alert without a rule, and a state of a report', async () => {
    const { schedule } = await insertSchedule(store());
    const db = database().connect<Tables>().withSchema('guestlist');
    for (const change of [{ format: 'alert' as const }, { alert_state: testSealer.seal('x', 'x') }]) {
      const faulty = db.updateTable('schedules').set(change).where('id', '=', schedule.id);
      await expect(faulty.execute()).rejects.toMatchObject({ code: '23514' });
    }
  });
};

const refusalTests = (database: () => Database): void => {
  it('refuses a second row of one delivery, and one without an owner', async () => {
    const db = database().connect<Tables>().withSchema('guestlist');
    const [row] = await db.selectFrom('deliveries').selectAll().limit(1).execute();
    if (row === undefined) throw new Error('an earlier test leaves a delivery');
    const { claimed_at, lease_id, leased_until, ...copy } = row;
    const twice = db.insertInto('deliveries').values({ ...copy, id: randomUUID(), state: 'due' });
    await expect(twice.execute()).rejects.toMatchObject({ code: '23505' });
    const [schedule] = await db.selectFrom('schedules').selectAll().limit(1).execute();
    if (schedule === undefined) throw new Error('an earlier test leaves a schedule');
    const nobody = db.updateTable('schedules').set({ user_identifier: '' }).where('id', '=', schedule.id);
    await expect(nobody.execute()).rejects.toMatchObject({ code: '23514' });
  });
};

const recipientTests = (store: () => Store, database: () => Database): void => {
  const recipients = { users: ['unmistakable-user'], roles: ['sales'], addresses: ['pat@unmistakable.example'] };

  it('shares a delivery once, among recipients who each get their own', async () => {
    await settle(store());
    const { board, ann } = await insertSchedule(store());
    const schedule = scheduleSample(board.id, ann, { recipients });
    await store().schedules.insert(schedule);
    const whole = dueSample();
    await store().deliveries.insert(schedule, [whole], moment);
    const [claimed] = await store().deliveries.claim(claimOf({ leaseId: 'l' }));
    expect([claimed?.recipient, claimed?.schedule.recipients]).toEqual(['', recipients]);
    const each = [
      { id: randomUUID(), recipient: 'ann' },
      { id: randomUUID(), recipient: 'bob' },
    ];
    expect(await store().deliveries.share(whole.id, 'another', each, later(1))).toBe(false);
    expect(await store().deliveries.share(whole.id, 'l', each, later(1))).toBe(true);
    expect(await store().deliveries.share(whole.id, 'l', each, later(1))).toBe(false);
    const rows = (await store().deliveries.list(schedule.id, 10)).map((row) => [row.recipient, row.state, row.moment]);
    expect(rows.toSorted()).toEqual([
      ['', 'shared', moment],
      ['ann', 'due', moment],
      ['bob', 'due', moment],
    ]);
    expect(await store().deliveries.hasOpen(schedule.id)).toBe(true);
    expect(await store().schedules.stop(schedule.id, 'ann', moment)).toBe(true);
    expect(await store().schedules.stop(randomUUID(), 'ann', moment)).toBe(false);
    expect(await store().schedules.listStopped(schedule.id)).toEqual(['ann']);
    const handed = new Map<string, boolean>();
    const lease = claimOf({ leaseId: 'each', now: later(1), leasedUntil: later(1000) });
    for (const { id, recipient } of await store().deliveries.claim(lease)) {
      handed.set(recipient, await store().deliveries.handOver(id, 'each', later(2)));
    }
    expect(handed).toEqual(
      new Map([
        ['ann', false],
        ['bob', true],
      ]),
    );
    const toBob = each[1]?.id ?? '';
    expect(await store().deliveries.finish(toBob, 'each', { state: 'sent', at: later(3) })).toBe(true);
    expect(await store().deliveries.bounce({ deliveryId: toBob, isHard: true }, later(4))).toBe(true);
    expect((await store().schedules.listStopped(schedule.id)).toSorted()).toEqual(['ann', 'bob']);
    const kept = (await store().schedules.list(board.id, ann)).find(({ id }) => id === schedule.id);
    expect(kept?.isPaused).toBe(false);
    const stored = await database()
      .connect<Tables>()
      .withSchema('guestlist')
      .selectFrom('schedules')
      .selectAll()
      .execute();
    expect(JSON.stringify(stored)).not.toContain('unmistakable');
  });

  it('confirms an address once, of one client, and only after it was asked', async () => {
    const { ann } = await insertSchedule(store());
    const address = { id: randomUUID(), digest: 'digest' };
    const { reportAddresses } = store();
    await reportAddresses.ensure(ann, [address], moment);
    await reportAddresses.ensure(ann, [{ ...address, id: randomUUID() }], later(1));
    const unasked = { id: address.id, askedAt: null, confirmedAt: null };
    expect(await reportAddresses.find(ann, 'digest')).toEqual(unasked);
    expect(await reportAddresses.find({ ...ann, clientId: 'another' }, 'digest')).toBeUndefined();
    expect(await reportAddresses.confirm(address.id, moment, later(3))).toBe(false);
    const asking = [later(2), later(2)].map((asked) => reportAddresses.noteAsked(address.id, null, asked));
    expect((await Promise.all(asking)).toSorted()).toEqual([false, true]);
    expect(await reportAddresses.noteAsked(address.id, later(2), null)).toBe(true);
    expect(await reportAddresses.find(ann, 'digest')).toEqual(unasked);
    expect(await reportAddresses.noteAsked(address.id, null, later(2))).toBe(true);
    expect(await reportAddresses.confirm(address.id, later(2), later(3))).toBe(false);
    expect(await reportAddresses.confirm(address.id, moment, later(3))).toBe(true);
    expect(await reportAddresses.confirm(address.id, moment, later(4))).toBe(false);
    expect(await reportAddresses.find(ann, 'digest')).toMatchObject({ askedAt: later(2), confirmedAt: later(3) });
    await store().clients.erase(ann.dataAppId, ann.clientId);
    expect(await reportAddresses.find(ann, 'digest')).toBeUndefined();
  });
};

export const deliveryTests = (store: () => Store, database: () => Database): void => {
  describe('schedules', () => scheduleTests(store));
  describe('deliveries', () => {
    ledgerTests(store);
    alertTests(store, database);
    recipientTests(store, database);
    refusalTests(database);
  });
};
