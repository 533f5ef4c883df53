/**
 * No question counts a row that the token hides: each answer equals the answer of a database without the hidden rows.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { MetricDefinition, VisualDefinition } from '../../src/model/dashboard/metric.js';
import type { Condition } from '../../src/model/filter/filter.js';
import type { Engine, MetricQuestion } from '../../src/model/query/engine.js';
import { type Builder, createBuilder, findSqlKinds } from './test-databases.js';
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
  relationship,
  rowsOf,
  table,
} from './world.js';

const customers = { id: 'VARCHAR', client: 'VARCHAR', region: 'VARCHAR' };
const shops = { code: 'VARCHAR', client: 'VARCHAR', state: 'VARCHAR' };
const orders = {
  ...{ id: 'BIGINT', client: 'VARCHAR', customer: 'VARCHAR', shop: 'VARCHAR' },
  ...{ status: 'VARCHAR', note: 'VARCHAR' },
};
const items = { id: 'BIGINT', client: 'VARCHAR', order: 'BIGINT', product: 'VARCHAR' };
const products = { code: 'VARCHAR', client: 'VARCHAR', name: 'VARCHAR' };
const kinds = { customers, shops, orders, items, products };

const mart = datamart({
  tenancy: byClients(),
  tables: [
    table('clients', { id: 'VARCHAR', name: 'VARCHAR' }),
    ...Object.entries(kinds).map(([name, columns]) => table(name, columns, 'client')),
  ],
  relationships: [
    relationship('orders.customer', 'customers.id'),
    relationship('orders.shop', 'shops.code'),
    relationship('items.order', 'orders.id'),
    relationship('items.product', 'products.code'),
  ],
});

/** Ann has a public and a secret order. The bomb is on Ann's secret order and on Bob's public one. */
const rows: Readonly<Record<keyof typeof kinds, readonly (readonly (string | number | null)[])[]>> = {
  customers: [
    ['ann', 'a', 'EU'],
    ['bob', 'a', 'US'],
    ['cleo', 'a', 'EU'],
    ['twin', 'a', 'EU'],
    ['twin', 'a', 'US'],
  ],
  shops: [
    ['s1', 'a', 'CA'],
    ['s2', 'a', 'NV'],
  ],
  orders: [
    [1, 'a', 'ann', 's1', 'public', 'open'],
    [2, 'a', 'ann', 's2', 'secret', 'hush'],
    [3, 'a', 'bob', 's1', 'public', 'for bob'],
    [4, 'a', 'cleo', 's2', 'secret', 'hidden'],
    [5, 'a', 'twin', 's2', 'public', null],
  ],
  items: [
    [1, 'a', 1, 'p1'],
    [2, 'a', 2, 'p2'],
    [3, 'a', 3, 'p2'],
    [4, 'a', 4, 'p3'],
  ],
  products: [
    ['p1', 'a', 'Pen'],
    ['p2', 'a', 'Bomb'],
    ['p3', 'a', 'Ink'],
  ],
};

const is = (path: string, value: string | number): Condition =>
  condition(path, { kind: 'compare', operator: '=', value });
const token = (path: string, value: string): Condition => ({
  ...condition(path, { kind: 'oneOf', values: [value] }),
  restriction: 'always',
  isHidden: true,
});
const whereRead = (path: string, value: string): Condition => ({ ...token(path, value), restriction: 'whereRead' });
const [onlyPublic, onlyEurope] = [token('orders.status', 'public'), token('customers.region', 'EU')];

const listOf = (tableName: string, columnName: string, parts: Partial<VisualDefinition> = {}): VisualDefinition =>
  metric(tableName, { dimensions: [{ name: 'k', column: columnRef(`${tableName}.${columnName}`) }], ...parts });
const ids = listOf('customers', 'id');
const codes = listOf('products', 'code');
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
    place = await builder.build('hidden', [
      { name: 'clients', columns: { id: 'VARCHAR', name: 'VARCHAR' }, rows: [['a', 'A']] },
      ...Object.entries(kinds).map(([name, columns]) => ({ name, columns, rows: rows[name as keyof typeof kinds] })),
    ]);
    ({ engine } = createLoggedEngine());
  });
  afterAll(async () => {
    await engine.close();
    await builder.remove();
  });

  const asked = (definition: MetricDefinition, conditions: readonly Condition[], parts: Partial<MetricQuestion> = {}) =>
    question(place, mart, 'a', definition, { conditions, ...parts });
  const keys = async (...given: Parameters<typeof asked>): Promise<readonly unknown[]> =>
    (await engine.query(asked(...given))).rows.map(({ k }) => k);

  describe.each<readonly [string, VisualDefinition, MetricDefinition]>([
    ['customers', ids, inSql('select c.id as k from customers c')],
    ['products', codes, inSql('select p.code as k from products p')],
  ])('of %s', (name, visual, written) => {
    const isOfCustomers = name === 'customers';

    it.each<readonly [string, readonly Condition[], readonly string[], readonly string[]]>([
      ["the token's own conditions", [onlyPublic], ['ann', 'bob', 'twin', 'twin'], ['p1', 'p2']],
      ['two that lead through one row', [onlyPublic, onlyEurope], ['ann', 'twin'], ['p1']],
      ['two that part at one row', [token('shops.state', 'CA'), onlyEurope], ['ann'], ['p1']],
      ['a filter beyond', [onlyPublic, is('products.name', 'Bomb')], ['bob'], ['p2']],
      ['a filter on the same table', [onlyPublic, is('orders.note', 'hush')], [], []],
      ['a filter on another way', [onlyPublic, is('shops.state', 'NV')], ['twin', 'twin'], []],
      ['a filter on the way', [token('products.name', 'Pen'), is('orders.shop', 's2')], [], []],
      ['a condition that holds where its table is read', [whereRead('orders.status', 'public')], [], []],
      [
        'the same, read by a filter',
        [whereRead('orders.status', 'public'), is('orders.shop', 's2')],
        ['twin', 'twin'],
        [],
      ],
      [
        'the same, read on the way',
        [whereRead('orders.status', 'public'), is('products.name', 'Bomb'), is('customers.region', 'US')],
        ['bob'],
        ['p2'],
      ],
    ])(
      'rows that a condition hides are hidden from every question: %s',
      async (_, conditions, ofCustomers, ofProducts) => {
        const all = isOfCustomers ? ['ann', 'bob', 'cleo', 'twin', 'twin'] : ['p1', 'p2', 'p3'];
        const isOpen = conditions.length === 1 && conditions[0]?.restriction === 'whereRead';
        const expected = isOpen ? all : isOfCustomers ? ofCustomers : ofProducts;
        expect(await keys(visual, conditions)).toEqual([...new Set(expected)]);
        expect([...(await keys(written, conditions))].sort()).toEqual(expected);
      },
    );
  });

  it("the metric's own filter reveals no letter of a hidden text", async () => {
    const starting = (pattern: string): Condition => condition('orders.note', { kind: 'like', pattern });
    const found = (pattern: string, conditions: readonly Condition[] = [onlyPublic]) =>
      keys({ ...ids, where: { any: [starting(pattern), is('products.name', 'Ink')] } }, conditions);
    expect([await found('h%', []), await found('h%'), await found('o%')]).toEqual([['ann', 'cleo'], [], ['ann']]);
    const both = { all: [starting('hush'), is('orders.shop', 's2')] };
    expect(await keys({ ...ids, where: both }, [onlyEurope])).toEqual(['ann']);
    expect(await keys({ ...ids, where: both }, [onlyEurope, onlyPublic])).toEqual([]);
  });

  it('groups are kept only by visible rows', async () => {
    const measures = [{ name: 'n', aggregate: 'COUNT' as const }];
    const predicate = { kind: 'compare', operator: '>=', value: 1 } as const;
    const having = { measure: 'n', predicate };
    const bombs = [is('products.name', 'Bomb')];
    expect(await keys({ ...ids, measures, having }, [...bombs, onlyPublic])).toEqual(['bob']);
    expect(await keys({ ...ids, measures, having }, bombs)).toEqual(['ann', 'bob']);
  });

  it('options come only from visible rows', async () => {
    const options = (path: string, conditions: readonly Condition[]) =>
      engine.options({ ...asked(ids, conditions), column: at(place, columnRef(path)), search: null });
    expect(await options('products.name', [onlyPublic])).toEqual(['Bomb', 'Pen']);
    expect(await options('products.name', [onlyPublic, onlyEurope])).toEqual(['Pen']);
    expect(await options('shops.state', [token('products.name', 'Pen')])).toEqual(['CA']);
    expect(await options('orders.note', [onlyPublic, is('products.name', 'Bomb')])).toEqual(['for bob']);
    expect(await options('orders.note', [whereRead('orders.status', 'public')])).toEqual(['for bob', 'open']);
  });

  it('a looked-up row must be visible, even if the declared cardinality is wrong', async () => {
    const notes = listOf('orders', 'id', { underlying: ['orders.id', 'customers.region'].map(columnRef) });
    const beneath = async (conditions: readonly Condition[]) =>
      (await engine.underlying(asked(notes, [is('orders.status', 'public'), ...conditions]))).rows.map((row) =>
        Object.values(row),
      );
    const twins = [
      [5, 'EU'],
      [5, 'US'],
    ];
    expect(await beneath([])).toEqual([[1, 'EU'], [3, 'US'], ...twins]);
    expect(await beneath([onlyEurope])).toEqual([
      [1, 'EU'],
      [5, 'EU'],
    ]);
    expect(await beneath([whereRead('customers.region', 'EU')])).toEqual([
      [1, 'EU'],
      [3, null],
      [5, 'EU'],
    ]);
  });

  it('rows behind a looked-up row must be visible too', async () => {
    const chained = {
      ...mart,
      relationships: [relationship('items.order', 'orders.id'), relationship('orders.customer', 'customers.id')],
    };
    const parts = { datamart: chained };
    const found = listOf('items', 'id', { underlying: ['items.id', 'orders.note'].map(columnRef) });
    const beneath = async (conditions: readonly Condition[]) =>
      (await engine.underlying({ ...asked(found, conditions), ...at(place, parts) })).rows.map((row) =>
        Object.values(row),
      );
    expect(await beneath([onlyEurope])).toEqual([
      [1, 'open'],
      [2, 'hush'],
      [4, 'hidden'],
    ]);
    expect(await beneath([onlyEurope, onlyPublic])).toEqual([[1, 'open']]);
    // The relationship says that a shop has one order, but it has several. Each shown order must belong to a visible
    // customer.
    const untrue = {
      ...mart,
      relationships: [relationship('shops.code', 'orders.shop'), relationship('orders.customer', 'customers.id')],
    };
    const perShop = listOf('shops', 'code', { underlying: ['shops.code', 'orders.note'].map(columnRef) });
    const { rows: shown } = await engine.underlying({
      ...asked(perShop, [onlyEurope, is('shops.code', 's1')]),
      ...at(place, { datamart: untrue }),
    });
    expect(shown).toEqual([{ code: 's1', note: 'open' }]);
  });

  it('a download and a worksheet contain no hidden rows', async () => {
    const conditions = [onlyPublic, is('products.name', 'Bomb')];
    expect(await rowsOf(await engine.stream(asked(ids, conditions)))).toEqual([['bob']]);
    expect(await keys(ids, conditions, { joinModel: 'single' })).toEqual(['bob']);
  });

  it('if a filter has several columns, only the columns on tables that the metric reads apply, with and without SQL', async () => {
    const mappedTo = ['customers.id', 'orders.customer'].map(columnRef);
    const filter = (parts: Partial<Condition> = {}): readonly Condition[] =>
      mappedTo.map((column) => ({ column, predicate: { kind: 'oneOf', values: ['ann', 'cleo'] }, mappedTo, ...parts }));
    const both = ['ann', 'cleo'];
    const written = inSql('select c.id as k from customers c');
    const without = { ...mart, relationships: [] };
    const apart = async (definition: MetricDefinition, conditions: readonly Condition[]) =>
      (await engine.query({ ...asked(definition, conditions), ...at(place, { datamart: without }) })).rows.map(
        ({ k }) => k,
      );
    for (const definition of [ids, written]) {
      expect([...(await keys(definition, filter()))].sort()).toEqual(both);
      expect([...(await apart(definition, filter()))].sort()).toEqual(both);
      expect([...(await apart(definition, filter({ restriction: 'always' })))].sort()).toEqual(both);
    }
    // The metric reads neither table, so both conditions apply. The token's condition that was not selected still hides
    // rows of its own table.
    expect(await keys(codes, filter())).toEqual(['p1', 'p2', 'p3']);
    const notes = { ...ids, where: is('orders.note', 'for bob') };
    const picked = filter({ restriction: 'always' }).map((one) => ({ ...one, predicate: onlyBob }));
    expect(await keys(notes, picked)).toEqual(['bob']);
    const hidden = picked.map((one) => (one.column.tableName === 'orders' ? { ...one, predicate: onlyAnn } : one));
    expect(await keys(notes, hidden)).toEqual([]);
  });

  it('rows that SQL reads in a subquery must be visible too', async () => {
    const written = inSql(
      "select o.id as k from orders o where exists (select 1 from products p where p.name = 'Ink') or o.shop in (select s.code from shops s where s.state = 'NV')",
    );
    const found = async (conditions: readonly Condition[]) => [...(await keys(written, conditions))].map(Number).sort();
    expect(await found([])).toEqual([1, 2, 3, 4, 5]);
    // The ink is only on a secret order.
    expect(await found([onlyPublic])).toEqual([5]);
    expect(await found([token('orders.note', 'open')])).toEqual([]);
    expect(await found([onlyPublic, whereRead('shops.state', 'CA')])).toEqual([]);
  });

  it('a drill counts as reading the tables before it, and a guest filters the own table of the metric alone', async () => {
    const filterOn = (paths: readonly string[], parts: Partial<Condition> = {}): readonly Condition[] => {
      const mappedTo = paths.map(columnRef);
      const predicate = { kind: 'oneOf', values: ['public', 'ann'] } as const;
      return mappedTo.map((column) => ({ column, predicate, mappedTo, ...parts }));
    };
    const perShop = listOf('orders', 'shop');
    const drilled = { readBefore: [columnRef('customers.id')] };
    const own = ['customers.id', 'orders.status'];
    expect(await keys(perShop, filterOn(own))).toEqual(['s1', 's2']);
    expect(await keys(perShop, filterOn(own), drilled)).toEqual(['s1', 's2']);
    expect(await keys(perShop, filterOn(own, { restriction: 'always' }))).toEqual(['s1', 's2']);
    expect(await keys(perShop, filterOn(own, { restriction: 'always' }), drilled)).toEqual(['s1']);
    const others = ['customers.id', 'items.product'];
    expect(await keys(perShop, filterOn(others))).toEqual([]);
    expect(await keys(perShop, filterOn(others), drilled)).toEqual(['s1', 's2']);
  });

  it('a filter with several columns applies to the tables that an expression reads', async () => {
    const perShop = listOf('orders', 'shop');
    const other = ['items.product', 'customers.region'].map(columnRef);
    const pens = other.map(
      (column): Condition => ({ column, predicate: { kind: 'oneOf', values: ['p1', 'US'] }, mappedTo: other }),
    );
    expect(await keys(perShop, pens)).toEqual([]);
    const inner = mart.relationships.map((one) => ({ ...one, join: 'INNER JOIN' as const }));
    const counted = { ...perShop, measures: [{ name: 'n', expression: 'count(items.id)' }] };
    const parts = at(place, { datamart: { ...mart, relationships: inner } });
    const { rows: shown } = await engine.query({ ...asked(counted, pens), ...parts });
    expect(shown).toEqual([{ k: 's1', n: 1 }]);
  });
});

const onlyBob = { kind: 'oneOf', values: ['bob'] } as const;
const onlyAnn = { kind: 'oneOf', values: ['ann'] } as const;
