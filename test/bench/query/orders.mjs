/** A PostgreSQL of a million orders of 200 tenants over two years, one dashboard of one chart for some of them, and a rollup that the chart does not read. */
import { randomUUID } from 'node:crypto';
import { Agent, request } from 'node:http';
import { DuckDBInstance } from '@duckdb/node-api';
import pg from 'pg';
import { access, callerOf } from './organization.mjs';

const serverUrl = process.env.BENCH_DATABASE_URL ?? 'postgres://root@127.0.0.1:5432/test';

const orders = [
  `create table tenants as select 't' || i as id, 'Tenant ' || i as name from generate_series(0, 199) as numbers (i)`,
  `create table orders as select 't' || i % 200 as tenant, date '2024-01-01' + ((i - i % 200) / 200 % 700)::int as day, i % 977 as amount
   from generate_series(1, 1000000) as numbers (i)`,
];

/** The rows of the last statement. */
export const onServer = async (url, statements) => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    let rows = [];
    for (const statement of statements) ({ rows } = await client.query(statement));
    return rows;
  } finally {
    await client.end();
  }
};

/** A database of its own on the server. */
export const makeDatabase = async (statements = []) => {
  const name = `bench_${randomUUID().slice(0, 8)}`;
  await onServer(serverUrl, [`create database ${name}`]);
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  await onServer(url.href, statements);
  return { url, drop: () => onServer(serverUrl, [`drop database ${name} with (force)`]) };
};

/** The orders in PostgreSQL. */
export const makeOrders = async () => {
  const { url, drop } = await makeDatabase([...orders, 'create index on orders (tenant)', 'analyze']);
  const { hostname: host, port, username, password, pathname } = url;
  const login = { host, port: Number(port || '5432'), username, password: decodeURIComponent(password) };
  const credentials = { name: 'shop', ...login, database: pathname.slice(1) };
  return { url, drop, datasource: { datasourceType: 'POSTGRES', credentials } };
};

/** The orders in a DuckDB file. */
export const makeOrdersFile = async (path) => {
  const instance = await DuckDBInstance.create(path);
  const connection = await instance.connect();
  for (const statement of ['create schema public', 'use public', ...orders]) await connection.run(statement);
  connection.closeSync();
  instance.closeSync();
  return { datasourceType: 'DUCKDB', credentials: { name: 'shop', path } };
};

const column = (columnName) => ({ schemaName: 'public', tableName: 'orders', columnName });
const from = { schemaName: 'public', tableName: 'orders' };

const rollup = {
  ...{ name: 'orders by day', from: 'orders', dimensions: [], grain: 'day' },
  measures: [{ aggregate: 'SUM', column: 'amount' }],
  partition: { column: 'day', by: 'month', closesAfterHours: 24 },
  refresh: { everyMinutes: 1440 },
};

/** A dashboard of one chart for each tenant. Returns what each asks. The chart reads what no rollup has. */
export const makeTargets = async (url, serviceToken, datasource, clientIds) => {
  const call = callerOf(url);
  const asService = (method, path, body) => call(serviceToken, method, path, body);
  await asService('POST', '/data-app', { name: 'bench' });
  const { key } = await asService('POST', '/data-app/api-tokens', { dataAppName: 'bench', name: 'bench' });
  await asService('POST', '/datasource', datasource);
  await asService('POST', '/data-app/datamarts', {
    ...{ name: 'shop', datasourceName: 'shop', cacheTtlSeconds: 0, relationships: [], rollups: [rollup] },
    tenancySettings: {
      ...{ tenancyLevel: 'TABLE', clientColumnType: 'STRING', schemaName: 'public', tableName: 'tenants' },
      ...{ tablePrimaryKeyColumn: 'id', tableClientNameColumn: 'name' },
    },
    tableList: [
      {
        ...{ name: 'orders', schemaName: 'public', clientColumn: 'tenant' },
        columns: ['tenant', 'day', 'amount'].map((name) => ({ name })),
      },
    ],
  });
  await asService('POST', '/workspace', { name: 'shop', connectionType: 'DATAMART', datamartName: 'shop' });
  const dimensions = [{ name: 'Amount', column: column('amount') }];
  const measures = [{ name: 'Orders', aggregate: 'COUNT' }];
  const definition = { kind: 'visual', chart: { type: 'bar' }, from, dimensions, measures, limit: 50 };
  await asService('POST', '/data-app/import-dashboard', {
    ...{ workspaceName: 'shop', dashboardId: 'board', dashboardName: 'Board' },
    importDashboardData: {
      ...{ gridMargin: [], filters: [], layout: [{ metricId: 'orders', x: 0, y: 0, w: 12, h: 6 }] },
      metrics: [{ metricId: 'orders', name: 'Orders', definition }],
    },
  });
  const targets = new Map();
  for (const clientId of clientIds) {
    const dashboardId = `asked-${clientId}`;
    await call(key, 'POST', '/data-app/dashboard-embeds', {
      ...{ dashboardId, clientId, workspaceName: 'shop', templateDashboardId: 'board', isImportMetrics: true },
      accessSettings: { datamartName: 'shop', ...access },
    });
    const params = { allowedEmbeds: [dashboardId] };
    const asked = { clientId, dataAppName: 'bench', expiryTime: 21_600_000, params };
    const { token } = await call(key, 'POST', '/guest-token/create', asked);
    const { data } = await call(token, 'GET', `/guest/dashboards/${dashboardId}`);
    const path = `/api/v2/guest/metrics/${data.metrics[0].metricId}/query`;
    targets.set(clientId, { path, token, body: JSON.stringify({ dashboardId }) });
  }
  return { targets, build: () => asService('POST', '/data-app/datamarts/rollups/build', whole) };
};
const whole = { datamartName: 'shop', rollupName: 'orders by day', isWhole: true };

const agent = new Agent({ keepAlive: true });

/** Resolves to the milliseconds, or to null if it was refused. */
export const ask = (url, { path, token, body }) =>
  new Promise((resolve, reject) => {
    const since = performance.now();
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const sent = request(new URL(path, url), { method: 'POST', agent, headers }, (answer) => {
      answer.resume();
      answer.on('end', () => resolve(answer.statusCode === 200 ? performance.now() - since : null));
      answer.on('error', reject);
    });
    sent.on('error', reject);
    sent.end(body);
  });

export const quantile = (values, part) =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * part)] ?? Number.NaN;
