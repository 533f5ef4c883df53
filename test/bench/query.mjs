/**
 * A guest's query over HTTP compared with the raw driver, in one run: three million flights on DuckDB and PostgreSQL,
 * one tenant's rows and all rows, uncached and cached, with 1 and 8 front ends. With BENCH_PEERS, a folder that
 * `test/bench/query/peers.sh` made, also two other products on the same PostgreSQL. BENCH_DATABASE_URL: a server on
 * which it may create a database. Prints Markdown tables of medians.
 */
import { fork } from 'node:child_process';
import { once as heard } from 'node:events';
import { join } from 'node:path';
import { makeData } from './query/data.mjs';
import { makeLines, makeLinesTargets } from './query/lines.mjs';
import { load, once } from './query/load.mjs';
import { makeOrganization } from './query/organization.mjs';
import { startPeers } from './query/peers.mjs';
import { startService } from './query/service.mjs';
import { inTemporaryFolder, median, root } from './server.mjs';

const rounds = Number(process.env.BENCH_ROUNDS ?? 3);
const seconds = Number(process.env.BENCH_SECONDS ?? 3);
const serverUrl = process.env.BENCH_DATABASE_URL ?? 'postgres://root@127.0.0.1:5432/test';

const startRaw = async (...args) => {
  const child = fork(join(root, 'test/bench/query/raw.mjs'), args);
  await heard(child, 'message');
  return {
    measure: async (order) => {
      child.send(order);
      return (await heard(child, 'message'))[0];
    },
    stop: () => child.kill(),
  };
};

const hostOf = ({ url }) => {
  const { hostname, port } = new URL(url);
  return `${hostname}:${port || '5432'}`;
};

const sourcesOf = ({ ordered, shuffled, postgres }) => {
  const url = new URL(postgres.url);
  const duckDb = (path) => ({ schemaName: 'main', datasource: { datasourceType: 'DUCKDB', credentials: { path } } });
  return {
    'DuckDB, in the tenants’ order': duckDb(ordered),
    'DuckDB, shuffled': duckDb(shuffled),
    PostgreSQL: {
      schemaName: 'public',
      datasource: {
        datasourceType: 'POSTGRES',
        credentials: {
          host: url.hostname,
          port: Number(url.port || '5432'),
          username: decodeURIComponent(url.username),
          password: decodeURIComponent(url.password),
          database: url.pathname.slice(1),
        },
      },
    },
  };
};

const rawOf = (data, source, kind) => {
  const [by, clientId] = kind === 'full' ? ['origin', 'None'] : ['destination', 'LAX'];
  if (source === 'PostgreSQL') return ['postgres', data.postgres.url, by, clientId];
  return ['duckdb', source.endsWith('shuffled') ? data.shuffled : data.ordered, by, clientId];
};

/** Measures all variants of one group in turns; the others are compared with the first. */
const table = async (title, variants, connections) => {
  const results = variants.map(() => []);
  for (const { ask } of variants) await ask({ connections, seconds: 0.5 });
  for (let round = 0; round < rounds; round += 1) {
    for (const [index, { ask }] of variants.entries()) results[index].push(await ask({ connections, seconds }));
  }
  const of = (index, name) => median(results[index].map((result) => result[name]));
  const lines = variants.map(({ name }, index) => {
    const ms = of(index, 'ms');
    return `| ${title}, ${connections} | ${name} | ${Math.round(of(index, 'perSecond'))} | ${ms.toFixed(2)} | ${(ms / of(0, 'ms')).toFixed(2)} |`;
  });
  console.log(lines.join('\n'));
};

/** A table with a tenancy path, compared with a JOIN by hand; and the cost of ignoring hidden rows in semi-joins. */
const benchLines = async (product, data) => {
  await makeLines(data.postgres.url);
  const { datasource } = sourcesOf(data).PostgreSQL;
  const targets = await makeLinesTargets(product.url, product.serviceToken, datasource);
  const rawOfLines = (of) => startRaw('postgres', data.postgres.url, of);
  const raws = {
    lines: await rawOfLines('order lines'),
    apart: await rawOfLines('apart'),
    together: await rawOfLines('together'),
  };
  const guest = (target, name = 'guest, uncached') => ({ name, ask: (order) => load(product.url, target, order) });
  const rows = (await once(product.url, targets.lines)).data.length;
  const ofLines = [
    { name: 'JOIN by hand, raw driver', ask: raws.lines.measure },
    guest(targets.lines, 'guest, uncached, client by the order'),
    guest(targets.own, 'guest, uncached, a client column of the lines'),
  ];
  const ofCustomers = [
    { name: 'two EXISTS apart, raw driver (hidden orders witness)', ask: raws.apart.measure },
    { name: 'one within the other, raw driver', ask: raws.together.measure },
    guest(targets.customers),
  ];
  for (const connections of [1, 8]) {
    await table(`order lines of one of 500 (${rows} groups)`, ofLines, connections);
    await table('customers by their orders and lines', ofCustomers, connections);
  }
  for (const raw of Object.values(raws)) raw.stop();
};

await inTemporaryFolder(async (folder) => {
  const stops = [];
  try {
    const data = await makeData(folder, serverUrl);
    stops.push(data.postgres.drop);
    const product = await startService(folder, { allowedHosts: [hostOf(data.postgres)] });
    stops.push(product.stop);
    const targets = await makeOrganization(product.url, product.serviceToken, sourcesOf(data));
    const peers = await startPeers(process.env.BENCH_PEERS, data.postgres.url);
    stops.push(...peers.map(({ stop }) => stop));
    console.log(`Node ${process.version}, ${rounds} rounds of ${seconds} s, medians; the raw query's time is 1\n`);
    console.log('| rows asked, front ends | | queries/s | ms | ratio |\n|---|---|---|---|---|');
    await benchLines(product, data);
    for (const source of Object.keys(sourcesOf(data))) {
      for (const kind of ['selective', 'full']) {
        const raw = await startRaw(...rawOf(data, source, kind));
        const uncached = targets[`${source} ${kind} uncached`];
        const rows = (await once(product.url, uncached)).data.length;
        const own = (caching) => ({
          name: `guest, ${caching}`,
          ask: (order) => load(product.url, targets[`${source} ${kind} ${caching}`], order),
        });
        const others = source === 'PostgreSQL' && kind === 'selective' ? peers : [];
        const variants = [{ name: 'raw driver', ask: raw.measure }, own('uncached'), own('cached'), ...others];
        for (const connections of [1, 8]) await table(`${source}, ${kind} (${rows} groups)`, variants, connections);
        raw.stop();
      }
    }
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
});
