/**
 * One tenant asks a hundred times as much as each of the others, while rollups are built: p95 of the others, beside p95
 * without that tenant, in turns. PostgreSQL source, no answer is kept, requests are sent at fixed times however long the
 * answers take. The product is a process of its own. BENCH_DATABASE_URL: a server on which it may create a database.
 * BENCH_ROUNDS, BENCH_SECONDS and BENCH_PER_SECOND (of all quiet tenants together) change the run.
 */
import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { access, callerOf } from './query/organization.mjs';
import { startService } from './query/service.mjs';
import { inTemporaryFolder, median } from './server.mjs';

const rounds = Number(process.env.BENCH_ROUNDS ?? 3);
const seconds = Number(process.env.BENCH_SECONDS ?? 10);
const perSecond = Number(process.env.BENCH_PER_SECOND ?? 10);
const serverUrl = process.env.BENCH_DATABASE_URL ?? 'postgres://root@127.0.0.1:5432/test';
const quiet = Array.from({ length: 20 }, (_, index) => `t${index + 1}`);
const noisy = 't0';
const times = 100;
const rows = 1_000_000;
const mark = 1.2;

const onServer = async (url, statements) => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  for (const statement of statements) await client.query(statement);
  await client.end();
};

/** A million orders of 200 tenants over two years. */
const makeSource = async () => {
  const name = `bench_${randomUUID().slice(0, 8)}`;
  await onServer(serverUrl, [`create database ${name}`]);
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  await onServer(url.href, [
    `create table tenants as select 't' || i as id, 'Tenant ' || i as name from generate_series(0, 199) i`,
    `create table orders as select 't' || i % 200 as tenant, date '2024-01-01' + (i / 200) % 700 as day, i % 977 as amount
     from generate_series(1, ${rows}) i`,
    'create index on orders (tenant)',
    'analyze',
  ]);
  return { url, drop: () => onServer(serverUrl, [`drop database ${name} with (force)`]) };
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
const makeTargets = async (url, serviceToken, source) => {
  const call = callerOf(url);
  const asService = (method, path, body) => call(serviceToken, method, path, body);
  const { hostname: host, port, username, password, pathname } = source.url;
  const login = { host, port: Number(port || '5432'), username, password: decodeURIComponent(password) };
  await asService('POST', '/data-app', { name: 'bench' });
  const { key } = await asService('POST', '/data-app/api-tokens', { dataAppName: 'bench', name: 'bench' });
  await asService('POST', '/datasource', {
    ...{ datasourceType: 'POSTGRES', credentials: { name: 'shop', ...login, database: pathname.slice(1) } },
  });
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
  for (const clientId of [noisy, ...quiet]) {
    const dashboardId = `board--${clientId}`;
    await call(key, 'POST', '/data-app/dashboard-embeds', {
      ...{ dashboardId, clientId, workspaceName: 'shop', templateDashboardId: 'board', isImportMetrics: true },
      accessSettings: { datamartName: 'shop', ...access },
    });
    const params = { allowedEmbeds: [dashboardId] };
    const asked = { clientId, dataAppName: 'bench', expiryTime: 3_600_000, params };
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
const ask = (url, { path, token, body }) =>
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

const quantile = (values, part) => values.toSorted((a, b) => a - b)[Math.floor(values.length * part)] ?? Number.NaN;

/** Sends requests of these tenants in turns at a fixed rate. */
const send = async (url, targets, rate) => {
  const ends = performance.now() + seconds * 1000;
  const asked = [];
  for (let number = 0, next = performance.now(); next < ends; number += 1, next += 1000 / rate) {
    await pause(Math.max(0, next - performance.now()));
    asked.push(ask(url, targets[number % targets.length]));
  }
  return Promise.all(asked);
};

const measure = async (product, { targets, build }, { isNoisy, builds }) => {
  const state = { isOver: false, count: 0 };
  const building = (async () => {
    while (builds && !state.isOver) {
      await build();
      state.count += 1;
    }
  })();
  const others = quiet.map((name) => targets.get(name));
  const [own, loud] = await Promise.all([
    send(product.url, others, perSecond),
    isNoisy ? send(product.url, [targets.get(noisy)], (perSecond / quiet.length) * times) : [],
  ]);
  state.isOver = true;
  await building;
  const good = own.filter((ms) => ms !== null);
  return {
    ...{ p50: quantile(good, 0.5), p95: quantile(good, 0.95), refused: own.length - good.length },
    ...{ loud: loud.length, loudRefused: loud.filter((ms) => ms === null).length, builds: state.count },
  };
};

const ways = [
  { name: 'the others alone', isNoisy: false, builds: false },
  { name: 'with the loud tenant', isNoisy: true, builds: false },
  { name: 'the others alone, rollups are built', isNoisy: false, builds: true },
  { name: 'with the loud tenant, rollups are built', isNoisy: true, builds: true },
];

await inTemporaryFolder(async (folder) => {
  const source = await makeSource();
  const stops = [source.drop];
  try {
    const { hostname, port } = source.url;
    mkdirSync(join(folder, 'rollups'));
    const product = await startService(folder, {
      allowedHosts: [`${hostname}:${port || '5432'}`],
      settings: { rollups: { folder: join(folder, 'rollups') } },
    });
    stops.push(product.stop);
    const made = await makeTargets(product.url, product.serviceToken, source);
    await measure(product, made, { isNoisy: true, builds: true });
    const results = ways.map(() => []);
    for (let round = 0; round < rounds; round += 1)
      for (const [index, way] of ways.entries()) results[index].push(await measure(product, made, way));
    const of = (index, name) => median(results[index].map((result) => result[name]));
    console.log(
      `${rounds} rounds of ${seconds} s, medians; ${quiet.length} tenants ask ${perSecond} times a second together\n`,
    );
    console.log(
      '| | p50 ms | p95 ms | against without the loud one | refused | the loud one: asked, refused | builds |',
    );
    console.log('|---|---|---|---|---|---|---|');
    for (const [index, { name, isNoisy }] of ways.entries()) {
      const ratio = of(index, 'p95') / of(isNoisy ? index - 1 : index, 'p95');
      const marked = isNoisy ? `${ratio.toFixed(2)} (at most ${mark} ${ratio <= mark ? '✓' : '✗'})` : '';
      console.log(
        `| ${name} | ${of(index, 'p50').toFixed(1)} | ${of(index, 'p95').toFixed(1)} | ${marked} | ${of(index, 'refused')} | ${of(index, 'loud')}, ${of(index, 'loudRefused')} | ${of(index, 'builds')} |`,
      );
    }
  } finally {
    for (const stop of stops.toReversed()) await stop();
  }
});
