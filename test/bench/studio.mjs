// Studio in a browser: the bytes of its first page, the time from a click on a field to the drawn preview of three million rows on
// PostgreSQL, how soon a superseded preview ends there, and the frames while a card is dragged over a dashboard of 40. `npm run bench --
// studio`; needs Chromium (CHROMIUM_PATH), psql, and a server at BENCH_DATABASE_URL.
import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import pg from 'pg';
import { chromium } from 'playwright-core';
import { stringify } from 'yaml';
import { makeDuckDb, makePostgres } from './query/data.mjs';
import { credentialsIn, inTemporaryFolder, launch, median, root } from './server.mjs';

const rounds = Number(process.env.BENCH_ROUNDS ?? 15);
const browserPath = process.env.CHROMIUM_PATH ?? '/usr/bin/chromium';
const serverUrl = process.env.BENCH_DATABASE_URL ?? 'postgres://root@127.0.0.1:5432/test';
const workspaceName = 'flights';

const call = async (url, credentials, method, path, body) => {
  const headers = { authorization: `Bearer ${credentials.serviceToken}`, 'content-type': 'application/json' };
  const answer = await fetch(`${url}/api/v2/${path}`, {
    method,
    headers,
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`);
  return answer.json();
};

const flights = { schemaName: 'public', tableName: 'flights' };
const model = {
  ...{ name: workspaceName, datasourceName: 'flights', sharedTables: ['public.airports'] },
  // Without a cache, each preview is a query of the database.
  cacheTtlSeconds: 0,
  tenancySettings: {
    ...{ tenancyLevel: 'TABLE', clientColumnType: 'STRING', schemaName: 'public', tableName: 'tenants' },
    ...{ tableClientNameColumn: 'name', tablePrimaryKeyColumn: 'iata' },
  },
  tableList: [
    ['flights', 'origin', { date: 'Departure', delay: 'Delay', distance: 'Distance in miles', origin: 'Origin' }],
    ['airports', undefined, { iata: 'Code', name: 'Airport', state: 'State' }],
    ['tenants', 'iata', { iata: 'Code', name: 'Airport' }],
  ].map(([name, clientColumn, labels]) => ({
    ...{ name, schemaName: 'public', label: name, clientColumn },
    columns: Object.entries({ ...labels, ...(name === 'flights' ? { destination: 'Destination' } : {}) }).map(
      ([column, label]) => ({ name: column, label }),
    ),
  })),
  relationships: [
    {
      ...{ relationshipName: 'destination', parentTableName: 'public.flights', parentColumnName: 'destination' },
      ...{ childTableName: 'public.airports', childColumnName: 'iata', cardinality: 'ManyToOne' },
    },
  ],
};
const policy = {
  ...{ version: 1, dataApp: 'bench', workspace: workspaceName, datamart: workspaceName },
  session: {
    claims: { org_id: 'string', roles: 'list<string>' },
    ...{ tenant: 'claims.org_id', roles: 'claims.roles' },
  },
  templates: { delays: { name: 'Delays' } },
  rules: [{ name: 'analysts see delays', when: '"analyst" in user.roles', grant: { templates: ['delays'] } }],
};

/** Three million flights on PostgreSQL, with a model, a template for previews and one of 40 cards. */
const makeOrganization = async (url, credentials, server) => {
  const { hostname: host, port, username, password, pathname } = new URL(server);
  const user = { username: decodeURIComponent(username), password: decodeURIComponent(password) };
  const database = { host, port: Number(port || 5432), database: pathname.slice(1), isSsl: false };
  const make = (path, body) => call(url, credentials, 'POST', path, body);
  await make('data-app', { name: 'bench' });
  await make('datasource', { datasourceType: 'POSTGRES', credentials: { name: 'flights', ...database, ...user } });
  await make('data-app/datamarts', model);
  await make('workspace', { name: workspaceName, connectionType: 'DATAMART', datamartName: workspaceName });
  const day = { name: 'Day', column: { ...flights, columnName: 'date' }, grain: 'day' };
  const definition = {
    ...{ kind: 'visual', chart: { type: 'line' }, from: flights, dimensions: [day] },
    measures: [{ name: 'Flights', aggregate: 'COUNT' }],
  };
  for (const [dashboardId, count] of [
    ['delays', 1],
    ['forty', 40],
  ]) {
    const ids = Array.from({ length: count }, (_, at) => `m${at}`);
    const metrics = ids.map((metricId, at) => ({ metricId, name: `Metric ${at}`, definition, lineage: [] }));
    const placed = metrics.map((metric) => ({ ...metric, placement: 'METRIC' }));
    const layout = ids.map((metricId, at) => ({ metricId, x: (at % 4) * 3, y: Math.floor(at / 4) * 4, w: 3, h: 4 }));
    const importDashboardData = { version: 3, layout, filters: [], metrics: placed, gridMargin: [8, 8] };
    await make('data-app/import-dashboard', { workspaceName, dashboardId, importDashboardData });
  }
};

/** The bytes of everything that the first page loads, as gzip sends them. */
const firstLoad = async (page, link) => {
  const sizes = [];
  const noted = page.waitForLoadState('networkidle');
  const count = async (response) => {
    if (response.status() === 200 && /\.(js|css)$|\/studio$/.test(new URL(response.url()).pathname))
      sizes.push(gzipSync(await response.body()).length);
  };
  page.on('response', count);
  await page.goto(link);
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  await noted;
  await page.waitForTimeout(500);
  page.off('response', count);
  return sizes.reduce((sum, size) => sum + size, 0);
};

const chooseViewer = (page) =>
  page.evaluate(() =>
    sessionStorage.setItem(
      'guestlist-studio-viewer',
      JSON.stringify({ clientId: 'LAX', claims: { sub: 'lena', org_id: 'LAX', roles: ['analyst'] } }),
    ),
  );

/** Milliseconds from a click on a field to the drawn chart, which every other click removes again. */
const previewTimes = async (page, url) => {
  await page.goto(`${url}/studio/dashboards/delays?tab=new`);
  const editor = page.locator('guestlist-editor');
  await editor.getByRole('button', { name: 'Distance in miles', exact: true }).click();
  const settled = editor.locator('guestlist-card section[aria-busy="false"]');
  await settled.waitFor();
  const times = [];
  for (let round = 0; round < rounds; round += 1) {
    const answered = page.waitForResponse((response) => response.url().endsWith('/commands/metric-preview'));
    const started = performance.now();
    await editor.getByRole('button', { name: 'Split by Destination', exact: true }).click();
    await answered;
    await settled.waitFor();
    times.push(performance.now() - started);
    await editor.getByRole('button', { name: 'Remove Destination', exact: true }).click();
    await settled.waitFor();
  }
  return times;
};

/**
 * Milliseconds from a click that supersedes a preview to the end of the superseded query in the database, one for each
 * round. A lock keeps the query from ending by itself. Throws if it goes on.
 */
const cancelTimes = async (page, url, server) => {
  const [holder, watcher] = [server, server].map((connectionString) => new pg.Client({ connectionString }));
  await Promise.all([holder.connect(), watcher.connect()]);
  const waiting = async () =>
    (
      await watcher.query(
        "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' ORDER BY pid",
      )
    ).rows.map(({ pid }) => pid);
  const until = async (isDone) => {
    const since = performance.now();
    while (!(await isDone(await waiting()))) {
      if (performance.now() - since > 10_000) throw new Error('a superseded preview goes on in the database');
      await pause(2);
    }
  };
  await page.goto(`${url}/studio/dashboards/delays?tab=new`);
  const editor = page.locator('guestlist-editor');
  const settled = editor.locator('guestlist-card section[aria-busy="false"]');
  const press = (name) => editor.getByRole('button', { name, exact: true }).click();
  await press('Distance in miles');
  await settled.waitFor();
  const times = [];
  for (let round = 0; round < rounds; round += 1) {
    await holder.query('BEGIN; LOCK TABLE flights IN ACCESS EXCLUSIVE MODE');
    await press('Split by Destination');
    let superseded = [];
    await until((pids) => {
      superseded = pids;
      return pids.length > 0;
    });
    const started = performance.now();
    await press('Remove Destination');
    await until((pids) => !superseded.some((pid) => pids.includes(pid)));
    times.push(performance.now() - started);
    await holder.query('ROLLBACK');
    await settled.waitFor();
  }
  await Promise.all([holder.end(), watcher.end()]);
  return times;
};

/** Milliseconds between frames while the first card is dragged to and fro. */
const frameTimes = async (page, url) => {
  await page.goto(`${url}/studio/dashboards/forty?tab=arrange`);
  const card = page.locator('.tile').first();
  await card.waitFor();
  const box = await card.boundingBox();
  await page.mouse.move(box.x + 20, box.y + 20);
  await page.mouse.down();
  await page.evaluate(() => {
    window.frames = [];
    let last = performance.now();
    const note = (now) => {
      window.frames.push(now - last);
      last = now;
      window.noting = requestAnimationFrame(note);
    };
    window.noting = requestAnimationFrame(note);
  });
  for (let step = 0; step < 120; step += 1)
    await page.mouse.move(box.x + 20 + (step % 60) * 12, box.y + 20 + (step % 40) * 8);
  const frames = await page.evaluate(() => {
    cancelAnimationFrame(window.noting);
    return window.frames.slice(1);
  });
  await page.mouse.up();
  return frames;
};

const percentile = (values, share) => values.toSorted((a, b) => a - b)[Math.floor(values.length * share)];

await inTemporaryFolder(async (folder) => {
  const stops = [];
  try {
    const stored = join(folder, 'flights.duckdb');
    await makeDuckDb(stored, 'origin, date');
    const database = await makePostgres(folder, stored, serverUrl);
    stops.push(database.drop);
    const { hostname, port } = new URL(database.url);
    const file = join(folder, 'guestlist.yaml');
    const settings = {
      datasources: { allowedHosts: [`${hostname}:${port || 5432}`] },
      gateway: { policies: './policy.yaml' },
    };
    writeFileSync(file, stringify(settings));
    writeFileSync(join(folder, 'policy.yaml'), stringify(policy));
    const dataDir = join(folder, 'data');
    mkdirSync(dataDir);
    const env = { GUESTLIST_CONFIG: file, GUESTLIST_HOST_JWT_SECRET: 'a secret that signs no session in this bench' };
    const product = await launch([process.execPath, join(root, 'bin/guestlist.mjs'), 'serve'], { dataDir, env });
    stops.push(product.stop);
    const browser = await chromium.launch({ executablePath: browserPath, args: ['--no-sandbox', '--disable-gpu'] });
    stops.push(() => browser.close());
    const credentials = await credentialsIn(dataDir);
    await makeOrganization(product.url, credentials, database.url);
    const page = await (
      await browser.newContext({ viewport: { width: 1440, height: 1000 }, locale: 'en-US' })
    ).newPage();
    const { url: link } = (
      await (
        await fetch(`${product.url}/gateway/admin/studio-link`, {
          method: 'POST',
          headers: { authorization: `Bearer ${credentials.gatewayToken}`, 'content-type': 'application/json' },
          body: '{}',
        })
      ).json()
    ).data;
    const bytes = await firstLoad(page, link);
    await chooseViewer(page);
    const previews = await previewTimes(page, product.url);
    const cancels = await cancelTimes(page, product.url, database.url);
    const frames = await frameTimes(page, product.url);
    console.log(
      `Node ${process.version}, ${cpus().length} cores, ${rounds} rounds, PostgreSQL with 3 million flights\n`,
    );
    console.log('| Studio | value | mark |\n|---|---|---|');
    console.log(`| first page, gzip | ${(bytes / 1024).toFixed(1)} KiB | at most 150 |`);
    console.log(`| click on a field to the drawn preview, median | ${median(previews).toFixed(0)} ms | under 300 |`);
    console.log(`| the same, 95th percentile | ${percentile(previews, 0.95).toFixed(0)} ms | |`);
    console.log(`| click to the end of a superseded query, median | ${median(cancels).toFixed(0)} ms | |`);
    console.log(`| the same, 95th percentile | ${percentile(cancels, 0.95).toFixed(0)} ms | |`);
    console.log(`| frame while a card of 40 is dragged, median | ${median(frames).toFixed(1)} ms | 16.7 |`);
    console.log(`| the same, 95th percentile | ${percentile(frames, 0.95).toFixed(1)} ms | |`);
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
});
