/** What a changed datamart breaks: metrics, filters, parts of the policy, custom columns, relationships, and whose rows are whose. Pure. */
import { type ColumnRef, type Datamart, qualifiedName, sameColumn, sameTable, type TableRef } from './datamart.js';
import { columnKind } from './datatypes.js';
import { type ReadSql, readsColumn, readsTable } from './read-sql.js';
import { datamartOfParts, type ModelParts } from './source-changes.js';
import type { SourceTable } from './source-schema.js';
import { type TableOwnership, tableOwnerships } from './table-ownership.js';

/** Something outside the datamart that reads its tables, or restricts who reads them. */
export type Use = {
  readonly what: 'metric' | 'filter' | 'policy';
  readonly name: string;
  /** Where people find it: the dashboard, or the file of the policy. */
  readonly where: string;
  readonly tables: readonly TableRef[];
  readonly columns: readonly ColumnRef[];
  /** SQL and expressions. */
  readonly sql: readonly string[];
  /** What does not fit the datatypes of a datamart. */
  readonly typeFaults: (datamart: Datamart) => readonly string[];
};

export type Break = {
  readonly what: Use['what'] | 'relationship' | 'tenancy' | 'customColumn';
  readonly name: string;
  /** Null: it is in the datamart itself. */
  readonly where: string | null;
  readonly why: string;
};

/** The parts, and the tables that say which datatypes their columns have. */
export type Typed = { readonly parts: ModelParts; readonly typed: readonly SourceTable[] };

type Lost = { readonly tables: readonly TableRef[]; readonly columns: readonly ColumnRef[] };

const columnName = (column: ColumnRef): string => `${qualifiedName(column)}.${column.columnName}`;

const columnsOf = ({ tables }: Datamart): readonly ColumnRef[] =>
  tables.flatMap(({ schemaName, tableName, columns }) =>
    columns.map((column) => ({ schemaName, tableName, columnName: column.columnName })),
  );

const lostBetween = (before: Datamart, after: Datamart): Lost => {
  const kept = new Set(columnsOf(after).map(columnName));
  return {
    tables: before.tables.filter((table) => !after.tables.some((one) => sameTable(one, table))),
    columns: columnsOf(before).filter((column) => !kept.has(columnName(column))),
  };
};

/** An expression may also name a column of a table that a dimension or measure of its metric brings. */
const isNamed = (column: ColumnRef, { sql, tables, columns }: Use, readSql: ReadSql): boolean => {
  const isNear = (table: TableRef): boolean => [...tables, ...columns].some((one) => sameTable(one, table));
  return sql.some((text) => readsColumn(text, column, isNear, readSql));
};

const whyLost = (use: Use, lost: Lost, readSql: ReadSql): string | null => {
  const column = lost.columns.find((one) => use.columns.some((other) => sameColumn(one, other)));
  if (column !== undefined && use.what === 'policy')
    return `names ${columnName(column)}, and not what has its values now`;
  if (column !== undefined) return `reads ${columnName(column)}`;
  const table = lost.tables.find(
    (one) =>
      use.tables.some((other) => sameTable(one, other)) || use.sql.some((text) => readsTable(text, one, readSql)),
  );
  if (table !== undefined) return `reads ${qualifiedName(table)}`;
  const inSql = lost.columns.find((one) => isNamed(one, use, readSql));
  return inSql === undefined ? null : `its SQL names ${columnName(inSql)}`;
};

const useBreaks = (
  uses: readonly Use[],
  [before, after]: readonly [Datamart, Datamart],
  lost: Lost,
  readSql: ReadSql,
): readonly Break[] =>
  uses.flatMap((use) => {
    const { what, name, where } = use;
    const why = whyLost(use, lost, readSql);
    if (why !== null) return [{ what, name, where, why }];
    const known = new Set(use.typeFaults(before));
    const [fault] = use.typeFaults(after).filter((one) => !known.has(one));
    return fault === undefined ? [] : [{ what, name, where, why: fault }];
  });

const customColumnBreaks = (after: Datamart, { columns: lost }: Lost, readSql: ReadSql): readonly Break[] =>
  after.tables.flatMap((table) =>
    table.columns.flatMap(({ columnName: name, isCustomColumn, sql = '' }): readonly Break[] => {
      if (isCustomColumn !== true) return [];
      const own = lost.filter((one) => sameTable(one, table));
      const read = own.find((one) => readsColumn(sql, one, () => true, readSql));
      if (read === undefined) return [];
      const why = `its SQL names ${columnName(read)}`;
      return [{ what: 'customColumn', name: `${qualifiedName(table)}.${name}`, where: null, why }];
    }),
  );

const relationshipBreaks = (before: Datamart, after: Datamart): readonly Break[] => {
  const kindOf = (datamart: Datamart, end: ColumnRef) => {
    const columns = datamart.tables.find((table) => sameTable(table, end))?.columns ?? [];
    const column = columns.find((one) => one.columnName === end.columnName);
    return column && columnKind(column);
  };
  return before.relationships.flatMap(({ relationshipName: name, parent, child }): readonly Break[] => {
    const now = after.relationships.find((one) => one.relationshipName === name);
    const of = { what: 'relationship', name, where: null } as const;
    if (now === undefined) return [{ ...of, why: `joined ${columnName(parent)} and ${columnName(child)}` }];
    const fitted = kindOf(before, parent) === kindOf(before, child);
    const fits = kindOf(after, now.parent) === kindOf(after, now.child);
    return fitted && !fits ? [{ ...of, why: 'its two columns have values of different types' }] : [];
  });
};

/** Whose the rows of each table of the parts are. */
export const ownershipsOf = ({ parts, typed }: Typed): readonly TableOwnership[] =>
  tableOwnerships(datamartOfParts(parts, typed), (ref) => {
    const table = typed.find((one) => sameTable(one, ref));
    return table === undefined ? [] : [table.primaryKey, ...table.uniqueKeys].filter((key) => key.length > 0);
  });

const words: Readonly<Record<TableOwnership['tenancy']['kind'], string>> = {
  column: 'a client column said whose its rows are',
  master: 'its rows were the tenants',
  path: 'a relationship said whose its rows are',
  bridge: 'a bridge said which tenants read its rows',
  shared: 'all tenants read every row',
  database: 'its rows were those of the tenant whose database it is',
  none: 'the datamart did not separate tenants',
  unreadable: 'nobody could read it',
};

/** Tables whose rows belong to tenants in another way than before, or to nobody. New tables are not among them. */
export const ownershipBreaks = (before: Typed, after: Typed): readonly Break[] => {
  const now = ownershipsOf(after);
  return ownershipsOf(before).flatMap(({ table, tenancy }): readonly Break[] => {
    const next = now.find((one) => sameTable(one.table, table))?.tenancy;
    if (next === undefined || next.kind === tenancy.kind) return [];
    const then = next.kind === 'unreadable' ? next.message : `now it is of the kind "${next.kind}"`;
    return [{ what: 'tenancy', name: qualifiedName(table), where: null, why: `${words[tenancy.kind]}; ${then}` }];
  });
};

/** Returns what worked with the parts of `before` and does not with those of `after`. */
export const breaksBetween = (
  before: Typed,
  after: Typed,
  uses: readonly Use[],
  readSql: ReadSql,
): readonly Break[] => {
  const [was, now] = [datamartOfParts(before.parts, before.typed), datamartOfParts(after.parts, after.typed)];
  const lost = lostBetween(was, now);
  return [
    ...ownershipBreaks(before, after),
    ...relationshipBreaks(was, now),
    ...customColumnBreaks(now, lost, readSql),
    ...useBreaks(uses, [was, now], lost, readSql),
  ];
};
