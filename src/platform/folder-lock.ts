import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { link, mkdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';

/** Held until the first `release`, or until the process ends in whatever way. */
export type FolderLock = { readonly release: () => Promise<void> };

/** Another process, or another part of this one, has the folder open. `message` says which and how to mend it. */
export class FolderInUse extends Error {
  override readonly name = 'FolderInUse';
}

const heldHere = new Set<string>();

/**
 * Locks `folder` for this process, by `<folder>.lock` beside it. The lock is the operating system's own: Node has no call for
 * one, but DuckDB takes it (fcntl, LockFileEx) on a database that it opens for writing. So it ends with its
 * process, leaves nothing stale after a kill, and holds across containers, where process ids say nothing.
 * Throws FolderInUse.
 */
export const lockFolder = async (folder: string): Promise<FolderLock> => {
  await mkdir(dirname(folder), { recursive: true });
  const file = join(await realpath(dirname(folder)), `${basename(folder)}.lock`);
  // The system's locks are between processes: within one, opening and closing the file again would even drop the lock.
  if (heldHere.has(file)) throw inUse(folder, file, process.pid);
  heldHere.add(file);
  try {
    const instance = await openLocked(folder, file);
    await writeFile(ownerFile(file), `${process.pid}\n`);
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

const openLocked = async (folder: string, file: string): Promise<DuckDBInstance> => {
  await createLockFile(file);
  try {
    return await openDatabase(file);
  } catch (cause) {
    throw inUse(folder, file, await readOwner(file), cause);
  }
};

/** Made under another name and linked, so that a process killed on the way never leaves half a file. */
const createLockFile = async (file: string): Promise<void> => {
  if (existsSync(file)) return;
  const draft = `${file}.${randomUUID()}`;
  try {
    (await openDatabase(draft)).closeSync();
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

const inUse = (folder: string, file: string, pid?: number, cause?: unknown): FolderInUse =>
  new FolderInUse(
    `The database folder ${folder} is in use${pid === undefined ? '' : ` by process ${pid}`}: a second one would lose rows. ` +
      'Stop that process, give this one another data folder (GUESTLIST_DATA_DIR), or let both share a PostgreSQL (DATABASE_URL). ' +
      `If nothing is running, check that ${file} can be written.`,
    { cause },
  );
