/** What a rollup may not do: outlive its declaration, come back after an erasure, hide the open time, or fail a question. */
import { mkdtemp, readdir, readFile, rm, truncate, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { EngineOptions } from '../../src/engine/engine.js';
import { rollupSources } from '../../src/engine/rollups/sources.js';
import type { ConditionTree, Measure, VisualDefinition } from '../../src/model/dashboard/metric.js';
import { noColumnRules, withColumnRules } from '../../src/model/datamart/column-rules.js';
import type { Datamart, Rollup } from '../../src/model/datamart/datamart.js';
import type { Condition } from '../../src/model/filter/filter.js';
import type { Engine, KeptRollup } from '../../src/model/query/engine.js';
import { createRunningWork } from '../../src/platform/work/running-work.js';
import { createBuilder, findKinds, type TableData } from './test-databases.js';
import {
  at,
  byClients,
  columnRef,
  condition,
  createLoggedEngine,
  datamart,
  type LogLine,
  metric,
  type Place,
  processes,
  question,
  refusalOf,
  stays,
  table,
  tableRef,
} from './world.js';

const columns = { client: 'VARCHAR', region: 'VARCHAR', qty: 'BIGINT', weight: 'DOUBLE', sold: 'DATE' };
const rows = [
  ['acme', 'north', 1, 0.5, '2024-01-05'],
  ['acme', 'south', 2, 0.5, '2024-02-05'],
  ['acme', 'north', 4, 0.5, '2024-06-05'],
  ['acme', 'south', 8, 0.5, null],
  ['zeta', 'north', 100, 0.5, '2024-01-06'],
  ['zeta', 'north', 200, 0.5, '2024-06-06'],
] as const;
const dataOf = (all: TableData['rows']): readonly TableData[] => [
  { name: 'clients', columns: { id: 'VARCHAR', name: 'VARCHAR' }, rows: [] },
  { name: 'sales', columns, rows: all },
];

const rollup: Rollup = {
  ...{ name: 'by day', from: tableRef('sales'), dimensions: ['region'], grain: 'day' },
  measures: [{ aggregate: 'SUM', column: 'qty' }],
  partition: { column: 'sold', by: 'month', closesAfterHours: 24 },
  refresh: { everyMinutes: 60, again: 1 },
};
const mart = (parts: Partial<Datamart> = {}): Datamart =>
  datamart({
    ...{ tenancy: byClients(), rollups: [rollup] },
    tables: [table('sales', columns, 'client'), table('clients', { id: 'VARCHAR', name: 'VARCHAR' })],
    ...parts,
  });
const total = metric('sales', { measures: [{ name: 'sum', aggregate: 'SUM', column: columnRef('sales.qty') }] });

const kinds = (await findKinds()).filter((kind) => kind in rollupSources);

describe.each(kinds)('on %s', (kind) => {
  let folder: string;
  let builder: Awaited<ReturnType<typeof createBuilder>>;
  let place: Place;
  let engine: Engine;
  let lines: readonly LogLine[];
  let now: Date;
  const open = async (options: Partial<EngineOptions> = {}, tailRows = 10, fileRows = 1): Promise<void> => {
    const limits = { memoryMegabytes: 128, diskMegabytes: 128, fileRows };
    const clock = { now: () => now };
    ({ engine, lines } = createLoggedEngine({ clock, rollups: { folder, processes, limits, tailRows }, ...options }));
  };
  const build = (
    of: Datamart = mart(),
    isWhole = false,
    signal: AbortSignal = stays,
  ): Promise<KeptRollup | undefined> => {
    const { datasource } = place;
    const placed = at(place, of);
    const [one] = placed.rollups ?? [];
    if (one === undefined || engine.rollups === null) throw new Error('no rollup');
    return engine.rollups.build({ datasource, datamart: placed, rollup: one, isWhole }, signal);
  };
  const ask = async (
    clientId = 'acme',
    of: Datamart = mart(),
    conditions: readonly Condition[] = [],
    definition: VisualDefinition = total,
  ) => {
    const answer = await engine.query(question(place, of, clientId, definition, { conditions }));
    return { sum: answer.rows[0]?.sum ?? null, isKept: answer.asOf !== undefined };
  };
  const fill = async (all: TableData['rows']): Promise<void> => {
    place = await builder.refill(`filled${all.length}`, place, dataOf(all));
  };
  const files = async (): Promise<readonly string[]> =>
    (await readdir(folder, { recursive: true, encoding: 'utf8' })).filter((file) => file.endsWith('.parquet'));

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'guestlist-rollups-'));
    now = new Date('2024-06-16T10:00:00Z');
    builder = await createBuilder(kind);
    place = await builder.build('sales', dataOf(rows));
    await open();
  });
  afterEach(async () => {
    await engine.close();
    await builder.remove();
    await rm(folder, { recursive: true, force: true });
  });

  it('answers from the closed periods, and from the source for the open time and rows without a time', async () => {
    expect(await ask()).toEqual({ sum: 15, isKept: false });
    expect(await build()).toMatchObject({ closedUntil: '2024-06-01' });
    expect(await ask()).toEqual({ sum: 15, isKept: true });
    expect(await ask('zeta')).toEqual({ sum: 300, isKept: true });
    const closed = condition('sales.sold', { kind: 'range', from: null, to: '2024-03-01', toIsExclusive: true });
    expect(await ask('acme', mart(), [closed])).toEqual({ sum: 3, isKept: true });
    expect(await ask('acme', mart(), [condition('sales.sold', { kind: 'isNull' })])).toEqual({ sum: 8, isKept: true });
  });

  it('holds every restriction of the token, and asks the source where its column is not kept', async () => {
    await build();
    const north: Condition = {
      ...condition('sales.region', { kind: 'oneOf', values: ['north'] }),
      ...{ restriction: 'always', isOfToken: true },
    };
    const everywhere: Condition = { ...north, restriction: 'whereRead' };
    expect(await ask('acme', mart(), [north])).toEqual({ sum: 5, isKept: true });
    expect(await ask('acme', mart(), [everywhere])).toEqual({ sum: 5, isKept: true });
    const light: Condition = {
      ...condition('sales.weight', { kind: 'compare', operator: '<', value: 0.1 }),
      restriction: 'always',
    };
    expect(await ask('acme', mart(), [light])).toEqual({ sum: null, isKept: false });
    const ruled = (rules: Partial<typeof noColumnRules>) =>
      withColumnRules(at(place, mart()), { ...noColumnRules, ...rules });
    const hidden = { hideColumns: [`${place.schemaName}.sales.region`] };
    const masked = { maskColumns: { [`${place.schemaName}.sales.region`]: 'first' } };
    const answer = async (datamart: Datamart, conditions: readonly Condition[]) => {
      const asked = { ...question(place, mart(), 'acme', total, { conditions }), datamart };
      const {
        rows: [row],
        asOf,
      } = await engine.query(asked);
      return { sum: row?.sum ?? null, isKept: asOf !== undefined };
    };
    expect(await answer(ruled(hidden), [])).toEqual({ sum: 15, isKept: true });
    // The token's own condition reads stored values, the guest's reads the mask: both are left to the source.
    expect(await answer(ruled(hidden), [north])).toEqual({ sum: 5, isKept: false });
    expect(await answer(ruled(masked), [condition('sales.region', { kind: 'oneOf', values: ['n'] })])).toEqual({
      sum: 5,
      isKept: false,
    });
  });

  it("holds the author's own filter, in every form that it may have", async () => {
    await build();
    const north: ConditionTree = { column: columnRef('sales.region'), predicate: { kind: 'oneOf', values: ['north'] } };
    const closed: ConditionTree = {
      column: columnRef('sales.sold'),
      predicate: { kind: 'range', from: null, to: '2024-03-01', toIsExclusive: true },
    };
    const where = (tree: ConditionTree) => ask('acme', mart(), [], { ...total, where: tree });
    expect(await where(north)).toEqual({ sum: 5, isKept: true });
    expect(await where({ all: [north, closed] })).toEqual({ sum: 1, isKept: true });
    expect(await where({ any: [north, closed] })).toEqual({ sum: 7, isKept: true });
    const light: ConditionTree = {
      column: columnRef('sales.weight'),
      predicate: { kind: 'compare', operator: '<', value: 0.1 },
    };
    expect(await where({ any: [north, light] })).toEqual({ sum: 5, isKept: false });
  });

  it('asks the source for a range that begins or ends within a kept period', async () => {
    const monthly = mart({ rollups: [{ ...rollup, grain: 'month' }] });
    await build(monthly);
    const during = (from: string | null, to: string | null) =>
      ask('acme', monthly, [condition('sales.sold', { kind: 'range', from, to, toIsExclusive: true })]);
    expect(await during('2024-01-01', '2024-03-01')).toEqual({ sum: 3, isKept: true });
    expect(await during('2024-01-05', '2024-03-01')).toEqual({ sum: 3, isKept: false });
    expect(await during('2024-01-06', '2024-03-01')).toEqual({ sum: 2, isKept: false });
    expect(await during(null, '2024-02-05')).toEqual({ sum: 1, isKept: false });
    expect(await during(null, '2024-02-06')).toEqual({ sum: 3, isKept: false });
  });

  it('asks the source for a finer time than it keeps', async () => {
    const monthly = mart({ rollups: [{ ...rollup, grain: 'month' }] });
    await build(monthly);
    const by = async (grain: 'day' | 'week' | 'month' | 'year') => {
      const dimensions = [{ name: 'by', column: columnRef('sales.sold'), grain }];
      const { rows: found, asOf } = await engine.query(
        question(place, monthly, 'acme', { ...total, dimensions, sort: [{ name: 'by', direction: 'ASC' }] }),
      );
      const starts = found.flatMap((row) => (row.by === null ? [] : String(row.by).slice(0, 10)));
      return { starts, isKept: asOf !== undefined };
    };
    expect(await by('month')).toEqual({ starts: ['2024-01-01', '2024-02-01', '2024-06-01'], isKept: true });
    expect(await by('year')).toEqual({ starts: ['2024-01-01'], isKept: true });
    expect(await by('day')).toEqual({ starts: ['2024-01-05', '2024-02-05', '2024-06-05'], isKept: false });
    expect(await by('week')).toEqual({ starts: ['2024-01-01', '2024-02-05', '2024-06-03'], isKept: false });
  });

  it('asks the source for a measure of some rows, and counts all rows from the files', async () => {
    const counted = mart({ rollups: [{ ...rollup, measures: [{ aggregate: 'SUM', column: 'qty' }] }] });
    await build(counted);
    const indicator = { kind: 'compare', operator: '>=', value: 4 } as const;
    const some = { column: columnRef('sales.qty'), indicator };
    const measured = (measure: Measure) => ask('acme', counted, [], { ...total, measures: [measure] });
    expect(await measured({ name: 'sum', aggregate: 'COUNT' })).toEqual({ sum: 4, isKept: true });
    expect(await measured({ name: 'sum', aggregate: 'SUM', ...some })).toEqual({ sum: 2, isKept: false });
    expect(await measured({ name: 'sum', aggregate: 'AVG', ...some })).toEqual({ sum: 0.5, isKept: false });
  });

  it('asks the source where the open time has more groups than the bound', async () => {
    await engine.close();
    await open({}, 1);
    await build();
    expect(await ask('zeta')).toEqual({ sum: 300, isKept: true });
    expect(await ask('acme')).toEqual({ sum: 15, isKept: false });
  });

  it('asks the source after a change of declaration, base filters, client column or table, until it is built', async () => {
    await build();
    const [sales, clients] = mart().tables as [Datamart['tables'][number], Datamart['tables'][number]];
    const changed = (parts: object) => mart({ tables: [{ ...sales, ...parts }, clients] });
    const filtered = changed({
      baseFilters: [{ columnName: 'region', predicate: { kind: 'oneOf', values: ['north'] } }],
    });
    expect(await ask('acme', filtered)).toEqual({ sum: 5, isKept: false });
    await build(filtered);
    expect(await ask('acme', filtered)).toEqual({ sum: 5, isKept: true });
    expect(await ask('acme')).toEqual({ sum: 15, isKept: false });
    const other = mart({ rollups: [{ ...rollup, dimensions: ['region', 'client'] }] });
    expect((await ask('acme', other)).isKept).toBe(false);
    expect(await ask('north', changed({ clientColumn: 'region' }))).toEqual({ sum: 305, isKept: false });
  });

  it('counts a late row of a closed period after the next build, and a row of the open time at once', async () => {
    await build();
    await fill([...rows, ['acme', 'north', 1000, 0.5, '2024-01-07'], ['acme', 'north', 20_000, 0.5, '2024-06-07']]);
    // The DuckDB file is another one, so nothing is kept of it yet.
    expect(await ask()).toEqual(kind === 'DUCKDB' ? { sum: 21_015, isKept: false } : { sum: 20_015, isKept: true });
    await build();
    expect(await ask()).toEqual({ sum: 21_015, isKept: true });
    expect(await ask('zeta')).toEqual({ sum: 300, isKept: true });
  });

  it('gives no cached answer of an earlier build', async () => {
    await engine.close();
    const cache = {
      secret: Buffer.alloc(32, 1),
      clock: { now: () => now },
      ttlSeconds: 3600,
      maxBytes: 1e6,
      shared: null,
    };
    await open({ cache });
    await build();
    expect((await ask()).sum).toBe(15);
    if (kind !== 'DUCKDB') await fill([...rows, ['acme', 'north', 1000, 0.5, '2024-01-07']]);
    else now = new Date('2024-07-16T10:00:00Z');
    const before = (await engine.query(question(place, mart(), 'acme', total))).asOf;
    await build(mart(), true);
    expect(await ask()).toEqual({ sum: kind === 'DUCKDB' ? 15 : 1015, isKept: true });
    if (kind === 'DUCKDB') expect((await engine.query(question(place, mart(), 'acme', total))).asOf).not.toBe(before);
  });

  // January has rows of both tenants, and February of one.
  it.each([
    { fileRows: 1, made: 3 },
    { fileRows: 100, made: 2 },
  ])(
    'removes an erased tenant from all of $made files, keeps it out of later builds, and asks the source',
    async ({ fileRows, made }) => {
      await engine.close();
      await open({}, 10, fileRows);
      await build();
      expect(await files()).toHaveLength(made);
      await engine.eraseFromRollups('acme');
      const left = async () => {
        const entries = await readdir(folder, { recursive: true, withFileTypes: true });
        const all = entries
          .filter((one) => one.isFile())
          .map((one) => readFile(join(one.parentPath, one.name), 'latin1'));
        return (await Promise.all(all)).some((text) => text.includes('acme'));
      };
      expect(await left()).toBe(false);
      expect(await files()).toHaveLength(1);
      expect(await ask('acme')).toEqual({ sum: 15, isKept: false });
      expect(await ask('zeta')).toEqual({ sum: 300, isKept: true });
      await build(mart(), true);
      expect(await left()).toBe(false);
      expect(await ask('acme')).toEqual({ sum: 15, isKept: false });
      expect(await ask('zeta')).toEqual({ sum: 300, isKept: true });
    },
  );

  it('leaves the earlier files in force where a build is cut off, fails or is refused', async () => {
    await build();
    await expect(build(mart(), true, AbortSignal.abort(new Error('the process ends')))).rejects.toThrow();
    expect(await ask()).toEqual({ sum: 15, isKept: true });
    expect(
      (await readdir(folder, { recursive: true, encoding: 'utf8' })).filter((file) => file.endsWith('lock')),
    ).toEqual([]);
    const floats = mart({ rollups: [{ ...rollup, measures: [{ aggregate: 'SUM', column: 'weight' }] }] });
    const { code, message } = await refusalOf(() => build(floats));
    expect([code, message]).toEqual(['INVALID_REQUEST_BODY', expect.stringContaining('"weight"')]);
    expect(await ask()).toEqual({ sum: 15, isKept: true });
  });

  it('lets one builder write at a time, and takes the lock of a killed one away', async () => {
    await build();
    const [manifest = ''] = (await readdir(folder, { recursive: true, encoding: 'utf8' })).filter((file) =>
      file.endsWith('manifest.json'),
    );
    const lock = join(folder, manifest.replace('manifest.json', 'lock'));
    await writeFile(lock, 'another process');
    await utimes(lock, now, now);
    expect((await refusalOf(() => build())).reason).toBe('rollup-busy');
    const killed = new Date(now.getTime() - 600_000);
    await utimes(lock, killed, killed);
    expect(await build()).toMatchObject({ closedUntil: '2024-06-01' });
  });

  it('keeps nothing of a rollup that is declared no more', async () => {
    await build();
    await engine.rollups?.keepOnly([{ datamart: mart(), rollup }]);
    expect(await ask()).toEqual({ sum: 15, isKept: true });
    await engine.rollups?.keepOnly([{ datamart: mart(), rollup: { ...rollup, name: 'another' } }]);
    expect(await files()).toEqual([]);
    expect(await ask()).toEqual({ sum: 15, isKept: false });
  });

  it('gives a download the rows of the files, and those of the source where they are more than an answer may have', async () => {
    const byRegion = metric('sales', {
      dimensions: [{ name: 'region', column: columnRef('sales.region') }],
      measures: [{ name: 'sum', aggregate: 'SUM', column: columnRef('sales.qty') }],
      sort: [{ name: 'region', direction: 'ASC' }],
    });
    const rowsOf = async () => {
      const { columns: named, batches } = await engine.stream(question(place, mart(), 'acme', byRegion));
      const found: (readonly unknown[])[] = [];
      for await (const batch of batches) found.push(...batch);
      return { names: named.map(({ name }) => name), rows: found };
    };
    const names = ['region', 'sum'];
    const plain = [
      ['north', 5],
      ['south', 10],
    ];
    expect(await rowsOf()).toEqual({ names, rows: plain });
    await build();
    expect(await rowsOf()).toEqual({ names, rows: plain });
    // A late row of a closed period tells the files from the source. Another file of DuckDB is another source.
    if (kind === 'DUCKDB') return;
    await fill([...rows, ['acme', 'north', 1000, 0.5, '2024-01-07']]);
    expect(await rowsOf()).toEqual({ names, rows: plain });
    await engine.close();
    await open({ limits: { answerRows: 10, answerBytes: 60 } });
    expect(await rowsOf()).toEqual({
      names,
      rows: [
        ['north', 1005],
        ['south', 10],
      ],
    });
  });

  it('gives a download of kept rows in the turn of its client too, where an operator can end it', async () => {
    const many = Array.from({ length: 3_000 }, (_, at) => ['acme', `r${at}`, 1, 0.5, '2024-01-05'] as const);
    await fill(many);
    await build();
    await engine.close();
    const running = createRunningWork({ now: () => now });
    await open({ running, queue: { running: 1, waiting: 1 } });
    const closed = condition('sales.sold', { kind: 'range', from: null, to: '2024-03-01', toIsExclusive: true });
    const byRegion = { ...total, dimensions: [{ name: 'region', column: columnRef('sales.region') }] };
    const download = () => engine.stream(question(place, mart(), 'acme', byRegion, { conditions: [closed] }));
    const works = () => running.list().filter((one) => one.kind === 'download');
    const first = await download();
    expect(works()).toMatchObject([{ kind: 'download', clientId: 'acme', canEnd: true }]);
    // The reader takes nothing: a second one waits, and a third one is refused.
    const second = download();
    await vi.waitFor(() => expect(works()).toHaveLength(2));
    expect(await refusalOf(download)).toMatchObject({ code: 'METRIC_QUERY_ERROR', reason: 'query-line-full' });
    expect(running.end({ kind: 'download', number: works()[0]?.number ?? 0 })).toBe(true);
    const readAll = async ({ batches }: Awaited<typeof second>): Promise<number> => {
      let read = 0;
      for await (const batch of batches) read += batch.length;
      return read;
    };
    expect(await refusalOf(() => readAll(first))).toMatchObject({ reason: 'ended-by-operator' });
    expect(await readAll(await second)).toBe(3_000);
    expect(works()).toEqual([]);
  });

  it('reads no file that has rows of other tenants alone', async () => {
    await build();
    const found = await readdir(folder, { recursive: true, encoding: 'utf8' });
    const manifest = found.find((file) => file.endsWith('manifest.json')) ?? '';
    type Kept = { readonly partitions: readonly { readonly files: readonly { file: string; clients: string[] }[] }[] };
    const { partitions }: Kept = JSON.parse(await readFile(join(folder, manifest), 'utf8'));
    const others = partitions.flatMap(({ files: all }) => all.filter(({ clients }) => clients[0] !== 'acme'));
    expect(others.map(({ clients }) => clients)).toEqual([['zeta', 'zeta']]);
    for (const { file } of others) await truncate(join(folder, manifest, '..', file), 3);
    expect(await ask('acme')).toEqual({ sum: 15, isKept: true });
    expect(await ask('zeta')).toEqual({ sum: 300, isKept: false });
  });

  it('lets the source answer where a file is damaged, and says so in the log', async () => {
    await build();
    for (const file of await files()) await truncate(join(folder, file), 3);
    expect(await ask()).toEqual({ sum: 15, isKept: false });
    expect(lines.map(({ details }) => details)).toContainEqual(expect.objectContaining({ event: 'rollup.failed' }));
  });
});

describe.runIf(kinds.includes('POSTGRES'))('on PostgreSQL', () => {
  it('asks the source for a number of more digits than a file compares', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'guestlist-rollups-'));
    const builder = await createBuilder('POSTGRES');
    const place = await builder.build('long', dataOf(rows));
    const limits = { memoryMegabytes: 128, diskMegabytes: 128 };
    const clock = { now: () => new Date('2024-06-16T10:00:00Z') };
    const { engine, lines } = createLoggedEngine({ clock, rollups: { folder, processes, limits, tailRows: 10 } });
    const one = { ...rollup, dimensions: ['qty'] };
    const of = mart({ rollups: [one] });
    try {
      const { datasource } = place;
      const placed = at(place, of);
      const [declared = one] = placed.rollups ?? [];
      await engine.rollups?.build({ datasource, datamart: placed, rollup: declared, isWhole: false }, stays);
      const equal = async (value: string) => {
        const conditions = [condition('sales.qty', { kind: 'compare', operator: '=', value })];
        const { rows: found, asOf } = await engine.query(question(place, of, 'acme', total, { conditions }));
        return { sum: found[0]?.sum ?? null, isKept: asOf !== undefined };
      };
      expect(await equal('4')).toEqual({ sum: 4, isKept: true });
      expect(await equal(`4.${'0'.repeat(80)}1`)).toEqual({ sum: null, isKept: false });
      expect(lines).toEqual([]);
    } finally {
      await engine.close();
      await builder.remove();
      await rm(folder, { recursive: true, force: true });
    }
  });

  it('refuses tables behind row-level security and views, and keeps nothing of what was built before', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'guestlist-rollups-'));
    const builder = await createBuilder('POSTGRES');
    const place = await builder.build('secured', [...dataOf(rows), 'CREATE VIEW seen AS SELECT * FROM sales']);
    const limits = { memoryMegabytes: 128, diskMegabytes: 128 };
    const clock = { now: () => new Date('2024-06-16T10:00:00Z') };
    const { engine } = createLoggedEngine({ clock, rollups: { folder, processes, limits, tailRows: 10 } });
    const build = (of: Datamart) => {
      const placed = at(place, of);
      const [one] = placed.rollups ?? [];
      if (one === undefined || engine.rollups === null) throw new Error('no rollup');
      return engine.rollups.build(
        { datasource: place.datasource, datamart: placed, rollup: one, isWhole: false },
        stays,
      );
    };
    try {
      const view = { ...table('seen', columns, 'client') };
      const ofView = mart({ tables: [view, ...mart().tables], rollups: [{ ...rollup, from: tableRef('seen') }] });
      expect((await refusalOf(() => build(ofView))).message).toContain('is a view');
      await build(mart());
      expect((await engine.query(question(place, mart(), 'acme', total))).asOf).toBeDefined();
      await builder.run?.(place, [
        'ALTER TABLE sales ENABLE ROW LEVEL SECURITY',
        'ALTER TABLE sales FORCE ROW LEVEL SECURITY',
        'CREATE POLICY own ON sales USING (false)',
        `CREATE ROLE gl_rollups_${process.pid} LOGIN PASSWORD 'secret'`,
        `GRANT USAGE ON SCHEMA main TO gl_rollups_${process.pid}`,
        `GRANT SELECT ON ALL TABLES IN SCHEMA main TO gl_rollups_${process.pid}`,
      ]);
      const { datasource } = place;
      if (datasource.datasourceType !== 'POSTGRES') throw new Error('another database');
      const limited = { ...datasource, username: `gl_rollups_${process.pid}`, password: 'secret' };
      const placed = at(place, mart());
      const [one = rollup] = placed.rollups ?? [];
      const asked = { datasource: limited, datamart: placed, rollup: one };
      expect((await refusalOf(() => engine.rollups?.assertOpen(asked, stays))).message).toContain('row-level security');
      expect((await engine.query(question(place, mart(), 'acme', total))).asOf).toBeUndefined();
      const { message } = await refusalOf(() =>
        engine.rollups?.build({ datasource: limited, datamart: placed, rollup: one, isWhole: false }, stays),
      );
      expect(message).toContain('row-level security');
      expect((await engine.query(question(place, mart(), 'acme', total))).asOf).toBeUndefined();
    } finally {
      await builder.run?.(place, [`DROP OWNED BY gl_rollups_${process.pid}`, `DROP ROLE gl_rollups_${process.pid}`]);
      await engine.close();
      await builder.remove();
      await rm(folder, { recursive: true, force: true });
    }
  });
});
