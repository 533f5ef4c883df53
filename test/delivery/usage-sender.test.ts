/** What a billing system gets: each count once, in order, whatever fails between. */
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { pino } from 'pino';
import { Webhook } from 'standardwebhooks';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startUsageSending } from '../../src/compose/usage-sending.js';
import { createUsageSender } from '../../src/delivery/usage-sender.js';
import { createPost, type Post } from '../../src/delivery/webhook.js';
import { usageNames } from '../../src/model/usage.js';
import type { Channel } from '../../src/platform/config/channels.js';
import { createStore, type Store } from '../../src/service/store/store.js';
import type { Tables } from '../../src/service/store/tables.js';
import type { UsageSum } from '../../src/service/store/usage.js';
import { type Backing, openTestDatabase, type TestDatabase } from '../suites/metadata.js';
import { isPostgresThere } from '../suites/postgres.js';
import { openReceiver, type Receiver } from '../suites/receiver.js';
import { testSealer } from '../suites/sealer.js';
import { noDays, sweepKind } from '../suites/sweep.js';

const secret = `whsec_${Buffer.alloc(32, 5).toString('base64')}`;
const backings: readonly Backing[] = (await isPostgresThere()) ? ['pglite', 'postgres'] : ['pglite'];

const none = Object.fromEntries(usageNames.map((name) => [name, 0])) as Pick<UsageSum, (typeof usageNames)[number]>;
const sumOf = (time: string, fields: Partial<UsageSum> = {}): UsageSum => ({
  ...{ at: new Date(`2024-01-01T${time}Z`), dataAppId: 'd', clientId: 'LAX', person: 'p' },
  ...{ dashboardId: '', metricId: '', ...none, mints: 1, ...fields },
});

describe.each(backings)('on %s', (backing) => {
  let database: TestDatabase;
  let store: Store;
  let receiver: Receiver;
  let now: Date;
  const clock = { now: () => now };
  const at = (time: string): void => {
    now = new Date(`2024-01-01T${time}Z`);
  };
  beforeAll(async () => {
    receiver = await openReceiver();
  });
  afterAll(() => receiver.close());
  beforeEach(async () => {
    database = await openTestDatabase(backing);
    store = createStore(database.connect<Tables>(), testSealer);
    at('06:20');
    await store.dataApps.insert({ id: 'd', name: 'app', createdAt: now, updatedAt: now });
    receiver.received.length = 0;
    receiver.state.answer = 200;
  });
  afterEach(() => database.close());

  const channelOf = (fields: Partial<Channel> = {}): Channel => ({
    ...{ name: 'billing', kind: 'webhook', url: receiver.url, secrets: [secret], allowsPrivate: false },
    ...fields,
  });
  const realPost = createPost({ clock, timeoutMs: 5_000 });
  /** A process that sends. */
  const senderOf = (fields: Partial<Channel> = {}, post: Post = realPost) =>
    createUsageSender({
      ...{ store, channel: channelOf(fields), post, clock, ids: { uuid: randomUUID } },
      log: pino({ level: 'silent' }),
    });
  const sendAll = async (sender = senderOf()): Promise<void> => {
    while (await sender.send());
  };
  const use = (...sums: readonly UsageSum[]) => store.usage.add({ writer: randomUUID(), number: 1, sums });
  const bodies = () => receiver.received.map(({ body }) => JSON.parse(body));
  const told = () => bodies().map(({ data }) => [data.from.slice(11, 16), data.isLate, data.tenants[0].mints]);

  test('an hour is sent once it is over for five minutes, with the counts of each tenant', async () => {
    await senderOf().begin();
    await use(sumOf('06:00'), sumOf('06:00', { person: 'q', exports: 2 }), sumOf('06:00', { clientId: '' }));
    at('07:04:59');
    await sendAll();
    expect(receiver.received).toEqual([]);
    at('07:05');
    await sendAll();
    expect(bodies()).toEqual([
      {
        ...{ type: 'usage.counted', timestamp: '2024-01-01T07:00:00.000Z' },
        data: {
          ...{ from: '2024-01-01T06:00:00.000Z', to: '2024-01-01T07:00:00.000Z', isLate: false },
          tenants: [
            { dataAppName: 'app', clientId: null, ...none, mints: 1 },
            { dataAppName: 'app', clientId: 'LAX', ...none, mints: 2, exports: 2 },
          ],
        },
      },
    ]);
    await sendAll();
    expect(receiver.received).toHaveLength(1);
  });

  test('is signed as every webhook, and names no user', async () => {
    await senderOf().begin();
    await use(sumOf('06:00', { person: 'pseudonym' }));
    at('08:00');
    await sendAll();
    const [{ headers, body } = { headers: {}, body: '' }] = receiver.received;
    const isOld = { 'webhook-timestamp': String(Math.floor(now.getTime() / 1000)) };
    expect(headers).toMatchObject(isOld);
    expect(headers['webhook-signature']).toBe(new Webhook(secret).sign(String(headers['webhook-id']), now, body));
    expect(body).not.toContain('pseudonym');
  });

  test('hours come in order, and none before sending began', async () => {
    await use(sumOf('05:00'));
    await senderOf().begin();
    await use(sumOf('08:00', { mints: 8 }), sumOf('06:00', { mints: 6 }), sumOf('07:00', { mints: 7 }));
    at('09:30');
    await sendAll();
    expect(told().map(([from]) => from)).toEqual(['06:00', '07:00', '08:00']);
    await senderOf().begin();
    at('10:30');
    await sendAll();
    expect(receiver.received).toHaveLength(3);
  });

  test('what is stored after its hour was closed is told once more, as what is to be added', async () => {
    await senderOf().begin();
    await use(sumOf('06:00', { mints: 5 }));
    at('07:10');
    await sendAll();
    const late = { writer: randomUUID(), number: 1, sums: [sumOf('06:00', { mints: 2 }), sumOf('07:00')] };
    await store.usage.add(late);
    await store.usage.add(late);
    await sendAll();
    at('08:10');
    await sendAll();
    expect(told()).toEqual([
      ['06:00', false, 5],
      ['06:00', true, 2],
      ['07:00', false, 1],
    ]);
    expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(3);
  });

  test('what is late waits behind the hours of all others, however old its hour is', async () => {
    await senderOf().begin();
    at('08:10');
    await store.dataApps.insert({ id: 'other', name: 'other', createdAt: now, updatedAt: now });
    await store.usage.sending.close(new Date('2024-01-01T07:00:00Z'));
    await use(sumOf('05:00', { dataAppId: 'other', mints: 9 }), sumOf('07:00'));
    await sendAll();
    expect(told()).toEqual([
      ['07:00', false, 1],
      ['05:00', true, 9],
    ]);
  });

  test('a receiver that is down for a day gets everything afterwards, in order', async () => {
    await senderOf().begin();
    await receiver.close();
    const hours = Array.from({ length: 17 }, (_, index) => `${String(index + 6).padStart(2, '0')}:00`);
    for (const hour of hours) {
      await use(sumOf(hour));
      at(`${hour.slice(0, 2)}:30`);
      await sendAll();
    }
    expect(await store.usage.sending.sent()).toMatchObject({ waiting: 16, fault: 'unreachable' });
    await receiver.reopen();
    now = new Date('2024-01-02T00:30:00Z');
    await sendAll();
    expect(told().map(([from]) => from)).toEqual(hours);
    expect(await store.usage.sending.sent()).toEqual({
      ...{ until: new Date('2024-01-02T00:00Z'), waiting: 0, fault: null },
    });
  });

  test.each([
    ['cut', 'unanswered'],
    [503, 'refused'],
    [400, 'refused'],
  ] as const)('answered by %s, it is sent again with the same id, and later hours wait', async (answer, fault) => {
    await senderOf().begin();
    await use(sumOf('06:00'), sumOf('07:00'));
    at('08:10');
    receiver.state.answer = answer;
    await sendAll();
    expect(await store.usage.sending.sent()).toEqual({ until: new Date('2024-01-01T06:00Z'), waiting: 2, fault });
    await sendAll();
    expect(receiver.received).toHaveLength(1);
    receiver.state.answer = 204;
    at('08:10:30');
    await sendAll();
    expect(told().map(([from]) => from)).toEqual(['06:00', '06:00', '07:00']);
    const [first, second] = receiver.received;
    expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
    expect(second?.body).toBe(first?.body);
  });

  test('attempts come less and less often, at most an hour apart', async () => {
    await senderOf().begin();
    await use(sumOf('06:00'));
    receiver.state.answer = 500;
    const startMs = Date.parse('2024-01-01T08:00Z');
    const times: number[] = [];
    for (let minutes = 0; minutes < 240; minutes += 0.5) {
      now = new Date(startMs + minutes * 60_000);
      const before = receiver.received.length;
      await sendAll();
      if (receiver.received.length > before) times.push(minutes);
    }
    const pauses = times.slice(1).map((time, index) => time - (times[index] ?? 0));
    expect(pauses).toEqual([0.5, 1, 2, 4, 8, 16, 32, 60, 60]);
  });

  test('of two processes one sends at a time, and each hour once', async () => {
    await senderOf().begin();
    const hours = ['06:00', '07:00', '08:00', '09:00', '10:00'];
    await use(...hours.map((hour) => sumOf(hour)));
    at('11:10');
    let sending = 0;
    let most = 0;
    const watched: Post = async (...given) => {
      sending += 1;
      most = Math.max(most, sending);
      return realPost(...given).finally(() => {
        sending -= 1;
      });
    };
    const processes = Array.from({ length: 4 }, () => senderOf({}, watched));
    while (told().length < hours.length) await Promise.all(processes.map((one) => one.send()));
    await Promise.all(processes.map((one) => one.send()));
    expect([most, told().map(([from]) => from)]).toEqual([1, hours]);
  });

  test('a process that dies while it sends leaves the message to the next one, after its lease', async () => {
    await senderOf().begin();
    await use(sumOf('06:00'), sumOf('07:00'));
    at('08:10');
    const dying = senderOf({}, async (...given) => {
      await realPost(...given);
      throw new Error('the process is killed');
    });
    await expect(dying.send()).rejects.toThrow('killed');
    await sendAll();
    expect(told().map(([from]) => from)).toEqual(['06:00']);
    at('08:11');
    await sendAll();
    expect(told().map(([from]) => from)).toEqual(['06:00', '06:00', '07:00']);
    const [first, second] = receiver.received;
    expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
  });

  test('an address of a private network gets nothing, and the hour waits', async () => {
    await senderOf().begin();
    await use(sumOf('06:00'));
    at('07:10');
    await sendAll(senderOf({ url: 'https://10.0.0.1/usage' }));
    await sendAll(senderOf({ url: receiver.url.replace('http:', 'https:') }));
    expect(await store.usage.sending.sent()).toMatchObject({ waiting: 1, fault: 'barred' });
    at('08:00');
    await sendAll();
    expect(told().map(([from]) => from)).toEqual(['06:00']);
  });

  test('many tenants of an hour come in several messages, each once', async () => {
    await senderOf().begin();
    await use(...Array.from({ length: 1_001 }, (_, index) => sumOf('06:00', { clientId: `tenant-${index}` })));
    at('07:10');
    await sendAll();
    const tenants = bodies().map(({ data }) => data.tenants.map((tenant: { clientId: string }) => tenant.clientId));
    expect(tenants.map(({ length }) => length).toSorted()).toEqual([1, 500, 500]);
    expect(new Set(tenants.flat()).size).toBe(1_001);
  });

  test('the name of an erased tenant is not sent any more, its counts are, and others keep their names', async () => {
    await senderOf().begin();
    await store.dataApps.insert({ id: 'e', name: 'other', createdAt: now, updatedAt: now });
    await use(sumOf('06:00', { mints: 4 }), sumOf('06:00', { clientId: 'SFO' }), sumOf('06:00', { dataAppId: 'e' }));
    at('07:10');
    await senderOf({}, async () => ({ kind: 'unreachable' })).send();
    await use(sumOf('07:00', { mints: 3 }));
    await store.clients.erase('d', 'LAX');
    at('08:10');
    await sendAll();
    const named = bodies().map(({ data }) =>
      data.tenants.map((one: { dataAppName: string; clientId: string; mints: number }) => [
        one.dataAppName,
        one.clientId.replace(/^erased:.+/, 'erased'),
        one.mints,
      ]),
    );
    expect(named).toEqual([
      [
        ['app', 'erased', 4],
        ['app', 'SFO', 1],
        ['other', 'LAX', 1],
      ],
      [['app', 'erased', 3]],
    ]);
  });

  test('what a process tells of an erased tenant hours later names it no more, and the tenant may come back', async () => {
    await store.clients.erase('d', 'LAX');
    await sql`update guestlist.client_erasures set erased_at = '2024-01-01T08:30Z'`.execute(database.connect<Tables>());
    await use(sumOf('07:00', { mints: 4 }), sumOf('09:00', { mints: 2 }));
    const year = {
      from: new Date('2024-01-01'),
      to: new Date('2025-01-01'),
      step: null,
      by: ['tenant'],
      limit: 9,
    } as const;
    const rows = await store.usage.read(year);
    expect(rows.map(({ clientId, mints }) => [clientId?.replace(/^erased:.+/, 'erased'), mints]).toSorted()).toEqual([
      ['LAX', 2],
      ['erased', 4],
    ]);
  });

  test('each count is in one message, whoever adds while hours are closed', async () => {
    await senderOf().begin();
    at('07:10');
    const adding = Array.from({ length: 30 }, (_, index) => use(sumOf('06:00', { person: `${index}` })));
    const closing = Array.from({ length: 5 }, () => store.usage.sending.close(new Date('2024-01-01T07:00Z')));
    await Promise.all([...adding, ...closing]);
    await sendAll();
    expect(told().reduce((sum, [, , mints]) => sum + mints, 0)).toBe(30);
  });

  test('a process sends at its start what another one left', async () => {
    await senderOf().begin();
    await use(sumOf('06:00'));
    at('07:10');
    const log = pino({ level: 'silent' });
    const process = await startUsageSending({ channel: channelOf(), service: { store }, clock, log });
    await process.close();
    expect(told()).toEqual([['06:00', false, 1]]);
    const without = await startUsageSending({ channel: null, service: { store }, clock, log });
    await without.close();
    expect(receiver.received).toHaveLength(1);
  });

  test('hours that wait to be closed are not put together to a day', async () => {
    at('06:20');
    await senderOf().begin();
    await use(sumOf('03:00'), sumOf('06:00', { mints: 6 }), sumOf('09:00', { mints: 9 }));
    const times = { ...noDays, usageDays: 365, hourDays: 1 };
    await sweepKind(store.retention.of(times), 'usage', new Date('2024-02-02'));
    at('11:00');
    await sendAll();
    expect(told().filter(([, isLate]) => isLate === false)).toEqual([
      ['06:00', false, 6],
      ['09:00', false, 9],
    ]);
  });
});
