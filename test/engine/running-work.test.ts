/** What runs and waits at a database, and how an operator ends it. A lock holds the queries of these tests. */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Rollup } from '../../src/model/datamart/datamart.js';
import type { Engine, MetricQuestion } from '../../src/model/query/engine.js';
import type { RunningWork, Work } from '../../src/model/query/running.js';
import { createRunningWork } from '../../src/platform/work/running-work.js';
import { systemClock } from '../../src/platform/work/time.js';
import { createOwnDatabase, isPostgresThere, type OwnDatabase } from '../suites/postgres.js';
import { postgresAt } from './test-databases.js';
import {
  columnRef,
  createLoggedEngine,
  datamart,
  metric,
  processes,
  question,
  refusalOf,
  rowsOf,
  stays,
  table,
  tableRef,
} from './world.js';

const byDay: Rollup = {
  ...{ name: 'by day', from: tableRef('sales'), dimensions: [], grain: 'day' },
  measures: [{ aggregate: 'SUM', column: 'amount' }],
  partition: { column: 'sold', by: 'month', closesAfterHours: 24 },
  refresh: { everyMinutes: 60, again: 1 },
};

const mart = datamart({
  tables: [
    table('clients', { id: 'TEXT', name: 'TEXT' }),
    table('sales', { amount: 'INTEGER', client: 'TEXT', sold: 'DATE' }, 'client'),
  ],
  rollups: [byDay],
});
const sum = metric('sales', { measures: [{ name: 'n', aggregate: 'SUM', column: columnRef('sales.amount') }] });

describe.runIf(await isPostgresThere())('what runs at a database', () => {
  let own: OwnDatabase;
  let locker: pg.Client;
  let engine: Engine;
  let running: RunningWork;
  let folder: string;
  const built: string[] = [];
  const outcomes: string[] = [];
  beforeAll(async () => {
    own = await createOwnDatabase();
    locker = new pg.Client({ connectionString: own.url });
    await locker.connect();
    await locker.query('create schema main');
    await locker.query(`create table main.clients as select 'c' || i as id, 'C' as name from generate_series(0, 2) i`);
    await locker.query(
      `create table main.sales as select i as amount, 'c' || i % 3 as client, date '2024-01-05' as sold from generate_series(1, 9) i`,
    );
    running = createRunningWork(systemClock);
    const cache = {
      secret: Buffer.alloc(32, 1),
      clock: systemClock,
      ttlSeconds: 60,
      maxBytes: 1_000_000,
      shared: null,
    };
    folder = await mkdtemp(join(tmpdir(), 'guestlist-running-'));
    const rollups = {
      ...{ folder, processes, limits: { memoryMegabytes: 128, diskMegabytes: 128 }, tailRows: 10 },
      built: (...of: readonly string[]) => void built.push(of.join(' / ')),
    };
    const nothing = (): void => {};
    const answered = (outcome: string): void => void outcomes.push(outcome);
    const meters = { answered, evicted: nothing, refused: nothing, watch: nothing };
    ({ engine } = createLoggedEngine({ running, cache, rollups, meters, queue: { running: 1, runningPerClient: 1 } }));
  });
  afterEach(async () => {
    await locker.query('rollback');
    await engine.forgetClient('app', null);
  });
  afterAll(async () => {
    await engine.close();
    await locker.end();
    await own.drop();
    await rm(folder, { recursive: true, force: true });
  });

  const ask = (clientId: string, parts: Partial<MetricQuestion> = {}) =>
    question({ datasource: postgresAt(own.url), schemaName: 'main' }, mart, clientId, sum, parts);
  const lock = async (): Promise<void> => {
    await engine.query(ask(`c${randomUUID()}`));
    await locker.query('begin');
    await locker.query('lock table main.sales in access exclusive mode');
  };
  const stateOf = ({ kind, clientId, runsSince }: Work): string =>
    `${kind} of ${clientId} ${runsSince === null ? 'waits' : 'runs'}`;
  const listed = (...states: readonly string[]) =>
    vi.waitFor(() => expect(running.list().map(stateOf)).toEqual(states), { timeout: 10_000 });
  const heldInDatabase = async (): Promise<number> => {
    // A transaction lists the connections that there were when it first asked.
    await locker.query('select pg_stat_clear_snapshot()');
    const { rows } = await locker.query(
      `select count(*)::int as held from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    );
    return rows[0].held;
  };

  /** Long before the statement would end by its own limit of time. */
  const over = () => vi.waitFor(async () => expect(await heldInDatabase()).toBe(0), { timeout: 10_000 });

  it('is listed with its tenant and where it is shown while it waits and runs, and not after', async () => {
    await lock();
    const shownOn = { dashboardId: 'delays', metricId: 'by-day' };
    const signal = Object.assign(new AbortController().signal, { requestId: 'r1' });
    const one = engine.until(signal).query(ask('c1', { shownOn }));
    await listed('query of c1 runs');
    const other = engine.query(ask('c2'));
    await listed('query of c1 runs', 'query of c2 waits');
    expect(running.list()[0]).toMatchObject({ ...shownOn, dataAppId: 'app', requestId: 'r1', canEnd: true });
    await locker.query('rollback');
    await Promise.all([one, other]);
    expect(running.list()).toEqual([]);
  });

  it('ends at the database when an operator ends it, with an answer that says so', async () => {
    await lock();
    const asked = refusalOf(() => engine.query(ask('c1')));
    await listed('query of c1 runs');
    const joined = refusalOf(() => engine.query(ask('c1')));
    await vi.waitFor(() => expect(outcomes).toContain('joined'), { timeout: 10_000 });
    await vi.waitFor(async () => expect(await heldInDatabase()).toBe(1));
    const [work] = running.list();
    expect(running.end({ kind: 'build', number: work?.number ?? 0 })).toBe(false);
    expect(running.end({ kind: 'query', number: work?.number ?? 0 })).toBe(true);
    await over();
    for (const refusal of [await asked, await joined])
      expect(refusal).toMatchObject({ code: 'METRIC_QUERY_ERROR', reason: 'ended-by-operator' });
    expect(running.end({ kind: 'query', number: work?.number ?? 0 })).toBe(false);
    await locker.query('rollback');
    expect((await engine.query(ask('c1'))).rows).toEqual([{ n: 12 }]);
  });

  it('ends while it waits for its turn, and the one before it goes on', async () => {
    await lock();
    const one = engine.query(ask('c1'));
    await listed('query of c1 runs');
    const waiting = refusalOf(() => engine.query(ask('c2')));
    await listed('query of c1 runs', 'query of c2 waits');
    expect(running.end({ kind: 'query', number: running.list()[1]?.number ?? 0 })).toBe(true);
    expect(await waiting).toMatchObject({ reason: 'ended-by-operator' });
    await locker.query('rollback');
    expect((await one).rows).toEqual([{ n: 12 }]);
  });

  it('ends a download too', async () => {
    await lock();
    const asked = refusalOf(async () => rowsOf(await engine.stream(ask('c0'))));
    await listed('download of c0 runs');
    expect(running.end({ kind: 'download', number: running.list()[0]?.number ?? 0 })).toBe(true);
    expect(await asked).toMatchObject({
      reason: 'ended-by-operator',
      message: 'An operator ended this download. Retry it later, or ask the operator.',
    });
    expect(running.list()).toEqual([]);
  });

  it('ends a build at the database, the earlier files stay in force, and the next build succeeds', async () => {
    const asked = ask('c1');
    const of = { datasource: asked.datasource, datamart: asked.datamart, rollup: byDay, isWhole: true };
    const { rollups } = engine;
    if (rollups === null) throw new Error('the engine builds rollups');
    const first = await rollups.build(of, stays);
    await lock();
    const building = refusalOf(() => rollups.build(of, stays));
    await vi.waitFor(async () => expect(await heldInDatabase()).toBe(1), { timeout: 10_000 });
    expect(running.list().map(stateOf)).toEqual(['build of null runs']);
    const [work] = running.list();
    expect(work).toMatchObject({ subject: `${asked.datamart.name} / by day`, canEnd: true });
    expect(running.end({ kind: 'query', number: work?.number ?? 0 })).toBe(false);
    expect(running.end({ kind: 'build', number: work?.number ?? 0 })).toBe(true);
    await over();
    expect(await building).toMatchObject({
      reason: 'ended-by-operator',
      message: 'An operator ended this build of a rollup. Retry it later, or ask the operator.',
    });
    expect(running.list()).toEqual([]);
    expect((await rollups.state(of)).manifest).toEqual(first);
    await locker.query('rollback');
    expect((await rollups.build(of, stays)).partitions).toHaveLength(1);
    const name = `${asked.datamart.name} / by day`;
    expect(built).toEqual([name, name]);
  });
});
