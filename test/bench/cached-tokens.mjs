/**
 * A cached token while rollups are built and while nothing is, in turns: the latency of `POST /embed-token` for users whose
 * token the gateway keeps. Requests are sent at fixed times. BENCH_ROUNDS (5), BENCH_SECONDS (10) and BENCH_PER_SECOND (50).
 * BENCH_DATABASE_URL: a server on which it may create databases.
 */
import { quantile } from './query/orders.mjs';
import { atRate, buildAgain, login, sessionOf, withWholeProduct } from './query/whole-product.mjs';
import { median } from './server.mjs';

const rounds = Number(process.env.BENCH_ROUNDS ?? 5);
const seconds = Number(process.env.BENCH_SECONDS ?? 10);
const perSecond = Number(process.env.BENCH_PER_SECOND ?? 50);
const tenants = Array.from({ length: 20 }, (_, index) => `t${index}`);
const sessions = tenants.map((tenant) => sessionOf(tenant, 'user'));

const measure = async ({ product, build }, isBuilding) => {
  const builds = isBuilding ? buildAgain(build) : undefined;
  const ends = performance.now() + seconds * 1000;
  const asked = await atRate(perSecond, ends, (number) => login(product.url, sessions[number % sessions.length]));
  const count = (await builds?.stop()) ?? 0;
  if (asked.includes(null)) throw new Error('a login failed');
  return { p50: quantile(asked, 0.5), p99: quantile(asked, 0.99), count };
};

await withWholeProduct(tenants, async (made) => {
  for (const session of sessions) await login(made.product.url, session);
  await measure(made, true);
  const results = { 'nothing is built': [], 'a rollup is built': [] };
  for (let round = 0; round < rounds; round += 1) {
    results['nothing is built'].push(await measure(made, false));
    results['a rollup is built'].push(await measure(made, true));
  }
  console.log(`${rounds} rounds of ${seconds} s, ${perSecond} cached tokens a second, medians\n`);
  console.log('| | p50 ms | p99 ms | builds |\n|---|---|---|---|');
  for (const [name, all] of Object.entries(results)) {
    const of = (part) => median(all.map((result) => result[part]));
    console.log(`| ${name} | ${of('p50').toFixed(1)} | ${of('p99').toFixed(1)} | ${of('count')} |`);
  }
});
