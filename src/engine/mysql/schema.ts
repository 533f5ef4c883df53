import type { Cell } from '../../domain/ports.js';
import type { SourceTable } from '../../domain/source-schema.js';
import { type Catalog, createCatalog } from '../catalog.js';
import { type Ask, buildSourceTables, type SourceKey } from '../schema.js';
import { otherType, type SqlType } from '../sql-type.js';

/** The database itself: on MySQL it is the schema. */
const columnsQuery = `SELECT TABLE_SCHEMA, TABLE_NAME, COLUMN_NAME, COLUMN_TYPE, IS_NULLABLE, DATA_TYPE, COLLATION_NAME
FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() ORDER BY TABLE_NAME, ORDINAL_POSITION`;

/** A key of prefixes or of expressions says nothing of whole columns. */
const uniqueQuery = `SELECT TABLE_SCHEMA, TABLE_NAME, INDEX_NAME, COLUMN_NAME, SUB_PART FROM information_schema.STATISTICS
WHERE TABLE_SCHEMA = DATABASE() AND NON_UNIQUE = 0 ORDER BY TABLE_NAME, INDEX_NAME, SEQ_IN_INDEX`;

const foreignQuery = `SELECT TABLE_SCHEMA, TABLE_NAME, CONSTRAINT_NAME, COLUMN_NAME,
  REFERENCED_TABLE_SCHEMA, REFERENCED_TABLE_NAME, REFERENCED_COLUMN_NAME
FROM information_schema.KEY_COLUMN_USAGE WHERE TABLE_SCHEMA = DATABASE() AND REFERENCED_TABLE_NAME IS NOT NULL
ORDER BY TABLE_NAME, CONSTRAINT_NAME, ORDINAL_POSITION`;

/** The types of the database's own tables; those of other databases, the system's among them, are not there. */
export const readCatalog = async (ask: Ask): Promise<Catalog> => {
  const rows = await ask(columnsQuery);
  const columns = rows.map(([schema, table, column, columnType, , datatype, collation]) => ({
    schemaName: String(schema),
    tableName: String(table),
    columnName: String(column),
    type: parseMysqlType(String(datatype), String(columnType), collation ?? null),
  }));
  return createCatalog(String(rows[0]?.[0] ?? ''), columns, await readUniqueKeys(ask));
};

export const readSourceTables = async (ask: Ask): Promise<readonly SourceTable[]> => {
  const columns = await ask(columnsQuery);
  const unique = await readUniqueKeys(ask);
  const foreign = groupKeys(await ask(foreignQuery)).map((rows) => sourceKey(rows, 'FOREIGN KEY'));
  return buildSourceTables(
    columns.map(([schema, table, column, datatype, isNullable]) => [
      schema ?? null,
      table ?? null,
      column ?? null,
      datatype ?? null,
      isNullable === 'YES',
    ]),
    [...unique, ...foreign],
  );
};

const readUniqueKeys = async (ask: Ask): Promise<readonly SourceKey[]> =>
  groupKeys(await ask(uniqueQuery))
    .filter((rows) => rows.every(([, , , column, part]) => column !== null && part === null))
    .map((rows) => sourceKey(rows, rows[0]?.[2] === 'PRIMARY' ? 'PRIMARY KEY' : 'UNIQUE'));

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

const signedTypes: ReadonlyMap<string, string> = new Map([
  ['tinyint', 'TINYINT'],
  ['smallint', 'SMALLINT'],
  ['mediumint', 'INTEGER'],
  ['int', 'INTEGER'],
  ['bigint', 'BIGINT'],
]);

const plainTypes: ReadonlyMap<string, SqlType> = new Map([
  ['float', { kind: 'float', cast: 'FLOAT' }],
  ['double', { kind: 'float', cast: 'DOUBLE' }],
  ['date', { kind: 'date', cast: 'DATE' }],
  ['datetime', { kind: 'timestamp', cast: 'TIMESTAMP' }],
  ['timestamp', { kind: 'instant', cast: 'TIMESTAMP' }],
  ['uuid', { kind: 'uuid', cast: 'UUID' }],
  ['enum', { kind: 'enum', cast: 'VARCHAR' }],
  ['decimal', { kind: 'decimal', cast: 'DECIMAL(38,0)' }],
]);

const textTypes: ReadonlySet<string> = new Set(['char', 'varchar', 'tinytext', 'text', 'mediumtext', 'longtext']);

/** Character sets of which every text has a Unicode form of its own, so that Unicode can tell its values apart. */
const faithful = /^(utf8mb4|utf8mb3|utf8|latin1|ascii|ucs2|utf16|utf16le|utf32)_[a-z0-9_]+$/;

const parseMysqlType = (datatype: string, columnType: string, collation: Cell): SqlType => {
  // The way to say BOOLEAN on MySQL.
  if (/^tinyint\(1\)/.test(columnType)) return { kind: 'boolean', cast: 'BOOLEAN' };
  const integer = signedTypes.get(datatype);
  if (integer !== undefined) {
    return { kind: 'integer', cast: columnType.includes('unsigned') ? `U${integer}` : integer };
  }
  if (!textTypes.has(datatype)) return plainTypes.get(datatype) ?? otherType;
  return typeof collation === 'string' && faithful.test(collation)
    ? { kind: 'text', cast: 'VARCHAR', collation }
    : otherType;
};
