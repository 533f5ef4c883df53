/** Brings a schema's tables up to date. Whoever has tables has a schema of its own, and a list of migrations for it. */
import { type Kysely, type Migration, Migrator, sql } from 'kysely';

/** In order of their names. One that was released is never changed again; a correction is a new one. */
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

/** Whether exactly these were done. Kysely's migrator reads the whole catalogue of the database first, which is half of what a start asks of the embedded one. */
const isDone = async (db: Kysely<unknown>, schema: string, migrations: Migrations): Promise<boolean> => {
  const table = `${schema}.kysely_migration`;
  const { rows } = await sql<{ is_there: boolean }>`select to_regclass(${table}) is not null as is_there`.execute(db);
  if (rows[0]?.is_there !== true) return false;
  const done = await sql<{ name: string }>`select name from ${sql.table(table)}`.execute(db);
  const names = (list: readonly string[]): string => JSON.stringify(list.toSorted());
  return names(done.rows.map(({ name }) => name)) === names(Object.keys(migrations));
};

/**
 * Safe where several processes start at once. All or nothing: throws, and leaves the tables as they were, where a migration
 * fails or the database was migrated by a newer version than this.
 */
export const migrateSchema = async <Tables>({
  db,
  schema,
  migrations,
  what,
}: MigrateOptions<Tables>): Promise<void> => {
  if (await isDone(db as unknown as Kysely<unknown>, schema, migrations)) return;
  const provider = { getMigrations: async () => ({ ...migrations }) };
  const { error, results } = await new Migrator({ db, provider, migrationTableSchema: schema }).migrateToLatest();
  if (error === undefined) return;
  const failed = results?.find(({ status }) => status === 'Error')?.migrationName;
  throw new Error(
    failed === undefined
      ? `The ${what} could not be migrated: the user of DATABASE_URL must be allowed to create a schema, and the database must not have been migrated by a newer version.`
      : `Migration ${failed} of the ${what} failed and was rolled back: the tables are as they were.`,
    { cause: error },
  );
};
