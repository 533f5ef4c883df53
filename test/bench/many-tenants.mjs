/**
 * A million tenants beside ten: what the same steps cost the product when its metadata database has this many. Needs a PostgreSQL that may
 * create databases (`BENCH_DATABASE_URL=postgres://...`). Tenants are copied by SQL from one that the product made, with their dashboards, metrics,
 * embeds, tokens and a month of counted use; everything that is measured is the product's own code in a process of its own.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import jwt from 'jsonwebtoken';
import pg from 'pg';
import { copyTenants } from './lists-seed.mjs';
import { credentialsIn, inTemporaryFolder, launch, median, root } from './server.mjs';

const sizes = (process.env.BENCH_TENANTS ?? '10,1000000').split(',').map(Number);
const asks = Number(process.env.BENCH_ASKS ?? 300);
const roundsOfEach = Number(process.env.BENCH_ROUNDS ?? 3);
const server = process.env.BENCH_DATABASE_URL;
if (server === undefined) throw new Error('BENCH_DATABASE_URL is missing');

const withClient = async (url, work) => {
  const client = new pg.Client(url);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
};

const inDatabase = async (work) => {
  const name = `guestlist_bench_${process.pid}_${Date.now()}`;
  await withClient(server, (client) => client.query(`create database ${name}`));
  try {
    return await work(Object.assign(new URL(server), { pathname: `/${name}` }).href);
  } finally {
    await withClient(server, (client) => client.query(`drop database ${name} with (force)`));
  }
};

/** Hours of use of each tenant, as the product counts it. */
const copyUse = (client, count) =>
  client.query(`insert into guestlist.usage (data_app_id, client_id, at, person, dashboard_id, metric_id, logins, mints, source_queries, kept_answers,
      failed_answers, rows, ms, exports, mails, model_tokens)
    select (select id from guestlist.data_apps limit 1), 'T' || lpad(n::text, 7, '0'), timestamptz '2026-03-01' + interval '1 day' * day, 'p', 'd', 'm',
      1, 1, 8, 40, 0, 400, 80, 0, 0, 0
    from generate_series(1, ${count}) as n, generate_series(0, 2) as day`);

const start = (dataDir, url) =>
  launch([process.execPath, join(root, 'bin/guestlist.mjs'), 'serve'], { dataDir, env: { DATABASE_URL: url } });

const ticksPerSecond = 100;

/** Seconds of processor time, and MB of resident memory. */
const costOf = async ({ child }) => {
  const fields = (await readFile(`/proc/${child.pid}/stat`, 'utf8')).split(') ')[1].split(' ');
  const memory = /VmRSS:\s+(\d+)/.exec(await readFile(`/proc/${child.pid}/status`, 'utf8'))[1];
  return { cpu: (Number(fields[11]) + Number(fields[12])) / ticksPerSecond, memory: Number(memory) / 1024 };
};

const ask = async (running, method, path, bearer, body) => {
  const answer = await fetch(`${running.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${text.slice(0, 300)}`);
  return text;
};

/** Milliseconds and milliseconds of processor time of one request, the median of many in a row. */
const each = async (running, count, one) => {
  await one(0);
  const before = await costOf(running);
  const times = [];
  for (let index = 1; index <= count; index += 1) {
    const since = performance.now();
    await one(index);
    times.push(performance.now() - since);
  }
  const after = await costOf(running);
  return { ms: median(times), cpu: ((after.cpu - before.cpu) * 1000) / count };
};

const once = async (running, work) => {
  const since = performance.now();
  const text = await work();
  return { ms: performance.now() - since, bytes: text.length, memory: (await costOf(running)).memory };
};

/** A plan looks at each tenant. Beyond this many, its rate says how long it takes. */
const plannable = 20_000;

const tenantOf = (index, size) => `T${String(1 + ((index * 7919) % size)).padStart(7, '0')}`;

const sessionOf = (secret, tenant, index) =>
  jwt.sign({ iss: 'guestlist-demo', sub: `user-${index}`, org_id: tenant, roles: ['manager'] }, secret, {
    expiresIn: '1h',
  });

/** Makes a database of this many tenants, and passes it on. */
const prepared = (size, work) =>
  inTemporaryFolder((dataDir) =>
    inDatabase(async (url) => {
      const first = await start(dataDir, url);
      const credentials = await credentialsIn(dataDir);
      await ask(first, 'POST', '/embed-token', sessionOf(credentials.demoJwtSecret, 'LAX', 0));
      await first.stop();
      const since = performance.now();
      await withClient(url, async (client) => {
        await copyTenants({ exec: (text) => client.query(text) }, size);
        await copyUse(client, size);
        await client.query('vacuum analyze');
      });
      console.error(`${size} tenants made in ${Math.round((performance.now() - since) / 1000)} s`);
      return work({ size, dataDir, url, credentials });
    }),
  );

/** What is asked again and again, the same for each size in turns, so that a slow minute is slow for all. */
const repeated = [
  // The gateway finds the dashboards of a tenant, and mints: other users of ten tenants, whatever the size.
  [
    'login',
    asks,
    ({ running, size, credentials }, index) =>
      ask(running, 'POST', '/embed-token', sessionOf(credentials.demoJwtSecret, tenantOf(index % 10, size), index)),
  ],
  ['mint', asks, (installation, index) => mintFor(installation, tenantOf(index % 10, installation.size))],
  ['mintForOthers', asks, (installation, index) => mintFor(installation, tenantOf(index, installation.size))],
  [
    'usage',
    30,
    ({ running, size, credentials }, index) =>
      ask(
        running,
        'GET',
        `/api/v2/usage?from=2026-03&to=2026-04&clientId=${tenantOf(index, size)}`,
        credentials.serviceToken,
      ),
  ],
  ['list', 30, (installation) => admin(installation, 'tenants-list', { limit: 50 })],
  [
    'find',
    30,
    (installation, index) =>
      admin(installation, 'tenants-list', { contains: [tenantOf(index, installation.size).slice(0, -1)], limit: 50 }),
  ],
];

const admin = ({ running, credentials }, command, body) =>
  ask(running, 'POST', `/gateway/admin/${command}`, credentials.gatewayToken, body);

const mintFor = ({ running, credentials }, clientId) =>
  ask(running, 'POST', '/api/v2/guest-token/create', credentials.demoApiKey, {
    ...{ clientId, dataAppName: 'flights', params: { allowedEmbeds: [`delays--${clientId}`] } },
  });

const medianOf = (measured) => ({
  ms: median(measured.map(({ ms }) => ms)),
  cpu: median(measured.map(({ cpu }) => cpu)),
});

const measureRepeated = async (installations) => {
  const found = installations.map(() => ({}));
  for (const [name, count, one] of repeated) {
    const rounds = installations.map(() => []);
    for (let round = 0; round <= roundsOfEach; round += 1)
      for (const [index, installation] of installations.entries()) {
        const measured = await each(installation.running, count, (number) => one(installation, number + round * count));
        // What a process compiles is of the first round.
        if (round > 0) rounds[index].push(measured);
      }
    for (const [index, measured] of rounds.entries()) found[index][name] = medianOf(measured);
  }
  return found;
};

const measureOnce = async (installation) => {
  const { running, size, credentials } = installation;
  const of = { clientId: tenantOf(5, size), dataAppName: 'flights' };
  const { token } = JSON.parse(await ask(running, 'POST', '/api/v2/guest-token/create', credentials.demoApiKey, of));
  return {
    embeds: await once(running, () => ask(running, 'GET', '/api/v2/guest/embeds', token)),
    allUsage: await once(running, () =>
      ask(running, 'GET', '/api/v2/usage?from=2026-03&to=2026-04&by=dataApp', credentials.serviceToken),
    ),
    plan:
      size <= plannable
        ? await once(running, () => admin(installation, 'rollout-plan', { template: 'delays' }))
        : undefined,
    erase: await once(running, () => admin(installation, 'tenant-delete', { clientId: tenantOf(3, size) })),
    memoryAfter: (await costOf(running)).memory,
  };
};

/** Starts the product on each database, and passes all on. */
const started = async (made, work) => {
  const installations = [];
  try {
    for (const one of made) {
      const running = await start(one.dataDir, one.url);
      installations.push({ ...one, running, memory: (await costOf(running)).memory });
    }
    return await work(installations);
  } finally {
    for (const { running } of installations) await running.stop();
  }
};

/** All databases are made before the first is measured. */
const measureAll = (left, made = []) => {
  const [size, ...others] = left;
  if (size !== undefined) return prepared(size, (one) => measureAll(others, [...made, one]));
  return started(made, async (installations) => {
    const found = await measureRepeated(installations);
    const results = [];
    for (const [index, installation] of installations.entries()) {
      const { size: tenants, running, memory } = installation;
      const one = { size: tenants, readyInMs: running.readyInMs, memory, ...found[index] };
      results.push({ ...one, ...(await measureOnce(installation)) });
      console.error(JSON.stringify(results.at(-1)));
    }
    return results;
  });
};

const results = await measureAll(sizes);

const two = ({ ms, cpu }) => `${ms.toFixed(1)} (${cpu.toFixed(1)})`;
const rows = [
  ['start until ready, ms', ({ readyInMs }) => readyInMs.toFixed(0)],
  ['resident memory after the start, MB', ({ memory }) => memory.toFixed(0)],
  ['login with a new mint, ms (processor)', ({ login }) => two(login)],
  ['mint at the service for one of ten tenants, ms (processor)', ({ mint }) => two(mint)],
  ['mint at the service for another tenant each time, ms (processor)', ({ mintForOthers }) => two(mintForOthers)],
  ['what a token opens that names no embed, first time, ms', ({ embeds }) => embeds.ms.toFixed(0)],
  ['use of one tenant in a month, ms (processor)', ({ usage }) => two(usage)],
  ['use of all tenants in a month, ms', ({ allUsage }) => allUsage.ms.toFixed(0)],
  ['first page of tenants, ms (processor)', ({ list }) => two(list)],
  ['one tenant found, ms (processor)', ({ find }) => two(find)],
  [
    'plan of a roll-out, tenants a second',
    ({ plan, size }) => (plan ? ((size * 1000) / plan.ms).toFixed(0) : 'not run'),
  ],
  ['erasure of one tenant, ms', ({ erase }) => erase.ms.toFixed(0)],
  ['resident memory at the end, MB', ({ memoryAfter }) => memoryAfter.toFixed(0)],
];
console.log(
  `Node ${process.version}, medians of ${roundsOfEach} rounds of ${asks} logins and mints, one after the other\n`,
);
console.log(
  `| | ${sizes.map((size) => `${size.toLocaleString('en')} tenants`).join(' | ')} |\n|---|${'---|'.repeat(sizes.length)}`,
);
for (const [name, pick] of rows) console.log(`| ${name} | ${results.map(pick).join(' | ')} |`);
