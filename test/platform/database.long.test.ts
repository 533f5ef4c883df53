import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { openDatabase } from '../../src/platform/databases/database.js';
import { migrate } from '../../src/service/store/migrations.js';
import { createStore } from '../../src/service/store/store.js';
import type { Tables } from '../../src/service/store/tables.js';
import { createOwnDatabase, isPostgresThere } from '../suites/postgres.js';
import { testSealer } from '../suites/sealer.js';
import { type Child, compileScript, type Script, startChild } from './child.js';

const timeoutInMs = 60_000;

describe('the embedded database in a folder', () => {
  let script: Script;
  let home: string;
  let folder: string;
  const children: Child[] = [];
  const startWriter = (): Child => {
    const child = startChild(script, folder);
    children.push(child);
    return child;
  };
  beforeAll(async () => {
    script = await compileScript(new URL('./folder-writer.ts', import.meta.url));
  });
  afterAll(async () => script.remove());
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'guestlist-database-'));
    folder = join(home, 'deep', 'metadata');
  });
  afterEach(async () => {
    await Promise.all(children.splice(0).map((child) => child.kill()));
    await rm(home, { recursive: true, force: true });
  });

  const open = () => openDatabase({ databaseUrl: null, folder });
  /** Returns the ids of all data apps. */
  const readAll = async (): Promise<ReadonlySet<string>> => {
    const database = await open();
    try {
      const rows = await database
        .connect<Tables>()
        .selectFrom('guestlist.data_apps' as 'data_apps')
        .select('id')
        .execute();
      return new Set(rows.map(({ id }) => id));
    } finally {
      await database.close();
    }
  };

  it('keeps its rows when it is closed and opened again', { timeout: timeoutInMs }, async () => {
    const first = await open();
    await sql`create table kept (word text)`.execute(first.connect());
    await sql`insert into kept values ('ünïcode')`.execute(first.connect());
    await first.close();
    const second = await open();
    // A second close must not release the lock of the next process.
    await first.close();
    await expect(open()).rejects.toMatchObject({ name: 'FolderInUse' });
    const { rows } = await sql`select word from kept`.execute(second.connect());
    expect(rows).toEqual([{ word: 'ünïcode' }]);
    expect(second.kind).toBe('pglite');
    await second.close();
    expect((await readdir(join(home, 'deep'))).sort()).toEqual(['metadata', 'metadata.lock']);
  });

  it('loses no acknowledged row when its process is killed while it writes', { timeout: timeoutInMs }, async () => {
    const acknowledged: string[] = [];
    for (const rows of [1, 40, 200]) {
      const writer = startWriter();
      await writer.said(rows + 1);
      const [opened, ...ids] = await writer.kill();
      expect(opened).toBe('open');
      expect(ids.length).toBeGreaterThanOrEqual(rows);
      acknowledged.push(...ids);
    }
    const found = await readAll();
    expect(acknowledged.filter((id) => !found.has(id))).toEqual([]);
    // Each kill may leave one row that was written but not acknowledged.
    expect(found.size - acknowledged.length).toBeLessThanOrEqual(3);
  });

  it('is refused to a second process, which is told who has it', { timeout: timeoutInMs }, async () => {
    const holder = startWriter();
    // The process has created its tables, and writes.
    await holder.said(2);
    const second = await startWriter().said(1);
    expect(second).toEqual([expect.stringMatching(/^FolderInUse: .*DATABASE_URL/)]);
    expect(second[0]).toContain(`${folder} is in use by process ${holder.pid}`);
    await expect(open()).rejects.toMatchObject({ name: 'FolderInUse' });
    const ids = (await holder.kill()).slice(1);
    const found = await readAll();
    expect(ids.filter((id) => !found.has(id))).toEqual([]);
  });

  it('is refused to a second part of the same process', { timeout: timeoutInMs }, async () => {
    const first = await open();
    await expect(open()).rejects.toThrow(`is in use by process ${process.pid}`);
    // The refused start must not have released the lock.
    expect((await startWriter().said(1))[0]).toMatch(/^FolderInUse/);
    await sql`select 1`.execute(first.connect());
    await first.close();
    await (await open()).close();
  });

  it('is opened by exactly one of several that start at once', { timeout: timeoutInMs }, async () => {
    const writers = Array.from({ length: 4 }, startWriter);
    const first = await Promise.all(writers.map(async (writer) => (await writer.said(1))[0]));
    expect(first.filter((line) => line === 'open')).toHaveLength(1);
    expect(first.filter((line) => line?.startsWith('FolderInUse: '))).toHaveLength(3);
    expect(await readdir(join(home, 'deep'))).not.toContainEqual(expect.stringMatching(/\.lock\..{36}/));
  });

  const mark = () => `${folder}.unfinished`;
  const moments: readonly [string, boolean, () => boolean][] = [
    ['as its folder is being made', true, () => existsSync(mark())],
    ['as its files are being unpacked', true, () => existsSync(join(folder, 'global'))],
    ['as its first server has started', true, () => existsSync(join(folder, 'postmaster.pid'))],
    ['as soon as it is finished', false, () => existsSync(join(folder, 'PG_VERSION')) && !existsSync(mark())],
  ];
  it.each(moments)(
    'is whole after a first start that was killed %s',
    { timeout: timeoutInMs },
    async (_, isMarked, isReached) => {
      const writer = startWriter();
      await vi.waitUntil(isReached, { interval: 2, timeout: timeoutInMs });
      await writer.kill();
      expect(existsSync(mark())).toBe(isMarked);
      const database = await open();
      const db = database.connect<Tables>();
      await migrate(db);
      const store = createStore(db, testSealer);
      await store.dataApps.insert({ id: 'a', name: 'a', createdAt: new Date(0), updatedAt: new Date(0) });
      expect((await store.dataApps.findByName('a'))?.id).toBe('a');
      await database.close();
      expect(existsSync(mark())).toBe(false);
    },
  );

  it('takes an empty folder, and no folder that holds something else', { timeout: timeoutInMs }, async () => {
    await mkdir(folder, { recursive: true });
    await (await open()).close();
    folder = join(home, 'photos');
    await mkdir(folder);
    await writeFile(join(folder, 'cat.jpg'), 'meow');
    await expect(open()).rejects.toThrow(/photos holds files but no database/);
    expect(await readdir(folder)).toEqual(['cat.jpg']);
    await rm(join(folder, 'cat.jpg'));
    await (await open()).close();
  });
});

describe('the embedded database in memory', () => {
  it('takes many callers at once, and closes after the last', { timeout: timeoutInMs }, async () => {
    const database = await openDatabase({ databaseUrl: null, folder: null });
    const db = database.connect<{ numbers: { n: number } }>();
    await sql`create table numbers (n integer primary key)`.execute(db);
    const inserts = Array.from({ length: 50 }, (_, n) =>
      n % 2 === 0
        ? db.insertInto('numbers').values({ n }).execute()
        : db.transaction().execute((transaction) => transaction.insertInto('numbers').values({ n }).execute()),
    );
    await Promise.all(inserts);
    const last = db.selectFrom('numbers').select(db.fn.countAll<number>().as('count')).executeTakeFirst();
    const closed = database.close();
    expect(Number((await last)?.count)).toBe(50);
    await closed;
    await expect(db.selectFrom('numbers').selectAll().execute()).rejects.toThrow();
  });
});

describe.skipIf(!(await isPostgresThere()))('a PostgreSQL server', () => {
  it('is opened by its URL', async () => {
    const own = await createOwnDatabase();
    onTestFinished(own.drop);
    const database = await openDatabase({ databaseUrl: own.url, folder: '/nowhere' });
    expect(database.kind).toBe('postgres');
    await sql`select 1`.execute(database.connect());
    await database.close();
  });

  it('goes on after its idle connections were cut, and tells the log', async () => {
    const own = await createOwnDatabase();
    onTestFinished(own.drop);
    let warn: (() => void) | undefined;
    const warned = new Promise<void>((resolve) => {
      warn = resolve;
    });
    const database = await openDatabase({ databaseUrl: own.url, folder: null, log: { warn: () => warn?.() } });
    const killer = await openDatabase({ databaseUrl: own.url, folder: null });
    await sql`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()`.execute(killer.connect());
    await warned;
    const { rows } = await sql`select 1 as one`.execute(database.connect());
    expect(rows).toEqual([{ one: 1 }]);
    await killer.close();
    await database.close();
  });
});

it('a server that does not answer is an error with a mend, and without the password', async () => {
  const opening = openDatabase({ databaseUrl: 'postgres://ana:geheim@127.0.0.1:1/x', folder: null });
  const error = await opening.catch((cause: Error) => cause);
  expect(error).toBeInstanceOf(Error);
  expect(String(error)).toMatch(/DATABASE_URL does not answer: check host/);
  expect(String(error)).not.toContain('geheim');
});
