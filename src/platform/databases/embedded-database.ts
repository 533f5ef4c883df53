/**
 * Opens the embedded database (PGlite), in a folder that this process locks or in memory. platform/databases/database.ts imports this file only when it is
 * needed: a host that keeps its ledger in PostgreSQL does not install PGlite.
 */
import { access, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { dataDir } from '@electric-sql/pglite-prepopulatedfs';
import type { Dialect } from 'kysely';
import { lockFolder } from '../files/folder-lock.js';
import { isCluster, openCluster } from './embedded-folder.js';
import { createPgliteDialect, type Reopen } from './pglite-dialect.js';

export type EmbeddedDatabase = {
  readonly dialect: Dialect;
  /** Counts the beginnings and the ends of statements that may write. */
  readonly writes: () => number;
  /** Rejects if the folder was removed or takes no files. */
  readonly assertFolder: () => Promise<void>;
  /** Ends the lock of the folder. Call it after the dialect was closed. */
  readonly release: () => Promise<void>;
};

const dialectOf = (client: PGlite, reopen?: Reopen): Pick<EmbeddedDatabase, 'dialect' | 'writes'> => {
  const counter = { count: 0 };
  const noteWrite = (): void => {
    counter.count += 1;
  };
  return { dialect: createPgliteDialect(client, noteWrite, undefined, reopen), writes: () => counter.count };
};

/**
 * Rejects if the folder was removed or takes no files. The database keeps its files open, so statements do not fail
 * after a removal.
 */
const assertFolderTakesFiles = async (folder: string): Promise<void> => {
  await access(join(folder, 'PG_VERSION'));
  const file = `${folder}.ready`;
  await writeFile(file, 'ready\n');
  await rm(file);
};

/** Opens an empty database in memory. */
export const openInMemory = async (): Promise<EmbeddedDatabase> => ({
  ...dialectOf(await PGlite.create({ loadDataDir: await dataDir() })),
  assertFolder: async () => {},
  release: async () => {},
});

/** Opens the database in `folder`, an absolute path. Throws FolderInUse, or an Error that says how to fix it. */
export const openFolder = async (folder: string, isFlushed: boolean): Promise<EmbeddedDatabase> => {
  const { release } = await lockFolder(folder);
  try {
    const client = await openCluster(folder, isFlushed);
    const reopen = async (): Promise<PGlite> => {
      // If the folder was removed meanwhile, an empty database must not replace it under a running process.
      if (!isCluster(folder)) throw new Error(`The embedded database in ${folder} is gone.`);
      return openCluster(folder, isFlushed);
    };
    return { ...dialectOf(client, reopen), assertFolder: () => assertFolderTakesFiles(folder), release };
  } catch (cause) {
    await release();
    throw cause;
  }
};
