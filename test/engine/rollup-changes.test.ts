/** Which changes of closed periods a build notices without being told to build all, on each database that rollups are built of. */
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { rollupSources } from '../../src/engine/rollups/sources.js';
import type { Datamart, RollupRefresh } from '../../src/model/datamart/datamart.js';
import type { Engine } from '../../src/model/query/engine.js';
import { createBuilder, findKinds, type TableData } from './test-databases.js';
import {
  at,
  byClients,
  columnRef,
  createLoggedEngine,
  datamart,
  metric,
  type Place,
  processes,
  question,
  refusalOf,
  stays,
  table,
  tableRef,
} from './world.js';

const columns = {
  ...{ client: 'VARCHAR', region: 'VARCHAR', qty: 'BIGINT', sold: 'DATE' },
  ...{ version: 'BIGINT', changed: 'TIMESTAMP', moment: 'TIMESTAMP WITH TIME ZONE' },
};
type Row = TableData['rows'][number];
/** Written at this second of a day. */
const row = (client: string, region: string, qty: number, sold: string, second: number): Row => {
  const time = `2024-06-10 10:00:0${second}`;
  return [client, region, qty, sold, second, time, `${time}+00`];
};
const rows: readonly Row[] = [
  row('acme', 'north', 1, '2024-01-05', 1),
  row('acme', 'south', 2, '2024-01-06', 2),
  row('zeta', 'north', 100, '2024-01-07', 3),
  row('acme', 'north', 4, '2024-05-07', 4),
];
const dataOf = (all: readonly Row[]): readonly TableData[] => [
  { name: 'clients', columns: { id: 'VARCHAR', name: 'VARCHAR' }, rows: [] },
  { name: 'sales', columns, rows: all },
];

const mart = (refresh: Partial<RollupRefresh>): Datamart =>
  datamart({
    ...{ tenancy: byClients() },
    tables: [table('sales', columns, 'client'), table('clients', { id: 'VARCHAR', name: 'VARCHAR' })],
    rollups: [
      {
        ...{ name: 'by day', from: tableRef('sales'), dimensions: ['region'], grain: 'day' },
        measures: [{ aggregate: 'SUM', column: 'qty' }],
        partition: { column: 'sold', by: 'month', closesAfterHours: 24 },
        refresh: { everyMinutes: 60, again: 0, ...refresh },
      },
    ],
  });
const byRegion = metric('sales', {
  dimensions: [{ name: 'region', column: columnRef('sales.region') }],
  measures: [{ name: 'sum', aggregate: 'SUM', column: columnRef('sales.qty') }],
  sort: [{ name: 'region', direction: 'ASC' }],
});

const kinds = (await findKinds()).filter((kind) => kind in rollupSources);

describe.each(kinds)('on %s', (kind) => {
  let folder: string;
  let builder: Awaited<ReturnType<typeof createBuilder>>;
  let place: Place;
  let engine: Engine;
  const now = new Date('2024-06-16T10:00:00Z');
  const open = (): void => {
    const limits = { memoryMegabytes: 128, diskMegabytes: 128 };
    ({ engine } = createLoggedEngine({
      clock: { now: () => now },
      rollups: { folder, processes, limits, tailRows: 10 },
    }));
  };
  const build = async (of: Datamart, isWhole = false) => {
    const placed = at(place, of);
    const [rollup] = placed.rollups ?? [];
    if (rollup === undefined || engine.rollups === null) throw new Error('no rollup');
    await engine.rollups.build({ datasource: place.datasource, datamart: placed, rollup, isWhole }, stays);
  };
  const ask = async (of: Datamart, clientId = 'acme') => {
    const answer = await engine.query(question(place, of, clientId, byRegion));
    expect(answer.asOf).toBeDefined();
    return answer.rows.map(({ region, sum }) => `${region} ${sum}`);
  };
  let fills = 0;
  /** In the same place: DuckDB's file is replaced while nobody reads it. */
  const fill = async (all: readonly Row[]): Promise<void> => {
    fills += 1;
    const filled = await builder.refill(`filled${fills}`, place, dataOf(all));
    if (!('path' in filled.datasource) || !('path' in place.datasource)) return;
    await engine.close();
    await copyFile(filled.datasource.path, place.datasource.path);
    open();
  };

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'guestlist-rollups-'));
    builder = await createBuilder(kind);
    place = await builder.build('sales', dataOf(rows));
    open();
  });
  afterEach(async () => {
    await engine.close();
    await builder.remove();
    await rm(folder, { recursive: true, force: true });
  });

  it('notices a row that came while another went, if the sum of a measure tells', async () => {
    const of = mart({});
    await build(of);
    await fill([row('acme', 'north', 11, '2024-01-05', 5), ...rows.slice(1)]);
    expect(await ask(of)).toEqual(['north 5', 'south 2']);
    await build(of);
    expect(await ask(of)).toEqual(['north 15', 'south 2']);
  });

  // A row of zeta becomes one of acme, one changes its region, and one comes while an equal one of another day goes.
  const moved: readonly Row[] = [
    row('acme', 'south', 1, '2024-01-05', 5),
    row('acme', 'south', 2, '2024-01-08', 6),
    row('acme', 'north', 100, '2024-01-07', 7),
    ...rows.slice(3),
  ];

  it('does not notice what leaves the number of rows and the sums as they are, until all is built', async () => {
    const of = mart({});
    await build(of);
    await fill(moved);
    await build(of);
    expect(await ask(of)).toEqual(['north 5', 'south 2']);
    await build(of, true);
    expect(await ask(of)).toEqual(['north 104', 'south 3']);
    expect(await ask(of, 'zeta')).toEqual([]);
  });

  it.each(['version', 'changed', 'moment'])(
    'notices each change by a column that rises with it: %s',
    async (column) => {
      const of = mart({ changeColumn: column });
      await build(of);
      await fill(moved);
      expect(await ask(of)).toEqual(['north 5', 'south 2']);
      await build(of);
      expect(await ask(of)).toEqual(['north 104', 'south 3']);
      expect(await ask(of, 'zeta')).toEqual([]);
      // A transaction that began before another one, and ended after the build.
      await fill([row('acme', 'east', 1, '2024-01-05', 6), ...moved.slice(1)]);
      await build(of);
      expect(await ask(of)).toEqual(['east 1', 'north 104', 'south 2']);
    },
  );

  it('refuses a column of days, which does not rise with each change', async () => {
    const { code, message } = await refusalOf(() => build(mart({ changeColumn: 'sold' })));
    expect([code, message]).toEqual(['INVALID_REQUEST_BODY', expect.stringContaining('"sold"')]);
  });
});
