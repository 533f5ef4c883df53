/** What custom SQL is read with: one database, one tenant, one datamart. Rows come only through `scopeToTenant`. */

import type { RlsVariable } from '../../model/dashboard/metric.js';
import { type Datamart, findTable, type TableRef } from '../../model/datamart/datamart.js';
import { defaultSchemaOf } from '../../model/datamart/tables.js';
import type { TenantScope } from '../../model/datamart/tenant.js';
import type { Scalar } from '../../model/filter/filter.js';
import type { Datasource } from '../../model/organization.js';
import type { ResultTable } from '../connections/database.js';
import { kinds } from '../databases/kinds.js';
import type { Catalog } from '../dialect/catalog.js';
import type { Statement as CompiledStatement, Dialect } from '../dialect/dialect.js';
import { refuseQuery } from '../dialect/refuse.js';
import { databasePlaceholder, type Operators, type Path, type SqlParser } from '../parsing/sql-parser.js';
import { databaseNameFor } from '../scope/client-database.js';

export type SqlContext = {
  readonly datasource: Datasource;
  readonly datamart: Datamart;
  readonly tenant: TenantScope;
  /** With the types of what the token shows. */
  readonly catalog: Catalog;
  /** With the types as the datasource has them. */
  readonly stored: Catalog;
  /** The tenant's key for hashes of masked values. */
  readonly maskKey: string | undefined;
  readonly dialect: Dialect;
  readonly variables: ReadonlyMap<string, readonly Scalar[]>;
  readonly declared: readonly RlsVariable[];
  /** Whether the metric is checked because it is being written, and no rows are read. */
  readonly isWritten: boolean;
  readonly run: (query: CompiledStatement) => Promise<ResultTable>;
  /** Key of the memory of parsed SQL, which lives as long as the opened database's catalog. */
  readonly memory: object;
};

/** Throws METRIC_QUERY_ERROR where this database's SQL cannot be parsed. */
export const loadParser = ({ datasource, dialect }: SqlContext): SqlParser =>
  kinds[datasource.datasourceType].parser ??
  refuseQuery(
    `Custom SQL and expressions are not supported for ${dialect.capabilities.databaseName} yet; use plain columns and measures.`,
    'sql-unsupported',
  );

/**
 * The datamart's table that a FROM names. An unqualified name means the default schema, else the only schema with
 * such a table.
 */
export const resolveTable = (context: SqlContext, parser: SqlParser, path: Path): TableRef => {
  const { datamart, datasource, catalog } = context;
  const same = parser.isSameName;
  const [name = '', schema, database, ...more] = namedPath(context, path).toReversed();
  const isHere = more.length === 0 && (database === undefined || same(database, catalog.database));
  const named = isHere ? datamart.tables.filter(({ tableName }) => same(tableName, name)) : [];
  const home = defaultSchemaOf(datasource);
  const meant =
    schema === undefined
      ? named.filter(({ schemaName }) => named.length === 1 || same(schemaName, home))
      : named.filter(({ schemaName }) => same(schemaName, schema));
  const [table] = meant;
  if (table !== undefined && meant.length === 1) return { schemaName: table.schemaName, tableName: table.tableName };
  return refuseQuery(
    `The SQL reads ${path.join('.')}, which is ${named.length > 1 ? 'more than one table' : 'no table'} of datamart ${datamart.name}; name one of its tables with its schema.`,
    'sql-table-unknown',
  );
};

/** Replaces `{{DATABASE_NAME}}` by the client's database. A table of the connected database is named without it. */
const namedPath = (context: SqlContext, path: Path): Path => {
  if (!path.includes(databasePlaceholder)) return path;
  const name = databaseNameFor(context);
  const isConnected = path.length === 2 && path[0] === databasePlaceholder && name === context.catalog.database;
  return isConnected ? path.slice(1) : path.map((part) => (part === databasePlaceholder ? name : part));
};

/** The table's datasource column by a name from SQL; undefined where the datamart has none. */
export const findOwnColumn = (
  { datamart }: Pick<SqlContext, 'datamart'>,
  parser: SqlParser,
  table: TableRef,
  name: string,
): string | undefined => {
  const own = findTable(datamart, table)?.columns.filter(({ isCustomColumn }) => isCustomColumn !== true) ?? [];
  const exact = own.find(({ columnName }) => columnName === name);
  return (exact ?? own.find(({ columnName }) => parser.isSameName(columnName, name)))?.columnName;
};

/** Refuses operators that the database's owner defined, because they may run any code. */
export const assertOperators = ({ catalog }: SqlContext, operators: Operators): void => {
  const own = operators?.find((name) => catalog.ownOperators?.has(name) === true);
  if (own === undefined) return;
  refuseQuery(
    `The SQL uses ${own}, but the database defines an operator or a cast of that name. Rewrite the SQL without it, or rename or drop the database's own.`,
    'sql-operator-own',
  );
};

const greatestMemory = 1000;

/** Remembers answers per opened database and key, for all callers. A failure is not remembered. */
export const rememberPerDatabase = <Answer>() => {
  const databases = new WeakMap<object, Map<string, Promise<Answer>>>();
  return (database: object, key: unknown, ask: () => Promise<Answer>): Promise<Answer> => {
    const known = databases.get(database) ?? new Map<string, Promise<Answer>>();
    databases.set(database, known);
    const text = JSON.stringify(key);
    const found = known.get(text) ?? ask();
    if (known.size >= greatestMemory) known.clear();
    known.set(text, found);
    found.catch(() => known.delete(text));
    return found;
  };
};
