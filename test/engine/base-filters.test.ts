/** Base filters of tables, in every kind of read. The random cases: test/isolation/base-filters.test.ts. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { MetricDefinition } from '../../src/model/dashboard/metric.js';
import { withColumnRules } from '../../src/model/datamart/column-rules.js';
import type { BaseFilter, Datamart, DatamartTable } from '../../src/model/datamart/datamart.js';
import type { Condition } from '../../src/model/filter/filter.js';
import type { Engine, MetricQuestion } from '../../src/model/query/engine.js';
import { systemClock } from '../../src/platform/work/time.js';
import { type Builder, createBuilder, findSqlKinds } from './test-databases.js';
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
  relationship,
  table,
  tableRef,
} from './world.js';

const orders = { id: 'BIGINT', org: 'VARCHAR', amount: 'BIGINT', deleted_at: 'TIMESTAMP', is_test: 'BOOLEAN' };
const lines = { id: 'BIGINT', order_id: 'BIGINT', product: 'BIGINT' };
const products = { id: 'BIGINT', name: 'VARCHAR', archived: 'DATE' };
const filters = {
  orders: [
    { columnName: 'deleted_at', predicate: { kind: 'isNull' } },
    { columnName: 'is_test', predicate: { kind: 'compare', operator: '=', value: false } },
  ],
  products: [{ columnName: 'archived', predicate: { kind: 'isNull' } }],
} satisfies Record<string, readonly BaseFilter[]>;

const filtered = (made: DatamartTable, baseFilters: readonly BaseFilter[]): DatamartTable => ({ ...made, baseFilters });
const made = table('orders', orders, 'org');
const doubled = {
  ...{ columnName: 'doubled', sql: 'amount * 2', isCustomColumn: true, datatype: '', alias: '', label: '' },
  ...{ isHide: false, isApplyTimezone: false },
};
const mart = datamart({
  tenancy: byClients(),
  tables: [
    table('clients', { id: 'VARCHAR', name: 'VARCHAR' }),
    filtered({ ...made, columns: [...made.columns, doubled] }, filters.orders),
    table('lines', lines),
    filtered(table('products', products), filters.products),
  ],
  relationships: [relationship('lines.order_id', 'orders.id'), relationship('lines.product', 'products.id')],
  sharedTables: ['main.products'],
});
const then = '2024-01-01 00:00:00';
const data = {
  orders: [
    [1, 'a', 10, null, false],
    [2, 'a', 20, then, false],
    [3, 'a', 40, null, true],
    [4, 'a', 80, null, null],
    [5, 'b', 10, null, false],
  ],
  lines: [
    [1, 1, 1],
    [2, 2, 1],
    [3, 3, 2],
    [4, 1, 2],
  ],
  products: [
    [1, 'Pen', null],
    [2, 'Ink', '2024-01-01'],
  ],
};
const sum = metric('orders', { measures: [{ name: 'n', aggregate: 'SUM', column: columnRef('orders.amount') }] });
const byProduct = metric('lines', {
  dimensions: [{ name: 'k', column: columnRef('products.name') }],
  measures: [{ name: 'n', aggregate: 'COUNT' }],
});
const inSql = (sql: string): MetricDefinition => ({
  ...{ kind: 'sql', chart: { type: 'table' }, sql, dimensions: [{ name: 'k' }], measures: [], filters: [] },
  ...{ rlsVariables: [], sort: [], limit: null },
});

describe.each(await findSqlKinds())('on %s', (kind) => {
  let builder: Builder;
  let place: Place;
  let engine: Engine;
  beforeAll(async () => {
    builder = await createBuilder(kind);
    place = await builder.build('filtered', [
      { name: 'clients', columns: { id: 'VARCHAR', name: 'VARCHAR' }, rows: [['a', 'A']] },
      { name: 'orders', columns: orders, rows: data.orders },
      { name: 'lines', columns: lines, rows: data.lines },
      { name: 'products', columns: products, rows: data.products },
    ]);
    const secret = Buffer.alloc(32, 1);
    const cache = { secret, clock: systemClock, ttlSeconds: 60, maxBytes: 1_000_000, shared: null };
    ({ engine } = createLoggedEngine({ cache }));
  });
  afterAll(async () => {
    await engine.close();
    await builder.remove();
  });
  const rowsOf = async (definition: MetricDefinition, parts: Partial<MetricQuestion> = {}, of: Datamart = mart) => {
    const { rows } = await engine.query(question(place, of, 'a', definition, parts));
    return rows.map((row) => Object.values(row).map((value) => (value === null ? null : String(value)))).sort();
  };

  it('a metric counts the rows that pass every base filter, and NULL passes none but isNull', async () => {
    expect(await rowsOf(sum)).toEqual([['10']]);
    expect(await rowsOf(inSql('SELECT amount AS k FROM orders'))).toEqual([['10']]);
  });

  it('a metric of an author is without the filters of the tables that it names, and of no other', async () => {
    const open = { withoutBaseFilters: [tableRef('orders')] };
    expect(await rowsOf({ ...sum, ...open })).toEqual([['150']]);
    expect(await rowsOf(sum)).toEqual([['10']]);
    expect(await rowsOf({ ...inSql('SELECT amount AS k FROM orders'), ...open })).toHaveLength(4);
    expect(await rowsOf({ ...byProduct, ...open })).toEqual(await rowsOf(byProduct));
  });

  it('a joined row that fails a filter is like one that does not exist', async () => {
    expect(await rowsOf(byProduct)).toEqual([
      [null, '2'],
      ['Pen', '2'],
    ]);
  });

  it('rows keep their tenant though the row that gives it fails a filter', async () => {
    expect(await rowsOf(metric('lines', { measures: [{ name: 'n', aggregate: 'COUNT' }] }))).toEqual([['4']]);
  });

  it('conditions, options and rows behind a metric see no other rows', async () => {
    const conditions = [condition('orders.amount', { kind: 'compare', operator: '>', value: 15 })];
    expect(await rowsOf(byProduct, { conditions })).toEqual([]);
    const asked = { ...question(place, mart, 'a', sum), search: null };
    const column = { ...columnRef('orders.amount'), schemaName: place.schemaName };
    expect((await engine.options({ ...asked, column })).map(String)).toEqual(['10']);
    const rows = metric('orders', { ...sum, underlying: [columnRef('orders.id')] });
    expect((await engine.underlying(question(place, mart, 'a', rows))).rows).toHaveLength(1);
  });

  it('custom columns are computed from rows that pass', async () => {
    const definition = metric('orders', { dimensions: [{ name: 'k', column: columnRef('orders.doubled') }] });
    expect(await rowsOf(definition)).toEqual([['20']]);
  });

  it('a filter holds on a column that the token hides, and on one that the datamart does not list', async () => {
    const hidden = withColumnRules(mart, {
      hideColumns: ['main.orders.is_test'],
      maskColumns: { 'main.orders.deleted_at': 'null' },
    });
    expect(await rowsOf(sum, {}, hidden)).toEqual([['10']]);
    const unlisted = datamart({
      ...mart,
      tables: mart.tables.map((one) => ({
        ...one,
        columns: one.columns.filter(({ columnName }) => columnName !== 'is_test'),
      })),
    });
    expect(await rowsOf(sum, {}, unlisted)).toEqual([['10']]);
  });

  it("the token's own SQL reads filtered rows, also for a metric without filters", async () => {
    const predicate = { kind: 'inQuery', sql: 'SELECT id FROM orders', columnName: 'id' } as const;
    const token = { ...condition('orders.id', predicate), restriction: 'always', isOfToken: true } as const;
    const open = { ...sum, withoutBaseFilters: [tableRef('orders')] };
    expect(await rowsOf(open, { conditions: [token] })).toEqual([['10']]);
  });

  it('a row that a base filter leaves out makes nothing visible under a restriction, also for a metric without filters', async () => {
    const predicate = { kind: 'compare', operator: '>', value: 15 } as const;
    const token = { ...condition('orders.amount', predicate), restriction: 'always', isOfToken: true } as const;
    const open = { withoutBaseFilters: [tableRef('orders')] };
    for (const definition of [byProduct, inSql('SELECT product AS k FROM lines')]) {
      expect(await rowsOf({ ...definition, ...open })).toHaveLength(definition === byProduct ? 2 : 4);
      expect(await rowsOf({ ...definition, ...open }, { conditions: [token] })).toEqual([]);
    }
  });

  it('a joined row that a base filter leaves out makes no other joined row visible under a restriction', async () => {
    const token = (predicate: Condition['predicate'], path = 'orders.id'): Condition => ({
      ...condition(path, predicate),
      ...{ restriction: 'always', isOfToken: true },
    });
    const open = { withoutBaseFilters: [tableRef('orders')] };
    const byOrder = metric('lines', {
      dimensions: [
        { name: 'l', column: columnRef('lines.id') },
        { name: 'o', column: columnRef('orders.id') },
      ],
      ...open,
    });
    // Line 3 is of order 3, which is a test: no row that counts makes it visible. Line 1 and 4 are of order 1.
    const few = token({ kind: 'oneOf', values: [1, 3] });
    expect(await rowsOf(byOrder)).toHaveLength(4);
    expect(await rowsOf(byOrder, { conditions: [few] })).toEqual([
      ['1', '1'],
      ['4', '1'],
    ]);
    // The order itself is there, for the metric that is about such orders.
    const orderIds = metric('orders', { dimensions: [{ name: 'o', column: columnRef('orders.id') }], ...open });
    expect(await rowsOf(orderIds, { conditions: [few] })).toEqual([['1'], ['3']]);
    // Nor does such a line answer for the order when a user asks by it.
    const ofInk = [few, condition('lines.product', { kind: 'compare', operator: '=', value: 2 })];
    expect(await rowsOf(orderIds, { conditions: ofInk })).toEqual([['1']]);
    expect(await rowsOf({ ...inSql('SELECT id AS k FROM orders'), ...open }, { conditions: ofInk })).toEqual([['1']]);
  });

  it('a filter that fits no more is refused by a reason that hides its names from guests', async () => {
    const of = (columnName: string, predicate: BaseFilter['predicate']): Datamart => ({
      ...mart,
      tables: mart.tables.map((one) =>
        one.tableName === 'orders' ? { ...one, baseFilters: [{ columnName, predicate }] } : one,
      ),
    });
    const gone = await refusalOf(() => rowsOf(sum, {}, of('gone', { kind: 'isNull' })));
    expect(gone).toMatchObject({ reason: 'base-filter-unfit' });
    const text = { kind: 'compare', operator: '=', value: 'x' } as const;
    expect(await refusalOf(() => rowsOf(sum, {}, of('amount', text)))).toMatchObject({ reason: 'base-filter-unfit' });
  });
});
