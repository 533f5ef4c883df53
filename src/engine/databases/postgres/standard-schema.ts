/** The catalog by the view of columns that the SQL standard has, for databases whose pg_catalog is not PostgreSQL's. */
import { datatypeOf } from '../../../model/datamart/datatypes.js';
import type { DatasourceType } from '../../../model/organization.js';
import type { Cell } from '../../../model/query/engine.js';
import { createCatalog } from '../../dialect/catalog.js';
import { buildSourceTables } from '../../dialect/source-tables.js';
import { otherType, type SqlType } from '../../dialect/sql-type.js';
import { inexact } from './dialect.js';
import type { CatalogReader } from './schema.js';

/** `columns`: the view; `where`: what leaves out hidden columns and own schemas. */
type View = { readonly columns: string; readonly where: string };

const columnsQuery = ({ columns, where }: View, extra = ''): string => `SELECT table_schema, table_name, column_name,
  data_type, is_nullable, numeric_precision, numeric_scale, current_database()
FROM ${columns} WHERE ${where} AND table_schema <> 'information_schema' AND table_schema NOT LIKE 'pg^_%' ESCAPE '^' ${extra}
ORDER BY table_schema, table_name, ordinal_position`;

/** A numeric with its digits, and every other type by its name. */
const datatype = (name: Cell | undefined, precision: Cell | undefined, scale: Cell | undefined): string =>
  name === 'numeric' && precision !== null && precision !== undefined
    ? `numeric(${String(precision)},${String(scale ?? 0)})`
    : String(name);

/** No column is known to compare text byte by byte: its collation may ignore case or trailing blanks. */
const typeOf = (database: DatasourceType, name: string): SqlType => {
  const type = datatypeOf(database, name) ?? otherType;
  return type.kind === 'text' ? { ...type, collation: inexact } : type;
};

export const createStandardCatalog = (database: DatasourceType, view: View): CatalogReader => ({
  readCatalog: async (ask, schemas) => {
    const names = schemas ?? [];
    const within =
      names.length === 0 ? '' : `AND table_schema IN (${names.map((_, index) => `$${index + 1}`).join(', ')})`;
    const rows = schemas?.length === 0 ? [] : await ask(columnsQuery(view, within), names);
    const columns = rows.map(([schema, table, column, type, , precision, scale]) => ({
      schemaName: String(schema),
      tableName: String(table),
      columnName: String(column),
      type: typeOf(database, datatype(type, precision, scale)),
    }));
    return createCatalog(String(rows[0]?.[7] ?? ''), columns);
  },
  readSourceTables: async (ask) => {
    const rows = await ask(columnsQuery(view));
    const columns = rows.map(([schema, table, column, type, isNullable, precision, scale]) => [
      schema ?? null,
      table ?? null,
      column ?? null,
      datatype(type, precision, scale),
      String(isNullable).toUpperCase() !== 'NO',
    ]);
    return buildSourceTables(database, columns, [], []);
  },
  // Nobody has tried which databases and schemas of such a server a user may read.
  readClientDatabases: async () => ({ DATABASE: [], MULTI_DATABASE: [] }),
});
