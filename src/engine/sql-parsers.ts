import type { DatasourceType } from '../domain/organization.js';
import type { SqlParser } from './sql-parser.js';

/** Null: no grammar here reads this database's SQL soundly enough to run it. */
const parsers: Readonly<Record<DatasourceType, SqlParser | null>> = {
  DUCKDB: null,
  POSTGRES: null,
  MYSQL: null,
};

export const parserOf = (type: DatasourceType): SqlParser | null => parsers[type];
