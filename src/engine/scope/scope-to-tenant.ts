import {
  type Datamart,
  type DatamartTable,
  findTable,
  qualifiedName,
  type TableRef,
  tableKey,
} from '../../model/datamart/datamart.js';
import { primaryTableUnshared } from '../../model/datamart/table-ownership.js';
import { isAmong, isListedAsShared } from '../../model/datamart/tenancy-steps.js';
import type { TenantScope } from '../../model/datamart/tenant.js';
import { type Catalog, columnsOf } from '../dialect/catalog.js';
import type { TenantPredicate } from '../dialect/dialect.js';
import { refuseQuery, refuseUnknown, withoutNames } from '../dialect/refuse.js';
import type { Leaf, RuledColumn, TenantScoped, TenantScopedLeaf } from '../plan/plan.js';
import { baseTests } from './base-filters.js';
import { ruledColumns, storedDatamart } from './column-rules.js';
import { columnPredicate, refuseClient, type Source, tablePredicate } from './tenancy.js';

type DatabaseTenancy = Exclude<NonNullable<Datamart['tenancy']>, { tenancyLevel: 'TABLE' }>;

/**
 * The only way from a plan to one that compiles. Replaces every leaf, wherever it stands, by a relation with this
 * tenant's rows and the datamart's columns. A tenant predicate in ON of a RIGHT or FULL join, or in the outer WHERE,
 * would change which rows there are.
 * @throws CLIENT_ID_ERROR where tenant and datamart do not fit; METRIC_QUERY_ERROR where a table's tenancy is
 * unclear.
 */
export const scopeToTenant = <P extends { readonly leaves: readonly Leaf[] }>(
  plan: P,
  tenant: TenantScope,
  source: Source,
): TenantScoped<P> => {
  const predicateOf = tenantRule(tenant, source);
  const secureLeaf = (leaf: Leaf): TenantScopedLeaf => {
    const table = loadTable(leaf, leaf.isStored === true ? storedDatamart(source.datamart) : source.datamart);
    const ruled = ruledColumns(table, source);
    return {
      ...leaf,
      table: realTable(leaf, source.catalog),
      columns: columnsToShow(table, source.catalog, ruled),
      ruled,
      tenant: predicateOf(table),
      base: isUnfiltered(leaf, source) ? [] : baseTests(table, source),
    };
  };
  const leaves = plan.leaves.map((leaf) => withoutNames(leaf.isHidden, () => secureLeaf(leaf)));
  // The brand is given here, and for all tenants below.
  return { ...plan, database: source.catalog.database, leaves } as unknown as TenantScoped<P>;
};

/**
 * The plan over the rows of all tenants, with the base filters of its tables. Only the builder of rollups may call it
 * (test/conventions.test.ts): its rows go into files that are read under the scope of a tenant again. `columns`: those that the plan reads.
 */
export const scopeToAllTenants = <P extends { readonly leaves: readonly Leaf[] }>(
  plan: P,
  source: Pick<Source, 'datamart' | 'catalog'>,
  columns: readonly string[],
): TenantScoped<P> => {
  const leaves = plan.leaves.map((leaf): TenantScopedLeaf => {
    const base = baseTests(loadTable(leaf, source.datamart), source);
    return { ...leaf, columns, ruled: [], tenant: null, base };
  });
  return { ...plan, database: source.catalog.database, leaves } as unknown as TenantScoped<P>;
};

/** Whether the metric's author left the base filters out. What decides over other rows has them in every metric. */
const isUnfiltered = ({ table, isStored, isAlwaysFiltered }: Leaf, { withoutBaseFilters = [] }: Source): boolean =>
  isStored !== true && isAlwaysFiltered !== true && isAmong(withoutBaseFilters, table);

/**
 * The datamart's columns of the table, without those that the token hides. A column that the datasource lost is refused
 * only where a question names it.
 */
const columnsToShow = (table: DatamartTable, catalog: Catalog, ruled: readonly RuledColumn[]): readonly string[] => {
  const present = columnsOf(catalog, table);
  // A datasource column with the name of a custom column is not part of the datamart.
  const own = table.columns.filter(({ isCustomColumn }) => isCustomColumn !== true);
  const isHidden = (name: string): boolean =>
    ruled.some(({ columnName, shown }) => columnName === name && shown === null);
  return own.map(({ columnName }) => columnName).filter((name) => present.has(name) && !isHidden(name));
};

const loadTable = ({ table }: Leaf, datamart: Datamart): DatamartTable =>
  findTable(datamart, table) ??
  refuseQuery(`Table ${qualifiedName(table)} is not in datamart ${datamart.name}.`, 'table-not-in-datamart');

/** Replaces the datamart's table names by the real ones. After this, only tables that are read are named. */
const realTable = ({ table }: Leaf, { client }: Catalog): TableRef => {
  if (client === undefined) return table;
  return (
    client.tables.get(tableKey(table)) ??
    refuseQuery(`Table ${qualifiedName(table)} is not in this client's database.`, 'table-not-placed')
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
      if (tenancy.tenancyLevel === 'TABLE') return (table) => tablePredicate(table, tenancy, tenant.clientId, source);
      if (tenant.database === null)
        return refuseClient(`Datamart ${name} keeps each client in a database of its own; the client's is unknown.`);
      return (table) => ownDatabasePredicate(table, tenancy, tenant.clientId, source);
    default:
      return refuseUnknown('tenant scope', tenant);
  }
};

/**
 * In the client's own database every row is the client's. A table of the primary database is shared only where that
 * is declared. A declared client column is enforced in both.
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
    const { message, reason } = primaryTableUnshared(table);
    refuseQuery(message, reason);
  }
  return null;
};
