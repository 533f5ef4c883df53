import { type Kysely, type Migration, Migrator } from 'kysely';
import { metadata } from './migrations/0001-metadata.js';
import { datasources } from './migrations/0002-datasources.js';
import { datamarts } from './migrations/0003-datamarts.js';
import { workspaces } from './migrations/0004-workspaces.js';
import { keys } from './migrations/0005-keys.js';
import { dashboards } from './migrations/0006-dashboards.js';
import { guestWrites } from './migrations/0007-guest-writes.js';
import { schemaName, type Tables } from './tables.js';

/** In order of their names. One that was released is never changed again; a correction is a new one. */
export const migrations: Readonly<Record<string, Migration>> = {
  '0001-metadata': metadata,
  '0002-datasources': datasources,
  '0003-datamarts': datamarts,
  '0004-workspaces': workspaces,
  '0005-keys': keys,
  '0006-dashboards': dashboards,
  '0007-guest-writes': guestWrites,
};

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
