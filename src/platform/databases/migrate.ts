/**
 * Migrates the tables of a schema. Each part of the product that has tables has its own schema and its own list of
 * migrations.
 */
import { type Kysely, type Migration, Migrator, sql } from 'kysely';

/**
 * Migrations, ordered by name. Append-only: a released migration is never edited, renamed or removed. A correction is a
 * new migration.
 */
export type Migrations = Readonly<Record<string, Migration>>;

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
export const statementsOf = (statements: readonly string[]): Migration => ({
  up: async (db: Kysely<unknown>) => {
    for (const statement of statements) await sql.raw(statement).execute(db);
  },
});

/**
 * Returns the names of the completed migrations, or an empty list if the schema is new. Kysely's migrator first reads
 * the whole catalog of the database, which is half of the queries of a start. This query avoids that.
 */
export const listDone = async (db: Kysely<unknown>, schema: string): Promise<readonly string[]> => {
  const table = `${schema}.kysely_migration`;
  const { rows } = await sql<{ is_there: boolean }>`select to_regclass(${table}) is not null as is_there`.execute(db);
  if (rows[0]?.is_there !== true) return [];
  const done = await sql<{ name: string }>`select name from ${sql.table(table)} order by name`.execute(db);
  return done.rows.map(({ name }) => name);
};

/**
 * Migrates the schema in one transaction. Several processes may call it at once. Throws and leaves the tables unchanged
 * if a migration fails, or if the database has a migration that this version does not know. Such a migration comes from
 * a newer version or from before the first release.
 */
export const migrateSchema = async <Tables>({
  db,
  schema,
  migrations,
  what,
}: MigrateOptions<Tables>): Promise<void> => {
  const done = await listDone(db as unknown as Kysely<unknown>, schema);
  const unknown = done.find((name) => !Object.hasOwn(migrations, name));
  if (unknown !== undefined) {
    throw new Error(
      `The ${what} in this database was made by another version of Guestlist: it has the migration ${unknown}, which this version does not know. Start the newer version that made it. A database of a version before 0.2.0 cannot be upgraded: use an empty one.`,
    );
  }
  if (done.length === Object.keys(migrations).length) return;
  const provider = { getMigrations: async () => ({ ...migrations }) };
  const { error, results } = await new Migrator({ db, provider, migrationTableSchema: schema }).migrateToLatest();
  if (error === undefined) return;
  const failed = results?.find(({ status }) => status === 'Error')?.migrationName;
  throw new Error(
    failed === undefined
      ? `The ${what} could not be migrated: the user of DATABASE_URL must be allowed to create a schema.`
      : `Migration ${failed} of the ${what} failed and was rolled back: the tables are as they were.`,
    { cause: error },
  );
};
