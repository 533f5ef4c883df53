/** Limits by plan: a tenant's questions and files of a day, and its users of a month, over all replicas. */
import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Quota } from '../../src/model/quota.js';
import type { UsedBy } from '../../src/model/usage.js';
import { inProcessTransport } from '../../src/platform/http/wire/in-process.js';
import { keepQuota } from '../../src/platform/limits/quota.js';
import { createUsageCounter } from '../../src/service/usage/usage.js';
import { createLoggedEngine } from '../engine/world.js';
import { createOwnService, type OwnService } from '../gateway/own-service.js';
import type { Backing } from '../suites/metadata.js';
import { isPostgresThere } from '../suites/postgres.js';

const backings: readonly Backing[] = (await isPostgresThere()) ? ['pglite', 'postgres'] : ['pglite'];
const nowhere = { dashboardId: null, metricId: null };
const dayMs = 86_400_000;

describe.each(backings)('on %s', (backing) => {
  const { engine } = createLoggedEngine();
  let service: OwnService;
  let tenants = 0;
  beforeAll(async () => {
    service = await createOwnService(backing, { engine });
  });
  afterAll(async () => {
    await engine.close();
    await service.close();
  });

  /** A replica with a clock of its own. */
  const replica = (at: { ms: number }) => {
    const { store, deps } = service;
    const clock = { now: () => new Date(at.ms) };
    const parts = {
      store,
      clock,
      ids: { uuid: randomUUID },
      shortTag: deps.shortTag,
      log: pino({ level: 'silent' }),
      keepQuota,
      journal: null,
    };
    return createUsageCounter(parts);
  };
  const newTenant = (): UsedBy => {
    tenants += 1;
    return { dataAppId: service.api().dataAppId, clientId: `plan-${tenants}`, userIdentifier: null };
  };
  const noon = Date.UTC(2024, 4, 20, 12);
  type Replica = ReturnType<typeof replica>;
  /** As the engine does it. */
  const ask = async ({ hold, add }: Replica, by: UsedBy, quota: Quota): Promise<void> => {
    const counted = await hold(by, 'sourceQueries', quota);
    add({ ...by, ...nowhere }, { sourceQueries: 1 });
    counted();
  };
  const outcomes = async (asks: readonly Promise<void>[]): Promise<readonly string[]> =>
    (await Promise.allSettled(asks)).map((one) =>
      one.status === 'fulfilled' ? 'answered' : String(one.reason.reason),
    );

  test('of questions that come at once, exactly as many are answered as the plan allows', async () => {
    const [at, by] = [{ ms: noon }, newTenant()];
    const one = replica(at);
    const said = await outcomes(Array.from({ length: 20 }, () => ask(one, by, { queriesPerDay: 7 })));
    expect(said.filter((text) => text === 'answered')).toHaveLength(7);
    expect(said.filter((text) => text === 'quota-queries')).toHaveLength(13);
  });

  test('the refusal names the limit and the time from which more is possible', async () => {
    const [at, by] = [{ ms: noon }, newTenant()];
    await expect(replica(at).hold(by, 'sourceQueries', { queriesPerDay: 0 })).rejects.toMatchObject({
      code: 'QUOTA_REACHED',
      message: 'Your organization has used its 0 questions of today. More are possible from 2024-05-21 00:00 UTC on.',
    });
  });

  test('what other replicas counted is known within a second where the limit is near', async () => {
    const [at, by, quota] = [{ ms: noon }, newTenant(), { queriesPerDay: 10 }];
    const [one, other] = [replica(at), replica(at)];
    for (let count = 0; count < 5; count += 1) await ask(one, by, quota);
    await one.stored();
    for (let count = 0; count < 5; count += 1) await ask(other, by, quota);
    await other.stored();
    at.ms += 60_000;
    expect(await outcomes([ask(one, by, quota), ask(other, by, quota)])).toEqual(['quota-queries', 'quota-queries']);
  });

  test('a new day begins with nothing used, and files are counted beside questions', async () => {
    const [at, by, quota] = [{ ms: noon }, newTenant(), { queriesPerDay: 1, exportsPerDay: 1 }];
    const one = replica(at);
    await ask(one, by, quota);
    const written = await one.hold(by, 'exports', quota);
    expect(await outcomes([ask(one, by, quota), one.hold(by, 'exports', quota).then(() => {})])).toEqual([
      'quota-queries',
      'quota-exports',
    ]);
    // A file of which nothing came leaves its place.
    written();
    await one.hold(by, 'exports', quota);
    at.ms += dayMs;
    await ask(one, by, quota);
  });

  test('another tenant, and a tenant without this limit, are not touched', async () => {
    const [at, by] = [{ ms: noon }, newTenant()];
    const one = replica(at);
    await ask(one, by, { queriesPerDay: 1 });
    await ask(one, newTenant(), { queriesPerDay: 1 });
    for (let count = 0; count < 3; count += 1) await ask(one, by, { exportsPerDay: 0 });
    await expect(ask(one, by, { queriesPerDay: 1 })).rejects.toMatchObject({ code: 'QUOTA_REACHED' });
  });

  test('as many users see answers in a month as there are seats, whichever replica they ask', async () => {
    const [at, tenant, quota] = [{ ms: noon }, newTenant(), { seats: 2 }];
    const [one, other] = [replica(at), replica(at)];
    const user = (userIdentifier: string): UsedBy => ({ ...tenant, userIdentifier });
    const sit = async ({ seat, add, stored }: Replica, name: string): Promise<void> => {
      await seat(user(name), quota);
      add({ ...user(name), ...nowhere }, { keptAnswers: 1 });
      await stored();
    };
    await sit(one, 'ann');
    await sit(other, 'bob');
    expect(await outcomes([sit(one, 'cid'), sit(other, 'dan')])).toEqual(['quota-seats', 'quota-seats']);
    await sit(other, 'ann');
    await sit(one, 'bob');
    at.ms = Date.UTC(2024, 5, 1);
    await sit(one, 'cid');
  });

  test('users who come at once to one replica take no more than the seats', async () => {
    const [at, tenant] = [{ ms: noon }, newTenant()];
    const { seat } = replica(at);
    const names = Array.from({ length: 12 }, (_, index) => `user-${index}`);
    const said = await outcomes(names.map((userIdentifier) => seat({ ...tenant, userIdentifier }, { seats: 3 })));
    expect(said.filter((text) => text === 'answered')).toHaveLength(3);
  });

  test('a login takes no seat, and tokens are made without limit', async () => {
    const [at, tenant] = [{ ms: noon }, newTenant()];
    const one = replica(at);
    one.add({ ...tenant, userIdentifier: 'logged-in', ...nowhere }, { mints: 1, logins: 1 });
    await one.stored();
    await one.seat({ ...tenant, userIdentifier: 'reader' }, { seats: 1 });
  });

  describe('through the interface', () => {
    const call = (path: string, body: object, bearer: string) =>
      inProcessTransport(service.dispatch)({ method: 'POST', path, query: {}, body, bearer } as never);
    const mint = async (clientId: string, userIdentifier: string, quota: Quota): Promise<string> => {
      const params = { userIdentifier, allowedEmbeds: [service.shared], quota };
      const { status, body } = await call(
        '/api/v2/guest-token/create',
        { clientId, dataAppName: 'app', params },
        service.upstream.apiKey,
      );
      expect(status).toBe(200);
      return (body as { token: string }).token;
    };
    const query = (token: string) => call('/api/v2/guest/metrics/delays-count/query', { dashboardId: 'delays' }, token);

    test('the token’s quota limits the questions of its tenant, and not the making of tokens', async () => {
      const quota = { queriesPerDay: 2 };
      for (const user of ['ann', 'bob']) expect((await query(await mint('small', user, quota))).status).toBe(200);
      const token = await mint('small', 'cid', quota);
      expect(await query(token)).toMatchObject({ status: 403, body: { error: { code: 'QUOTA_REACHED' } } });
      expect((await query(await mint('large', 'ann', quota))).status).toBe(200);
      expect((await query(await mint('small', 'cid', {}))).status).toBe(200);
    });

    test('a limit that is no whole number of at least 0 is refused', async () => {
      for (const queriesPerDay of [-1, 1.5, '5', 2_000_000_000]) {
        const params = { quota: { queriesPerDay } };
        const sent = { clientId: 'small', dataAppName: 'app', params };
        expect((await call('/api/v2/guest-token/create', sent, service.upstream.apiKey)).status).toBe(400);
      }
    });
  });
});
