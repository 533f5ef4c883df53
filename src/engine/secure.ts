import type { Datamart, DatamartTable, TableRef } from '../domain/datamart.js';
import { findTable, sameTable, tableKey } from '../domain/datamart.js';
import { qualifiedName } from '../domain/embed.js';
import { Refusal } from '../domain/refusal.js';
import type { TenantScope } from '../domain/tenant.js';
import { type Catalog, columnsOf } from './catalog.js';
import type { Leaf, Secured, SecuredLeaf, TenantPredicate } from './plan.js';
import { refuseQuery, refuseUnknown, withoutNames } from './refuse.js';
import type { SqlType } from './sql-type.js';
import { type Bound, bindScalar } from './values.js';

export type Source = { readonly datamart: Datamart; readonly catalog: Catalog };

type Tenancy = NonNullable<Datamart['tenancy']>;
type TableTenancy = Extract<Tenancy, { tenancyLevel: 'TABLE' }>;
type DatabaseTenancy = Exclude<Tenancy, TableTenancy>;
type ClientColumnType = TableTenancy['clientColumnType'];

/**
 * The only way from a plan to one that compiles. Every leaf becomes a relation of this tenant's rows and the datamart's
 * columns, wherever the leaf stands: a predicate in ON of a RIGHT or FULL join, or in the outer WHERE, would change which rows there are.
 * Throws CLIENT_ID_ERROR where scope and datamart do not fit, METRIC_QUERY_ERROR where a table's tenancy is unclear.
 */
export const secure = <P extends { readonly leaves: readonly Leaf[] }>(
  plan: P,
  tenant: TenantScope,
  source: Source,
): Secured<P> => {
  const predicateOf = tenantRule(tenant, source);
  const secureLeaf = (leaf: Leaf): SecuredLeaf => {
    const table = loadTable(leaf, source.datamart);
    return {
      ...leaf,
      table: realTable(leaf, source.catalog),
      columns: columnsToShow(table, source.catalog),
      tenant: predicateOf(table),
    };
  };
  const leaves = plan.leaves.map((leaf) => withoutNames(leaf.isHidden, () => secureLeaf(leaf)));
  // The one place where the brand is given.
  return { ...plan, database: source.catalog.database, leaves } as unknown as Secured<P>;
};

/** The datamart's, and no other. One that the datasource lost is refused where it is asked for, not for its neighbours. */
const columnsToShow = (table: DatamartTable, catalog: Catalog): readonly string[] => {
  const present = columnsOf(catalog, table);
  // A column of the datasource that bears a custom column's name is not the datamart's.
  const own = table.columns.filter(({ isCustomColumn }) => isCustomColumn !== true);
  return own.map(({ columnName }) => columnName).filter((name) => present.has(name));
};

const loadTable = ({ table }: Leaf, datamart: Datamart): DatamartTable =>
  findTable(datamart, table) ??
  refuseQuery(`Table ${qualifiedName(table)} is not in datamart ${datamart.name}.`, 'table-not-in-datamart');

/** Behind this point nothing names another table than the one that is read. */
const realTable = ({ table }: Leaf, { client }: Catalog): TableRef => {
  if (client === undefined) return table;
  return (
    client.tables.get(tableKey(table)) ??
    refuseQuery(`Table ${qualifiedName(table)} has no place in this client's database.`, 'table-not-placed')
  );
};

const tenantRule = (tenant: TenantScope, source: Source): ((table: DatamartTable) => TenantPredicate | null) => {
  const { tenancy, name } = source.datamart;
  switch (tenant.kind) {
    case 'untenanted':
      return tenancy === null ? () => null : refuseClient(`Datamart ${name} separates clients; name the client.`);
    case 'tenant':
      if (tenancy === null)
        return refuseClient(`Datamart ${name} has no tenancy configured; the only clientId is "None".`);
      if ((source.catalog.client?.database ?? null) !== tenant.database)
        return refuseClient(`Datamart ${name} would be read from another database than the client's.`);
      if (tenancy.tenancyLevel === 'TABLE') return (table) => tenantPredicate(table, tenancy, tenant.clientId, source);
      if (tenant.database === null)
        return refuseClient(`Datamart ${name} keeps each client in a database of its own; the client's is unknown.`);
      return (table) => ownDatabasePredicate(table, tenancy, tenant.clientId, source);
    default:
      return refuseUnknown('tenant scope', tenant);
  }
};

/**
 * In the client's own database every row is the client's. What the primary database holds is everybody's only where that is declared. A
 * client column that is named all the same is held to, at either place.
 */
const ownDatabasePredicate = (
  table: DatamartTable,
  tenancy: DatabaseTenancy,
  clientId: string,
  source: Source,
): TenantPredicate | null => {
  if (table.clientColumn !== null) {
    return columnPredicate(table, table.clientColumn, clientId, tenancy.clientColumnType, source);
  }
  const isPrimary = tenancy.tenancyLevel === 'MULTI_DATABASE' && table.schemaName === tenancy.primaryDatabase;
  if (isPrimary && !isListedAsShared(table, source.datamart)) {
    refuseQuery(
      `Table ${qualifiedName(table)} is of the primary database, which is not the client's. List it in sharedTables if it is meant for all clients.`,
      'primary-table-not-shared',
    );
  }
  return null;
};

const tenantPredicate = (
  table: DatamartTable,
  tenancy: TableTenancy,
  clientId: string,
  source: Source,
): TenantPredicate | null => {
  const columnName = table.clientColumn ?? (sameTable(table, tenancy) ? tenancy.tablePrimaryKeyColumn : null);
  if (columnName === null) {
    assertShared(table, source);
    return null;
  }
  return columnPredicate(table, columnName, clientId, tenancy.clientColumnType, source);
};

const columnPredicate = (
  table: DatamartTable,
  columnName: string,
  clientId: string,
  declared: ClientColumnType | undefined,
  source: Source,
): TenantPredicate => {
  const type = columnsOf(source.catalog, table).get(columnName);
  if (type === undefined) {
    return refuseQuery(
      `Client column ${columnName} of ${qualifiedName(table)} is not in the datasource; correct the datamart.`,
      'client-column-missing',
    );
  }
  return { columnName, type, value: bindClient(clientId, type, { ...table, columnName }, declared) };
};

/** A NUMBER is an integer, a STRING is text or a UUID: any other pair could take two clients for one. Undeclared, it is either. */
const bindClient = (
  clientId: string,
  type: SqlType,
  ref: TableRef & { readonly columnName: string },
  declared: ClientColumnType | undefined,
): Bound => {
  const [isNumber, isString] = [type.kind === 'integer', type.kind === 'uuid' || type.kind === 'text'];
  const fits = declared === undefined ? isNumber || isString : declared === 'NUMBER' ? isNumber : isString;
  if (!fits || (declared !== undefined && declared !== 'NUMBER' && declared !== 'STRING')) {
    refuseQuery(
      `Client column ${ref.columnName} of ${qualifiedName(ref)} does not hold what clientColumnType ${declared ?? 'NUMBER or STRING'} says; correct the datamart.`,
      'client-column-type',
    );
  }
  try {
    const bound = bindScalar(clientId, { ref, type });
    if (clientId !== '' && bound.text === clientId && bound.cast === type.cast) return bound;
  } catch (cause) {
    throw new Refusal('CLIENT_ID_ERROR', unfitting, { reason: 'client-id-unfit', cause });
  }
  return refuseClient(unfitting);
};

const unfitting = 'clientId does not fit the client column of the datamart; write it exactly as it is stored there.';

/** A table without client column is everybody's only if nothing suggests that it was forgotten. */
const assertShared = (table: DatamartTable, { datamart, catalog }: Source): void => {
  if (isListedAsShared(table, datamart)) return;
  const clientColumns = new Set(
    datamart.tables.flatMap(({ clientColumn }) => (clientColumn === null ? [] : [clientColumn.toLowerCase()])),
  );
  if (clientColumns.size === 0) {
    refuseQuery(
      `Table ${qualifiedName(table)} has no clientColumn, and neither has any other table of the datamart, which separates clients by table. Set the clientColumn of those that hold clients' rows, and list those meant for all clients in sharedTables.`,
      'client-columns-missing',
    );
  }
  const suspect = [...columnsOf(catalog, table).keys()].find((name) => clientColumns.has(name.toLowerCase()));
  if (suspect !== undefined) {
    refuseQuery(
      `Table ${qualifiedName(table)} has no clientColumn, but a column ${suspect} like the client columns of other tables. Set its clientColumn, or list it in sharedTables if it is meant for all clients.`,
      'client-column-forgotten',
    );
  }
};

/** By `schema.table`, or by the bare name; an entry that fits two tables lists neither. */
const isListedAsShared = (table: TableRef, datamart: Datamart): boolean =>
  datamart.sharedTables.some((entry) => {
    const meant = datamart.tables.filter(
      (candidate) => qualifiedName(candidate) === entry || candidate.tableName === entry,
    );
    return meant.length === 1 && meant[0] !== undefined && sameTable(meant[0], table);
  });

const refuseClient = (message: string): never => {
  throw new Refusal('CLIENT_ID_ERROR', message, { reason: 'client-id-unfit' });
};
