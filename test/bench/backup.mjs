// `npm run bench -- backup`: how fast the built command line backs up and restores an installation, from and into both backings. Needs
// TEST_DATABASE_URL, a PostgreSQL whose user may create databases. BENCH_TENANTS tenants have 10 tokens each, and one file of BENCH_UPLOAD_MB.
import { spawnSync } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { ledgerMigrations } from '../../dist/gateway/ledger/migrations.js';
import { openDatabase } from '../../dist/platform/databases/database.js';
import { migrateSchema } from '../../dist/platform/databases/migrate.js';
import { migrations } from '../../dist/service/store/migrations.js';

const tenants = Number(process.env.BENCH_TENANTS ?? 20_000);
const uploadMegabytes = Number(process.env.BENCH_UPLOAD_MB ?? 100);
const server = process.env.TEST_DATABASE_URL;
if (server === undefined) throw new Error('set TEST_DATABASE_URL to a PostgreSQL whose user may create databases');
const entry = fileURLToPath(new URL('../../bin/guestlist.mjs', import.meta.url));
const root = mkdtempSync(join(tmpdir(), 'guestlist-bench-'));
const key = randomBytes(32).toString('base64');
const made = [];

const onServer = async (text) => {
  const client = new pg.Client({ connectionString: server });
  await client.connect();
  await client.query(text).finally(() => client.end());
};
const makeServer = async () => {
  const name = `bench_backup_${randomBytes(4).toString('hex')}`;
  await onServer(`create database ${name}`);
  made.push(name);
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
};
const makeFolder = (name) => {
  const folder = join(root, name);
  mkdirSync(folder);
  return folder;
};

const seed = async (databaseUrl, dataDir) => {
  const database = await openDatabase({ databaseUrl, folder: null });
  await migrateSchema({ db: database.connect(), schema: 'guestlist', migrations, what: 'metadata' });
  await migrateSchema({
    db: database.connect(),
    schema: 'guestlist_gateway',
    migrations: ledgerMigrations,
    what: 'ledger',
  });
  await database.close();
  const file = join(dataDir, 'sources', 'uploads', randomUUID(), 'tables.duckdb');
  mkdirSync(join(file, '..'), { recursive: true });
  writeFileSync(file, randomBytes(uploadMegabytes * 1_000_000));
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  for (const statement of [
    "insert into guestlist.data_apps (id, name, created_at, updated_at) values ('bulk', 'bulk', now(), now())",
    "insert into guestlist.workspaces (id, name, connection_type) values ('bulk', 'bulk', 'DATABASE')",
    `insert into guestlist.datasources (id, name, datasource_type, path) values ('upload', 'upload', 'DUCKDB', '${file}')`,
    `insert into guestlist_gateway.tenants (tenant_ref, client_id, state, created_at, updated_at)
     select md5(i::text), 'tenant-' || i, 'active', now(), now() from generate_series(1, ${tenants}) i`,
    `insert into guestlist.dashboards (id, external_dashboard_id, workspace_id, name, data_app_id, client_id, layout, grid_margin, filters,
       is_allow_private_metrics_by_default)
     select 'board-' || i, 'board-' || i, 'bulk', 'Board ' || i, 'bulk', 'tenant-' || i, '[]', '{}',
       (select jsonb_agg(jsonb_build_object('name', md5((i * 10 + k)::text), 'column', k)) from generate_series(1, 8) k), true
     from generate_series(1, ${tenants}) i`,
    `insert into guestlist.guest_tokens (id, hash, data_app_id, client_id, user_identifier, grants, created_at)
     select gen_random_uuid()::text, encode(sha256(convert_to(i || '/' || k, 'UTF8')), 'hex'), 'bulk', 'tenant-' || i, 'user-' || k,
       '{"allowedEmbeds": null}', now() from generate_series(1, ${tenants}) i, generate_series(1, 10) k`,
  ])
    await client.query(statement);
  await client.end();
};

const run = (dataDir, databaseUrl, ...args) => {
  const startedMs = performance.now();
  const { status, stdout, stderr } = spawnSync(process.execPath, [entry, ...args], {
    env: {
      ...{ PATH: process.env.PATH, HOME: process.env.HOME, GUESTLIST_DATA_DIR: dataDir, GUESTLIST_BACKUP_KEY: key },
      ...(databaseUrl === null ? {} : { DATABASE_URL: databaseUrl }),
    },
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`guestlist ${args.join(' ')} ended with ${status}: ${stdout}${stderr}`);
  return { seconds: (performance.now() - startedMs) / 1_000, rows: Number(/(\d+) rows of/.exec(stdout)?.[1]) };
};

try {
  const source = { dataDir: makeFolder('source'), url: await makeServer() };
  await seed(source.url, source.dataDir);
  const lines = [];
  const tell = (what, { seconds, rows }, bytes) =>
    lines.push(
      `| ${what} | ${rows} | ${seconds.toFixed(1)} | ${Math.round(rows / seconds)} | ${(bytes / 1e6).toFixed(0)} | ${(bytes / 1e6 / seconds).toFixed(1)} |`,
    );
  const [one, two] = [join(root, 'one.backup'), join(root, 'two.backup')];
  const fromServer = run(source.dataDir, source.url, 'backup', '--to', one);
  const { size } = statSync(one);
  tell('backup of PostgreSQL, and the check of the file', fromServer, size);
  const embedded = makeFolder('embedded');
  tell('restore into the embedded database', run(embedded, null, 'restore', one), size);
  tell(
    'backup of the embedded database, and the check',
    run(embedded, null, 'backup', '--to', two),
    statSync(two).size,
  );
  tell('restore into PostgreSQL', run(makeFolder('target'), await makeServer(), 'restore', two), size);
  console.log(`${tenants} tenants, an upload of ${uploadMegabytes} MB, Node ${process.version}\n`);
  console.log('| | rows | s | rows/s | MB of the file | MB/s |\n|---|---|---|---|---|---|');
  console.log(lines.join('\n'));
} finally {
  for (const name of made) await onServer(`drop database if exists ${name} with (force)`);
  rmSync(root, { recursive: true, force: true });
}
