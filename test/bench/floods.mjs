/**
 * Measures how floods of useless requests affect others: p95 of guests who read a dashboard and of users who request a
 * token, before and during each flood, in turns. The product, the flooder (at a fixed rate) and the clients are
 * separate processes. Prints a Markdown table. On two cores they compete, so the rates are modest, and each line also
 * has the server's processor time. BENCH_ROUNDS, BENCH_SECONDS and BENCH_FLOOD_RATE change the run; BENCH_FLOODS names
 * the floods to run.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import jwt from 'jsonwebtoken';
import { credentialsIn, inTemporaryFolder, launch, median, root } from './server.mjs';

const rounds = Number(process.env.BENCH_ROUNDS ?? 3);
const seconds = Number(process.env.BENCH_SECONDS ?? 4);
const rate = Number(process.env.BENCH_FLOOD_RATE ?? 50);
/** Requests per second of each of the two measured kinds. */
const askedPerSecond = 40;
const hookSecret = `whsec_${Buffer.from('0123456789abcdef0123456789abcdef').toString('base64')}`;
const megabyte = 1024 * 1024;
const json = { 'content-type': 'application/json' };
const bearer = (token) => ({ authorization: `Bearer ${token}` });
const unseen = '00000000-0000-4000-8000-{n}';
const query = '/api/v2/guest/metrics/none/query';
const mint = '/api/v2/guest-token/create';

const floodsOf = ({ session, guestToken, apiKey }) => ({
  'no credential, a body of 200 kB, guest read': { path: query, headers: json, body: 'x'.repeat(200_000) },
  'no credential, a body of 2 MB, mint': { path: mint, headers: json, body: 'x'.repeat(2 * megabyte) },
  'no credential, a form of 2 MB': {
    path: '/api/v2/data-app/dashboard-embeds',
    headers: { 'content-type': 'multipart/form-data; boundary=x' },
    ...{ body: '--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n', times: 40_000 },
  },
  'a garbage session, its signature wrong': { path: '/embed-token', headers: bearer(`${session.slice(0, -13)}{n}A`) },
  'garbage for a session': { path: '/embed-token', headers: bearer('garbage-{n}') },
  'a guest token that was never made': { method: 'GET', path: '/api/v2/guest/metrics/none', headers: bearer(unseen) },
  'an API key that was never made, a body of 200 kB': {
    ...{ path: mint, headers: { ...json, ...bearer(unseen) }, body: 'x'.repeat(200_000) },
  },
  'a gateway token that is wrong': { path: '/gateway/admin/tenants-list', headers: bearer(unseen) },
  'a hook with a wrong signature, 50 kB': {
    path: '/hooks/tenant-signed-up',
    headers: {
      ...json,
      ...{
        'webhook-id': '{n}',
        'webhook-timestamp': String(Math.floor(Date.now() / 1000)),
        'webhook-signature': 'v1,eA==',
      },
    },
    body: 'x'.repeat(50_000),
  },
  'a good guest token, a body announced as 1 GB': {
    ...{ path: query, headers: { ...json, ...bearer(guestToken) }, body: 'x', announced: 1024 * megabyte },
  },
  'a good guest token, 100,000 levels of JSON': {
    ...{
      path: query,
      headers: { ...json, ...bearer(guestToken) },
      body: '[',
      times: 100_000,
      end: ']'.repeat(100_000),
    },
  },
  'a good guest token, 100,000 faults': {
    path: query,
    headers: { ...json, ...bearer(guestToken) },
    ...{ body: '{"dashboardFilter":{"a":[', end: `${'1,'.repeat(100_000)}1]}}` },
  },
  'a good API key, 400,000 faults in 2 MB': {
    path: mint,
    headers: { ...json, ...bearer(apiKey) },
    ...{
      body: '{"clientId":"LAX","dataAppName":"flights","params":{"allowedEmbeds":[',
      end: `${'1,'.repeat(400_000)}1]}}`,
    },
  },
  'slow senders of headers, up to 500 connections': { head: 'GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ', connections: 500 },
  'slow senders of a body, up to 500 connections': {
    head: `POST ${mint} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${apiKey}\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n`,
    connections: 500,
  },
});

const agent = new Agent({ keepAlive: true });
const ask = (url, path, token, method) =>
  new Promise((resolve, reject) => {
    const since = performance.now();
    const asked = request(`${url}${path}`, { agent, method, headers: bearer(token) }, (answer) => {
      answer.resume();
      answer.on('close', () => reject(new Error(`${path}: the answer broke off`)));
      answer.on('end', () => {
        if (answer.statusCode === 200) resolve(performance.now() - since);
        else reject(new Error(`${path} answered ${answer.statusCode} to a good credential`));
      });
    });
    asked.setTimeout(30_000, () => asked.destroy(new Error(`${path}: no answer in 30 s`)));
    // A keep-alive connection may close while the next request is being sent.
    asked.on('error', (error) =>
      asked.reusedSocket && error.code === 'ECONNRESET' ? resolve(ask(url, path, token, method)) : reject(error),
    );
    asked.end();
  });

const quantile = (values, part) => values.toSorted((a, b) => a - b)[Math.floor(values.length * part)];

/** Returns p95 of requests that are sent at fixed times, however long the answers take. */
const measure = async ({ url, session, guestToken, dashboard }) => {
  const ends = performance.now() + seconds * 1000;
  const asked = [];
  while (performance.now() < ends) {
    asked.push(
      ask(url, '/embed-token', session, 'POST').catch((error) => error),
      ask(url, `/api/v2/guest/dashboards/${dashboard}`, guestToken, 'GET').catch((error) => error),
    );
    await pause(1000 / askedPerSecond);
  }
  const answers = await Promise.all(asked);
  const fault = answers.find((one) => one instanceof Error);
  if (fault !== undefined) throw fault;
  return quantile(answers, 0.95);
};

/** Processor time of the server so far, in milliseconds. */
const spent = ({ child }) => {
  const fields = readFileSync(`/proc/${child.pid}/stat`, 'utf8').split(') ')[1].split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
};

const flooded = async (product, make, work) => {
  const flooder = fork(join(root, 'test/bench/flooder.mjs'));
  flooder.send({ port: new URL(product.url).port, perSecond: rate, make });
  try {
    // Waits until the limits have noticed the flood and its rate is steady.
    await pause(1000);
    const result = await work();
    flooder.send('stop');
    const [counts] = await once(flooder, 'message');
    return { result, counts };
  } finally {
    flooder.kill();
  }
};

await inTemporaryFolder(async (dataDir) => {
  const command = [process.execPath, join(root, 'bin/guestlist.mjs'), 'serve'];
  const high = { GUESTLIST_USER_PER_MINUTE: '1000000', GUESTLIST_TENANT_PER_MINUTE: '1000000' };
  const env = { ...high, GUESTLIST_GUEST_ADDRESS_PER_MINUTE: '1000000', GUESTLIST_GUEST_TOKEN_PER_MINUTE: '1000000' };
  const server = await launch(command, { dataDir, env: { ...env, GUESTLIST_HOOK_SECRETS: hookSecret } });
  try {
    const { demoApiKey, demoJwtSecret } = await credentialsIn(dataDir);
    const claims = { iss: 'guestlist-demo', sub: 'ann', org_id: 'LAX', roles: ['analyst'] };
    const session = jwt.sign(claims, demoJwtSecret, { expiresIn: '4h' });
    const answer = await fetch(`${server.url}/embed-token`, { method: 'POST', headers: bearer(session) });
    const { token: guestToken, embeds } = await answer.json();
    // The flooder has its own credential, so its requests count against that one.
    const other = jwt.sign({ ...claims, sub: 'bob', org_id: 'SFO' }, demoJwtSecret, { expiresIn: '4h' });
    const others = await fetch(`${server.url}/embed-token`, { method: 'POST', headers: bearer(other) });
    const floods = Object.entries(
      floodsOf({ session: other, guestToken: (await others.json()).token, apiKey: demoApiKey }),
    );
    const product = { ...server, session, guestToken, dashboard: embeds[0].id };
    await measure(product);
    await measure(product);
    const wanted = process.env.BENCH_FLOODS?.split(';');
    console.log(
      `Node ${process.version}, ${new Date().toISOString()}: ${rate} requests a second of each flood, ${rounds} rounds of ${seconds} s before and during in turns, ${2 * askedPerSecond} good requests a second, medians of p95\n`,
    );
    console.log(
      '| flood | p95 before, ms | p95 during, ms | ratio | server, % of a core before / during | the flood got |\n|---|---|---|---|---|---|',
    );
    for (const [name, make] of floods) {
      if (wanted !== undefined && !wanted.some((part) => name.includes(part))) continue;
      const seen = [];
      for (let round = 0; round < rounds; round += 1) {
        const start = spent(server);
        const before = await measure(product);
        const middle = spent(server);
        const { result, counts } = await flooded(product, make, async () => {
          const since = spent(server);
          const during = await measure(product);
          return { during, cpu: spent(server) - since };
        });
        seen.push({
          before,
          cpuBefore: middle - start,
          during: result.during,
          cpuDuring: result.cpu,
          ratio: result.during / before,
          counts,
        });
        await pause(500);
      }
      const of = (field) => median(seen.map((one) => one[field]));
      const part = (ms) => `${Math.round(ms / seconds / 10)} %`;
      const got = Object.entries(seen.at(-1).counts)
        .map(([what, count]) => `${what}: ${count}`)
        .join(', ');
      const cells = [of('before').toFixed(1), of('during').toFixed(1), of('ratio').toFixed(2)];
      console.log(`| ${name} | ${cells.join(' | ')} | ${part(of('cpuBefore'))} / ${part(of('cpuDuring'))} | ${got} |`);
    }
  } finally {
    await server.stop();
  }
});
