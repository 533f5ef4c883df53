import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { access, chmod, constants, link, mkdir, open, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { fileFault } from './file-faults.js';

/** A lock that is held until the first `release` or until the process ends for any reason. */
export type FolderLock = { readonly release: () => Promise<void> };

/** Another process, or another part of this process, has the folder open. `message` names it and says how to fix it. */
export class FolderInUse extends Error {
  override readonly name = 'FolderInUse';
}

const heldHere = new Set<string>();

/**
 * Locks `folder` for this process through the file `<folder>.lock`. This is a lock of the operating system. Node has no
 * call for it, but DuckDB takes one (fcntl, LockFileEx) on a database that it opens for writing. So the lock ends with
 * its process, is never stale after a kill, and works across containers, where process ids have no meaning. Throws
 * FolderInUse, or an Error that says what is wrong with the lock file.
 */
export const lockFolder = async (folder: string): Promise<FolderLock> => {
  await makeParent(folder);
  const file = join(await realpath(dirname(folder)), `${basename(folder)}.lock`);
  // The system's locks only work between processes. Within one process, opening and closing the file again would even
  // release the lock.
  if (heldHere.has(file)) throw inUse(folder, process.pid);
  heldHere.add(file);
  try {
    const instance = await openLocked(folder, file);
    await writeFile(ownerFile(file), `${process.pid}\n`, { mode: 0o600 });
    return {
      release: async () => {
        await rm(ownerFile(file), { force: true });
        instance.closeSync();
        heldHere.delete(file);
      },
    };
  } catch (cause) {
    heldHere.delete(file);
    throw cause;
  }
};

const makeParent = async (folder: string): Promise<void> => {
  const parent = dirname(folder);
  try {
    await mkdir(parent, { recursive: true, mode: 0o700 });
    await access(parent, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (cause) {
    throw await fileFault(parent, 'written', cause);
  }
};

/** DuckDB files hold these characters at byte 8. */
const duckMagic = 'DUCK';

/** Throws if the file cannot be opened for a reason other than another process. */
const assertLockFile = async (file: string): Promise<void> => {
  let head = Buffer.alloc(12);
  try {
    const opened = await open(file, 'r+');
    head = (await opened.read(head, 0, head.length, 0)).buffer;
    await opened.close();
  } catch (cause) {
    throw await fileFault(file, 'written', cause);
  }
  if (head.toString('latin1', 8, 12) === duckMagic) return;
  throw new Error(
    `The lock file ${file} is damaged. It holds no data: make sure that no other Guestlist runs on this folder, remove the file, and start again.`,
  );
};

const openLocked = async (folder: string, file: string): Promise<DuckDBInstance> => {
  await createLockFile(file);
  try {
    return await openDatabase(file);
  } catch (cause) {
    await assertLockFile(file);
    throw inUse(folder, await readOwner(file), cause);
  }
};

/** Creates the file under another name and links it, so that a killed process never leaves an incomplete file. */
const createLockFile = async (file: string): Promise<void> => {
  if (existsSync(file)) return;
  const draft = `${file}.${randomUUID()}`;
  try {
    (await openDatabase(draft)).closeSync();
    await chmod(draft, 0o600);
    await link(draft, file);
  } catch (cause) {
    if (!existsSync(file)) throw new Error(`${file} cannot be made: check that its folder can be written.`, { cause });
  } finally {
    await rm(draft, { force: true });
  }
};

const openDatabase = (file: string): Promise<DuckDBInstance> => DuckDBInstance.create(file, { threads: '1' });

const ownerFile = (file: string): string => `${file}.pid`;

const readOwner = async (file: string): Promise<number | undefined> => {
  const text = await readFile(ownerFile(file), 'utf8').catch(() => '');
  return /^\d+\n$/.test(text) ? Number(text) : undefined;
};

const inUse = (folder: string, pid?: number, cause?: unknown): FolderInUse =>
  new FolderInUse(
    `The database folder ${folder} is in use${pid === undefined ? '' : ` by process ${pid}`}: a second one would lose rows. ` +
      'Stop that process, give this one another data folder (GUESTLIST_DATA_DIR), or let both share a PostgreSQL (DATABASE_URL).',
    { cause },
  );
