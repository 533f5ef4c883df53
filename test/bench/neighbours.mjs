/**
 * One tenant asks a hundred times as much as each of the others, while rollups are built: p95 of the others, beside p95
 * without that tenant, in turns. PostgreSQL source, no answer is kept, requests are sent at fixed times however long the
 * answers take. The product is a process of its own. BENCH_DATABASE_URL: a server on which it may create a database.
 * BENCH_ROUNDS, BENCH_SECONDS and BENCH_PER_SECOND (of all quiet tenants together) change the run.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { ask, makeOrders, makeTargets, quantile } from './query/orders.mjs';
import { startService } from './query/service.mjs';
import { atRate, buildAgain } from './query/whole-product.mjs';
import { inTemporaryFolder, median } from './server.mjs';

const rounds = Number(process.env.BENCH_ROUNDS ?? 3);
const seconds = Number(process.env.BENCH_SECONDS ?? 10);
const perSecond = Number(process.env.BENCH_PER_SECOND ?? 10);
const quiet = Array.from({ length: 20 }, (_, index) => `t${index + 1}`);
const noisy = 't0';
const times = 100;
const mark = 1.2;

/** Sends requests of these tenants in turns at a fixed rate. */
const send = (url, targets, rate) =>
  atRate(rate, performance.now() + seconds * 1000, (number) => ask(url, targets[number % targets.length]));

const measure = async (product, { targets, build }, { isNoisy, builds }) => {
  const building = builds ? buildAgain(build) : undefined;
  const others = quiet.map((name) => targets.get(name));
  const [own, loud] = await Promise.all([
    send(product.url, others, perSecond),
    isNoisy ? send(product.url, [targets.get(noisy)], (perSecond / quiet.length) * times) : [],
  ]);
  const count = (await building?.stop()) ?? 0;
  const good = own.filter((ms) => ms !== null);
  return {
    ...{ p50: quantile(good, 0.5), p95: quantile(good, 0.95), refused: own.length - good.length },
    ...{ loud: loud.length, loudRefused: loud.filter((ms) => ms === null).length, builds: count },
  };
};

const ways = [
  { name: 'the others alone', isNoisy: false, builds: false },
  { name: 'with the loud tenant', isNoisy: true, builds: false },
  { name: 'the others alone, rollups are built', isNoisy: false, builds: true },
  { name: 'with the loud tenant, rollups are built', isNoisy: true, builds: true },
];

await inTemporaryFolder(async (folder) => {
  const source = await makeOrders();
  const stops = [source.drop];
  try {
    const { hostname, port } = source.url;
    mkdirSync(join(folder, 'rollups'));
    const product = await startService(folder, {
      allowedHosts: [`${hostname}:${port || '5432'}`],
      settings: { rollups: { folder: join(folder, 'rollups') } },
    });
    stops.push(product.stop);
    const made = await makeTargets(product.url, product.serviceToken, source.datasource, [noisy, ...quiet]);
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
