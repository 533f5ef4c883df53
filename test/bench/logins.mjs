// First logins per second of new tenants, and the time that the command needs to provision many tenants. Measures the built product of this
// folder and of other named folders in turns. `node test/bench/logins.mjs [--rounds 3] [--count 300] [--database URL] [FOLDER ...]`; without a
// database the embedded one. Statements are counted if PostgreSQL has pg_stat_statements.
import { spawn } from 'node:child_process';
import { createSecretKey, randomUUID } from 'node:crypto';
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import jwt from 'jsonwebtoken';
import pg from 'pg';

const root = fileURLToPath(new URL('../..', import.meta.url));
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '3' },
    count: { type: 'string', default: '300' },
    width: { type: 'string', default: '8' },
    database: { type: 'string' },
    flights: { type: 'string' },
  },
});
const folders = [root, ...positionals].map((folder) => resolve(folder));
const [rounds, count, width] = [values.rounds, values.count, values.width].map(Number);

const onServer = async (statement) => {
  const client = new pg.Client({ connectionString: values.database });
  await client.connect();
  try {
    return (await client.query(statement)).rows;
  } finally {
    await client.end();
  }
};

const start = async (folder) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'guestlist-logins-'));
  if (values.flights !== undefined) cpSync(values.flights, join(dataDir, 'demo', 'flights.duckdb'));
  const name = `logins_${randomUUID().replaceAll('-', '')}`;
  let databaseUrl;
  if (values.database !== undefined) {
    await onServer(`create database ${name}`);
    databaseUrl = Object.assign(new URL(values.database), { pathname: `/${name}` }).href;
  }
  const env = { ...process.env, PORT: '0', GUESTLIST_DATA_DIR: dataDir, GUESTLIST_LOG_LEVEL: 'warn' };
  const child = spawn(process.execPath, [join(folder, 'bin/guestlist.mjs'), 'serve'], {
    env: { ...env, ...(databaseUrl === undefined ? {} : { DATABASE_URL: databaseUrl }) },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const url = await new Promise((found) => {
    let text = '';
    child.stdout.on('data', (chunk) => {
      text += chunk;
      const [, at] = /Guestlist is up at (\S+)/.exec(text) ?? [];
      if (at !== undefined) found(at);
    });
  });
  const stop = async () => {
    const ended = new Promise((end) => child.once('close', end));
    child.kill('SIGKILL');
    await ended;
    rmSync(dataDir, { recursive: true, force: true });
    if (databaseUrl !== undefined) await onServer(`drop database ${name} with (force)`);
  };
  return { url, stop, credentials: JSON.parse(readFileSync(join(dataDir, 'credentials.json'), 'utf8')) };
};

const inParallel = async (work) => {
  let next = 0;
  const worker = async () => {
    while (next < count) await work(next++);
  };
  const startedMs = performance.now();
  await Promise.all(Array.from({ length: width }, worker));
  return (performance.now() - startedMs) / 1000;
};

const logIn = async ({ url, credentials }, index) => {
  const now = Math.floor(Date.now() / 1000);
  const claims = {
    iss: 'guestlist-demo',
    sub: `u${index}`,
    org_id: `N${index}`,
    roles: ['analyst'],
    iat: now,
    exp: now + 900,
  };
  const bearer = jwt.sign(claims, createSecretKey(Buffer.from(credentials.demoJwtSecret)));
  const answer = await fetch(`${url}/embed-token`, { method: 'POST', headers: { authorization: `Bearer ${bearer}` } });
  if (answer.status !== 200) throw new Error(`${answer.status} ${await answer.text()}`);
  await answer.arrayBuffer();
};

const provision = async ({ url, credentials }) => {
  const startedMs = performance.now();
  for (let at = 0; at < count; at += 50) {
    const clientIds = Array.from({ length: Math.min(50, count - at) }, (_, index) => `P${at + index}`);
    const answer = await fetch(`${url}/gateway/admin/tenants-provision`, {
      method: 'POST',
      headers: { authorization: `Bearer ${credentials.gatewayToken}`, 'content-type': 'application/json' },
      body: JSON.stringify({ clientIds, isNew: true, templates: ['delays'] }),
    });
    const { data } = await answer.json();
    if (!data.tenants.every(({ outcome }) => outcome === 'complete'))
      throw new Error(JSON.stringify(data).slice(0, 500));
  }
  return (performance.now() - startedMs) / 1000;
};

const measured = new Map(folders.map((folder) => [folder, { logins: [], provisioned: [] }]));
for (let round = 0; round < rounds; round += 1) {
  for (const folder of round % 2 === 0 ? folders : folders.toReversed()) {
    const product = await start(folder);
    try {
      for (let index = 0; index < 5; index += 1) await logIn(product, `warm-${index}`);
      const { logins, provisioned } = measured.get(folder);
      logins.push(count / (await inParallel((index) => logIn(product, index))));
      provisioned.push(count / (await provision(product)));
    } finally {
      await product.stop();
    }
  }
}
const median = (list) => list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)];
const shown = (list) => `${median(list).toFixed(1)} (${list.map((one) => one.toFixed(1)).join(', ')})`;
console.table(
  folders.map((folder) => {
    const { logins, provisioned } = measured.get(folder);
    return { folder, 'first logins/s': shown(logins), 'provisioned/s': shown(provisioned) };
  }),
);
