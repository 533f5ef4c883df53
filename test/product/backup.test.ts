/** `guestlist backup` and `guestlist restore`: everything in one sealed file. backup.long.test.ts shows the same of data folders. */
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { sealedColumns } from '../../src/compose/reseal.js';
// The embedded database changes globals that modules of the command line read while they load.
import '../../src/cli/backup.js';
import { openCanary } from '../../src/service/store/key-canary.js';
import { isPostgresThere } from '../suites/postgres.js';
import { mountSmallDisk } from '../suites/small-disk.js';
import {
  backUp,
  backupKey,
  breakReference,
  type Installation,
  leftIn,
  makeFilled,
  makeFolder,
  makeServer,
  makeTemplate,
  placeOf,
  restore,
  runAt,
  tenants,
} from './installations.js';
import { unaudited } from './metadata-world.js';
import { contentAt, on, refusalAt } from './moving.js';
import { liveAt, writeDuring } from './writing.js';

const hasServer = await isPostgresThere();
const template = 'backed';
beforeAll(async () => {
  if (hasServer) await makeTemplate(template);
});

/** A filled installation on the server. */
const makeFirst = async () => ({ folder: await makeFolder(), server: await makeFilled(template) });

/** A datasource whose file was uploaded, as Studio stores it. */
const addUpload = async (where: Installation): Promise<{ readonly id: string; readonly content: Buffer }> => {
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
  it('of PostgreSQL is restored into a folder, with every row the same', { timeout: 180_000 }, async () => {
    const [first, second] = [await makeFirst(), { folder: await makeFolder() }];
    const file = join(first.folder, 'one.backup');
    const written = await backUp(file, first);
    expect(written).toMatchObject({ code: 0, err: '' });
    expect(written.out).toMatch(/Backed up \S+:\d+\/\w+ as of .* rows of \d+ tables and 0 files.*rows per second/);
    expect(written.out).toContain('was read again and is whole');
    const restored = await restore(file, second);
    expect(restored).toMatchObject({ code: 0, err: '' });
    expect(restored.out).toMatch(
      new RegExp(`Restored and compared \\d+ rows.*\\n.*The audit was verified. Its head is ${tenants}:`),
    );
    const restoredContent = await contentAt(second.folder);
    expect(unaudited(restoredContent)).toEqual(unaudited(await contentAt(first.server)));
    // The restore itself is the next entry.
    expect(restoredContent['guestlist_gateway.audit_events']).toMatch(new RegExp(`^${tenants + 1} `));
  });

  it('made while another process writes is of one moment, with the uploaded files and the credentials', async () => {
    const first = await makeFirst();
    const second = { folder: await makeFolder(), server: await makeServer() };
    const secrets = JSON.stringify({
      ...{ serviceToken: 's', demoApiKey: 'd', demoJwtSecret: 'j', gatewayToken: 'g' },
      encryptionKey: Buffer.alloc(32, 7).toString('base64'),
    });
    await writeFile(join(first.folder, 'credentials.json'), secrets);
    const { id, content } = await addUpload(first);
    const canary = { ring: [Buffer.alloc(32, 1)] as const, keySource: 'the test', acceptsLoss: false };
    const file = join(first.folder, 'one.backup');
    const { done: backedUp, written } = await on(first.server, async (database) => {
      await openCanary(database.connect(), { ...canary, columns: sealedColumns });
      return writeDuring(database, () => backUp(file, first));
    });
    expect(backedUp.out).toMatch(/and 2 files/);
    expect(backedUp.out).toMatch(/Not in it.*\n {2}\/elsewhere\/placed\.duckdb/);
    expect((await readFile(file)).includes(secrets.slice(0, 20))).toBe(false);
    const restored = await restore(file, second);
    // The credentials of the folder have another key than the rows.
    expect(restored).toMatchObject({
      code: 0,
      out: expect.stringMatching(/Before the start: .*Set GUESTLIST_ENCRYPTION_KEY/),
    });
    const path = join(second.folder, 'sources', 'uploads', id, 'tables.duckdb');
    expect(await pathOf(second.server, id)).toBe(path);
    expect((await readFile(path)).equals(content)).toBe(true);
    expect(await readFile(join(second.folder, 'credentials.json'), 'utf8')).toBe(secrets);
    expect(await pathOf(second.server, 'placed')).toBe('/elsewhere/placed.duckdb');
    const [held, tokens] = await liveAt(second.server);
    expect(held).toBe(tokens);
    expect(held).toBeLessThanOrEqual(written);
    expect(await liveAt(first.server)).toEqual([written, written]);
    expect(await refusalAt(second.server)).toBeNull();
  });

  it('names an uploaded file that is not on this machine, and writes nothing', async () => {
    const where = await makeFirst();
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
});

describe.skipIf(!hasServer)('a restore', () => {
  it('checks the file and the target without writing if it is dry, and refuses a target that holds something', async () => {
    const first = await makeFirst();
    const file = join(first.folder, 'one.backup');
    await backUp(file, first);
    const empty = { folder: await makeFolder() };
    const dry = await restore(file, empty, '--dry-run');
    expect(dry).toMatchObject({ code: 0, err: '', out: expect.stringContaining('Nothing was written.') });
    expect(dry.out).toMatch(new RegExp(`guestlist_gateway\\.tenants +${tenants}`));
    expect(await readdir(empty.folder)).toEqual([]);
    const before = await contentAt(first.server);
    for (const args of [['--dry-run'], []])
      expect(await restore(file, first, ...args)).toMatchObject({
        code: 1,
        err: expect.stringMatching(/is not empty.*Name an empty database/),
      });
    expect(await contentAt(first.server)).toEqual(before);
  });

  it('is not possible of what a newer version made, which the backup says', async () => {
    const newer = await makeFirst();
    await on(newer.server, (database) =>
      sql`insert into guestlist.kysely_migration values ('9999-later', '')`.execute(database.connect()),
    );
    expect(await backUp(join(newer.folder, 'one.backup'), newer)).toMatchObject({
      code: 1,
      err: expect.stringMatching(/made by a newer version.*9999-later/),
    });
  });

  it('leaves nothing if it fails, of rows and of files', async () => {
    const first = await makeFirst();
    await addUpload(first);
    await breakReference(first.server);
    const file = join(first.folder, 'one.backup');
    expect((await backUp(file, first)).code).toBe(0);
    const target = { folder: await makeFolder(), server: await makeServer() };
    expect(await restore(file, target)).toMatchObject({ code: 1, err: expect.stringContaining('foreign key') });
    expect(await leftIn(target.folder)).toEqual([]);
    const { rows } = await on(target.server, (database) =>
      sql`select from pg_namespace where nspname like 'guestlist%'`.execute(database.connect()),
    );
    expect(rows).toEqual([]);
  });
});

describe.skipIf(!hasServer)('the file of a backup', () => {
  const makeBackup = async () => {
    const first = await makeFirst();
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
    const withKey = (text: string | undefined) => runAt(empty, ['restore', file], { GUESTLIST_BACKUP_KEY: text });
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
    await writeFile(keyFile, `${other}, ${backupKey}\n`);
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
