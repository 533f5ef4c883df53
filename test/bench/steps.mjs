/**
 * The processor time of one request by step: a guest's query with cached rows, 8 front ends, the whole product. Each sample of
 * the profile belongs to the nearest function of the product above it. Prints a Markdown table of microseconds.
 */
import { existsSync, readFileSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { SourceMap } from 'node:module';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { makeDuckDb } from './query/data.mjs';
import { load } from './query/load.mjs';
import { makeOrganization } from './query/organization.mjs';
import { startService } from './query/service.mjs';
import { inTemporaryFolder, root } from './server.mjs';

const seconds = Number(process.env.BENCH_SECONDS ?? 5);

/** The first pattern that matches names the step. */
const steps = [
  [
    'the log line',
    /node_modules\/(pino|pino-http|sonic-boom|quick-format-unescaped|on-exit-leak-free)|\/platform\/logs\/log/,
  ],
  ['meters', /node_modules\/prom-client|meters/],
  ['the guest token and its revocations', /authenticate|credential|guest-session|live-guest|revocation|jwt/],
  ['the body', /body-reader|json-reader|body-faults/],
  ['the route and the fields', /\/http\/wire\/(bind|routes)|\/http\/interface\/|\/contract(\/|\.)|node_modules\/zod/],
  ['headers in, answer out', /\/http\//],
  ['metadata', /\/store\/|node_modules\/(kysely|@electric-sql)/],
  ['the question: dashboard, embed, permissions', /\/service\/|\/model\//],
  ['the plan and the kept rows', /\/engine\//],
  ['the rest of ours', /\/src\/|\/dist\//],
  ['other libraries', /node_modules\//],
];

const stepOf = ({ functionName, url }) => {
  if (functionName === '(garbage collector)') return 'garbage collection';
  if (functionName === '(program)') return 'system calls and native code';
  // Waiting and profiling are not counted.
  if (functionName === '(idle)' || url.endsWith('/profiled.mjs')) return null;
  if (!url.startsWith('file:')) return undefined;
  return steps.find(([, pattern]) => pattern.test(url))?.[0] ?? 'the rest of ours';
};

/** The source position of a frame of the built file, by its source map. */
const createPlaces = () => {
  const maps = new Map();
  const mapOf = (url) => {
    const file = `${fileURLToPath(url)}.map`;
    return existsSync(file) ? new SourceMap(JSON.parse(readFileSync(file, 'utf8'))) : null;
  };
  return ({ functionName, url, lineNumber, columnNumber }) => {
    if (!url.startsWith('file:')) return { functionName, url };
    if (!maps.has(url)) maps.set(url, mapOf(url));
    const source = maps.get(url)?.findEntry(lineNumber, columnNumber).originalSource;
    return { functionName, url: source === undefined ? url : new URL(source, url).href };
  };
};

/** Microseconds by step. */
const timesOf = ({ nodes, samples, timeDeltas }) => {
  const placeOf = createPlaces();
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id])));
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, placeOf(callFrame)]));
  const known = new Map();
  const find = (id) => {
    if (id === undefined) return "Node's own HTTP";
    if (!known.has(id)) {
      const own = stepOf(frames.get(id));
      known.set(id, own === undefined ? find(parents.get(id)) : own);
    }
    return known.get(id);
  };
  const times = new Map();
  samples.forEach((id, index) => {
    const step = find(id);
    if (step !== null) times.set(step, (times.get(step) ?? 0) + timeDeltas[index]);
  });
  return times;
};

const isThere = (file) =>
  stat(file).then(
    () => true,
    () => false,
  );

await inTemporaryFolder(async (folder) => {
  const path = join(folder, 'ordered.duckdb');
  await makeDuckDb(path, 'origin, date');
  const profile = join(folder, 'profile.json');
  const service = await startService(folder, {
    execArgv: ['--import', join(root, 'test/bench/profiled.mjs')],
    env: { BENCH_PROFILE: profile, GUESTLIST_LOG_LEVEL: 'info' },
  });
  try {
    const source = { schemaName: 'main', datasource: { datasourceType: 'DUCKDB', credentials: { path } } };
    const targets = await makeOrganization(service.url, service.serviceToken, { flights: source });
    const target = targets['flights selective cached'];
    const ask = (duration) => load(service.url, target, { connections: 8, seconds: duration });
    await ask(3);
    process.kill(service.child.pid, 'SIGUSR2');
    await pause(200);
    const { perSecond } = await ask(seconds);
    process.kill(service.child.pid, 'SIGUSR2');
    while (!(await isThere(profile))) await pause(50);
    await pause(500);
    const times = timesOf(JSON.parse(await readFile(profile, 'utf8')));
    const requests = perSecond * seconds;
    const lines = [...times].sort(([, one], [, other]) => other - one);
    const total = lines.reduce((sum, [, time]) => sum + time, 0);
    console.log(`Node ${process.version}, ${Math.round(requests)} requests, 8 front ends\n`);
    console.log('| step of a kept query | µs |\n|---|---|');
    for (const [step, time] of [...lines, ['all', total]]) console.log(`| ${step} | ${(time / requests).toFixed(1)} |`);
  } finally {
    await service.stop();
  }
});
