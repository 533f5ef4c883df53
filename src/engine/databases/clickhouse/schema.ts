import type { ClientDatabases, SourceTable } from '../../../model/datamart/source-schema.js';
import { type Catalog, createCatalog } from '../../dialect/catalog.js';
import { type Ask, buildSourceTables } from '../../dialect/source-tables.js';
import { isNullableType, parseClickHouseType } from './values.js';

/** The server's system databases, which are never part of a datasource. */
const systemDatabases = `('system', 'INFORMATION_SCHEMA', 'information_schema')`;

const placeholders = (databases: readonly string[]): readonly string[] =>
  databases.map((_, index) => `{p${index + 1}:String}`);

/** The estimate is null for views and for engines that do not count rows. */
const describeQuery = (
  databases: readonly string[],
): string => `SELECT database, name, total_rows, if(engine LIKE '%View', 'view', 'table') FROM system.tables
WHERE database IN (${['currentDatabase()', ...placeholders(databases)].join(', ')}) AND database NOT IN ${systemDatabases}`;

/**
 * Restricts to the connected database, or to these: in ClickHouse a database is the schema. EPHEMERAL columns cannot
 * be read.
 */
const columnsQuery = (databases: readonly string[], isOwnToo: boolean): string => {
  const names = [...(isOwnToo ? ['currentDatabase()'] : []), ...placeholders(databases)].join(', ');
  return `SELECT database, table, name, type FROM system.columns
WHERE database IN (${names}) AND database NOT IN ${systemDatabases}
  AND default_kind <> 'EPHEMERAL' AND table NOT LIKE '.inner%'
ORDER BY database, table, position`;
};

/** Column types of these databases; null: of the connected one. System databases are always left out. */
export const readCatalog = async (ask: Ask, databases: readonly string[] | null): Promise<Catalog> => {
  if (databases?.length === 0) return createCatalog('', []);
  const rows = await ask(columnsQuery(databases ?? [], databases === null), databases ?? []);
  const columns = rows.map(([schema, table, column, type]) => ({
    schemaName: String(schema),
    tableName: String(table),
    columnName: String(column),
    type: parseClickHouseType(String(type)),
  }));
  return createCatalog(String(rows[0]?.[0] ?? ''), columns);
};

/**
 * Returns the tables of the connected database and of `databases`. Returns no keys: a primary key of ClickHouse sorts rows and is not
 * unique.
 */
export const readSourceTables = async (ask: Ask, databases: readonly string[]): Promise<readonly SourceTable[]> => {
  const rows = await ask(columnsQuery(databases, true), databases);
  const columns = rows.map(([schema = null, table = null, column = null, type = null]) => [
    schema,
    table,
    column,
    type,
    isNullableType(String(type)),
  ]);
  return buildSourceTables('CLICKHOUSE', columns, [], await ask(describeQuery(databases), databases));
};

/** At either tenancy level, a client has another database of the server. */
export const readClientDatabases = async (ask: Ask): Promise<ClientDatabases> => {
  const rows = await ask(`SELECT name FROM system.databases
WHERE name NOT IN ${systemDatabases} AND name NOT IN ('default', currentDatabase()) ORDER BY 1`);
  const names = rows.map(([name]) => String(name));
  return { DATABASE: names, MULTI_DATABASE: names };
};
