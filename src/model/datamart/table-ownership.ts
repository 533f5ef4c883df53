/**
 * Which client the rows of a datamart's tables belong to, at every tenancy level. Used to warn operators and to refuse
 * queries.
 */
import { type Datamart, type DatamartTable, qualifiedName, type TableRef } from './datamart.js';
import { type TableTenancy, tableTenancy } from './table-tenancy.js';
import { isListedAsShared, type UniqueKeys } from './tenancy-steps.js';
import type { UnreadableReason } from './unreadable-table.js';

export type Ownership =
  | Exclude<TableTenancy, { readonly kind: 'unreadable' }>
  /** The table is in the client's own database, and all of its rows belong to the client. */
  | { readonly kind: 'database' }
  /** The datamart does not separate clients. */
  | { readonly kind: 'none' }
  | {
      readonly kind: 'unreadable';
      readonly reason: UnreadableReason | 'primary-table-not-shared';
      readonly message: string;
    };

export type TableOwnership = { readonly table: DatamartTable; readonly tenancy: Ownership };

/**
 * A table on which every query is refused. `table` is `schema.table`; `message` says what is missing and how to fix it.
 */
export type TenancyWarning = { readonly table: string; readonly message: string };

/**
 * Returns why every query on a table of the primary database is refused, unless the table is listed in `sharedTables`.
 */
export const primaryTableUnshared = (table: TableRef) => ({
  kind: 'unreadable' as const,
  reason: 'primary-table-not-shared' as const,
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

/** Returns the ownership of each table, in the datamart's order. */
export const tableOwnerships = (datamart: Datamart, keys: UniqueKeys): readonly TableOwnership[] =>
  datamart.tables.map((table) => ({ table, tenancy: ownershipOf(datamart, table, keys) }));

/** Returns the tables whose tenancy is not declared and depends on the datasource's keys. */
export const undeclaredTables = (datamart: Datamart): readonly DatamartTable[] =>
  datamart.tenancy?.tenancyLevel === 'TABLE'
    ? tableOwnerships(datamart, () => []).flatMap(({ table, tenancy: { kind } }) =>
        kind === 'path' || kind === 'unreadable' ? [table] : [],
      )
    : [];

/** Returns a warning for each table on which every query is refused. */
export const warningsOf = (ownerships: readonly TableOwnership[]): readonly TenancyWarning[] =>
  ownerships.flatMap(({ table, tenancy }) =>
    tenancy.kind === 'unreadable' ? [{ table: qualifiedName(table), message: tenancy.message }] : [],
  );

/** An ownership in words and names, for the interface and for Studio. */
export type DescribedOwnership = {
  /** `schema.table`. */
  readonly table: string;
  readonly kind: Ownership['kind'];
  /** The column that holds the clientId, in this table or in the last table of the path. */
  readonly clientColumn: { readonly table: string; readonly column: string } | null;
  readonly path: readonly {
    readonly relationshipName: string;
    readonly fromTable: string;
    readonly fromColumn: string;
    readonly toTable: string;
    readonly toColumn: string;
  }[];
  /** Of an unreadable table. */
  readonly reason: string | null;
  readonly message: string | null;
};

const clientColumnOf = ({ table, tenancy }: TableOwnership): DescribedOwnership['clientColumn'] => {
  if (tenancy.kind === 'path' || tenancy.kind === 'bridge')
    return { table: qualifiedName(tenancy.owner), column: tenancy.owner.columnName };
  if (tenancy.kind !== 'column' && tenancy.kind !== 'master') return null;
  return { table: qualifiedName(table), column: tenancy.columnName };
};

export const describeOwnership = (ownership: TableOwnership): DescribedOwnership => {
  const { table, tenancy } = ownership;
  const steps = tenancy.kind === 'path' || tenancy.kind === 'bridge' ? tenancy.steps : [];
  return {
    table: qualifiedName(table),
    kind: tenancy.kind,
    clientColumn: clientColumnOf(ownership),
    path: steps.map(({ relationshipName, near, far }) => ({
      relationshipName,
      fromTable: qualifiedName(near),
      fromColumn: near.columnName,
      toTable: qualifiedName(far),
      toColumn: far.columnName,
    })),
    reason: tenancy.kind === 'unreadable' ? tenancy.reason : null,
    message: tenancy.kind === 'unreadable' ? tenancy.message : null,
  };
};
