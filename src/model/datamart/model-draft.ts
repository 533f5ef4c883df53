/**
 * The datamart that is proposed for the tables of a datasource: every table whose rows have a tenant, and the tables
 * that the operator shares. Every other table is left out, with the reason. Pure.
 */
import { isContact, isPerson, wordsOf } from './column-names.js';
import {
  type BaseFilter,
  type ColumnRef,
  type Datamart,
  type DatamartTable,
  qualifiedName,
  type Relationship,
  sameColumn,
  sameTable,
  type TableRef,
  type Through,
} from './datamart.js';
import { columnKind, isOfKind } from './datatypes.js';
import { amountsWithin } from './money.js';
import type { ProposedAmount } from './proposed-amounts.js';
import { choosePaths, singleWays, type WayToTenant, waysToTenant } from './proposed-ways.js';
import { clientColumnOf, labelColumnOf, type ProposedRelationship } from './source-proposals.js';
import type { SourceTable } from './source-schema.js';
import { type TableOwnership, tableOwnerships } from './table-ownership.js';

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
  /** The tables that tenants read through a bridge. Their other columns are not in the draft. */
  readonly bridges: readonly TakenBridge[];
  readonly baseFilters: readonly TakenBaseFilter[];
  readonly amounts: readonly TakenAmount[];
};

export type TakenBridge = TableRef & { readonly through: Through };
export type TakenBaseFilter = TableRef & { readonly filter: BaseFilter };
type TakenAmount = ColumnRef & Pick<ProposedAmount, 'numbers' | 'label'>;

export type LeftOut = {
  readonly table: SourceTable;
  readonly reason: string;
  /** Whether tables with a tenant refer to it by a key, so that it may be a list for all tenants. */
  readonly isLookup: boolean;
  /** Whether its rows belong to tenants, but it is not clear to which. Then it must not be shared. */
  readonly mayHaveTenants: boolean;
  /** Where several ways lead to a tenant: the ways, the best first. */
  readonly ways: readonly WayToTenant[];
  /** Whether the best way may be proposed. False: several of its columns refer to the tenants in different roles. */
  readonly isOpen: boolean;
};

export type Draft = {
  readonly datamart: Datamart;
  readonly owned: readonly TableOwnership[];
  /** Relationships that are left out, since another way leads between the same tables. */
  readonly secondWays: readonly ProposedRelationship[];
  readonly leftOut: readonly LeftOut[];
  /** Columns that are left out of the tables that are in: `table.column`, with the reason. */
  readonly leftOutColumns: readonly { readonly column: string; readonly reason: string }[];
};

/** Columns whose values nobody wants in a chart, and nobody should find there. */
const secretWords = new Set(['password', 'passwd', 'secret', 'token', 'hash', 'salt', 'ssn', 'iban', 'cvv', 'otp']);

/** Why a new datamart leaves the column out; null: it does not. */
export const whyHidden = (column: SourceTable['columns'][number]): string | null => {
  const { columnName, datatype } = column;
  if (wordsOf(columnName).some((word) => secretWords.has(word))) return 'named like a secret';
  const kind = columnKind(column);
  return kind === undefined || kind === 'opaque' || kind === 'other' || kind === 'json'
    ? `of a type that charts show as text only (${datatype})`
    : null;
};

type Declared = Pick<DatamartTable, 'clientColumn' | 'tenancyPath' | 'through' | 'baseFilters'>;

const tableOf = (
  table: SourceTable,
  declared: Declared,
  keep: ReadonlySet<string>,
  amounts: readonly TakenAmount[],
): DatamartTable => ({
  schemaName: table.schemaName,
  tableName: table.tableName,
  label: '',
  ...declared,
  isHide: false,
  columns: table.columns
    .filter((column) => {
      if (keep.has(column.columnName)) return true;
      return declared.through == null
        ? whyHidden(column) === null
        : declared.through.columns.includes(column.columnName);
    })
    .map(({ columnName, datatype, kind }) => {
      const amount = amounts.find((one) => sameColumn(one, { ...table, columnName }));
      return {
        ...{ columnName, datatype, kind, alias: '', label: amount?.label ?? '', isHide: false, isApplyTimezone: false },
        ...(amount === undefined ? {} : { numbers: amount.numbers }),
      };
    }),
});

const reasons: Readonly<Record<string, string>> = {
  'no-owner': 'no column and no foreign key says which tenant its rows belong to',
  'several-paths': 'several ways lead from it to a tenant',
  'cardinality-unknown':
    'no key says that its relationships lead to one tenant: declare the cardinality in the datamart',
  'key-within-client': 'its relationship joins by a key that is unique within one tenant only',
  cycle: 'its relationships lead in a circle and to no tenant',
};
/** In few words, why nobody owns the rows of a table. */
export const whyNobodys = ({
  reason,
  message,
}: {
  readonly reason: string | null;
  readonly message: string | null;
}): string => (reason === null ? undefined : reasons[reason]) ?? message ?? '';

/** Whether rows of the table are people, or tell about them: no list for all tenants, whatever refers to it. */
const isAboutPeople = ({ tableName, columns }: SourceTable): boolean =>
  isPerson(tableName) || columns.some(({ columnName }) => isContact(columnName));

/** Why no way leads from a table to a tenant: its rows may be for all. */
const tenantless = new Set(['no-owner', 'cycle']);
export const severalColumns = 'several of its columns refer to the tenants, and each may be another role';

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

/** A table's client column: the one of the chosen relationship, where that leads to the tenants themselves. */
const ownColumn = (
  table: SourceTable,
  relationships: readonly ProposedRelationship[],
  { tenantTable, keyColumn, clientColumn, paths }: Choices,
): ReturnType<typeof clientColumnOf> => {
  const chosen = relationships.find(({ relationshipName }) => relationshipName === paths.get(qualifiedName(table)));
  if (chosen !== undefined && sameColumn(chosen.child, { ...tenantTable, columnName: keyColumn }))
    return chosen.parent.columnName;
  return clientColumnOf(table, { table: tenantTable, keyColumn, clientColumn }, relationships);
};

export const draftDatamart = (
  tables: readonly SourceTable[],
  relationships: readonly ProposedRelationship[],
  choices: Choices,
): Draft => {
  const isTenants = (table: TableRef): boolean => sameTable(table, choices.tenantTable);
  const isShared = (table: TableRef): boolean => choices.shared.includes(qualifiedName(table)) && !isTenants(table);
  const bridgeOf = (table: TableRef) => choices.bridges.find((one) => sameTable(one, table))?.through ?? null;
  const columnFor = (table: SourceTable) =>
    isTenants(table) || isShared(table) || bridgeOf(table) !== null ? null : ownColumn(table, relationships, choices);
  const clear = tables.filter((table) => columnFor(table) !== 'several');
  const amounts = amountsWithin(choices.amounts, {
    master: choices.tenantTable,
    isOwned: (table) => !isShared(table) && bridgeOf(table) === null,
    isListed: (column) => bridgeOf(column)?.columns.includes(column.columnName) !== false,
  });
  const full: Datamart = {
    id: choices.name,
    name: choices.name,
    datasourceId: choices.name,
    tenancy: tenancyOf(choices),
    tables: clear.map((table) => {
      const clientColumn = columnFor(table);
      const through = bridgeOf(table);
      const isDerived = clientColumn === null && through === null;
      const tenancyPath = isDerived ? (choices.paths.get(qualifiedName(table)) ?? null) : null;
      const baseFilters = choices.baseFilters.filter((one) => sameTable(one, table)).map(({ filter }) => filter);
      const declared = { clientColumn, tenancyPath, through, baseFilters };
      return tableOf(table, declared, neededColumns(table, choices, relationships), amounts);
    }),
    relationships: relationships
      .filter(({ parent, child }) => among(clear, parent) && among(clear, child))
      .map(plainRelationship),
    sharedTables: tables.filter(isShared).map(qualifiedName),
    createdAt: new Date(0),
    updatedAt: new Date(0),
  };
  return withoutUnreadable(tables, relationships, full);
};

const plainRelationship = ({
  relationshipName,
  parent,
  child,
  cardinality,
  join,
}: ProposedRelationship): Relationship => ({ relationshipName, parent, child, cardinality, join });

const withoutUnreadable = (
  tables: readonly SourceTable[],
  relationships: readonly ProposedRelationship[],
  full: Datamart,
): Draft => {
  const owned = tableOwnerships(full, keysOf(tables));
  const readable = owned.filter(({ tenancy }) => tenancy.kind !== 'unreadable');
  const kept = readable.map(({ table }) => table);
  const isLookup = (table: TableRef): boolean =>
    full.relationships.some(({ parent, child }) => sameTable(child, table) && among(kept, parent));
  const between = relationships.filter(({ parent, child }) => among(kept, parent) && among(kept, child));
  const single = singleWays(between, { tables, owned: readable, tenancy: full.tenancy });
  const datamart = {
    ...full,
    tables: kept.map((table) => withLeftOut(table, tables)),
    relationships: single.map(plainRelationship),
  };
  return {
    datamart,
    owned: readable,
    secondWays: between.filter((one) => !single.includes(one)),
    leftOut: tables
      .filter((table) => !among(kept, table))
      .map((table) => ({ table, isLookup: isLookup(table), ...whyLeftOut(table, tables, relationships, full, owned) })),
    leftOutColumns: tables.filter((table) => among(kept, table)).flatMap((table) => hiddenColumns(table, datamart)),
  };
};

/** The table that knows which columns of the database it left out, so that a later comparison does not offer them as new. */
const withLeftOut = (table: DatamartTable, sources: readonly SourceTable[]): DatamartTable => {
  const source = sources.find((one) => sameTable(one, table));
  const listed = new Set(table.columns.map(({ columnName }) => columnName));
  const leftOut = source?.columns.flatMap(({ columnName }) => (listed.has(columnName) ? [] : [columnName])) ?? [];
  return leftOut.length === 0 ? table : { ...table, leftOut };
};

const whyLeftOut = (
  table: SourceTable,
  tables: readonly SourceTable[],
  relationships: readonly ProposedRelationship[],
  full: Datamart,
  owned: readonly TableOwnership[],
): Pick<LeftOut, 'reason' | 'mayHaveTenants' | 'ways' | 'isOpen'> => {
  const tenancy = owned.find((one) => sameTable(one.table, table))?.tenancy;
  const from = relationships.filter(({ parent }) => sameTable(parent, table));
  // Not in the datamart at all: several columns refer to the tenants.
  if (tenancy?.kind !== 'unreadable') {
    const { tenancy: level } = full;
    const ways = from.filter(({ child }) => level?.tenancyLevel === 'TABLE' && sameTable(child, level));
    return {
      reason: severalColumns,
      mayHaveTenants: true,
      isOpen: false,
      ways: waysToTenant(table, ways, tables, owned),
    };
  }
  return {
    reason: whyNobodys(tenancy),
    mayHaveTenants: !tenantless.has(tenancy.reason) || isAboutPeople(table),
    isOpen: tenancy.reason === 'several-paths',
    ways: tenancy.reason === 'several-paths' ? waysToTenant(table, from, tables, owned) : [],
  };
};

/** Of a table that is read through a bridge: none, since its columns are named. */
const hiddenColumns = (table: SourceTable, { tables }: Datamart): Draft['leftOutColumns'] => {
  const found = tables.find((one) => sameTable(one, table));
  if (found?.through != null) return [];
  const listed = found?.columns.map(({ columnName }) => columnName) ?? [];
  return table.columns
    .filter(({ columnName }) => !listed.includes(columnName))
    .map((column) => ({ column: `${table.tableName}.${column.columnName}`, reason: whyHidden(column) ?? '' }));
};

/** The draft in which each table with several ways to a tenant follows the best one, unless `given` names another. */
export const draftByBestWays = (
  tables: readonly SourceTable[],
  relationships: readonly ProposedRelationship[],
  { paths: given, ...choices }: Choices,
): Draft & { readonly paths: ReadonlyMap<string, string> } => {
  const draftFor = (paths: ReadonlyMap<string, string>): Draft =>
    draftDatamart(tables, relationships, { ...choices, paths });
  const paths = choosePaths(given, (known) =>
    draftFor(known)
      .leftOut.filter(({ isOpen }) => isOpen)
      .map(({ table, ways }) => ({ name: qualifiedName(table), ways })),
  );
  return { ...draftFor(paths), paths };
};
