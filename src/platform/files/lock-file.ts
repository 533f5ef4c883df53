/**
 * The lock of a file by the operating system. Node has no call for it, but DuckDB takes one (fcntl, LockFileEx) on a
 * database that it opens for writing. folder-lock.ts imports this file only where DuckDB is installed.
 */
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, link, open, rm } from 'node:fs/promises';
import { DuckDBInstance } from '@duckdb/node-api';
import { fileFault } from './file-faults.js';
import { LockHeld, type Release } from './lock-held.js';

/** Locks the file, and creates it if it does not exist. Throws LockHeld, or an Error that says what is wrong with the file. */
export const lockFile = async (file: string): Promise<Release> => {
  const instance = await openLocked(file);
  return async () => instance.closeSync();
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

const openLocked = async (file: string): Promise<DuckDBInstance> => {
  await createLockFile(file);
  try {
    return await openDatabase(file);
  } catch (cause) {
    await assertLockFile(file);
    throw new LockHeld(`${file} is locked by another process`, { cause });
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
