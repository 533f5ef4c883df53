/** The host's own SQL does not count rows that the token hides. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { MetricDefinition, VisualDefinition } from '../../src/model/dashboard/metric.js';
import type { Condition } from '../../src/model/filter/filter.js';
import type { Engine, MetricQuestion } from '../../src/model/query/engine.js';
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
  relationship,
  table,
} from './world.js';

const customers = { id: 'VARCHAR', client: 'VARCHAR', region: 'VARCHAR' };
const orders = {
  id: 'BIGINT',
  client: 'VARCHAR',
  customer: 'VARCHAR',
  status: 'VARCHAR',
  total: 'BIGINT',
  payer: 'VARCHAR',
  code: 'VARCHAR',
};
const mart = datamart({
  tenancy: byClients(),
  tables: [
    table('clients', { id: 'VARCHAR', name: 'VARCHAR' }),
    table('customers', customers, 'client'),
    table('orders', orders, 'client'),
  ],
  relationships: [relationship('orders.customer', 'customers.id')],
});
const rows = {
  customers: [
    ['ann', 'a', 'EU'],
    ['bob', 'a', 'US'],
  ],
  orders: [
    [1, 'a', 'ann', 'public', 10, 'ann', '1'],
    [2, 'a', 'ann', 'secret', 900, 'ann', '2'],
    [3, 'a', 'bob', 'public', 500, 'ann', 'oops'],
  ],
};
const token = (path: string, value: string): Condition => ({
  ...condition(path, { kind: 'oneOf', values: [value] }),
  restriction: 'always',
  isHidden: true,
});
const [onlyPublic, onlyEurope] = [token('orders.status', 'public'), token('customers.region', 'EU')];
const listOf = (t: string, c: string, parts: Partial<VisualDefinition> = {}): VisualDefinition =>
  metric(t, { dimensions: [{ name: 'k', column: columnRef(`${t}.${c}`) }], ...parts });
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
    place = await builder.build('attack', [
      { name: 'clients', columns: { id: 'VARCHAR', name: 'VARCHAR' }, rows: [['a', 'A']] },
      { name: 'customers', columns: customers, rows: rows.customers },
      { name: 'orders', columns: orders, rows: rows.orders },
    ]);
    ({ engine } = createLoggedEngine());
  });
  afterAll(async () => {
    await engine.close();
    await builder.remove();
  });
  const keys = async (
    d: MetricDefinition,
    conditions: readonly Condition[],
    parts: Partial<MetricQuestion> = {},
    m = mart,
  ) =>
    [
      ...(await engine.query(question(place, m, 'a', d, { conditions, ...parts }))).rows.map(({ k }) => String(k)),
    ].sort();

  const inOrders = {
    kind: 'inQuery',
    sql: 'select o.customer as c from orders o where o.total > 100',
    columnName: 'c',
  } as const;
  const big = condition('customers.id', inOrders);
  const ids = listOf('customers', 'id');
  const written = inSql('select c.id as k from customers c');

  it("an author's condition in SQL reads no hidden row", async () => {
    for (const definition of [ids, written]) {
      expect(await keys(definition, [big])).toEqual(['ann', 'bob']);
      expect(await keys(definition, [big, onlyPublic])).toEqual(['bob']);
      expect(await keys(definition, [big, onlyEurope])).toEqual(['ann']);
      expect(await keys(definition, [big, onlyEurope, onlyPublic])).toEqual([]);
      expect(await keys(definition, [big, { ...onlyPublic, restriction: 'whereRead' }])).toEqual(['bob']);
    }
    expect(await keys({ ...ids, where: { any: [big] } }, [onlyPublic])).toEqual(['bob']);
    const bounded: Condition = { ...big, predicate: { ...inOrders, sql: 'select max(o.customer) as c from orders o' } };
    expect(await keys(ids, [bounded])).toEqual(['bob']);
    expect(await keys(ids, [bounded, onlyEurope])).toEqual(['ann']);
  });

  it('whether a row passes one condition of the token in SQL depends on no other condition', async () => {
    expect(await keys(ids, [{ ...big, restriction: 'always' }, onlyPublic])).toEqual(['ann', 'bob']);
  });

  it.each<readonly [string, string, readonly string[], readonly string[]]>([
    ['another column', 'orders o join customers c on c.id = o.payer', ['1', '2'], ['1', '3']],
    ['nothing', 'orders o cross join customers c', ['1', '2'], ['1', '3']],
    ['the relationship', 'orders o join customers c on c.id = o.customer', ['1', '2'], ['1', '3']],
  ])('SQL that joins its tables by %s reads no hidden row', async (_, tables, ofEurope, ofPublic) => {
    const perOrder = inSql(`select o.id as k from ${tables} group by o.id`);
    expect(await keys(perOrder, [])).toEqual(['1', '2', '3']);
    expect(await keys(perOrder, [onlyEurope])).toEqual(ofEurope);
    expect(await keys(perOrder, [onlyPublic])).toEqual(ofPublic);
    const perCustomer = inSql(`select c.id as k from ${tables} group by c.id`);
    expect(await keys(perCustomer, [token('orders.code', '2')])).toEqual(['ann']);
  });

  it('if several paths connect two tables of the SQL, its own join decides which one applies', async () => {
    const several = { ...mart, relationships: [...mart.relationships, relationship('orders.payer', 'customers.id')] };
    const paid = inSql('select o.id as k from orders o join customers c on c.id = o.payer');
    expect(await keys(paid, [onlyEurope], {}, several)).toEqual(['1', '2', '3']);
  });
});
