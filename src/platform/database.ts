/**
 * The database that metadata is kept in: a PostgreSQL server where a URL is given, otherwise PGlite in this process,
 * in a folder of its own or in memory. Knows no tables: whoever has tables here has a schema of its own, and names it in
 * every statement, since settings of a connection (search_path) do not survive a pooler. PGlite keeps what it acknowledged
 * when its process is killed, but never calls fsync: against a power failure, use a server.
 */

import { existsSync } from 'node:fs';
import { access, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { PGlite } from '@electric-sql/pglite';
import { dataDir } from '@electric-sql/pglite-prepopulatedfs';
import { type Dialect, Kysely, PostgresDialect, sql } from 'kysely';
import { placeOf } from './database-url.js';
import { lockFolder } from './folder-lock.js';
import { createPgliteDialect } from './pglite-dialect.js';
import { openPostgresPool } from './postgres-pool.js';

export type DatabaseOptions = {
  /** Null: embedded. */
  readonly databaseUrl: string | null;
  /** The embedded database's folder; null: in memory. Without meaning where a URL is given. */
  readonly folder: string | null;
  readonly log?: { readonly warn: (details: object, message: string) => void };
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
export const openDatabase = async ({ databaseUrl, folder, log }: DatabaseOptions): Promise<Database> => {
  if (databaseUrl !== null) return openPostgres(databaseUrl, log);
  return folder === null ? openInMemory() : openFolder(resolve(folder));
};

type Release = () => Promise<void>;

type Opened = { readonly dialect: Dialect; readonly writes: Database['writes'] };

const embedded = (client: PGlite): Opened => {
  const counter = { count: 0 };
  const noteWrite = (): void => {
    counter.count += 1;
  };
  return { dialect: createPgliteDialect(client, noteWrite), writes: () => counter.count };
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

const openFolder = async (folder: string): Promise<Database> => {
  const lock = await lockFolder(folder);
  try {
    const client = isCluster(folder) ? await PGlite.create(folder) : await createCluster(folder);
    return await createDatabase(embedded(client), lock.release, () => assertFolderTakesFiles(folder));
  } catch (cause) {
    await lock.release();
    throw cause;
  }
};

/** Stands beside the folder while the cluster is made: what is in the folder then is nobody's data yet. */
const markOf = (folder: string): string => `${folder}.unfinished`;

const isCluster = (folder: string): boolean => existsSync(join(folder, 'PG_VERSION')) && !existsSync(markOf(folder));

/** PGlite would unpack its seed too (`loadDataDir`), through its own file system and in three times the time. */
const unpackSeed = async (folder: string): Promise<void> => {
  const { extract } = await import('tar');
  const seed = await dataDir();
  await pipeline(
    Readable.from([Buffer.from(await seed.arrayBuffer())]),
    extract({ cwd: folder, noMtime: true, onwarn: assertHarmless }),
  );
};

/** The seed's paths begin with a slash, which is dropped; anything else that is told would leave half a cluster. */
const assertHarmless = (code: string, message: string | Error): void => {
  if (code !== 'TAR_ENTRY_INFO') throw new Error(`The seed of the embedded database is damaged: ${message}`);
};

/** From the seed, in its place. A process killed on the way leaves the mark, and the next one begins anew. */
const createCluster = async (folder: string): Promise<PGlite> => {
  const mark = markOf(folder);
  if (existsSync(mark)) await rm(folder, { recursive: true, force: true });
  if (existsSync(folder) && (await readdir(folder)).length > 0) {
    throw new Error(`${folder} holds files but no database: name an empty folder, or move the files away.`);
  }
  await writeFile(mark, '');
  await mkdir(folder, { recursive: true });
  await unpackSeed(folder);
  const client = await PGlite.create(folder);
  await rm(mark);
  return client;
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
