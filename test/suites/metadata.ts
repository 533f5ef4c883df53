/**
 * Metadata databases for tests. The tables are made once for each run: on the PostgreSQL server as a template, which is
 * copied; without a server in PGlite. A database that a test file has closed is emptied and given to the next file of
 * the process, since a new one costs hundreds of times as much.
 */
import { type Kysely, sql } from 'kysely';
import { ledgerMigrations } from '../../src/gateway/ledger/migrations.js';
import { schemaName as ledgerSchema } from '../../src/gateway/ledger/tables.js';
import { type Database, openDatabase } from '../../src/platform/databases/database.js';
import { migrateSchema } from '../../src/platform/databases/migrate.js';
import { migrate } from '../../src/service/store/migrations.js';
import { schemaName as storeSchema } from '../../src/service/store/tables.js';
import {
  createOwnDatabase,
  databasePrefix,
  isPostgresThere,
  type OwnDatabase,
  onServer,
  urlOfDatabase,
} from './postgres.js';

export type Backing = 'postgres' | 'pglite';

/** `close` gives the database back. `url`: for a process that opens it too; null in PGlite. */
export type TestDatabase = Database & { readonly url: string | null };

/** Creates all tables of the product. */
export const migrateAll = async (database: Database): Promise<void> => {
  await migrate(database.connect());
  const parts = { schema: ledgerSchema, migrations: ledgerMigrations, what: "gateway's ledger" };
  await migrateSchema({ db: database.connect(), ...parts });
};

/** One process of a run makes the template; the others wait for it. */
const findTemplate = async (): Promise<string> => {
  const name = `${databasePrefix}template`;
  await onServer(async (client) => {
    await client.query('select pg_advisory_lock(hashtext($1))', [name]);
    const { rowCount } = await client.query('select from pg_database where datname = $1', [name]);
    if (rowCount !== 0) return;
    const making = `${name}_making`;
    await client.query(`drop database if exists ${making}`);
    await client.query(`create database ${making}`);
    const database = await openDatabase({ databaseUrl: urlOfDatabase(making), folder: null });
    await migrateAll(database).finally(database.close);
    await client.query(`alter database ${making} rename to ${name}`);
  });
  return name;
};

let template: Promise<string> | undefined;

/** Creates a database on the server with all tables and no rows of a test. `name`: for `copyDatabase`. */
export const createMigratedDatabase = async (name?: string): Promise<OwnDatabase> => {
  template ??= findTemplate();
  const { url, drop } = await createOwnDatabase(await template, name);
  // No test cuts the server's power: nothing waits for the disk.
  return { url: `${url}?options=-c%20synchronous_commit%3Doff`, drop };
};

/** Copies the database of this name. Nothing may be connected to it. */
export const copyDatabase = (name: string): Promise<OwnDatabase> => createOwnDatabase(`${databasePrefix}${name}`);

/** Returns a database of its own without tables: on the server if there is one, since PGlite takes seconds to start. */
export const openBareDatabase = async (): Promise<Database> => {
  const url = (await isPostgresThere()) ? (await createOwnDatabase()).url : null;
  return openDatabase({ databaseUrl: url, folder: null });
};

const openNew = async (backing: Backing): Promise<TestDatabase> => {
  const url = backing === 'postgres' ? (await createMigratedDatabase()).url : null;
  const database = await openDatabase({ databaseUrl: url, folder: null });
  if (url === null) await migrateAll(database);
  return { ...database, url };
};

/** Returns the statement that brings every table back to what it holds now. */
const restoringOf = async (db: Kysely<unknown>): Promise<string> => {
  const { rows: tables } = await sql<{ readonly name: string }>`
    select quote_ident(table_schema) || '.' || quote_ident(table_name) as name from information_schema.tables
    where table_schema in (${storeSchema}, ${ledgerSchema}) and table_name not like 'kysely%'`.execute(db);
  const insertFirstRows = async ({ name }: { readonly name: string }): Promise<string> => {
    const { rows } = await sql<{ text: string | null }>`
      select json_agg(t)::text as text from ${sql.raw(name)} t`.execute(db);
    const text = rows[0]?.text ?? null;
    if (text === null) return '';
    return `insert into ${name} select * from json_populate_recordset(null::${name}, $json$${text}$json$);`;
  };
  const inserts = await Promise.all(tables.map(insertFirstRows));
  // DELETE is faster than TRUNCATE, which would create a file for each of these nearly empty tables. The audit's triggers
  // refuse it, so they are disabled here.
  return `do $$ begin
    set local session_replication_role = replica;
    ${tables.map(({ name }) => `delete from ${name};`).join(' ')}
    ${inserts.join(' ')}
  end $$`;
};

type Kept = { readonly database: TestDatabase; readonly restore: () => Promise<void> };

const create = async (backing: Backing): Promise<Kept> => {
  const database = await openNew(backing);
  const db = database.connect();
  const statement = await restoringOf(db);
  return { database, restore: async () => void (await sql.raw(statement).execute(db)) };
};

const free: Readonly<Record<Backing, Kept[]>> = { postgres: [], pglite: [] };

/** Returns an empty database with all tables. Left out, `backing` is the server if there is one, which is faster. */
export const openTestDatabase = async (backing?: Backing): Promise<TestDatabase> => {
  const wanted = backing ?? ((await isPostgresThere()) ? 'postgres' : 'pglite');
  const used = free[wanted].pop();
  await used?.restore();
  const kept = used ?? (await create(wanted));
  let isClosed = false;
  const close = async (): Promise<void> => {
    if (!isClosed) free[wanted].push(kept);
    isClosed = true;
  };
  return { ...kept.database, close };
};
