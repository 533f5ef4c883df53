/** Upgrades filled tables of the first release to the current version, and to a simulated later version. */
import { randomBytes } from 'node:crypto';
import { type Migration, sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { HashedToken } from '../../../src/model/brand.js';
import { whole } from '../../../src/model/slices.js';
import { type Database, openDatabase } from '../../../src/platform/databases/database.js';
import { migrate, migrations } from '../../../src/service/store/migrations.js';
import type { Store } from '../../../src/service/store/store.js';
import { createStore } from '../../../src/service/store/store.js';
import type { Tables } from '../../../src/service/store/tables.js';
import { type Product, runToEnd, startProduct } from '../../product/product.js';
import { createOwnDatabase, isPostgresThere } from '../../suites/postgres.js';
import { testSealer } from '../../suites/sealer.js';
import { hashOf, statements, today } from './first-release.js';

const firstRelease = Object.fromEntries(Object.entries(migrations).slice(0, 1));
const serviceOnly = ['--only', 'service'];

const hashed = (text: string): HashedToken => hashOf(text) as HashedToken;

const fill = async (database: Database): Promise<void> => {
  await migrate(database.connect<Tables>(), firstRelease);
  for (const statement of statements) await sql.raw(statement).execute(database.connect());
};

/** Returns columns, constraints, indexes, triggers and rows of every table as text. */
const dump = async (database: Database): Promise<string> => {
  const db = database.connect();
  const { rows: columns } = await sql<{ table_name: string }>`
    select table_name, column_name, data_type, is_nullable, collation_name, column_default
    from information_schema.columns where table_schema = 'guestlist' order by 1, 2`.execute(db);
  const { rows: constraints } = await sql`
    select conrelid::regclass::text as "table", conname, pg_get_constraintdef(oid) as definition from pg_constraint
    where connamespace = 'guestlist'::regnamespace order by 1, 2`.execute(db);
  const { rows: indexes } = await sql`
    select indexname, indexdef from pg_indexes where schemaname = 'guestlist' order by 1`.execute(db);
  const { rows: triggers } = await sql`
    select tgname, tgrelid::regclass::text as "table" from pg_trigger where not tgisinternal order by 1`.execute(db);
  const rows: unknown[] = [];
  for (const name of [...new Set(columns.map(({ table_name }) => table_name))]) {
    const table = sql.table(`guestlist.${name}`);
    // Kysely's lock table is left out, since a failed migration changes it.
    const found = await sql<{ row: string }>`select t::text as row from ${table} as t order by 1`.execute(db);
    rows.push([name, found.rows.map(({ row }) => row)]);
  }
  return JSON.stringify({ columns, constraints, indexes, triggers, rows }, null, 1);
};

/** Changes filled tables and then fails. */
const failing: Migration = {
  up: async (db) => {
    await sql`update guestlist.datamarts set name = name || ' spoilt'`.execute(db);
    await sql`delete from guestlist.data_apps`.execute(db);
    await sql`alter table guestlist.embeds drop column name`.execute(db);
    await sql`select 1 / 0`.execute(db);
  },
};

/** Creates tables of versions before the first release, with their first migrations. */
const createUnreleased = async (database: Database): Promise<void> => {
  const metadata: Migration = {
    up: async (db) => {
      await sql`create table guestlist.data_apps (id text primary key, name text not null)`.execute(db);
      await sql`insert into guestlist.data_apps values ('app', 'flights')`.execute(db);
    },
  };
  await migrate(database.connect<Tables>(), { '0001-metadata': metadata, '0002-datasources': { up: async () => {} } });
};

type Counts = readonly (readonly [table: string, rows: number])[];

const filledTables = [
  ...['data_apps', 'api_keys', 'service_tokens', 'datasources', 'datamarts', 'workspaces', 'dashboards'],
  ...['metrics', 'dashboard_metrics', 'data_app_names', 'embeds', 'guest_tokens'],
];

const countRows = (database: Database): Promise<Counts> =>
  Promise.all(
    filledTables.map(async (name) => {
      const { rows } = await sql<{ n: number }>`
        select count(*)::int as n from ${sql.table(`guestlist.${name}`)}`.execute(database.connect());
      return [name, rows[0]?.n ?? 0] as const;
    }),
  );

/** Changes filled tables. */
const later: Migration = {
  up: async (db) => {
    await sql`alter table guestlist.embeds add column note text`.execute(db);
    await sql`update guestlist.embeds set note = name`.execute(db);
  },
};

/** The tests share one database and run in this order: failing migrations, the upgrade, reads, deletions. */
const upgradeTests = (open: () => Promise<Database>): void => {
  let database: Database;
  let before: string;
  let counted: Counts;
  let store: Store;
  beforeAll(async () => {
    database = await open();
    await fill(database);
    [before, counted] = [await dump(database), await countRows(database)];
  });
  afterAll(() => database.close());

  test('where a later migration fails, tables and data stay as the first release left them', async () => {
    const list = { ...migrations, '9998-works': later, '9999-fails': failing };
    await expect(migrate(database.connect<Tables>(), list)).rejects.toThrow(/9999-fails .* rolled back/);
    expect(await dump(database)).toBe(before);
  });

  test('today’s migrations succeed: no row is lost and none is added', async () => {
    expect(counted.filter(([, rows]) => rows === 0)).toEqual([]);
    const db = database.connect<Tables>();
    await migrate(db);
    store = createStore(db, testSealer);
    expect(await countRows(database)).toEqual(counted);
  });

  test('everything is read as it was written', async () => {
    expect(await store.dataApps.findByName('flights')).toMatchObject(today.dataApp);
    expect(await store.dataApps.findByName("Zoë's app")).toBeDefined();
    expect(await store.datasources.findByName('flights')).toMatchObject(today.datasource);
    expect(await store.datamarts.findByName('flights')).toMatchObject(today.datamart);
    expect(await store.datamarts.findByName('open')).toMatchObject({ tenancy: null, tables: [] });
    expect(await store.workspaces.findByName('flights')).toMatchObject(today.workspace);
    expect(await store.workspaces.findByName('whole')).toMatchObject({
      connectionType: 'DATASOURCE',
      datasourceId: 'source',
    });
    expect(await store.dashboards.findTemplate('delays')).toMatchObject(today.dashboard);
    expect(await store.dashboards.findByExternalId('app', 'board--LAX')).toMatchObject(today.copy);
    expect(await store.metrics.findById('delays')).toMatchObject(today.metric);
    expect(await store.metrics.findById('delays--LAX')).toMatchObject(today.copiedMetric);
    expect(await store.embeds.findById('app', 'board--LAX')).toMatchObject(today.embed);
    expect(await store.embeds.findById('app', 'one-metric')).toMatchObject(today.metricEmbed);
    expect(await store.guestTokens.findByHash(hashed('token'))).toMatchObject(today.grant);
  });

  test('placements keep their order and kind', async () => {
    const placed = async (id: string) =>
      (await store.dashboards.listMetrics(id)).map(({ metric, placement }) => [metric.metricId, placement]);
    expect(await placed('board')).toEqual([['delays', 'METRIC']]);
    expect(await placed('board-lax')).toEqual([['delays--LAX', 'GALLERY']]);
  });

  test('every credential is still accepted', async () => {
    for (const id of ['key-1', 'key-2', 'key-3']) {
      expect(await store.apiKeys.findByHash(hashed(id)), id).toMatchObject({
        id,
        dataAppId: 'app',
        dataAppName: 'flights',
      });
    }
    expect(await store.serviceTokens.findByHash(hashed('service-1'))).toMatchObject({ name: 'first', expiresAt: null });
    expect(await store.serviceTokens.findByHash(hashed('service-2'))).toMatchObject({
      expiresAt: new Date('2030-01-01T00:00:00Z'),
    });
    const names = (await whole(store.apiKeys.listByDataApp('app', null))).map(({ name }) => name);
    expect(names).toEqual(['backend', 'hourly', 'nightly']);
  });

  test('what is deleted afterwards takes what depends on it', async () => {
    expect(await store.dataApps.delete('app')).toBe(true);
    expect(await store.guestTokens.findByHash(hashed('token'))).toBeUndefined();
    expect(await store.embeds.findById('app', 'board--LAX')).toBeUndefined();
    expect(await store.dashboards.findTemplate('delays')).toBeDefined();
  });
};

describe('on PGlite', () => {
  upgradeTests(() => openDatabase({ databaseUrl: null, folder: null }));

  test('a database from before the first release is refused, and stays as it was', async () => {
    const database = await openDatabase({ databaseUrl: null, folder: null });
    await createUnreleased(database);
    const before = await dump(database);
    await expect(migrate(database.connect<Tables>())).rejects.toThrow('before 0.2.0 cannot be upgraded');
    expect(await dump(database)).toBe(before);
    await database.close();
  });
});

describe.skipIf(!(await isPostgresThere()))('on PostgreSQL', () => {
  upgradeTests(async () => {
    const { url, drop } = await createOwnDatabase();
    const database = await openDatabase({ databaseUrl: url, folder: null });
    return { ...database, close: () => database.close().then(drop) };
  });

  const started: Product[] = [];
  afterAll(async () => {
    for (const product of started) await product.remove();
  });

  test('two processes that start at once on an empty database migrate it once, and both serve it', async () => {
    const { url, drop } = await createOwnDatabase();
    const shared = { DATABASE_URL: url, GUESTLIST_ENCRYPTION_KEY: randomBytes(32).toString('base64') };
    const env = { ...shared, GUESTLIST_DEMO: '0', GUESTLIST_LOG_LEVEL: 'silent' };
    const start = () => startProduct({ env, args: serviceOnly });
    const products = await Promise.all([start(), start()]);
    started.push(...products);
    const database = await openDatabase({ databaseUrl: url, folder: null });
    const { rows } = await sql<{ name: string }>`
      select name from guestlist.kysely_migration order by 1`.execute(database.connect());
    expect(rows.map(({ name }) => name)).toEqual(Object.keys(migrations));
    for (const statement of statements) await sql.raw(statement).execute(database.connect());
    for (const { url: address } of products) {
      const body = JSON.stringify({ workspaceName: 'flights' });
      const headers = { authorization: 'Bearer key-2', 'content-type': 'application/json' };
      const answer = await fetch(`${address}/api/v2/workspace/dashboards`, { method: 'POST', headers, body });
      expect(await answer.json()).toMatchObject({
        data: expect.arrayContaining([{ name: 'Delays', externalDashboardId: 'delays' }]),
        error: null,
      });
    }
    await Promise.all(products.map((product) => product.stop()));
    await database.close();
    await drop();
  });

  test('serve ends with one message on a database from before the first release, and changes nothing in it', async () => {
    const { url, drop } = await createOwnDatabase();
    const database = await openDatabase({ databaseUrl: url, folder: null });
    await createUnreleased(database);
    const before = await dump(database);
    const env = { DATABASE_URL: url, GUESTLIST_DEMO: '0', GUESTLIST_LOG_LEVEL: 'silent' };
    const { code, output } = await runToEnd(['serve', ...serviceOnly], env);
    expect(code).toBe(1);
    expect(output).toContain('A database of a version before 0.2.0 cannot be upgraded');
    expect(await dump(database)).toBe(before);
    await database.close();
    await drop();
  });
});

describe('on PGlite, one folder', () => {
  test('a second process is told that it is in use, and the first goes on', async () => {
    const env = { GUESTLIST_DEMO: '0', GUESTLIST_LOG_LEVEL: 'silent' };
    const product = await startProduct({ env, args: serviceOnly, isEmbedded: true });
    const second = await runToEnd(['serve', ...serviceOnly], { ...env, GUESTLIST_DATA_DIR: product.dataDir });
    expect(second.code).toBe(1);
    expect(second.output).toContain('is in use by process');
    expect((await fetch(`${product.url}/readyz`)).status).toBe(200);
    await product.stop();
    await product.remove();
  });
});
