/**
 * The host's own SQL is never evaluated on another tenant's row: an expression that would fail there does not fail, so
 * it reveals nothing.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { MetricDefinition, SqlDefinition } from '../../src/model/dashboard/metric.js';
import { type Builder, createBuilder, findKinds } from './test-databases.js';
import {
  byClients,
  columnRef,
  condition,
  createLoggedEngine,
  datamart,
  metric,
  type Place,
  question,
  refusalOf,
  table,
} from './world.js';

const definition = (sql: string): SqlDefinition => ({
  ...{ kind: 'sql', chart: { type: 'table' }, sql, dimensions: [], measures: [{ name: 'n' }], filters: [] },
  ...{ rlsVariables: [], sort: [], limit: null },
});

const columns = { owner: 'VARCHAR', note: 'VARCHAR', size: 'BIGINT' };
const custom = {
  ...{ columnName: 'number', datatype: '', alias: '', label: '', isHide: false, isApplyTimezone: false },
  ...{ isCustomColumn: true, sql: 'cast(note as int)' },
};
/**
 * A computed client column of a view cannot be filtered before the view is read, so the planner chooses the order of
 * conditions.
 */
const views = ['plain', 'computed'];
/** Views whose client column is in no table: the planner applies conditions on the other columns first. */
const derived: Readonly<Record<string, string>> = {
  joined: 'SELECT accounts.owner, times.moment FROM times JOIN accounts ON accounts.id = times.account',
  windowed:
    'SELECT max(owner) OVER (PARTITION BY moment) AS owner, moment FROM (SELECT owner, moment FROM times, accounts WHERE id = account) x',
  grouped:
    'SELECT max(owner) AS owner, moment FROM (SELECT owner, moment FROM times, accounts WHERE id = account) x GROUP BY moment',
};
const mart = datamart({
  tenancy: byClients(),
  tables: [
    ...views.map((name) => {
      const one = table(name, columns, 'owner');
      return { ...one, columns: [...one.columns, custom] };
    }),
    ...Object.keys(derived).map((name) => table(name, { owner: 'VARCHAR', moment: 'BIGINT' }, 'owner')),
    table('clients', { id: 'VARCHAR', name: 'VARCHAR' }),
  ],
});

const rows = Array.from({ length: 4000 }, (_, index): (string | number)[] =>
  index % 2 === 0 ? ['a', String(index), index] : ['b', `secret-${index}`, 0],
);

const kinds = (await findKinds()).filter((kind) => kind === 'DUCKDB' || kind === 'POSTGRES');

describe.each(kinds)('%s', (kind) => {
  const { engine, lines } = createLoggedEngine();
  let builder: Builder;
  let place: Place;

  beforeAll(async () => {
    builder = await createBuilder(kind);
    place = await builder.build('barrier', [
      { name: 'plain', columns, rows },
      { name: 'clients', columns: { id: 'VARCHAR', name: 'VARCHAR' }, rows: [['a', 'A']] },
      "CREATE VIEW computed AS SELECT lower(upper(owner) || '') AS owner, note, size FROM plain",
      {
        name: 'accounts',
        columns: { id: 'BIGINT', owner: 'VARCHAR' },
        rows: rows.map(([owner = ''], index) => [index, owner]),
      },
      // For tenant b, the text is no time.
      {
        name: 'times',
        columns: { account: 'BIGINT', moment: 'BIGINT' },
        rows: rows.map(([owner], index) => [
          index,
          owner === 'a' ? index : 9_000_000_000_000_000_000 - 2 ** 20 * index,
        ]),
      },
      ...Object.entries(derived).map(([name, sql]) => `CREATE VIEW ${name} AS ${sql}`),
    ]);
  });
  afterAll(async () => {
    await engine.close();
    await builder.remove();
  });

  const ask = async (asked: MetricDefinition, more = {}) =>
    (await engine.query(question(place, mart, 'a', asked, more))).rows.map((row) => Number(Object.values(row)[0]));

  // DuckDB does not move expressions that it knows to fail. It does not know this of these functions.
  const failing =
    kind === 'DUCKDB'
      ? ["epoch_ms(moment) >= '1970-01-01'", "substr('x', moment) >= ''"]
      : ['cast(moment as int) >= 0'];
  describe.each(Object.keys(derived))('%s', (view) => {
    test.each(failing)('a condition that could fail is evaluated on no excluded row: %s', async (where) => {
      expect(await ask(definition(`select count(*) as n from ${view} where ${where}`))).toEqual([2000]);
    });

    test('a custom column is evaluated on no excluded row', async () => {
      const sql = kind === 'DUCKDB' ? "substr('x', moment)" : 'cast(cast(moment as int) as text)';
      const tables = mart.tables.map((one) =>
        one.tableName === view ? { ...one, columns: [...one.columns, { ...custom, columnName: 'text', sql }] } : one,
      );
      const count = metric(view, { measures: [{ name: 'n', aggregate: 'COUNT' }] });
      const conditions = [condition(`${view}.text`, { kind: 'range', from: '', to: null, toIsExclusive: false })];
      const { rows: counted } = await engine.query(question(place, { ...mart, tables }, 'a', count, { conditions }));
      expect(counted).toEqual([{ n: 2000 }]);
    });
  });

  describe.each(views)('%s', (view) => {
    test.each([
      [`select count(*) as n from ${view} where cast(note as int) >= 0`, 2000],
      [`select max(cast(note as int)) as n from ${view}`, 3998],
      [`select count(*) as n from ${view} where size > 0 and 1 / size >= 0`, 1999],
      [`select count(*) as n from (select cast(note as int) as x from ${view}) q where x >= 0`, 2000],
      [`select count(*) as n from ${view} f join ${view} g on cast(f.note as int) = cast(g.note as int)`, 2000],
      [`select count(*) as n from ${view} where size in (select cast(note as int) from ${view})`, 2000],
      [
        `with x as (select * from ${view}) select count(*) as n from x where cast(note as int) >= 0 and size >= 0`,
        2000,
      ],
      [`select count(*) as n from ${view} where size = client_id_variable`, undefined],
    ])('a statement that could fail is evaluated on no excluded row: %s', async (sql, expected) => {
      const before = lines.length;
      if (expected !== undefined) expect(await ask(definition(sql))).toEqual([expected]);
      else expect((await refusalOf(() => ask(definition(sql)))).message).not.toContain('secret');
      const logged = JSON.stringify(lines.slice(before), (_, value) =>
        value instanceof Error ? value.message : value,
      );
      expect(logged).not.toContain('secret');
    });

    test('custom columns, expressions and conditions in SQL', async () => {
      const count = metric(view, { measures: [{ name: 'n', aggregate: 'COUNT' }] });
      const range = condition(`${view}.number`, { kind: 'range', from: 0, to: null, toIsExclusive: false });
      const inQuery = condition(`${view}.size`, {
        kind: 'inQuery',
        sql: `select cast(note as int) as x from ${view}`,
        columnName: 'x',
      });
      expect(await ask(count, { conditions: [range, inQuery] })).toEqual([2000]);
      expect(
        await ask(metric(view, { measures: [{ name: 'n', aggregate: 'MAX', column: columnRef(`${view}.number`) }] })),
      ).toEqual([3998]);
      expect(
        await ask(metric(view, { measures: [{ name: 'n', expression: `max(cast(${view}.note as int))` }] })),
      ).toEqual([3998]);
    });
  });
});
