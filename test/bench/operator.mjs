// `npm run bench -- operator`: an operator who knows the documentation alone. Makes an installation with a tenant's use in March and a roll-out
// that got stuck, backs it up and destroys it. Then each task is done with commands of the documentation, and timed with the start of every
// process. Needs TEST_DATABASE_URL, a PostgreSQL whose user may create databases. BENCH_TENANTS tenants have 10 tokens each.
import { spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';

const tenants = Number(process.env.BENCH_TENANTS ?? 20_000);
const server = process.env.TEST_DATABASE_URL;
if (server === undefined) throw new Error('set TEST_DATABASE_URL to a PostgreSQL whose user may create databases');
const entry = fileURLToPath(new URL('../../bin/guestlist.mjs', import.meta.url));
const policies = fileURLToPath(new URL('../../config/policies/flights.yaml', import.meta.url));
const root = mkdtempSync(join(tmpdir(), 'guestlist-operator-'));
const secret = () => randomBytes(32).toString('base64');
const made = [];

const on = async (url, work) => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return work(client).finally(() => client.end());
};
const makeDatabase = async () => {
  const name = `bench_operator_${randomBytes(4).toString('hex')}`;
  await on(server, (client) => client.query(`create database ${name}`));
  made.push(name);
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
};
const dropDatabase = (name) => on(server, (client) => client.query(`drop database if exists ${name} with (force)`));
const makeFolder = (name) => {
  const folder = join(root, name);
  mkdirSync(folder);
  return folder;
};

const config = join(root, 'guestlist.yaml');
writeFileSync(config, JSON.stringify({ gateway: { policies } }));
const kept = {
  ...{ PATH: process.env.PATH, HOME: process.env.HOME, GUESTLIST_CONFIG: config, GUESTLIST_LOG_LEVEL: 'warn' },
  ...{ GUESTLIST_HOST_JWT_SECRET: secret(), GUESTLIST_BACKUP_KEY: secret() },
};

/** Starts Guestlist, and waits until it says that it is up and ready. */
const serve = async (env) => {
  const child = spawn(process.execPath, [entry, 'serve'], { env: { ...kept, PORT: '0', ...env } });
  let text = '';
  const url = await new Promise((resolve, reject) => {
    const look = (chunk) => {
      text += chunk;
      const found = /Guestlist is up at (\S+)/.exec(text)?.[1];
      if (found !== undefined) resolve(found);
    };
    child.stdout.on('data', look);
    child.stderr.on('data', look);
    child.once('close', (code) => reject(new Error(`guestlist serve ended with ${code}: ${text}`)));
  });
  const ready = await fetch(`${url}/readyz`);
  if (ready.status !== 200) throw new Error(`/readyz answers ${ready.status}: ${await ready.text()}`);
  const stop = () =>
    new Promise((resolve) => {
      child.once('close', resolve);
      child.kill('SIGTERM');
    });
  return { url, port: new URL(url).port, stop };
};

/** Runs a command of the documentation, and returns what it prints. */
const run = (env, codes, ...args) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [entry, ...args], {
    env: { ...kept, ...env },
    encoding: 'utf8',
  });
  if (!codes.includes(status)) throw new Error(`guestlist ${args.join(' ')} ended with ${status}: ${stdout}${stderr}`);
  return stdout;
};

const seed = (url) =>
  on(url, async (client) => {
    for (const statement of [
      "insert into guestlist.data_apps (id, name, created_at, updated_at) values ('bulk', 'bulk', now(), now())",
      `insert into guestlist_gateway.tenants (tenant_ref, client_id, state, created_at, updated_at)
       select md5(i::text), 'tenant-' || i, 'active', now(), now() from generate_series(1, ${tenants}) i`,
      `insert into guestlist.guest_tokens (id, hash, data_app_id, client_id, user_identifier, grants, created_at)
       select gen_random_uuid()::text, encode(sha256(convert_to(i || '/' || k, 'UTF8')), 'hex'), 'bulk', 'tenant-' || i, 'user-' || k,
         '{"allowedEmbeds": null}', now() from generate_series(1, ${tenants}) i, generate_series(1, 10) k`,
      `insert into guestlist.usage (at, data_app_id, client_id, person, dashboard_id, metric_id, logins, mints, source_queries, kept_answers,
         failed_answers, rows, ms, exports, mails, model_tokens)
       select timestamptz '2026-03-01 00:00Z' + d * interval '1 day', 'bulk', 'tenant-' || i, '', '', '', 1, 2, 3, 4, 0, 5, 6, 0, 0, 0
       from generate_series(1, ${tenants}) i, generate_series(0, 30, 5) d`,
      `insert into guestlist_gateway.template_versions (template, version, content, recorded_at)
       values ('delays', repeat('a', 64), '{}', now())`,
      `insert into guestlist_gateway.rollouts (id, template, version, workspace, options, state, created_at, updated_at)
       values ('stuck-roll-out', 'delays', repeat('a', 64), 'flights', '{}', 'running', now() - interval '2 hours', now() - interval '2 hours')`,
    ])
      await client.query(statement);
  });

const lines = [];
const timed = async (what, commands, work) => {
  const startedMs = performance.now();
  const found = await work();
  lines.push(`| ${what} | ${commands} | ${((performance.now() - startedMs) / 1_000).toFixed(1)} | ${found} |`);
};

/** Everything that differs between the two installations. */
const first = { GUESTLIST_DATA_DIR: makeFolder('first'), DATABASE_URL: await makeDatabase() };
const second = { GUESTLIST_DATA_DIR: makeFolder('second'), DATABASE_URL: await makeDatabase() };
const backup = join(root, 'one.backup');
let running;
try {
  const before = await serve(first);
  await before.stop();
  await seed(first.DATABASE_URL);
  await timed('back it up', '`backup`', () => {
    run(first, [0], 'backup', '--to', backup);
    return 'the file was read again and is whole';
  });
  await dropDatabase(made[0]);
  rmSync(first.GUESTLIST_DATA_DIR, { recursive: true });

  await timed(
    'restore the destroyed installation, until it is ready',
    '`restore --dry-run`, `restore`, `serve`',
    async () => {
      run(second, [0], 'restore', backup, '--dry-run');
      const restored = run(second, [0], 'restore', backup);
      running = await serve(second);
      return `${/compared (\d+) rows/.exec(restored)?.[1]} rows, compared; the audit verified`;
    },
  );
  const operator = () => ({ ...second, PORT: running.port });

  await timed('find the stuck roll-out', '`doctor`, `tenants rollouts`', () => {
    const found = run(operator(), [0, 1], 'doctor');
    if (!/rollout.* wait/.test(found)) throw new Error(`guestlist doctor does not name it: ${found}`);
    const listed = run(operator(), [0], 'tenants', 'rollouts');
    if (!listed.includes('stuck-roll-out')) throw new Error(`guestlist tenants rollouts does not list it: ${listed}`);
    return 'named, with its mend';
  });

  await timed('say how much tenant-7 used in March', '`usage --month --tenant`', () => {
    const used = run(operator(), [0], 'usage', '--month', '2026-03', '--tenant', 'tenant-7');
    return `${used.trim().split('\n').length - 1} line`;
  });

  await timed(
    'rotate the encryption key and the service token',
    '`rotate` (3), `serve` (3), `rotate --tokens`',
    async () => {
      for (const args of [['--begin'], [], []]) {
        run(operator(), [0], 'rotate', ...args);
        // The next process begins to serve before the last one ends.
        const next = makeFolder(`after-${randomBytes(2).toString('hex')}`);
        cpSync(join(second.GUESTLIST_DATA_DIR, 'credentials.json'), join(next, 'credentials.json'));
        second.GUESTLIST_DATA_DIR = next;
        const last = running;
        running = await serve(second);
        await last.stop();
      }
      const tokens = join(root, 'tokens.env');
      run(operator(), [0], 'rotate', '--tokens', tokens);
      return readFileSync(tokens, 'utf8').startsWith('GUESTLIST_SERVICE_TOKEN=') ? 'in three steps' : 'no token';
    },
  );

  await timed(`start with ${tenants.toLocaleString('en')} tenants`, '`serve`', async () => {
    const last = running;
    running = await serve(second);
    await last.stop();
    return 'ready';
  });
  console.log(`${tenants} tenants, Node ${process.version}\n`);
  console.log('| task | commands | s | outcome |\n|---|---|---|---|');
  console.log(lines.join('\n'));
} finally {
  await running?.stop();
  for (const name of made) await dropDatabase(name);
  rmSync(root, { recursive: true, force: true });
}
