/** What a datamart declares about its tables: their joins, and which tables are shared. */
import { faultOf, repeatedAt } from '../faults.js';
import {
  type Cardinality,
  type DatamartTable,
  type JoinKind,
  type Relationship,
  sameTable,
  type TableRef,
} from './datamart.js';

/**
 * An item of the interface's `relationships`. A table is named by `schema.table`, or by its name alone if that names
 * exactly one table.
 */
export type RelationshipDraft = {
  readonly parentTableName: string;
  readonly parentColumnName: string;
  readonly childTableName: string;
  readonly childColumnName: string;
  readonly relationshipName: string;
  readonly cardinality?: Cardinality | null | undefined;
  readonly join?: JoinKind | null | undefined;
};

/** Tables by every name that a caller may use for them. */
export type NamedTables = ReadonlyMap<string, readonly DatamartTable[]>;

/** Returns the tables by their bare names and by `schema.table`. */
export const nameTables = (tables: readonly DatamartTable[]): NamedTables => {
  const named = new Map<string, DatamartTable[]>();
  for (const table of tables) {
    for (const name of new Set([table.tableName, `${table.schemaName}.${table.tableName}`])) {
      named.set(name, [...(named.get(name) ?? []), table]);
    }
  }
  return named;
};

/** Returns the fault of a name that means no table, or several. */
export const tableFault = (path: string, name: string, meant: readonly DatamartTable[]): readonly string[] => {
  if (meant.length === 1) return [];
  const rule =
    meant.length === 0 ? 'a table of the datamart' : 'schema.table, since the datamart has several of that name';
  return [faultOf(path, name, rule)];
};

/** Authors take the two ends for each other: a foreign key's table is the parent, with ManyToOne. */
const swapHint = (end: 'parent' | 'child', draft: RelationshipDraft, tables: NamedTables): string => {
  const other = draft[end === 'parent' ? 'childTableName' : 'parentTableName'];
  const [table] = tables.get(other) ?? [];
  if (!table?.columns.some(({ columnName }) => columnName === draft[`${end}ColumnName`])) return '';
  return `. Table ${JSON.stringify(other)} has it: are parent and child swapped? cardinality is read from the parent to the child`;
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
  const expected = column === undefined ? `${rule}${swapHint(end, draft, tables)}` : `${rule}, and no custom one`;
  return [faultOf(`${path}.${end}ColumnName`, columnName, expected)];
};

/** Returns all faults of the relationships over these tables. */
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

/** Returns the relationships of a list without faults. */
export const relationshipsOf = (drafts: readonly RelationshipDraft[], tables: NamedTables): readonly Relationship[] =>
  drafts.map((draft) => ({
    relationshipName: draft.relationshipName,
    parent: refOf(draft.parentTableName, draft.parentColumnName, tables),
    child: refOf(draft.childTableName, draft.childColumnName, tables),
    cardinality: draft.cardinality ?? null,
    join: draft.join ?? null,
  }));

/**
 * Returns a table's name for listings: the bare name if that is unique, else `schema.table`. A request with this name
 * refers to the same table.
 */
export const shortName = (table: TableRef, tables: NamedTables): string => {
  const meant = tables.get(table.tableName) ?? [];
  const isPlain = meant.length === 1 && meant[0] !== undefined && sameTable(meant[0], table);
  return isPlain ? table.tableName : `${table.schemaName}.${table.tableName}`;
};

/** Returns the relationships as drafts. */
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
 * Returns faults for kept relationships that refer to tables or columns missing from the new table list. spec-gap: such
 * a change is refused, since removing a relationship would change what metrics join.
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

/** Whether the entry is `*` or `schema.*`. */
const isWildcard = (name: string): boolean => name === '*' || name.endsWith('.*');

/**
 * Returns faults for entries of `sharedTables` that name no table or several tables. `isKept`: the entries were stored
 * before, and the request changes the tables.
 */
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
