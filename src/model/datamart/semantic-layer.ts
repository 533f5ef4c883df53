/** Descriptions, synonyms and types of a datamart's tables and columns, as people use them. */
import { type Datamart, type DatamartColumn, type DatamartTable, type TableRef, tableKey } from './datamart.js';
import { type DatatypeKind, isOfKind, type NamedType } from './datatypes.js';

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

/** What a caller sends. Null and empty text clear a field; a missing field is kept. */
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

/** Column types with the datatypes that each one fits. spec-gap: the specification gives three of them as examples. */
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

/**
 * Whether the column type fits the column's datatype. Every column type fits a custom column, since its datatype is
 * unknown.
 */
export const fitsColumnType = (columnType: string, column: NamedType): boolean => {
  const kinds = Object.hasOwn(columnTypes, columnType) ? columnTypes[columnType] : undefined;
  if (kinds === undefined) return false;
  return column.isCustomColumn === true || isOfKind(column, ...kinds);
};

/** Returns the form in which synonyms are compared. spec-gap: case is ignored, and Unicode is normalized (NFC). */
const spoken = (synonym: string): string => synonym.normalize('NFC').trim().toLowerCase();

/** Returns the first synonym that occurs twice among the table and its columns, or undefined. */
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
 * Returns the semantic layer for the current datamart: every table and column, described or not, in the datamart's
 * order. spec-gap: notes about tables or columns that were removed from the datamart are not shown. They are shown
 * again if the table or column returns before the layer is next written.
 */
export const viewSemanticTables = (
  datamart: Pick<Datamart, 'tables'>,
  layer: SemanticLayer | undefined,
): readonly SemanticTable[] => {
  const notes = new Map(layer?.tables.map((table) => [tableKey(table), table]));
  return datamart.tables.map((table) => viewTable(table, notes.get(tableKey(table))));
};

/** Returns the given text, or the kept text if none was given. Empty text means no description. */
const textOf = (given: string | null | undefined, kept: string | null): string | null =>
  given === undefined ? kept : given === '' ? null : given;

const mergeColumn = (column: SemanticColumn, notes: ColumnNotes): SemanticColumn => ({
  columnName: column.columnName,
  description: textOf(notes.description, column.description),
  synonyms: notes.synonyms ?? column.synonyms,
  columnType: textOf(notes.columnType, column.columnType),
  isIdentifier: notes.isIdentifier ?? column.isIdentifier,
});

/** Returns the table with the notes applied. Parts that the notes do not name are kept. */
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
 * Points for each part of a complete layer; the sum is 100. Each part scores in proportion to how many of the tables or
 * columns that the datamart shows have it. spec-gap: the specification gives no weights.
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
 * Returns a whole number from 0 (nothing is filled) to 100 (everything is filled). Filling a field never lowers it. It
 * is rounded down, so that 100 means complete, but it is at least 1 if anything is filled.
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
