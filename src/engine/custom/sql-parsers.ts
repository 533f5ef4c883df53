import type { DatasourceType } from '../../model/organization.js';
import { clickhouseParser } from '../databases/clickhouse/parser.js';
import { duckDbParser } from '../databases/duckdb/parser.js';
import { mysqlParser } from '../databases/mysql/parser.js';
import { postgresParser } from '../databases/postgres/parser.js';
import type { SqlParser } from '../parsing/sql-parser.js';

/** Null for a database whose SQL cannot be parsed reliably. */
const parsers: Readonly<Record<DatasourceType, SqlParser | null>> = {
  DUCKDB: duckDbParser,
  POSTGRES: postgresParser,
  MYSQL: mysqlParser,
  CLICKHOUSE: clickhouseParser,
};

export const parserOf = (type: DatasourceType): SqlParser | null => parsers[type];
