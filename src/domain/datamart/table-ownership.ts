/** Whose the rows of a datamart's tables are, at every level of tenancy: what operators are told, and what a query is refused by. */
import { type Datamart, type DatamartTable, qualifiedName, type TableRef } from './datamart.js';
import { type TableTenancy, tableTenancy } from './table-tenancy.js';
import { isListedAsShared, type UniqueKeys } from './tenancy-steps.js';

export type Ownership =
  | Exclude<TableTenancy, { readonly kind: 'unreadable' }>
  /** The table is in the client's own database, and all of its rows are the client's. */
  | { readonly kind: 'database' }
  /** The datamart separates no clients. */
  | { readonly kind: 'none' }
  | { readonly kind: 'unreadable'; readonly reason: string; readonly message: string };

export type TableOwnership = { readonly table: DatamartTable; readonly tenancy: Ownership };

/** A table that every query is refused, as `schema.table`, with what is missing and how to mend it. */
export type TenancyWarning = { readonly table: string; readonly message: string };

/** What every query of a table of the primary database is refused by, unless it is listed in `sharedTables`. */
export const primaryTableUnshared = (table: TableRef) => ({
  kind: 'unreadable' as const,
  reason: 'primary-table-not-shared',
  message: `Table ${qualifiedName(table)} is of the primary database, which is not the client's. List it in sharedTables if it is meant for all clients.`,
});

const ownershipOf = (datamart: Datamart, table: DatamartTable, keys: UniqueKeys): Ownership => {
  const { tenancy } = datamart;
  if (tenancy === null) return { kind: 'none' };
  if (tenancy.tenancyLevel === 'TABLE') return tableTenancy(datamart, table, keys);
  if (table.clientColumn !== null) return { kind: 'column', columnName: table.clientColumn };
  const isPrimary = tenancy.tenancyLevel === 'MULTI_DATABASE' && table.schemaName === tenancy.primaryDatabase;
  if (!isPrimary) return { kind: 'database' };
  return isListedAsShared(table, datamart) ? { kind: 'shared' } : primaryTableUnshared(table);
};

/** In the order of the datamart. */
export const tableOwnerships = (datamart: Datamart, keys: UniqueKeys): readonly TableOwnership[] =>
  datamart.tables.map((table) => ({ table, tenancy: ownershipOf(datamart, table, keys) }));

/** Tables of which the datasource's keys say whose their rows are: neither declared, nor clear without them. */
export const undeclaredTables = (datamart: Datamart): readonly DatamartTable[] =>
  datamart.tenancy?.tenancyLevel === 'TABLE'
    ? tableOwnerships(datamart, () => []).flatMap(({ table, tenancy: { kind } }) =>
        kind === 'path' || kind === 'unreadable' ? [table] : [],
      )
    : [];

export const warningsOf = (ownerships: readonly TableOwnership[]): readonly TenancyWarning[] =>
  ownerships.flatMap(({ table, tenancy }) =>
    tenancy.kind === 'unreadable' ? [{ table: qualifiedName(table), message: tenancy.message }] : [],
  );
