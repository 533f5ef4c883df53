/** Rights to the column: what a token hides or masks is hidden or masked in everything that its guest can ask. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { columnRef, tableRef } from '../engine/world.js';
import { boardOf, create, guest, namesOn, openBoard, revenueBy } from './guests.js';
import { call, type House, type Input, metricOf, noon, ok, openHouse, refused, setNow } from './house.js';

let house: House;
const dashboardId = 'acme-board';

beforeAll(async () => {
  house = await openHouse();
  await openBoard(house, dashboardId, 'acme');
});
beforeEach(() => setNow(noon));
afterAll(() => house.close());

const region = 'main.sales.region';
const rlsFor = async (value: string): Promise<Input> => ({
  rlsSettings: [{ metricId: await metricOf(house, dashboardId, 'acme', 'guarded'), values: { region: value } }],
});
const idOf = (name: string): Promise<string> => metricOf(house, dashboardId, 'acme', name);
const north = { dashboardAppFilters: [{ dashboardId, values: { Region: ['north'] }, isShowOnUrl: false }] };

test('a metric that needs a hidden column is not shown and not answered; others are', async () => {
  const bearer = await guest(house, 'acme', { hideColumns: [region] });
  const names = await namesOn(house, bearer, dashboardId);
  expect(names).toContain('Metric revenue');
  expect(names).not.toContain('Metric by-region');
  const metricId = await idOf('by-region');
  for (const name of ['queryGuestMetric', 'listGuestUnderlying', 'downloadGuestCsv'] as const) {
    await refused(`${name} UNAUTHORIZED`, house, { dashboardId, metricId }, { bearer });
  }
  const { data } = await ok(house, 'queryGuestMetric', { dashboardId, metricId: await idOf('revenue') }, { bearer });
  expect(data).toEqual([{ Revenue: 200 }]);
});

test('underlying rows show their other columns', async () => {
  const metricId = await idOf('revenue');
  const bearer = await guest(house, 'acme', { hideColumns: [region] });
  const { data } = await ok(house, 'listGuestUnderlying', { dashboardId, metricId }, { bearer });
  expect(data).toHaveLength(4);
  for (const row of data) expect(Object.keys(row)).toEqual(['amount']);
});

test('a table keeps its other columns', async () => {
  const parts = { chart: { type: 'table' }, dimensions: [{ name: 'R', column: columnRef('sales.region') }] };
  const open = await guest(house, 'acme', {});
  const metricId = await create(house, open, dashboardId, 'Table', { definition: revenueBy('sales.paid', parts) });
  const both = [...(parts.dimensions as readonly Input[]), { name: 'P', column: columnRef('sales.paid') }];
  await ok(house, 'updateGuestMetric', { metricId, definition: { dimensions: both } }, { bearer: open });
  const bearer = await guest(house, 'acme', { hideColumns: [region] });
  const { data } = await ok(house, 'queryGuestMetric', { dashboardId, metricId }, { bearer });
  expect(data.map(({ P, Revenue }) => [P, Revenue])).toEqual([
    [false, 70],
    [true, 130],
  ]);
  expect(Object.keys(data[0] ?? {})).not.toContain('R');
  await ok(house, 'deleteGuestMetric', { metricId }, { bearer: open });
});

test('filters, options, fields, previews and filters on columns know no hidden column', async () => {
  const bearer = await guest(house, 'acme', { hideColumns: [region] });
  const board = await boardOf(house, bearer, dashboardId);
  expect(board.filters.map(({ name }) => name)).toEqual(['Sold', 'Paid', 'Amount', 'Product']);
  await refused('listGuestFilterOptions UNAUTHORIZED', house, { dashboardId, filter: 'Region' }, { bearer });
  const asked = { dashboardId, metricId: await idOf('revenue'), dashboardFilter: { Region: ['north'] } };
  await refused('queryGuestMetric INVALID_REQUEST_BODY', house, asked, { bearer });
  const { data } = await ok(house, 'listGuestFields', { dashboardId }, { bearer });
  const sales = data.tables.find(({ schemaName, tableName }) => schemaName === 'main' && tableName === 'sales');
  expect(sales?.fields.map(({ columnName }) => columnName)).toEqual(['client', 'sold', 'amount', 'product', 'paid']);
  const named = [
    revenueBy('sales.region'),
    revenueBy(undefined, { measures: [{ name: 'M', aggregate: 'MAX', column: columnRef('sales.region') }] }),
    revenueBy(undefined, {
      where: { all: [{ column: columnRef('sales.region'), predicate: { kind: 'oneOf', values: ['north'] } }] },
    }),
    revenueBy(undefined, { underlying: [columnRef('sales.region')] }),
  ];
  for (const definition of named) {
    await refused('previewGuestMetric INVALID_REQUEST_BODY', house, { dashboardId, definition }, { bearer });
  }
});

test("the policy's own values compare what is hidden or masked as it is stored", async () => {
  const [revenue, guarded] = await Promise.all([idOf('revenue'), idOf('guarded')]);
  for (const rules of [{ hideColumns: [region] }, { maskColumns: { [region]: 'hash' } }]) {
    const filtered = await guest(house, 'acme', { ...rules, ...north });
    const answer = await ok(house, 'queryGuestMetric', { dashboardId, metricId: revenue }, { bearer: filtered });
    expect(answer.data).toEqual([{ Revenue: 130 }]);
    const bound = await guest(house, 'acme', { ...rules, ...(await rlsFor('south')) });
    const ruled = await ok(house, 'queryGuestMetric', { dashboardId, metricId: guarded }, { bearer: bound });
    expect(ruled.data).toEqual([{ Revenue: 50 }]);
  }
});

test('masked values are what charts, options, filters, rows and files have', async () => {
  const [revenue, byRegion, guarded] = await Promise.all([idOf('revenue'), idOf('by-region'), idOf('guarded')]);
  // Its variable has no value here.
  const hideDashboardMetrics = [{ dashboardId, metricIds: [guarded] }];
  const maskColumns = { [region]: 'first', 'main.sales.sold': 'year' };
  const bearer = await guest(house, 'acme', { maskColumns, hideDashboardMetrics });
  const sums = await ok(house, 'queryGuestMetric', { dashboardId, metricId: byRegion }, { bearer });
  expect(sums.data).toEqual([
    { Region: 'n', Revenue: 130, Sales: 2 },
    { Region: 's', Revenue: 50, Sales: 1 },
    { Region: 'w', Revenue: 20, Sales: 1 },
  ]);
  const options = await ok(house, 'listGuestFilterOptions', { dashboardId, filter: 'Region' }, { bearer });
  expect(options.data.map(({ value }) => value)).toEqual(['n', 's', 'w']);
  const ask = async (values: readonly string[]) =>
    (
      await ok(
        house,
        'queryGuestMetric',
        { dashboardId, metricId: revenue, dashboardFilter: { Region: values } },
        { bearer },
      )
    ).data;
  expect(await ask(['n'])).toEqual([{ Revenue: 130 }]);
  expect(await ask(['north'])).toEqual([{ Revenue: null }]);
  const rows = await ok(house, 'listGuestUnderlying', { dashboardId, metricId: revenue }, { bearer });
  expect(rows.data.map((row) => row.region)).toEqual(['n', 'n', 's', 'w']);
  const csv = await call(house, 'downloadGuestCsv', { dashboardId, metricId: byRegion }, { bearer });
  expect(csv.status).toBe(200);
  expect(csv.text).not.toContain('north');
  const definition = revenueBy('sales.sold', { dimensions: [{ name: 'By', column: columnRef('sales.sold') }] });
  const years = await ok(house, 'previewGuestMetric', { dashboardId, definition }, { bearer });
  expect(years.data.map(({ By }) => String(By).slice(0, 10))).toEqual(['2024-01-01']);
});

test('a hash is the same for one tenant, another for the next one, and no hash that anybody can compute', async () => {
  await openBoard(house, 'globex-board', 'globex');
  const definition = {
    chart: { type: 'table' },
    from: tableRef('sales'),
    dimensions: [{ name: 'R', column: columnRef('sales.region') }],
  };
  const seen = async (clientId: string, at: string) => {
    const bearer = await guest(house, clientId, { maskColumns: { [region]: 'hash' } });
    const { data } = await ok(house, 'previewGuestMetric', { dashboardId: at, definition }, { bearer });
    return data.map(({ R }) => String(R));
  };
  const [first, again, other] = [
    await seen('acme', dashboardId),
    await seen('acme', dashboardId),
    await seen('globex', 'globex-board'),
  ];
  expect(first).toEqual(again);
  expect(first).toHaveLength(3);
  for (const value of first) expect(value).toMatch(/^[0-9a-f]{32}$/);
  // Both tenants have sales in the north.
  expect(first.filter((value) => other.includes(value))).toEqual([]);
});

test('a metric that a guest saved does not open what another token hides', async () => {
  const open = await guest(house, 'acme', {});
  const metricId = await create(house, open, dashboardId, 'Saved', { definition: revenueBy('sales.region') });
  const bearer = await guest(house, 'acme', { hideColumns: [region] });
  expect(await namesOn(house, bearer, dashboardId)).not.toContain('Saved');
  await refused('queryGuestMetric UNAUTHORIZED', house, { dashboardId, metricId }, { bearer });
  await ok(house, 'deleteGuestMetric', { metricId }, { bearer: open });
});

test.each<readonly [string, Input, string]>([
  ['a column that no datamart has', { hideColumns: ['main.sales.secret'] }, 'main.sales.secret'],
  ['a masked column that no datamart has', { maskColumns: { 'main.sales.Region': 'hash' } }, 'main.sales.Region'],
  ['a mask for other values', { maskColumns: { 'main.sales.amount': 'last4' } }, 'does not suit'],
  ['a mask that is none', { maskColumns: { [region]: 'rot13' } }, 'bucket(N)'],
])('refuses a token with %s', async (_, params, words) => {
  const input = { clientId: 'acme', dataAppName: 'shop', params };
  expect(await refused('createGuestToken INVALID_REQUEST_BODY', house, input)).toContain(words);
});

test('a table of one’s own that has lost a column says nothing of it, and is not changed without it', async () => {
  const open = await guest(house, 'acme', {});
  const definition = {
    chart: {
      type: 'table',
      numbers: [{ measure: 'Secret top', unit: 'EUR' }],
      rules: [{ measure: 'Secret top', operator: '>', value: 5_000, tone: 'bad' }],
      bars: ['Revenue'],
    },
    from: tableRef('sales'),
    dimensions: [
      { name: 'Paid', column: columnRef('sales.paid') },
      { name: 'Secret region', column: columnRef('sales.region') },
    ],
    measures: [
      { name: 'Revenue', aggregate: 'SUM', column: columnRef('sales.amount') },
      { name: 'Secret top', aggregate: 'COUNT_DISTINCT', column: columnRef('sales.region') },
    ],
  };
  const made = await ok(house, 'createGuestMetric', { dashboardId, name: 'Mine', definition } as never, {
    bearer: open,
  });
  const { metricId } = made.data;
  const bearer = await guest(house, 'acme', { hideColumns: [region] });
  const board = await boardOf(house, bearer, dashboardId);
  const shown = board.metrics.find((metric) => metric.metricId === metricId);
  expect(shown?.chart).toMatchObject({ dimensions: ['Paid'], measures: ['Revenue'], bars: ['Revenue'] });
  expect(JSON.stringify(board)).not.toContain('Secret');
  for (const change of [{ name: 'Renamed' }, { definition: { chart: { type: 'table' } } }])
    await refused('updateGuestMetric UNAUTHORIZED', house, { metricId, ...change }, { bearer });
  await ok(house, 'updateGuestMetric', { metricId, name: 'Renamed' }, { bearer: open });
});
