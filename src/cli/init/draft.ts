/**
 * The datamart that `init` proposes: every table whose rows have a tenant, and the tables that the operator shares.
 * Every other table is left out, with the reason. Pure.
 */
import { wordsOf } from '../../model/datamart/column-names.js';
import {
  type Datamart,
  type DatamartTable,
  qualifiedName,
  sameTable,
  type TableRef,
} from '../../model/datamart/datamart.js';
import { columnKind, isOfKind } from '../../model/datamart/datatypes.js';
import { clientColumnOf, labelColumnOf, type ProposedRelationship } from '../../model/datamart/source-proposals.js';
import type { SourceTable } from '../../model/datamart/source-schema.js';
import { type TableOwnership, tableOwnerships } from '../../model/datamart/table-ownership.js';

export type Choices = {
  readonly name: string;
  readonly tenantTable: SourceTable;
  readonly keyColumn: string;
  /** The column of other tables that holds a tenant; undefined: their foreign key to the tenants. */
  readonly clientColumn: string | undefined;
  /** Names (`schema.table`) of the tables whose rows are for all tenants. */
  readonly shared: readonly string[];
  /** The relationship that says whose the rows are, by the name of the table, where several lead to a tenant. */
  readonly paths: ReadonlyMap<string, string>;
};

/** A relationship that leads from a table to one with a tenant. */
export type Way = { readonly relationshipName: string; readonly text: string };

export type LeftOut = {
  readonly table: SourceTable;
  readonly reason: string;
  /** Whether tables with a tenant refer to it by a key, so that it may be a list for all tenants. */
  readonly isLookup: boolean;
  /** Whether its rows belong to tenants, but it is not clear to which. Then it must not be shared. */
  readonly mayHaveTenants: boolean;
  /** Where several ways lead to a tenant: the ways. */
  readonly ways: readonly Way[];
};

export type Draft = {
  readonly datamart: Datamart;
  readonly leftOut: readonly LeftOut[];
  /** Columns that are left out of the tables that are in: `table.column`, with the reason. */
  readonly leftOutColumns: readonly { readonly column: string; readonly reason: string }[];
};

/** Columns whose values nobody wants in a chart, and nobody should find there. */
const secretWords = new Set(['password', 'passwd', 'secret', 'token', 'hash', 'salt', 'ssn', 'iban', 'cvv', 'otp']);

const whyHidden = (column: SourceTable['columns'][number]): string | null => {
  const { columnName, datatype } = column;
  if (wordsOf(columnName).some((word) => secretWords.has(word))) return 'named like a secret';
  const kind = columnKind(column);
  return kind === undefined || kind === 'opaque' || kind === 'other' || kind === 'json'
    ? `of a type that charts show as text only (${datatype})`
    : null;
};

const tableOf = (
  table: SourceTable,
  { clientColumn, tenancyPath }: Pick<DatamartTable, 'clientColumn' | 'tenancyPath'>,
  keep: ReadonlySet<string>,
): DatamartTable => ({
  schemaName: table.schemaName,
  tableName: table.tableName,
  label: '',
  clientColumn,
  tenancyPath,
  isHide: false,
  columns: table.columns
    .filter((column) => keep.has(column.columnName) || whyHidden(column) === null)
    .map(({ columnName, datatype, kind }) => ({
      columnName,
      datatype,
      kind,
      alias: '',
      label: '',
      isHide: false,
      isApplyTimezone: false,
    })),
});

const reasons: Readonly<Record<string, string>> = {
  'no-owner': 'no column and no foreign key says which tenant its rows belong to',
  'several-paths': 'several ways lead from it to a tenant: set its tenancyPath in the datamart',
  'cardinality-unknown':
    'no key says that its relationships lead to one tenant: declare the cardinality in the datamart',
  'key-within-client': 'its relationship joins by a key that is unique within one tenant only',
  cycle: 'its relationships lead in a circle and to no tenant',
};
/** Why no way leads from a table to a tenant: its rows may be for all. */
const tenantless = new Set(['no-owner', 'cycle']);
const severalColumns = 'several of its columns refer to the tenants, and each may be another role';

const tenancyOf = ({ tenantTable, keyColumn }: Choices): NonNullable<Datamart['tenancy']> => {
  const key = tenantTable.columns.find(({ columnName }) => columnName === keyColumn);
  return {
    tenancyLevel: 'TABLE',
    clientColumnType: isOfKind(key, 'integer') ? 'NUMBER' : 'STRING',
    schemaName: tenantTable.schemaName,
    tableName: tenantTable.tableName,
    tableClientNameColumn: labelColumnOf(tenantTable) ?? keyColumn,
    tablePrimaryKeyColumn: keyColumn,
  };
};

const keysOf = (tables: readonly SourceTable[]) => (ref: TableRef) => {
  const found = tables.find((table) => sameTable(table, ref));
  return found === undefined ? [] : [found.primaryKey, ...found.uniqueKeys].filter((key) => key.length > 0);
};

const among = (tables: readonly TableRef[], ref: TableRef): boolean => tables.some((table) => sameTable(table, ref));

/** The columns that joins and tenancy need, whatever their types. */
const neededColumns = (table: SourceTable, choices: Choices, relationships: readonly ProposedRelationship[]) =>
  new Set([
    ...relationships.flatMap(({ parent, child }) =>
      [parent, child].filter((end) => sameTable(end, table)).map(({ columnName }) => columnName),
    ),
    ...(sameTable(table, choices.tenantTable) ? [choices.keyColumn] : []),
  ]);

export const draftDatamart = (
  tables: readonly SourceTable[],
  relationships: readonly ProposedRelationship[],
  choices: Choices,
): Draft => {
  const tenants = { table: choices.tenantTable, keyColumn: choices.keyColumn, clientColumn: choices.clientColumn };
  const isTenants = (table: TableRef): boolean => sameTable(table, choices.tenantTable);
  const isShared = (table: TableRef): boolean => choices.shared.includes(qualifiedName(table)) && !isTenants(table);
  const columnFor = (table: SourceTable) =>
    isTenants(table) || isShared(table) ? null : clientColumnOf(table, tenants, relationships);
  // Tables that name their tenant need no relationship to it. With several ways to a tenant, it would be a second way
  // between two other tables, and no metric could join them.
  const isNeeded = (child: TableRef): boolean => choices.paths.size === 0 || !isTenants(child);
  const clear = tables.filter((table) => columnFor(table) !== 'several');
  const full: Datamart = {
    id: choices.name,
    name: choices.name,
    datasourceId: choices.name,
    tenancy: tenancyOf(choices),
    tables: clear.map((table) => {
      const owner = { clientColumn: columnFor(table), tenancyPath: choices.paths.get(qualifiedName(table)) ?? null };
      return tableOf(table, owner, neededColumns(table, choices, relationships));
    }),
    relationships: relationships
      .filter(({ parent, child }) => among(clear, parent) && among(clear, child) && isNeeded(child))
      .map(({ relationshipName, parent, child, cardinality, join }) => ({
        relationshipName,
        parent,
        child,
        cardinality,
        join,
      })),
    sharedTables: tables.filter(isShared).map(qualifiedName),
    createdAt: new Date(0),
    updatedAt: new Date(0),
  };
  return withoutUnreadable(tables, full);
};

const withoutUnreadable = (tables: readonly SourceTable[], full: Datamart): Draft => {
  const owned = tableOwnerships(full, keysOf(tables));
  const kept = owned.filter(({ tenancy }) => tenancy.kind !== 'unreadable').map(({ table }) => table);
  const isLookup = (table: TableRef): boolean =>
    full.relationships.some(({ parent, child }) => sameTable(child, table) && among(kept, parent));
  const datamart = {
    ...full,
    tables: kept,
    relationships: full.relationships.filter(({ parent, child }) => among(kept, parent) && among(kept, child)),
  };
  return {
    datamart,
    leftOut: tables
      .filter((table) => !among(kept, table))
      .map((table) => ({ table, isLookup: isLookup(table), ...whyLeftOut(table, full, owned) })),
    leftOutColumns: tables.filter((table) => among(kept, table)).flatMap((table) => hiddenColumns(table, datamart)),
  };
};

const whyLeftOut = (
  table: SourceTable,
  full: Datamart,
  owned: readonly TableOwnership[],
): Pick<LeftOut, 'reason' | 'mayHaveTenants' | 'ways'> => {
  const tenancy = owned.find((one) => sameTable(one.table, table))?.tenancy;
  // Not in the datamart at all: several columns refer to the tenants.
  if (tenancy?.kind !== 'unreadable') return { reason: severalColumns, mayHaveTenants: true, ways: [] };
  return {
    reason: reasons[tenancy.reason] ?? tenancy.message,
    mayHaveTenants: !tenantless.has(tenancy.reason),
    ways: tenancy.reason === 'several-paths' ? waysFrom(table, full, owned) : [],
  };
};

const waysFrom = (table: SourceTable, full: Datamart, owned: readonly TableOwnership[]): readonly Way[] => {
  const hasTenant = (ref: TableRef): boolean =>
    owned.some((one) => sameTable(one.table, ref) && (one.tenancy.kind === 'column' || one.tenancy.kind === 'path'));
  return full.relationships
    .filter(({ parent, child, cardinality }) => sameTable(parent, table) && cardinality !== null && hasTenant(child))
    .map(({ relationshipName, parent, child }) => ({
      relationshipName,
      text: `${parent.columnName} → ${child.tableName}`,
    }));
};

const hiddenColumns = (table: SourceTable, { tables }: Datamart): Draft['leftOutColumns'] => {
  const listed = tables.find((one) => sameTable(one, table))?.columns.map(({ columnName }) => columnName) ?? [];
  return table.columns
    .filter(({ columnName }) => !listed.includes(columnName))
    .map((column) => ({ column: `${table.tableName}.${column.columnName}`, reason: whyHidden(column) ?? '' }));
};
