/**
 * What a model says about its tables and columns in words, as the semantic layer has it, and changes to it. Pure
 * functions; a change names only what differs.
 */
import { visibleTables } from '../../../model/datamart/datamart.js';
import {
  columnTypeNames,
  completionScore,
  findDuplicateSynonym,
  fitsColumnType,
  type SemanticColumn,
  type SemanticTable,
} from '../../../model/datamart/semantic-layer.js';
import { matcher } from '../../base/search.js';
import { keyOf, type StoredColumn, type StoredModel, typeOfColumn } from './model-edit.js';

export type ColumnNotes = Pick<SemanticColumn, 'description' | 'synonyms' | 'columnType' | 'isIdentifier'>;
export type TableNotes = Pick<SemanticTable, 'description' | 'synonyms'>;

/** The answer of `GET /data-app/datamarts/semantic-layer`, as far as Studio shows it. */
export type Notes = {
  readonly tables: readonly (TableNotes & {
    readonly name: string;
    readonly schemaName: string;
    readonly columns: readonly (ColumnNotes & { readonly name: string })[];
  })[];
  readonly feedback: string | null;
  /** Null: nothing was ever written. */
  readonly lastUpdated: string | null;
};

/** A model as it is being changed. */
export type Described = { readonly model: StoredModel; readonly notes: Notes };

const mostSynonyms = 10;

const noColumn: ColumnNotes = { description: null, synonyms: [], columnType: null, isIdentifier: false };
const noTable: TableNotes = { description: null, synonyms: [] };

const keyOfNotes = ({ schemaName, name }: Notes['tables'][number]): string => `${schemaName}.${name}`;

const findTable = ({ tables }: Notes, key: string): Notes['tables'][number] | undefined =>
  tables.find((table) => keyOfNotes(table) === key);

export const tableNotes = (notes: Notes, key: string): TableNotes => findTable(notes, key) ?? noTable;

export const columnNotes = (notes: Notes, key: string, name: string): ColumnNotes =>
  findTable(notes, key)?.columns.find((column) => column.name === name) ?? noColumn;

/** Empty text is no description. */
const textOf = (text: string): string | null => (text.trim() === '' ? null : text.trim());

/** Returns the words between commas, each once. */
const synonymsIn = (text: string): readonly string[] => {
  const words = text.split(',').map((word) => word.trim());
  return words.filter((word, at) => word !== '' && words.indexOf(word) === at);
};

const replaced = (notes: Notes, key: string, change: (table: Notes['tables'][number]) => Notes['tables'][number]) => ({
  ...notes,
  tables: notes.tables.map((table) => (keyOfNotes(table) === key ? change(table) : table)),
});

type Words = { readonly description?: string; readonly synonyms?: string };

const wordsOf = ({ description, synonyms }: Words): Partial<TableNotes> => ({
  ...(description === undefined ? {} : { description: textOf(description) }),
  ...(synonyms === undefined ? {} : { synonyms: synonymsIn(synonyms) }),
});

export const withTableNotes = (notes: Notes, key: string, words: Words): Notes =>
  replaced(notes, key, (table) => ({ ...table, ...wordsOf(words) }));

/** A calculated column that is not saved yet has its notes too. */
export const withColumnNotes = (
  notes: Notes,
  key: string,
  name: string,
  change: Words & { readonly columnType?: string },
): Notes => {
  const { columnType, ...words } = change;
  const next = {
    ...columnNotes(notes, key, name),
    ...wordsOf(words),
    ...(columnType === undefined ? {} : { columnType: textOf(columnType) }),
    name,
  };
  return replaced(notes, key, (table) => ({
    ...table,
    columns: table.columns.some((one) => one.name === name)
      ? table.columns.map((one) => (one.name === name ? next : one))
      : [...table.columns, next],
  }));
};

export const withFeedback = (notes: Notes, text: string): Notes => ({ ...notes, feedback: textOf(text) });

/**
 * Returns the columns, by table, in whose names and words each word of the text occurs, or in those of their table.
 * Null: nothing is searched.
 */
export const findColumns = (
  { model, notes }: Described,
  text: string,
): ReadonlyMap<string, ReadonlySet<string>> | null => {
  if (text.trim() === '') return null;
  const isWanted = matcher(text);
  const written = (...parts: readonly (string | null)[]): string => parts.join(' ');
  const found = model.datamartTables.map((table) => {
    const key = keyOf(table);
    const { description, synonyms } = tableNotes(notes, key);
    const about = written(key, table.label, description, ...synonyms);
    const columns = table.datamartTableColumns.filter(({ columnName, label }) => {
      const said = columnNotes(notes, key, columnName);
      const own = `${about} ${written(columnName, label, said.description, ...said.synonyms)}`;
      return isWanted(own);
    });
    return [key, new Set(columns.map(({ columnName }) => columnName))] as const;
  });
  return new Map(found.filter(([, columns]) => columns.size > 0));
};

const isEqual = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

const differing = <Part extends object>(before: Part, after: Part, names: readonly (keyof Part)[]): Partial<Part> =>
  Object.fromEntries(
    names.filter((name) => !isEqual(before[name], after[name])).map((name) => [name, after[name]]),
  ) as Partial<Part>;

/**
 * Returns the body that writes the difference, without the name of the datamart. Undefined: there is none. Columns that
 * the model no longer has are left out.
 */
export const notesChange = (before: Notes, { model, notes }: Described): object | undefined => {
  const tables = model.datamartTables.flatMap((table) => {
    const key = keyOf(table);
    const columns = table.datamartTableColumns.flatMap(({ columnName: name }) => {
      const [was, is] = [columnNotes(before, key, name), columnNotes(notes, key, name)];
      const parts = differing(was, is, ['description', 'synonyms', 'columnType']);
      return Object.keys(parts).length === 0 ? [] : [{ name, ...parts }];
    });
    const parts = differing(tableNotes(before, key), tableNotes(notes, key), ['description', 'synonyms']);
    if (columns.length === 0 && Object.keys(parts).length === 0) return [];
    return [{ name: key, ...parts, ...(columns.length === 0 ? {} : { columns }) }];
  });
  const said = differing(before, notes, ['feedback']);
  if (tables.length === 0 && Object.keys(said).length === 0) return undefined;
  return { ...(tables.length === 0 ? {} : { tables }), ...said };
};

/** The types that the semantic layer may give a column. */
export const typesFor = (column: StoredColumn): readonly string[] =>
  columnTypeNames.filter((type) => fitsColumnType(type, typeOfColumn(column)));

/** The semantic tables of a model: hidden tables and columns are not described to anybody. */
export const semanticTables = ({ model, notes }: Described): readonly SemanticTable[] => {
  const tables = model.datamartTables.map(({ datamartTableColumns: columns, ...table }) => ({ ...table, columns }));
  return visibleTables(tables).map(({ schemaName, tableName, columns }) => {
    const key = `${schemaName}.${tableName}`;
    return {
      ...{ schemaName, tableName, ...tableNotes(notes, key) },
      columns: columns.map(({ columnName }) => ({ columnName, ...columnNotes(notes, key, columnName) })),
    };
  });
};

/** From 0 to 100, as the service will compute it. */
export const scoreOf = (described: Described): number =>
  completionScore(semanticTables(described), described.notes.feedback);

/** What the service would refuse in the words of a table. Null: nothing. */
export const wordsFault = ({ model, notes }: Described, key: string): string | null => {
  const table = model.datamartTables.find((one) => keyOf(one) === key);
  if (table === undefined) return null;
  const columns = table.datamartTableColumns.map(({ columnName }) => ({
    columnName,
    ...columnNotes(notes, key, columnName),
  }));
  const { schemaName, tableName } = table;
  const twice = findDuplicateSynonym({ schemaName, tableName, ...tableNotes(notes, key), columns });
  if (twice !== undefined)
    return `“${twice}” is a synonym twice in ${key} and its columns. A word can mean one of them only.`;
  const long = [tableNotes(notes, key), ...columns].some(({ synonyms }) => synonyms.length > mostSynonyms);
  return long ? `A table or column of ${key} has more than ${mostSynonyms} synonyms.` : null;
};
