import { datatypeOf, mayBeBoolean } from '../../../model/datamart/datatypes.js';
import type { ClientDatabases, SourceTable } from '../../../model/datamart/source-schema.js';
import type { Cell } from '../../../model/query/engine.js';
import { type Catalog, createCatalog } from '../../dialect/catalog.js';
import { type Ask, buildSourceTables, type SourceKey } from '../../dialect/source-tables.js';
import { otherType, type SqlType } from '../../dialect/sql-type.js';

/** The server's system databases, which are never part of a datasource. */
const systemDatabases = `('information_schema', 'mysql', 'performance_schema', 'sys', 'ndbinfo')`;

/**
 * Restricts to the connected database, or to these: in MySQL a database is the schema. The catalog compares names
 * case-insensitively; look-ups are exact.
 */
const among = (databases: readonly string[], isOwnToo: boolean): string => {
  const own = isOwnToo ? 'TABLE_SCHEMA = DATABASE()' : '';
  const named = databases.length === 0 ? '' : `TABLE_SCHEMA IN (${databases.map(() => '?').join(', ')})`;
  const either = [own, named].filter((text) => text !== '').join(' OR ');
  return `(${either === '' ? 'FALSE' : either}) AND TABLE_SCHEMA NOT IN ${systemDatabases}`;
};

const columnsQuery = (where: string): string => `SELECT
  TABLE_SCHEMA, TABLE_NAME, COLUMN_NAME, COLUMN_TYPE, IS_NULLABLE, COLLATION_NAME
FROM information_schema.COLUMNS WHERE ${where} ORDER BY TABLE_SCHEMA, TABLE_NAME, ORDINAL_POSITION`;

/** Keys of expressions are left out. */
const uniqueQuery = (where: string): string => `SELECT TABLE_SCHEMA, TABLE_NAME, INDEX_NAME, COLUMN_NAME
FROM information_schema.STATISTICS WHERE ${where} AND NON_UNIQUE = 0
ORDER BY TABLE_SCHEMA, TABLE_NAME, INDEX_NAME, SEQ_IN_INDEX`;

const foreignQuery = (where: string): string => `SELECT TABLE_SCHEMA, TABLE_NAME, CONSTRAINT_NAME, COLUMN_NAME,
  REFERENCED_TABLE_SCHEMA, REFERENCED_TABLE_NAME, REFERENCED_COLUMN_NAME
FROM information_schema.KEY_COLUMN_USAGE WHERE ${where} AND REFERENCED_TABLE_NAME IS NOT NULL
ORDER BY TABLE_SCHEMA, TABLE_NAME, CONSTRAINT_NAME, ORDINAL_POSITION`;

/** The estimate is null for views. */
const describeQuery = (where: string): string =>
  `SELECT TABLE_SCHEMA, TABLE_NAME, TABLE_ROWS, CASE WHEN TABLE_TYPE LIKE '%VIEW' THEN 'view' ELSE 'table' END
FROM information_schema.TABLES WHERE ${where}`;

/** Column types of these databases; null: of the connected one. System databases are always left out. */
export const readCatalog = async (ask: Ask, databases: readonly string[] | null): Promise<Catalog> => {
  const where = among(databases ?? [], databases === null);
  const rows = await ask(columnsQuery(where), databases ?? []);
  const columns = rows.map(([schema, table, column, columnType, , collation]) => ({
    schemaName: String(schema),
    tableName: String(table),
    columnName: String(column),
    type: parseMysqlType(String(columnType), collation ?? null),
  }));
  return createCatalog(String(rows[0]?.[0] ?? ''), columns, await readUniqueKeys(ask, where, databases ?? []));
};

/** Returns the tables of the connected database and of `databases`. */
export const readSourceTables = async (ask: Ask, databases: readonly string[]): Promise<readonly SourceTable[]> => {
  const where = among(databases, true);
  const columns = await ask(columnsQuery(where), databases);
  const unique = await readUniqueKeys(ask, where, databases);
  const foreign = groupKeys(await ask(foreignQuery(where), databases)).map((rows) => sourceKey(rows, 'FOREIGN KEY'));
  return buildSourceTables(
    'MYSQL',
    columns.map(([schema, table, column, datatype, isNullable]) => [
      schema ?? null,
      table ?? null,
      column ?? null,
      datatype ?? null,
      isNullable === 'YES',
    ]),
    [...unique, ...foreign],
    await ask(describeQuery(where), databases),
  );
};

/**
 * Engines that keep rows of their own, and enforce unique keys. In a MERGE table each underlying table has its own keys; CONNECT and similar
 * engines read external data.
 */
export const keepingEngines = `('InnoDB', 'Aria', 'MyISAM', 'MEMORY', 'ROCKSDB', 'ndbcluster', 'TokuDB')`;

const unprovenQuery = (where: string): string => `SELECT TABLE_SCHEMA, TABLE_NAME FROM information_schema.TABLES
WHERE ${where} AND TABLE_TYPE <> 'VIEW' AND coalesce(ENGINE, '') NOT IN ${keepingEngines}`;

/** A unique key of prefixes is also unique for whole values. */
const readUniqueKeys = async (ask: Ask, where: string, databases: readonly string[]): Promise<readonly SourceKey[]> => {
  const unproven = new Set((await ask(unprovenQuery(where), databases)).map((table) => JSON.stringify(table)));
  return groupKeys(await ask(uniqueQuery(where), databases))
    .filter((rows) => !unproven.has(JSON.stringify(rows[0]?.slice(0, 2))))
    .filter((rows) => rows.every(([, , , column]) => column !== null))
    .map((rows) => sourceKey(rows, rows[0]?.[2] === 'PRIMARY' ? 'PRIMARY KEY' : 'UNIQUE'));
};

/** MySQL has no schemas within a database. So at both tenancy levels, DATABASE and SCHEMA, each client has its own database. */
export const readClientDatabases = async (ask: Ask): Promise<ClientDatabases> => {
  const rows = await ask(`SELECT SCHEMA_NAME FROM information_schema.SCHEMATA
    WHERE SCHEMA_NAME NOT IN ${systemDatabases} AND SCHEMA_NAME <> DATABASE() ORDER BY 1`);
  const names = rows.map(([name]) => String(name));
  return { DATABASE: names, MULTI_DATABASE: names };
};

type Row = readonly Cell[];

/** Rows of one key each, by table and name. */
const groupKeys = (rows: readonly Row[]): readonly (readonly Row[])[] => {
  const groups = new Map<string, Row[]>();
  for (const row of rows) {
    const key = JSON.stringify(row.slice(0, 3));
    groups.set(key, [...(groups.get(key) ?? []), row]);
  }
  return [...groups.values()];
};

const sourceKey = (rows: readonly Row[], kind: string): SourceKey => {
  const [schema, table, , , referencedSchema, referencedTable] = rows[0] ?? [];
  return {
    schemaName: String(schema),
    tableName: String(table),
    kind,
    columns: rows.map((row) => String(row[3])),
    references: { schemaName: String(referencedSchema), tableName: String(referencedTable) },
    referencedColumns: rows.map((row) => String(row[6])),
  };
};

/** Character sets in which every text has its own Unicode form, so comparing Unicode distinguishes their values. */
const faithful = /^(utf8mb4|utf8mb3|utf8|latin1|ascii|ucs2|utf16|utf16le|utf32)_[a-z0-9_]+$/;

const parseMysqlType = (columnType: string, collation: Cell): SqlType => {
  const type = datatypeOf('MYSQL', columnType) ?? otherType;
  if (mayBeBoolean({ datatype: columnType })) return { ...type, mayBeBoolean: true };
  if (type.kind !== 'text' || typeof collation !== 'string') return type;
  return faithful.test(collation) ? { ...type, collation } : { ...type, isAmbiguous: true };
};
