/**
 * The metadata's migrations. The list is append-only: a database remembers which of them it has run, so a released one may be neither
 * changed, renamed nor removed. A change of a table is a new file `0002-….ts` in migrations/, and a new entry at the end of the list.
 */
import type { Kysely } from 'kysely';
import { assertWritable, type Migrations, migrateSchema } from '../platform/migrate.js';
import { firstRelease } from './migrations/0001-first-release.js';
import { schemaName, type Tables } from './tables.js';

export const migrations: Migrations = {
  '0001-first-release': firstRelease,
};

/** Rejects where the metadata cannot be written now. */
export const assertMetadataWritable = (db: Kysely<Tables>): Promise<void> => assertWritable(db, schemaName);

/** Brings the metadata's tables up to date, as migrateSchema does. */
export const migrate = (db: Kysely<Tables>, list: Migrations = migrations): Promise<void> =>
  migrateSchema({ db, schema: schemaName, migrations: list, what: 'metadata' });
