/** An organization with everything that the specification mentions, small enough to count by hand. */
import { randomUUID } from 'node:crypto';
import type { Dashboard, DashboardFilter } from '../../src/model/dashboard/dashboard.js';
import {
  hostMade,
  type Metric,
  type MetricDefinition,
  type VisualDefinition,
} from '../../src/model/dashboard/metric.js';
import type { Datamart, Tenancy } from '../../src/model/datamart/datamart.js';
import { hashToken } from '../../src/platform/keys/keys.js';
import type { Store } from '../../src/service/store/store.js';
import { columnRef, insertInto, relationship, table, tableRef } from '../engine/world.js';
import { buildFile } from '../suites/duckdb-file.js';

const statements = [
  'CREATE TABLE clients (id VARCHAR, name VARCHAR)',
  insertInto('clients', [
    ['acme', 'Acme'],
    ['globex', 'Globex'],
  ]),
  'CREATE TABLE products (id INTEGER, label VARCHAR)',
  insertInto('products', [
    [1, 'Anvil'],
    [2, 'Rope'],
    [3, 'Rocket'],
  ]),
  'CREATE TABLE sales (client VARCHAR, sold TIMESTAMP, amount BIGINT, region VARCHAR, product INTEGER, paid BOOLEAN)',
  `INSERT INTO sales VALUES
    ('acme', '2024-03-30 10:00:00', 100, 'north', 1, true),
    ('acme', '2024-03-31 23:30:00', 50, 'south', 2, false),
    ('acme', '2024-04-01 00:30:00', 30, 'north', 2, true),
    ('acme', '2024-04-15 12:00:00', 20, 'west', 1, false),
    ('globex', '2024-03-31 12:00:00', 1000, 'north', 1, true),
    ('globex', '2024-04-02 09:00:00', 2000, 'east', 3, false)`,
  'CREATE SCHEMA eu',
  "CREATE TABLE eu.sales AS SELECT * REPLACE (7 AS amount) FROM sales WHERE region = 'north'",
  'CREATE TABLE notes (owner VARCHAR, body VARCHAR)',
  insertInto('notes', [
    ['acme', 'one'],
    ['acme', 'two'],
    ['globex', 'three'],
  ]),
  'CREATE TABLE shops (id BIGINT, name VARCHAR)',
  insertInto('shops', [
    [1, 'First'],
    [2, 'Second'],
  ]),
  'CREATE TABLE orders (shop BIGINT, total BIGINT)',
  insertInto('orders', [
    [1, 5],
    [2, 9],
  ]),
];

const tenancy = (tableName: string, clientColumnType: 'NUMBER' | 'STRING'): Tenancy => ({
  tenancyLevel: 'TABLE',
  clientColumnType,
  schemaName: 'main',
  tableName,
  tableClientNameColumn: 'name',
  tablePrimaryKeyColumn: 'id',
});

const saleColumns = {
  client: 'VARCHAR',
  sold: 'TIMESTAMP',
  amount: 'BIGINT',
  region: 'VARCHAR',
  product: 'INTEGER',
  paid: 'BOOLEAN',
};

const made = new Date('2024-01-01T00:00:00.000Z');

const mart = (name: string, datasourceId: string, parts: Partial<Datamart>): Datamart => ({
  id: randomUUID(),
  name,
  datasourceId,
  tenancy: null,
  tables: [],
  relationships: [],
  sharedTables: [],
  createdAt: made,
  updatedAt: made,
  ...parts,
});

const shopParts: Partial<Datamart> = {
  tenancy: tenancy('clients', 'STRING'),
  tables: [
    table('clients', { id: 'VARCHAR', name: 'VARCHAR' }),
    table('products', { id: 'INTEGER', label: 'VARCHAR' }),
    table('sales', saleColumns, 'client'),
    { ...table('sales', saleColumns, 'client'), schemaName: 'eu' },
    table('notes', { owner: 'VARCHAR', body: 'VARCHAR' }),
  ],
  relationships: [relationship('sales.product', 'products.id')],
  sharedTables: ['main.products'],
};

/** A metric over `sales`; `parts` replaces fields. */
export const definition = (parts: Partial<VisualDefinition> = {}): VisualDefinition => ({
  kind: 'visual',
  chart: { type: 'singleValue' },
  from: tableRef('sales'),
  dimensions: [],
  measures: [{ name: 'Revenue', aggregate: 'SUM', column: columnRef('sales.amount') }],
  filters: [],
  rlsVariables: [],
  underlying: [columnRef('sales.region'), columnRef('sales.amount')],
  drillPath: [],
  sort: [],
  limit: null,
  ...parts,
});

const ownFilters: MetricDefinition['filters'] = [
  { name: 'size', label: 'Amount', column: columnRef('sales.amount'), dataType: 'number' },
  { name: 'kind', label: 'Product', column: columnRef('products.label'), dataType: 'string' },
];

/** A filter of a metric with a default value, which applies until the guest sets another. */
const ownDefault: MetricDefinition['filters'][number] = {
  name: 'least',
  label: 'At least',
  column: columnRef('sales.amount'),
  dataType: 'number',
  defaultValue: { min: 50 },
};

const byRegion = definition({
  chart: { type: 'bar' },
  dimensions: [{ name: 'Region', column: columnRef('sales.region') }],
  measures: [
    { name: 'Revenue', aggregate: 'SUM', column: columnRef('sales.amount') },
    { name: 'Sales', aggregate: 'COUNT' },
  ],
  drillPath: [{ name: 'Product', column: columnRef('products.label') }],
  sort: [{ name: 'Region', direction: 'ASC' }],
});

const guarded = definition({
  rlsVariables: [
    { name: 'region', column: columnRef('sales.region'), isOptional: false },
    { name: 'product', column: columnRef('sales.product'), isOptional: true },
  ],
});

const on = (path: string, dataType: DashboardFilter['dataType']) => [{ ...columnRef(path), dataType }];

export const boardFilters: readonly DashboardFilter[] = [
  { name: 'Region', dataType: 'string', applyOnTables: on('sales.region', 'string') },
  { name: 'Sold', dataType: 'date', applyOnTables: on('sales.sold', 'date') },
  { name: 'Paid', dataType: 'boolean', applyOnTables: on('sales.paid', 'boolean') },
  { name: 'Amount', dataType: 'number', applyOnTables: on('sales.amount', 'number') },
  { name: 'Product', dataType: 'string', applyOnTables: on('products.label', 'string') },
];

type Board = {
  readonly id: string;
  readonly workspaceId: string;
  readonly filters?: readonly DashboardFilter[];
  /** Metrics by id. Those in `gallery` have no card. */
  readonly metrics: Readonly<Record<string, MetricDefinition | Metric>>;
  readonly gallery?: readonly string[];
};

const toMetric = (metricId: string, workspaceId: string, given: MetricDefinition | Metric): Metric =>
  'metricId' in given
    ? { ...given, workspaceId }
    : { metricId, workspaceId, name: `Metric ${metricId}`, definition: given, lineage: [], owner: null, ...hostMade };

export const insertBoard = async (store: Store, { id, workspaceId, filters = [], metrics, gallery = [] }: Board) => {
  const ids = Object.keys(metrics);
  const cards = ids.filter((metricId) => !gallery.includes(metricId));
  const dashboard: Dashboard = {
    id: randomUUID(),
    externalDashboardId: id,
    workspaceId,
    name: `Dashboard ${id}`,
    owner: null,
    templateId: null,
    layout: cards.map((metricId, index) => ({ metricId, x: 0, y: index * 4, w: 12, h: 4 })),
    gridMargin: [8, 4],
    filters,
    metadata: null,
    isAllowPrivateMetricsByDefault: false,
  };
  await store.dashboards.insert(dashboard);
  for (const [metricId, given] of Object.entries(metrics))
    await store.metrics.insert(toMetric(metricId, workspaceId, given));
  await store.dashboards.placeMetrics(
    dashboard.id,
    ids.map((metricId) => ({ metricId, placement: cards.includes(metricId) ? 'METRIC' : 'GALLERY' })),
    made,
  );
};

export type Keys = { readonly apiKey: string; readonly otherKey: string; readonly endedKey: string };

const insertDataApps = async (store: Store, keys: Keys): Promise<{ readonly dataAppId: string }> => {
  const [dataAppId, otherId] = [randomUUID(), randomUUID()];
  for (const [id, name] of [
    [dataAppId, 'shop'],
    [otherId, 'other'],
  ] as const)
    await store.dataApps.insert({ id, name, createdAt: made, updatedAt: made });
  for (const [id, key, expiresAt] of [
    [dataAppId, keys.apiKey, null],
    [otherId, keys.otherKey, null],
    [dataAppId, keys.endedKey, made],
  ] as const) {
    const stored = { id: randomUUID(), name: key, hash: hashToken(key), createdAt: made, expiresAt };
    await store.apiKeys.insert({ ...stored, dataAppId: id });
  }
  return { dataAppId };
};

const insertSources = async (store: Store, warehouse: string) => {
  const [here, lost] = [randomUUID(), randomUUID()];
  await store.datasources.insert({
    id: here,
    name: 'warehouse',
    syncedAt: null,
    datasourceType: 'DUCKDB',
    path: warehouse,
  });
  await store.datasources.insert({
    id: lost,
    name: 'lost',
    syncedAt: null,
    datasourceType: 'DUCKDB',
    path: `${warehouse}.gone`,
  });
  const marts = {
    shop: mart('shop', here, shopParts),
    orders: mart('orders', here, {
      tenancy: tenancy('shops', 'NUMBER'),
      tables: [
        table('shops', { id: 'BIGINT', name: 'VARCHAR' }),
        table('orders', { shop: 'BIGINT', total: 'BIGINT' }, 'shop'),
      ],
    }),
    open: mart('open', here, { tables: [table('products', { id: 'INTEGER', label: 'VARCHAR' })] }),
    lost: mart('lost', lost, shopParts),
  };
  for (const item of Object.values(marts)) await store.datamarts.insert(item);
  return marts;
};

const insertWorkspace = async (store: Store, name: string, datamartId: string | null): Promise<string> => {
  const id = randomUUID();
  const connectionType = datamartId === null ? 'MULTI_DATAMART' : 'DATAMART';
  await store.workspaces.insert({ id, name, connectionType, datasourceId: null, datamartId });
  return id;
};

/** `all` and `far` reach every datamart; in `long`, every list has more than one page. */
const insertBoards = async (store: Store, dataAppId: string, marts: Awaited<ReturnType<typeof insertSources>>) => {
  const shop = await insertWorkspace(store, 'shop', marts.shop.id);
  const orders = await insertWorkspace(store, 'orders', marts.orders.id);
  const all = await insertWorkspace(store, 'all', null);
  const long = await insertWorkspace(store, 'long', marts.shop.id);
  const far = await insertWorkspace(store, 'far', null);
  await insertWorkspace(store, 'empty', marts.shop.id);
  const regionDefault: DashboardFilter = {
    name: 'Region',
    dataType: 'string',
    applyOnTables: on('sales.region', 'string'),
    defaultValue: ['north'],
  };
  const owned = (metricId: string, clientId: string): Metric => ({
    ...toMetric(metricId, shop, definition()),
    owner: { dataAppId, clientId },
  });
  const boards: readonly Board[] = [
    {
      id: 'board',
      workspaceId: shop,
      filters: boardFilters,
      metrics: { revenue: definition({ filters: ownFilters }), 'by-region': byRegion, guarded, spare: definition() },
      gallery: ['spare'],
    },
    {
      id: 'defaults',
      workspaceId: shop,
      filters: [regionDefault],
      metrics: { 'revenue-by-default': definition(), sized: definition({ filters: [ownDefault] }) },
    },
    {
      id: 'derived',
      filters: boardFilters.slice(0, 1),
      workspaceId: shop,
      metrics: { 'revenue-copy': { ...toMetric('revenue-copy', shop, definition()), lineage: ['revenue'] } },
    },
    {
      id: 'held',
      workspaceId: shop,
      metrics: { 'of-acme': owned('of-acme', 'acme'), 'of-globex': owned('of-globex', 'globex') },
    },
    {
      id: 'notebook',
      workspaceId: shop,
      metrics: {
        'note-count': definition({
          from: tableRef('notes'),
          measures: [{ name: 'Notes', aggregate: 'COUNT' }],
          underlying: [],
        }),
      },
    },
    {
      id: 'counter',
      workspaceId: orders,
      metrics: {
        'order-total': definition({
          from: tableRef('orders'),
          measures: [{ name: 'Total', aggregate: 'SUM', column: columnRef('orders.total') }],
          underlying: [columnRef('orders.total')],
        }),
      },
    },
    {
      id: 'free',
      workspaceId: all,
      metrics: {
        'product-count': definition({
          from: tableRef('products'),
          measures: [{ name: 'Products', aggregate: 'COUNT' }],
          underlying: [columnRef('products.label')],
        }),
      },
    },
    {
      id: 'far-board',
      workspaceId: far,
      filters: boardFilters,
      metrics: { 'far-revenue': definition() },
    },
    ...Array.from({ length: 12 }, (_, index) => {
      const number = String(index + 1).padStart(2, '0');
      return { id: `long-${number}`, workspaceId: long, metrics: { [`long-metric-${number}`]: definition() } };
    }),
  ];
  for (const board of boards) await insertBoard(store, board);
};

/** Creates everything: the warehouse as a DuckDB file, changed by `changes`, and the metadata in the store. */
export const insertOrganization = async (
  store: Store,
  warehouse: string,
  keys: Keys,
  changes: readonly string[] = [],
): Promise<void> => {
  await buildFile(warehouse, [...statements, ...changes]);
  await store.transaction(async (inner) => {
    const { dataAppId } = await insertDataApps(inner, keys);
    await insertBoards(inner, dataAppId, await insertSources(inner, warehouse));
  });
};
