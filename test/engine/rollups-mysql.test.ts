/** What MySQL and MariaDB compare otherwise than a file: a rollup keeps it as the source does, or is refused. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Dimension, Measure } from '../../src/model/dashboard/metric.js';
import type { Datamart, Rollup } from '../../src/model/datamart/datamart.js';
import type { Condition, Predicate } from '../../src/model/filter/filter.js';
import type { Engine, MetricAnswer } from '../../src/model/query/engine.js';
import { type Builder, createBuilder, findKinds } from './test-databases.js';
import {
  at,
  byClients,
  columnRef,
  condition,
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
  ...{ client: 'varchar(190)', name: 'varchar(190)', paid: 'tinyint(1)', big: 'bigint unsigned', key: 'uuid' },
  ...{ amount: 'decimal(12,2)', huge: 'decimal(65,2)', made: 'year', sold: 'date', at: 'datetime(6)' },
};
const create = `CREATE TABLE sales (${Object.entries(columns)
  .map(([name, type]) => `"${name}" ${type}`)
  .join(', ')})`;
const rows = [
  ["'acme'", "'north'", 1, '18446744073709551615', '0.10', '2024-01-05', '2024-01-05 10:00:00.25'],
  ["'ACME'", "'north'", 1, '1', '100.00', '2024-01-05', '2024-01-05'],
  ["'acme '", "'north'", 1, '1', '100.00', '2024-01-05', '2024-01-05'],
  ["'acme'", "'North'", 0, '1', '0.20', '2024-01-06', '2024-01-06'],
  ["'acme'", "'nórth '", 'NULL', '2', '-3.50', '2024-02-05', '2024-02-05'],
  ["'acme'", "'north '", 1, '3', '1.00', '0000-00-00', '0000-00-00'],
  ["'acme'", "'north'", 1, '4', '1.00', '2024-00-05', '2024-01-00'],
  ["'acme'", "'north'", 1, '5', '1.00', '0000-05-03', '0000-05-03'],
  ["'acme'", 'NULL', 0, '18446744073709551615', '2.00', '2024-06-05', '2024-06-05'],
];
const insert = `INSERT INTO sales VALUES ${rows
  .map(([client, name, paid, big, amount, sold, at]) => {
    const values = [client, name, paid, big, 'uuid()', amount, amount, 2024, `'${sold}'`, `'${at}'`];
    return `(${values.join(', ')})`;
  })
  .join(', ')}`;

const rollup: Rollup = {
  ...{ name: 'by day', from: tableRef('sales'), dimensions: ['name', 'paid', 'made', 'big'], grain: 'day' },
  measures: [
    { aggregate: 'SUM', column: 'big' },
    { aggregate: 'AVG', column: 'amount' },
    { aggregate: 'MAX', column: 'huge' },
    { aggregate: 'MIN', column: 'at' },
  ],
  partition: { column: 'sold', by: 'month', closesAfterHours: 24 },
  refresh: { everyMinutes: 60, again: 1 },
};

const mart = (parts: Partial<Rollup> = {}, isBoolean = true): Datamart => {
  const sales = table('sales', columns, 'client');
  const kind = isBoolean ? 'boolean' : 'integer';
  const typed = sales.columns.map((column) => (column.columnName === 'paid' ? ({ ...column, kind } as const) : column));
  return datamart({
    ...{ tenancy: byClients(), rollups: [{ ...rollup, ...parts }] },
    tables: [{ ...sales, columns: typed }, table('clients', { id: 'VARCHAR', name: 'VARCHAR' })],
  });
};

describe.runIf((await findKinds()).includes('MYSQL'))('on MySQL', () => {
  let folder: string;
  let builder: Builder;
  let place: Place;
  let engine: Engine;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'guestlist-rollups-'));
    builder = await createBuilder('MYSQL');
    place = await builder.build('sales', [
      { name: 'clients', columns: { id: 'VARCHAR', name: 'VARCHAR' }, rows: [] },
      create,
      insert,
    ]);
    const limits = { memoryMegabytes: 128, diskMegabytes: 128 };
    const clock = { now: () => new Date('2024-06-16T10:00:00Z') };
    ({ engine } = createLoggedEngine({ clock, rollups: { folder, processes, limits, tailRows: 10 } }));
  });
  afterEach(async () => {
    await engine.close();
    await builder.remove();
    await rm(folder, { recursive: true, force: true });
  });
  const build = async (of: Datamart) => {
    const datamart = at(place, of);
    const [one = rollup] = datamart.rollups ?? [];
    return engine.rollups?.build({ datasource: place.datasource, datamart, rollup: one, isWhole: false }, stays);
  };
  type Asked = { readonly dimensions?: readonly Dimension[]; readonly conditions?: readonly Condition[] };
  /** The answer of the rollup, which is that of the source. */
  const kept = async (measure: Measure, asked: Asked = {}, of: Datamart = mart()) => {
    const { dimensions = [], conditions = [] } = asked;
    const definition = metric('sales', {
      ...{ dimensions, measures: [measure] },
      sort: dimensions.map(({ name }) => ({ name, direction: 'ASC' as const })),
    });
    const answer = (rollups: Datamart['rollups'] = []): Promise<MetricAnswer> =>
      engine.query(question(place, { ...of, rollups }, 'acme', definition, { conditions }));
    const { asOf, ...answered } = await answer(of.rollups);
    expect(asOf).toBeDefined();
    expect(answered).toEqual(await answer());
    return answered.rows.map((row) => Object.values(row));
  };
  const by = (column: keyof typeof columns): Dimension => ({ name: column, column: columnRef(`sales.${column}`) });
  const count: Measure = { name: 'rows', aggregate: 'COUNT' };
  const of = (aggregate: 'SUM' | 'AVG' | 'MIN' | 'MAX', column: keyof typeof columns): Measure => ({
    ...{ name: 'of', aggregate, column: columnRef(`sales.${column}`) },
  });

  it('groups and compares texts by their bytes, whatever the collation of the column says', async () => {
    await build(mart());
    const groups = [
      ['North', 1],
      ['north', 3],
      ['north ', 1],
      ['nórth ', 1],
      [null, 1],
    ];
    expect(await kept(count, { dimensions: [by('name')] })).toEqual(groups);
    const named = (predicate: Predicate) => kept(count, { conditions: [condition('sales.name', predicate)] });
    expect(await named({ kind: 'oneOf', values: ['north'] })).toEqual([[3]]);
    expect(await named({ kind: 'noneOf', values: ['NORTH', 'north '] })).toEqual([[5]]);
  });

  it('sums unsigned numbers of 64 bits and decimals exactly', async () => {
    await build(mart());
    expect(await kept(of('SUM', 'big'))).toEqual([['36893488147419103245']]);
    expect(await kept(of('SUM', 'amount'))).toEqual([[1.8]]);
    expect(await kept(of('AVG', 'amount'))).toEqual([[1.8 / 7]]);
    expect(await kept(of('MAX', 'huge'))).toEqual([[2]]);
    expect(await kept(count, { dimensions: [by('big')] })).toHaveLength(6);
    const greatest = condition('sales.big', { kind: 'oneOf', values: ['18446744073709551615'] });
    expect(await kept(count, { conditions: [greatest] })).toEqual([[2]]);
  });

  it('keeps a tinyint(1) as the datamart declares it, and the year of a column of years', async () => {
    await build(mart());
    expect(await kept(count, { dimensions: [by('paid')] })).toEqual([
      [false, 2],
      [true, 4],
      [null, 1],
    ]);
    expect(await kept(count, { dimensions: [by('made')] })).toEqual([[2024, 7]]);
    const numbers = mart({ measures: [{ aggregate: 'SUM', column: 'paid' }] }, false);
    expect((await engine.query(question(place, numbers, 'acme', metric('sales', { measures: [count] })))).asOf).toBe(
      undefined,
    );
    await build(numbers);
    expect(await kept(of('SUM', 'paid'), {}, numbers)).toEqual([[4]]);
  });

  it('takes a date without a year, month or day for none', async () => {
    await build(mart());
    const months: Dimension = { ...by('sold'), grain: 'month' };
    const groups = [
      ['2024-01-01', 2],
      ['2024-02-01', 1],
      ['2024-06-01', 1],
      [null, 3],
    ];
    expect(await kept(count, { dimensions: [months] })).toEqual(groups);
    expect(await kept(count, { conditions: [condition('sales.sold', { kind: 'isNull' })] })).toEqual([[3]]);
    expect(await kept(of('MIN', 'at'))).toEqual([['2024-01-05T10:00:00.25']]);
  });

  it('refuses what a file orders otherwise or cannot hold', async () => {
    expect((await refusalOf(() => build(mart({ dimensions: ['key'] })))).message).toContain('"key"');
    await builder.run?.(place, [`UPDATE sales SET huge = 1e40 WHERE client = 'ACME'`]);
    const { code, message } = await refusalOf(() => build(mart()));
    expect([code, message]).toEqual(['INVALID_REQUEST_BODY', expect.stringContaining('a value of huge (max)')]);
  });

  it('refuses views and tables of rows of elsewhere, and keeps nothing of what was built before', async () => {
    await build(mart());
    expect(await kept(count)).toEqual([[7]]);
    await builder.run?.(place, [
      'RENAME TABLE sales TO stored',
      'CREATE VIEW sales AS SELECT * FROM stored WHERE CURRENT_USER() IS NOT NULL',
    ]);
    expect((await refusalOf(() => build(mart()))).message).toContain('is a view or reads rows of elsewhere');
    const counted = metric('sales', { measures: [count] });
    expect((await engine.query(question(place, mart(), 'acme', counted))).asOf).toBeUndefined();
    const one = create.replace('sales', 'one').replace(' uuid', ' char(36)');
    await builder.run?.(place, [
      'DROP VIEW sales',
      `${one} ENGINE = MyISAM`,
      `${one.replace('TABLE one', 'TABLE sales')} ENGINE = MERGE UNION = (one)`,
    ]);
    expect((await refusalOf(() => build(mart()))).message).toContain('is a view or reads rows of elsewhere');
  });
});
