/**
 * What differs between databases that speak PostgreSQL's protocol. A variant is a row here: what is not known to hold on
 * it is off or refused. docs/reference/databases.md shows the table, and cites where each difference is documented.
 */

import type { SourceRights } from '../../../model/datamart/source-rights.js';
import { type VariantNames, variants } from '../../../model/organization.js';
import type { Dialect } from '../../dialect/dialect.js';
import type { Ask } from '../../dialect/source-tables.js';
import { cockroachDialect } from './cockroach.js';
import { postgresDialect } from './dialect.js';
import { redshiftDialect } from './redshift.js';
import { readRights, readVersion } from './rights.js';
import {
  type CatalogFacts,
  type CatalogReader,
  postgresCatalog,
  readCatalog,
  readClientDatabases,
  readSourceTables,
} from './schema.js';
import { citusSettings, cockroachSettings, postgresSettings, redshiftSettings, type Settings } from './session.js';
import { createStandardCatalog } from './standard-schema.js';

export type PostgresForm = {
  readonly dialect: Dialect;
  readonly settings: Settings;
  readonly catalog: CatalogReader;
  /** Whether its catalog says the unique keys that the server enforces. */
  readonly hasKeys: boolean;
  /** Whether clients may have a database or a schema each. */
  readonly hasClientDatabases: boolean;
  readonly readRights: (ask: Ask) => Promise<SourceRights>;
  /** Whether its catalog says what a user may do beyond reading. */
  readonly hasRights: boolean;
  /** Whether a download reads with a cursor. Without one, downloads are refused. */
  readonly hasCursor: boolean;
  /** Whether replicas may be read, which tell their position in the stream of changes. */
  readonly hasReplicas: boolean;
};

const byPostgres = (facts: CatalogFacts): CatalogReader => ({
  readCatalog: (ask, schemas) => readCatalog(ask, schemas, facts),
  readSourceTables: (ask) => readSourceTables(ask, facts),
  readClientDatabases: (ask, source) => readClientDatabases(ask, source, facts),
});

const postgres: PostgresForm = {
  dialect: postgresDialect,
  settings: postgresSettings,
  catalog: byPostgres(postgresCatalog),
  hasKeys: true,
  hasClientDatabases: true,
  readRights,
  hasRights: true,
  hasCursor: true,
  hasReplicas: true,
};

const named = (name: VariantNames<'POSTGRES'>, dialect: Dialect = postgresDialect): Dialect => ({
  ...dialect,
  capabilities: { ...dialect.capabilities, databaseName: variants[name].title },
});

/** Of a database whose own catalog is not PostgreSQL's. Keys prove nothing: not all of them are enforced. */
const foreign = {
  hasKeys: false,
  hasClientDatabases: false,
  readRights: readVersion,
  hasRights: false,
  hasCursor: false,
  hasReplicas: false,
} as const;

export const postgresForms: Readonly<Record<'POSTGRES' | VariantNames<'POSTGRES'>, PostgresForm>> = {
  POSTGRES: postgres,
  AURORA_POSTGRES: { ...postgres, dialect: named('AURORA_POSTGRES'), hasReplicas: false },
  TIMESCALE: {
    ...postgres,
    dialect: named('TIMESCALE'),
    // The chunks of hypertables are tables of their own, which only their hypertable may be read through.
    catalog: byPostgres({
      ...postgresCatalog,
      systemSchemas: '^(pg_|_timescaledb_|timescaledb_(information|experimental)$|toolkit_experimental$)',
    }),
    hasReplicas: false,
  },
  CITUS: {
    ...postgres,
    // Where a worker computes a CTE is Citus's choice, so no CTE is known to keep expressions away from other rows.
    dialect: named('CITUS', { ...postgresDialect, barrier: null }),
    settings: citusSettings,
    // The coordinator's table is a shell, whose statistics are those of no rows.
    catalog: byPostgres({
      systemSchemas: '^(pg_|citus$|citus_internal$|columnar$|columnar_internal$)',
      hasEstimates: false,
    }),
    hasReplicas: false,
  },
  COCKROACHDB: {
    ...foreign,
    dialect: cockroachDialect,
    settings: cockroachSettings,
    catalog: createStandardCatalog('COCKROACHDB', {
      columns: 'information_schema.columns',
      where: "is_hidden = 'NO' AND table_schema <> 'crdb_internal'",
    }),
  },
  REDSHIFT: {
    ...foreign,
    dialect: redshiftDialect,
    settings: redshiftSettings,
    catalog: createStandardCatalog('REDSHIFT', { columns: 'pg_catalog.svv_columns', where: '1 = 1' }),
  },
};
