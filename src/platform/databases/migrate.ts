/**
 * Migrates the tables of a schema. Each part of the product that has tables has its own schema and its own list of
 * migrations.
 */
import { type Kysely, type Migration, Migrator, sql } from 'kysely';
import { findUnavailable } from '../../model/unavailable.js';

/**
 * `contracts`: what the previous release needs is gone after it, so that one cannot start any more. The previous release
 * must not have needed it: expand in one release, contract in the next.
 */
export type ProductMigration = Migration & {
  readonly contracts?: true;
  /** What `statementsOf` was given; for tests of conventions. */
  readonly statements?: readonly string[];
};

/**
 * Migrations, ordered by name. Append-only: a released migration is never edited, renamed or removed. A correction is a
 * new migration.
 */
export type Migrations = Readonly<Record<string, ProductMigration>>;

export type MigrateOptions<Tables> = {
  readonly db: Kysely<Tables>;
  readonly schema: string;
  readonly migrations: Migrations;
  /** What the tables hold, for error messages, for example `metadata`. */
  readonly what: string;
};

/**
 * Rejects if a migrated schema cannot be written now: the server is read-only, is a standby, or has no space for its
 * log. Locks the single row of a table that every migrated schema has. The server treats the lock as a write, but no
 * data changes.
 */
export const assertWritable = async <Tables>(db: Kysely<Tables>, schema: string): Promise<void> => {
  await (db as unknown as Kysely<{ kysely_migration_lock: { id: string } }>)
    .withSchema(schema)
    .selectFrom('kysely_migration_lock')
    .select('id')
    .forKeyShare()
    .skipLocked()
    .execute();
};

/** Creates a migration that runs these statements in order. Each statement names its schema. */
export const statementsOf = (statements: readonly string[]): ProductMigration => ({
  statements,
  up: async (db: Kysely<unknown>) => {
    for (const statement of statements) await sql.raw(statement).execute(db);
  },
});

/** The table with the migrations that `hideMigrations` keeps aside. A migration of each schema creates it. */
export const asideTable = (schema: string): string => `create table ${schema}.kysely_migration_aside (
    name varchar(255) primary key,
    timestamp varchar(255) not null
  )`;

/** Whether the migrations table and the table of those aside are there. */
const findTables = async (db: Kysely<unknown>, schema: string): Promise<{ isThere: boolean; hasAside: boolean }> => {
  const { rows } = await sql<{ isThere: boolean; hasAside: boolean }>`
    select to_regclass(${`${schema}.kysely_migration`}) is not null as "isThere",
      to_regclass(${`${schema}.kysely_migration_aside`}) is not null as "hasAside"`.execute(db);
  return rows[0] ?? { isThere: false, hasAside: false };
};

type Done = { readonly name: string; readonly is_aside: boolean };

/**
 * The completed migrations; none if the schema is new. Kysely's migrator first reads the whole catalog of the database,
 * which is half of the queries of a start. This query avoids that.
 */
const readDone = async (db: Kysely<unknown>, schema: string): Promise<readonly Done[]> => {
  const { isThere, hasAside } = await findTables(db, schema);
  if (!isThere) return [];
  const aside = hasAside
    ? sql`union select name, true as is_aside from ${sql.table(`${schema}.kysely_migration_aside`)}`
    : sql``;
  const { rows } = await sql<Done>`
    select name, false as is_aside from ${sql.table(`${schema}.kysely_migration`)} ${aside} order by name`.execute(db);
  return rows;
};

/** Returns the names of the completed migrations, also of those that are kept aside, or an empty list if the schema is new. */
export const listDone = async (db: Kysely<unknown>, schema: string): Promise<readonly string[]> => [
  ...new Set((await readDone(db, schema)).map(({ name }) => name)),
];

/**
 * Keeps the migrations after `last` aside, so that a process that does not know them starts. The tables stay as they are.
 * Returns the names of those that are aside then.
 */
export const hideMigrations = async (db: Kysely<unknown>, schema: string, last: string): Promise<readonly string[]> => {
  const done = sql.table(`${schema}.kysely_migration`);
  const aside = sql.table(`${schema}.kysely_migration_aside`);
  await sql`with hidden as (delete from ${done} where name > ${last} returning name, timestamp)
    insert into ${aside} (name, timestamp) select name, timestamp from hidden on conflict do nothing`.execute(db);
  const { rows } = await sql<{ name: string }>`select name from ${aside} order by name`.execute(db);
  return rows.map(({ name }) => name);
};

/** Takes back the migrations that are kept aside, without running them again: a process that knows them starts. */
const takeBack = async (db: Kysely<unknown>, schema: string): Promise<void> => {
  const done = sql.table(`${schema}.kysely_migration`);
  const aside = sql.table(`${schema}.kysely_migration_aside`);
  await sql`with back as (delete from ${aside} returning name, timestamp)
    insert into ${done} (name, timestamp) select name, timestamp from back on conflict do nothing`.execute(db);
};

/** Shorter than the server takes to look for a deadlock, so that a process that serves is never ended for a migration. */
const lockTimeout = '500ms';
/** A migration waits for transactions of processes that serve, and for a backup. */
const lockAttempts = 20;

/**
 * A statement that waits for a lock on a table makes every later statement on the table wait behind it. So each attempt
 * waits shortly, and the requests that have queued meanwhile are answered before the next one.
 */
const waitingShortly = (migrations: Migrations): Migrations =>
  Object.fromEntries(
    Object.entries(migrations).map(([name, { up }]) => [
      name,
      {
        up: async (db: Kysely<unknown>) => {
          await sql`select set_config('lock_timeout', ${lockTimeout}, true)`.execute(db);
          await up(db);
        },
      },
    ]),
  );

const run = async <Tables>({ db, schema, migrations }: MigrateOptions<Tables>) => {
  const provider = { getMigrations: async () => ({ ...waitingShortly(migrations) }) };
  const migrate = () => new Migrator({ db, provider, migrationTableSchema: schema }).migrateToLatest();
  let result = await migrate();
  const isLocked = (): boolean => findUnavailable(result.error)?.reason === 'database-conflict';
  for (let attempt = 1; isLocked() && attempt < lockAttempts; attempt += 1) result = await migrate();
  return result;
};

/**
 * Migrates the schema in one transaction. Several processes may call it at once. Throws and leaves the tables unchanged
 * if a migration fails, or if the database has a migration that this version does not know. Such a migration comes from
 * a newer version or from before the first release.
 */
export const migrateSchema = async <Tables>(options: MigrateOptions<Tables>): Promise<void> => {
  const { schema, migrations, what } = options;
  const db = options.db as unknown as Kysely<unknown>;
  const done = await readDone(db, schema);
  const unknown = done.find(({ name }) => !Object.hasOwn(migrations, name));
  if (unknown !== undefined) {
    throw new Error(
      `The ${what} in this database was made by another version of Guestlist: it has the migration ${unknown.name}, which this version does not know. Start the newer version that made it, or run its \`guestlist step-down\`, after which the version before it starts. A database of a version before 0.2.0 cannot be upgraded: use an empty one.`,
    );
  }
  if (done.some(({ is_aside: isAside }) => isAside)) await takeBack(db, schema);
  if (new Set(done.map(({ name }) => name)).size === Object.keys(migrations).length) return;
  const { error, results } = await run(options);
  if (error === undefined) return;
  const failed = results?.find(({ status }) => status === 'Error')?.migrationName;
  throw new Error(
    failed === undefined
      ? `The ${what} could not be migrated: the user of DATABASE_URL must be allowed to create a schema.`
      : `Migration ${failed} of the ${what} failed and was rolled back: the tables are as they were.`,
    { cause: error },
  );
};
