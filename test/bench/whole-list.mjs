/**
 * How long other requests wait while a whole list of tenants is answered. One request asks for the embeds of all tenants; meanwhile another process
 * sends one small request after the other to the same server and notes the longest wait. `BENCH_BEFORE=FOLDER` (another checkout, built) is measured
 * in turns with this one. Metadata in the embedded database, which answers in the server's own thread: the worst case.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { cpSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { get } from 'node:http';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import jwt from 'jsonwebtoken';
import { seedMetadata } from './lists-seed.mjs';
import { credentialsIn, inTemporaryFolder, launch, median, root } from './server.mjs';

const tenants = Number(process.env.BENCH_TENANTS ?? 20_000);
const rounds = Number(process.env.BENCH_ROUNDS ?? 3);

/** With the measure of the event loop, which counts processor time too: a busy machine does not stretch that. */
const start = (checkout, dataDir) => {
  const measured = ['--import', join(root, 'test/bench/loop-delay.mjs')];
  const command = [process.execPath, ...measured, join(checkout, 'bin/guestlist.mjs'), 'serve'];
  return launch(command, { dataDir, hasIpc: true });
};

const askLoop = async ({ child }, message) => {
  child.send(message);
  return (await once(child, 'message'))[0];
};

/** One tenant as the product makes it, and thousands of copies. */
const makeData = async (checkout, folder) => {
  const dataDir = join(folder, 'seed');
  const server = await start(checkout, dataDir);
  const { demoJwtSecret } = await credentialsIn(dataDir);
  const claims = { iss: 'guestlist-demo', sub: 'lax-manager', org_id: 'LAX', roles: ['manager'] };
  const session = jwt.sign(claims, demoJwtSecret, { expiresIn: '1h' });
  const answer = await fetch(`${server.url}/embed-token`, {
    method: 'POST',
    headers: { authorization: `Bearer ${session}` },
  });
  if (!answer.ok) throw new Error(`/embed-token answered ${answer.status}`);
  await server.stop();
  await seedMetadata(dataDir, { tenants, tokens: 1, entries: 0 });
  return dataDir;
};

/** Reads the answer as a fast client does, without keeping it. */
const readWhole = (url, key) =>
  new Promise((resolve, reject) => {
    const since = performance.now();
    const asked = get(`${url}/api/v2/data-app/embeds`, { headers: { authorization: `Bearer ${key}` } }, (answer) => {
      const firstByteInMs = performance.now() - since;
      let bytes = 0;
      answer.on('data', (chunk) => {
        bytes += chunk.length;
      });
      answer.on('error', reject);
      answer.on('end', () => resolve({ bytes, firstByteInMs, wholeInMs: performance.now() - since }));
    });
    asked.on('error', reject);
  });

/** The server's largest resident memory so far, in MB (Linux). */
const peakMemory = async ({ child }) => {
  const status = await readFile(`/proc/${child.pid}/status`, 'utf8');
  return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]) / 1024;
};

const measure = async (server, key) => {
  const others = fork(fileURLToPath(new URL('other-requests.mjs', import.meta.url)), [server.url, key]);
  await once(others, 'message');
  // What the machine itself causes.
  others.send('reset');
  await pause(3000);
  others.send('read');
  const [idle] = await once(others, 'message');
  const memoryBefore = await peakMemory(server);
  await askLoop(server, 'reset');
  others.send('reset');
  const answer = await readWhole(server.url, key);
  others.send('read');
  const [busy] = await once(others, 'message');
  const loop = await askLoop(server, 'read');
  others.kill();
  return { ...answer, idle, busy, loop, grownBy: (await peakMemory(server)) - memoryBefore };
};

const results = { before: [], now: [] };
await inTemporaryFolder(async (folder) => {
  const before = process.env.BENCH_BEFORE;
  const checkouts = [...(before === undefined ? [] : [['before', before]]), ['now', root]];
  const seed = await makeData(checkouts[0][1], folder);
  for (let round = 0; round < rounds; round += 1) {
    for (const [which, checkout] of checkouts) {
      const dataDir = join(folder, `${which}-${round}`);
      cpSync(seed, dataDir, { recursive: true });
      const server = await start(checkout, dataDir);
      const { demoApiKey } = await credentialsIn(dataDir);
      try {
        const result = await measure(server, demoApiKey);
        results[which].push(result);
        console.error(`${which}: ${JSON.stringify(result)}`);
      } finally {
        await server.stop();
      }
    }
  }
});

const of = (which, pick) => {
  const values = results[which].map(pick);
  return values.length === 0 ? '' : `${median(values).toFixed(0)} (${values.map((one) => one.toFixed(0)).join(', ')})`;
};
const rows = [
  ['longest wait of another request, ms', ({ busy }) => busy.longest],
  ['median wait of another request, ms', ({ busy }) => busy.median],
  ['longest wait before the list was asked for, ms', ({ idle }) => idle.longest],
  ['longest block of the event loop, ms of processor time', ({ loop }) => loop.processor.max],
  ['first byte of the list, ms', ({ firstByteInMs }) => firstByteInMs],
  ['whole list, ms', ({ wholeInMs }) => wholeInMs],
  ['growth of the largest resident memory, MB', ({ grownBy }) => grownBy],
  ['size of the list, MB', ({ bytes }) => bytes / 1e6],
];
console.log(`Node ${process.version}, ${tenants} tenants, ${rounds} rounds: median (each)\n`);
console.log('| | before | now |\n|---|---|---|');
for (const [name, pick] of rows) console.log(`| ${name} | ${of('before', pick)} | ${of('now', pick)} |`);
