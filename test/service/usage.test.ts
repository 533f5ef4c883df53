/** What is counted of the use, and who reads it. */
import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { calendar } from '../../src/delivery/calendar.js';
import type { UsageQuestion } from '../../src/model/usage.js';
import { inProcessTransport } from '../../src/platform/http/wire/in-process.js';
import { keepQuota } from '../../src/platform/limits/quota.js';
import { answerGuestMetric } from '../../src/service/guest/reads.js';
import { createWarmUp } from '../../src/service/guest/warm-up.js';
import type { UsageBatch, UsageSum } from '../../src/service/store/usage.js';
import { createUsageCounter } from '../../src/service/usage/usage.js';
import { createLoggedEngine } from '../engine/world.js';
import { createOwnService, type OwnService } from '../gateway/own-service.js';
import { dump } from '../suites/dump.js';
import type { Backing } from '../suites/metadata.js';
import { isPostgresThere } from '../suites/postgres.js';
import { noDays, sweepKind } from '../suites/sweep.js';

const silent = pino({ level: 'silent' });
const year: UsageQuestion = {
  from: new Date('2023-01-01'),
  to: new Date('2025-01-01'),
  step: null,
  by: [],
  limit: 100,
};

const backings: readonly Backing[] = (await isPostgresThere()) ? ['pglite', 'postgres'] : ['pglite'];

describe.each(backings)('on %s', (backing) => {
  const cache = { secret: Buffer.alloc(32, 1), clock: { now: () => new Date('2024-01-01') }, ttlSeconds: 60 };
  const { engine } = createLoggedEngine({ cache: { ...cache, maxBytes: 1_000_000, shared: null } });
  let service: OwnService;
  let embedId: string;
  let bearer: string;
  beforeAll(async () => {
    service = await createOwnService(backing, { engine });
    embedId = service.shared;
    bearer = service.upstream.apiKey;
  });
  afterAll(async () => {
    await engine.close();
    await service.close();
  });

  const call = (
    method: 'GET' | 'POST' | 'DELETE',
    path: string,
    fields: Record<string, unknown>,
    credential = bearer,
  ) => {
    const sent = method === 'POST' ? { query: {}, body: fields } : { query: fields as Record<string, string> };
    return inProcessTransport(service.dispatch)({ method, path, ...sent, bearer: credential } as never);
  };
  const mint = async (clientId: string, userIdentifier: string): Promise<string> => {
    const params = { userIdentifier, allowedEmbeds: [embedId] };
    const { body } = await call('POST', '/api/v2/guest-token/create', { clientId, dataAppName: 'app', params });
    return (body as { token: string }).token;
  };
  const query = (token: string) =>
    call('POST', '/api/v2/guest/metrics/delays-count/query', { dashboardId: 'delays' }, token);
  const read = async (fields: Record<string, string> = {}) => {
    const { status, body } = await call('GET', '/api/v2/usage', { from: '2023-12', to: '2024-02', ...fields });
    expect(status).toBe(200);
    return (body as { data: { rows: Record<string, unknown>[] } }).data.rows;
  };
  const stored = (question: Partial<UsageQuestion> = {}) => service.store.usage.read({ ...year, ...question });

  test('a mint and a query of the database are stored before their answers leave', async () => {
    const token = await mint('tenant-1', 'ann');
    expect(await stored({ clientId: 'tenant-1' })).toMatchObject([{ mints: 1, sourceQueries: 0, users: 1 }]);
    expect((await query(token)).status).toBe(200);
    expect(await stored({ clientId: 'tenant-1' })).toMatchObject([{ mints: 1, sourceQueries: 1 }]);
  });

  test('an answer from the cache costs no query, and names dashboard and metric', async () => {
    const token = await mint('tenant-2', 'ann');
    for (let time = 0; time < 3; time++) expect(await query(token)).toMatchObject({ status: 200 });
    await service.use.flush();
    const rows = await read({ clientId: 'tenant-2', by: 'dashboard,metric' });
    expect(rows.find(({ metricId }) => metricId === 'delays-count')).toMatchObject({
      ...{ dashboardId: 'delays', sourceQueries: 1, keptAnswers: 2, rows: 3, failedAnswers: 0, at: null },
    });
  });

  test('users are told apart by pseudonyms that name nobody', async () => {
    for (const user of ['bob-who-is-unmistakable', 'eve-who-is-unmistakable']) await mint('tenant-3', user);
    await mint('tenant-3', 'bob-who-is-unmistakable');
    const rows = await read({ clientId: 'tenant-3', by: 'user' });
    expect(rows.map(({ mints }) => mints).toSorted()).toEqual([1, 2]);
    expect(await read({ clientId: 'tenant-3' })).toMatchObject([{ mints: 3, users: 2 }]);
    expect(JSON.stringify(await stored({ by: ['tenant', 'user'] }))).not.toContain('unmistakable');
  });

  test('the same user name of two tenants has two pseudonyms', async () => {
    await mint('tenant-4', 'ann');
    await mint('tenant-5', 'ann');
    const users = await Promise.all(['tenant-4', 'tenant-5'].map((clientId) => read({ clientId, by: 'user' })));
    expect(users[0]?.[0]?.user).not.toBe(users[1]?.[0]?.user);
  });

  test('a file is counted, and a refused one is not', async () => {
    const token = await mint('tenant-6', 'ann');
    const file = (more: object) =>
      call('POST', '/api/v2/guest/metrics/delays-count/csv', { dashboardId: 'delays', ...more }, token);
    const { status } = await file({});
    await file({ dashboardFilter: { nothing: ['x'] } });
    const [sums] = await stored({ clientId: 'tenant-6' });
    expect(sums?.exports).toBe(status === 200 ? 1 : 0);
  });

  test('an erased tenant keeps its sums, and no name of it or its users', async () => {
    const clientId = 'tenant-that-is-unmistakable';
    const token = await mint(clientId, 'user-that-is-unmistakable');
    await query(token);
    service.use.add(
      {
        dataAppId: service.api().dataAppId,
        clientId,
        userIdentifier: 'x',
        dashboardId: 'd-unmistakable',
        metricId: null,
      },
      { keptAnswers: 5 },
    );
    const before = await stored();
    await call('DELETE', '/api/v2/data-app/clients', { clientId });
    // What another process had counted, and stores only now.
    await service.use.flush();
    expect(await dump(service.database)).not.toContain('that-is-unmistakable');
    const [after] = await stored();
    expect(after?.mints).toBe(before[0]?.mints);
    expect(after?.sourceQueries).toBe(before[0]?.sourceQueries);
    const erased = (await read({ by: 'tenant' })).filter((row) => String(row.clientId).startsWith('erased:'));
    expect(erased).toMatchObject([{ mints: 1, sourceQueries: 1 }]);
  });

  test('an API key reads the use of its own data app alone', async () => {
    const other = randomUUID();
    const { store, deps } = service;
    await store.apiKeys.insert({
      ...{ id: randomUUID(), name: 'other', dataAppId: service.api('other').dataAppId, hash: deps.tokens.hash(other) },
      ...{ createdAt: deps.clock.now(), expiresAt: null },
    });
    const asked = { from: '2023-12', to: '2024-02', by: 'tenant' };
    const own = await call('GET', '/api/v2/usage', asked, other);
    expect(own.body).toMatchObject({ data: { rows: [] } });
    const foreign = await call('GET', '/api/v2/usage', { ...asked, dataAppName: 'app' }, other);
    expect(foreign.status).toBe(404);
    expect((await call('GET', '/api/v2/usage/csv', asked, other)).body).not.toContain('tenant-');
  });

  test('what warms up kept answers is counted apart, for its tenant and no user', async () => {
    const token = await mint('tenant-8', 'ann');
    const caller = await service.authenticate(['guestToken'], token);
    if (caller.kind !== 'guest') throw new Error('a guest token authenticates a guest');
    const { store, use } = service;
    const { clock } = service.deps;
    const warmUp = createWarmUp(
      { store, clock, calendar, digest: (text) => text, use, ask: answerGuestMetric({ store, engine, clock }) },
      { at: null, timezone: 'UTC', questions: 10, questionsPerTenant: 10 },
    );
    warmUp.seen({
      ...{ caller, datamartId: 'mart', dashboardId: 'delays' },
      query: { metricId: 'delays-count', dashboardId: 'delays' },
    });
    warmUp.want({});
    expect(await warmUp.run(new AbortController().signal)).toEqual({ asked: 1, failed: 0 });
    await use.flush();
    const rows = await stored({ clientId: 'tenant-8', by: ['user', 'metric'] });
    expect(rows.find(({ metricId }) => metricId === 'delays-count')).toMatchObject({
      ...{ user: null, warmUpQueries: 1, sourceQueries: 0, keptAnswers: 0, rows: 0, ms: 0 },
    });
    await query(token);
    await use.flush();
    expect(await stored({ clientId: 'tenant-8' })).toMatchObject([
      { warmUpQueries: 1, sourceQueries: 0, keptAnswers: 1, rows: 1 },
    ]);
  });

  test('a guest token reads no use', async () => {
    const token = await mint('tenant-7', 'ann');
    expect((await call('GET', '/api/v2/usage', { from: '2023-12', to: '2024-02' }, token)).status).toBe(401);
  });

  test('the file has a line for each tenant, whose text no spreadsheet executes', async () => {
    await mint('=1+1', 'ann');
    const { body } = await call('GET', '/api/v2/usage/csv', { from: '2023-12', to: '2024-02', by: 'tenant' });
    const lines = String(body).trim().split('\r\n');
    expect(lines[0]).toMatch(/^at,dataAppName,clientId,user,dashboardId,metricId,users,logins,mints,/);
    expect(lines.some((line) => line.startsWith(",,'=1+1,,,,1,0,1,"))).toBe(true);
  });

  test.each([
    [{ from: '2024-02', to: '2024-01' }, /to: must be later than from/],
    [{ from: 'yesterday', to: '2024-01' }, /from: .*a month \(2026-03\)/],
    [{ from: '2024-01', to: '2024-02', by: 'nothing' }, /names of dataApp, tenant/],
    [{ from: '2024-13', to: '2025-02' }, /a day of the calendar/],
    [{ from: '2024-01', to: '2024-02', step: 'week' }, /step/],
  ])('a question that does not fit is refused with its mend: %j', async (fields, message) => {
    const { status, body } = await call('GET', '/api/v2/usage', fields);
    expect(status).toBe(400);
    expect(JSON.stringify(body)).toMatch(message);
  });

  const sum: UsageSum = {
    ...{
      at: new Date('2023-06-01T10:00:00Z'),
      dataAppId: 'gone',
      clientId: 'c',
      person: 'p',
      dashboardId: '',
      metricId: '',
    },
    ...{ logins: 0, mints: 1, sourceQueries: 0, keptAnswers: 0, failedAnswers: 0, rows: 0, ms: 0 },
    ...{ exports: 0, mails: 0, modelTokens: 0, warmUpQueries: 0, warmUpMs: 0 },
  };

  test('a batch that is sent again counts once', async () => {
    const batch: UsageBatch = { writer: randomUUID(), number: 1, sums: [sum] };
    await service.store.usage.add(batch);
    await service.store.usage.add(batch);
    await service.store.usage.add({ ...batch, number: 2 });
    expect(await stored({ dataAppId: 'gone' })).toMatchObject([{ mints: 2 }]);
  });

  test('hours of long ago become days with the same sums, and what is too old is deleted', async () => {
    const writer = randomUUID();
    const at = (time: string) => ({ ...sum, at: new Date(time), dataAppId: 'aged' });
    const sums = [
      '2023-06-01T00:00Z',
      '2023-06-01T10:00Z',
      '2023-06-01T11:00Z',
      '2023-07-01T11:00Z',
      '2020-01-01T01:00Z',
    ];
    await service.store.usage.add({ writer, number: 1, sums: sums.map(at) });
    const now = new Date('2024-01-01');
    const retention = service.store.retention.of({ ...noDays, hourDays: 184, usageDays: 365 });
    await sweepKind(retention, 'usage', now);
    await sweepKind(retention, 'usage', now);
    const rows = await stored({ dataAppId: 'aged', step: 'hour', from: new Date('2019-01-01') });
    expect(rows.map((row) => [row.at?.toISOString(), row.mints])).toEqual([
      ['2023-06-01T00:00:00.000Z', 3],
      ['2023-07-01T11:00:00.000Z', 1],
    ]);
  });

  test('what could not be stored is kept, and stored once', async () => {
    const { store, deps } = service;
    const sent: UsageBatch[] = [];
    let fails = true;
    const usage = {
      ...store.usage,
      add: async (batch: UsageBatch) => {
        sent.push(batch);
        await store.usage.add(batch);
        // The answer of the database is lost after it has written.
        if (fails) throw new Error('the connection is lost');
      },
    };
    const parts = {
      store: { usage },
      clock: deps.clock,
      ids: { uuid: randomUUID },
      shortTag: deps.shortTag,
      log: silent,
      keepQuota,
      journal: null,
    };
    const { add, flush } = createUsageCounter(parts);
    const of = { dataAppId: 'lossy', clientId: 'c', userIdentifier: null, dashboardId: null, metricId: null };
    add(of, { mints: 1 });
    await flush();
    add(of, { mints: 1 });
    fails = false;
    await flush();
    expect(sent.map(({ number }) => number)).toEqual([1, 1, 2]);
    expect(await stored({ dataAppId: 'lossy' })).toMatchObject([{ mints: 2 }]);
  });

  test('callers that wait at once share few writes', async () => {
    const { deps } = service;
    let writes = 0;
    const usage = {
      ...service.store.usage,
      add: async () => {
        writes += 1;
      },
    };
    const parts = {
      store: { usage },
      clock: deps.clock,
      ids: { uuid: randomUUID },
      shortTag: deps.shortTag,
      log: silent,
      keepQuota,
      journal: null,
    };
    const { add, flush } = createUsageCounter(parts);
    const one = async (user: number) => {
      add(
        { dataAppId: 'd', clientId: 'c', userIdentifier: `${user}`, dashboardId: null, metricId: null },
        { mints: 1 },
      );
      await flush();
    };
    await Promise.all(Array.from({ length: 100 }, (_, user) => one(user)));
    expect(writes).toBeLessThanOrEqual(2);
  });
});
