/** `guestlist backup` and `guestlist restore`: everything in one sealed file, from and into both backings. */
import { randomBytes, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { openMetadata } from '../../src/compose/metadata.js';
import { sealedColumns } from '../../src/compose/reseal.js';
// The embedded database changes globals that modules of the command line read while they load.
import '../../src/cli/backup.js';
import { loadCredentials } from '../../src/platform/config/credentials.js';
import { migrateSchema } from '../../src/platform/databases/migrate.js';
import { markKeyOf } from '../../src/platform/keys/high-water-mark.js';
import { createLog } from '../../src/platform/logs/log.js';
import { systemClock } from '../../src/platform/work/time.js';
import { openCanary } from '../../src/service/store/key-canary.js';
import { migrations } from '../../src/service/store/migrations.js';
import { runCli } from '../cli/in-process.js';
import { copyDatabase, createMigratedDatabase, migrateAll } from '../suites/metadata.js';
import { createOwnDatabase, isPostgresThere } from '../suites/postgres.js';
import { mountSmallDisk } from '../suites/small-disk.js';
import { addTenants } from './metadata-world.js';
import { contentAt, on, refusalAt } from './moving.js';

const hasServer = await isPostgresThere();
const tenants = 50;
const key = randomBytes(32).toString('base64');
const silent = createLog({ level: 'silent' });

const filled = 'backed';
beforeAll(async () => {
  if (!hasServer) return;
  const { url } = await createMigratedDatabase(filled);
  await on(url, (database) => addTenants(database, tenants));
});

const makeFolder = async (): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'guestlist-backup-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
};
const makeServer = async (): Promise<string> => {
  const { url, drop } = await createOwnDatabase();
  onTestFinished(drop);
  return url;
};
const makeFilled = async (): Promise<string> => {
  const { url, drop } = await copyDatabase(filled);
  onTestFinished(drop);
  return url;
};

/** A place of an installation: a data folder, and a server unless the metadata is in the folder. */
type Where = { readonly folder: string; readonly server?: string };

const run = (command: string, args: readonly string[], { folder, server }: Where, env: NodeJS.ProcessEnv = {}) =>
  runCli([command, ...args], {
    env: {
      GUESTLIST_DATA_DIR: folder,
      GUESTLIST_FLUSH: '0',
      GUESTLIST_BACKUP_KEY: key,
      ...(server === undefined ? {} : { DATABASE_URL: server }),
      ...env,
    },
  });
const backUp = (file: string, where: Where, env?: NodeJS.ProcessEnv) => run('backup', ['--to', file], where, env);
const restore = (file: string, where: Where, ...args: readonly string[]) => run('restore', [file, ...args], where);

const placeOf = ({ folder, server }: Where): string => server ?? folder;

/** Fills a data folder with the metadata of the tenants. */
const fillFolder = async (folder: string): Promise<void> =>
  on(folder, async (database) => {
    await migrateAll(database);
    await addTenants(database, tenants);
  });

/** A datasource whose file was uploaded, as Studio stores it. */
const addUpload = async (where: Where): Promise<{ readonly id: string; readonly content: Buffer }> => {
  const id = randomUUID();
  const content = randomBytes(300_000);
  const file = join(where.folder, 'sources', 'uploads', id, 'tables.duckdb');
  await mkdir(join(file, '..'), { recursive: true });
  await writeFile(file, content);
  await on(placeOf(where), (database) =>
    sql`insert into guestlist.datasources (id, name, datasource_type, path)
      values (${id}, ${id}, 'DUCKDB', ${file}), ('placed', 'placed', 'DUCKDB', '/elsewhere/placed.duckdb')`.execute(
      database.connect(),
    ),
  );
  return { id, content };
};

const pathOf = (place: string, id: string): Promise<string | undefined> =>
  on(place, async (database) => {
    const { rows } = await sql<{ path: string }>`select path from guestlist.datasources where id = ${id}`.execute(
      database.connect(),
    );
    return rows[0]?.path;
  });

describe.skipIf(!hasServer)('a backup', () => {
  it('of PostgreSQL is restored into a folder, and its backup into another server, with every row the same', {
    timeout: 120_000,
  }, async () => {
    const [first, second, third] = [
      { folder: await makeFolder(), server: await makeFilled() },
      { folder: await makeFolder() },
      { folder: await makeFolder(), server: await makeServer() },
    ];
    const before = await contentAt(first.server);
    const file = join(first.folder, 'one.backup');
    const written = await backUp(file, first);
    expect(written).toMatchObject({ code: 0, err: '' });
    expect(written.out).toMatch(/Backed up \S+:\d+\/\w+ as of .* rows of \d+ tables and 0 files.*rows per second/);
    expect(written.out).toContain('was read again and is whole');
    const restored = await restore(file, second);
    expect(restored).toMatchObject({ code: 0, err: '' });
    expect(restored.out).toMatch(/Restored and compared \d+ rows.*\n.*The audit was verified. Its head is 50:/);
    expect(await contentAt(second.folder)).toEqual(before);
    const again = join(first.folder, 'two.backup');
    expect((await backUp(again, second)).code).toBe(0);
    expect((await restore(again, third)).code).toBe(0);
    expect(await contentAt(third.server)).toEqual(before);
    expect(await contentAt(second.folder)).toEqual(before);
    expect([await refusalAt(third.server), await refusalAt(second.folder)]).toEqual([null, null]);
  });

  it('holds uploaded files and credentials, which the new data folder then has', async () => {
    const first = { folder: await makeFolder(), server: await makeFilled() };
    const second = { folder: await makeFolder(), server: await makeServer() };
    const secrets = JSON.stringify({
      ...{ serviceToken: 's', demoApiKey: 'd', demoJwtSecret: 'j', gatewayToken: 'g' },
      encryptionKey: Buffer.alloc(32, 7).toString('base64'),
    });
    await writeFile(join(first.folder, 'credentials.json'), secrets);
    const { id, content } = await addUpload(first);
    const file = join(first.folder, 'one.backup');
    const written = await backUp(file, first);
    expect(written.out).toMatch(/and 2 files/);
    expect(written.out).toMatch(/Not in it.*\n {2}\/elsewhere\/placed\.duckdb/);
    expect((await readFile(file)).includes(secrets.slice(0, 20))).toBe(false);
    expect((await restore(file, second)).code).toBe(0);
    const path = join(second.folder, 'sources', 'uploads', id, 'tables.duckdb');
    expect(await pathOf(second.server, id)).toBe(path);
    expect((await readFile(path)).equals(content)).toBe(true);
    expect(await readFile(join(second.folder, 'credentials.json'), 'utf8')).toBe(secrets);
    expect(await pathOf(second.server, 'placed')).toBe('/elsewhere/placed.duckdb');
  });

  it('names an uploaded file that is not on this machine, and writes nothing', async () => {
    const where = { folder: await makeFolder(), server: await makeFilled() };
    await addUpload(where);
    const other = { ...where, folder: await makeFolder() };
    await rm(join(where.folder, 'sources'), { recursive: true });
    const file = join(other.folder, 'one.backup');
    expect(await backUp(file, other)).toMatchObject({
      code: 1,
      err: expect.stringMatching(/The uploaded file .* is not on this machine.*run this where the data folder is/),
    });
    expect(await readdir(other.folder)).toEqual([]);
  });

  it('of a gateway alone is restored into the folder of a gateway', async () => {
    const [first, second] = [await makeFolder(), await makeFolder()];
    const opened = await openMetadata(embedded(first, 'gateway'));
    await migrateAll(opened.database);
    await opened.database.close();
    const file = join(first, 'one.backup');
    expect((await run('backup', ['--to', file, '--only', 'gateway'], { folder: first })).code).toBe(0);
    expect((await restore(file, { folder: second })).code).toBe(0);
    expect(existsSync(join(second, 'gateway', 'PG_VERSION'))).toBe(true);
    expect(existsSync(join(second, 'metadata'))).toBe(false);
  });
});

const embedded = (folder: string, name = 'metadata') => ({
  databaseUrl: null,
  folder: join(folder, name),
  isFlushed: false,
  markKey: null,
  acceptsLoss: false,
  clock: systemClock,
  log: silent,
});

/** The key that a start on this folder makes, and that every later process of it has. */
const markKeyAt = async (folder: string) => {
  const given = { serviceToken: null, demoApiKey: null, demoJwtSecret: null, encryptionKey: null, gatewayToken: null };
  return markKeyOf((await loadCredentials(folder, given)).keyRing);
};

describe.skipIf(!hasServer)('a backup while others write', () => {
  /** Writes a tenant and its dashboard in one transaction, again and again, until the work has ended. */
  const writeDuring = async <T>(
    database: Awaited<ReturnType<typeof openMetadata>>['database'],
    work: () => Promise<T>,
  ): Promise<{ readonly done: T; readonly written: number }> => {
    const db = database.connect<unknown>();
    let isEnded = false;
    let written = 0;
    const writing = (async () => {
      while (!isEnded) {
        written += 1;
        const ref = `live-${written}`;
        await db.transaction().execute(async (transaction) => {
          await sql`insert into guestlist_gateway.tenants (tenant_ref, client_id, state, created_at, updated_at)
            values (${ref}, ${ref}, 'active', now(), now())`.execute(transaction);
          await sql`insert into guestlist.guest_tokens (id, hash, data_app_id, client_id, grants, created_at)
            values (${ref}, encode(sha256(convert_to(${ref}, 'UTF8')), 'hex'), 'bulk', ${ref}, '{}', now())`.execute(
            transaction,
          );
        });
      }
    })();
    const done = await work().finally(() => {
      isEnded = true;
    });
    await writing;
    return { done, written };
  };

  const liveAt = (place: string): Promise<readonly [number, number]> =>
    on(place, async (database) => {
      const { rows } = await sql<{ tenants: string; tokens: string }>`
        select (select count(*) from guestlist_gateway.tenants where tenant_ref like 'live-%')::text as tenants,
          (select count(*) from guestlist.guest_tokens where id like 'live-%')::text as tokens`.execute(
        database.connect(),
      );
      return [Number(rows[0]?.tenants), Number(rows[0]?.tokens)];
    });

  it.each(['postgres', 'embedded'] as const)('of %s has the rows of one moment', { timeout: 120_000 }, async (kind) => {
    const folder = await makeFolder();
    const where = kind === 'postgres' ? { folder, server: await makeFilled() } : { folder };
    if (kind === 'embedded') await fillFolder(folder);
    const running = await openMetadata(
      'server' in where && where.server !== undefined
        ? { ...embedded(folder), databaseUrl: where.server }
        : { ...embedded(folder), markKey: await markKeyAt(folder) },
    );
    running.startMarking();
    const file = join(folder, 'one.backup');
    const { done, written } = await writeDuring(running.database, () => backUp(file, where)).finally(() =>
      running.database.close(),
    );
    expect(done).toMatchObject({ code: 0, err: '' });
    expect(written).toBeGreaterThan(1);
    for (const target of [{ folder: await makeFolder(), server: await makeServer() }, { folder: await makeFolder() }]) {
      expect(await restore(file, target)).toMatchObject({ code: 0, err: '' });
      const [held, tokens] = await liveAt(placeOf(target));
      expect(held).toBe(tokens);
      expect(held).toBeLessThanOrEqual(written);
    }
    expect(await liveAt(placeOf(where))).toEqual([written, written]);
    expect(existsSync(join(folder, 'snapshots')) ? await readdir(join(folder, 'snapshots')) : []).toEqual([]);
  });
});

describe.skipIf(!hasServer)('a restore', () => {
  it('checks the whole file and the target without writing, if it is a dry run', async () => {
    const first = { folder: await makeFolder(), server: await makeFilled() };
    const file = join(first.folder, 'one.backup');
    await backUp(file, first);
    const empty = { folder: await makeFolder() };
    const dry = await restore(file, empty, '--dry-run');
    expect(dry).toMatchObject({ code: 0, err: '', out: expect.stringContaining('Nothing was written.') });
    expect(dry.out).toMatch(/guestlist_gateway\.tenants +50/);
    expect(await readdir(empty.folder)).toEqual([]);
    expect(await restore(file, first, '--dry-run')).toMatchObject({
      code: 1,
      err: expect.stringContaining('is not empty'),
    });
  });

  it('refuses an installation that holds something, of both backings, and changes nothing there', async () => {
    const first = { folder: await makeFolder(), server: await makeFilled() };
    const file = join(first.folder, 'one.backup');
    await backUp(file, first);
    const before = await contentAt(first.server);
    const used = { folder: await makeFolder() };
    await fillFolder(used.folder);
    const there = await contentAt(used.folder);
    expect(await restore(file, first)).toMatchObject({
      code: 1,
      err: expect.stringContaining('Name an empty database'),
    });
    expect(await restore(file, used)).toMatchObject({ code: 1, err: expect.stringMatching(/is not empty.*Move /) });
    expect(await contentAt(first.server)).toEqual(before);
    expect(await contentAt(used.folder)).toEqual(there);
  });

  it('migrates what an earlier version made, and refuses what a newer one made', { timeout: 60_000 }, async () => {
    const older = { folder: await makeFolder(), server: await makeServer() };
    await on(older.server, async (database) => {
      const db = database.connect<unknown>();
      const some = Object.fromEntries(Object.entries(migrations).filter(([name]) => name < '0015'));
      await migrateSchema({ db, schema: 'guestlist', migrations: some, what: 'metadata' });
      await sql`insert into guestlist.data_apps (id, name, created_at, updated_at) values ('old', 'old', now(), now())`.execute(
        db,
      );
    });
    const file = join(older.folder, 'one.backup');
    expect(await backUp(file, older)).toMatchObject({ code: 0, err: '' });
    const target = { folder: await makeFolder() };
    expect(await restore(file, target)).toMatchObject({ code: 0, err: '' });
    const names = await on(target.folder, async (database) => {
      const db = database.connect();
      const { rows } = await sql<{ name: string }>`select name from guestlist.data_apps
        union all select max(name) from guestlist.kysely_migration order by 1`.execute(db);
      return rows.map(({ name }) => name);
    });
    expect(names).toEqual([Object.keys(migrations).at(-1), 'old']);
    await on(older.server, (database) =>
      sql`insert into guestlist.kysely_migration values ('9999-later', '')`.execute(database.connect()),
    );
    expect(await backUp(join(older.folder, 'two.backup'), older)).toMatchObject({
      code: 1,
      err: expect.stringMatching(/made by a newer version.*9999-later/),
    });
  });

  it('says that the key of the stored secrets is another one', async () => {
    const first = { folder: await makeFolder(), server: await makeFilled() };
    const canary = { ring: [Buffer.alloc(32, 1)] as const, keySource: 'the test', acceptsLoss: false };
    await on(first.server, (database) => openCanary(database.connect(), { ...canary, columns: sealedColumns }));
    const file = join(first.folder, 'one.backup');
    await backUp(file, first);
    const restored = await restore(file, { folder: await makeFolder(), server: await makeServer() });
    expect(restored).toMatchObject({
      code: 0,
      out: expect.stringMatching(/Before the start: .*Set GUESTLIST_ENCRYPTION_KEY/),
    });
  });

  it('leaves nothing if it fails, of rows and of files', async () => {
    const first = { folder: await makeFolder(), server: await makeFilled() };
    await addUpload(first);
    // A row that the target's check of the reference refuses, long after the first tables were copied.
    await on(first.server, async (database) => {
      const db = database.connect();
      await sql`alter table guestlist.dashboards drop constraint if exists dashboards_template_id_fkey`.execute(db);
      await sql`set session_replication_role = replica`.execute(db);
      await sql`update guestlist.dashboards set workspace_id = 'nowhere' where id = 'board-7'`.execute(db);
    });
    const file = join(first.folder, 'one.backup');
    expect((await backUp(file, first)).code).toBe(0);
    for (const target of [{ folder: await makeFolder(), server: await makeServer() }, { folder: await makeFolder() }]) {
      expect(await restore(file, target)).toMatchObject({ code: 1, err: expect.stringContaining('foreign key') });
      const left = await readdir(target.folder, { recursive: true, withFileTypes: true });
      expect(
        left.filter((entry) => entry.isFile() && !/^metadata\.(?:lock|pid)/.test(entry.name)).map(({ name }) => name),
      ).toEqual([]);
      if (target.server !== undefined)
        await on(target.server, async (database) => {
          const { rows } = await sql`select from pg_namespace where nspname like 'guestlist%'`.execute(
            database.connect(),
          );
          expect(rows).toEqual([]);
        });
    }
  });
});

describe.skipIf(!hasServer)('the file of a backup', () => {
  const makeBackup = async () => {
    const first = { folder: await makeFolder(), server: await makeFilled() };
    const file = join(first.folder, 'one.backup');
    expect((await backUp(file, first)).code).toBe(0);
    return { first, file };
  };

  it('is refused if a byte was changed or its end is missing, before anything is written', async () => {
    const { first, file } = await makeBackup();
    const bytes = await readFile(file);
    const changed = join(first.folder, 'changed');
    const middle = Buffer.from(bytes);
    middle.writeUInt8(middle.readUInt8(middle.length >> 1) ^ 1, middle.length >> 1);
    const empty = { folder: await makeFolder() };
    for (const [content, message] of [
      [middle, /was changed/],
      [bytes.subarray(0, -1), /changed or cut off/],
      [Buffer.concat([bytes, bytes]), /changed|appended/],
      [Buffer.from('no backup'), /no file that Guestlist sealed/],
    ] as const) {
      await writeFile(changed, content);
      expect(await restore(changed, empty)).toMatchObject({ code: 1, err: expect.stringMatching(message) });
      expect(await readdir(empty.folder)).toEqual([]);
    }
  });

  it('needs the key that it was made with, from a file or the environment and never an argument', async () => {
    const { first, file } = await makeBackup();
    const empty = { folder: await makeFolder() };
    const withKey = (text: string | undefined) => run('restore', [file], empty, { GUESTLIST_BACKUP_KEY: text });
    const other = randomBytes(32).toString('base64');
    expect(await withKey(other)).toMatchObject({ code: 1, err: expect.stringContaining('The key does not open') });
    const none = await withKey(undefined);
    expect(none).toMatchObject({ code: 1, err: expect.stringMatching(/--key-file, or set GUESTLIST_BACKUP_KEY/) });
    const bad = await withKey('too-short');
    expect(bad.code).toBe(1);
    expect(bad.err).toMatch(/GUESTLIST_BACKUP_KEY.*32 bytes in base64/s);
    expect(bad.err).not.toContain('too-short');
    const keyFile = join(first.folder, 'key');
    await writeFile(keyFile, `${other}\n`);
    const args = ['--dry-run', '--key-file', keyFile];
    expect(await restore(file, empty, ...args)).toMatchObject({
      code: 1,
      err: expect.stringContaining('The key does not'),
    });
    await writeFile(keyFile, `${other}, ${key}\n`);
    expect(await restore(file, empty, ...args)).toMatchObject({ code: 0 });
    expect(await restore(file, empty, '--key-file', join(first.folder, 'missing'))).toMatchObject({
      code: 1,
      err: expect.stringContaining('cannot be read (ENOENT)'),
    });
  });

  it('never replaces another file, and a full disk leaves none', async ({ skip }) => {
    const { first, file } = await makeBackup();
    const before = await readFile(file);
    expect(await backUp(file, first)).toMatchObject({ code: 1, err: expect.stringContaining('exists already') });
    expect((await readFile(file)).equals(before)).toBe(true);
    const disk = await mountSmallDisk(1);
    if (disk === undefined) return skip();
    onTestFinished(disk.remove);
    disk.fill();
    const full = await backUp(join(disk.folder, 'one.backup'), first);
    expect(full).toMatchObject({ code: 1, err: expect.stringContaining('the disk is full') });
    expect(await readdir(disk.folder)).toEqual(['filler']);
  });
});
