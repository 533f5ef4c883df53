/**
 * Checks the folder of the embedded database: it exists, is complete and is usable by this process. Creates it from
 * PGlite's seed if it does not exist. Only its owner can read it, whatever the umask is.
 */
import { existsSync } from 'node:fs';
import { access, chmod, constants, lstat, mkdir, open, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { PGlite } from '@electric-sql/pglite';
import { dataDir } from '@electric-sql/pglite-prepopulatedfs';
import { fileFault } from '../files/file-faults.js';
import { isMissing } from '../files/missing.js';
import { openFiles } from './embedded-files.js';

/**
 * Returns the path of the marker file beside the folder. The marker exists while the cluster is created. Until then the
 * folder holds no user data.
 */
const markOf = (folder: string): string => `${folder}.unfinished`;

/** Whether the folder holds a completely created database, even if it is damaged now. */
export const isCluster = (folder: string): boolean =>
  existsSync(join(folder, 'PG_VERSION')) && !existsSync(markOf(folder));

/** The database cannot open without these parts. */
const neededParts = ['base', 'global', 'global/pg_control', 'pg_wal', 'pg_xact'];

const assertWhole = (folder: string): void => {
  const missing = neededParts.filter((part) => !existsSync(join(folder, part)));
  if (missing.length === 0) return;
  throw new Error(
    `The embedded database in ${folder} is damaged: ${missing.join(', ')} is missing. Restore the data folder from a backup; or move ${folder} away and start with --accept-loss, which begins an empty one.`,
  );
};

/** Rejects if this process may not read or write the folder. A missing folder is accepted. */
const assertUsable = async (folder: string): Promise<void> => {
  try {
    if (!(await stat(folder)).isDirectory()) throw Object.assign(new Error('no folder'), { code: 'ENOTDIR' });
    await access(folder, constants.R_OK | constants.X_OK);
  } catch (cause) {
    if (isMissing(cause)) return;
    throw await fileFault(folder, 'read', cause);
  }
  try {
    await access(folder, constants.W_OK);
    const control = join(folder, 'global/pg_control');
    if (existsSync(control)) await access(control, constants.R_OK | constants.W_OK);
  } catch (cause) {
    throw await fileFault(folder, 'written', cause);
  }
};

type Flush = (path: string) => Promise<void>;

const flush: Flush = async (path) => {
  const file = await open(path, 'r');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
};

const filesIn = async (folder: string): Promise<readonly string[]> => {
  const found = await readdir(folder, { recursive: true, withFileTypes: true });
  return [folder, ...found.map((entry) => join(entry.parentPath, entry.name))];
};

/** Number of parallel operations. Enough to keep the threads of Node's pool busy. */
const atOnce = 16;

const forEach = async (paths: readonly string[], work: (path: string) => Promise<void>): Promise<void> => {
  const left = paths.toReversed();
  const take = async (): Promise<void> => {
    for (let path = left.pop(); path !== undefined; path = left.pop()) await work(path);
  };
  await Promise.all(Array.from({ length: atOnce }, take));
};

/** Flushes all files, which an earlier process or the unpacking may have left in the system's memory. */
const flushAll = async (folder: string): Promise<void> => {
  await forEach(await filesIn(folder), flush);
  await flush(dirname(folder));
};

/**
 * Removes the access of everybody except the owner. The folder itself comes last, so that the next start repeats this
 * if the process is killed.
 */
const closeToOthers = async (folder: string): Promise<void> => {
  const [, ...inside] = await filesIn(folder);
  await forEach(inside, async (path) => chmod(path, (await lstat(path)).isDirectory() ? 0o700 : 0o600));
  await chmod(folder, 0o700);
};

/**
 * Unpacks the seed. PGlite could do this too (`loadDataDir`), but it uses its own file system and takes three times as
 * long.
 */
const unpackSeed = async (folder: string): Promise<void> => {
  const { extract } = await import('tar');
  const seed = await dataDir();
  await pipeline(
    Readable.from([Buffer.from(await seed.arrayBuffer())]),
    extract({ cwd: folder, noMtime: true, onwarn: assertHarmless }),
  );
};

/** Ignores the information that the leading slash of a path is dropped. Any other warning would mean an incomplete cluster. */
const assertHarmless = (code: string, message: string | Error): void => {
  if (code !== 'TAR_ENTRY_INFO') throw new Error(`The seed of the embedded database is damaged: ${message}`);
};

/**
 * Creates the cluster from the seed, in its final folder. If the process is killed, the marker stays and the next start
 * begins again.
 */
const createCluster = async (folder: string, isFlushed: boolean): Promise<PGlite> => {
  const mark = markOf(folder);
  if (existsSync(mark)) await rm(folder, { recursive: true, force: true });
  if (existsSync(folder) && (await readdir(folder)).length > 0) {
    const isDatabase = neededParts.every((part) => existsSync(join(folder, part)));
    throw new Error(
      isDatabase
        ? `The embedded database in ${folder} is damaged: PG_VERSION is missing. Restore the data folder from a backup; or move ${folder} away and start with --accept-loss, which begins an empty one.`
        : `${folder} holds files but no database: name an empty folder, or move the files away.`,
    );
  }
  await writeFile(mark, '', { mode: 0o600 });
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await unpackSeed(folder);
  await closeToOthers(folder);
  if (isFlushed) await flushAll(folder);
  const client = await openFiles(folder, isFlushed);
  await rm(mark);
  if (isFlushed) await flush(dirname(folder));
  return client;
};

/** Opens the database in `folder`, or creates it. Throws an Error that says what is wrong and how to fix it. */
export const openCluster = async (folder: string, isFlushed: boolean): Promise<PGlite> => {
  await assertUsable(folder);
  if (!isCluster(folder)) return createCluster(folder, isFlushed);
  assertWhole(folder);
  // Earlier releases left the folder's mode to the umask.
  if (((await stat(folder)).mode & 0o077) !== 0) await closeToOthers(folder);
  if (isFlushed) await flushAll(folder);
  return openFiles(folder, isFlushed);
};
