import type { SourceTable } from '../../domain/source-schema.js';
import { type Catalog, createCatalog } from '../catalog.js';
import { type Ask, buildSourceTables } from '../schema.js';
import { isNullableType, parseClickHouseType } from './types.js';

/** The database itself: on ClickHouse it is the schema. A column of the kind EPHEMERAL cannot be read. */
const columnsQuery = `SELECT database, table, name, type FROM system.columns
WHERE database = currentDatabase() AND default_kind <> 'EPHEMERAL' AND table NOT LIKE '.inner%'
ORDER BY database, table, position`;

/** The types of the database's own tables; those of other databases, the system's among them, are not there. */
export const readCatalog = async (ask: Ask): Promise<Catalog> => {
  const rows = await ask(columnsQuery);
  const columns = rows.map(([schema, table, column, type]) => ({
    schemaName: String(schema),
    tableName: String(table),
    columnName: String(column),
    type: parseClickHouseType(String(type)),
  }));
  return createCatalog(String(rows[0]?.[0] ?? ''), columns);
};

/** Without keys: what ClickHouse calls a primary key orders the rows, and may stand in many of them. */
export const readSourceTables = async (ask: Ask): Promise<readonly SourceTable[]> => {
  const rows = await ask(columnsQuery);
  const columns = rows.map(([schema = null, table = null, column = null, type = null]) => [
    schema,
    table,
    column,
    type,
    isNullableType(String(type)),
  ]);
  return buildSourceTables(columns, []);
};
