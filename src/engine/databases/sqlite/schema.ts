import { datatypeOf } from '../../../model/datamart/datatypes.js';
import type { SourceTable } from '../../../model/datamart/source-schema.js';
import { type Catalog, createCatalog } from '../../dialect/catalog.js';
import { type Ask, buildSourceTables, namesIn, type SourceKey } from '../../dialect/source-tables.js';
import { otherType, type SqlType } from '../../dialect/sql-type.js';
import { processEnded, SqliteError } from './faults.js';

/** SQLite has one schema in a file. */
const schemaName = 'main';

/** Tables of the owner, each with what `join` adds. What a virtual table reads is decided by its module: left out. */
const tablesWith = (join: string): string => `sqlite_schema AS t
  JOIN pragma_table_list(t.name) AS l ON l.schema = 'main' AND l.type = 'table' ${join}
WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite\\_%' ESCAPE '\\'`;

const columnsQuery = `SELECT t.name, c.name, c.type, c."notnull" = 0, 'table'
FROM ${tablesWith('JOIN pragma_table_xinfo(t.name) AS c')} ORDER BY t.name, c.cid`;

const viewsQuery = "SELECT name FROM sqlite_schema WHERE type = 'view' ORDER BY name";

const viewQuery = `SELECT ?1, name, type, 1, 'view' FROM pragma_table_xinfo(?1) ORDER BY cid`;

const primaryQuery = `SELECT t.name, json_group_array(c.name ORDER BY c.pk)
FROM ${tablesWith('JOIN pragma_table_xinfo(t.name) AS c ON c.pk > 0')} GROUP BY t.name ORDER BY t.name`;

/** Keys of expressions and of a part of the rows are left out. */
const uniqueQuery = `SELECT t.name, json_group_array(c.name ORDER BY c.seqno)
FROM ${tablesWith(`JOIN pragma_index_list(t.name) AS i ON i."unique" = 1 AND i.partial = 0 AND i.origin <> 'pk'
  JOIN pragma_index_info(i.name) AS c`)} GROUP BY t.name, i.name HAVING count(*) = count(c.name) ORDER BY t.name, i.name`;

const foreignQuery = `SELECT t.name, f.id, f."table", f."from", f."to"
FROM ${tablesWith('JOIN pragma_foreign_key_list(t.name) AS f')} ORDER BY t.name, f.id, f.seq`;

type Rows = Awaited<ReturnType<Ask>>;

const keysOf = (rows: Rows, kind: string): readonly SourceKey[] =>
  rows.map(([table, columns]) => ({
    schemaName,
    tableName: String(table),
    kind,
    columns: namesIn(columns),
    references: { schemaName, tableName: '' },
    referencedColumns: [],
  }));

/** The rows of each key. */
const group = (rows: Rows): readonly Rows[] => {
  const groups = new Map<string, Rows[number][]>();
  for (const row of rows) {
    const key = JSON.stringify(row.slice(0, 2));
    groups.set(key, [...(groups.get(key) ?? []), row]);
  }
  return [...groups.values()];
};

/** A key that names no columns of the other table references its primary key. */
const foreignKeysOf = (rows: Rows, primary: readonly SourceKey[]): readonly SourceKey[] => {
  return group(rows).map((own) => {
    const [table, , referenced] = own[0] ?? [];
    const named = own.flatMap(([, , , , to]) => (to === null || to === undefined ? [] : [String(to)]));
    const usual = primary.find(({ tableName }) => tableName === referenced)?.columns ?? [];
    return {
      schemaName,
      tableName: String(table),
      kind: 'FOREIGN KEY',
      columns: own.map(([, , , from]) => String(from)),
      references: { schemaName, tableName: String(referenced) },
      referencedColumns: named.length === own.length ? named : usual,
    };
  });
};

const readKeys = async (ask: Ask): Promise<readonly SourceKey[]> => {
  const primary = keysOf(await ask(primaryQuery), 'PRIMARY KEY');
  return [...primary, ...keysOf(await ask(uniqueQuery), 'UNIQUE'), ...foreignKeysOf(await ask(foreignQuery), primary)];
};

/** Without views that SQLite cannot read: of a table that was dropped, or with a function that reads other files. */
const readColumns = async (ask: Ask): Promise<Rows> => {
  const rows = [...(await ask(columnsQuery))];
  for (const [name] of await ask(viewsQuery)) {
    try {
      rows.push(...(await ask(viewQuery, [String(name)])));
    } catch (cause) {
      if (!(cause instanceof SqliteError) || cause.code === processEnded) throw cause;
    }
  }
  return rows;
};

const parseSqliteType = (datatype: string): SqlType => datatypeOf('SQLITE', datatype) ?? otherType;

export const readCatalog = async (ask: Ask): Promise<Catalog> => {
  const columns = (await readColumns(ask)).map(([table, column, datatype]) => ({
    schemaName,
    tableName: String(table),
    columnName: String(column),
    type: parseSqliteType(String(datatype)),
  }));
  return createCatalog(schemaName, columns, await readKeys(ask));
};

export const readSourceTables = async (ask: Ask): Promise<readonly SourceTable[]> => {
  const rows = await readColumns(ask);
  const columns = rows.map(([table, column, datatype, isNullable]) => [
    ...[schemaName, table ?? null, column ?? null, datatype ?? null],
    isNullable === 1,
  ]);
  const described = rows.map(([table, , , , kind]) => [schemaName, table ?? null, null, kind ?? null]);
  return buildSourceTables('SQLITE', columns, await readKeys(ask), described);
};
