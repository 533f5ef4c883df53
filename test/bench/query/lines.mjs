// Lines of orders, which have no client column: what it costs that their rows get their client by their order, against the same JOIN by hand.
import pg from 'pg';
import { access, callerOf } from './organization.mjs';

const statements = [
  'CREATE TABLE shops (id int PRIMARY KEY, name text)',
  "INSERT INTO shops SELECT n, 'shop ' || n FROM generate_series(1, 500) n",
  'CREATE TABLE orders (id int PRIMARY KEY, shop int NOT NULL)',
  'INSERT INTO orders SELECT n, n % 500 + 1 FROM generate_series(1, 100000) n',
  'CREATE INDEX ON orders (shop)',
  'CREATE TABLE order_lines (id int PRIMARY KEY, order_id int NOT NULL, product int, cents int)',
  'INSERT INTO order_lines SELECT n, n % 100000 + 1, n % 97, n % 1000 FROM generate_series(1, 1000000) n',
  'CREATE INDEX ON order_lines (order_id)',
];

/** By hand: what a developer would write who knows the tables. */
export const linesByHand = {
  text: `SELECT product, sum(cents), count(*) FROM order_lines JOIN orders ON orders.id = order_lines.order_id
    WHERE orders.shop = $1 GROUP BY 1 ORDER BY 1 LIMIT 10000`,
  values: ['42'],
};

export const makeLines = async (url) => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  for (const statement of [
    ...statements,
    'VACUUM ANALYZE shops',
    'VACUUM ANALYZE orders',
    'VACUUM ANALYZE order_lines',
  ])
    await client.query(statement);
  await client.end();
};

const table = (tableName) => ({ schemaName: 'public', tableName });
const definition = {
  kind: 'visual',
  chart: { type: 'bar' },
  from: table('order_lines'),
  dimensions: [{ name: 'Product', column: { ...table('order_lines'), columnName: 'product' } }],
  measures: [
    { name: 'Cents', aggregate: 'SUM', column: { ...table('order_lines'), columnName: 'cents' } },
    { name: 'Lines', aggregate: 'COUNT' },
  ],
};

/** What a guest's query of its lines needs; nothing of it is kept. */
export const makeLinesTarget = async (url, serviceToken, datasource) => {
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
      { name: 'orders', schemaName: 'public', clientColumn: 'shop', columns: columns('id', 'shop') },
      { name: 'order_lines', schemaName: 'public', columns: columns('id', 'order_id', 'product', 'cents') },
    ],
    // Without a cardinality: the primary key of orders proves it.
    relationships: [
      {
        ...{ relationshipName: 'order', parentTableName: 'order_lines', parentColumnName: 'order_id' },
        ...{ childTableName: 'orders', childColumnName: 'id' },
      },
    ],
  });
  await asService('POST', '/workspace', { name, connectionType: 'DATAMART', datamartName: name });
  await asService('POST', '/data-app/import-dashboard', {
    ...{ workspaceName: name, dashboardId: 'lines', dashboardName: name },
    importDashboardData: {
      ...{ gridMargin: [], filters: [], layout: [{ metricId: 'lines', x: 0, y: 0, w: 12, h: 6 }] },
      metrics: [{ metricId: 'lines', name: 'lines', definition }],
    },
  });
  const [clientId] = linesByHand.values;
  const dashboardId = `lines--${clientId}`;
  await call(key, 'POST', '/data-app/dashboard-embeds', {
    ...{ dashboardId, clientId, workspaceName: name, templateDashboardId: 'lines', isImportMetrics: true },
    accessSettings: { datamartName: name, ...access },
  });
  const { token } = await call(key, 'POST', '/guest-token/create', {
    ...{ clientId, dataAppName: name, expiryTime: 3_600_000, params: { allowedEmbeds: [dashboardId] } },
  });
  const { data } = await call(token, 'GET', `/guest/dashboards/${dashboardId}`);
  return {
    path: `/api/v2/guest/metrics/${data.metrics[0].metricId}/query`,
    token,
    body: JSON.stringify({ dashboardId }),
  };
};
