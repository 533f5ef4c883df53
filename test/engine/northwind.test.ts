/**
 * The Northwind database: the lines of an order belong to its customer, and no answer contains lines of another
 * customer.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Cell, Engine } from '../../src/model/query/engine.js';
import { customerIds, northwind } from '../fixtures/northwind.js';
import { areAlike } from '../isolation/judge.js';
import { type ByHand, connectByHand } from './by-hand.js';
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
  relationship,
  table,
} from './world.js';

const lookups = ['products', 'categories', 'suppliers', 'employees', 'employee_territories', 'territories'];
const owned: Readonly<Record<string, string>> = { customers: 'customer_id', orders: 'customer_id' };
const mart = datamart({
  tenancy: {
    ...byClients(),
    ...{ tableName: 'customers', tableClientNameColumn: 'company', tablePrimaryKeyColumn: 'customer_id' },
  },
  tables: northwind.map(({ name, columns }) => table(name, columns, owned[name] ?? null)),
  relationships: [
    relationship('orders.customer_id', 'customers.customer_id'),
    relationship('order_details.order_id', 'orders.order_id'),
    relationship('order_details.product_id', 'products.product_id'),
    relationship('products.category_id', 'categories.category_id'),
    relationship('products.supplier_id', 'suppliers.supplier_id'),
    relationship('orders.employee_id', 'employees.employee_id'),
    relationship('employee_territories.employee_id', 'employees.employee_id'),
    relationship('employee_territories.territory_id', 'territories.territory_id'),
  ],
  sharedTables: lookups.map((name) => `main.${name}`),
});

const rows = { name: 'n', aggregate: 'COUNT' } as const;
const quantity = { name: 'quantity', aggregate: 'SUM', column: columnRef('order_details.quantity') } as const;
const prices = { name: 'prices', aggregate: 'SUM', column: columnRef('order_details.unit_price') } as const;

/** Two of these ids differ only in case. */
const tenants = ['CUSTA', 'custa', 'CUSTN'];
const byName = (cells: readonly (readonly Cell[])[]) => [...cells].sort(([a], [b]) => (String(a) < String(b) ? -1 : 1));

describe.each(await findKinds())('on %s', (kind) => {
  let builder: Builder;
  let place: Place;
  let engine: Engine;
  let byHand: ByHand;

  beforeAll(async () => {
    builder = await createBuilder(kind);
    place = await builder.build('northwind', northwind);
    byHand = await connectByHand(kind, place);
    engine = createLoggedEngine().engine;
  });
  afterAll(async () => {
    await engine.close();
    await byHand.close();
    await builder.remove();
  });

  const ask = async (tenant: string, ...[definition, parts]: [ReturnType<typeof metric>, object?]) =>
    (await engine.query(question(place, mart, tenant, definition, parts))).rows.map((row) => Object.values(row));
  const same = kind === 'MYSQL' ? 'customer_id = binary' : 'customer_id =';
  const detailsOf = (tenant: string): string =>
    `order_details d join (select * from orders where ${same} '${tenant}') o on d.order_id = o.order_id`;
  const assertSame = (answered: readonly (readonly Cell[])[], expected: readonly (readonly Cell[])[]): void => {
    const [a, b] = [byName(answered), byName(expected)];
    const isAlike = a.length === b.length && a.every((row, at) => row.every((cell, of) => areAlike(cell, b[at]?.[of])));
    if (!isAlike) expect(a).toEqual(b);
  };

  it('lines are counted by category, and by territory of the employee who sold them', async () => {
    for (const tenant of tenants) {
      const whole = `select count(*), sum(d.quantity), sum(d.unit_price) from ${detailsOf(tenant)}`;
      assertSame(
        await ask(tenant, metric('order_details', { measures: [rows, quantity, prices] })),
        await byHand.run(whole),
      );
      const dimensions = [{ name: 'category', column: columnRef('categories.name') }];
      assertSame(
        await ask(tenant, metric('order_details', { dimensions, measures: [rows, quantity] })),
        await byHand.run(
          `select c.name, count(*), sum(d.quantity) from ${detailsOf(tenant)} join products p on d.product_id = p.product_id
           join categories c on p.category_id = c.category_id group by c.name`,
        ),
      );
      const territories = condition('territories.name', { kind: 'oneOf', values: ['Territory 1', 'Territory 4'] });
      assertSame(
        await ask(tenant, metric('order_details', { measures: [rows, quantity] }), { conditions: [territories] }),
        await byHand.run(
          `select count(*), sum(d.quantity) from ${detailsOf(tenant)} where o.employee_id in
           (select e.employee_id from employee_territories e join territories t on e.territory_id = t.territory_id
            where t.name in ('Territory 1', 'Territory 4'))`,
        ),
      );
    }
  });

  it("all customers together have all lines, and none has another's", async () => {
    const counted = await Promise.all(
      customerIds.map(async (tenant) =>
        Number((await ask(tenant, metric('order_details', { measures: [rows] })))[0]?.[0]),
      ),
    );
    const [[all = null] = []] = await byHand.run('select count(*) from order_details');
    expect(counted.reduce((sum, one) => sum + one, 0)).toBe(all);
    expect(Math.max(...counted)).toBeLessThan(Number(all) / 10);
  });

  it.each(lookups)('%s is refused by name if it is not shared', async (name) => {
    const sharedTables = lookups.filter((other) => other !== name).map((other) => `main.${other}`);
    const asked = question(place, { ...mart, sharedTables }, 'CUSTA', metric(name, { measures: [rows] }));
    const refusal = await refusalOf(() => engine.query(asked));
    expect(refusal).toMatchObject({ code: 'METRIC_QUERY_ERROR' });
    expect(refusal.message).toContain(`${place.schemaName}.${name}`);
  });
});
