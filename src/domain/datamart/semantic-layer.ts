/** What people call a datamart's tables and columns, and what they mean by them. */
import { type Datamart, type DatamartColumn, type DatamartTable, type TableRef, tableKey } from './datamart.js';
import { type DatatypeKind, datatypeKind } from './datatype.js';

export type SemanticLayer = {
  readonly tables: readonly SemanticTable[];
  readonly feedback: string | null;
  readonly updatedAt: Date;
};

export type SemanticTable = TableRef & {
  readonly description: string | null;
  readonly synonyms: readonly string[];
  readonly columns: readonly SemanticColumn[];
};

export type SemanticColumn = {
  readonly columnName: string;
  readonly description: string | null;
  readonly synonyms: readonly string[];
  readonly columnType: string | null;
  readonly isIdentifier: boolean;
};

/** What a caller writes; null and empty text clear, what is left out stays. */
export type TableNotes = {
  readonly name: string;
  readonly description?: string | null | undefined;
  readonly synonyms?: readonly string[] | undefined;
  readonly columns?: readonly ColumnNotes[] | undefined;
};

export type ColumnNotes = {
  readonly name: string;
  readonly description?: string | null | undefined;
  readonly synonyms?: readonly string[] | undefined;
  readonly columnType?: string | null | undefined;
  readonly isIdentifier?: boolean | undefined;
};

/** Column types, and which datatypes each goes with. spec-gap: the specification gives three of them as examples. */
const columnTypes: Readonly<Record<string, readonly DatatypeKind[]>> = {
  String: ['text', 'enum'],
  Number: ['integer', 'number'],
  ENUM: ['text', 'enum', 'boolean', 'integer'],
  Range: ['integer', 'number', 'date'],
  Identifier: ['integer', 'text', 'enum', 'uuid'],
  Expression: ['text', 'enum'],
  JSON: ['text', 'json'],
};

export const columnTypeNames: readonly string[] = Object.keys(columnTypes);

/** Whether the type goes with what the column holds. Of a custom column nobody knows yet what it holds: every type does. */
export const fitsColumnType = (columnType: string, column: DatamartColumn): boolean => {
  const kinds = Object.hasOwn(columnTypes, columnType) ? columnTypes[columnType] : undefined;
  if (kinds === undefined) return false;
  return column.isCustomColumn === true || kinds.includes(datatypeKind(column.datatype));
};

/** Synonyms are compared as people say them. spec-gap: without regard to case, and in one form of Unicode. */
const spoken = (synonym: string): string => synonym.normalize('NFC').trim().toLowerCase();

/** The first synonym that the table has twice, be it of the table itself or of its columns. */
export const findDuplicateSynonym = (table: SemanticTable): string | undefined => {
  const seen = new Set<string>();
  const all = [...table.synonyms, ...table.columns.flatMap(({ synonyms }) => synonyms)];
  return all.find((synonym) => {
    const key = spoken(synonym);
    if (seen.has(key)) return true;
    seen.add(key);
    return false;
  });
};

const viewColumn = (column: DatamartColumn, notes: SemanticColumn | undefined): SemanticColumn => ({
  columnName: column.columnName,
  description: notes?.description ?? null,
  synonyms: notes?.synonyms ?? [],
  columnType: notes?.columnType != null && fitsColumnType(notes.columnType, column) ? notes.columnType : null,
  isIdentifier: notes?.isIdentifier ?? false,
});

const viewTable = (table: DatamartTable, notes: SemanticTable | undefined): SemanticTable => {
  const columns = new Map(notes?.columns.map((column) => [column.columnName, column]));
  return {
    schemaName: table.schemaName,
    tableName: table.tableName,
    description: notes?.description ?? null,
    synonyms: notes?.synonyms ?? [],
    columns: table.columns.map((column) => viewColumn(column, columns.get(column.columnName))),
  };
};

/**
 * The layer over the datamart as it is now: every table and column, described or not, in the datamart's order.
 * spec-gap: notes about what the datamart lost are not shown. They come back with it, until the layer is next written.
 */
export const viewSemanticTables = (
  datamart: Pick<Datamart, 'tables'>,
  layer: SemanticLayer | undefined,
): readonly SemanticTable[] => {
  const notes = new Map(layer?.tables.map((table) => [tableKey(table), table]));
  return datamart.tables.map((table) => viewTable(table, notes.get(tableKey(table))));
};

/** Empty text is no description. */
const textOf = (given: string | null | undefined, kept: string | null): string | null =>
  given === undefined ? kept : given === '' ? null : given;

const mergeColumn = (column: SemanticColumn, notes: ColumnNotes): SemanticColumn => ({
  columnName: column.columnName,
  description: textOf(notes.description, column.description),
  synonyms: notes.synonyms ?? column.synonyms,
  columnType: textOf(notes.columnType, column.columnType),
  isIdentifier: notes.isIdentifier ?? column.isIdentifier,
});

/** The table with what the notes name; the rest of it stays. */
export const mergeTable = (table: SemanticTable, notes: TableNotes): SemanticTable => {
  const columns = new Map(notes.columns?.map((column) => [column.name, column]));
  return {
    ...table,
    description: textOf(notes.description, table.description),
    synonyms: notes.synonyms ?? table.synonyms,
    columns: table.columns.map((column) => {
      const given = columns.get(column.columnName);
      return given === undefined ? column : mergeColumn(column, given);
    }),
  };
};

/**
 * What each part of a complete layer is worth; together 100. The part counts in proportion to how many of the datamart's
 * tables, or columns, have it. spec-gap: the specification gives no weights.
 */
export const scoreWeights = {
  tableDescriptions: 20,
  tableSynonyms: 10,
  columnDescriptions: 30,
  columnSynonyms: 15,
  columnTypes: 20,
  feedback: 5,
} as const;

const share = <Item>(items: readonly Item[], isFilled: (item: Item) => boolean): number =>
  items.length === 0 ? 0 : items.filter(isFilled).length / items.length;

/**
 * A whole number from 0, when nothing is filled, to 100, when everything is; what is filled never makes it less. Rounded
 * down, so that 100 means all; but anything at all is 1 at least.
 */
export const completionScore = (tables: readonly SemanticTable[], feedback: SemanticLayer['feedback']): number => {
  const columns = tables.flatMap((table) => table.columns);
  const sum =
    scoreWeights.tableDescriptions * share(tables, ({ description }) => description !== null) +
    scoreWeights.tableSynonyms * share(tables, ({ synonyms }) => synonyms.length > 0) +
    scoreWeights.columnDescriptions * share(columns, ({ description }) => description !== null) +
    scoreWeights.columnSynonyms * share(columns, ({ synonyms }) => synonyms.length > 0) +
    scoreWeights.columnTypes * share(columns, ({ columnType }) => columnType !== null) +
    (feedback === null ? 0 : scoreWeights.feedback);
  return sum > 0 ? Math.max(1, Math.floor(sum)) : 0;
};
