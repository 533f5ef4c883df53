/**
 * What counting and traces cost a guest's query and a cached token, in one run: the same server without counting, with it,
 * and with the SDK of OpenTelemetry that samples no trace, and each. Queries: three million flights on DuckDB, one tenant's
 * rows, uncached and cached. A ratio is to the same without counting, and that of traces to the same without an SDK.
 *
 * The second table has the processor time of the counter's own calls, in a loop, as a share of that of an answer without
 * counting. The mark is 1 %. A write is for a second, and shared by the answers that keep one core busy for a second. The
 * request by which a gateway tells the service of tokens each second is left out.
 *
 * The processor time of PostgreSQL is in no figure. Prints Markdown tables of medians. BENCH_ROUNDS, BENCH_SECONDS,
 * BENCH_CONNECTIONS (front ends). BENCH_DATABASE_URL: a server on which it may create databases.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createSigners, startService as startDemo, startGateway } from './gateways.mjs';
import { measureCalls } from './metering/calls.mjs';
import { openReceiver } from './metering/receiver.mjs';
import { makeDuckDb } from './query/data.mjs';
import { load } from './query/load.mjs';
import { makeDatabase } from './query/orders.mjs';
import { callerOf, makeOrganization } from './query/organization.mjs';
import { startService } from './query/service.mjs';
import { credentialsIn, inTemporaryFolder, median, root } from './server.mjs';
import { processorTime } from './wrk.mjs';

const rounds = Number(process.env.BENCH_ROUNDS ?? 5);
const seconds = Number(process.env.BENCH_SECONDS ?? 1);
const connections = Number(process.env.BENCH_CONNECTIONS ?? 1);

const preload = (file) => ({ NODE_OPTIONS: `--import ${join(root, 'test/bench/metering', file)}` });

/** `against`: the place of the variant that its ratio is to. */
const variantsOf = (receivers) => [
  { name: 'nothing is counted', against: 0, env: preload('off.mjs') },
  { name: 'counted', against: 0, env: {} },
  ...receivers.map(({ url }, sampling) => ({
    ...{ name: `counted, SDK samples ${sampling === 0 ? 'no' : 'each'} trace`, against: 1 },
    env: { ...preload('traces.mjs'), BENCH_SAMPLING: String(sampling), BENCH_RECEIVER: url },
  })),
];

/** `work` gets a folder, the variants, and `started`, which takes what is stopped at the end. */
const withVariants = (work) =>
  inTemporaryFolder(async (folder) => {
    const stops = [];
    const started = (server) => {
      stops.push(server.stop);
      return server;
    };
    try {
      const receivers = [started(await openReceiver()), started(await openReceiver())];
      return await work({ folder, variants: variantsOf(receivers), receivers, started });
    } finally {
      for (const stop of stops.toReversed()) await stop();
    }
  });

/** Per answer: milliseconds, and microseconds of the server's processor time. */
const measure = async ({ url, child }, target) => {
  const before = processorTime(child.pid);
  const { ms, perSecond } = await load(url, target, { connections, seconds });
  return { ms, processor: (processorTime(child.pid) - before) / (perSecond * seconds) };
};

/** Measures the servers in turns, and prints a row for each. Returns the processor time of an answer without counting. */
const measureInTurns = async (answer, servers) => {
  const results = servers.map(() => []);
  const once = (server) => measure(server, server.targets[answer]);
  for (const server of servers) await once(server);
  for (let round = 0; round < rounds; round += 1)
    for (const [index, server] of servers.entries()) results[index].push(await once(server));
  const of = (index, name) => median(results[index].map((result) => result[name]));
  const ratio = (index, against, name) =>
    median(results[index].map((result, round) => result[name] / results[against][round][name])).toFixed(2);
  for (const [index, { name, place, against }] of servers.entries()) {
    const times = [of(index, 'ms').toFixed(2), ratio(index, against, 'ms'), (of(index, 'processor') / 1000).toFixed(2)];
    const cells = [`${answer}, ${place}`, name, ...times, ratio(index, against, 'processor')];
    console.log(`| ${cells.join(' | ')} |`);
  }
  return of(0, 'processor');
};

/** A variant that is not what it says would be measured in vain. */
const assertDiffer = (counted, receivers) => {
  if (counted[0] !== 0 || counted.slice(1).includes(0)) throw new Error(`counted: ${counted}`);
  const [none, each] = receivers.map(({ taken }) => taken.spans);
  if (none !== 0 || (counted.length > 2 && each === 0)) throw new Error(`spans received: ${none}, ${each}`);
};

const usageOf = async (url, serviceToken, by = '') => {
  const { data } = await callerOf(url)(serviceToken, 'GET', `/usage?from=2000-01&to=2100-01${by}`);
  return data.rows;
};

const startQueried = async (folder, { name, against, env }, place, path) => {
  const own = join(folder, name.replaceAll(/\W/g, '-'));
  mkdirSync(own);
  const settings = { datasources: { duckdbFolders: [folder] } };
  const service = await startService(own, { env, settings });
  const datasource = { datasourceType: 'DUCKDB', credentials: { path } };
  const sources = { DuckDB: { schemaName: 'main', datasource } };
  const made = await makeOrganization(service.url, service.serviceToken, sources);
  const targets = {
    'query, uncached': made['DuckDB selective uncached'],
    'query, cached': made['DuckDB selective cached'],
  };
  return { ...service, name, against, place, targets };
};

/** With its metadata in PostgreSQL, each variant; in the embedded database, without traces. */
const benchQueries = (place) =>
  withVariants(async ({ folder, variants, receivers, started }) => {
    const path = join(folder, 'flights.duckdb');
    await makeDuckDb(path, 'origin, date');
    const servers = [];
    for (const variant of place === 'embedded' ? variants.slice(0, 2) : variants) {
      const { url, drop } = place === 'embedded' ? { drop: () => {} } : await makeDatabase();
      started({ stop: drop });
      const env = { ...variant.env, ...(url === undefined ? {} : { DATABASE_URL: url.href }) };
      servers.push(started(await startQueried(folder, { ...variant, env }, place, path)));
    }
    const uncached = await measureInTurns('query, uncached', servers);
    const cached = await measureInTurns('query, cached', servers);
    const rows = await Promise.all(servers.map(({ url, serviceToken }) => usageOf(url, serviceToken)));
    const counted = rows.map(([sums]) => sums?.sourceQueries ?? 0);
    assertDiffer(counted, receivers);
    return { uncached, cached };
  });

/** Gateways before one service; each is asked by a user of another tenant, so that the service tells their tokens apart. */
const benchTokens = () =>
  withVariants(async ({ folder, variants, receivers, started }) => {
    const service = started(await startDemo(folder));
    const signers = createSigners();
    const clients = ['LAX', 'SFO', 'ORD', 'ATL'];
    const servers = [];
    for (const [index, { name, against, env }] of variants.entries()) {
      const gateway = started(await startGateway(folder, String(index), { service, signers, env }));
      const token = signers.sign.HS256({ org_id: clients[index] });
      const targets = { 'cached token': { path: '/embed-token', token, body: '{}' } };
      servers.push({ ...gateway, name, against, place: 'embedded', targets });
    }
    const token = await measureInTurns('cached token', servers);
    const { serviceToken } = await credentialsIn(join(folder, 'service'));
    const rows = await usageOf(service.url, serviceToken, '&by=tenant');
    const counted = clients.map((client) => rows.find(({ clientId }) => clientId === client)?.logins ?? 0);
    assertDiffer(counted, receivers);
    return token;
  });

/** Prints a row of the counter's share. `answers`: how many a write is for. */
const printShare = (answer, processor, calls, write, answers) => {
  const share = (100 * (calls + write / answers)) / processor;
  const cells = [calls.toFixed(1), write.toFixed(0), answers.toFixed(0), processor.toFixed(0), `${share.toFixed(2)} %`];
  console.log(`| ${answer} | ${cells.join(' | ')} | ${share < 1 ? '✓' : '✗'} |`);
};

const measureCallsIn = (place) =>
  withVariants(async ({ folder, started }) => {
    const lines = join(folder, 'usage');
    if (place === 'embedded') return measureCalls({ databaseUrl: null, folder: join(folder, 'metadata') }, lines);
    const { url, drop } = await makeDatabase();
    started({ stop: drop });
    return measureCalls({ databaseUrl: url.href, folder: null }, lines);
  });

/** Answers that keep a core busy for a second. */
const inSecond = (processor) => 1e6 / processor;

const printShares = ({ uncached, cached }, place, calls) => {
  printShare(`query, uncached, ${place}`, uncached, calls.query, calls.write, inSecond(uncached));
  printShare(`query, cached, ${place}`, cached, calls.kept, calls.write, inSecond(cached));
};

console.log(`Node ${process.version}, ${rounds} rounds of ${seconds} s, ${connections} front end(s), medians\n`);
console.log('| answer, metadata | | ms | ratio | processor, ms | ratio |\n|---|---|---|---|---|---|');
const postgres = await benchQueries('PostgreSQL');
const embedded = await benchQueries('embedded');
const token = await benchTokens();
const calls = await measureCallsIn('embedded');
console.log(
  '\n| answer, metadata | calls, µs | a write, µs | answers to a write | the answer, µs | share | under 1 % |',
);
console.log('|---|---|---|---|---|---|---|');
printShares(postgres, 'PostgreSQL', await measureCallsIn('PostgreSQL'));
printShares(embedded, 'embedded', calls);
printShare('cached token, embedded', token, calls.token, calls.write, inSecond(token));
