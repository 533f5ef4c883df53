/**
 * The product for hours under steady load, with rollups built and use counted: memory, descriptors, threads and latency of
 * each interval. Logins (most of them of new users), questions of twenty tenants to a DuckDB source, and a
 * whole build each minute. The metadata is in PostgreSQL. A request to `/healthz` beside the others says how busy the
 * machine was. BENCH_MINUTES (120), BENCH_INTERVAL_MINUTES (10), BENCH_PER_SECOND (10 questions, and half as many logins).
 * BENCH_DATABASE_URL: a server on which it may create databases.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { ask, onServer, quantile } from './query/orders.mjs';
import { atRate, buildAgain, login, sessionOf, withWholeProduct } from './query/whole-product.mjs';

const minutes = Number(process.env.BENCH_MINUTES ?? 120);
const intervalMinutes = Number(process.env.BENCH_INTERVAL_MINUTES ?? 10);
const perSecond = Number(process.env.BENCH_PER_SECOND ?? 10);
const tenants = Array.from({ length: 20 }, (_, index) => `t${index}`);

const stateOf = ({ child }) => {
  const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
  const numberOf = (name) => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)[1]);
  return {
    megabytes: numberOf('VmRSS') / 1024,
    descriptors: readdirSync(`/proc/${child.pid}/fd`).length,
    threads: numberOf('Threads'),
  };
};

/** Nine of ten users are new. */
const newSession = (number) =>
  sessionOf(tenants[number % tenants.length], number % 10 === 0 ? 'user-0' : `user-${number}-${Date.now()}`);

/** Milliseconds of a request that reads nothing. */
const idle = async (url) => {
  const since = performance.now();
  return (await fetch(`${url}/healthz`)).ok ? performance.now() - since : null;
};

const runInterval = async ({ product, targets }) => {
  const ends = performance.now() + intervalMinutes * 60_000;
  const [questions, logins, healths] = await Promise.all([
    atRate(perSecond, ends, (number) => ask(product.url, targets.get(tenants[number % tenants.length]))),
    atRate(perSecond / 2, ends, (number) => login(product.url, newSession(number))),
    atRate(1, ends, () => idle(product.url)),
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

await withWholeProduct(tenants, async ({ product, metadata, targets, build }) => {
  const builds = buildAgain(build, 60_000);
  console.log(
    '| minute | MB | descriptors | threads | questions p50, p95 ms | logins p50, p95 ms | /healthz p50, p95 ms | requests | failed | builds |',
  );
  console.log('|---|---|---|---|---|---|---|---|---|---|');
  try {
    for (let minute = intervalMinutes; minute <= minutes; minute += intervalMinutes) {
      const before = builds.count();
      const interval = await runInterval({ product, targets });
      console.log(lineOf(minute, interval, stateOf(product), builds.count() - before));
    }
  } finally {
    await builds.stop();
  }
  const [counted] = await onServer(metadata.url.href, [
    'select sum(logins) as logins, sum(source_queries) as questions from guestlist.usage',
  ]);
  console.log(`\nCounted as use: ${counted.logins} logins, ${counted.questions} questions of a source.`);
});
