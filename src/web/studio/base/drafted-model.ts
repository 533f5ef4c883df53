/** What a new model becomes as it is described: as the diagram shows it, and as the service takes it. */
import { labelOf } from '../../../model/datamart/column-names.js';
import { amountsWithin } from '../../../model/datamart/money.js';
import type { WayToTenant } from '../../../model/datamart/proposed-ways.js';
import type { OperationInput } from './api.js';
import { plainColumn, type Relationship, type StoredModel } from './model-edit.js';
import { type Keys, keysOf } from './model-tenancy.js';
import type { Catalogue, SourceTable } from './source-tables.js';

export type Proposals = Catalogue['proposals'];
type Through = Proposals['bridges'][number]['through'];

/** Whose rows a table holds: by a column, by relationships to such a table, by rows that refer to them, or everybody's. */
export type Ownership =
  | { readonly kind: 'column'; readonly column: string }
  | { readonly kind: 'through'; readonly through: Through }
  | { readonly kind: 'related' }
  | { readonly kind: 'shared' };

export type TableDraft = {
  readonly table: SourceTable;
  readonly isUsed: boolean;
  /** Whether a person wants the table. Null: it is used if somebody owns its rows. */
  readonly wanted: boolean | null;
  /** Why nobody owns the rows of the table, as things are chosen. Null: somebody does, or nobody wants the table. */
  readonly leftOut: string | null;
  /** Columns that a new model leaves out, with the reason: secrets, and what charts cannot show. */
  readonly hidden: readonly { readonly columnName: string; readonly reason: string }[];
  readonly label: string;
  readonly ownership: Ownership;
  /** The relationships that lead to a tenant, the best first. Fewer than two: there is nothing to choose. */
  readonly ways: readonly WayToTenant[];
  /** Of several, the one that a person chose. Null: the best. */
  readonly chosenWay: string | null;
  /** The one of several that says whose the rows are. */
  readonly tenancyPath: string | null;
  /** How several tenants could read the rows, as the service proposes it. Never taken without a person's word. */
  readonly bridge: Proposals['bridges'][number] | null;
  readonly baseFilters: readonly (Proposals['baseFilters'][number] & { readonly isUsed: boolean })[];
  readonly amounts: readonly (Proposals['amounts'][number] & { readonly isUsed: boolean })[];
};

export type ModelDraft = {
  readonly source: string;
  readonly name: string;
  /** The table with one row for each tenant. Null: not chosen yet. */
  readonly tenants: { readonly table: string; readonly key: string; readonly name: string } | null;
  /** The table of tenants that was proposed: amounts may be in a currency that it names. */
  readonly proposedTenants: Pick<SourceTable, 'schemaName' | 'tableName'> | null;
  readonly tables: readonly TableDraft[];
  readonly relationships: readonly {
    readonly relationship: Relationship;
    readonly reason: string;
    readonly isUsed: boolean;
  }[];
};

export const qualified = ({ schemaName, tableName }: Pick<SourceTable, 'schemaName' | 'tableName'>): string =>
  `${schemaName}.${tableName}`;

/** The keys of the draft's source. */
export const keysOfDraft = ({ tables }: ModelDraft): Keys => keysOf({ tables: tables.map(({ table }) => table) });

/** The model that the draft becomes, as the diagram shows it. */
export const storedOf = (draft: ModelDraft): StoredModel => {
  const used = usedTables(draft);
  const names = new Set(used.map(({ table }) => qualified(table)));
  const master = used.find(({ table }) => qualified(table) === draft.tenants?.table)?.table;
  return {
    ...{ name: draft.name, updatedAt: '', companyIntegration: { name: draft.source } },
    datamartOrganization:
      master === undefined || draft.tenants === null
        ? null
        : {
            ...{ tenancyLevel: 'TABLE', clientColumnType: typeOf(draft), primaryDatabase: null },
            ...{ schemaName: master.schemaName, tableName: master.tableName },
            tableClientNameColumn: draft.tenants.name,
            tablePrimaryKeyColumn: draft.tenants.key,
          },
    datamartTables: used.map(({ table, hidden, label, ownership, tenancyPath, baseFilters, amounts }) => ({
      ...{ schemaName: table.schemaName, tableName: table.tableName, label },
      clientColumn: ownership.kind === 'column' ? ownership.column : null,
      ...rowsOf({ ownership, baseFilters }),
      tenancyPath: ownership.kind === 'related' ? tenancyPath : null,
      ...{ isHide: false, wildcard: null },
      datamartTableColumns: shownColumns(draft, { table, hidden, ownership }).map(({ columnName, datatype }) => ({
        ...plainColumn,
        ...{ columnName, datatype },
        ...wordsOf(columnName, amountsOf(draft, { ownership, amounts })),
      })),
    })),
    datamartRelationships: draft.relationships
      .filter(
        ({ isUsed, relationship: { parentTableName, childTableName } }) =>
          isUsed && names.has(parentTableName) && names.has(childTableName),
      )
      .map(({ relationship }) => ({ ...relationship, join: null })),
    sharedTables: used.filter(({ ownership }) => ownership.kind === 'shared').map(({ table }) => qualified(table)),
  };
};

/** The columns without hidden ones that nothing needs: joins and tenancy may be by columns of any type. */
const shownColumns = (
  { relationships, tenants }: Pick<ModelDraft, 'relationships' | 'tenants'>,
  { table, hidden, ownership }: Pick<TableDraft, 'table' | 'hidden' | 'ownership'>,
): SourceTable['columns'] => {
  const name = qualified(table);
  const needed = new Set([
    ...relationships.flatMap(({ relationship: one }) => [
      ...(one.parentTableName === name ? [one.parentColumnName] : []),
      ...(one.childTableName === name ? [one.childColumnName] : []),
    ]),
    ...(tenants?.table === name ? [tenants.key, tenants.name] : []),
    ...(ownership.kind === 'column' ? [ownership.column] : []),
    ...(ownership.kind === 'through' ? ownership.through.columns : []),
  ]);
  const isHidden = (columnName: string): boolean => hidden.some((one) => one.columnName === columnName);
  return table.columns.filter(({ columnName }) => needed.has(columnName) || !isHidden(columnName));
};

/** Columns that are left out on purpose, so that they are not offered as new ones later. */
const leftOutOf = (draft: ModelDraft, one: Pick<TableDraft, 'table' | 'hidden' | 'ownership'>) => {
  const shown = shownColumns(draft, one).map(({ columnName }) => columnName);
  const leftOut = one.hidden.map(({ columnName }) => columnName).filter((name) => !shown.includes(name));
  return leftOut.length === 0 ? {} : { leftOut };
};

/**
 * The amounts of a table that are taken. The tenant's currency is that of the proposed table of tenants, and of rows that
 * belong to one tenant.
 */
const amountsOf = (
  { proposedTenants, tenants }: Pick<ModelDraft, 'proposedTenants' | 'tenants'>,
  { ownership, amounts }: Pick<TableDraft, 'ownership' | 'amounts'>,
): TableDraft['amounts'] => {
  const { kind } = ownership;
  const isListed = ({ columnName }: { readonly columnName: string }): boolean =>
    kind !== 'through' || ownership.through.columns.includes(columnName);
  const used = amounts.filter((one) => one.isUsed && isListed(one));
  const master =
    proposedTenants !== null && tenants?.table === qualified(proposedTenants) ? proposedTenants : undefined;
  return amountsWithin(used, { master, isOwned: () => kind !== 'shared' && kind !== 'through', isListed });
};

/** The label of a column, and what its numbers are. */
const wordsOf = (columnName: string, amounts: TableDraft['amounts']) => {
  const amount = amounts.find((one) => one.columnName === columnName);
  return {
    label: amount?.label ?? labelOf(columnName),
    ...(amount === undefined ? {} : { numbers: amount.numbers }),
  };
};

/** The bridge and the base filters of a table, as a model has them. */
const rowsOf = ({ ownership, baseFilters }: Pick<TableDraft, 'ownership' | 'baseFilters'>) => {
  const filters = baseFilters.filter(({ isUsed }) => isUsed).map(({ filter }) => filter);
  return {
    ...(ownership.kind === 'through' ? { through: ownership.through } : {}),
    ...(filters.length === 0 ? {} : { baseFilters: filters }),
  };
};

const usedTables = ({ tables }: ModelDraft): readonly TableDraft[] => tables.filter(({ isUsed }) => isUsed);

const typeOf = (draft: ModelDraft): 'NUMBER' | 'STRING' => {
  const { tenants, tables } = draft;
  const table = tables.find((one) => qualified(one.table) === tenants?.table)?.table;
  const kind = table?.columns.find(({ columnName }) => columnName === tenants?.key)?.kind;
  return kind === 'integer' || kind === 'number' ? 'NUMBER' : 'STRING';
};

/** What is missing before the model can be made. Null: nothing. */
export const faultOf = (draft: ModelDraft): string | null => {
  if (draft.name.trim() === '') return 'Give the model a name.';
  if (usedTables(draft).length === 0) return 'Choose at least one table.';
  if (draft.tenants === null) return 'Choose the table with one row for each tenant.';
  const { table: tenants } = draft.tenants;
  if (!usedTables(draft).some(({ table }) => qualified(table) === tenants)) return 'Use the table of the tenants too.';
  return null;
};

/** The new model, as the service takes it. */
export const bodyOf = (draft: ModelDraft): OperationInput<'createDatamart'> => {
  const used = usedTables(draft);
  const names = new Set(used.map(({ table }) => qualified(table)));
  const { tenants } = draft;
  const master = used.find(({ table }) => qualified(table) === tenants?.table)?.table;
  return {
    name: draft.name.trim(),
    datasourceName: draft.source,
    tableList: used.map(({ table, hidden, label, ownership, tenancyPath, baseFilters, amounts }) => ({
      name: table.tableName,
      schemaName: table.schemaName,
      label,
      ...(ownership.kind === 'column' ? { clientColumn: ownership.column } : {}),
      ...(ownership.kind === 'related' && tenancyPath !== null ? { tenancyPath } : {}),
      ...rowsOf({ ownership, baseFilters }),
      ...leftOutOf(draft, { table, hidden, ownership }),
      columns: shownColumns(draft, { table, hidden, ownership }).map(({ columnName }) => ({
        name: columnName,
        ...wordsOf(columnName, amountsOf(draft, { ownership, amounts })),
      })),
    })),
    ...(master === undefined || tenants === null
      ? {}
      : {
          tenancySettings: {
            tenancyLevel: 'TABLE',
            clientColumnType: typeOf(draft),
            schemaName: master.schemaName,
            tableName: master.tableName,
            tableClientNameColumn: tenants.name,
            tablePrimaryKeyColumn: tenants.key,
          },
        }),
    relationships: draft.relationships
      .filter(
        ({ isUsed, relationship: { parentTableName, childTableName } }) =>
          isUsed && names.has(parentTableName) && names.has(childTableName),
      )
      .map(({ relationship }) => relationship),
    sharedTables: used.filter(({ ownership }) => ownership.kind === 'shared').map(({ table }) => qualified(table)),
  };
};
