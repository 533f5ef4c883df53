// Reports by e-mail: messages and PDFs a minute, the memory of the product with its browser, and how much slower the queries of
// interactive users become meanwhile. `npm run bench -- deliver`; needs Chromium. BENCH_MESSAGES and BENCH_PDFS set how many.
// Then a morning with 10,000 schedules at 08:00 on the ledger (BENCH_PART=morning: only this): how long planning takes, and how
// much one tenant with nine of ten delays the others. Its clock is its own; TEST_DATABASE_URL names PostgreSQL, else PGlite.
import { createSecretKey, randomUUID } from 'node:crypto';
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import jwt from 'jsonwebtoken';
import { CompiledQuery } from 'kysely';
import { SMTPServer } from 'smtp-server';
import { calendar } from '../../dist/delivery/calendar.js';
import { createPlanner, leavesAt } from '../../dist/delivery/planner.js';
import { openDatabase } from '../../dist/platform/databases/database.js';
import { migrate } from '../../dist/service/store/migrations.js';
import { createStore } from '../../dist/service/store/store.js';
import { insertSchedules, mostInAMinute, sendMorning } from '../delivery/morning.mjs';
import { memoryOf } from './process-memory.mjs';
import { credentialsIn, inTemporaryFolder, launch, median, root } from './server.mjs';

const messages = Number(process.env.BENCH_MESSAGES ?? 200);
const pdfs = Number(process.env.BENCH_PDFS ?? 12);
const askers = 2;
const users = 40;
const calmSeconds = 8;
const rounds = 3;
const tenants = ['LAX', 'SFO', 'JFK', 'ORD'];

/** Takes every message, and counts them. */
const openMailServer = async () => {
  let taken = 0;
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    logger: false,
    onData: (stream, _session, done) => {
      stream.resume();
      stream.on('end', () => {
        taken += 1;
        done();
      });
    },
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `smtp://127.0.0.1:${server.server.address().port}`,
    taken: () => taken,
    close: () => new Promise((resolve) => server.close(resolve)),
  };
};

const replaceIn = async (file, changes) => {
  let text = await readFile(file, 'utf8');
  for (const [from, to] of changes) {
    if (!text.includes(from)) throw new Error(`${file} must hold ${JSON.stringify(from)}`);
    text = text.replace(from, to);
  }
  await writeFile(file, text);
};

/** The shipped configuration, with reports, and without limits that would be measured instead of the product. */
const configure = async (folder) => {
  await cp(join(root, 'config'), join(folder, 'config'), { recursive: true });
  const file = join(folder, 'config/guestlist.yaml');
  await replaceIn(file, [
    ['allowedDomains: []', 'allowedDomains: [customer.example]'],
    ['isTlsRequired: true', 'isTlsRequired: false'],
    ['  from: null', '  from: reports@numbers.example.com'],
    ['perTenantPerMinute: 30', 'perTenantPerMinute: 100000'],
    ...(process.env.CHROMIUM_PATH ? [['chromiumPath: null', `chromiumPath: ${process.env.CHROMIUM_PATH}`]] : []),
  ]);
  const allows = 'isAllowEmailReports: true\n      isAllowUnderlyingData: true';
  await replaceIn(join(folder, 'config/policies/flights.yaml'), [['isAllowUnderlyingData: true', allows]]);
  return file;
};

const ask = async (url, token, path, body) => {
  const answer = await fetch(`${url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`);
  return answer.json();
};

const login = async (url, secret, user, tenant) => {
  const now = Math.floor(Date.now() / 1000);
  const claims = { iss: 'guestlist-demo', sub: user, org_id: tenant, roles: ['manager'] };
  const session = { ...claims, email: 'max@customer.example', iat: now, exp: now + 3600 };
  const signed = jwt.sign(session, createSecretKey(Buffer.from(secret)));
  const { token, embeds } = await ask(url, signed, '/embed-token', {});
  const { id } = embeds[0];
  const board = await fetch(`${url}/api/v2/guest/dashboards/${id}`, { headers: { authorization: `Bearer ${token}` } });
  return { token, id, metrics: (await board.json()).data.metrics };
};

/** Sends `count` reports, each of a schedule of its own. Returns the seconds from the first request to the last message. */
const sendAll = async (url, guests, mailServer, format, count) => {
  const recurrence = { every: 'month', day: 1, at: '04:00', timezone: 'Europe/Berlin' };
  const plans = [];
  for (let at = 0; at < count; at += 1) {
    const { token, id } = guests[at % guests.length];
    const path = `/api/v2/guest/dashboards/${id}/schedules`;
    const plan = await ask(url, token, path, { name: `By ${format}`, format, recurrence });
    plans.push({ token, path: `${path}/send`, scheduleId: plan.data.id });
  }
  const before = mailServer.taken();
  const since = performance.now();
  for (const { token, path, scheduleId } of plans) await ask(url, token, path, { scheduleId });
  while (mailServer.taken() - before < count) await pause(20);
  return (performance.now() - since) / 1000;
};

/**
 * Interactive users: each asks a metric, waits for the answer and 50 ms, and asks the next. Each question has a filter of
 * its own, so that no answer comes from the cache. Returns what stops them and gives the milliseconds of each answer.
 */
const startAskers = (url, { token, id, metrics }) => {
  const times = [];
  let isOver = false;
  let question = 0;
  const work = async () => {
    while (!isOver) {
      question += 1;
      const { metricId } = metrics[question % metrics.length];
      const day = (offset) =>
        new Date(Date.UTC(2001, 0, 1 + ((question * 7 + offset) % 80))).toISOString().slice(0, 10);
      const period = { startDate: day(0), endDate: day(0) };
      const started = performance.now();
      await ask(url, token, `/api/v2/guest/metrics/${metricId}/query`, {
        dashboardId: id,
        dashboardFilter: { Date: period },
      });
      times.push(performance.now() - started);
      await pause(50);
    }
  };
  const done = Promise.all(Array.from({ length: askers }, work));
  return async () => {
    isOver = true;
    await done;
    return times;
  };
};

/** Runs the work, and samples the memory of the product and of all processes that it started. */
const measured = async (pid, work) => {
  let most = 0;
  const timer = setInterval(async () => {
    most = Math.max(most, await memoryOf(pid));
  }, 250);
  try {
    return { value: await work(), most };
  } finally {
    clearInterval(timer);
  }
};

const percentile = (values, share) => values.toSorted((a, b) => a - b)[Math.floor(values.length * share)];

const benchReports = async (folder) => {
  const mailServer = await openMailServer();
  const file = await configure(folder);
  const dataDir = join(folder, 'data');
  await mkdir(dataDir);
  const env = {
    ...{ GUESTLIST_SMTP_URL: mailServer.url },
    ...{ GUESTLIST_PUBLIC_ORIGIN: 'https://numbers.example.com', GUESTLIST_LOG_LEVEL: 'silent' },
  };
  const product = await launch([process.execPath, join(root, 'test/bench/demo.mjs'), file], { dataDir, env });
  try {
    const { demoJwtSecret } = await credentialsIn(dataDir);
    const guests = [];
    for (let at = 0; at < users; at += 1)
      guests.push(await login(product.url, demoJwtSecret, `max-${at}`, tenants[at % tenants.length]));
    const [asker] = guests;
    const { pid } = product.child;
    await sendAll(product.url, guests, mailServer, 'pdf', 1);
    const idle = await memoryOf(pid);
    const csv = await measured(pid, () => sendAll(product.url, guests, mailServer, 'csv', messages));
    const pdf = await measured(pid, () => sendAll(product.url, guests, mailServer, 'pdf', pdfs));
    const calm = [];
    const busy = [];
    let seconds = 0;
    let most = 0;
    // By turns, so that a machine that changes its speed changes both.
    for (let round = 0; round < rounds; round += 1) {
      const stopCalm = startAskers(product.url, asker);
      await pause(calmSeconds * 1000);
      calm.push(...(await stopCalm()));
      const stopBusy = startAskers(product.url, asker);
      const both = await measured(pid, () => sendAll(product.url, guests, mailServer, 'pdf', pdfs));
      busy.push(...(await stopBusy()));
      seconds += both.value;
      most = Math.max(most, both.most);
    }
    const perMinute = (count, seconds) => ((count / seconds) * 60).toFixed(0);
    const mib = (bytes) => `${(bytes / 2 ** 20).toFixed(0)} MiB`;
    console.log(
      `Node ${process.version}, ${cpus().length} cores, ${messages} messages, ${pdfs} PDFs of ${asker.metrics.length} cards\n`,
    );
    console.log('| reports | value | mark |\n|---|---|---|');
    console.log(`| messages with CSV files, a minute | ${perMinute(messages, csv.value)} | |`);
    console.log(`| messages with a PDF, a minute | ${perMinute(pdfs, pdf.value)} | |`);
    console.log(`| the same while ${askers} users ask | ${perMinute(pdfs * rounds, seconds)} | |`);
    console.log(`| memory before | ${mib(idle)} | |`);
    console.log(`| most memory, CSV | ${mib(csv.most)} | |`);
    console.log(`| most memory, PDF, with the browser | ${mib(Math.max(pdf.most, most))} | |`);
    console.log(`| a user's query, median, calm | ${median(calm).toFixed(1)} ms | |`);
    console.log(`| a user's query, median, while PDFs are made | ${median(busy).toFixed(1)} ms | |`);
    console.log(`| slower, median | ${(median(busy) / median(calm)).toFixed(2)} times | under 1.20 |`);
    console.log(
      `| slower, 95th percentile | ${(percentile(busy, 0.95) / percentile(calm, 0.95)).toFixed(2)} times | |`,
    );
  } finally {
    await product.stop();
    await mailServer.close();
  }
};

const morningOf = { large: 9_000, tenants: 100, each: 10, window: 600, perSecond: 10, perMinute: 600 };

/** The ledger of one data app with a dashboard, in a database of its own. */
const openLedger = async (folder) => {
  const url = process.env.TEST_DATABASE_URL;
  const name = `bench_${process.pid}`;
  const admin = url === undefined ? null : await openDatabase({ databaseUrl: url, folder: null });
  await admin?.connect().executeQuery(CompiledQuery.raw(`create database ${name}`));
  const own = url === undefined ? null : Object.assign(new URL(url), { pathname: `/${name}` }).href;
  const database = await openDatabase({ databaseUrl: own, folder: own === null ? join(folder, 'ledger') : null });
  const db = database.connect();
  await migrate(db);
  const store = createStore(db, { seal: (text) => text, open: (text) => text });
  const now = new Date();
  await store.dataApps.insert({ id: 'app', name: 'app', createdAt: now, updatedAt: now });
  await store.workspaces.insert({
    id: 'w',
    name: 'w',
    connectionType: 'MULTI_DATASOURCE',
    datasourceId: null,
    datamartId: null,
  });
  await store.dashboards.insert({
    ...{ id: 'board', externalDashboardId: 'delays', workspaceId: 'w', name: 'Delays', owner: null, templateId: null },
    ...{ layout: [], gridMargin: [], filters: [], metadata: null, isAllowPrivateMetricsByDefault: false },
  });
  const close = async () => {
    await database.close();
    await admin?.connect().executeQuery(CompiledQuery.raw(`drop database ${name}`));
    await admin?.close();
  };
  return { store, db, close, kind: own === null ? 'PGlite' : 'PostgreSQL' };
};

/** Returns when each message left its place in the window, and what planning and claims took. */
const runMorning = async ({ store, db }, withLarge) => {
  const { large, tenants, each, window, perSecond, perMinute } = morningOf;
  const moment = new Date('2026-10-26T08:00:00Z');
  await db.withSchema('guestlist').deleteFrom('schedules').execute();
  const place = { dashboardId: 'board', dataAppId: 'app', moment };
  if (withLarge) await insertSchedules(store, { ...place, clientId: 'large', count: large });
  for (let at = 0; at < tenants; at += 1)
    await insertSchedules(store, { ...place, clientId: `small-${at}`, count: each });
  const clock = { now: () => moment };
  const plan = createPlanner({ store, calendar, clock, ids: { uuid: randomUUID }, spreadMs: window * 1000 });
  const since = performance.now();
  while ((await plan()) > 0);
  const planMs = performance.now() - since;
  const result = await sendMorning(store, { moment, seconds: window + 60, perSecond, perMinute });
  const late = result.sent
    .filter(({ clientId }) => clientId !== 'large')
    .map(({ scheduleId, second }) => {
      const placeMs = leavesAt(scheduleId, moment, window * 1000, moment).getTime() - moment.getTime();
      return second - placeMs / 1000;
    });
  return { ...result, planMs, late };
};

const benchMorning = async (folder) => {
  const ledger = await openLedger(folder);
  try {
    const alone = await runMorning(ledger, false);
    const busy = await runMorning(ledger, true);
    const { large, tenants, each, window, perSecond, perMinute } = morningOf;
    const seconds = (values, share) => `${percentile(values, share).toFixed(1)} s`;
    const most = (values) => `${Math.max(...values).toFixed(1)} s`;
    console.log(
      `\n${ledger.kind}, ${large} schedules of one tenant and ${each} of each of ${tenants} at 08:00, spread over ${window} s,`,
    );
    console.log(
      `${perSecond} messages a second, ${perMinute} a minute of one tenant; load ${loadavg()[0].toFixed(1)}\n`,
    );
    console.log('| a morning of 10,000 schedules | value |\n|---|---|');
    console.log(`| planning all of them | ${(busy.planMs / 1000).toFixed(1)} s |`);
    console.log(`| a claim of a second's messages, median | ${median(busy.claimMs).toFixed(1)} ms |`);
    console.log(`| the same, 95th percentile | ${percentile(busy.claimMs, 0.95).toFixed(1)} ms |`);
    console.log(
      `| the others' delay without the large tenant, 95th percentile and most | ${seconds(alone.late, 0.95)}, ${most(alone.late)} |`,
    );
    console.log(`| the others' delay beside it | ${seconds(busy.late, 0.95)}, ${most(busy.late)} |`);
    console.log(`| most messages of the large tenant in a minute | ${mostInAMinute(busy.sent, 'large')} |`);
  } finally {
    await ledger.close();
  }
};

await inTemporaryFolder(async (folder) => {
  if (process.env.BENCH_PART !== 'morning') await benchReports(folder);
  await benchMorning(folder);
});
