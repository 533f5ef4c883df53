/**
 * The databases that rollups are built of: where each one decides over rows by itself, since a file would not ask it, and
 * which of its values it orders otherwise than a file.
 */
import type { TableRef } from '../../model/datamart/datamart.js';
import type { DatasourceType } from '../../model/organization.js';
import type { Cell } from '../../model/query/engine.js';
import { keepingEngines } from '../databases/mysql/schema.js';
import type { Statement } from '../dialect/dialect.js';
import type { SqlKind } from '../dialect/sql-type.js';

/** Left out: the database has no rows that only some may read. */
type Openness = {
  readonly statement: (table: TableRef) => Statement;
  /** What the table is, by the row of the statement; undefined: a table whose rows are open to all who may read it. */
  readonly faultOf: (row: readonly Cell[]) => string | undefined;
};

export type RollupSource = {
  readonly openness?: Openness;
  readonly ordersOtherwise: ReadonlySet<SqlKind>;
  /** Whether it divides the sum of decimals in units of their last digit, as DuckDB does, and not the decimal. */
  readonly averagesUnits: boolean;
  /** A sum of times, as exact numbers: what stands before the time, and what after it. */
  readonly sumOfTimes: readonly [string, string];
};

const postgres: Openness = {
  statement: ({ schemaName, tableName }) => ({
    sql: `SELECT c.relkind::text, pg_catalog.row_security_active(c.oid)
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = CAST($1 AS text) AND c.relname = CAST($2 AS text)`,
    parameters: [schemaName, tableName],
  }),
  faultOf: ([kind, isSecured]) => {
    if (kind !== 'r' && kind !== 'p') return 'is a view or a foreign table, and may choose rows by itself';
    return isSecured === false ? undefined : 'has row-level security for this user, which a file would not have';
  },
};

/** A table of another engine may read rows of a server or of other tables. */
const mysql: Openness = {
  statement: ({ schemaName, tableName }) => ({
    sql: `SELECT TABLE_TYPE IN ('BASE TABLE', 'SYSTEM VERSIONED') AND coalesce(ENGINE, '') IN ${keepingEngines}
FROM information_schema.TABLES WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ?`,
    parameters: [schemaName, tableName],
  }),
  faultOf: ([isOwn]) =>
    isOwn === 1 ? undefined : 'is a view or reads rows of elsewhere, and may choose rows by itself',
};

/** A type of database without an entry answers all questions itself. */
export const rollupSources: Readonly<Partial<Record<DatasourceType, RollupSource>>> = {
  DUCKDB: { ordersOtherwise: new Set(), averagesUnits: true, sumOfTimes: ['sum(epoch_us(', '))'] },
  POSTGRES: {
    ...{ openness: postgres, ordersOtherwise: new Set(), averagesUnits: false },
    sumOfTimes: ['sum(CAST(extract(epoch FROM ', ') AS numeric))'],
  },
  // MariaDB orders UUIDs by the time that some of them hold.
  MYSQL: {
    ...{ openness: mysql, ordersOtherwise: new Set(['uuid']), averagesUnits: false },
    sumOfTimes: ["sum(TIMESTAMPDIFF(MICROSECOND, TIMESTAMP'2000-01-01 00:00:00', ", '))'],
  },
};
