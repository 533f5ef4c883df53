/**
 * Cached `POST /embed-token` against a bare Express "hello" and what a team writes by hand: each server on one core, wrk on the other,
 * in turns, in one run. Needs wrk and taskset on PATH (Linux), and Redis at BENCH_REDIS_URL. Prints a Markdown table of medians. On
 * a machine that is busy with other things, the ratio of processor time is steadier than that of requests.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createSigners, startGateway, startMounted, startService, startTeam } from './gateways.mjs';
import { inTemporaryFolder, launch, root } from './server.mjs';
import { connections, inTurns, measure, onFirstCore, tableOf } from './wrk.mjs';

const rounds = Number(process.env.BENCH_ROUNDS ?? 5);
const seconds = Number(process.env.BENCH_SECONDS ?? 4);
const redisUrl = process.env.BENCH_REDIS_URL ?? 'redis://127.0.0.1:6379/9';
const algorithms = ['HS256', 'RS256', 'ES256'];
/** More than the gateway keeps, so that each is verified anew. */
const manySessions = 12_000;

/** wrk's script: a POST, with the sessions of a file in turn where there is one. */
const writeScripts = (folder, signers) => {
  const post = join(folder, 'post.lua');
  writeFileSync(post, 'wrk.method = "POST"\n');
  const scripts = algorithms.map((algorithm) => {
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
    const mounted = await start(startMounted(folder, common));
    const lookups = [];
    for (const tenants of [10, 10_000, 1_000_000]) {
      lookups.push([tenants, await start(startGateway(folder, `lookup-${tenants}`, { ...common, tenants }))]);
    }
    const asUser = (algorithm) => ['-s', post, '-H', `Authorization: Bearer ${signers.sign[algorithm]({})}`];
    const asking = (server, extra) => () => measure(server, `${server.url}/embed-token`, seconds, extra);
    const of = (name, server, extra) => ({ name, once: asking(server, extra), results: [] });
    const variants = [
      { name: 'bare Express 5 "hello"', once: () => measure(hello, `${hello.url}/hello`, seconds, []), results: [] },
      of("a team's handler: HS256, Redis", team, asUser('HS256')),
      ...algorithms.map((algorithm) => of(`gateway, ${algorithm}, memory`, memory, asUser(algorithm))),
      ...algorithms.map((algorithm) => of(`gateway, ${algorithm}, Redis`, redis, asUser(algorithm))),
      ...algorithms.map((algorithm) =>
        of(`gateway, ${algorithm}, Redis, every session new`, redis, ['-s', rotating[algorithm]]),
      ),
      {
        name: "mounted in a host's Express app, memory",
        once: () =>
          measure(mounted, `${mounted.url}/analytics/embed-token`, seconds, [
            ...['-s', post, '-H', 'X-User: ann', '-H', `Origin: ${mounted.url}`],
          ]),
        results: [],
      },
      ...lookups.map(([tenants, server]) =>
        of(`gateway, HS256, memory, tenant looked up among ${tenants.toLocaleString('en')}`, server, asUser('HS256')),
      ),
    ];
    inTurns(variants, rounds);
    console.log(
      `Node ${process.version}, ${rounds} rounds of ${seconds} s each, ${connections} connections, one core, medians\n`,
    );
    console.log(tableOf(variants));
  } finally {
    await Promise.all(running.map(({ stop }) => stop()));
  }
});
