/**
 * The embedded database's folder, or its lock file, is damaged, read-only, or owned by another user. Each start reports
 * what is wrong and how to fix it, and ends.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmod, cp, mkdir, mkdtemp, readdir, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { openDatabase } from '../../src/platform/databases/database.js';

let home: string;
let whole: string;
let folder: string;
const open = () => openDatabase({ databaseUrl: null, folder, isFlushed: false });
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'guestlist-damaged-'));
  // Other users may enter this folder, so that the errors come from the data folder itself.
  await chmod(home, 0o755);
  whole = join(home, 'whole');
  folder = whole;
  await (await open()).close();
});
afterAll(() => rm(home, { recursive: true, force: true }));

let count = 0;
beforeEach(async () => {
  count += 1;
  folder = join(home, String(count), 'metadata');
  await mkdir(join(home, String(count)));
  await cp(whole, folder, { recursive: true });
});

const refusal = async (): Promise<string> => {
  const error = await open().catch((cause: unknown) => cause);
  expect(error).toBeInstanceOf(Error);
  return String(error);
};

describe('damaged files', () => {
  const inside = (name: string) => join(folder, name);
  it.each([
    ['a missing log', () => rm(inside('pg_wal'), { recursive: true }), /is damaged: pg_wal is missing/],
    ['no control file', () => rm(inside('global/pg_control')), /is damaged: global\/pg_control is missing/],
    ['half of its folders', () => rm(inside('base'), { recursive: true }), /is damaged: base is missing/],
    ['no PG_VERSION', () => rm(inside('PG_VERSION')), /is damaged: PG_VERSION is missing/],
    [
      'an empty control file',
      () => truncate(inside('global/pg_control')),
      /cannot be opened \(could not read file "global\/pg_control"/,
    ],
    [
      'a control file of zeros',
      () => writeFile(inside('global/pg_control'), Buffer.alloc(8192)),
      /cannot be opened \(database files are incompatible/,
    ],
    [
      'no segment of the log',
      async () => rm(inside('pg_wal/000000010000000000000001')),
      /cannot be opened \(could not locate a valid checkpoint record/,
    ],
    [
      'a database without its files',
      () => rm(inside('base/5'), { recursive: true }),
      /cannot be opened \(database "postgres" does not exist/,
    ],
  ])('damaged files are reported at the start: %s', async (_, damage, expected) => {
    await damage();
    const said = await refusal();
    expect(said).toMatch(expected);
    expect(said).toContain(`The embedded database in ${folder} is damaged`);
    expect(said).toContain('Restore the data folder from a backup');
    expect(said).toContain('--accept-loss');
  });

  it('a file where the folder should be', async () => {
    await rm(folder, { recursive: true });
    await writeFile(folder, '');
    expect(await refusal()).toMatch(/metadata cannot be read \(ENOTDIR\): a file stands where a folder is needed/);
  });
});

describe('the lock file', () => {
  it('the lock file of a dead process does not prevent a start', async () => {
    await (await open()).close();
    await writeFile(`${folder}.lock.pid`, '999999\n');
    await (await open()).close();
  });

  it('is damaged: the message says that it may be removed', async () => {
    await writeFile(`${folder}.lock`, 'not a lock, and long enough to be read as one');
    const said = await refusal();
    expect(said).toContain(`The lock file ${folder}.lock is damaged. It holds no data`);
    await rm(`${folder}.lock`);
    await (await open()).close();
  });
});

it('only its owner can read the folder, whatever the umask, even if an earlier release created it', async () => {
  const modes = async (path: string): Promise<ReadonlySet<number>> => {
    const found = await readdir(path, { recursive: true, withFileTypes: true });
    // PostgreSQL creates this cache with the process's umask, which the product sets. The folder above it is closed in
    // any case.
    const kept = found.filter(({ name }) => name !== 'pg_internal.init');
    const all = [path, ...kept.map((entry) => join(entry.parentPath, entry.name))];
    return new Set(await Promise.all(all.map(async (one) => (await stat(one)).mode & 0o077)));
  };
  expect(await modes(folder)).toEqual(new Set([0]));
  await chmod(folder, 0o755);
  await chmod(join(folder, 'PG_VERSION'), 0o644);
  await chmod(join(folder, 'base'), 0o755);
  await (await open()).close();
  expect(await modes(folder)).toEqual(new Set([0]));
  expect((await stat(`${folder}.lock`)).mode & 0o777).toBe(0o600);
});

const entry = fileURLToPath(new URL('../../bin/guestlist.mjs', import.meta.url));
const nobody = 65_534;

/** Starts the product on the data folder, as another user if one is given. */
const serve = async (dataDir: string, user?: number): Promise<{ readonly code: unknown; readonly output: string }> => {
  const { PATH = '' } = process.env;
  const child = spawn(process.execPath, [entry, 'serve'], {
    cwd: '/',
    env: { PATH, PORT: '0', GUESTLIST_DATA_DIR: dataDir },
    ...(user === undefined ? {} : { uid: user, gid: user }),
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  const [code] = await once(child, 'close');
  return { code, output };
};

describe.skipIf(process.getuid?.() !== 0)('a data folder that the process may not use', () => {
  const dataDir = () => join(home, String(count));

  it('belongs to another user', async () => {
    const { code, output } = await serve(dataDir(), nobody);
    expect([code, output]).toEqual([
      1,
      expect.stringContaining(`${dataDir()} cannot be written (EACCES): it belongs to user 0 with mode`),
    ]);
    expect(output).toContain(
      `this process runs as user ${nobody}. Give it to that user (chown -R ${nobody} ${dataDir()})`,
    );
  });

  it('belongs to this user, but the database in it belongs to another user', async () => {
    spawnSync('chown', [`${nobody}:${nobody}`, dataDir()]);
    const { code, output } = await serve(dataDir(), nobody);
    expect([code, output]).toEqual([
      1,
      expect.stringContaining(`${folder} cannot be read (EACCES): it belongs to user 0 with mode 700`),
    ]);
  });

  it('is on a file system that is mounted read-only', async () => {
    if (spawnSync('mount', ['--bind', dataDir(), dataDir()]).status !== 0) {
      console.warn('NOTHING CAN BE MOUNTED HERE: THE TEST OF A READ-ONLY FOLDER IS SKIPPED');
      return;
    }
    onTestFinished(() => void spawnSync('umount', ['-l', dataDir()]));
    spawnSync('mount', ['-o', 'remount,ro,bind', dataDir()]);
    const { code, output } = await serve(dataDir());
    expect([code, output]).toEqual([
      1,
      expect.stringContaining(`${dataDir()} cannot be written (EROFS): its file system is mounted read-only`),
    ]);
  });
});
