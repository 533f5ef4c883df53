/** The process of a build: what others see of it, how it ends, and what is left where it fails. A lock holds its statement. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { EngineOptions } from '../../src/engine/engine.js';
import type { RollupsOptions } from '../../src/engine/rollups/rollups.js';
import type { Rollup } from '../../src/model/datamart/datamart.js';
import type { Engine, KeptRollup } from '../../src/model/query/engine.js';
import type { ReadLive } from '../../src/model/query/live.js';
import { createRunningWork } from '../../src/platform/work/running-work.js';
import { systemClock } from '../../src/platform/work/time.js';
import { createOwnDatabase, isPostgresThere, type OwnDatabase } from '../suites/postgres.js';
import { postgresAt } from './test-databases.js';
import { createLoggedEngine, datamart, type LogLine, processes, refusalOf, stays, table, tableRef } from './world.js';

const byDay: Rollup = {
  ...{ name: 'by day', from: tableRef('sales'), dimensions: ['until'], grain: 'day' },
  measures: [{ aggregate: 'SUM', column: 'amount' }],
  partition: { column: 'sold', by: 'month', closesAfterHours: 24 },
  refresh: { everyMinutes: 60, again: 1 },
};
const other: Rollup = { ...byDay, name: 'another' };
const mart = datamart({
  tables: [
    table('clients', { id: 'TEXT', name: 'TEXT' }),
    table('sales', { amount: 'INTEGER', client: 'TEXT', sold: 'DATE', until: 'DATE' }, 'client'),
  ],
  rollups: [byDay, other],
});

type Process = { readonly id: number; readonly commandLine: string };

/** The processes that this one has started to build. */
const findBuilders = async (parent = process.pid): Promise<readonly Process[]> => {
  const found: Process[] = [];
  for (const id of (await readdir('/proc')).filter((name) => /^[0-9]+$/.test(name))) {
    // A process may end while it is looked at.
    const read = (file: string) => readFile(`/proc/${id}/${file}`, 'utf8').catch(() => '');
    const commandLine = (await read('cmdline')).replaceAll('\0', ' ');
    const [, state, of] = /^[0-9]+ \(.*\) (\S) ([0-9]+)/.exec(await read('stat')) ?? [];
    if (Number(of) === parent && state !== 'Z' && commandLine.includes('rollups/process.js'))
      found.push({ id: Number(id), commandLine });
  }
  return found;
};

const isRunning = (id: number): boolean => {
  try {
    return process.kill(id, 0);
  } catch {
    return false;
  }
};

/** The priority of each thread. */
const nicenessOf = async (id: number): Promise<readonly number[]> => {
  const threads = await readdir(`/proc/${id}/task`);
  const stats = await Promise.all(threads.map((thread) => readFile(`/proc/${id}/task/${thread}/stat`, 'utf8')));
  return stats.map((stat) => Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[16]));
};

describe.runIf(process.platform === 'linux' && (await isPostgresThere()))('the process of a build', () => {
  let own: OwnDatabase;
  let locker: pg.Client;
  let folder: string;
  let engine: Engine;
  let lines: readonly LogLine[];
  let live: ReadLive;
  const running = createRunningWork(systemClock);
  const password = 'the-password-of-the-source';

  const open = (parts: Partial<RollupsOptions> = {}, options: Partial<EngineOptions> = {}): void => {
    const limits = { memoryMegabytes: 128, diskMegabytes: 128 };
    ({ engine, lines } = createLoggedEngine({
      ...{ running, rollups: { folder, processes, limits, tailRows: 10, ...parts } },
      live: (read) => {
        live = read;
      },
      ...options,
    }));
  };
  beforeEach(async () => {
    own = await createOwnDatabase();
    locker = new pg.Client({ connectionString: own.url });
    await locker.connect();
    await locker.query('create schema main');
    await locker.query(`create table main.clients as select 'c' || i as id, 'C' as name from generate_series(0, 2) i`);
    await locker.query(
      `create table main.sales as select i as amount, 'c' || i % 3 as client, date '2024-01-05' + i as sold, date '2024-01-01' as until from generate_series(1, 60) i`,
    );
    folder = await mkdtemp(join(tmpdir(), 'guestlist-builders-'));
    open();
  });
  afterEach(async () => {
    await locker.query('rollback');
    await engine.close();
    await locker.end();
    await own.drop();
    await rm(folder, { recursive: true, force: true });
  });

  const placeOf = (rollup = byDay) => ({
    ...{ datasource: { ...postgresAt(own.url), password }, datamart: mart },
    ...{ rollup, isWhole: true },
  });
  const build = (signal: AbortSignal = stays, rollup = byDay): Promise<KeptRollup> => {
    if (engine.rollups === null) throw new Error('the engine builds rollups');
    return engine.rollups.build(placeOf(rollup), signal);
  };
  const lock = async (): Promise<void> => {
    await locker.query('begin');
    await locker.query('lock table main.sales in access exclusive mode');
  };
  const held = async (): Promise<number> => {
    // A transaction lists the connections that there were when it first asked.
    await locker.query('select pg_stat_clear_snapshot()');
    const { rows } = await locker.query(
      `select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    );
    return rows[0]?.pid ?? 0;
  };
  const untilHeld = () => vi.waitFor(async () => expect(await held()).not.toBe(0), { timeout: 30_000 });
  const untilFree = () => vi.waitFor(async () => expect(await held()).toBe(0), { timeout: 30_000 });
  const untilGone = (id: number) => vi.waitFor(() => expect(isRunning(id)).toBe(false), { timeout: 30_000 });
  /** Begins a build that waits for the lock. */
  const hold = async (signal: AbortSignal = stays) => {
    await lock();
    const building = build(signal).catch((cause: unknown) => cause);
    await untilHeld();
    const [builder] = await findBuilders();
    if (builder === undefined) throw new Error('no process builds');
    return { building, builder };
  };
  const files = async (): Promise<readonly string[]> =>
    (await readdir(folder, { recursive: true, encoding: 'utf8' })).filter((name) => /parquet|manifest|lock/.test(name));

  it('has the lowest priority in all of its threads, and no secret that others of the machine could see', async () => {
    await engine.close();
    const environment = { TZ: 'UTC' };
    open({ processes: { environment, niceness: 19 } });
    const { building, builder } = await hold();
    expect(new Set(await nicenessOf(builder.id))).toEqual(new Set([19]));
    expect(builder.commandLine.trim().split(' ')).toEqual([
      process.execPath,
      expect.stringMatching(/\/rollups\/process\.js$/),
    ]);
    const shown = (await readFile(`/proc/${builder.id}/environ`, 'utf8')).split('\0').filter((line) => line !== '');
    // Node names the channel to its parent there.
    expect(shown.filter((line) => !line.startsWith('NODE_CHANNEL_'))).toEqual(['TZ=UTC']);
    await locker.query('rollback');
    expect(await building).toMatchObject({ partitions: [{ sourceRows: 26 }, { sourceRows: 29 }, { sourceRows: 5 }] });
    await untilGone(builder.id);
  });

  it('has one of the connections that the datasource may have, while it reads', async () => {
    await engine.close();
    open({}, { maxConnectionsPerDatasource: 1, waitMs: 50 });
    const { building } = await hold();
    expect(live().sources.map(({ connections: { open: opened, busy } }) => [opened, busy])).toEqual([[1, 1]]);
    await refusalOf(() => engine.readRights(placeOf().datasource));
    await locker.query('rollback');
    await building;
    expect(live().sources.every(({ connections }) => connections.busy === 0)).toBe(true);
  });

  it('leaves nothing half made where it is killed, and the next build succeeds', async () => {
    const first = await build();
    const before = await files();
    const { building, builder } = await hold();
    process.kill(builder.id, 'SIGKILL');
    expect(await building).toMatchObject({ code: 'METRIC_QUERY_ERROR', reason: 'rollup-process-ended' });
    expect(await files()).toEqual(before);
    expect((await engine.rollups?.state(placeOf()))?.manifest).toEqual(first);
    await locker.query('rollback');
    expect((await build()).partitions).toHaveLength(3);
  });

  it('ends with its statement where the build is cancelled', async () => {
    const ending = new AbortController();
    const { building, builder } = await hold(ending.signal);
    const reason = new Error('the process ends');
    ending.abort(reason);
    await untilFree();
    expect(await building).toBe(reason);
    await untilGone(builder.id);
    expect(await files()).toEqual([]);
  });

  it('ends with its statement where the process that started it is killed', async () => {
    await lock();
    const program = fileURLToPath(new URL('killed-builder.mjs', import.meta.url));
    const parent = fork(program, [], { serialization: 'advanced' });
    parent.send({ folder, place: placeOf() });
    await untilHeld();
    const [builder] = await findBuilders(parent.pid);
    if (builder === undefined) throw new Error('no process builds');
    const exited = once(parent, 'exit');
    parent.kill('SIGKILL');
    await exited;
    await untilGone(builder.id);
    await untilFree();
    expect((await files()).filter((name) => !name.endsWith('/lock'))).toEqual([]);
  });

  it('builds one rollup at a time, and the others wait', async () => {
    const { building } = await hold();
    const next = build(stays, other);
    await vi.waitFor(() => expect(running.list().map(({ runsSince }) => runsSince !== null)).toEqual([true, false]));
    expect(await findBuilders()).toHaveLength(1);
    await locker.query('rollback');
    await Promise.all([building, next]);
    expect(running.list()).toEqual([]);
  });

  it('says what the source said, and writes it into the log of this process', async () => {
    const { building } = await hold();
    await locker.query('select pg_terminate_backend($1)', [await held()]);
    expect(await building).toMatchObject({
      ...{ name: 'Refusal', code: 'METRIC_QUERY_ERROR', reason: 'datasource-lost' },
      message: 'The query failed at the datasource. The cause is in the log.',
    });
    const [line] = lines.filter(({ details }) => Reflect.get(details, 'event') === 'query.failed');
    expect(line).toMatchObject({
      level: 'error',
      details: { datasource: 'warehouse', err: { reason: 'datasource-lost', cause: { code: '57P01' } } },
    });
    expect(await files()).toEqual([]);
  });

  it('says which value no file holds', async () => {
    await locker.query(`update main.sales set until = date '12024-01-01' where amount = 7`);
    const { code, reason, message } = await refusalOf(() => build());
    expect([code, reason]).toEqual(['INVALID_REQUEST_BODY', 'rollup-refused']);
    expect(message).toBe('Rollup "by day" cannot be built: a value of until (dimension) is none that a file holds.');
    expect(await files()).toEqual([]);
  });

  it('fails beyond its memory and disk, and leaves nothing half made', async () => {
    await locker.query(
      `insert into main.sales select i, 'c' || i, date '2024-01-05', date '2024-01-01' + i % 9 from generate_series(1, 200000) i`,
    );
    await engine.close();
    open({ limits: { memoryMegabytes: 2, diskMegabytes: 1 } });
    await expect(build()).rejects.toThrow(/memory limit/);
    expect(await files()).toEqual([]);
    await engine.close();
    open();
    expect((await build()).partitions).toHaveLength(3);
  });
});
