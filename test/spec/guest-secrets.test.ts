/**
 * No answer to a guest contains names or values of what is hidden, another tenant's values, or a driver's text,
 * whatever the guest requests.
 */
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Store } from '../../src/service/store/store.js';
import { columnRef, table, tableRef } from '../engine/world.js';
import { embedOf, everything } from './guests.js';
import { call, type House, type Input, mint, ok, openHouse } from './house.js';
import { boardFilters, definition, insertBoard } from './organization.js';

/** This text is in every hidden name and value, and in every value of the other tenant. */
const mark = 'zqx';
/** Words of databases, drivers and our SQL. */
const driverWords = /duckdb|conversion|could not convert|binder|catalog error|invalid input|gl_|syntax|SELECT|CAST\b/i;

let house: House;
let dashboardId: string;
let fragileId: string;

const on = (path: string) => [{ ...columnRef(path), dataType: 'string' as const }];
/** All existing regions and one more, so that no row is excluded; the additional one contains the mark. */
const regions = ['north', 'south', 'west', 'east', `${mark}-region`];

const revenue = definition({
  dimensions: [{ name: 'Region', column: columnRef('sales.region') }],
  drillPath: [{ name: 'Product', column: columnRef('products.label') }],
  underlying: ['sales.region', 'sales.amount', 'products.label'].map(columnRef),
  filters: [
    {
      name: `${mark}-written`,
      label: `${mark}-written`,
      column: columnRef('sales.region'),
      dataType: 'string',
      predicate: { kind: 'oneOf', values: regions },
    },
    { name: 'least', label: 'At least', column: columnRef('sales.amount'), dataType: 'number' },
  ],
  rlsVariables: [{ name: `${mark}-variable`, column: columnRef('sales.region'), isOptional: false }],
});

/** Metrics that fail in the database, on values of the guest's own rows or of other rows. */
const broken = (parts: object = {}) =>
  definition({
    from: tableRef('broken'),
    measures: [{ name: 'Sum', aggregate: 'SUM', column: columnRef('broken.number') }],
    underlying: [columnRef('broken.number')],
    ...parts,
  });

const metrics = {
  secret: revenue,
  unfit: definition({
    rlsVariables: [{ name: `${mark}-number`, column: columnRef('sales.product'), isOptional: false }],
  }),
  unset: definition({
    rlsVariables: [{ name: `${mark}-unset`, column: columnRef('sales.product'), isOptional: false }],
  }),
};

/** These metrics have a board without restrictions, so that they reach the database. */
const fragile = {
  broken: broken(),
  'broken-by': broken({ dimensions: [{ name: 'Number', column: columnRef('broken.number') }] }),
  divided: broken({ measures: [{ name: 'Most', aggregate: 'MAX', column: columnRef('broken.divided') }] }),
};

const openSecrets = async (store: Store): Promise<void> => {
  const mart = await store.datamarts.findByName('shop');
  const workspace = await store.workspaces.findByName('shop');
  if (mart === undefined || workspace === undefined) throw new Error('the organization has no shop');
  const columns = { client: 'VARCHAR', number: 'INTEGER', divided: 'INTEGER' };
  await store.datamarts.update({ ...mart, tables: [...mart.tables, table('broken', columns, 'client')] });
  await insertBoard(store, {
    id: 'secrets',
    workspaceId: workspace.id,
    filters: [
      ...boardFilters,
      { name: `${mark} hidden`, dataType: 'string', applyOnTables: on('sales.region'), defaultValue: regions },
      { name: `${mark} enforced`, dataType: 'string', applyOnTables: on('sales.region') },
    ],
    metrics,
  });
  await insertBoard(store, {
    id: 'fragile',
    workspaceId: workspace.id,
    filters: [{ name: 'Numbers', dataType: 'string', applyOnTables: on('broken.number') }],
    metrics: fragile,
  });
};

const inWarehouse = async (...statements: readonly string[]): Promise<void> => {
  const instance = await DuckDBInstance.create(join(house.sources, 'warehouse.duckdb'));
  const connection = await instance.connect();
  for (const statement of statements) await connection.run(statement);
  connection.closeSync();
  instance.closeSync();
};

beforeAll(async () => {
  house = await openHouse();
  await house.stored(async (store) => {
    await openSecrets(store);
    await inWarehouse(
      'CREATE VIEW broken AS SELECT client, CAST(region AS INTEGER) AS number, CAST(amount AS UTINYINT) AS divided FROM sales',
      `INSERT INTO sales VALUES ('globex', '2024-04-03 09:00:00', 3000, '${mark}-theirs', 3, false)`,
      `INSERT INTO clients VALUES ('${mark}-client', '${mark}-client')`,
    );
  });
  dashboardId = await embedOf(house, 'secrets');
  fragileId = await embedOf(house, 'fragile');
});
afterAll(() => house.close());

/** A token whose restrictions all contain the mark but exclude no row. */
const restricted = (permissions: Input = everything): Promise<string> =>
  mint(
    house,
    'acme',
    {
      hideDashboardFilters: [`${mark} hidden`, `${mark} enforced`],
      dashboardAppFilters: [{ dashboardId: 'secrets', values: { [`${mark} enforced`]: regions }, isShowOnUrl: false }],
      appFilters: [{ metricId: 'secret', values: { 'At least': { min: -77_177 } } }],
      rlsSettings: [
        { metricId: 'secret', values: { [`${mark}-variable`]: regions } },
        // The value is text but the column is a number, so the query is refused.
        { metricId: 'unfit', values: { [`${mark}-number`]: [`${mark}-text`] } },
      ],
    },
    { permissions },
  );

const nothing = { isEnableUnderlyingData: false, isEnableDownloadMetrics: false };

const dates = ['2024-02-30', 'Last 30 Fortnights', '2024-01-01 - 2023-01-01', '0000-00-00', '9999-12-31', "'; --"];
const texts = [
  '\u0000',
  '\ud800',
  'x'.repeat(4001),
  "' OR '1'='1",
  '%',
  '_',
  '\\',
  `${'('.repeat(500)}`,
  '$1',
  '日本',
  '',
];
const numbers = [1e308, -1e308, 2 ** 53, 0.1, 1e-300];
const metricIds = [...Object.keys(metrics), 'nothing', 'revenue', '../secret', '%00'];

type Probe = readonly [Parameters<typeof call>[1], Input];

const reads = ['queryGuestMetric', 'listGuestUnderlying', 'downloadGuestCsv'] as const;
const probesOf = (): readonly Probe[] => {
  const of = (parts: Input, metricId = 'secret'): readonly Probe[] =>
    reads.map((read): Probe => [read, { dashboardId, metricId, ...parts }]);
  /** Returns one of the reads for the same question, a different one each time. */
  const any = (parts: Input, index: number): readonly Probe[] => of(parts).slice(index % 3, (index % 3) + 1);
  const option = (filter: string, search?: string): Probe => [
    'listGuestFilterOptions',
    { dashboardId, filter, search },
  ];
  return [
    ['getGuestDashboard', { dashboardId }],
    ['getGuestDashboard', { dashboardId: 'nothing' }],
    ...metricIds.map((metricId): Probe => ['getGuestMetric', { metricId }]),
    ...metricIds.flatMap((metricId) => of({}, metricId)),
    ...texts.flatMap((text, index) => any({ dashboardFilter: { Region: text } }, index)),
    ...texts.flatMap((text, index) => any({ dashboardFilter: { [text]: 'north' } }, index)),
    ...texts.flatMap((text, index) => any({ drill: [{ columnName: 'Region', value: text }] }, index)),
    ...texts.map((text) => option('Region', text)),
    // An unpaired surrogate cannot be sent in a URL.
    ...texts.filter((text) => !/\p{Surrogate}/u.test(text)).map((text) => option(text)),
    ...dates.flatMap((date, index) => any({ dashboardFilter: { Sold: date } }, index)),
    ...numbers.flatMap((value, index) =>
      any({ dashboardFilter: { Amount: value }, metricFilter: { least: { min: value } } }, index),
    ),
    ...numbers.flatMap((value, index) => any({ drill: [{ columnName: 'Region', value }] }, index)),
    ...['hidden', 'enforced'].flatMap((name) => of({ dashboardFilter: { [name]: 'north' } })),
    ...['Hidden', 'sales', 'region', 'amount', 'Numbers', 'Region', 'Product', 'Amount', 'Paid', 'Sold'].map((name) =>
      option(name),
    ),
    ...[
      ['Nothing', 'ASC'],
      ['Region', 'UP'],
      ['region', 'DESC'],
      ['Region', 'DESC'],
    ].flatMap(([name, direction]) => of({ sort: [{ name, direction }] })),
    ...[-1, 0, 1.5, 10_001, '1'].flatMap((limit) => of({ limit })),
    ...[-1, 10_000_001, 10_000_000].flatMap((offset) => of({ offset })),
    ...of({ drill: [{ columnName: 'Product', value: 'Anvil' }] }),
    ...of({ drill: Array.from({ length: 3 }, () => ({ columnName: 'Region', value: 'north' })) }),
    ...of({ drill: [{ columnName: 'Region', value: null }], sort: [{ name: 'Region', direction: 'ASC' }] }),
    ...of({ metricFilter: { 'main.sales.region': 'north', written: 'north' } }),
    ...of({ dashboardFilter: 'all', metricFilter: [1], drill: {} }),
    ...Object.keys(fragile).flatMap((metricId) => of({ dashboardId: fragileId }, metricId)),
    ['listGuestFilterOptions', { dashboardId: fragileId, filter: 'Numbers' }],
    ['previewGuestMetric', { dashboardId, definition: definition() }],
    ['createGuestMetric', { dashboardId, name: 'Mine', definition: definition() }],
  ];
};

type Seen = { readonly status: number; readonly text: string; readonly headers: string };

const askAll = async (): Promise<readonly Seen[]> => {
  const bearers = [await restricted(), await restricted(nothing)];
  const seen: Seen[] = [];
  // The guest with the fewest permissions gets the same refusals for most requests.
  for (const [index, bearer] of bearers.entries())
    for (const [name, input] of probesOf().filter((_, probe) => index === 0 || probe % 5 === 0)) {
      const { status, text, headers } = await call(house, name, input, { bearer });
      const told = [...headers].filter(([header]) => !['date', 'x-request-id'].includes(header));
      const content = text.replace(/"timeTaken":\d+/, '').replace(/request id [\w-]+|Reference: [\w-]+/, '');
      seen.push({ status, text: content, headers: JSON.stringify(told).replace(/\["content-length","\d+"\],?/, '') });
    }
  return seen;
};

test("no answer contains hidden data, another tenant's data or a driver's text, and answers do not depend on the other tenant", async () => {
  const seen = await askAll();
  for (const [index, { status, text, headers }] of seen.entries()) {
    const probes = probesOf();
    const what = JSON.stringify(probes[index % probes.length]).slice(0, 200);
    expect([200, 400, 401, 403, 404], what).toContain(status);
    expect(`${text} ${headers}`, what).not.toContain(mark);
    expect(text, what).not.toContain('77177');
    if (status !== 200) expect(text, what).not.toMatch(driverWords);
  }
  const statuses = seen.map(({ status }) => status);
  expect(new Set(statuses)).toEqual(new Set([200, 400, 403, 404]));
  // The causes of these failures are secret: a driver's error, or restrictions that do not fit. The answers must name
  // no cause.
  for (const code of ['METRIC_QUERY_ERROR', 'RLS_SETTINGS_PARAM_ERROR']) {
    const told = seen.filter(({ text }) => text.includes(code));
    expect(told, code).not.toEqual([]);
    for (const { text } of told) expect(text).toContain("This chart can't be shown. Ask your administrator.");
  }
  expect(statuses.filter((status) => status === 200).length).toBeGreaterThan(30);
  await house.stored(() =>
    inWarehouse("DELETE FROM sales WHERE client <> 'acme'", "DELETE FROM clients WHERE id <> 'acme'"),
  );
  const alone = await askAll();
  const changed = alone.flatMap((answer, index) =>
    JSON.stringify(answer) === JSON.stringify(seen[index]) ? [] : [[seen[index], answer]],
  );
  expect(changed).toEqual([]);
}, 120_000);

test('a guest without permission is refused before any query runs', async () => {
  const bearer = await restricted(nothing);
  const of = { dashboardId, metricId: 'secret' };
  for (const read of ['listGuestUnderlying', 'downloadGuestCsv'] as const)
    expect((await call(house, read, of, { bearer })).status, read).toBe(403);
  const page = { ...of, limit: 2, offset: 1, sort: [{ name: 'amount', direction: 'ASC' }] };
  const { data, totalRecords } = await ok(house, 'listGuestUnderlying', page, { bearer: await restricted() });
  expect([data.map(({ amount }) => amount), totalRecords]).toEqual([[30, 50], 4]);
});
