/**
 * Cached `POST /embed-token` compared with an empty Express route and with what a team writes by hand: each server on
 * one core, wrk on the other, in turns, in one run. The mounted gateway is compared with an empty route of the same
 * app. Needs wrk and taskset on PATH (Linux), and Redis at BENCH_REDIS_URL. Prints a Markdown table of medians and
 * required values. On a busy machine, the ratio of processor time is more stable than that of requests.
 * BENCH_BEFORE=FOLDER, a built checkout of an earlier version, is measured in turns with this one: the ratio of such a row
 * is to the row above it.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createSigners, nestedClaims, startGateway, startMounted, startService, startTeam } from './gateways.mjs';
import { inTemporaryFolder, launch, root } from './server.mjs';
import { connections, inTurns, measure, onFirstCore, tableOf } from './wrk.mjs';

const rounds = Number(process.env.BENCH_ROUNDS ?? 9);
const seconds = Number(process.env.BENCH_SECONDS ?? 1);
/** Warm-up, until V8 has compiled the code. */
const warmSeconds = Number(process.env.BENCH_WARM_SECONDS ?? 3);
/** Names of the variants to measure. The baselines are always measured. */
const only = new RegExp(process.env.BENCH_ONLY ?? '');
const redisUrl = process.env.BENCH_REDIS_URL ?? 'redis://127.0.0.1:6379/9';
const algorithms = ['HS256', 'RS256', 'ES256'];
/** Signs in the newest versions alone, and is compared with ES256. */
const newest = 'EdDSA';
const before = process.env.BENCH_BEFORE;
/** More sessions than the gateway caches, so that each is verified again. */
const manySessions = 12_000;

/** Writes wrk's script: a POST that uses the sessions of a file in turn, if there is one. */
const writeScripts = (folder, signers) => {
  const post = join(folder, 'post.lua');
  writeFileSync(post, 'wrk.method = "POST"\n');
  const scripts = [...algorithms, newest].map((algorithm) => {
    const sessions = join(folder, `${algorithm}.txt`);
    const script = join(folder, `${algorithm}.lua`);
    const all = Array.from({ length: manySessions }, (_, index) => signers.sign[algorithm]({ jti: String(index) }));
    writeFileSync(sessions, all.join('\n'));
    writeFileSync(
      script,
      `local all = {}
for line in io.lines(${JSON.stringify(sessions)}) do all[#all + 1] = line end
local at = 0
request = function()
  at = at % #all + 1
  return wrk.format("POST", nil, { Authorization = "Bearer " .. all[at] })
end
`,
    );
    return [algorithm, script];
  });
  return { post, rotating: Object.fromEntries(scripts) };
};

await inTemporaryFolder(async (folder) => {
  const signers = createSigners();
  const { post, rotating } = writeScripts(folder, signers);
  const running = [];
  const start = async (promise) => {
    const server = await promise;
    running.push(server);
    return server;
  };
  try {
    const hello = await start(
      launch(onFirstCore(join(root, 'test/bench/hello.mjs')), {
        dataDir: join(folder, 'hello'),
        env: { NODE_ENV: 'production' },
      }),
    );
    const service = await start(startService(folder));
    const common = { service, signers };
    const team = await start(startTeam(folder, { ...common, redisUrl }));
    const memory = await start(startGateway(folder, 'memory', common));
    const redis = await start(startGateway(folder, 'redis', { ...common, redisUrl }));
    const earlier =
      before === undefined
        ? undefined
        : {
            memory: await start(startGateway(folder, 'memory-before', { ...common, from: before })),
            redis: await start(startGateway(folder, 'redis-before', { ...common, redisUrl, from: before })),
          };
    const mounted = await start(startMounted(folder, common));
    const lookups = [];
    for (const tenants of [10, 10_000, 1_000_000]) {
      lookups.push([tenants, await start(startGateway(folder, `lookup-${tenants}`, { ...common, tenants }))]);
    }
    const asUser = (algorithm, claims = {}) => [
      ...['-s', post, '-H', `Authorization: Bearer ${signers.sign[algorithm](claims)}`],
    ];
    const of = (name, server, extra, more = {}) => ({
      name,
      once: (forSeconds) => measure(server, server.url + (more.path ?? '/embed-token'), forSeconds, extra),
      results: [],
      ...more,
    });
    /** The variant, and below it the same of the earlier version. */
    const both = (name, cache, extra, more) => {
      const now = of(name, cache === 'Redis' ? redis : memory, extra, more);
      if (earlier === undefined) return [now];
      return [now, of(`${name}, before`, cache === 'Redis' ? earlier.redis : earlier.memory, extra, { against: now })];
    };
    const nested = await start(startGateway(folder, 'nested', { ...common, isNested: true }));
    const everyNew = (algorithm, more) =>
      both(`gateway, ${algorithm}, Redis, every session new`, 'Redis', ['-s', rotating[algorithm]], more);
    const [newEs256, ...earlierEs256] = everyNew('ES256', { mark: 0.7 });
    // As long as the nested ones: a longer token takes longer to read and to hash, whatever its shape.
    const padding = 'x'.repeat(JSON.stringify(nestedClaims).length);
    const flat = of('gateway, HS256, memory, flat claims of that length', memory, asUser('HS256', { padding }));
    const asHost = ['-s', post, '-H', 'X-User: ann', '-H', `Origin: ${mounted.url}`];
    const empty = of("a host's Express app: its own empty route", mounted, asHost, { path: '/empty' });
    const variants = [
      of('bare Express 5 "hello"', hello, [], { path: '/hello' }),
      of("a team's handler: HS256, Redis", team, asUser('HS256')),
      ...['memory', 'Redis'].flatMap((cache) =>
        algorithms.flatMap((algorithm) =>
          both(`gateway, ${algorithm}, ${cache}`, cache, asUser(algorithm), { mark: 1.5 }),
        ),
      ),
      ...['HS256', 'RS256'].flatMap((algorithm) => everyNew(algorithm, { mark: 0.9 })),
      ...[newEs256, ...earlierEs256],
      // At most 1.3 times the time of a session by ES256.
      of('gateway, EdDSA, Redis, every session new; against ES256', redis, ['-s', rotating[newest]], {
        ...{ against: newEs256, mark: 0.77 },
      }),
      flat,
      of(
        'gateway, HS256, memory, nested claims; against flat ones of that length',
        nested,
        asUser('HS256', nestedClaims),
        {
          ...{ against: flat, mark: 0.95 },
        },
      ),
      ...lookups.map(([tenants, server]) =>
        of(`gateway, HS256, memory, tenant looked up among ${tenants.toLocaleString('en')}`, server, asUser('HS256'), {
          mark: 1.5,
        }),
      ),
      empty,
      of("mounted in a host's Express app, memory; against its empty route", mounted, asHost, {
        ...{ path: '/analytics/embed-token', against: empty, mark: 0.7 },
      }),
    ];
    const measured = variants.filter(({ name, path }) => path !== undefined || only.test(name));
    inTurns(measured, { rounds, seconds, warmSeconds });
    console.log(
      `Node ${process.version}, ${rounds} rounds of ${seconds} s each, ${connections} connections, one core, medians\n`,
    );
    console.log(tableOf(measured));
  } finally {
    await Promise.all(running.map(({ stop }) => stop()));
  }
});
