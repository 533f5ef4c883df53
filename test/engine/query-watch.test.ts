/** What operators see of queries: slow and failed ones, answers over time, and the database's plan without values. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createEngine } from '../../src/engine/engine.js';
import { createQueryWatch, type QueryWatch, withoutValues } from '../../src/engine/run/query-watch.js';
import type { Engine } from '../../src/model/query/engine.js';
import type { ReadLive } from '../../src/model/query/live.js';
import { Refusal } from '../../src/model/refusal.js';
import { type Builder, createBuilder, findKinds } from './test-databases.js';
import { byClients, columnRef, condition, datamart, metric, type Place, question, table } from './world.js';

const clock = (nowMs = { at: 1_700_000_000_000 }) => ({
  set: nowMs,
  now: () => new Date(nowMs.at),
});
const timing = () => {
  const now = { ms: 0 };
  return { now, nowMs: () => now.ms, after: () => () => undefined };
};
const asked = (clientId: string, sql = 'SELECT 1') => ({
  ...{ dataAppId: 'app', clientId, datasource: 'main', requestId: 'r', sql },
  explain: async () => `plan of ${sql}`,
});

describe('what is remembered', () => {
  const watchOf = () => {
    const [time, duration] = [clock(), timing()];
    const watch = createQueryWatch(time, duration);
    const take = (clientId: string, ms: number, failure?: unknown) =>
      watch.run(asked(clientId, `SELECT ${ms}`), async () => {
        duration.now.ms += ms;
        if (failure !== undefined) throw failure;
        return { rows: [1, 2] };
      });
    return { watch, take, time };
  };

  it('the slowest hundred and the latest hundred failures, of a day', async () => {
    const { watch, take, time } = watchOf();
    for (let ms = 1; ms <= 150; ms += 1) await take('a', ms);
    const refused = new Refusal('METRIC_QUERY_ERROR', 'late', { reason: 'datasource-timeout' });
    await expect(take('a', 7, refused)).rejects.toBe(refused);
    const { slowest, failed } = watch.read();
    expect(slowest.map(({ ms }) => ms)).toEqual(Array.from({ length: 100 }, (_, index) => 150 - index));
    expect(failed).toMatchObject([{ failure: 'datasource-timeout', ms: 7, rows: 0 }]);
    expect(await watch.plan(slowest[0]?.id ?? '')).toBe('plan of SELECT 150');
    time.set.at += 86_400_000;
    expect(watch.read()).toMatchObject({ slowest: [], failed: [] });
    expect(await watch.plan(slowest[0]?.id ?? '')).toBeNull();
  });

  it('no text of an error, and nothing of a client that is forgotten', async () => {
    const { watch, take } = watchOf();
    await take('a', 3);
    await take('b', 5);
    await expect(take('b', 2, new Error('with the name of a tenant in it'))).rejects.toThrow();
    expect(JSON.stringify(watch.read())).not.toContain('name of a tenant');
    watch.forget('app', 'b');
    const { slowest, finished, failed } = watch.read();
    const left = [slowest, finished, failed].map((all) => all.map(({ clientId }) => clientId));
    expect(left).toEqual([['a'], ['a'], []]);
    watch.forget('other', null);
    expect(watch.read().slowest).toHaveLength(1);
    watch.forget('app', null);
    expect(watch.read()).toMatchObject({ slowest: [], finished: [], failed: [] });
  });

  it('tenants and dashboards of one id in two data apps apart', async () => {
    const watch = createQueryWatch(clock(), timing());
    const give = (dataAppId: string) =>
      watch.answer({ dataAppId, clientId: 'a', dashboardId: 'sales', ran: () => true }, async () => 1);
    await give('app');
    await give('app');
    await give('other');
    const { tenants, dashboards } = watch.history({});
    expect(tenants.map(({ dataAppId, clientId, answers }) => [dataAppId, clientId, answers])).toEqual([
      ['app', 'a', 2],
      ['other', 'a', 1],
    ]);
    expect(dashboards.map(({ dataAppId, answers }) => [dataAppId, answers])).toEqual([
      ['app', 2],
      ['other', 1],
    ]);
    expect(watch.history({ dataAppId: 'other', clientId: 'a' }).steps).toMatchObject([{ answers: 1 }]);
    expect(watch.history({ dataAppId: 'other', dashboardId: 'costs' }).steps).toEqual([]);
  });

  it('how answers were given over time, by tenant and dashboard, and nothing of one that is forgotten', async () => {
    const [time, duration] = [clock(), timing()];
    const watch = createQueryWatch(time, duration);
    const give = (clientId: string, dashboardId: string, ms: number, hasRun: boolean, failure?: unknown) =>
      watch.answer({ dataAppId: 'app', clientId, dashboardId, ran: () => hasRun }, async () => {
        duration.now.ms += ms;
        if (failure !== undefined) throw failure;
      });
    for (let each = 0; each < 19; each += 1) await give('a', 'sales', 10, false);
    await give('a', 'sales', 1000, true);
    await expect(give('b', 'sales', 5, true, new Error('with the name of a tenant in it'))).rejects.toThrow();
    time.set.at += 600_000;
    await give('b', 'costs', 100, true);
    const { steps, tenants, dashboards } = watch.history({});
    expect(steps.map(({ answers, kept, failed }) => [answers, kept, failed])).toEqual([
      [20, 19, 1],
      [1, 0, 0],
    ]);
    const [first] = steps;
    for (const [shown, true_] of [
      [first?.p50, 10],
      [first?.p95, 10],
      [steps[1]?.p95, 100],
    ])
      expect(Math.abs((shown ?? 0) - (true_ ?? 0))).toBeLessThanOrEqual((true_ ?? 0) / 10);
    expect(tenants).toMatchObject([
      { clientId: 'a', answers: 20 },
      { clientId: 'b', answers: 1, failed: 1 },
    ]);
    expect(tenants[1]?.freshAt).toEqual(time.now());
    expect(dashboards.map(({ dashboardId, answers }) => [dashboardId, answers])).toEqual([
      ['sales', 20],
      ['costs', 1],
    ]);
    expect(watch.history({ clientId: 'b', dashboardId: 'costs' }).steps).toMatchObject([{ answers: 1 }]);
    expect(watch.history({ clientId: 'c' }).steps).toEqual([]);
    expect(JSON.stringify(watch.history({}))).not.toContain('name of a tenant');
    watch.forget('app', 'a');
    expect(watch.history({}).tenants).toMatchObject([{ clientId: 'b' }]);
    time.set.at += 87_000_000;
    expect(watch.history({})).toMatchObject({ steps: [], tenants: [], dashboards: [] });
  });

  it('answers of more tenants than a step tells apart as a number without names', async () => {
    const watch = createQueryWatch(clock(), timing());
    for (let each = 0; each < 300; each += 1)
      await watch.answer({ dataAppId: 'app', clientId: `t${each}`, dashboardId: 'd', ran: () => true }, async () => 1);
    const { steps, tenants, others } = watch.history({});
    expect([steps[0]?.answers, tenants.length, others]).toEqual([300, 50, 100]);
  });

  it('no query that its callers gave up', async () => {
    const { watch } = watchOf();
    const gone = new AbortController();
    const work = async () => {
      gone.abort();
      throw gone.signal.reason;
    };
    await expect(watch.run(asked('a'), work, gone.signal)).rejects.toThrow();
    const of = { dataAppId: 'app', clientId: 'a', dashboardId: 'd', ran: () => true };
    await expect(watch.answer(of, work, gone.signal)).rejects.toThrow();
    expect(watch.history({}).steps).toEqual([]);
    expect(watch.read()).toMatchObject({ slowest: [], failed: [] });
  });
});

it('a plan has none of the values of its query, however they are written', () => {
  const plan =
    "Filter: ((name = 'O''Brien'::text) AND (size > 1250) AND (a.b = ANY ('{red,green}'::text[]))) rows=12500 x";
  const shown = withoutValues(plan, ["O'Brien", 1250, ['red', 'green'], 'x', '']);
  for (const value of ['Brien', ' 1250', 'red', 'green', ' x']) expect(shown).not.toContain(value);
  expect(shown).toContain('rows=12500');
});

const mart = datamart({
  tenancy: byClients(),
  tables: [
    table('clients', { id: 'VARCHAR', name: 'VARCHAR' }),
    table('sales', { client: 'VARCHAR', region: 'VARCHAR', amount: 'INTEGER' }, 'client'),
  ],
});
const sales = metric('sales', {
  dimensions: [{ name: 'region', column: columnRef('sales.region') }],
  measures: [{ name: 'total', aggregate: 'SUM', column: columnRef('sales.amount') }],
});

describe.each(await findKinds())('on %s', (kind) => {
  let builder: Builder;
  let place: Place;
  let engine: Engine;
  let watch: QueryWatch;
  let readLive: ReadLive;

  beforeAll(async () => {
    builder = await createBuilder(kind);
    place = await builder.build('watched', [
      {
        name: 'clients',
        columns: { id: 'VARCHAR', name: 'VARCHAR' },
        rows: [
          ['tenant-a', 'A'],
          ['tenant-b', 'B'],
        ],
      },
      {
        name: 'sales',
        columns: { client: 'VARCHAR', region: 'VARCHAR', amount: 'INTEGER' },
        rows: [
          ['tenant-a', 'secret-north', 1],
          ['tenant-a', 'south', 2],
          ['tenant-b', 'secret-north', 4],
        ],
      },
    ]);
    watch = createQueryWatch(clock());
    const log = { warn: () => undefined, error: () => undefined };
    const live = (read: ReadLive) => {
      readLive = read;
    };
    engine = createEngine({ log, assertReachable: async () => undefined, watch, live, clock: clock() });
  });
  afterAll(async () => {
    await engine.close();
    await builder.remove();
  });

  it('shows connections and queues as they are now, without a tenant and without a query', async () => {
    expect(readLive()).toEqual({ sources: [], cache: null });
    const { batches } = await engine.stream(question(place, mart, 'tenant-a', sales));
    const seen = [];
    for await (const _ of batches) seen.push(readLive().sources[0]);
    expect(seen[0]).toMatchObject({ name: place.datasource.name, type: kind, databases: 1, lastError: null });
    expect(seen[0]).toMatchObject({ downloads: { running: 1, waiting: 0 }, queries: { running: 0, waiting: 0 } });
    expect(seen[0]?.connections).toMatchObject({ busy: 1, waiting: 0 });
    expect(seen[0]?.openSince).toBe(clock().now().toISOString());
    const [after] = readLive().sources;
    expect(after).toMatchObject({ downloads: { running: 0, waiting: 0 }, connections: { busy: 0 } });
    expect(after?.connections.open).toBeGreaterThan(0);
    expect(JSON.stringify(readLive())).not.toMatch(/tenant-a|sales/);
    await engine.forget(place.datasource.id);
    expect(readLive().sources).toEqual([]);
    await engine.forgetClient('app', 'tenant-a');
  });

  it('notes a query with its client, and explains it without its values', async () => {
    const conditions = [condition('sales.region', { kind: 'oneOf', values: ['secret-north'] })];
    const answer = await engine.query(question(place, mart, 'tenant-a', sales, { conditions }));
    expect(answer.rows).toEqual([{ region: 'secret-north', total: expect.anything() }]);
    const { slowest } = watch.read();
    expect(slowest.every(({ clientId, rows }) => clientId === 'tenant-a' && rows > 0)).toBe(true);
    const [note] = slowest;
    expect(note?.sql).toMatch(/select/i);
    expect(note?.sql).not.toMatch(/secret-north|tenant-a/);
    const plan = await watch.plan(note?.id ?? '');
    expect(plan).toMatch(/sales/i);
    expect(plan).not.toMatch(/secret-north|tenant-a|tenant-b/);
  });

  it('notes the answers of several clients apart, and a download', async () => {
    await engine.query(question(place, mart, 'tenant-b', sales));
    const { batches } = await engine.stream(question(place, mart, 'tenant-b', sales));
    for await (const rows of batches) expect(rows.length).toBeGreaterThan(0);
    const tenants = () => watch.history({}).tenants.map(({ clientId, answers }) => [clientId, answers]);
    expect(tenants()).toContainEqual(['tenant-b', 1]);
    await engine.forgetClient('app', 'tenant-b');
    expect(tenants().map(([clientId]) => clientId)).toEqual(['tenant-a']);
  });
});
