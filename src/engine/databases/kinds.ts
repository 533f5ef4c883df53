/** What the engine knows of each kind of database before one is open. A type of datasource without a row does not compile. */
import { type DatasourceType, type Protocol, type Variant, variantNames, variants } from '../../model/organization.js';
import type { SqlRewriter } from '../../model/query/sql-rewriter.js';
import { recordOf } from '../../model/record-of.js';
import type { OpenDatabase } from '../connections/database.js';
import type { SqlParser } from '../parsing/sql-parser.js';
import { openClickHouse } from './clickhouse/database.js';
import { clickhouseParser } from './clickhouse/parser.js';
import { connectionsPerFile, openDuckDb } from './duckdb/database.js';
import { duckDbParser } from './duckdb/parser.js';
import { renameDuckDbSchemas } from './duckdb/rename-schemas.js';
import { openMysql } from './mysql/database.js';
import { mysqlParser } from './mysql/parser.js';
import { openPostgres } from './postgres/database.js';
import { postgresParser } from './postgres/parser.js';
import { renamePostgresSchemas } from './postgres/rename-schemas.js';
import { openSqlite, readersPerFile } from './sqlite/database.js';

export type Kind = {
  /** Takes a datasource of this kind. */
  open(...args: Parameters<OpenDatabase>): ReturnType<OpenDatabase>;
  /** Null for a database whose SQL cannot be parsed reliably. */
  readonly parser: SqlParser | null;
  /** Writes SQL with other schemas. Left out where no parser can also write this SQL. */
  readonly renameSchemas?: (
    text: string,
    rename: (schemaName: string) => string | undefined,
  ) => ReturnType<SqlRewriter['renameSchemas']>;
  /** Whether tables are qualified by their database, so one statement can read several databases. */
  readonly isDatabaseSchema: boolean;
  /** How many statements read one file at once. Left out for servers. */
  readonly connectionsPerFile?: number;
};

const ofProtocols: Readonly<Record<Protocol, Kind>> = {
  DUCKDB: {
    open: openDuckDb,
    parser: duckDbParser,
    renameSchemas: renameDuckDbSchemas,
    isDatabaseSchema: false,
    connectionsPerFile,
  },
  SQLITE: { open: openSqlite, parser: null, isDatabaseSchema: false, connectionsPerFile: readersPerFile },
  POSTGRES: {
    open: openPostgres,
    parser: postgresParser,
    renameSchemas: renamePostgresSchemas,
    isDatabaseSchema: false,
  },
  MYSQL: { open: openMysql, parser: mysqlParser, isDatabaseSchema: true },
  CLICKHOUSE: { open: openClickHouse, parser: clickhouseParser, isDatabaseSchema: true },
};

/** Their SQL is not PostgreSQL's, so its parser and its lists of harmless functions say nothing of theirs. */
const unparsed: ReadonlySet<Variant> = new Set(['COCKROACHDB', 'REDSHIFT']);

/** A variant is opened and read as its protocol; what differs is in `postgresForms` and `mysqlForms`. */
const variantKind = (type: Variant): Kind => {
  const { renameSchemas, ...kind } = ofProtocols[variants[type].protocol];
  if (unparsed.has(type)) return { ...kind, parser: null };
  return renameSchemas === undefined ? kind : { ...kind, renameSchemas };
};

export const kinds: Readonly<Record<DatasourceType, Kind>> = { ...ofProtocols, ...recordOf(variantNames, variantKind) };
