/** Brings a schema's tables up to date. Whoever has tables has a schema of its own, and a list of migrations for it. */
import { type Kysely, type Migration, Migrator, sql } from 'kysely';

/** In order of their names. Append-only: a released migration is never edited, renamed or removed; a correction is a new one. */
export type Migrations = Readonly<Record<string, Migration>>;

export type MigrateOptions<Tables> = {
  readonly db: Kysely<Tables>;
  readonly schema: string;
  readonly migrations: Migrations;
  /** What the tables hold, as the errors say it: `metadata`. */
  readonly what: string;
};

/**
 * Rejects where a migrated schema takes no writes now: the server is read-only, a standby, or has no room for its log. Locks the
 * one row of the table that every migrated schema has: that is a write to the server, and changes nothing.
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

/** A migration that runs these statements in order; each names its schema. */
export const statementsOf = (statements: readonly string[]): Migration => ({
  up: async (db: Kysely<unknown>) => {
    for (const statement of statements) await sql.raw(statement).execute(db);
  },
});

/**
 * Names of the migrations that were done; none where the schema is new. Kysely's migrator first reads the database's whole
 * catalogue, which is half of what a start asks of the embedded database: so this looks before it.
 */
const listDone = async (db: Kysely<unknown>, schema: string): Promise<readonly string[]> => {
  const table = `${schema}.kysely_migration`;
  const { rows } = await sql<{ is_there: boolean }>`select to_regclass(${table}) is not null as is_there`.execute(db);
  if (rows[0]?.is_there !== true) return [];
  const done = await sql<{ name: string }>`select name from ${sql.table(table)} order by name`.execute(db);
  return done.rows.map(({ name }) => name);
};

/**
 * Migrates the schema, all or nothing. Safe where several processes start at once. Throws, and leaves the tables as they were,
 * if a migration fails, or if the database has a migration that this version does not know: a newer version made it, or one
 * before the first release.
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
