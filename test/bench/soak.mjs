/**
 * The product for hours under steady load, with rollups built and use counted: memory, descriptors, threads and latency of
 * each interval. Logins (most of them of new users), questions of twenty tenants to a DuckDB source, and a
 * whole build each minute. The metadata is in PostgreSQL. A request to `/healthz` beside the others says how busy the
 * machine was. BENCH_MINUTES (120), BENCH_INTERVAL_MINUTES (10), BENCH_PER_SECOND (10 questions, and half as many logins).
 * BENCH_DATABASE_URL: a server on which it may create databases.
 */
import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import jwt from 'jsonwebtoken';
import { stringify } from 'yaml';
import { ask, makeDatabase, makeOrdersFile, makeTargets, onServer, quantile } from './query/orders.mjs';
import { credentialsIn, inTemporaryFolder, launch, root } from './server.mjs';

const minutes = Number(process.env.BENCH_MINUTES ?? 120);
const intervalMinutes = Number(process.env.BENCH_INTERVAL_MINUTES ?? 10);
const perSecond = Number(process.env.BENCH_PER_SECOND ?? 10);
const tenants = Array.from({ length: 20 }, (_, index) => `t${index}`);

const secret = randomBytes(32).toString('base64');

const policy = {
  ...{ version: 1, dataApp: 'bench', workspace: 'shop', datamart: 'shop' },
  session: { claims: { org_id: 'string' }, tenant: 'claims.org_id', roles: '[]' },
  templates: { board: { name: 'Board' } },
  rules: [{ name: 'all see the board', when: 'true', grant: { templates: ['board'] } }],
};

const configure = (folder) => {
  const policies = join(folder, 'policies.yaml');
  writeFileSync(policies, stringify(policy));
  const config = join(folder, 'guestlist.yaml');
  const rollups = join(folder, 'rollups');
  mkdirSync(rollups);
  writeFileSync(
    config,
    stringify({ datasources: { duckdbFolders: [folder] }, rollups: { folder: rollups }, gateway: { policies } }),
  );
  mkdirSync(join(folder, 'data'));
  return config;
};

const startProduct = (folder, config, env) => {
  const limits = { GUESTLIST_GUEST_TOKEN_PER_MINUTE: '100000000', GUESTLIST_GUEST_ADDRESS_PER_MINUTE: '100000000' };
  const settings = { GUESTLIST_CONFIG: config, GUESTLIST_LOG_LEVEL: 'error', GUESTLIST_HOST_JWT_SECRET: secret };
  return launch([process.execPath, join(root, 'bin/guestlist.mjs'), 'serve'], {
    ...{ dataDir: join(folder, 'data'), env: { ...settings, ...limits, ...env } },
  });
};

const stateOf = ({ child }) => {
  const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
  const numberOf = (name) => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)[1]);
  return {
    megabytes: numberOf('VmRSS') / 1024,
    descriptors: readdirSync(`/proc/${child.pid}/fd`).length,
    threads: numberOf('Threads'),
  };
};

const timed = async (work) => {
  const since = performance.now();
  return (await work()) ? performance.now() - since : null;
};

/** Starts requests at a fixed rate until the end, however long the answers take. */
const atRate = async (rate, ends, work) => {
  const asked = [];
  for (let number = 0, next = performance.now(); next < ends; number += 1, next += 1000 / rate) {
    await pause(Math.max(0, next - performance.now()));
    asked.push(work(number));
  }
  return Promise.all(asked);
};

const session = (number) => {
  const user = number % 10 === 0 ? 'user-0' : `user-${number}-${Date.now()}`;
  const claims = { sub: user, org_id: tenants[number % tenants.length] };
  return jwt.sign(claims, secret, { expiresIn: '1h' });
};

const startBuilds = (build) => {
  const state = { isOver: false, count: 0 };
  const ended = (async () => {
    while (!state.isOver) {
      const next = performance.now() + 60_000;
      await build();
      state.count += 1;
      while (!state.isOver && performance.now() < next) await pause(500);
    }
  })();
  return {
    count: () => state.count,
    stop: () => {
      state.isOver = true;
      return ended;
    },
  };
};

const runInterval = async ({ product, targets }) => {
  const ends = performance.now() + intervalMinutes * 60_000;
  const login = (number) =>
    timed(async () => {
      const headers = { authorization: `Bearer ${session(number)}` };
      const answer = await fetch(`${product.url}/embed-token`, { method: 'POST', headers });
      await answer.text();
      return answer.ok;
    });
  const idle = () => timed(async () => (await fetch(`${product.url}/healthz`)).ok);
  const [questions, logins, healths] = await Promise.all([
    atRate(perSecond, ends, (number) => ask(product.url, targets.get(tenants[number % tenants.length]))),
    atRate(perSecond / 2, ends, login),
    atRate(1, ends, idle),
  ]);
  const all = [...questions, ...logins, ...healths];
  const good = (times) => times.filter((ms) => ms !== null);
  return {
    questions: good(questions),
    logins: good(logins),
    healths: good(healths),
    failed: all.length - good(all).length,
  };
};

const lineOf = (minute, { questions, logins, healths, failed }, state, builds) => {
  const of = (times) => `${quantile(times, 0.5).toFixed(1)}, ${quantile(times, 0.95).toFixed(1)}`;
  return `| ${minute} | ${state.megabytes.toFixed(0)} | ${state.descriptors} | ${state.threads} | ${of(questions)} | ${of(logins)} | ${of(healths)} | ${questions.length + logins.length} | ${failed} | ${builds} |`;
};

await inTemporaryFolder(async (folder) => {
  const metadata = await makeDatabase();
  const stops = [metadata.drop];
  try {
    const datasource = await makeOrdersFile(join(folder, 'orders.duckdb'));
    const config = configure(folder);
    const env = { DATABASE_URL: metadata.url.href };
    const product = await startProduct(folder, config, env);
    stops.push(product.stop);
    const { serviceToken } = await credentialsIn(join(folder, 'data'));
    const { targets, build } = await makeTargets(product.url, serviceToken, datasource, tenants);
    const builds = startBuilds(build);
    stops.push(builds.stop);
    console.log(
      '| minute | MB | descriptors | threads | questions p50, p95 ms | logins p50, p95 ms | /healthz p50, p95 ms | requests | failed | builds |',
    );
    console.log('|---|---|---|---|---|---|---|---|---|---|');
    for (let minute = intervalMinutes; minute <= minutes; minute += intervalMinutes) {
      const before = builds.count();
      const interval = await runInterval({ product, targets });
      console.log(lineOf(minute, interval, stateOf(product), builds.count() - before));
    }
    const [counted] = await onServer(metadata.url.href, [
      `select sum(logins) as logins, sum(source_queries) as questions from guestlist.usage`,
    ]);
    console.log(`\nCounted as use: ${counted.logins} logins, ${counted.questions} questions of a source.`);
  } finally {
    for (const stop of stops.toReversed()) await stop();
  }
});
