/**
 * Locks the folder of the embedded database for one process. The lock has two parts: a socket, which needs no package,
 * and the lock of a file, which also holds between machines that share a file system but needs DuckDB. The file is
 * locked where DuckDB is installed, the socket wherever the file system has sockets; one of them must work.
 */
import { access, constants, mkdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fileFault } from './file-faults.js';
import { LockHeld, type Release } from './lock-held.js';
import { lockSocket, SocketsUnsupported } from './lock-socket.js';

/** A lock that is held until the first `release` or until the process ends for any reason. */
export type FolderLock = { readonly release: Release };

/** Another process, or another part of this process, has the folder open. `message` names it and says how to fix it. */
export class FolderInUse extends Error {
  override readonly name = 'FolderInUse';
}

const heldHere = new Set<string>();

/**
 * Locks `folder` by the files `<folder>.lock` and `<folder>.lock.<id>`. Both parts of the lock end with the process, so
 * they are never stale after a kill, and they work across containers, where process ids have no meaning. Throws
 * FolderInUse, or an Error that says what is wrong.
 */
export const lockFolder = async (folder: string): Promise<FolderLock> => {
  await makeParent(folder);
  const file = join(await realpath(dirname(folder)), `${basename(folder)}.lock`);
  // The file lock only works between processes. Within one process, opening and closing the file again would even
  // release the lock.
  if (heldHere.has(file)) throw inUse(folder, process.pid);
  heldHere.add(file);
  try {
    const release = await lockBoth(file);
    await writeFile(ownerFile(file), `${process.pid}\n`, { mode: 0o600 });
    let isHeld = true;
    return {
      release: async () => {
        if (!isHeld) return;
        isHeld = false;
        await rm(ownerFile(file), { force: true });
        await release();
        heldHere.delete(file);
      },
    };
  } catch (cause) {
    heldHere.delete(file);
    throw cause instanceof LockHeld ? inUse(folder, await readOwner(file), cause) : cause;
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

/** Returns undefined if DuckDB is not installed: it is optional for a host that mounts the gateway. */
const loadFileLock = async () => {
  try {
    return (await import('./lock-file.js')).lockFile;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND') return undefined;
    throw error;
  }
};

const lockBoth = async (file: string): Promise<Release> => {
  const lockFile = await loadFileLock();
  const releaseFile = await lockFile?.(file);
  try {
    const releaseSocket = await lockSocket(file);
    return async () => {
      await releaseSocket();
      await releaseFile?.();
    };
  } catch (error) {
    if (error instanceof SocketsUnsupported && releaseFile !== undefined) return releaseFile;
    await releaseFile?.();
    throw error;
  }
};

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
