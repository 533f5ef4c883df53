/**
 * Cached `POST /embed-token` against a bare Express "hello": the server on one core, wrk on the other, alternately, in
 * one run. Needs the compiled package in dist/, and wrk and taskset on PATH (Linux). Prints a Markdown table of medians.
 * On a machine that is busy with other things, the ratio of processor time is steadier than that of requests.
 */
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const rounds = Number(process.env.BENCH_ROUNDS ?? 5);
const seconds = Number(process.env.BENCH_SECONDS ?? 4);
const connections = 32;

const startServer = async () => {
  const script = new URL('./token-server.mjs', import.meta.url).pathname;
  const child = spawn('taskset', ['-c', '0', process.execPath, ...process.execArgv, script], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, NODE_ENV: 'production' },
  });
  for await (const line of createInterface({ input: child.stdout })) return { child, ...JSON.parse(line) };
  throw new Error('the server did not start');
};

const median = (values) => values.toSorted((left, right) => left - right)[Math.floor(values.length / 2)];

const milliseconds = (text) => {
  const [, number, unit] = /([\d.]+)(us|ms|s)/.exec(text);
  return Number(number) * { us: 0.001, ms: 1, s: 1000 }[unit];
};

/** Processor time of the server so far, user and system, in microseconds (the kernel counts in hundredths of a second). */
const processorTime = (pid) => {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10_000;
};

const measure = (url, extra) => {
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

const folder = mkdtempSync(join(tmpdir(), 'guestlist-bench-'));
const { child, port, barePort, session } = await startServer();
try {
  const post = join(folder, 'post.lua');
  writeFileSync(post, 'wrk.method = "POST"\n');
  const variants = [
    { name: 'bare Express 5 "hello"', run: () => measure(`http://127.0.0.1:${barePort}/hello`, []) },
    {
      name: '`POST /embed-token`, cached',
      run: () =>
        measure(`http://127.0.0.1:${port}/embed-token`, ['-s', post, '-H', `Authorization: Bearer ${session}`]),
    },
  ].map((variant) => ({ ...variant, results: [] }));
  for (const variant of variants) variant.run();
  for (let round = 0; round < rounds; round += 1) {
    for (const variant of variants) variant.results.push(variant.run());
  }
  const rows = variants.map(({ name, results }) => ({
    name,
    microseconds: median(results.map((result) => result.microseconds)),
    perSecond: median(results.map((result) => result.perSecond)),
    p50: median(results.map((result) => result.p50)),
    p99: median(results.map((result) => result.p99)),
  }));
  const [bare] = rows;
  console.log(`Node ${process.version}, ${rounds} rounds of ${seconds} s each, ${connections} connections, medians\n`);
  console.log('| | requests/s | p50 ms | p99 ms | ratio | CPU µs a request | ratio |\n|---|---|---|---|---|---|---|');
  for (const { name, perSecond, p50, p99, microseconds } of rows) {
    const ratio = (perSecond / bare.perSecond).toFixed(2);
    const latency = `${p50.toFixed(2)} | ${p99.toFixed(2)}`;
    const processor = `${microseconds.toFixed(1)} | ${(bare.microseconds / microseconds).toFixed(2)}`;
    console.log(`| ${name} | ${Math.round(perSecond)} | ${latency} | ${ratio} | ${processor} |`);
  }
} finally {
  child.kill('SIGTERM');
  rmSync(folder, { recursive: true, force: true });
}
