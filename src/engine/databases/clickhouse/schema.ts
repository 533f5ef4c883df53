import type { ClientDatabases, SourceTable } from '../../../domain/datamart/source-schema.js';
import { type Catalog, createCatalog } from '../catalog.js';
import { type Ask, buildSourceTables } from '../source-tables.js';
import { isNullableType, parseClickHouseType } from './types.js';

/** The server's own, whose tables are no datasource's. */
const systemDatabases = `('system', 'INFORMATION_SCHEMA', 'information_schema')`;

/** Of the database that is connected to, or of these: on ClickHouse the database is the schema. A column of the kind EPHEMERAL cannot be read. */
const columnsQuery = (databases: readonly string[], isOwnToo: boolean): string => {
  const named = databases.map((_, index) => `{p${index + 1}:String}`);
  const names = [...(isOwnToo ? ['currentDatabase()'] : []), ...named].join(', ');
  return `SELECT database, table, name, type FROM system.columns
WHERE database IN (${names}) AND database NOT IN ${systemDatabases}
  AND default_kind <> 'EPHEMERAL' AND table NOT LIKE '.inner%'
ORDER BY database, table, position`;
};

/** The types of the tables of these databases; null: of the one that is connected to. Those of the system are never there. */
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

/** Of the database that is connected to, and of these. Without keys: what ClickHouse calls a primary key orders the rows, and may stand in many of them. */
export const readSourceTables = async (ask: Ask, databases: readonly string[]): Promise<readonly SourceTable[]> => {
  const rows = await ask(columnsQuery(databases, true), databases);
  const columns = rows.map(([schema = null, table = null, column = null, type = null]) => [
    schema,
    table,
    column,
    type,
    isNullableType(String(type)),
  ]);
  return buildSourceTables(columns, []);
};

/** At either level a client has another database of the server. */
export const readClientDatabases = async (ask: Ask): Promise<ClientDatabases> => {
  const rows = await ask(`SELECT name FROM system.databases
WHERE name NOT IN ${systemDatabases} AND name NOT IN ('default', currentDatabase()) ORDER BY 1`);
  const names = rows.map(([name]) => String(name));
  return { DATABASE: names, MULTI_DATABASE: names };
};
