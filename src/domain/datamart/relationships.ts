/** What a datamart says about its own tables: how they join, and which of them are everybody's. */
import { faultOf, repeatedAt } from '../faults.js';
import {
  type Cardinality,
  type DatamartTable,
  type JoinKind,
  type Relationship,
  sameTable,
  type TableRef,
} from './datamart.js';

/** The interface's `relationships` item. A table is named by `schema.table`, or alone where that means one table. */
export type RelationshipDraft = {
  readonly parentTableName: string;
  readonly parentColumnName: string;
  readonly childTableName: string;
  readonly childColumnName: string;
  readonly relationshipName: string;
  readonly cardinality?: Cardinality | null | undefined;
  readonly join?: JoinKind | null | undefined;
};

/** Tables by the names that a caller may give them. */
export type NamedTables = ReadonlyMap<string, readonly DatamartTable[]>;

export const nameTables = (tables: readonly DatamartTable[]): NamedTables => {
  const named = new Map<string, DatamartTable[]>();
  for (const table of tables) {
    for (const name of new Set([table.tableName, `${table.schemaName}.${table.tableName}`])) {
      named.set(name, [...(named.get(name) ?? []), table]);
    }
  }
  return named;
};

const tableFault = (path: string, name: string, meant: readonly DatamartTable[]): readonly string[] => {
  if (meant.length === 1) return [];
  const rule =
    meant.length === 0 ? 'a table of the datamart' : 'schema.table, since the datamart has several of that name';
  return [faultOf(path, name, rule)];
};

const endFaults = (
  path: string,
  end: 'parent' | 'child',
  draft: RelationshipDraft,
  tables: NamedTables,
): readonly string[] => {
  const tableName = draft[`${end}TableName`];
  const columnName = draft[`${end}ColumnName`];
  const meant = tables.get(tableName) ?? [];
  const [table] = meant;
  if (meant.length !== 1 || table === undefined) return tableFault(`${path}.${end}TableName`, tableName, meant);
  const column = table.columns.find((candidate) => candidate.columnName === columnName);
  if (column !== undefined && column.isCustomColumn !== true) return [];
  const rule = `a column that the datamart has of table ${JSON.stringify(tableName)}`;
  return [faultOf(`${path}.${end}ColumnName`, columnName, column === undefined ? rule : `${rule}, and no custom one`)];
};

/** Everything that is wrong with the relationships over these tables. */
export const relationshipFaults = (drafts: readonly RelationshipDraft[], tables: NamedTables): readonly string[] => [
  ...drafts.flatMap((draft, index) =>
    (['parent', 'child'] as const).flatMap((end) => endFaults(`relationships[${index}]`, end, draft, tables)),
  ),
  ...repeatedAt(drafts.map(({ relationshipName }) => relationshipName)).map((at) =>
    faultOf(
      `relationships[${at}].relationshipName`,
      drafts[at]?.relationshipName ?? '',
      'a name that no other relationship has',
    ),
  ),
];

const refOf = (name: string, columnName: string, tables: NamedTables) => {
  const { schemaName = '', tableName = name } = tables.get(name)?.[0] ?? {};
  return { schemaName, tableName, columnName };
};

/** The relationships that a faultless list means. */
export const relationshipsOf = (drafts: readonly RelationshipDraft[], tables: NamedTables): readonly Relationship[] =>
  drafts.map((draft) => ({
    relationshipName: draft.relationshipName,
    parent: refOf(draft.parentTableName, draft.parentColumnName, tables),
    child: refOf(draft.childTableName, draft.childColumnName, tables),
    cardinality: draft.cardinality ?? null,
    join: draft.join ?? null,
  }));

/** A table's name as listings write it, which reads back as the same table: alone where that is enough. */
export const shortName = (table: TableRef, tables: NamedTables): string => {
  const meant = tables.get(table.tableName) ?? [];
  const isPlain = meant.length === 1 && meant[0] !== undefined && sameTable(meant[0], table);
  return isPlain ? table.tableName : `${table.schemaName}.${table.tableName}`;
};

/** Relationships, written as drafts. */
export const draftRelationships = (
  relationships: readonly Relationship[],
  tables: NamedTables,
): readonly (RelationshipDraft & Pick<Relationship, 'cardinality' | 'join'>)[] =>
  relationships.map(({ parent, child, relationshipName, cardinality, join }) => ({
    parentTableName: shortName(parent, tables),
    parentColumnName: parent.columnName,
    childTableName: shortName(child, tables),
    childColumnName: child.columnName,
    relationshipName,
    cardinality,
    join,
  }));

/**
 * Relationships that stay although the tables were replaced, and name what is gone.
 * spec-gap: refused, since to drop them unasked would change what metrics join.
 */
export const keptRelationshipFaults = (
  relationships: readonly Relationship[],
  tables: NamedTables,
): readonly string[] =>
  relationships.flatMap(({ relationshipName, parent, child }) => {
    const lost = [parent, child].find(
      (end) =>
        !tables
          .get(end.tableName)
          ?.some(
            (table) => sameTable(table, end) && table.columns.some(({ columnName }) => columnName === end.columnName),
          ),
    );
    if (lost === undefined) return [];
    const column = `${lost.schemaName}.${lost.tableName}.${lost.columnName}`;
    return [
      `tableList: relationship ${JSON.stringify(relationshipName)} needs column ${column}, which the list leaves out; add it, or send relationships without it`,
    ];
  });

/** `*`, alone or for all tables of a schema. */
const isWildcard = (name: string): boolean => name === '*' || name.endsWith('.*');

/** Entries of `sharedTables` that name no table, or several. `isKept`: they were there before, and the tables changed. */
export const sharedTableFaults = (names: readonly string[], tables: NamedTables, isKept: boolean): readonly string[] =>
  names.flatMap((name, index) => {
    const meant = tables.get(name) ?? [];
    if (name === '*' || (isWildcard(name) && meant.length === 0)) {
      return [
        faultOf(`sharedTables[${index}]`, name, 'the name of one table; list each table that is for all tenants'),
      ];
    }
    if (meant.length === 1) return [];
    return isKept
      ? [
          `tableList: sharedTables names ${JSON.stringify(name)}, which means no one table of the list; add it, or send sharedTables`,
        ]
      : tableFault(`sharedTables[${index}]`, name, meant);
  });
