/** What follows from each choice about a new model: by which way tables have their tenant, which have none, and which are used. */
import { qualifiedName, sameTable } from '../../../model/datamart/datamart.js';
import { severalColumns, whyNobodys } from '../../../model/datamart/model-draft.js';
import { choosePaths, waysToTenant } from '../../../model/datamart/proposed-ways.js';
import { describeOwnership, tableOwnerships } from '../../../model/datamart/table-ownership.js';
import { keysOfDraft, type ModelDraft, qualified, storedOf, type TableDraft } from './drafted-model.js';
import { datamartOf } from './model-tenancy.js';

/** Whether several columns of the table refer to the tenants, each perhaps in another role. Nobody but a person chooses. */
const refersOften = ({ tenants, relationships }: ModelDraft, { table, ownership, chosenWay }: TableDraft): boolean =>
  ownership.kind === 'related' &&
  chosenWay === null &&
  relationships.filter(
    ({ isUsed, relationship: one }) =>
      isUsed &&
      one.parentTableName === qualified(table) &&
      one.childTableName === tenants?.table &&
      one.childColumnName === tenants?.key,
  ).length > 1;

/** Whose the rows are if each table follows these ways, of all tables but those that a person dropped. */
const ownershipsBy = (draft: ModelDraft, paths: ReadonlyMap<string, string>) => {
  const tables = draft.tables.map((one) => ({
    ...one,
    isUsed: one.wanted !== false && !refersOften(draft, one),
    tenancyPath: paths.get(qualified(one.table)) ?? null,
  }));
  const keys = keysOfDraft(draft);
  return tableOwnerships(datamartOf(storedOf({ ...draft, tables })), (table) => keys.get(qualifiedName(table)) ?? []);
};

/** The draft with the best way of each table that has several, unless a person chose one, and with what follows from it. */
export const settled = (draft: ModelDraft): ModelDraft => {
  const { tenants, tables } = draft;
  if (tenants === null) {
    const unknown = { leftOut: null, ways: [], tenancyPath: null };
    return { ...draft, tables: tables.map((one) => ({ ...one, ...unknown, isUsed: one.wanted ?? true })) };
  }
  const whole = { ...draft, tables: tables.map((one) => ({ ...one, isUsed: true })) };
  const { relationships } = datamartOf(storedOf(whole));
  const sources = tables.map(({ table }) => table);
  const waysOf = (table: TableDraft['table'], owned: ReturnType<typeof ownershipsBy>) => {
    const isDirect = tables.some((one) => one.table === table && refersOften(draft, one));
    const from = relationships.filter(
      ({ parent, child }) => sameTable(parent, table) && (!isDirect || qualifiedName(child) === tenants.table),
    );
    return waysToTenant(table, from, sources, owned);
  };
  const isThere = (way: string): boolean => relationships.some(({ relationshipName }) => relationshipName === way);
  const given = new Map(
    tables.flatMap(({ table, chosenWay }) =>
      chosenWay !== null && isThere(chosenWay) ? [[qualified(table), chosenWay] as const] : [],
    ),
  );
  const paths = choosePaths(given, (known) => {
    const owned = ownershipsBy(draft, known);
    return owned.flatMap(({ table, tenancy }) => {
      const source = sources.find((one) => sameTable(one, table));
      const isOpen = tenancy.kind === 'unreadable' && tenancy.reason === 'several-paths';
      return isOpen && source !== undefined ? [{ name: qualifiedName(table), ways: waysOf(source, owned) }] : [];
    });
  });
  const owned = ownershipsBy(draft, paths);
  const whyNot = (one: TableDraft): string | null => {
    if (one.wanted !== false && refersOften(draft, one)) return severalColumns;
    const found = owned.find(({ table }) => sameTable(table, one.table));
    return found?.tenancy.kind === 'unreadable' ? whyNobodys(describeOwnership(found)) : null;
  };
  return {
    ...draft,
    tables: tables.map((one) => {
      const leftOut = whyNot(one);
      return {
        ...one,
        ...{ leftOut, isUsed: one.wanted ?? leftOut === null },
        ways: one.ownership.kind === 'related' ? waysOf(one.table, owned) : [],
        tenancyPath: paths.get(qualified(one.table)) ?? null,
      };
    }),
  };
};
