/** A guest cannot discover rows that its token hides by creating its own metric through the interface. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { columnRef, tableRef } from '../engine/world.js';
import { create, guest, openBoard } from './guests.js';
import { type House, type Input, metricOf, noon, ok, openHouse, refused, setNow } from './house.js';

let house: House;
let bearer: string;
const dashboardId = 'acme-board';

beforeAll(async () => {
  house = await openHouse();
  await openBoard(house, dashboardId, 'acme');
  const dashboardAppFilters = [{ dashboardId, values: { Region: ['north'] }, isShowOnUrl: true }];
  bearer = await guest(house, 'acme', { dashboardAppFilters });
});
beforeEach(() => setNow(noon));
afterAll(() => house.close());

/**
 * A metric of products that have a sale of this amount. The anvil was sold for 100 in the north and for 20 in the west.
 */
const productsWith = (amount: number): Input => ({
  chart: { type: 'table' },
  from: tableRef('products'),
  dimensions: [{ name: 'Product', column: columnRef('products.label') }],
  measures: [{ name: 'Count', aggregate: 'COUNT' }],
  having: { measure: 'Count', predicate: { kind: 'compare', operator: '>', value: 0 } },
  where: {
    any: [{ column: columnRef('sales.amount'), predicate: { kind: 'compare', operator: '=', value: amount } }],
  },
  underlying: [columnRef('products.label')],
});

test("a preview, a guest's own metric and its underlying rows show no hidden sale", async () => {
  for (const [amount, found] of [
    [100, ['Anvil']],
    [20, []],
    [30, ['Rope']],
    [50, []],
  ] as const) {
    const definition = productsWith(amount);
    const preview = await ok(house, 'previewGuestMetric', { dashboardId, definition }, { bearer });
    expect(preview.data.map(({ Product }) => Product)).toEqual(found);
    const metricId = await create(house, bearer, dashboardId, `With ${amount}`, { definition });
    const answer = await ok(house, 'queryGuestMetric', { dashboardId, metricId }, { bearer });
    expect(answer.data.map(({ Product }) => Product)).toEqual(found);
    const beneath = await ok(house, 'listGuestUnderlying', { dashboardId, metricId }, { bearer });
    expect(beneath.data.map(({ label }) => label)).toEqual(found);
  }
});

test('a guest cannot change the where of a metric that the host made', async () => {
  const metricId = await metricOf(house, dashboardId, 'acme', 'revenue');
  const definition = { where: productsWith(100).where };
  for (const [operation, input] of [
    ['previewGuestMetric INVALID_REQUEST_BODY', { dashboardId, metricId, definition }],
    ['updateGuestMetric INVALID_REQUEST_BODY', { metricId, definition }],
  ] as const) {
    expect(await refused(operation, house, input, { bearer })).toContain('make a metric of your own');
    await refused(operation, house, { ...input, definition: { where: null } }, { bearer });
  }
});
