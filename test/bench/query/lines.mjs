// Order lines have no client column and get their client by their order: the cost of that tenancy path, compared with the same JOIN by hand. Also
// counts customers by what they ordered, under a token that hides some orders.
import pg from 'pg';
import { access, callerOf } from './organization.mjs';

const statements = [
  'CREATE TABLE shops (id int PRIMARY KEY, name text)',
  "INSERT INTO shops SELECT n, 'shop ' || n FROM generate_series(1, 500) n",
  'CREATE TABLE customers (id int PRIMARY KEY, shop int NOT NULL)',
  'INSERT INTO customers SELECT n, n % 500 + 1 FROM generate_series(0, 19999) n',
  'CREATE INDEX ON customers (shop)',
  'CREATE TABLE orders (id int PRIMARY KEY, shop int NOT NULL, customer int NOT NULL, status text NOT NULL)',
  "INSERT INTO orders SELECT n, n % 500 + 1, n % 500 + 500 * (n / 500 % 40), CASE n % 7 WHEN 0 THEN 'secret' ELSE 'public' END FROM generate_series(1, 100000) n",
  'CREATE INDEX ON orders (shop)',
  'CREATE INDEX ON orders (customer)',
  'CREATE TABLE order_lines (id int PRIMARY KEY, order_id int NOT NULL, product int, cents int)',
  'INSERT INTO order_lines SELECT n, n % 100000 + 1, n % 97, n % 1000 FROM generate_series(1, 1000000) n',
  'CREATE INDEX ON order_lines (order_id)',
  'CREATE TABLE shop_lines AS SELECT l.*, o.shop FROM order_lines l JOIN orders o ON o.id = l.order_id ORDER BY l.id',
  'CREATE INDEX ON shop_lines (shop)',
];

/** The statements that a developer who knows the tables would write by hand. */
export const linesByHand = {
  text: `SELECT product, sum(cents), count(*) FROM order_lines JOIN orders ON orders.id = order_lines.order_id
    WHERE orders.shop = $1 GROUP BY 1 ORDER BY 1 LIMIT 10000`,
  values: ['42'],
};

const leaf = (table) => `SELECT * FROM ${table} WHERE shop = $1`;
const ordersOf = `SELECT FROM (${leaf('orders')}) o`;
const linesOf = 'SELECT FROM order_lines l WHERE l.order_id = o.id AND l.product = 5';

/**
 * Customers with a public order and a line of a product. Before: the line may be in any order. Under the token: the
 * line must be in a public order.
 */
export const customersByHand = {
  apart: {
    text: `SELECT count(*) FROM (${leaf('customers')}) c WHERE EXISTS (${ordersOf} WHERE o.customer = c.id AND o.status = 'public')
      AND EXISTS (${ordersOf} WHERE o.customer = c.id AND EXISTS (${linesOf}))`,
    values: linesByHand.values,
  },
  together: {
    text: `SELECT count(*) FROM (${leaf('customers')}) c
      WHERE EXISTS (${ordersOf} WHERE o.customer = c.id AND o.status = 'public' AND EXISTS (${linesOf}))`,
    values: linesByHand.values,
  },
};

export const makeLines = async (url) => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  for (const statement of [
    ...statements,
    'VACUUM ANALYZE shops',
    'VACUUM ANALYZE customers',
    'VACUUM ANALYZE orders',
    'VACUUM ANALYZE order_lines',
    'VACUUM ANALYZE shop_lines',
  ])
    await client.query(statement);
  await client.end();
};

const table = (tableName) => ({ schemaName: 'public', tableName });
const linesIn = (name) => ({
  kind: 'visual',
  chart: { type: 'bar' },
  from: table(name),
  dimensions: [{ name: 'Product', column: { ...table(name), columnName: 'product' } }],
  measures: [
    { name: 'Cents', aggregate: 'SUM', column: { ...table(name), columnName: 'cents' } },
    { name: 'Lines', aggregate: 'COUNT' },
  ],
});

const ofCustomers = {
  ...{ kind: 'visual', chart: { type: 'bar' }, from: table('customers') },
  dimensions: [],
  measures: [{ name: 'Customers', aggregate: 'COUNT' }],
};
const filterOf = (name, tableName, columnName, dataType) => ({
  ...{ name, dataType, applyOnTables: [{ ...table(tableName), columnName, dataType }] },
});

/** Requests of a guest for order lines and customers, without the result cache. */
export const makeLinesTargets = async (url, serviceToken, datasource) => {
  const call = callerOf(url);
  const asService = (method, path, body) => call(serviceToken, method, path, body);
  const name = 'order lines';
  const columns = (...names) => names.map((each) => ({ name: each }));
  await asService('POST', '/data-app', { name });
  const { key } = await asService('POST', '/data-app/api-tokens', { dataAppName: name, name });
  await asService('POST', '/datasource', { ...datasource, credentials: { name, ...datasource.credentials } });
  await asService('POST', '/data-app/datamarts', {
    name,
    datasourceName: name,
    cacheTtlSeconds: 0,
    tenancySettings: {
      ...{ tenancyLevel: 'TABLE', clientColumnType: 'NUMBER', schemaName: 'public', tableName: 'shops' },
      ...{ tablePrimaryKeyColumn: 'id', tableClientNameColumn: 'name' },
    },
    tableList: [
      { name: 'customers', schemaName: 'public', clientColumn: 'shop', columns: columns('id', 'shop') },
      {
        ...{ name: 'orders', schemaName: 'public', clientColumn: 'shop' },
        columns: columns('id', 'shop', 'customer', 'status'),
      },
      { name: 'order_lines', schemaName: 'public', columns: columns('id', 'order_id', 'product', 'cents') },
      {
        name: 'shop_lines',
        schemaName: 'public',
        clientColumn: 'shop',
        columns: columns('id', 'product', 'cents', 'shop'),
      },
    ],
    // No cardinality is declared: the primary key of orders proves it.
    relationships: [
      {
        ...{ relationshipName: 'order', parentTableName: 'order_lines', parentColumnName: 'order_id' },
        ...{ childTableName: 'orders', childColumnName: 'id' },
      },
      {
        ...{ relationshipName: 'customer', parentTableName: 'orders', parentColumnName: 'customer' },
        ...{ childTableName: 'customers', childColumnName: 'id' },
      },
    ],
  });
  await asService('POST', '/workspace', { name, connectionType: 'DATAMART', datamartName: name });
  await asService('POST', '/data-app/import-dashboard', {
    ...{ workspaceName: name, dashboardId: 'lines', dashboardName: name },
    importDashboardData: {
      gridMargin: [],
      filters: [
        filterOf('Status', 'orders', 'status', 'string'),
        filterOf('Product', 'order_lines', 'product', 'number'),
      ],
      layout: ['lines', 'own', 'customers'].map((metricId, y) => ({ metricId, x: 0, y: 6 * y, w: 12, h: 6 })),
      metrics: [
        { metricId: 'lines', name: 'lines', definition: linesIn('order_lines') },
        { metricId: 'own', name: 'own', definition: linesIn('shop_lines') },
        { metricId: 'customers', name: 'customers', definition: ofCustomers },
      ],
    },
  });
  const [clientId] = linesByHand.values;
  const dashboardId = `lines--${clientId}`;
  await call(key, 'POST', '/data-app/dashboard-embeds', {
    ...{ dashboardId, clientId, workspaceName: name, templateDashboardId: 'lines', isImportMetrics: true },
    accessSettings: { datamartName: name, ...access },
  });
  const targetOf = async (metric, params, asked) => {
    const { token } = await call(key, 'POST', '/guest-token/create', {
      ...{ clientId, dataAppName: name, expiryTime: 3_600_000, params: { allowedEmbeds: [dashboardId], ...params } },
    });
    const { data } = await call(token, 'GET', `/guest/dashboards/${dashboardId}`);
    const { metricId } = data.metrics.find((one) => one.name === metric);
    return { path: `/api/v2/guest/metrics/${metricId}/query`, token, body: JSON.stringify({ dashboardId, ...asked }) };
  };
  const hidden = { dashboardAppFilters: [{ dashboardId, values: { Status: ['public'] } }] };
  return {
    lines: await targetOf('lines', {}, {}),
    own: await targetOf('own', {}, {}),
    customers: await targetOf('customers', hidden, { dashboardFilter: { Product: { min: 5, max: 5 } } }),
  };
};
