/**
 * The demo's dashboards over many rows, from rollups and from the source: the flights repeated with other dates and other
 * tenants. Prints the time of each build with its rate and its disk, then what a guest waits for a dashboard, uncached, at
 * one front end and at eight, and what a cached token takes while rollups are built. Prints Markdown tables of medians.
 *
 * `npm run bench -- rollups [--millions 3,30] [--sources DUCKDB,POSTGRES] [--seconds 5] [--folder KEPT]`. BENCH_DATABASE_URL: a server on
 * which it may create a database. A folder that is given keeps what was made for a later run. Needs about 12 MB of disk for each million rows on DuckDB, and 80 MB on PostgreSQL.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { stringify } from 'yaml';
import { load, once } from './query/load.mjs';
import { access, callerOf, tenancySettingsOf } from './query/organization.mjs';
import { makeFlights, makeFlightsInPostgres } from './query/repeated.mjs';
import { credentialsIn, inTemporaryFolder, launch, median, root } from './server.mjs';

const { values: given } = parseArgs({
  args: process.argv.slice(3),
  options: {
    millions: { type: 'string', default: '3,30' },
    sources: { type: 'string', default: 'DUCKDB,POSTGRES' },
    seconds: { type: 'string', default: '5' },
    folder: { type: 'string' },
  },
});
const sizes = given.millions.split(',').map(Number);
const kinds = given.sources.split(',');
const seconds = Number(given.seconds);
const serverUrl = process.env.BENCH_DATABASE_URL ?? 'postgres://root@127.0.0.1:5432/test';

const column = (columnName) => ({ schemaName: 'main', tableName: 'flights', columnName });
const flights = { name: 'Flights', aggregate: 'COUNT' };
const averageDelay = { name: 'Average delay', aggregate: 'AVG', column: column('delay') };

/** The demo's cards over the table of flights alone, by their names: what a rollup of one table holds. */
const cards = {
  'flights-a-day': { dimensions: [{ name: 'Day', column: column('date'), grain: 'day' }], measures: [flights] },
  'delay-by-hour': {
    dimensions: [{ name: 'Hour', column: column('date'), grain: 'hourOfDay' }],
    measures: [averageDelay],
  },
  'busiest-routes': {
    ...{ dimensions: [{ name: 'Destination', column: column('destination') }], measures: [flights] },
    ...{ sort: [{ name: 'Flights', direction: 'DESC' }], limit: 12 },
  },
  'distance-histogram': {
    ...{ dimensions: [{ name: 'Distance', column: column('distance'), bucketWidth: 250 }], measures: [flights] },
    sort: [{ name: 'Distance', direction: 'ASC' }],
  },
};

const rollups = [
  {
    ...{ name: 'routes by day', from: 'flights', dimensions: ['destination', 'distance'], grain: 'day' },
    ...{ measures: [{ aggregate: 'AVG', column: 'delay' }], partition: { column: 'date', by: 'year' } },
  },
  {
    ...{ name: 'delays by hour', from: 'flights', dimensions: [], grain: 'hour' },
    ...{ measures: [{ aggregate: 'AVG', column: 'delay' }], partition: { column: 'date', by: 'year' } },
  },
];

const startService = async (folder, rollupFolder) => {
  const file = join(folder, 'guestlist.yaml');
  const settings = {
    datasources: { duckdbFolders: [folder], allowedHosts: ['127.0.0.1:5432'] },
    rollups: { folder: rollupFolder, memoryMegabytes: 2048, diskMegabytes: 16_384 },
    queries: { timeoutSeconds: 600, warmUp: { questions: 0 } },
  };
  writeFileSync(file, stringify(settings));
  const dataDir = join(folder, 'data');
  mkdirSync(dataDir, { recursive: true });
  const limits = { GUESTLIST_GUEST_TOKEN_PER_MINUTE: '100000000', GUESTLIST_GUEST_ADDRESS_PER_MINUTE: '100000000' };
  const env = { GUESTLIST_CONFIG: file, GUESTLIST_DEMO: '0', GUESTLIST_LOG_LEVEL: 'warn', ...limits };
  const service = await launch([process.execPath, join(root, 'bin/guestlist.mjs'), 'serve', '--only', 'service'], {
    ...{ dataDir, env },
  });
  return { ...service, serviceToken: (await credentialsIn(dataDir)).serviceToken };
};

const sizeOf = async (folder) => {
  const files = await readdir(folder, { recursive: true, withFileTypes: true });
  const sizes = await Promise.all(
    files.filter((file) => file.isFile()).map((file) => stat(join(file.parentPath, file.name))),
  );
  return sizes.reduce((sum, { size }) => sum + size, 0);
};

const contentOf = (name, schemaName) => ({
  ...{ gridMargin: [], filters: [] },
  layout: Object.keys(cards).map((card, at) => ({ metricId: `${card} ${name}`, x: 0, y: 4 * at, w: 12, h: 4 })),
  metrics: Object.entries(cards).map(([card, definition]) => ({
    ...{ metricId: `${card} ${name}`, name: card },
    definition: JSON.parse(
      JSON.stringify({
        ...{
          kind: 'visual',
          chart: { type: 'bar' },
          from: { schemaName: 'main', tableName: 'flights' },
          ...definition,
        },
      }).replaceAll('"main"', JSON.stringify(schemaName)),
    ),
  })),
});

/** One datamart with rollups and one without, and a dashboard of each that asks all its cards at once. Returns the API key. */
const makeContent = async ({ url, serviceToken }, name, { schemaName, datasource }) => {
  const call = callerOf(url);
  const asService = (method, path, body) => call(serviceToken, method, path, body);
  await asService('POST', '/data-app', { name });
  const { key } = await asService('POST', '/data-app/api-tokens', { dataAppName: name, name });
  await asService('POST', '/datasource', { ...datasource, credentials: { name, ...datasource.credentials } });
  for (const answeredBy of ways) {
    const own = `${name}-${answeredBy}`;
    const columns = ['origin', 'destination', 'date', 'delay', 'distance'].map((each) => ({ name: each }));
    await asService('POST', '/data-app/datamarts', {
      ...{ name: own, datasourceName: name, cacheTtlSeconds: 0, tenancySettings: tenancySettingsOf(schemaName) },
      ...{ tableList: [{ name: 'flights', schemaName, clientColumn: 'origin', columns }], relationships: [] },
      ...(answeredBy === 'rollups' ? { rollups } : {}),
    });
    await asService('POST', '/workspace', { name: own, connectionType: 'DATAMART', datamartName: own });
    await asService('POST', '/data-app/import-dashboard', {
      ...{ workspaceName: own, dashboardId: own, dashboardName: own, importDashboardData: contentOf(own, schemaName) },
    });
    await call(key, 'POST', '/data-app/dashboard-embeds', {
      ...{
        dashboardId: `${own}--LAX`,
        clientId: 'LAX',
        workspaceName: own,
        templateDashboardId: own,
        isImportMetrics: true,
      },
      accessSettings: { datamartName: own, ...access },
    });
  }
  return key;
};
const ways = ['rollups', 'source'];

/** What a guest asks of each, and what builds a rollup. */
const findTargets = async ({ url, serviceToken }, name, key) => {
  const call = callerOf(url);
  const targets = {};
  for (const answeredBy of ways) {
    const dashboardId = `${name}-${answeredBy}--LAX`;
    const { token } = await call(key, 'POST', '/guest-token/create', {
      ...{ clientId: 'LAX', dataAppName: name, expiryTime: 3_600_000, params: { allowedEmbeds: [dashboardId] } },
    });
    const { data } = await call(token, 'GET', `/guest/dashboards/${dashboardId}`);
    const metrics = data.metrics.map(({ metricId }) => ({ metricId }));
    targets[answeredBy] = {
      ...{ token, path: `/api/v2/guest/dashboards/${dashboardId}/query`, body: JSON.stringify({ metrics }) },
      cards: data.metrics.map(({ metricId, name: card }) => ({
        ...{ card, token, path: `/api/v2/guest/metrics/${metricId}/query`, body: JSON.stringify({ dashboardId }) },
      })),
    };
  }
  const datamartName = `${name}-rollups`;
  const buildOne = (rollupName, isWhole) => buildAt(url, serviceToken, { datamartName, rollupName, isWhole });
  return { buildOne, targets };
};

/** Without `fetch`, which waits at most five minutes for an answer. */
const buildAt = (url, serviceToken, body) =>
  new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${serviceToken}`, 'content-type': 'application/json' };
    const path = new URL('/api/v2/data-app/datamarts/rollups/build', url);
    const sent = request(path, { method: 'POST', headers }, async (answer) => {
      const text = (await answer.toArray()).join('');
      if (answer.statusCode === 200) resolve(JSON.parse(text).data);
      else reject(new Error(`the build answered ${text}`));
    });
    sent.on('error', reject);
    sent.end(JSON.stringify(body));
  });

/** The build began when the datamart was written: this waits for its end. */
const build = async ({ buildOne }, millions, rollupFolder) => {
  const before = await sizeOf(rollupFolder).catch(() => 0);
  const lines = [];
  for (const { name: rollupName } of rollups) {
    const started = performance.now();
    const data = await buildOne(rollupName, false);
    const took = (performance.now() - started) / 1000;
    lines.push([rollupName, took, (millions * 1e6) / took, data.rows, data.bytes]);
  }
  const grown = (await sizeOf(rollupFolder)) - before;
  return lines.map(
    ([name, took, rate, rows, bytes]) =>
      `| ${name} | ${took.toFixed(1)} | ${Math.round(rate).toLocaleString('en')} | ${rows.toLocaleString('en')} | ${(bytes / 1e6).toFixed(1)} | ${(grown / 1e6).toFixed(1)} |`,
  );
};

/** Whether each card is answered by a rollup, and by the same rows as by the source. */
const assertSame = async (url, { rollups: kept, source }) => {
  for (const [at, target] of kept.cards.entries()) {
    const [own, other] = [await once(url, target), await once(url, source.cards[at])];
    if (own.asOf === undefined) throw new Error(`${target.card} was answered by the source`);
    const sorted = ({ data }) => JSON.stringify(data.map((row) => JSON.stringify(row)).toSorted());
    if (sorted(own) !== sorted(other)) throw new Error(`${target.card} differs`);
  }
};

const rounds = 3;

/** Sizes in turns: what slows the machine for a while slows all of them. */
const measureAll = async (ofSizes) => {
  const times = new Map();
  for (let round = 0; round < rounds; round += 1)
    for (const connections of [1, 8])
      for (const by of ['rollups', 'source'])
        for (const { millions, service, made } of ofSizes) {
          const target = made.targets[by];
          if (round === 0) await load(service.url, target, { connections, seconds: 0.5 });
          const key = `${by} ${connections} ${millions}`;
          const { ms } = await load(service.url, target, { connections, seconds });
          times.set(key, [...(times.get(key) ?? []), ms]);
        }
  return (by, connections, millions) => median(times.get(`${by} ${connections} ${millions}`));
};

const sourceOf = {
  DUCKDB: async (folder, millions) => {
    const path = join(folder, `flights-${millions}.duckdb`);
    // A run that was stopped may have made it.
    if (!existsSync(path)) await makeFlights(path, millions);
    return {
      schemaName: 'main',
      datasource: { datasourceType: 'DUCKDB', credentials: { path } },
      drop: async () => {},
    };
  },
  POSTGRES: async (folder, millions) => {
    const { url, drop } = await makeFlightsInPostgres(folder, millions, serverUrl);
    const { hostname: host, port, username, password, pathname } = new URL(url);
    const credentials = {
      ...{ host, port: Number(port || '5432'), database: pathname.slice(1) },
      ...{ username: decodeURIComponent(username), password: decodeURIComponent(password) },
    };
    return { schemaName: 'public', datasource: { datasourceType: 'POSTGRES', credentials }, drop };
  },
};

/** What a guest's token takes at the service while nothing else runs, and while rollups are built. */
const percentile99 = async (url, target, until) => {
  const times = [];
  let isOver = false;
  const ended = until.finally(() => {
    isOver = true;
  });
  while (!isOver) {
    const started = performance.now();
    await once(url, target);
    times.push(performance.now() - started);
  }
  await ended;
  const sorted = times.toSorted((a, b) => a - b);
  return {
    count: sorted.length,
    p50: sorted[Math.floor(sorted.length / 2)],
    p99: sorted[Math.floor(sorted.length * 0.99)],
  };
};

const printBuilds = (millions, lines) => {
  for (const line of lines) console.log(`| ${millions} M ${line}`);
};

const printTimes = (timeOf) => {
  console.log(
    '\n| rows | answered by | front ends | a dashboard, ms | against the fewest rows |\n|---|---|---|---|---|',
  );
  const [least = 0] = sizes;
  for (const by of ['rollups', 'source'])
    for (const connections of [1, 8])
      for (const millions of sizes) {
        const ms = timeOf(by, connections, millions);
        const ratio = ms / timeOf(by, connections, least);
        console.log(`| ${millions} M | ${by} | ${connections} | ${ms.toFixed(1)} | ${ratio.toFixed(2)} |`);
      }
};

const printPercentiles = (millions, when, { count, p50, p99 }) =>
  console.log(`| ${millions} M | ${when} | ${count} | ${p50.toFixed(1)} | ${p99.toFixed(1)} |`);

const measureKind = async (ofSizes) => {
  for (const { service, made } of ofSizes) await assertSame(service.url, made.targets);
  printTimes(await measureAll(ofSizes));
  console.log('\n| rows | one card from a rollup | answers | p50, ms | p99, ms |\n|---|---|---|---|---|');
  for (const { millions, service, made } of ofSizes) {
    const [card] = made.targets.rollups.cards;
    const whileWaiting = new Promise((end) => setTimeout(end, 1000 * seconds));
    printPercentiles(millions, 'nothing else runs', await percentile99(service.url, card, whileWaiting));
    const built = made.buildOne(rollups[0].name, true);
    const enough = new Promise((end) => setTimeout(end, 5000 * seconds));
    printPercentiles(
      millions,
      'a rollup is built',
      await percentile99(service.url, card, Promise.race([built, enough])),
    );
    await built;
  }
};

/** The product over a source of so many millions of rows. What a run with `--folder` made, a later one uses. */
const prepare = async (folder, kind, millions, stops) => {
  const own = join(folder, `${kind}-${millions}`);
  const rollupFolder = join(own, 'rollups');
  const isNew = !existsSync(join(own, 'key'));
  if (isNew) mkdirSync(rollupFolder, { recursive: true });
  const source = isNew ? await sourceOf[kind](own, millions) : undefined;
  if (source !== undefined && given.folder === undefined) stops.push(source.drop);
  const service = await startService(own, rollupFolder);
  stops.push(service.stop);
  const name = `flights-${millions}`;
  if (isNew) writeFileSync(join(own, 'key'), await makeContent(service, name, source));
  const made = await findTargets(service, name, readFileSync(join(own, 'key'), 'utf8'));
  if (isNew) printBuilds(millions, await build(made, millions, rollupFolder));
  return { millions, service, made };
};

const inFolder = (work) => (given.folder === undefined ? inTemporaryFolder(work) : work(given.folder));

for (const kind of kinds)
  await inFolder(async (folder) => {
    console.log(
      `\n## ${kind}\n\n| rows | rollup | build, s | rows/s | rows kept | MB | MB of all rollups |\n|---|---|---|---|---|---|---|`,
    );
    const stops = [];
    try {
      const ofSizes = [];
      for (const millions of sizes) ofSizes.push(await prepare(folder, kind, millions, stops));
      await measureKind(ofSizes);
    } finally {
      for (const stop of stops.toReversed()) await stop();
    }
  });
