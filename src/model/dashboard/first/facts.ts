/** What is known of the tables that a first dashboard is proposed for. Pure. */
import { noColumnRules, withColumnRules } from '../../datamart/column-rules.js';
import { type Datamart, type DatamartTable, findTable, type TableRef, tableKey } from '../../datamart/datamart.js';
import type { SourceTable } from '../../datamart/source-schema.js';
import type { TableOwnership } from '../../datamart/table-ownership.js';
import { type Roles, rolesOf } from './roles.js';

export type TableFacts = {
  readonly table: DatamartTable;
  readonly source: SourceTable;
  readonly roles: Roles;
  /** Whether rows of the table belong to a tenant; false: the table is shared. */
  readonly isOwned: boolean;
  /** Whether it is the table of tenants: a tenant has one row in it. */
  readonly isTenants: boolean;
  /** Rows of the tenant that the dashboard is tried for. */
  readonly rows: number;
  /** Number of different values, by column. */
  readonly distinct: ReadonlyMap<string, number>;
  /** First and last date of each date column that has one. */
  readonly spans: ReadonlyMap<string, { readonly from: string; readonly to: string }>;
};

export type Facts = {
  /** Ids of the tenants with the most rows, most first; at most three. */
  readonly tenants: readonly string[];
  readonly tables: readonly TableFacts[];
};

export const factsOf = ({ tables }: Facts, ref: TableRef): TableFacts | undefined =>
  tables.find(({ table }) => tableKey(table) === tableKey(ref));

/** More values than one chart shows, so that a chart of them names the greatest ones. */
const unknownValues = 20;

/** An enum tells its values by its type, as databases write it. */
const valuesOf = ({ columns }: DatamartTable, name: string): number => {
  const column = columns.find(({ columnName }) => columnName === name);
  if (column?.kind === 'boolean') return 2;
  const values = column?.kind === 'enum' ? column.datatype.match(/'(?:[^']|'')*'/g) : null;
  return values?.length ?? unknownValues;
};

const unknownSpan = { from: '', to: '' };

export type FindSource = (table: TableRef) => SourceTable | undefined;

type ShownTable = Pick<TableFacts, 'table' | 'source' | 'roles' | 'isOwned' | 'isTenants'> &
  Pick<TableOwnership, 'tenancy'>;

/**
 * The tables that a dashboard may show, with their roles. Tables that no query reads are left out, and so is what the
 * datamart hides, also by `through`.
 */
export const shownTables = (
  datamart: Datamart,
  owned: readonly TableOwnership[],
  find: FindSource,
): readonly ShownTable[] => {
  const readable = withColumnRules(datamart, noColumnRules);
  return owned.flatMap(({ table: stored, tenancy }): readonly ShownTable[] => {
    const table = findTable(readable, stored) ?? stored;
    const source = find(table);
    if (source === undefined || tenancy.kind === 'unreadable' || table.isHide) return [];
    const shown = { ...table, columns: table.columns.filter(({ isHide }) => !isHide) };
    const roles = rolesOf(datamart, shown, source.primaryKey);
    const isOwned = tenancy.kind !== 'shared';
    return [{ table: shown, source, roles, tenancy, isOwned, isTenants: tenancy.kind === 'master' }];
  });
};

/**
 * Facts from definitions and the catalog alone, without reading a row: each text may name groups, and each date has
 * values.
 */
export const factsWithoutRows = (datamart: Datamart, owned: readonly TableOwnership[], find: FindSource): Facts => ({
  tenants: [],
  tables: shownTables(datamart, owned, find).map(({ tenancy: _, ...shown }) => ({
    ...shown,
    rows: Math.max(1, shown.source.estimatedRows ?? 1),
    distinct: new Map(shown.roles.categories.map((name) => [name, valuesOf(shown.table, name)])),
    spans: new Map(shown.roles.dates.map((name) => [name, unknownSpan])),
  })),
});
