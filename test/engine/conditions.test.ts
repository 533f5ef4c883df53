/** Trees of conditions: they test the joined rows before aggregation, for every kind of question. */

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ConditionTree, MetricDefinition, VisualDefinition } from '../../src/model/dashboard/metric.js';
import type { Condition } from '../../src/model/filter/filter.js';
import type { Engine, MetricQuestion } from '../../src/model/query/engine.js';
import { type Builder, createBuilder, findKinds, hasSql } from './test-databases.js';
import {
  at,
  byClients,
  columnRef,
  condition,
  createLoggedEngine,
  datamart,
  metric,
  type Place,
  question,
  refusalOf,
  relationship,
  table,
} from './world.js';

const orders = { id: 'BIGINT', client: 'VARCHAR', shop: 'VARCHAR', amount: 'BIGINT', note: 'VARCHAR' };
const lines = { order: 'BIGINT', client: 'VARCHAR', sku: 'VARCHAR', pieces: 'BIGINT' };
const shops = { code: 'VARCHAR', state: 'VARCHAR' };

const mart = datamart({
  tenancy: byClients(),
  sharedTables: ['shops'],
  tables: [
    table('clients', { id: 'VARCHAR', name: 'VARCHAR' }),
    table('orders', orders, 'client'),
    table('lines', lines, 'client'),
    table('shops', shops),
  ],
  relationships: [
    relationship('orders.shop', 'shops.code', 'LEFT JOIN', 'ManyToOne'),
    relationship('lines.order', 'orders.id', 'INNER JOIN', 'ManyToOne'),
  ],
});

const is = (path: string, value: string | number): Condition =>
  condition(path, { kind: 'compare', operator: '=', value });
const ids = [{ name: 'id', column: columnRef('orders.id') }] as const;

describe.each(await findKinds())('on %s', (kind) => {
  let builder: Builder;
  let place: Place;
  let engine: Engine;

  beforeAll(async () => {
    builder = await createBuilder(kind);
    place = await builder.build('conditions', [
      {
        name: 'clients',
        columns: { id: 'VARCHAR', name: 'VARCHAR' },
        rows: [
          ['a', 'A'],
          ['b', 'B'],
        ],
      },
      {
        name: 'orders',
        columns: orders,
        rows: [
          [1, 'a', 's1', 10, 'x'],
          [2, 'a', 's2', 20, null],
          [3, 'a', null, 30, 'y'],
          [4, 'a', 's1', null, 'z'],
          [5, 'b', 's1', 10, 'x'],
        ],
      },
      {
        name: 'lines',
        columns: lines,
        rows: [
          [1, 'a', 'p', 1],
          [1, 'a', 'q', 5],
          [2, 'a', 'p', 5],
          [3, 'b', 'p', 5],
          [5, 'b', 'p', 5],
        ],
      },
      {
        name: 'shops',
        columns: shops,
        rows: [
          ['s1', 'CA'],
          ['s2', 'NV'],
        ],
      },
    ]);
    ({ engine } = createLoggedEngine());
  });
  afterAll(async () => {
    await engine.close();
    await builder.remove();
  });

  const asked = (
    where: ConditionTree,
    definition: Partial<VisualDefinition> = {},
    parts: Partial<MetricQuestion> = {},
  ) => question(place, mart, 'a', metric('orders', { dimensions: ids, ...definition, where }), parts);
  const found = async (...given: Parameters<typeof asked>) =>
    (await engine.query(asked(...given))).rows.map((row) => Object.values(row)[0]);

  it.each<readonly [string, ConditionTree, readonly number[]]>([
    ['one test', is('orders.amount', 10), [1]],
    ['all', { all: [is('orders.shop', 's1'), is('orders.note', 'z')] }, [4]],
    ['any', { any: [is('orders.amount', 10), is('orders.note', 'y')] }, [1, 3]],
    [
      'any within all',
      { all: [{ any: [is('orders.amount', 10), is('orders.amount', 20)] }, is('orders.shop', 's2')] },
      [2],
    ],
    [
      'all within any',
      { any: [{ all: [is('orders.shop', 's1'), is('orders.amount', 10)] }, is('orders.note', 'y')] },
      [1, 3],
    ],
  ])('a group of conditions keeps the rows that it names: %s', async (_, where, expected) => {
    expect(await found(where)).toEqual(expected);
  });

  it('NULL passes no test except the test for NULL', async () => {
    const not = (path: string, value: string | number): Condition =>
      condition(path, { kind: 'noneOf', values: [value] });
    expect(await found({ any: [not('orders.amount', 10), not('orders.note', 'x')] })).toEqual([2, 3, 4]);
    expect(await found({ all: [not('orders.amount', 10), not('orders.note', 'x')] })).toEqual([3]);
    expect(await found({ any: [condition('orders.amount', { kind: 'isNull' }), is('orders.amount', 20)] })).toEqual([
      2, 4,
    ]);
  });

  describe('on a table that the metric does not join', () => {
    it('requires a matching row there, and repeats no row', async () => {
      expect(await found(is('lines.sku', 'p'))).toEqual([1, 2]);
      expect(await found({ any: [is('lines.sku', 'q'), is('orders.note', 'y')] })).toEqual([1, 3]);
      const count = { dimensions: [], measures: [{ name: 'n', aggregate: 'COUNT' }] } as const;
      expect(await found({ any: [is('lines.sku', 'p'), is('lines.sku', 'q')] }, count)).toEqual([2]);
      expect(await found(is('shops.state', 'CA'))).toEqual([1, 4]);
    });

    it('several in one `all` must be met by the same row; in an `any`, each may be met by another row', async () => {
      // Order 1 has a line with sku p and a line with five pieces, but not one line with both.
      const [p, five] = [is('lines.sku', 'p'), is('lines.pieces', 5)];
      expect(await found({ all: [p, five] })).toEqual([2]);
      expect(await found({ all: [{ any: [p] }, { any: [five] }] })).toEqual([1, 2]);
      expect(await found({ any: [p, five] })).toEqual([1, 2]);
    });

    it('sees no row of another tenant, anywhere in the tree', async () => {
      // Order 3 of tenant a has a line that belongs to tenant b.
      for (const where of [
        is('lines.pieces', 5),
        { any: [is('lines.pieces', 5)] },
        { any: [{ all: [is('lines.sku', 'p'), is('lines.pieces', 5)] }] },
      ]) {
        expect(await found(where)).not.toContain(3);
      }
      expect(await found({ any: [is('orders.client', 'b'), is('lines.client', 'b')] })).toEqual([]);
    });
  });

  it('tests the joined rows if the metric joins the table', async () => {
    const bySku = { dimensions: [{ name: 'sku', column: columnRef('lines.sku') }, ...ids] };
    expect(await found({ any: [is('lines.pieces', 1), is('orders.amount', 20)] }, bySku)).toEqual(['p', 'p']);
  });

  it('only narrows other conditions, and never widens them', async () => {
    const conditions = [is('orders.shop', 's1')];
    expect(await found({ any: [is('orders.amount', 10), is('orders.amount', 20)] }, {}, { conditions })).toEqual([1]);
  });

  it('applies to underlying rows and options too', async () => {
    const where: ConditionTree = { any: [is('lines.sku', 'q'), is('orders.note', 'y')] };
    const { rows } = await engine.underlying(
      asked(where, { underlying: [columnRef('orders.id'), columnRef('shops.state')] }),
    );
    expect(rows.map((row) => Object.values(row))).toEqual([
      [1, 'CA'],
      [3, null],
    ]);
    const options = (path: string, tree: ConditionTree) =>
      engine.options({ ...asked(tree), column: at(place, columnRef(path)), search: null });
    expect(await options('orders.note', where)).toEqual(['x', 'y']);
    expect(await options('lines.sku', is('orders.amount', 10))).toEqual(['p', 'q']);
    expect(await options('lines.sku', { any: [is('lines.pieces', 1), is('orders.amount', 20)] })).toEqual(['p']);
  });

  it('an empty group and an unknown column are refused', async () => {
    expect(await refusalOf(() => found({ any: [] }))).toMatchObject({ reason: 'group-empty' });
    expect(await refusalOf(() => found({ all: [{ any: [is('orders.hidden', 1)] }] }))).toMatchObject({
      reason: 'column-not-in-datamart',
    });
    expect(await refusalOf(() => found({ any: [is('orders.amount', 'x')] }))).toMatchObject({
      reason: 'value-of-wrong-type',
    });
  });

  describe('a restriction that the caller may not know', () => {
    const odd = (sql: string) => ({
      ...{ columnName: 'odd', datatype: '', alias: '', label: '', isHide: false, isApplyTimezone: false },
      ...{ isCustomColumn: true, sql },
    });
    const others = mart.tables.filter(({ tableName }) => tableName !== 'shops');
    const withShops = (parts: object): typeof mart => ({
      ...mart,
      tables: [...others, { ...table('shops', shops), ...parts }],
    });
    const marts = {
      'no relationship': { ...mart, relationships: [] },
      'a client column that is gone': withShops({ clientColumn: 'gone' }),
      'a column of its path that is gone': withShops({ columns: table('shops', { state: 'VARCHAR' }).columns }),
      'a custom column that aggregates': withShops({
        columns: [...table('shops', shops).columns, odd('count(state)')],
      }),
      'a custom column of another table': withShops({
        columns: [...table('shops', shops).columns, odd('nowhere.state')],
      }),
    };
    const inSql = (sql: string): MetricDefinition => ({
      ...{ kind: 'sql', chart: { type: 'table' }, sql, dimensions: [], measures: [{ name: 'n' }], filters: [] },
      ...{ rlsVariables: [], sort: [], limit: null },
    });
    const definitions: Readonly<Record<string, MetricDefinition>> = {
      'a visual metric': metric('orders', { dimensions: ids }),
      ...(!hasSql(kind) ? {} : { 'a metric in SQL': inSql('select count(*) as n from orders') }),
    };

    describe.each(Object.entries(definitions))('on %s', (_, definition) => {
      it.each(Object.entries(marts))(
        'the refusal of a restriction that the caller may not know names nothing: %s',
        async (fault, of) => {
          const hidden = { ...is(fault.includes('custom') ? 'shops.odd' : 'shops.state', 'CA'), isHidden: true };
          const { message, reason } = await refusalOf(() =>
            engine.query(question(place, of, 'a', definition, { conditions: [hidden] })),
          );
          expect(message).not.toMatch(/shops|state|odd|gone|nowhere|code/);
          expect(reason).toMatch(/^restriction-/);
        },
      );
    });

    it.runIf(hasSql(kind))(
      'the refusal of a restriction that the caller may not know names nothing if SQL reads further tables',
      async () => {
        const definition = inSql('select count(*) as n from (select * from orders) o');
        const conditions = [{ ...is('shops.state', 'CA'), isHidden: true }];
        expect(
          await refusalOf(() => engine.query(question(place, mart, 'a', definition, { conditions }))),
        ).toMatchObject({ reason: 'restriction-sql-condition', message: expect.not.stringMatching(/shops|state/) });
      },
    );
  });
});
