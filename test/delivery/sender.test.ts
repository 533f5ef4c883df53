/** The sender and the planner over a real ledger and a real mail server, with a right that changes meanwhile. */
import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { calendar } from '../../src/delivery/calendar.js';
import { createMailer } from '../../src/delivery/mailer.js';
import { createPlanner } from '../../src/delivery/planner.js';
import {
  createSender,
  type FindRecipients,
  type Granted,
  type Refused,
  type SenderOptions,
} from '../../src/delivery/sender.js';
import { type Alert, AlertFault, type AlertState } from '../../src/model/schedule/alert.js';
import type { Schedule } from '../../src/model/schedule/schedule.js';
import { loadBrands } from '../../src/platform/config/mail-brands.js';
import { defaultSettings } from '../../src/platform/config/settings.js';
import { createRunningWork } from '../../src/platform/work/running-work.js';
import type { Store } from '../../src/service/store/store.js';
import { createStore } from '../../src/service/store/store.js';
import type { Tables } from '../../src/service/store/tables.js';
import { createMemoryLog } from '../platform/http/sample.js';
import { registerTraces } from '../platform/traces.js';
import { openTestDatabase, type TestDatabase } from '../suites/metadata.js';
import { isPostgresThere } from '../suites/postgres.js';
import { testSealer } from '../suites/sealer.js';
import { dueSample, scheduleSample } from '../suites/store-deliveries.js';
import { dashboardSample, insertOrganization } from '../suites/store-samples.js';
import { type Mailbox, openMailbox } from './mailbox.js';

const start = new Date('2026-10-26T07:00:00Z');
const alert: Alert = {
  metricId: 'm',
  measure: 'Sales',
  condition: { is: 'above', value: 5 },
  quietHours: { from: '22:00', to: '07:00' },
};
const found: AlertState = {
  ...{ right: 'r', rule: 'u', isBreached: true, since: start.toISOString(), value: 6, keys: [], isAnew: false },
};
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

const grantedSample = (fields: Partial<Granted> = {}): Granted => ({
  to: { address: 'ann@customer.example' },
  read: async () => ({
    dashboardName: 'Delays',
    dashboardUrl: null,
    alert: null,
    attachments: [{ filename: 'Delays.csv', contentType: 'text/csv', content: bytes('delay\r\n7\r\n') }],
  }),
  isStillGood: async () => true,
  ...fields,
});

/** The milliseconds that pass after this number of attempts before the next one. */
const delayMs = (attempts: number): number => 30_000 * 2 ** (attempts - 1);

describe.skipIf(!(await isPostgresThere()))('the sender', () => {
  let database: TestDatabase;
  let store: Store;
  let mailbox: Mailbox;
  let now = start;
  let right: () => Promise<Granted | Refused>;
  let recipients: () => ReturnType<FindRecipients>;
  const lines: { event: string; [field: string]: unknown }[] = [];
  const clock = { now: () => now };
  const ids = { uuid: randomUUID };
  const write = (line: { event: string }) => void lines.push(line);

  beforeAll(async () => {
    database = await openTestDatabase('postgres');
    store = createStore(database.connect<Tables>(), testSealer);
    mailbox = await openMailbox();
  }, 60_000);
  afterAll(async () => {
    await mailbox.close();
    await database.close();
  });
  beforeEach(() => {
    now = start;
    right = async () => grantedSample();
    recipients = () => Promise.reject(new Error('these schedules have no recipients'));
    mailbox.received.length = 0;
    mailbox.behave('take');
    lines.length = 0;
  });
  afterEach(async () => {
    await database.connect<Tables>().withSchema('guestlist').deleteFrom('schedules').execute();
  });

  const senderOf = (fields: Partial<SenderOptions> = {}) =>
    createSender({
      ...{ store, clock, ids },
      decide: () => right(),
      brandOf: loadBrands({ ...defaultSettings().mail, from: 'reports@analytics.example' }, '.').brandOf,
      findRecipients: () => recipients(),
      mailer: createMailer({
        smtpUrl: mailbox.url,
        dkim: null,
        timeoutMs: 5_000,
        isTlsRequired: false,
      }),
      post: () => Promise.reject(new Error('these schedules have no channel')),
      unsubscribeUrl: async ({ schedule: { id } }) => `https://analytics.example/reports/unsubscribe/${id}`,
      domain: 'analytics.example',
      spreadMs: 0,
      log: { info: write, warn: write },
      perClientPerMinute: 100,
      attempts: 3,
      largestBytes: 1000,
      leaseMs: 60_000,
      readTimeoutMs: 5_000,
      stopping: new AbortController().signal,
      ...fields,
    });
  const insertSchedule = async (fields: Partial<Schedule> = {}): Promise<Schedule> => {
    const { workspace, owner } = await insertOrganization(store);
    const board = dashboardSample(workspace.id);
    await store.dashboards.insert(board);
    const schedule = scheduleSample(board.id, { ...owner, userIdentifier: 'ann' }, fields);
    await store.schedules.insert(schedule);
    return schedule;
  };
  const insertDue = async (fields: Partial<Schedule> = {}) => {
    const schedule = await insertSchedule(fields);
    const due = dueSample({ moment: start });
    await store.deliveries.insert(schedule, [due], start);
    return { schedule, id: due.id };
  };
  const ledger = async ({ id }: { readonly id: string }) =>
    (await store.deliveries.list(id, 10)).map(({ state, reason, attempts }) => [state, reason, attempts]);

  test('sends what is due once, with the report as its recipient reads it', async () => {
    const { schedule, id } = await insertDue({ name: 'Morning', format: 'csv' });
    const send = senderOf();
    expect([await send(), await send()]).toEqual([true, false]);
    expect(mailbox.received).toHaveLength(1);
    const [{ mail, recipients }] = mailbox.received as [(typeof mailbox.received)[0]];
    expect([mail.subject, recipients]).toEqual(['Morning: Delays', ['ann@customer.example']]);
    expect(mail.messageId).toBe(`<${id}@analytics.example>`);
    expect(mail.attachments[0]?.content.toString()).toBe('delay\r\n7\r\n');
    expect(await ledger(schedule)).toEqual([['sent', null, 1]]);
  });

  test.each(['no-right', 'no-address'] as const)('sends nothing to a recipient with %s', async (refused) => {
    const { schedule } = await insertDue();
    right = async () => ({ refused });
    await senderOf()();
    expect(mailbox.received).toEqual([]);
    expect(await ledger(schedule)).toEqual([['skipped', refused, 1]]);
  });

  test('sends nothing if the right ends while the report is read, or after it', async () => {
    for (const granted of [
      grantedSample({ read: async () => ({ refused: 'no-right' }) }),
      grantedSample({ isStillGood: async () => false }),
    ]) {
      const { schedule } = await insertDue();
      right = async () => granted;
      await senderOf()();
      expect(await ledger(schedule)).toEqual([['skipped', 'no-right', 1]]);
    }
    expect(mailbox.received).toEqual([]);
  });

  test('sends nothing of a schedule that is paused or deleted while the report is read', async () => {
    const paused = await insertDue();
    right = async () => {
      await store.schedules.pause(paused.schedule.id);
      return grantedSample();
    };
    await senderOf()();
    now = new Date(start.getTime() + 60_000);
    await senderOf()();
    expect(await ledger(paused.schedule)).toEqual([['skipped', 'paused', 2]]);
    now = start;
    const { schedule } = await insertDue();
    right = async () => {
      await store.schedules.delete(schedule.dashboardId, schedule.owner, schedule.id);
      return grantedSample();
    };
    expect(await senderOf()()).toBe(true);
    expect(mailbox.received).toEqual([]);
    expect(lines.map(({ event }) => event)).toContain('delivery.lease_lost');
  });

  test('decides anew at each attempt, after a delay that grows', async () => {
    const { schedule } = await insertDue();
    right = () => Promise.reject(new Error('the ledger is away'));
    const send = senderOf();
    await send();
    expect(await ledger(schedule)).toEqual([['due', 'not-decided', 1]]);
    expect(await send()).toBe(false);
    now = new Date(start.getTime() + delayMs(1));
    right = async () => grantedSample({ read: () => Promise.reject(new Error('busy')) });
    await send();
    expect(await ledger(schedule)).toEqual([['due', 'content-failed', 2]]);
    now = new Date(now.getTime() + delayMs(2) - 1);
    expect(await send()).toBe(false);
    now = new Date(now.getTime() + 1);
    right = async () => ({ refused: 'no-right' });
    await send();
    expect(await ledger(schedule)).toEqual([['skipped', 'no-right', 3]]);
  });

  test('fails after its attempts, and says why', async () => {
    const { schedule } = await insertDue();
    mailbox.behave('refuse-for-now');
    const send = senderOf();
    for (let attempts = 1; attempts <= 3; attempts += 1) {
      await send();
      now = new Date(now.getTime() + delayMs(attempts));
    }
    expect(await ledger(schedule)).toEqual([['failed', 'mail-postponed', 3]]);
    expect(await send()).toBe(false);
  });

  test('a message that is refused for now waits at most an hour for its next attempt', async () => {
    const { schedule } = await insertDue();
    mailbox.behave('refuse-for-now');
    const send = senderOf({ attempts: 10 });
    for (let attempts = 1; attempts <= 7; attempts += 1) {
      await send();
      now = new Date(now.getTime() + delayMs(attempts));
    }
    await send();
    now = new Date(now.getTime() + 3_600_000 - 1);
    expect(await send()).toBe(false);
    now = new Date(now.getTime() + 1);
    await send();
    expect(await ledger(schedule)).toEqual([['due', 'mail-postponed', 9]]);
  });

  test('is refused for good by the mail server only once', async () => {
    const { schedule } = await insertDue();
    mailbox.behave('refuse-recipient');
    await senderOf()();
    expect(await ledger(schedule)).toEqual([['failed', 'mail-recipient-refused', 1]]);
  });

  test('logs the cause and the setting where the mail server has no TLS, and nothing that names a person or a secret', async () => {
    const { schedule } = await insertDue();
    const smtpUrl = mailbox.url.replace('smtp://', 'smtp://user:the-password@');
    const mailer = createMailer({ smtpUrl, dkim: null, timeoutMs: 5_000, isTlsRequired: true });
    await senderOf({ mailer })();
    expect(await ledger(schedule)).toEqual([['due', 'mail-no-tls', 1]]);
    expect(lines).toEqual([
      expect.objectContaining({
        ...{ event: 'delivery.ended', state: 'due', reason: 'mail-no-tls', setting: 'mail.isTlsRequired' },
        ...{ cause: 'the mail server offers no TLS, and TLS is required', status: 500 },
      }),
    ]);
    expect(JSON.stringify(lines)).not.toMatch(/the-password|@|127\.0\.0\.1/);
  });

  test('repeats a message without an answer once, with the same id, and then never again', async () => {
    const { schedule } = await insertDue();
    mailbox.behave('silent');
    const send = senderOf({ attempts: 10 });
    for (let attempts = 1; attempts <= 4; attempts += 1) {
      await send();
      now = new Date(now.getTime() + delayMs(attempts));
    }
    expect(new Set(mailbox.received.map(({ mail }) => mail.messageId)).size).toBe(1);
    expect(mailbox.received).toHaveLength(2);
    expect(await ledger(schedule)).toEqual([['failed', 'mail-unanswered', 3]]);
  });

  const alertSchedule = (fields: Partial<Schedule> = {}) => insertDue({ format: 'alert', alert, ...fields });
  const stateOf = async ({ dashboardId, owner }: Schedule) =>
    (await store.schedules.list(dashboardId, owner)).map(({ alertState }) => alertState);
  const breach = {
    ...{
      metricId: 'm',
      metricName: 'Delays',
      measure: 'Sales',
      condition: alert.condition,
      isBreached: true,
      hasChanged: true,
    },
    ...{ isAnew: false, value: 6, at: [], before: null, change: null, appeared: [] },
  };
  const alertReport = { dashboardName: 'Delays', dashboardUrl: null, attachments: [], alert: breach, found };

  test('knows what an alert told only once the message has left', async () => {
    const { schedule } = await alertSchedule();
    right = async () => grantedSample({ read: async () => alertReport });
    const send = senderOf();
    mailbox.behave('refuse-for-now');
    await send();
    expect([await ledger(schedule), await stateOf(schedule)]).toEqual([[['due', 'mail-postponed', 1]], [null]]);
    mailbox.behave('take');
    now = new Date(start.getTime() + delayMs(1));
    await send();
    expect([await ledger(schedule), await stateOf(schedule)]).toEqual([[['sent', null, 2]], [found]]);
    expect(mailbox.received.map(({ mail }) => mail.subject)).toEqual(['Alert: Each morning: Delays']);
  });

  test('sends nothing if an alert has nothing to tell, and knows what it found', async () => {
    const { schedule } = await alertSchedule();
    right = async () => grantedSample({ read: async () => ({ silent: found }) });
    await senderOf()();
    expect(await ledger(schedule)).toEqual([['skipped', 'nothing-to-tell', 1]]);
    expect([await stateOf(schedule), mailbox.received]).toEqual([[found], []]);
  });

  test('checks nothing during quiet hours in the time zone of the schedule, or until a mute ends', async () => {
    right = () => Promise.reject(new Error('nothing may be decided or read'));
    const recurrence = { every: 'day', at: '08:00', timezone: 'America/New_York' } as const;
    const quiet = await alertSchedule({ recurrence });
    await senderOf()();
    expect(await ledger(quiet.schedule)).toEqual([['skipped', 'quiet-hours', 1]]);
    const muted = await alertSchedule({ mutedUntil: new Date(start.getTime() + 1) });
    await senderOf()();
    expect(await ledger(muted.schedule)).toEqual([['skipped', 'muted', 1]]);
    right = async () => grantedSample({ read: async () => alertReport });
    const ended = await alertSchedule({ mutedUntil: start });
    await senderOf()();
    expect(await ledger(ended.schedule)).toEqual([['sent', null, 1]]);
  });

  test('tells nothing of an alert that is muted while it is checked', async () => {
    const { schedule } = await alertSchedule();
    const mutedUntil = new Date(start.getTime() + 1000);
    right = async () => {
      await store.schedules.change(schedule.dashboardId, schedule.owner, schedule.id, { mutedUntil });
      return grantedSample({ read: async () => alertReport });
    };
    await senderOf()();
    expect([mailbox.received, await stateOf(schedule)]).toEqual([[], [null]]);
  });

  test('does not try again what a later attempt could not judge either', async () => {
    const { schedule } = await alertSchedule();
    right = async () => grantedSample({ read: () => Promise.reject(new AlertFault('too-many-rows')) });
    await senderOf()();
    expect(await ledger(schedule)).toEqual([['failed', 'too-many-rows', 1]]);
  });

  test('sends no more than the largest message', async () => {
    const { schedule } = await insertDue();
    await senderOf({ largestBytes: 9 })();
    expect(await ledger(schedule)).toEqual([['failed', 'content-too-large', 1]]);
    expect(mailbox.received).toEqual([]);
  });

  test('leaves what it is reading for later when the process stops', async () => {
    const { schedule } = await insertDue();
    const stop = new AbortController();
    const read: Granted['read'] = (_, signal) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason));
        stop.abort(new Error('the process stops'));
      });
    right = async () => grantedSample({ read });
    await senderOf({ stopping: stop.signal })();
    expect(await ledger(schedule)).toEqual([['due', 'content-failed', 1]]);
  });

  test('gives up what kills its sender again and again', async () => {
    const { schedule } = await insertDue();
    const claim = { leaseId: 'killed', limit: 1, perClient: { count: 100, since: start } };
    for (let kills = 0; kills < 3; kills += 1) {
      await store.deliveries.claim({ ...claim, now, leasedUntil: new Date(now.getTime() + 10) });
      now = new Date(now.getTime() + 10);
    }
    await senderOf()();
    expect(await ledger(schedule)).toEqual([['failed', 'attempts-used-up', 4]]);
  });

  test('writes no address and no content to the log', async () => {
    await insertDue();
    mailbox.behave('refuse-recipient');
    await senderOf()();
    expect(JSON.stringify(lines)).not.toMatch(/customer\.example|Delays/);
  });

  describe('with an SDK of traces', () => {
    const exporter = registerTraces();

    test('the lines of a delivery have the trace of its span, and those of another one its own', async () => {
      const { log, lines: written } = createMemoryLog();
      const send = senderOf({ log, running: createRunningWork(clock) });
      await insertDue();
      await send();
      await insertDue();
      right = () => Promise.reject(new Error('away'));
      await send();
      const traceIds = exporter.getFinishedSpans().map((span) => span.spanContext().traceId);
      expect(new Set(traceIds).size).toBe(2);
      expect(written.map((line) => JSON.parse(line)).map(({ event, traceId }) => [event, traceId])).toEqual([
        ['delivery.ended', traceIds[0]],
        ['delivery.attempt_failed', traceIds[1]],
        ['delivery.ended', traceIds[1]],
      ]);
    });
  });

  test('plans each moment once, and sends what the rule of the schedule says', async () => {
    const daily = { every: 'day', at: '08:00', timezone: 'Europe/Berlin' } as const;
    const nextAt = new Date('2026-10-23T06:00:00Z');
    const all = await insertSchedule({ recurrence: daily, nextAt, catchUp: 'all' });
    const once = await insertSchedule({ recurrence: daily, nextAt, catchUp: 'once' });
    const plan = createPlanner({ store, calendar, clock, ids, spreadMs: 0 });
    const planned = await Promise.all([plan(), plan(), plan()]);
    expect(planned.reduce((sum, count) => sum + count, 0)).toBe(2);
    expect(await plan()).toBe(0);
    expect((await ledger(all)).map(([state]) => state)).toEqual(['due', 'due', 'due', 'due']);
    expect(await ledger(once)).toEqual([
      ['due', null, 0],
      ['skipped', 'missed', 0],
      ['skipped', 'missed', 0],
      ['skipped', 'missed', 0],
    ]);
    const [{ nextAt: next } = { nextAt: null }] = await store.schedules.list(once.dashboardId, once.owner);
    expect(next).toEqual(new Date('2026-10-27T07:00:00Z'));
  });
});
