import { type Kysely, type Migration, Migrator } from 'kysely';
import { metadata } from './migrations/0001-metadata.js';
import { schemaName, type Tables } from './tables.js';

/** In order of their names. One that was released is never changed again; a correction is a new one. */
export const migrations: Readonly<Record<string, Migration>> = { '0001-metadata': metadata };

/**
 * Brings the tables up to date; safe where several processes start at once. All or nothing: throws, and leaves the
 * tables as they were, where a migration fails or the database was migrated by a newer version than this.
 */
export const migrate = async (db: Kysely<Tables>, list: typeof migrations = migrations): Promise<void> => {
  const provider = { getMigrations: async () => ({ ...list }) };
  const { error, results } = await new Migrator({ db, provider, migrationTableSchema: schemaName }).migrateToLatest();
  if (error === undefined) return;
  const failed = results?.find(({ status }) => status === 'Error')?.migrationName;
  throw new Error(
    failed === undefined
      ? 'The metadata could not be migrated: the user of DATABASE_URL must be allowed to create a schema, and the database must not have been migrated by a newer version.'
      : `Migration ${failed} of the metadata failed and was rolled back: the tables are as they were.`,
    { cause: error },
  );
};
