/**
 * Compares a datamart with the tables that its database has now: what is new, gone, of another type, or probably renamed.
 * Pure. Nothing is decided here: a person accepts each change.
 */
import { type Datamart, sameTable, type TableRef, type Tenancy, tableKey } from './datamart.js';
import type { ReadSql } from './read-sql.js';
import { nameTables, type RelationshipDraft, relationshipsOf } from './relationships.js';
import { offeredTables, type SourceTable } from './source-schema.js';
import { type ColumnDraft, type SourceView, type TableDraft, tablesOf } from './tables.js';

/** The parts of a datamart, as requests and definition files write them. */
export type ModelParts = {
  readonly tableList: readonly TableDraft[];
  readonly relationships: readonly RelationshipDraft[];
  readonly sharedTables: readonly string[];
  readonly tenancy: Tenancy | null;
};

/** `stored`: the tables with the datatypes that the service knows of. `tables`: those of the database, as they are now. */
export type Compared = {
  readonly parts: ModelParts;
  readonly stored: readonly SourceTable[];
  readonly tables: readonly SourceTable[];
  /** Left out: SQL is searched for words. */
  readonly readSql?: ReadSql | undefined;
};

export type SourceChange = {
  /** `leftOut` is no difference, but an answer to `new`: the column stays out of the datamart, and is not offered again. */
  readonly kind: 'new' | 'renamed' | 'gone' | 'retyped' | 'leftOut';
  readonly table: TableRef;
  /** Null: the change is of the whole table. */
  readonly columnName: string | null;
  /** For `renamed`: the name that the table or column probably has now. Else null. */
  readonly newName: string | null;
  /** The datatype that the datamart knows of. Null: none is known, or the change is of a table. */
  readonly before: string | null;
  readonly after: string | null;
};

/** `schema.table` or `schema.table.column`. */
export const nameOfChange = ({ table, columnName }: SourceChange): string =>
  [table.schemaName, table.tableName, ...(columnName === null ? [] : [columnName])].join('.');

const plain = { newName: null, before: null, after: null } as const;

/** A table of the list, in the only schema that has the name if the list names no schema. */
export const refIn =
  (tables: readonly TableRef[]) =>
  ({ name, schemaName }: Pick<TableDraft, 'name' | 'schemaName'>): TableRef => {
    const [only, second] = schemaName === undefined ? tables.filter(({ tableName }) => tableName === name) : [];
    return { schemaName: schemaName ?? (second === undefined ? only?.schemaName : undefined) ?? '', tableName: name };
  };

const findIn = <Table extends TableRef>(tables: readonly Table[], ref: TableRef): Table | undefined =>
  tables.find((table) => sameTable(table, ref));

const viewOf = (tables: readonly SourceTable[]): SourceView => {
  const byKey = new Map(tables.map((table) => [tableKey(table), table]));
  return { defaultSchema: '', find: (table) => byKey.get(tableKey(table)), findLike: () => undefined };
};

/** The datamart of these parts, with the datatypes of `typed`. */
export const datamartOfParts = (
  { tableList, relationships, sharedTables, tenancy }: ModelParts,
  typed: readonly SourceTable[],
): Datamart => {
  const refOf = refIn(typed);
  const listed = tableList.map((table) => ({ ...table, schemaName: refOf(table).schemaName }));
  const tables = tablesOf(listed, viewOf(typed));
  return {
    ...{ id: '', name: '', datasourceId: '', createdAt: new Date(0), updatedAt: new Date(0) },
    ...{ tenancy, tables, sharedTables },
    relationships: relationshipsOf(relationships, nameTables(tables)),
  };
};

const isReal = ({ isCustomColumn }: ColumnDraft): boolean => isCustomColumn !== true;
const datatypeIn = (table: SourceTable | undefined, name: string): string | null =>
  table?.columns.find(({ columnName }) => columnName === name)?.datatype ?? null;

/** A column that is gone or new, with the kept column before it in its list. */
type Placed = { readonly name: string; readonly datatype: string | null; readonly after: string | null };

const placedOf = (
  columns: readonly { readonly name: string; readonly datatype: string | null }[],
  kept: ReadonlySet<string>,
): readonly Placed[] => {
  let after: string | null = null;
  return columns.flatMap(({ name, datatype }) => {
    if (!kept.has(name)) return [{ name, datatype, after }];
    after = name;
    return [];
  });
};

/** Pairs of which each side has only the other. */
const onlyPairs = (gone: readonly Placed[], fresh: readonly Placed[], fits: (one: Placed, other: Placed) => boolean) =>
  gone.flatMap((one): readonly (readonly [Placed, Placed])[] => {
    const [only, second] = fresh.filter((other) => fits(one, other));
    if (only === undefined || second !== undefined) return [];
    return gone.filter((other) => fits(other, only)).length === 1 ? [[one, only]] : [];
  });

/** Likely renames: of one type, in one place of the list. */
const renamesOf = (gone: readonly Placed[], fresh: readonly Placed[]): ReadonlyMap<string, string> => {
  const isAlike = (one: Placed, other: Placed): boolean =>
    one.datatype !== null && one.datatype === other.datatype && one.after === other.after;
  return new Map(onlyPairs(gone, fresh, isAlike).map(([one, other]) => [one.name, other.name]));
};

/** The columns that must be in the database: those that are listed, and those that tenancy and base filters need. */
const neededOf = (
  { columns, clientColumn, baseFilters }: TableDraft,
  table: TableRef,
  tenancy: Tenancy | null,
): readonly string[] => {
  const master = tenancy?.tenancyLevel === 'TABLE' && sameTable(tenancy, table) ? tenancy : undefined;
  const ofTenancy = [clientColumn, master?.tablePrimaryKeyColumn, master?.tableClientNameColumn];
  const filtered = (baseFilters ?? []).map(({ columnName }) => columnName);
  return [
    ...new Set([
      ...columns.filter(isReal).map(({ name }) => name),
      ...ofTenancy.flatMap((name) => name ?? []),
      ...filtered,
    ]),
  ];
};

const columnChanges = (
  draft: TableDraft,
  now: SourceTable,
  was: SourceTable | undefined,
  tenancy: Tenancy | null,
): readonly SourceChange[] => {
  const table = { schemaName: now.schemaName, tableName: now.tableName };
  const { columns } = draft;
  const real = neededOf(draft, table, tenancy).map((name) => ({ name, datatype: datatypeIn(was, name) }));
  const there = now.columns.map(({ columnName: name, datatype }) => ({ name, datatype }));
  const kept = new Set(real.map(({ name }) => name).filter((name) => datatypeIn(now, name) !== null));
  const taken = new Set(columns.map(({ name }) => name));
  const gone = placedOf(real, kept);
  const left = new Set(draft.leftOut ?? []);
  const fresh = placedOf(there, kept).filter(({ name }) => !taken.has(name) && !left.has(name));
  const renames = renamesOf(gone, fresh);
  const found = new Set(renames.values());
  const retyped = real.filter(({ name, datatype }) => kept.has(name) && datatype !== null);
  return [
    ...gone.map(({ name, datatype }): SourceChange => {
      const newName = renames.get(name) ?? null;
      const of = { table, columnName: name, newName, before: datatype, after: null };
      return { kind: newName === null ? 'gone' : 'renamed', ...of };
    }),
    ...retyped.flatMap(({ name, datatype }): readonly SourceChange[] => {
      const after = datatypeIn(now, name);
      return after === datatype
        ? []
        : [{ ...plain, kind: 'retyped', table, columnName: name, before: datatype, after }];
    }),
    ...fresh
      .filter(({ name }) => !found.has(name))
      .map(({ name, datatype }): SourceChange => ({ ...plain, kind: 'new', table, columnName: name, after: datatype })),
  ];
};

/** Whether the table has each column of the list, of the same type where the type is known. */
const isLike = ({ columns }: TableDraft, was: SourceTable | undefined, now: SourceTable): boolean => {
  const real = columns.filter(isReal);
  const isThere = ({ name }: ColumnDraft): boolean => {
    const [before, after] = [datatypeIn(was, name), datatypeIn(now, name)];
    return after !== null && (before === null || before === after);
  };
  return real.length > 0 && real.every(isThere);
};

/**
 * Returns the changes: of the datamart's tables in its order, then the new tables. Where the datamart reads several
 * databases of a server, tables of a schema that `tables` does not have are not compared.
 */
export const sourceChanges = ({ parts, stored, tables }: Compared): readonly SourceChange[] => {
  const refOf = refIn(tables);
  const isRead = ({ schemaName }: TableRef): boolean =>
    parts.tenancy?.tenancyLevel !== 'MULTI_DATABASE' || tables.some((table) => table.schemaName === schemaName);
  const listed = parts.tableList.map((draft) => ({ draft, ref: refOf(draft) })).filter(({ ref }) => isRead(ref));
  // A partition that a datamart names stays there. None is offered: its rows are those of the partitioned table.
  const fresh = offeredTables(tables).filter((table) => !listed.some(({ ref }) => sameTable(ref, table)));
  const gone = listed.filter(({ ref }) => findIn(tables, ref) === undefined);
  const likeOf = ({ draft, ref }: (typeof gone)[number]) =>
    fresh.filter((table) => table.schemaName === ref.schemaName && isLike(draft, findIn(stored, ref), table));
  const renames = new Map(
    gone.flatMap((one): readonly (readonly [TableRef, SourceTable])[] => {
      const [only, second] = likeOf(one);
      if (only === undefined || second !== undefined) return [];
      return gone.filter((other) => likeOf(other).includes(only)).length === 1 ? [[one.ref, only]] : [];
    }),
  );
  const found = new Set(renames.values());
  return [
    ...listed.flatMap(({ draft, ref }): readonly SourceChange[] => {
      const now = findIn(tables, ref);
      if (now !== undefined) return columnChanges(draft, now, findIn(stored, ref), parts.tenancy);
      const newName = renames.get(ref)?.tableName ?? null;
      return [{ ...plain, kind: newName === null ? 'gone' : 'renamed', table: ref, columnName: null, newName }];
    }),
    ...fresh
      .filter((table) => !found.has(table))
      .map(({ schemaName, tableName }): SourceChange => {
        return { ...plain, kind: 'new', table: { schemaName, tableName }, columnName: null };
      }),
  ];
};
