import type { Kysely } from 'kysely';
import { assertWritable, type Migrations, migrateSchema } from '../platform/migrate.js';
import { metadata } from './migrations/0001-metadata.js';
import { datasources } from './migrations/0002-datasources.js';
import { datamarts } from './migrations/0003-datamarts.js';
import { workspaces } from './migrations/0004-workspaces.js';
import { keys } from './migrations/0005-keys.js';
import { dashboards } from './migrations/0006-dashboards.js';
import { guestWrites } from './migrations/0007-guest-writes.js';
import { clientErasures } from './migrations/0008-client-erasures.js';
import { clientDatabases } from './migrations/0009-client-databases.js';
import { cacheTtl } from './migrations/0010-cache-ttl.js';
import { contentRevision } from './migrations/0011-content-revision.js';
import { lists } from './migrations/0012-lists.js';
import { schemaName, type Tables } from './tables.js';

export const migrations: Migrations = {
  '0001-metadata': metadata,
  '0002-datasources': datasources,
  '0003-datamarts': datamarts,
  '0004-workspaces': workspaces,
  '0005-keys': keys,
  '0006-dashboards': dashboards,
  '0007-guest-writes': guestWrites,
  '0008-client-erasures': clientErasures,
  '0009-client-databases': clientDatabases,
  '0010-cache-ttl': cacheTtl,
  '0011-content-revision': contentRevision,
  '0012-lists': lists,
};

/** Rejects where the metadata takes no writes now. */
export const assertMetadataWritable = (db: Kysely<Tables>): Promise<void> => assertWritable(db, schemaName);

/** Brings the metadata's tables up to date, as migrateSchema does. */
export const migrate = (db: Kysely<Tables>, list: Migrations = migrations): Promise<void> =>
  migrateSchema({ db, schema: schemaName, migrations: list, what: 'metadata' });
