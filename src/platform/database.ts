/**
 * The database that metadata is kept in: a PostgreSQL server where a URL is given, otherwise PGlite in this process,
 * in a folder of its own or in memory. Knows no tables: whoever has tables here has a schema of its own, and names it in
 * every statement, since settings of a connection (search_path) do not survive a pooler. PGlite keeps what it acknowledged
 * when its process is killed, and with `isFlushed` also when the power fails.
 */

import { access, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { dataDir } from '@electric-sql/pglite-prepopulatedfs';
import { type Dialect, Kysely, PostgresDialect, sql } from 'kysely';
import type { Log } from '../domain/log-events.js';
import { placeOf } from './database-url.js';
import { isCluster, openCluster } from './embedded-folder.js';
import { lockFolder } from './folder-lock.js';
import { createPgliteDialect, type Reopen } from './pglite-dialect.js';
import { openPostgresPool } from './postgres-pool.js';

export type DatabaseOptions = {
  /** Null: embedded. */
  readonly databaseUrl: string | null;
  /** The embedded database's folder; null: in memory. Without meaning where a URL is given. */
  readonly folder: string | null;
  /** Whether each write to the folder is on the disk before it is acknowledged; true where left out. */
  readonly isFlushed?: boolean;
  readonly log?: Pick<Log, 'warn'>;
};

export type Database = {
  readonly kind: 'pglite' | 'postgres';
  /**
   * Counts the beginnings and the ends of statements that may write: while it stays the same, so does everything that was read after it. Null for a
   * server, to which others write too.
   */
  readonly writes: (() => number) | null;
  /** Rejects where the embedded database's folder is gone or takes no files; a server's folder is its own affair. */
  readonly assertFolder: () => Promise<void>;
  /** All users of the database share its connections. */
  readonly connect: <Tables>() => Kysely<Tables>;
  /** Waits for what runs. Nothing can be asked afterwards. */
  readonly close: () => Promise<void>;
};

/** Opens it. Throws FolderInUse, or an Error that says what to mend. Never names the URL's password. */
export const openDatabase = async (options: DatabaseOptions): Promise<Database> => {
  const { databaseUrl, folder, isFlushed = true, log } = options;
  if (databaseUrl !== null) return openPostgres(databaseUrl, log);
  return folder === null ? openInMemory() : openFolder(resolve(folder), isFlushed);
};

type Release = () => Promise<void>;

type Opened = { readonly dialect: Dialect; readonly writes: Database['writes'] };

const embedded = (client: PGlite, reopen?: Reopen): Opened => {
  const counter = { count: 0 };
  const noteWrite = (): void => {
    counter.count += 1;
  };
  return { dialect: createPgliteDialect(client, noteWrite, undefined, reopen), writes: () => counter.count };
};

/** Asks it once: a Kysely that was never asked would leave the server's connections open when it is destroyed. */
const createDatabase = async (
  { dialect, writes }: Opened,
  release?: Release,
  assertFolder: Database['assertFolder'] = async () => {},
): Promise<Database> => {
  const db = new Kysely<unknown>({ dialect });
  const end = async (): Promise<void> => {
    await db.destroy();
    await release?.();
  };
  let ended: Promise<void> | undefined;
  const close = (): Promise<void> => {
    ended ??= end();
    return ended;
  };
  try {
    await sql`select 1`.execute(db);
  } catch (cause) {
    await close();
    throw cause;
  }
  // Which tables there are is the caller's word: migrations make them, not the type system.
  const kind = writes === null ? 'postgres' : 'pglite';
  return { kind, writes, assertFolder, connect: <Tables>() => db as unknown as Kysely<Tables>, close };
};

/** The database keeps its files open: that its folder was removed, no statement would tell. */
const assertFolderTakesFiles = async (folder: string): Promise<void> => {
  await access(join(folder, 'PG_VERSION'));
  const file = `${folder}.ready`;
  await writeFile(file, 'ready\n');
  await rm(file);
};

const openInMemory = async (): Promise<Database> =>
  createDatabase(embedded(await PGlite.create({ loadDataDir: await dataDir() })));

const openFolder = async (folder: string, isFlushed: boolean): Promise<Database> => {
  const lock = await lockFolder(folder);
  try {
    const client = await openCluster(folder, isFlushed);
    const reopen = async (): Promise<PGlite> => {
      // A folder that was removed meanwhile must not become an empty database beneath a process that runs.
      if (!isCluster(folder)) throw new Error(`The embedded database in ${folder} is gone.`);
      return openCluster(folder, isFlushed);
    };
    return await createDatabase(embedded(client, reopen), lock.release, () => assertFolderTakesFiles(folder));
  } catch (cause) {
    await lock.release();
    throw cause;
  }
};

/** What the system or the server called the innermost error. */
const codeOf = (error: unknown): string => {
  if (!(error instanceof Error)) return 'no error';
  if (error.cause !== undefined) return codeOf(error.cause);
  return 'code' in error ? String(error.code) : error.message;
};

const openPostgres = async (databaseUrl: string, log: DatabaseOptions['log']): Promise<Database> => {
  const pool = await openPostgresPool(databaseUrl, log);
  try {
    return await createDatabase({ dialect: new PostgresDialect({ pool }), writes: null });
  } catch (cause) {
    throw new Error(
      `DATABASE_URL does not answer: check host, port, database name, user and password (${placeOf(databaseUrl)}: ${codeOf(cause)}).`,
      { cause },
    );
  }
};
