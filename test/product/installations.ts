/** Installations without a process, for tests of commands that work on one: a data folder, and a server unless the metadata is in the folder. */
import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { onTestFinished } from 'vitest';
import { runCli } from '../cli/in-process.js';
import { copyDatabase, createMigratedDatabase, migrateAll } from '../suites/metadata.js';
import { createOwnDatabase } from '../suites/postgres.js';
import { addTenants } from './metadata-world.js';
import { on } from './moving.js';

export type Installation = { readonly folder: string; readonly server?: string };

/** Few: what is shown of one tenant holds for many, and test/product/move.long.test.ts moves ten thousand. */
export const tenants = 20;

export const backupKey = randomBytes(32).toString('base64');

/** No test cuts the server's power: nothing waits for its disk. */
const unflushed = (url: string): string => `${url}?options=-c%20synchronous_commit%3Doff`;

/** A folder that the end of the test removes. */
export const makeFolder = async (): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'guestlist-installation-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
};

/** An empty database that the end of the test drops. */
export const makeServer = async (): Promise<string> => {
  const { url, drop } = await createOwnDatabase();
  onTestFinished(drop);
  // The embedded database changes globals that the server's driver reads while it loads.
  await on(url, async () => undefined);
  return unflushed(url);
};

/** Makes a database with the metadata of the tenants, once for a file. */
export const makeTemplate = async (name: string): Promise<void> => {
  const { url } = await createMigratedDatabase(name);
  await on(url, (database) => addTenants(database, tenants));
};

/** A copy of that database. */
export const makeFilled = async (template: string): Promise<string> => {
  const { url, drop } = await copyDatabase(template);
  onTestFinished(drop);
  return unflushed(url);
};

/** Fills a data folder with the metadata of the tenants. */
export const fillFolder = async (folder: string): Promise<void> =>
  on(folder, async (database) => {
    await migrateAll(database);
    await addTenants(database, tenants);
  });

/** Where `on` and `contentAt` find the metadata. */
export const placeOf = ({ folder, server }: Installation): string => server ?? folder;

/** Runs a command with the configuration of the installation. */
export const runAt = (
  { folder, server }: Installation,
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>> = {},
) =>
  runCli(args, {
    env: {
      GUESTLIST_DATA_DIR: folder,
      GUESTLIST_FLUSH: '0',
      GUESTLIST_BACKUP_KEY: backupKey,
      ...(server === undefined ? {} : { DATABASE_URL: server }),
      ...env,
    },
  });

export const backUp = (file: string, where: Installation) => runAt(where, ['backup', '--to', file]);

export const restore = (file: string, where: Installation, ...args: readonly string[]) =>
  runAt(where, ['restore', file, ...args]);

/** Breaks a reference, which a target checks long after the first tables were copied. */
export const breakReference = (server: string): Promise<void> =>
  on(server, async (database) => {
    const db = database.connect();
    await sql`set session_replication_role = replica`.execute(db);
    await sql`update guestlist.dashboards set workspace_id = 'nowhere' where id = 'board-7'`.execute(db);
  });

/** The files in a folder, except those that say which process uses it. */
export const leftIn = async (folder: string): Promise<readonly string[]> => {
  const left = await readdir(folder, { recursive: true, withFileTypes: true });
  return left.filter((entry) => entry.isFile() && !/^metadata\.(?:lock|pid)/.test(entry.name)).map(({ name }) => name);
};
