/** A new model as it is being described: pure functions from what a source has, and from what a person chooses. */
import { labelOf } from '../../../model/datamart/column-names.js';
import { qualifiedName } from '../../../model/datamart/datamart.js';
import { whyHidden } from '../../../model/datamart/model-draft.js';
import { proposeModel } from '../../../model/datamart/proposed-model.js';
import { clientColumnNames } from '../../../model/datamart/source-proposals.js';
import type { SourceTable as ModelSource } from '../../../model/datamart/source-schema.js';
import { type ModelDraft, type Ownership, type Proposals, qualified, type TableDraft } from './drafted-model.js';
import type { Relationship } from './model-edit.js';
import { settled } from './settled-draft.js';
import type { Catalogue, SourceTable } from './source-tables.js';

const hiddenIn = ({ columns }: SourceTable): TableDraft['hidden'] =>
  columns.flatMap((column) => {
    const reason = whyHidden(column);
    return reason === null ? [] : [{ columnName: column.columnName, reason }];
  });

/** The first draft: what the service proposes. Nothing is shared unless a person says so. */
export const proposedModel = (catalogue: Catalogue): ModelDraft => settled(everythingUsed(catalogue));

const refIn = (tables: readonly SourceTable[], name: string | null): SourceTable | null =>
  tables.find((table) => qualified(table) === name) ?? null;

type TenantTable = Proposals['tenantTables'][number];
type ClientColumns = Parameters<typeof clientColumnNames>[1]['clientColumns'];

/** Whose rows each table holds by its own column: its only one of these tenants, or the one of the most common name. */
const ownershipsFor = (tenant: TenantTable | undefined, clientColumns: ClientColumns) => {
  if (tenant === undefined) return (): Ownership => ({ kind: 'related' });
  const ofTenant = clientColumns.filter(
    (one) => one.tenantTable !== null && qualified(one.tenantTable) === qualified(tenant),
  );
  const [[common] = []] = clientColumnNames(tenant, { clientColumns: ofTenant });
  return (table: SourceTable): Ownership => {
    if (qualified(tenant) === qualified(table)) return { kind: 'column', column: tenant.keyColumn };
    const own = ofTenant.filter((one) => qualified(one) === qualified(table)).map(({ columnName }) => columnName);
    const column = own.length === 1 ? own[0] : own.find((one) => one === common);
    return column === undefined ? { kind: 'related' } : { kind: 'column', column };
  };
};

const everythingUsed = ({ name, tables, proposals }: Catalogue): ModelDraft => {
  const [tenant] = proposals.tenantTables;
  const ownershipOf = ownershipsFor(
    tenant,
    proposals.clientColumns.map((one) => ({ ...one, tenantTable: refIn(tables, one.tenantTable) })),
  );
  return {
    source: name,
    name,
    tenants:
      tenant === undefined
        ? null
        : { table: qualified(tenant), key: tenant.keyColumn, name: tenant.nameColumn ?? tenant.keyColumn },
    proposedTenants: tenant ?? null,
    tables: tables.map((table) => ({
      table,
      ...{ isUsed: true, wanted: null, leftOut: null, hidden: hiddenIn(table) },
      label: labelOf(table.tableName),
      ownership: ownershipOf(table),
      ...{ ways: [], chosenWay: null, tenancyPath: null },
      bridge: proposals.bridges.find((one) => qualified(one) === qualified(table)) ?? null,
      baseFilters: proposals.baseFilters
        .filter((one) => qualified(one) === qualified(table))
        .map((one) => ({ ...one, isUsed: one.isCertain })),
      amounts: proposals.amounts
        .filter((one) => qualified(one) === qualified(table))
        .map((one) => ({ ...one, isUsed: true })),
    })),
    relationships: proposals.relationships.map(({ relationship, reason, isSecondWay }) => ({
      relationship,
      reason: isSecondWay ? `${reason}; another way leads between these tables` : reason,
      isUsed: !isSecondWay,
    })),
  };
};

/** The draft in which the column at this place is an amount of money, or has its numbers as they are stored. */
export const withAmountUsed = (draft: ModelDraft, name: string, place: number, isUsed: boolean): ModelDraft => {
  const amounts = draft.tables.find(({ table }) => qualified(table) === name)?.amounts ?? [];
  return withTable(draft, name, { amounts: amounts.map((one, at) => (at === place ? { ...one, isUsed } : one)) });
};

/** The columns of a bridged table that a person decides about: names first, then e-mail addresses and the like. */
export const readableColumns = ({ through: { columns }, askedColumns }: Proposals['bridges'][number]) => [
  ...columns.slice(1),
  ...askedColumns,
];

/** The draft in which tenants read a column of the rows that they share, or do not. The key is always read. */
export const withColumnRead = (draft: ModelDraft, name: string, column: string, isRead: boolean): ModelDraft => {
  const now = draft.tables.find(({ table }) => qualified(table) === name)?.ownership;
  if (now?.kind !== 'through') return draft;
  const others = now.through.columns.filter((one) => one !== column);
  const through = { ...now.through, columns: isRead ? [...others, column] : others };
  return withTable(draft, name, { ownership: { kind: 'through', through } });
};

/** The draft in which every read of a table has the base filter at this place, or has not. */
export const withFilterUsed = (draft: ModelDraft, name: string, place: number, isUsed: boolean): ModelDraft => {
  const filters = draft.tables.find(({ table }) => qualified(table) === name)?.baseFilters ?? [];
  return withTable(draft, name, {
    baseFilters: filters.map((one, at) => (at === place ? { ...one, isUsed } : one)),
  });
};

/** The draft with a relationship that a person added, whose tables are then used. */
export const withDrawn = (draft: ModelDraft, relationship: Relationship): ModelDraft =>
  settled({
    ...draft,
    tables: draft.tables.map((one) => {
      const isEnd = [relationship.parentTableName, relationship.childTableName].includes(qualified(one.table));
      return isEnd ? { ...one, wanted: true } : one;
    }),
    relationships: [...draft.relationships, { relationship, reason: 'You connected these columns', isUsed: true }],
  });

export type Change = Partial<Omit<TableDraft, 'table' | 'wanted'>>;

/** The draft with a change to one table. A table whose owner is said anew is used if it has one. */
export const withTable = (draft: ModelDraft, name: string, change: Change): ModelDraft => {
  const wantedBefore = change.ownership === undefined ? {} : { wanted: null, chosenWay: null };
  const wanted = change.isUsed === undefined ? wantedBefore : { ...wantedBefore, wanted: change.isUsed };
  return settled({
    ...draft,
    tables: draft.tables.map((one) => (qualified(one.table) === name ? { ...one, ...wanted, ...change } : one)),
  });
};

/** The draft in which a table has its tenant by this relationship: by its own column, if that leads to the tenants. */
export const withWay = (draft: ModelDraft, name: string, way: string): ModelDraft => {
  const found = draft.relationships.find(({ relationship }) => relationship.relationshipName === way)?.relationship;
  const isOwn = found?.childTableName === draft.tenants?.table && found?.childColumnName === draft.tenants?.key;
  return isOwn && found !== undefined
    ? withTable(draft, name, { ownership: { kind: 'column', column: found.parentColumnName } })
    : withTable(draft, name, { ownership: { kind: 'related' }, chosenWay: way });
};

/** The draft with the relationship at this place, or without it. */
export const withRelationshipUsed = (draft: ModelDraft, place: number, isUsed: boolean): ModelDraft =>
  settled({
    ...draft,
    relationships: draft.relationships.map((one, at) => (at === place ? { ...one, isUsed } : one)),
  });

const modelSourceOf = (tables: readonly SourceTable[]): readonly ModelSource[] =>
  tables.map((table) => ({
    ...table,
    foreignKeys: table.foreignKeys.flatMap(({ columns, referencedTable, referencedColumns }) => {
      const references = refIn(tables, referencedTable);
      return references === null ? [] : [{ columns, references, referencedColumns }];
    }),
  }));

/** The draft with another table of tenants. Whose rows each table holds, and by which way, is proposed anew. */
export const withTenants = (draft: ModelDraft, name: string): ModelDraft => {
  const sources = modelSourceOf(draft.tables.map(({ table }) => table));
  const table = sources.find((one) => qualified(one) === name);
  if (table === undefined) return { ...draft, tenants: null };
  const { relationships, tenantTables, clientColumns, bridges } = proposeModel(sources, table);
  const [tenant] = tenantTables;
  const ownershipOf = ownershipsFor(tenant, clientColumns);
  const second = new Map(relationships.map((one) => [one.relationshipName, one.isSecondWay]));
  return settled({
    ...draft,
    tenants: tenant === undefined ? null : { table: name, key: tenant.keyColumn, name: tenant.nameColumn },
    tables: draft.tables.map((one) => {
      const bridge = bridges.find((each) => qualified(each) === qualified(one.table));
      return {
        ...one,
        ...{ wanted: null, chosenWay: null, ownership: ownershipOf(one.table) },
        bridge: bridge === undefined ? null : { ...bridge, bridge: qualifiedName(bridge.bridge) },
      };
    }),
    relationships: draft.relationships.map((one) => ({
      ...one,
      isUsed: second.has(one.relationship.relationshipName)
        ? second.get(one.relationship.relationshipName) === false
        : one.isUsed,
    })),
  });
};
