/** Retention of the service: what is old enough goes, and what is of a held client stays. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ApiKeyCaller } from '../../src/model/guest/caller.js';
import { countKinds, sliceRows } from '../../src/platform/databases/aged-rows.js';
import { holdClients } from '../../src/service/data-apps/client-holds.js';
import { serviceRows } from '../../src/service/store/retention.js';
import type { UsageSum } from '../../src/service/store/usage.js';
import { createOwnService, type OwnService } from '../gateway/own-service.js';
import type { Backing } from '../suites/metadata.js';
import { isPostgresThere } from '../suites/postgres.js';
import { noDays, sweepKind } from '../suites/sweep.js';

const dayMs = 86_400_000;
const backings: readonly Backing[] = (await isPostgresThere()) ? ['pglite', 'postgres'] : ['pglite'];
const nothing = {
  warmUpQueries: 0,
  warmUpMs: 0,
  ...{ logins: 0, mints: 0, sourceQueries: 0, keptAnswers: 0, failedAnswers: 0, rows: 0, ms: 0 },
  ...{ exports: 0, mails: 0, modelTokens: 0 },
};

describe.each(backings)('on %s', (backing) => {
  let service: OwnService;
  beforeAll(async () => {
    service = await createOwnService(backing);
  });
  afterAll(() => service.close());

  const now = (): Date => service.deps.clock.now();
  const later = (days: number): Date => new Date(now().getTime() + days * dayMs);
  const appOf = (name: 'app' | 'other' = 'app', gateway?: string): ApiKeyCaller => ({
    ...service.api(name),
    ...(gateway === undefined ? {} : { gateway }),
  });
  let version = 0;
  const hold = (clientIds: readonly string[], by: ApiKeyCaller = appOf(), isAll = false, as?: number) => {
    version += 1;
    return holdClients(service)(by, { version: String(as ?? version), isAll, clientIds });
  };
  const use = async (clientId: string, hours: readonly string[], dataAppId = service.api().dataAppId) => {
    const sumAt = (at: string): UsageSum => ({
      ...{ ...nothing, mints: 1, at: new Date(at), dataAppId, clientId, person: 'p', dashboardId: '', metricId: '' },
    });
    await service.store.usage.add({ writer: randomUUID(), number: 1, sums: hours.map(sumAt) });
  };
  const used = async (clientId: string): Promise<readonly (readonly [string | undefined, number])[]> => {
    const question = { from: new Date('2000-01-01'), to: new Date('2100-01-01'), by: [], limit: 10_000 };
    const rows = await service.store.usage.read({ ...question, step: 'hour', clientId });
    return rows.map(({ at, mints }) => [at?.toISOString().slice(0, 13), mints]);
  };
  const sweepUsage = (hourDays: number, usageDays: number) =>
    sweepKind(service.store.retention.of({ ...noDays, hourDays, usageDays }), 'usage', new Date('2024-01-01'));

  test('usage of a held client keeps its hours, and those of others become days and go', async () => {
    const hours = ['2020-05-01T01:00Z', '2023-05-01T01:00Z', '2023-05-01T02:00Z'];
    for (const clientId of ['held', 'free']) await use(clientId, hours);
    await use('held', hours, service.api('other').dataAppId);
    await hold(['held']);
    await sweepUsage(100, 1000);
    expect(await used('free')).toEqual([['2023-05-01T00', 2]]);
    // Those of this data app, and of the other one, whose key held nobody.
    expect(await used('held')).toEqual([
      ['2020-05-01T01', 1],
      ['2023-05-01T00', 2],
      ['2023-05-01T01', 1],
      ['2023-05-01T02', 1],
    ]);
    await hold([]);
    await sweepUsage(100, 1000);
    expect(await used('held')).toEqual([['2023-05-01T00', 4]]);
  });

  test('sums of more hours than one slice become the same days', async () => {
    const hours = Array.from({ length: sliceRows * 3 }, (_, n) =>
      new Date(Date.UTC(2023, 0, 1) + n * 3_600_000).toISOString(),
    );
    await use('busy', hours);
    expect(await sweepUsage(100, 1000)).toBeGreaterThan(2);
    const rows = await used('busy');
    expect(rows.map(([at]) => at?.slice(11))).toEqual(rows.map(() => '00'));
    expect(rows.reduce((sum, [, mints]) => sum + mints, 0)).toBe(hours.length);
  });

  test('tokens that have expired go after their days; those of a held client, and of a held data app, stay', async () => {
    const mint = async (clientId: string) => {
      const { body } = await service.upstream.transport({
        ...{ method: 'POST', path: '/api/v2/guest-token/create', query: {}, bearer: service.upstream.apiKey },
        body: { clientId, dataAppName: 'app', expiryTime: 1000 },
      });
      return service.deps.tokens.hash((body as { token: string }).token);
    };
    const [free, held] = [await mint('free'), await mint('held')];
    const isThere = async () =>
      Promise.all([free, held].map(async (one) => (await service.store.guestTokens.findByHash(one)) !== undefined));
    const sweep = (days: number) =>
      sweepKind(service.store.retention.of({ ...noDays, tokensDays: 7 }), 'tokens', later(days));
    await hold(['held']);
    await sweep(6.9);
    expect(await isThere()).toEqual([true, true]);
    await hold([], appOf(), true);
    await sweep(8);
    expect(await isThere()).toEqual([true, true]);
    await hold(['held']);
    const [counted] = await countKinds(
      service.database.connect(),
      serviceRows({ ...noDays, tokensDays: 7 }).filter(({ kind }) => kind === 'tokens'),
      later(8),
    );
    expect(counted).toMatchObject({ kind: 'tokens', due: 1, held: 1 });
    await sweep(8);
    expect(await isThere()).toEqual([false, true]);
    await hold([]);
    await sweep(8);
    expect(await isThere()).toEqual([false, false]);
  });

  test('holds of two gateways do not replace each other, and a late call changes nothing', async () => {
    const [one, other] = [appOf('app', 'one'), appOf('app', 'other')];
    await use('both', ['2020-05-01T01:00Z']);
    expect(await hold(['both'], one, false, 5)).toEqual({ version: '5' });
    expect(await hold([], other, false, 9)).toEqual({ version: '9' });
    expect(await hold([], one, false, 4)).toEqual({ version: '5' });
    await sweepUsage(100, 1000);
    expect(await used('both')).toHaveLength(1);
    expect(await hold([], one, false, 5)).toEqual({ version: '5' });
    await sweepUsage(100, 1000);
    expect(await used('both')).toEqual([]);
  });

  test('an erasure of a client ends its hold, and no row names it', async () => {
    await hold(['unmistakable-client']);
    await service.store.clients.erase(service.api().dataAppId, 'unmistakable-client');
    expect(await service.dumpAll()).not.toContain('unmistakable-client');
  });

  test('two processes sweep at once: each hour is added once', async () => {
    await use('twice', ['2023-05-01T01:00Z', '2023-05-01T02:00Z', '2023-05-01T03:00Z']);
    const kinds = () => service.store.retention.of({ ...noDays, hourDays: 100, usageDays: 1000 }).kinds;
    const sweep = () => Promise.all(kinds().map((kind) => kind.sweep(new Date('2024-01-01'))));
    await Promise.all([sweep(), sweep()]);
    await sweepUsage(100, 1000);
    expect(await used('twice')).toEqual([['2023-05-01T00', 3]]);
  });
});
