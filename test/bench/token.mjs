/**
 * Cached `POST /embed-token` of the whole product against a bare Express "hello": each server on one core, wrk on the other,
 * alternately, in one run. Needs wrk and taskset on PATH (Linux). Prints a Markdown table of medians. On a machine that
 * is busy with other things, the ratio of processor time is steadier than that of requests.
 */
import { execFileSync } from 'node:child_process';
import { createSecretKey } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import jwt from 'jsonwebtoken';
import { credentialsIn, inTemporaryFolder, launch, median, root } from './server.mjs';

const rounds = Number(process.env.BENCH_ROUNDS ?? 5);
const seconds = Number(process.env.BENCH_SECONDS ?? 4);
const redisUrl = process.env.BENCH_REDIS_URL;
const connections = 32;

const onFirstCore = (...args) => ['taskset', '-c', '0', process.execPath, ...args];

const milliseconds = (text) => {
  const [, number, unit] = /([\d.]+)(us|ms|s)/.exec(text);
  return Number(number) * { us: 0.001, ms: 1, s: 1000 }[unit];
};

/** Processor time of the server so far, user and system, in microseconds (the kernel counts in hundredths of a second). */
const processorTime = (pid) => {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10_000;
};

const measure = ({ child }, url, extra) => {
  const args = ['-c', '1', 'wrk', '-t1', `-c${connections}`, `-d${seconds}s`, '--latency', ...extra, url];
  const before = processorTime(child.pid);
  const text = execFileSync('taskset', args, { encoding: 'utf8' });
  const spent = processorTime(child.pid) - before;
  if (/Non-2xx|Socket errors/.test(text)) throw new Error(`wrk saw errors:\n${text}`);
  return {
    microseconds: spent / Number(/(\d+) requests in/.exec(text)[1]),
    perSecond: Number(/Requests\/sec:\s+([\d.]+)/.exec(text)[1]),
    p50: milliseconds(/^\s+50%\s+(\S+)/m.exec(text)[1]),
    p99: milliseconds(/^\s+99%\s+(\S+)/m.exec(text)[1]),
  };
};

const sessionOf = async (dataDir, claims) => {
  const { demoJwtSecret } = await credentialsIn(dataDir);
  const key = createSecretKey(Buffer.from(demoJwtSecret));
  return jwt.sign({ iss: 'guestlist-demo', ...claims }, key, { expiresIn: '1h' });
};

const run = (variants) => {
  for (const { once } of variants) once();
  for (let round = 0; round < rounds; round += 1) {
    for (const variant of variants) variant.results.push(variant.once());
  }
};

const print = (variants) => {
  const figures = ({ results }, name) => median(results.map((result) => result[name]));
  const [bare] = variants;
  const cache = redisUrl === undefined ? 'memory' : 'Redis';
  console.log(
    `Node ${process.version}, ${rounds} rounds of ${seconds} s each, ${connections} connections, cache: ${cache}, medians\n`,
  );
  console.log('| | requests/s | p50 ms | p99 ms | ratio | CPU µs a request | ratio |\n|---|---|---|---|---|---|---|');
  for (const variant of variants) {
    const of = (name) => figures(variant, name);
    const ratio = (of('perSecond') / figures(bare, 'perSecond')).toFixed(2);
    const processor = (figures(bare, 'microseconds') / of('microseconds')).toFixed(2);
    const cells = [
      Math.round(of('perSecond')),
      of('p50').toFixed(2),
      of('p99').toFixed(2),
      ratio,
      of('microseconds').toFixed(1),
      processor,
    ];
    console.log(`| ${variant.name} | ${cells.join(' | ')} |`);
  }
};

await inTemporaryFolder(async (folder) => {
  const post = join(folder, 'post.lua');
  writeFileSync(post, 'wrk.method = "POST"\n');
  const dataDir = join(folder, 'data');
  const env = redisUrl === undefined ? {} : { REDIS_URL: redisUrl };
  const hello = await launch(onFirstCore(join(root, 'test/bench/hello.mjs')), {
    dataDir,
    env: { NODE_ENV: 'production' },
  });
  const product = await launch(onFirstCore(join(root, 'bin/guestlist.mjs'), 'serve'), { dataDir, env });
  const asUser = async (claims) => ['-s', post, '-H', `Authorization: Bearer ${await sessionOf(dataDir, claims)}`];
  const analyst = await asUser({ sub: 'ann', org_id: 'LAX', roles: ['analyst'] });
  const regional = await asUser({ sub: 'sam', org_id: 'SFO', roles: ['analyst', 'regional'], region: 'CA' });
  const variants = [
    { name: 'bare Express 5 "hello"', once: () => measure(hello, `${hello.url}/hello`, []) },
    {
      name: '`POST /embed-token`, cached, analyst',
      once: () => measure(product, `${product.url}/embed-token`, analyst),
    },
    {
      name: '`POST /embed-token`, cached, regional user',
      once: () => measure(product, `${product.url}/embed-token`, regional),
    },
  ].map((variant) => ({ ...variant, results: [] }));
  try {
    run(variants);
    print(variants);
  } finally {
    await Promise.all([hello.stop(), product.stop()]);
  }
});
